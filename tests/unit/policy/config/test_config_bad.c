/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/config.h"
#include "policy/config/capture.h"

#include "policy/config/setting.h"
#include "tests/config_text.h"

#define CONTAINER(interfaces) "containers = ( { interfaces = [ " interfaces \
	" ]; } );"
#define AUDIT(member) "audit = ( { path = \"/a\"; " member " } );"

static bool
says(const char *part)
{
	if (strstr(first_error(), part) != NULL)
		return true;
	printf("  expected \"%s\", got \"%s\"\n", part, first_error());
	return false;
}

/* One bad value or more for each option, and what is to be said about it. */
static const struct {
	const char *option;
	const char *text;
	const char *error;
} bad[] = {
	{ "run_dir", "run_dir = 3;", "2: run_dir: found 3, expected an abs" },
	{ "run_dir", "run_dir = \"run\";", "found \"run\"" },
	{ "run_dir", "run_dir = \"\";", "found \"\"" },
	{ "user", "user = \"no-such-user-1\";", "2: user: there is no user "
	  "\"no-such-user-1\"; create it (useradd --system" },
	{ "user", "user = -1;", "found -1, expected the name or number" },
	{ "user", "user = \"4294967295\";", "there is no user" },
	{ "user", "user = true;", "found true" },
	{ "state_dir", "state_dir = \"x\";", "state_dir: found \"x\", expected "
	  "an absolute path" },
	{ "capture", "capture = 3;", "capture: expected a group" },
	{ "capture.nameservers", "capture = { nameservers = \"any\"; };",
	  "found \"any\", expected a list" },
	{ "capture.nameservers", "capture = { nameservers = [ ]; };", "empty" },
	{ "capture.nameservers", "capture = { nameservers = [ 1 ]; };",
	  "capture.nameservers[0]: found 1, expected \"any\"" },
	{ "capture.nameservers",
	  "capture = { nameservers = [ \"any\", \"192.0.2.1\" ]; };",
	  "\"any\" stands alone" },
	{ "capture.nameservers",
	  "capture = { nameservers = [ \"fe80::1%eth0\" ]; };",
	  "leave out \"%eth0\"" },
	{ "capture.tcp", "capture = { tcp = 1; };",
	  "capture.tcp: found 1, expected true or false" },
	{ "capture.mark_mask", "capture = { mark_mask = \"0x3\"; };",
	  "exactly three bits" },
	{ "capture.mark_mask", "capture = { mark_mask = 0xf; };", "found 15" },
	{ "capture.mark_mask", "capture = { mark_mask = \"7x\"; };", "\"7x\"" },
	{ "capture.mark_mask", "capture = { mark_mask = 0x700000000; };",
	  "mark_mask: found" },
	{ "capture.zone", "capture = { zone = -1; };",
	  "found -1, expected a whole number from 0 to 65534" },
	{ "capture.zone", "capture = { zone = 65535; };", "found 65535" },
	{ "capture.bypass", "capture = { bypass = [ ]; };",
	  "capture.bypass: expected a group" },
	{ "capture.bypass.users",
	  "capture = { bypass = { users = [ -1 ]; }; };", "found -1" },
	{ "capture.bypass.users",
	  "capture = { bypass = { users = ( true ); }; };", "found true" },
	{ "capture.bypass.groups",
	  "capture = { bypass = { groups = [ -1 ]; }; };", "found -1" },
	{ "capture.bypass.groups",
	  "capture = { bypass = { groups = [ 4294967295L ]; }; };",
	  "groups[0]: found 4294967295" },
	{ "capture.bypass.marks",
	  "capture = { bypass = { marks = [ \"0x539/0xff\" ]; }; };",
	  "0x539 has bits outside its mask 0xff" },
	{ "capture.bypass.marks",
	  "capture = { bypass = { marks = [ \"x\" ]; }; };", "found \"x\"" },
	{ "capture.bypass.marks",
	  "capture = { bypass = { marks = [ \"1/0\" ]; }; };", "\"1/0\"" },
	{ "capture.bypass.marks",
	  "capture = { bypass = { marks = [ \"0x10000000\" ]; }; };",
	  "0x10000000/0xffffffff overlaps capture.mark_mask 0x70000000" },
	{ "capture.bypass.marks",
	  "capture = { bypass = { marks = [ \"1/0xf0000000f\" ]; }; };",
	  "found \"1/0xf0000000f\"" },
	{ "capture.bypass.marks",
	  "capture = { bypass = { marks = [ \"1/0xf0000001\" ]; }; };",
	  "overlaps" },
	{ "capture.bypass.cgroups",
	  "capture = { bypass = { cgroups = [ \"/\" ]; }; };", "found \"/\"" },
	{ "capture.bypass.cgroups",
	  "capture = { bypass = { cgroups = [ \"a/../b\" ]; }; };",
	  "found \"a/../b\"" },
	{ "capture.bypass.cgroups",
	  "capture = { bypass = { cgroups = [ \"a//b\" ]; }; };",
	  "found \"a//b\"" },
	{ "capture.bypass.cgroups",
	  "capture = { bypass = { cgroups = [ \"a\\nb\" ]; }; };",
	  "found \"a\\x0ab\"" },
	{ "capture.bypass.destinations",
	  "capture = { bypass = { destinations = [ \"10.1.2.3/8\" ]; }; };",
	  "destinations[0]: 10.1.2.3/8 has bits set behind its length; write "
	  "\"10.0.0.0/8\"" },
	{ "capture.bypass.destinations",
	  "capture = { bypass = { destinations = [ \"2001:db8::1/64\" ]; }; };",
	  "write \"2001:db8::/64\"" },
	{ "capture.bypass.destinations",
	  "capture = { bypass = { destinations = [ \"10.0.0.0/33\" ]; }; };",
	  "found \"10.0.0.0/33\"" },
	{ "capture.bypass.destinations",
	  "capture = { bypass = { destinations = [ \"10.0.0.0/\" ]; }; };",
	  "found \"10.0.0.0/\"" },
	{ "capture.bypass.destinations",
	  "capture = { bypass = { destinations = [ \"dns.example\" ]; }; };",
	  "found \"dns.example\"" },
	{ "queue.number", "queue = { number = 70000; };",
	  "queue.number: found 70000, expected a whole number from 0 to" },
	{ "queue.number", "queue = { number = -1; };", "found -1" },
	{ "queue.number", "queue = { number = 1.5; };", "found 1.5" },
	{ "queue.number", "queue = { number = 99999999999L; };",
	  "found 99999999999" },
	{ "queue.workers", "queue = { workers = 0; };", "\"auto\"" },
	{ "queue.workers", "queue = { workers = 65; };", "found 65" },
	{ "queue.workers", "queue = { workers = \"all\"; };", "found \"all\"" },
	{ "queue.workers", "queue = { number = 65535; workers = 2; };",
	  "2 queues from number 65535 on pass 65535" },
	{ "queue.maxlen", "queue = { maxlen = 127; };", "from 128 to 1048576" },
	{ "policy_unreadable", "policy_unreadable = \"refuse\";",
	  "found \"refuse\"" },
	{ "queue.absent", "queue = { absent = \"fail\"; };",
	  "expected \"pass\" or \"drop\"" },
	{ "queue.overload", "queue = { overload = false; };",
	  "found false, expected \"drop\" or \"pass\"" },
	{ "capture.user_rate", "capture = { user_rate = -1; };",
	  "capture.user_rate: found -1, expected a whole number from 0 to "
	  "1000000" },
	{ "stream.connections", "stream = { connections = 0; };",
	  "stream.connections: found 0, expected a whole number from 1 to "
	  "65536" },
	{ "stream.per_client", "stream = { per_client = 0; };",
	  "stream.per_client: found 0, expected a whole number from 1 to "
	  "65536" },
	{ "stream.idle", "stream = { idle = 0; };",
	  "stream.idle: found 0, expected a whole number from 1 to "
	  "3600" },
	{ "stream.table", "stream = { table = 255; };",
	  "stream.table: found 255, expected a whole number from 256 to "
	  "2147483647" },
#include "tests/unit/policy/config/bad_mesh.h"
#include "tests/unit/policy/config/bad_policy.h"
	{ "audit", "audit = ( { path = \"/a\"; }, { path = \"/a\"; } );",
	  "audit[1]: /a is in the list already" },
	{ "audit", "audit = ( { path = \"1\"; }, { path = \"2\"; }, "
	  "{ path = \"3\"; }, { path = \"4\"; }, { path = \"5\"; }, "
	  "{ path = \"6\"; }, { path = \"7\"; }, { path = \"8\"; }, "
	  "{ path = \"9\"; }, { path = \"10\"; }, { path = \"11\"; }, "
	  "{ path = \"12\"; }, { path = \"13\"; }, { path = \"14\"; }, "
	  "{ path = \"15\"; }, { path = \"16\"; }, { path = \"17\"; } );",
	  "audit[16]: more than 16" },
	{ "audit[].format", "audit = ( { format = \"pcap\"; path = \"/a\"; } );",
	  "audit[0].format: found \"pcap\", expected \"json\"" },
	{ "audit[].path", "audit = ( { format = \"json\"; } );",
	  "\"path\" is missing" },
	{ "audit[].passes", "audit = ( { path = \"/a\"; passes = \"no\"; } );",
	  "found \"no\"" },
	{ "audit[].path", "audit = ( { path = \"unix:a\"; } );",
	  "audit[0].path: found \"unix:a\", expected a path, \"-\" or" },
	{ "audit[].privacy", AUDIT("privacy = { uid = true; };"),
	  "audit[0].privacy" },
	{ "audit[].max_size", AUDIT("max_size = -1;"),
	  "audit[0].max_size: found -1" },
	{ "audit[].verdicts", AUDIT("verdicts = [ \"ok\" ];"),
	  "audit[0].verdicts[0]: found \"ok\"" },
	{ "containers", "containers = [ \"docker0\" ];",
	  "containers[0]: found \"docker0\", expected at most 64 groups" },
	{ "containers[].interfaces", "containers = ( { } );",
	  "containers[0]: \"interfaces\" is missing" },
	{ "containers[].interfaces", CONTAINER("\"*\""), "found \"*\", expected" },
	{ "containers[].interfaces", CONTAINER("\"a*b\""), "found \"a*b\"" },
	{ "containers[].interfaces", CONTAINER("\"a/b\""), "found \"a/b\"" },
	{ "containers[].interfaces", CONTAINER("\"sixteen-letters-\""),
	  "names of interfaces, which \"*\" may end" },
	{ "containers[].interfaces", CONTAINER("\"lo\""),
	  "lo is the machine's own" },
	{ "containers[].sources", CONTAINER("\"a\" ]; sources = [ \"x\""),
	  "containers[0].sources[0]: found \"x\", expected addresses and" },
	{ "audit[].rcodes", AUDIT("rcodes = [ \"SERVFAIL\", \"servfail\" ];"),
	  "audit[0].rcodes[1]: found \"servfail\", expected response codes" },
	{ "metrics.interval", "metrics = { interval = 3601; };",
	  "expected a number of seconds from 0 to 3600" },
	{ "log.level", "log = { level = \"loud\"; };",
	  "expected \"error\", \"warning\", \"notice\", \"info\" or" },
	{ "log.level", "log = { level = 7; };", "found 7" },
	/* Not about one option. */
	{ "", "run = 1;", "2: run: unknown option; known here: run_dir, user, "
	  "state_dir, capture, queue, stream, mesh, "
	  "forward, policy_unloaded, policy, policy_unreadable, "
	  "containers, audit, metrics, log" },
	{ "", "queue = { nmber = 1; };", "queue.nmber: unknown option, did you "
	  "mean \"number\"? known here: number, workers, maxlen, "
	  "absent, overload" },
	{ "", "workers = 1;", "workers: unknown option, did you mean "
	  "queue.workers? known here: run_dir" },
	{ "", "mesh = { zones = ( { nme = \"a\"; name = \"b\"; } ); };",
	  "mesh.zones[0].nme: unknown option, did you mean \"name\"? known" },
	{ "", "capture = { bypass = { user = [ ]; }; };", "capture.bypass.user: "
	  "unknown option, did you mean \"users\"? known here: users, groups, "
	  "marks, cgroups, " },
	{ "", "mesh = { tables = ( { format = \"nds\"; path = \"/a\"; x = 1; } ); "
	  "};", "mesh.tables[0].x: unknown option; known here: format, path" },
	{ "", "queue = { number = 1 maxlen = 2; }\nx", "3: syntax error" },
	{ "", "log = { level = \"info\"; };\nlog = { level = \"info\"; };",
	  "3: duplicate setting name; a group or option stands here that is "
	  "in the file already" },
	{ "", "\n\n\n  @include \"/etc/passwd\"\n", "5: @include" },
	{ "", "\n\"", "3: a string begins here that has no end" },
	{ "", "run_dir = \"/a\\\";\n\n", "2: a string begins here" },
	{ "", "log = { };\n/* more\n* / run_dir = 3;", "3: a comment begins" },
#define AUDIT(member) "audit = ( { path = \"/a\"; " member " } );"
#define DOMAIN(text) "forward = { domains = ( { " text " } ); };"
	{ "forward.domains", "forward = { domains = [ ]; chase = 2; };",
	  "chase: found 2" },
	{ "forward.domains", DOMAIN("name = \"a\"; upstreams = [ \"192.0.2.1\" "
	  "]; }, { name = \"A\"; upstreams = [ \"192.0.2.1\" ];"),
	  "domains[1]: this domain is in the list already" },
	{ "forward.domains[].name", DOMAIN("upstreams = [ \"192.0.2.1\" ];"),
	  "domains[0]: \"name\" is missing" },
	{ "forward.domains[].name", DOMAIN("name = \"*.a\";"),
	  "found \"*.a\", expected a domain name without a wildcard" },
	{ "forward.domains[].upstreams", DOMAIN("name = \"a\";"),
	  "\"upstreams\" is missing" },
	{ "forward.domains[].upstreams", DOMAIN("name = \"a\"; upstreams = [ ];"),
	  "\"upstreams\" is empty" },
	{ "forward.domains[].upstreams",
	  DOMAIN("name = \"a\"; upstreams = [ \"dns.example\" ];"),
	  "found \"dns.example\", expected at most 15 of \"ADDRESS\"" },
	{ "forward.domains[].upstreams",
	  DOMAIN("name = \"a\"; upstreams = [ \"192.0.2.1@0\" ];"),
	  "found \"192.0.2.1@0\"" },
	{ "forward.domains[].upstreams",
	  DOMAIN("name = \"a\"; upstreams = [ \"192.0.2.1@65536\" ];"),
	  "found \"192.0.2.1@65536\"" },
	{ "forward.domains[].upstreams",
	  DOMAIN("name = \"a\"; upstreams = [ \"127.0.0.53\" ];"),
	  "upstreams[0]: what 127.0.0.53 asks would come back here" },
	{ "forward.domains[].upstreams",
	  DOMAIN("name = \"a\"; upstreams = [ \"tcp://::1\" ];"),
	  "would come back here" },
#define TLS(text) DOMAIN("name = \"a\";\n upstreams = [ \"tls://" text "\" ];")
	{ "forward.domains[].upstreams", TLS("dns.example"),
	  "3: forward.domains[0].upstreams[0]: \"tls://dns.example\": an "
	  "address has to follow tls://" },
	{ "forward.domains[].upstreams", TLS("192.0.2.1@0#a"),
	  "the port behind @, is malformed" },
	{ "forward.domains[].upstreams", TLS("[2001:db8::1#a"),
	  "is malformed" },
	{ "forward.domains[].upstreams", TLS("[192.0.2.1]"), "is malformed" },
	{ "forward.domains[].upstreams", TLS("192.0.2.1#"),
	  "no name follows #" },
	{ "forward.domains[].upstreams", TLS("192.0.2.1#192.0.2.1"),
	  "an address follows #" },
	{ "forward.domains[].upstreams", TLS("192.0.2.1#a..b"),
	  "what follows # is not a valid host name" },
	{ "forward.domains[].upstreams", TLS("192.0.2.1#a b"),
	  "what follows # is not a valid host name" },
	{ "forward.domains[].upstreams",
	  DOMAIN("name = \"a\"; upstreams = [ \"tcp://192.0.2.1#a\" ];"),
	  "a name behind # is for tls:// only" },
	{ "forward.tls.ca", "forward = { tls = { ca = \"/\"; }; };",
	  "/: it is a directory" },
	{ "forward.tls.ca", "forward = { tls = { ca = \"/etc/passwd\"; }; };",
	  "/etc/passwd: there is no certificate (PEM) in it" },
	{ "forward.domains[].select",
	  DOMAIN("name = \"a\"; upstreams = [ \"192.0.2.1\" ]; "
	  "select = \"first\";"), "found \"first\"" },
	{ "forward.domains[].fallback",
	  DOMAIN("name = \"a\"; upstreams = [ \"192.0.2.1\" ]; "
	  "fallback = \"x\";"), "found \"x\"" },
	{ "forward.domains[].fallback", DOMAIN("name = \"a\"; fallback = "
	  "\"default\"; upstreams = [ \"192.0.2.1\" ];"),
	  "domains[0].fallback: \"default\" needs a domain \".\"" },
	{ "forward.domains[].cache", DOMAIN("name = \"a\"; cache = 1; "
	  "upstreams = [ \"192.0.2.1\" ];"), "cache: found 1" },
	{ "forward.cache.size", "forward = { cache = { size = -1; }; };",
	  "size: found -1" },
	{ "forward.cache.stale", "forward = { cache = { stale = true; }; };",
	  "stale: found true" },
	{ "forward.chase", "forward = { chase = \"yes\"; };", "found \"yes\"" },
	{ "", "((((((((((", "2: syntax error" },
	{ "", "a = \377\376;", "2: syntax error" },
	{ "", "capture = {\n tcp = true;\n\nmesh = { ttl = 3; };\n", "syntax error" },
	{ "", "log = { level = ; };\nmesh = {", "2: syntax error; a setting" },
	{ "", "mesh:\n  ttl: 3\n", "3: syntax error; a setting is written" },
	{ "", "mesh :\n{ ttl : 3; };\nlog: ( level )", "4: syntax error" },
};
#define BADS (sizeof(bad) / sizeof(bad[0]))

TEST(bad_values_are_refused)
{
	for (size_t i = 0; i < BADS; i++) {
		struct config *config = parse(bad[i].text);

		if (config != NULL || !says(bad[i].error)) {
			printf("  in: %s\n", bad[i].text);
			CHECK(0);
		}
		config_free(config);
	}
}

TEST(no_option_is_without_a_bad_value)
{
	for (size_t i = 0; i < config_option_count; i++) {
		bool tried = strcmp(config_options[i].path,
		    "mesh.tables[].origin") == 0;

		for (size_t j = 0; j < BADS; j++)
			tried |= strcmp(bad[j].option,
			    config_options[i].path) == 0;
		if (!tried)
			printf("  %s\n", config_options[i].path);
		CHECK(tried);
	}
}

/* Such as that the worker is root, where it is nobody yet. */
/* Issue 23, 20: whom there is not matches nobody, and never everybody. */
TEST(missing_users_match_nobody)
{
	struct config *config = parse("capture = { bypass = { users = [ "
	    "\"gmaes\", \"no-such-user-1\" ]; groups = [ \"no-such-group\" ]; "
	    "}; };\n"
	    "policy = ( { name = \"a\"; action = \"refuse\"; match = { "
	    "users = [ \"no-such-user-1\" ]; groups = [ "
	    "\"!no-such-group\" ]; }; } );");
	const struct policy_rule *rule;

	CHECK(config != NULL && diag.errors == 0 && diag.warnings == 5);
	if (config == NULL)
		return;
	CHECK(config->absent == 5);
	CHECK(strstr(diag.entries[0].text, "did you mean \"games\"?") !=
	    NULL || strstr(diag.entries[1].text, "did you mean \"games\"?") !=
	    NULL);
	CHECK(config->capture.bypass.user_count <= 2 &&
	    config->capture.bypass.group_count == 0);
	rule = &config->policy.rules[config->policy.rule_count - 1];
	for (size_t i = 0; i < config->policy.rule_count; i++)
		if (strcmp(config->policy.rules[i].name, "a") == 0)
			rule = &config->policy.rules[i];
	CHECK(rule->match.users.count == 1 && rule->not.groups.count == 1);
	CHECK(config->policy.numbers[rule->match.users.first] ==
	    CONFIG_NOBODY && config->policy.numbers[rule->not.groups.first] ==
	    CONFIG_NOBODY);
	config_free(config);
}

/* Each is one line, and counted, so that it is looked for again. */
TEST(what_the_machine_lacks_is_a_warning)
{
	static const char *const upstreams[] = { "fe80::1%nowhere0",
		"udp://[fe80::1%nowhere0]@53", "tcp://fe80::1%nowhere0",
		"tls://fe80::1%nowhere0#a" };
	char text[200];

	for (size_t i = 0; i < sizeof(upstreams) / sizeof(upstreams[0]); i++) {
		struct config *config;

		(void)snprintf(text, sizeof(text), "forward = { tls = {\n"
		    "ca = \"/nowhere/ca\"; };\ndomains = ( { name = \"a\";\n"
		    "upstreams = [ \"%s\" ]; } ); };", upstreams[i]);
		config = parse(text);
		CHECK(config != NULL && diag.warnings == 2);
		if (config == NULL)
			continue;
		CHECK(config->absent == 2);
		CHECK(config->forward.upstreams == 1 &&
		    config->forward.upstream[0].scope == 0);
		CHECK(strstr(diag.entries[0].text, "no interface of that name")
		    != NULL || strstr(diag.entries[1].text,
		    "no interface of that name") != NULL);
		config_free(config);
	}
}

TEST(a_missing_user_is_all_there_is_to_say)
{
	CHECK(parse("user = \"no-such-user-1\";") == NULL);
	CHECK(diag.errors == 1 && diag.warnings == 0);
}

TEST(long_lists_are_refused)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct config *c;

	fputs("capture = { bypass = { users = [ 0", out);
	for (int i = 1; i <= CONFIG_MAX_ITEMS; i++)
		fprintf(out, ", %d", i);
	fputs(" ]; }; };", out);
	fclose(out);
	c = parse(text);
	CHECK(c == NULL && says("1025 items; at most 1024 are allowed"));
	config_free(c);
	free(text);

	out = open_memstream(&text, &size);
	fputs("mesh = { search = [ \"s0\"", out);
	for (int i = 1; i <= MESH_MAX_SEARCH; i++)
		fprintf(out, ", \"s%d\"", i);
	fputs(" ]; };", out);
	fclose(out);
	c = parse(text);
	CHECK(c == NULL && says("mesh.search[32]: more than 32"));
	config_free(c);
	free(text);
}

TEST(octets_that_are_no_text_are_refused)
{
	static const char nul[] = "run_dir = \"/a\";\n\0queue = 3;\n";
	struct config *c;
	char noise[512];

	diag_free(&diag);
	diag = (struct diag)DIAG_INIT;
	CHECK(config_parse(&c, FILE_NAME, nul, sizeof(nul) - 1, &diag) ==
	    -EINVAL);
	CHECK(c == NULL && says("2: a NUL octet"));
	srandom(1);
	for (int i = 0; i < 2000; i++) {
		size_t length = (size_t)random() % sizeof(noise);

		for (size_t j = 0; j < length; j++)
			noise[j] = (char)random();
		noise[0] = '=';
		diag_free(&diag);
		diag = (struct diag)DIAG_INIT;
		CHECK(config_parse(&c, FILE_NAME, noise, length > 0 ? length : 1,
		    &diag) == -EINVAL);
		CHECK(strchr(first_error(), '\n') == NULL);
	}
}

int
main(void)
{
	test_run();
	diag_free(&diag);
	return test_summary();
}
