/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of "mesh" that are refused: rows of the table in test_config_bad.c. */

	{ "mesh.domain", "mesh = { domain = \"\"; };", "found \"\"" },
	{ "mesh.domain", "mesh = { domain = \"a..b\"; };", "found \"a..b\"" },
	{ "mesh.domain", "mesh = { domain = \"*.b\"; };", "found \"*.b\"" },
	{ "mesh.domain", "mesh = { domain = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.b\"; };", "longer than 63 octets" },
	{ "mesh.namespace", "mesh = { namespace = \"a.b\"; };", "\"a.b\"" },
	{ "mesh.namespace", "mesh = { namespace = \"\"; };", "found \"\"" },
	{ "mesh.search", "mesh = { search = [ \"a\", \"b..c\" ]; };",
	  "mesh.search[1]: found \"b..c\", expected" },
	{ "mesh.search", "mesh = { search = \"a\"; };", "a list" },
	{ "mesh.ttl", "mesh = { ttl = 86401; };", "from 0 to 86400" },
	{ "mesh.negative_ttl", "mesh = { negative_ttl = -5; };", "found -5" },
	{ "mesh.udp_size", "mesh = { udp_size = 511; };", "from 512 to 4096" },
	{ "mesh.suppress_https", "mesh = { suppress_https = \"yes\"; };",
	  "found \"yes\", expected true or false" },
	{ "mesh.unloaded", "mesh = { unloaded = \"nxdomain\"; };",
	  "expected \"pass\" or \"servfail\"" },
	{ "mesh.tables", "mesh = { tables = { format = \"nds\"; }; };",
	  "found a group { ... }, expected a list" },
	{ "mesh.tables", "mesh = { tables = ( \"nds\" ); };",
	  "mesh.tables[0]: found \"nds\"" },
	{ "mesh.tables[].format", "mesh = { tables = ( { path = \"/a\"; } ); };",
	  "mesh.tables[0]: \"format\" is missing" },
	{ "mesh.tables[].format",
	  "mesh = { tables = ( { path = \"/a\"; format = \"xml\"; } ); };",
	  "mesh.tables[0].format: found \"xml\", expected one of the formats "
	  "nds, " },
	{ "mesh.tables[].path", "mesh = { tables = ( { format = \"nds\"; } ); };",
	  "\"path\" is missing" },
	{ "mesh.tables[].path",
	  "mesh = { tables = ( { format = \"nds\"; path = \"\"; } ); };",
	  "tables[0].path: found \"\", expected a path" },
#define FEED	"mesh = { tables = ( { format = \"feed\"; feed = \"m\"; "
	{ "mesh.tables[].feed", "mesh = { tables = ( { format = \"feed\"; } ); };",
	  "tables[0]: \"feed\" is missing" },
	{ "mesh.tables[].feed", "mesh = { tables = ( { format = \"feed\"; feed ="
	  " \"../m\"; } ); };", "tables[0].feed: found \"../m\", expected "
	  "letters, digits" },
	{ "mesh.tables[].feed", "mesh = { tables = ( { format = \"hosts\"; path ="
	  " \"/h\"; feed = \"m\"; } ); };", "tables[0].feed: only tables of "
	  "feeds have this option" },
	{ "mesh.tables[].feed", FEED "}, { format = \"feed\"; feed = \"m\"; } ); "
	  "};", "tables[1]: feed m is in the list already" },
	{ "mesh.tables[].path", FEED "path = \"/a\"; } ); };", "tables[0].path: "
	  "tables of feeds do not have this option" },
	{ "mesh.tables[].watch", FEED "watch = true; } ); };", "tables[0].watch: "
	  "tables of feeds do not have" },
	{ "mesh.tables[].origin", FEED "origin = \"a\"; } ); };", "only zone "
	  "files have this option" },
	{ "mesh.tables[].stale_after", FEED "stale_after = 0; } ); };",
	  "expected a whole number from 1 to 31536000" },
	{ "mesh.tables[].watch", "mesh = { tables = ( { format = \"nds\"; "
	  "path = \"/a\"; watch = 1; } ); };",
	  "tables[0].watch: found 1, expected true or false" },
	{ "mesh.tables[].skip_allocated", FEED "skip_allocated = 1; } ); };",
	  "tables[0].skip_allocated: found 1, expected true or false" },
	{ "mesh.tables[].origin", "mesh = { tables = ( { format = \"nds\"; "
	  "path = \"/a\"; origin = \"b\"; } ); };", "only zone files" },
#define KUBERNETES "mesh = { tables = ( { format = \"kubernetes\"; path = \"/a\"; "
	{ "mesh.tables[].ttl", KUBERNETES "ttl = 0; } ); };",
	  "tables[0].ttl: found 0, expected a whole number from 1 to 86400" },
	{ "mesh.tables[].namespaces", KUBERNETES "namespaces = [ \"a.b\" ]; } ); };",
	  "tables[0].namespaces[0]: found \"a.b\", expected names of letters" },
	{ "mesh.tables[].namespaces", "mesh = { tables = ( { format = \"nds\"; "
	  "path = \"/a\"; namespaces = [ \"a\" ]; } ); };",
	  "tables[0].namespaces: only Kubernetes objects have this option" },
	{ "mesh.cluster", "mesh = { cluster = \"a\\n\"; };",
	  "mesh.cluster: found \"a" },
	{ "mesh.network", "mesh = { network = \"a b\"; };",
	  "mesh.network: found \"a b\", expected letters" },
	{ "mesh.tables[].cluster", KUBERNETES "cluster = 1; } ); };",
	  "tables[0].cluster: found 1, expected letters" },
	{ "mesh.tables[].cluster", "mesh = { tables = ( { format = \"nds\"; "
	  "path = \"/a\"; cluster = \"a\"; } ); };",
	  "tables[0].cluster: only Kubernetes objects have this option" },
	{ "mesh.tables[].network", KUBERNETES "network = \"a:b\"; } ); };",
	  "tables[0].network: found \"a:b\", expected letters" },
	{ "mesh.tables[].pods", KUBERNETES "pods = \"all\"; } ); };",
	  "expected \"disabled\" or \"verified\"" },
	{ "mesh.zones", "mesh = { zones = ( { name = \"a.b\"; }, "
	  "{ name = \"A.B.\"; } ); };", "mesh.zones[1]: this zone is in" },
	{ "mesh.zones[].name", "mesh = { zones = ( { unknown = \"pass\"; } ); };",
	  "mesh.zones[0]: \"name\" is missing" },
	{ "mesh.zones[].name", "mesh = { zones = ( { name = \"*.a\"; } ); };",
	  "without a wildcard" },
	{ "mesh.zones[].unknown",
	  "mesh = { zones = ( { name = \"a\"; unknown = \"drop\"; } ); };",
	  "expected \"pass\" or \"nxdomain\"" },
