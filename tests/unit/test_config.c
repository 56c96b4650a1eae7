/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/config_option.h"
#include "resolver/source.h"
#include "tests/check.h"

#define FILE_NAME "/etc/nfdns/test.conf"
/* The machine need not have the default user. */
#define COMMON "user = \"65533\";\n"

static struct diag diag;

/* What a bad text is to say: the first error, without the file's name. */
static const char *
first_error(void)
{
	size_t skip = strlen(FILE_NAME) + 1;

	for (size_t i = 0; i < diag.kept; i++)
		if (diag.entries[i].level == DIAG_ERROR)
			return strncmp(diag.entries[i].text, FILE_NAME ":",
			    skip) == 0 ? diag.entries[i].text + skip :
			    diag.entries[i].text;
	return "";
}

/* Parses COMMON and text; NULL after an error.  diag has this text's only. */
static struct config *
parse(const char *text)
{
	struct config *config = NULL;
	char *whole = NULL;
	int error;

	diag_free(&diag);
	diag = (struct diag)DIAG_INIT;
	if (asprintf(&whole, "%s%s", strncmp(text, "user = ", 7) != 0 ?
	    COMMON : "\n", text) < 0)
		return NULL;
	error = config_parse(&config, FILE_NAME, whole, strlen(whole), &diag);
	free(whole);
	CHECK((error == 0) == (config != NULL));
	CHECK(error == 0 || (error == -EINVAL && diag.errors > 0));
	return config;
}

static bool
says(const char *part)
{
	if (strstr(first_error(), part) != NULL)
		return true;
	printf("  expected \"%s\", got \"%s\"\n", part, first_error());
	return false;
}

static bool
name_is(const struct dns_name *name, const char *text)
{
	char buf[NAME_TEXT_SIZE];

	return strcmp(name_to_text(name->octets, buf), text) == 0;
}

static void
every_default_is_what_the_design_says(void)
{
	struct config *c = parse("");

	CHECK(c != NULL);
	if (c == NULL)
		return;
	CHECK(strcmp(c->path, FILE_NAME) == 0);
	CHECK(strcmp(c->run_dir, "/run/nfdns") == 0);
	CHECK(strcmp(config_option_find("user")->fallback, "\"nfdns\"") == 0);
	CHECK(c->uid == 65533 && c->gid == 65533);
	CHECK(c->capture.any_nameserver && c->capture.nameserver_count == 0);
	CHECK(c->capture.tcp);
	CHECK(c->capture.bypass.user_count == 1);
	CHECK(c->capture.bypass.users[0] == 65533);
	CHECK(c->capture.bypass.group_count == 0);
	CHECK(c->capture.bypass.mark_count == 0);
	CHECK(c->capture.bypass.cgroup_count == 0);
	CHECK(c->capture.bypass.classid_count == 0);
	CHECK(c->capture.bypass.destination_count == 0);
	CHECK(c->capture.mark_mask == 0x70000000);
	CHECK(c->capture.mark_passed == 0x10000000);
	CHECK(c->capture.mark_answered == 0x20000000);
	CHECK(c->capture.mark_stream == 0x40000000);
	CHECK(c->capture.zone == 53);
	CHECK(c->queue.number == 5300 && c->queue.workers == 1);
	CHECK(c->queue.maxlen == 16384);
	CHECK(!c->queue.absent_drop && !c->queue.overload_pass);
	CHECK(name_is(&c->mesh.domain, "cluster.local."));
	CHECK(strcmp(c->mesh.namespace, "default") == 0);
	CHECK(c->mesh.ttl == 30 && c->mesh.negative_ttl == 5);
	CHECK(c->mesh.udp_size == 1232);
	CHECK(c->mesh.suppress_https);
	CHECK(c->mesh.unloaded == UNLOADED_PASS);
	CHECK(c->mesh.source_count == 0 && c->mesh.zone_count == 0);
	CHECK(c->audit_count == 0);
	CHECK(c->log_level == LOG_LEVEL_INFO);
	config_free(c);
}

static const char full[] =
    "run_dir = \"/run/other\";\n"				/* line 2 */
    "capture = {\n"
    "  nameservers = [ \"192.0.2.53\", \"2001:db8::/32\", \"192.0.2.0/24\" ];\n"
    "  tcp = false;\n"
    "  mark_mask = 0x15; zone = 1000;\n"
    "  bypass = {\n"
    "    users = ( \"root\", 1000, \"65533\", 1000 );\n"
    "    groups = [ \"root\", \"77\" ];\n"
    "    marks = [ \"0x520/0xfe0\", \"1344\", \"0x520/0xfe0\" ];\n" /* line 10 */
    "    cgroups = [ \"/system.slice/backup.service/\", \"a\" ];\n"
    "    classids = [ \"0x100001\", \"7\" ];\n"
    "    destinations = [ \"169.254.169.254/32\", \"fd00::/8\" ];\n"
    "  };\n"
    "};\n"
    "queue = { number = 65534; workers = 2; maxlen = 128;\n"
    "  prefilter = \"off\"; absent = \"drop\"; overload = \"pass\"; };\n"
    "mesh = {\n"
    "  domain = \"Mesh.Example.\"; namespace = \"shop\";\n"
    "  search = [ \"shop.svc.Mesh.example\", \"b.example\","
    " \"B.example\" ];\n"						/* 20 */
    "  ttl = 0; negative_ttl = 86400; udp_size = 512;\n"
    "  suppress_https = false; unloaded = \"servfail\";\n"
    "  tables = ( { format = \"nds\"; path = \"/t/names.json\"; },\n"
    "    { format = \"hosts\"; path = \"hosts\"; } );\n"
    "  zones = ( { name = \"Mesh.example\"; unknown = \"nxdomain\"; },\n"
    "    { name = \"b.example\"; } );\n"
    "};\n"
    "policy = ( );\n"
    "audit = ( { format = \"json\"; path = \"/a.json\"; passes = true; },\n"
    "  { path = \"audit/b.json\"; } );\n"				/* 30 */
    "log = { level = \"debug\"; };\n";

static void
every_option_has_its_effect(void)
{
	struct config *c = parse(full);
	const struct config_bypass *b;
	static const uint8_t net[16] = { 192, 0, 2, 0 };

	CHECK(c != NULL);
	if (c == NULL) {
		printf("  %s\n", first_error());
		return;
	}
	b = &c->capture.bypass;
	CHECK(strcmp(c->run_dir, "/run/other") == 0);
	CHECK(!c->capture.any_nameserver);
	/* 192.0.2.53 lies in 192.0.2.0/24. */
	CHECK(c->capture.nameserver_count == 2);
	CHECK(c->capture.nameservers[0].family == AF_INET6);
	CHECK(c->capture.nameservers[0].length == 32);
	CHECK(c->capture.nameservers[1].length == 24);
	CHECK(memcmp(c->capture.nameservers[1].address, net, 16) == 0);
	CHECK(!c->capture.tcp);
	CHECK(c->capture.mark_passed == 0x01);
	CHECK(c->capture.mark_answered == 0x04);
	CHECK(c->capture.mark_stream == 0x10);
	CHECK(c->capture.zone == 1000);
	CHECK(b->user_count == 3 && b->users[0] == 65533 && b->users[1] == 0 &&
	    b->users[2] == 1000);
	CHECK(b->group_count == 2 && b->groups[0] == 0 && b->groups[1] == 77);
	CHECK(b->mark_count == 2 && b->marks[0].value == 0x520 &&
	    b->marks[0].mask == 0xfe0 && b->marks[1].value == 1344 &&
	    b->marks[1].mask == UINT32_MAX);
	CHECK(b->cgroup_count == 2 && b->cgroups[0].line == 11 &&
	    strcmp(b->cgroups[0].path, "system.slice/backup.service") == 0);
	CHECK(b->classid_count == 2 && b->classids[0] == 0x100001);
	CHECK(b->destination_count == 2);
	CHECK(c->queue.number == 65534 && c->queue.workers == 2);
	CHECK(c->queue.maxlen == 128);
	CHECK(c->queue.absent_drop && c->queue.overload_pass);
	CHECK(name_is(&c->mesh.domain, "mesh.example."));
	CHECK(strcmp(c->mesh.namespace, "shop") == 0);
	CHECK(c->mesh.search_count == 2);
	CHECK(name_is(&c->mesh.search[0], "shop.svc.mesh.example."));
	CHECK(c->mesh.ttl == 0 && c->mesh.negative_ttl == 86400);
	CHECK(c->mesh.udp_size == 512);
	CHECK(!c->mesh.suppress_https);
	CHECK(c->mesh.unloaded == UNLOADED_SERVFAIL);
	CHECK(c->mesh.source_count == 2);
	CHECK(c->mesh.sources[0].format == source_format_find("nds"));
	CHECK(strcmp(c->mesh.sources[0].path, "/t/names.json") == 0);
	CHECK(c->mesh.sources[0].line == 23);
	CHECK(strcmp(c->mesh.sources[1].path, "/etc/nfdns/hosts") == 0);
	CHECK(c->mesh.sources[1].line == 24);
	CHECK(c->mesh.zone_count == 2);
	CHECK(name_is(&c->mesh.zones[0].name, "mesh.example."));
	CHECK(c->mesh.zones[0].unknown == ZONE_NXDOMAIN);
	CHECK(c->mesh.zones[1].unknown == ZONE_PASS);
	CHECK(c->audit_count == 2);
	CHECK(c->audits[0].passes && !c->audits[1].passes);
	CHECK(strcmp(c->audits[1].path, "/etc/nfdns/audit/b.json") == 0);
	CHECK(c->audits[1].line == 30);
	CHECK(c->log_level == LOG_LEVEL_DEBUG);
	config_free(c);
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
	{ "capture.zone", "capture = { zone = 0; };",
	  "found 0, expected a whole number from 1 to 65534" },
	{ "capture.zone", "capture = { zone = 65535; };", "found 65535" },
	{ "capture.bypass", "capture = { bypass = [ ]; };",
	  "capture.bypass: expected a group" },
	{ "capture.bypass.users",
	  "capture = { bypass = { users = [ \"no-such-user-1\" ]; }; };",
	  "users[0]: there is no user \"no-such-user-1\"" },
	{ "capture.bypass.users",
	  "capture = { bypass = { users = [ -1 ]; }; };", "found -1" },
	{ "capture.bypass.users",
	  "capture = { bypass = { users = ( true ); }; };", "found true" },
	{ "capture.bypass.groups",
	  "capture = { bypass = { groups = [ \"no-such-group\" ]; }; };",
	  "groups[0]: there is no group" },
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
	{ "capture.bypass.classids",
	  "capture = { bypass = { classids = [ \"0\" ]; }; };", "found \"0\"" },
	{ "capture.bypass.classids",
	  "capture = { bypass = { classids = [ \"0x100000000\" ]; }; };",
	  "found \"0x100000000\"" },
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
	{ "queue.prefilter", "queue = { prefilter = \"on\"; };",
	  "found \"on\", expected \"auto\" or \"off\"" },
	{ "queue.absent", "queue = { absent = \"fail\"; };",
	  "expected \"pass\" or \"drop\"" },
	{ "queue.overload", "queue = { overload = false; };",
	  "found false, expected \"drop\" or \"pass\"" },
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
	  "nds, hosts" },
	{ "mesh.tables[].path", "mesh = { tables = ( { format = \"nds\"; } ); };",
	  "\"path\" is missing" },
	{ "mesh.tables[].path",
	  "mesh = { tables = ( { format = \"nds\"; path = \"\"; } ); };",
	  "tables[0].path: found \"\", expected a path" },
	{ "mesh.tables[].origin", "mesh = { tables = ( { format = \"nds\"; "
	  "path = \"/a\"; origin = \"b\"; } ); };", "only zone files" },
	{ "mesh.zones", "mesh = { zones = ( { name = \"a.b\"; }, "
	  "{ name = \"A.B.\"; } ); };", "mesh.zones[1]: this zone is in" },
	{ "mesh.zones[].name", "mesh = { zones = ( { unknown = \"pass\"; } ); };",
	  "mesh.zones[0]: \"name\" is missing" },
	{ "mesh.zones[].name", "mesh = { zones = ( { name = \"*.a\"; } ); };",
	  "without a wildcard" },
	{ "mesh.zones[].unknown",
	  "mesh = { zones = ( { name = \"a\"; unknown = \"drop\"; } ); };",
	  "expected \"pass\" or \"nxdomain\"" },
	{ "policy", "policy = ( { name = \"no-ads\"; } );",
	  "policy[0]: policy rules are not supported by this version; "
	  "remove the section" },
	{ "policy", "policy = 3;", "found 3" },
	{ "audit", "audit = ( { path = \"/a\"; }, { path = \"/a\"; } );",
	  "audit[1]: /a is in the list already" },
	{ "audit", "audit = ( { path = \"1\"; }, { path = \"2\"; }, "
	  "{ path = \"3\"; }, { path = \"4\"; }, { path = \"5\"; }, "
	  "{ path = \"6\"; }, { path = \"7\"; }, { path = \"8\"; }, "
	  "{ path = \"9\"; } );", "audit[8]: more than 8" },
	{ "audit[].format", "audit = ( { format = \"pcap\"; path = \"/a\"; } );",
	  "audit[0].format: found \"pcap\", expected \"json\"" },
	{ "audit[].path", "audit = ( { format = \"json\"; } );",
	  "\"path\" is missing" },
	{ "audit[].passes", "audit = ( { path = \"/a\"; passes = \"no\"; } );",
	  "found \"no\"" },
	{ "log.level", "log = { level = \"loud\"; };",
	  "expected \"error\", \"warning\", \"notice\", \"info\" or" },
	{ "log.level", "log = { level = 7; };", "found 7" },
	/* Not about one option. */
	{ "", "run = 1;", "2: run: unknown option; known here: run_dir, user, "
	  "capture, queue, mesh, policy, audit, log" },
	{ "", "queue = { nmber = 1; };", "queue.nmber: unknown option; known "
	  "here: number, workers, maxlen, prefilter, absent, overload" },
	{ "", "capture = { bypass = { user = [ ]; }; };", "capture.bypass.user: "
	  "unknown option; known here: users, groups, marks, cgroups, " },
	{ "", "mesh = { tables = ( { format = \"nds\"; path = \"/a\"; x = 1; } ); "
	  "};", "mesh.tables[0].x: unknown option; known here: format, path" },
	{ "", "queue = { number = 1 maxlen = 2; }\nx", "3: syntax error" },
	{ "", "log = { level = \"info\"; };\nlog = { level = \"info\"; };",
	  "3: duplicate setting name" },
	{ "", "\n\n\n  @include \"/etc/passwd\"\n", "5: @include" },
	{ "", "\n\"", "3: a string begins here that has no end" },
	{ "", "run_dir = \"/a\\\";\n\n", "2: a string begins here" },
	{ "", "log = { };\n/* more\n* / run_dir = 3;", "3: a comment begins" },
	{ "", "((((((((((", "2: syntax error" },
	{ "", "a = \377\376;", "2: syntax error" },
};
#define BADS (sizeof(bad) / sizeof(bad[0]))

static void
bad_values_are_refused(void)
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

static void
no_option_is_without_a_bad_value(void)
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

static void
all_errors_come_at_once_with_their_lines(void)
{
	static const char *const expected[] = {
		FILE_NAME ":2: colour: unknown option",
		FILE_NAME ":5: capture.zone: found 0",
		FILE_NAME ":9: queue.number: found \"x\"",
		FILE_NAME ":10: queue.maxlen: found 1",
		FILE_NAME ":14: mesh.tables[1]: \"path\" is missing",
		FILE_NAME ":13: mesh.tables[0].format: found \"xml\"",
		FILE_NAME ":18: log.level: found \"no\"",
	};
	struct config *config = parse("colour = 3;\n"	/* line 2 */
	    "capture = {\n"
	    "  tcp = true;\n"
	    "  zone =\n    0;\n"				/* 5, 6 */
	    "};\n"
	    "queue = {\n"					/* 8 */
	    "  number = \"x\";\n"
	    "  maxlen = 1;\n"
	    "};\n"
	    "mesh = { tables = (\n"				/* 12 */
	    "  { format = \"xml\"; path = \"/a\"; },\n"
	    "  { format = \"nds\"; }\n"
	    "); };\n"
	    "\n\n"
	    "log = { level = \"no\"; };\n");			/* 18 */

	CHECK(config == NULL);
	CHECK(diag.errors == sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		bool found = false;

		for (size_t j = 0; j < diag.kept; j++)
			found |= strncmp(diag.entries[j].text, expected[i],
			    strlen(expected[i])) == 0;
		if (!found)
			printf("  missing: %s\n", expected[i]);
		CHECK(found);
	}
	if (test_failed_here)
		for (size_t j = 0; j < diag.kept; j++)
			printf("  %s\n", diag.entries[j].text);
}

static void
the_worker_may_have_any_number(void)
{
	const struct passwd *nobody = getpwnam("nobody");
	struct config *c = parse("user = 4000000000L;");

	CHECK(c != NULL && c->uid == 4000000000 && c->gid == 4000000000);
	CHECK(c != NULL && strcmp(c->user, "4000000000") == 0);
	CHECK(diag.warnings == 0);
	config_free(c);
	c = parse("user = \"root\";");
	CHECK(c != NULL && c->uid == 0 && c->gid == 0);
	CHECK(diag.warnings == 1);
	config_free(c);
	if (nobody != NULL) {
		c = parse("user = \"nobody\";");
		CHECK(c != NULL && c->uid == nobody->pw_uid &&
		    c->gid == nobody->pw_gid &&
		    c->capture.bypass.users[0] == nobody->pw_uid);
		config_free(c);
	}
}

static void
workers_can_follow_the_machine(void)
{
	struct config *c = parse("queue = { workers = \"auto\"; };");
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	CHECK(c != NULL && c->queue.workers ==
	    (cpus > CONFIG_MAX_WORKERS ? CONFIG_MAX_WORKERS : cpus));
	config_free(c);
}

static void
long_lists_are_refused(void)
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

static void
octets_that_are_no_text_are_refused(void)
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

/* Puts text into a file of the test's own directory and loads it. */
static int
load_file(const char *path, const char *text, struct config **config)
{
	if (text != NULL) {
		FILE *f = fopen(path, "w");

		CHECK(f != NULL);
		if (f == NULL)
			return -EIO;
		fputs(text, f);
		fclose(f);
	}
	diag_free(&diag);
	diag = (struct diag)DIAG_INIT;
	return config_load(config, path, &diag);
}

static bool
any_error_has(const char *part)
{
	for (size_t i = 0; i < diag.kept; i++)
		if (strstr(diag.entries[i].text, part) != NULL)
			return true;
	return false;
}

static void
paths_that_are_no_file_are_refused(void)
{
	char dir[] = "/tmp/nfdns-config-XXXXXX", path[64];
	struct config *c;
	FILE *f;

	CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/c", dir);
	CHECK(load_file(path, NULL, &c) == -EINVAL);
	CHECK(c == NULL && any_error_has("cannot be opened: No such file"));
	CHECK(load_file(dir, NULL, &c) == -EINVAL);
	CHECK(any_error_has("is a directory"));
	CHECK(mkfifo(path, 0600) == 0);
	CHECK(load_file(path, NULL, &c) == -EINVAL);
	CHECK(any_error_has("is not a regular file"));
	unlink(path);
	f = fopen(path, "w");
	CHECK(f != NULL && ftruncate(fileno(f), 1 << 30) == 0);
	if (f != NULL)
		fclose(f);
	CHECK(load_file(path, NULL, &c) == -EINVAL);
	CHECK(any_error_has("is larger than 1 MiB"));
	unlink(path);

	/* An empty file is a whole configuration, but for its user. */
	CHECK(load_file(path, COMMON, &c) == 0);
	config_free(c);
	/* Paths are taken from where the file stands. */
	CHECK(load_file(path, COMMON "audit = ( { path = \"x\"; } );", &c) == 0);
	unlink(path);
	snprintf(path, sizeof(path), "%s/x", dir);
	CHECK(c != NULL && strcmp(c->audits[0].path, path) == 0);
	config_free(c);
	rmdir(dir);
}

static void
a_relative_path_is_made_absolute(void)
{
	struct config *c = NULL;
	char *here = getcwd(NULL, 0), *expected = NULL;

	diag_free(&diag);
	diag = (struct diag)DIAG_INIT;
	CHECK(config_parse(&c, "some.conf", COMMON, strlen(COMMON), &diag) == 0);
	CHECK(asprintf(&expected, "%s/some.conf", here) > 0);
	CHECK(c != NULL && strcmp(c->path, expected) == 0);
	free(expected);
	free(here);
	config_free(c);
}

static void
what_is_fixed_cannot_be_reloaded(void)
{
	static const struct {
		const char *text;
		const char *option;	/* NULL: may change */
	} changes[] = {
		{ "run_dir = \"/run/x\";", "run_dir" },
		{ "user = \"65532\";", "user" },
		{ "queue = { number = 1; };", "queue.number" },
		{ "queue = { workers = 2; };", "queue.workers" },
		{ "queue = { maxlen = 200; };", "queue.maxlen" },
		{ "queue = { absent = \"drop\"; };", "queue.absent" },
		{ "queue = { overload = \"pass\"; };", "queue.overload" },
		{ "capture = { mark_mask = 7; };", "capture.mark_mask" },
		{ "capture = { zone = 7; };", "capture.zone" },
		{ "queue = { prefilter = \"off\"; };", NULL },
		{ "capture = { nameservers = [ \"192.0.2.1\" ]; };", NULL },
		{ "capture = { bypass = { users = [ 5 ]; }; };", NULL },
		{ "mesh = { ttl = 3; };", NULL },
		{ "log = { level = \"debug\"; };", NULL },
		{ "audit = ( { path = \"/a\"; } );", NULL },
	};
	struct config *running = parse("");

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct config *next = parse(changes[i].text);
		char expected[80];
		int error;

		CHECK(next != NULL);
		if (next == NULL)
			continue;
		error = config_check_reload(running, next, &diag);
		CHECK(error == (changes[i].option != NULL ? -EINVAL : 0));
		snprintf(expected, sizeof(expected), ": %s has changed",
		    changes[i].option != NULL ? changes[i].option : "");
		CHECK((diag.errors == 1) == (changes[i].option != NULL));
		CHECK(changes[i].option == NULL || any_error_has(expected));
		config_free(next);
	}
	config_free(running);
}

/* Reads a file of the checkout; the caller frees. */
static char *
slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 1 << 17);

	CHECK(f != NULL);
	if (f == NULL || text == NULL)
		return text;
	text[fread(text, 1, (1 << 17) - 1, f)] = '\0';
	fclose(f);
	return text;
}

/* Two values of libconfig, as their text. */
static bool
same_setting(const config_t *a, const config_t *b, const char *path)
{
	char *left = NULL, *right = NULL;
	size_t size;
	const config_t *trees[2] = { a, b };
	char **texts[2] = { &left, &right };
	bool same;

	for (int i = 0; i < 2; i++) {
		config_setting_t *s = config_lookup(trees[i], path);
		FILE *out = open_memstream(texts[i], &size);

		if (s == NULL) {
			fclose(out);
			continue;
		}
		if (config_setting_is_scalar(s)) {
			fprintf(out, "%lld %d %s",
			    config_setting_get_int64(s),
			    config_setting_get_bool(s),
			    config_setting_get_string(s) != NULL ?
			    config_setting_get_string(s) : "-");
		} else {
			fprintf(out, "%d:", config_setting_length(s));
			for (int j = 0; j < config_setting_length(s); j++)
				fprintf(out, " %s", config_setting_get_string(
				    config_setting_get_elem(s,
				    (unsigned int)j)));
		}
		fclose(out);
	}
	same = left != NULL && right != NULL && left[0] != '\0' &&
	    strcmp(left, right) == 0;
	if (!same)
		printf("  %s: %s, %s\n", path, left, right);
	free(left);
	free(right);
	return same;
}

static char *
printed_defaults(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	config_print_defaults(out);
	fclose(out);
	return text;
}

static void
printed_defaults_are_a_whole_file(void)
{
	char *text = printed_defaults();
	config_t tree;

	config_init(&tree);
	CHECK(config_read_string(&tree, text) == CONFIG_TRUE);
	for (size_t i = 0; i < config_option_count; i++)
		if (strchr(config_options[i].path, '[') == NULL)
			CHECK(config_lookup(&tree, config_options[i].path) !=
			    NULL);
	config_destroy(&tree);
	free(text);
}

/* Takes the "# " off every line "# name = value;". */
static void
uncomment(char *text)
{
	for (char *line = text; line != NULL; line = strchr(line, '\n')) {
		char *hash, *end;

		line += line[0] == '\n';
		hash = line + strspn(line, "\t");
		end = strchr(line, '\n');
		if (end == NULL)
			return;
		if (strncmp(hash, "# ", 2) == 0 && end[-1] == ';' &&
		    hash[2 + strspn(hash + 2, "abcdefghijklmnopqrstuvwxyz_")] ==
		    ' ' && strstr(hash, " = ") < end)
			memset(hash, ' ', 2);
	}
}

static void
the_packaged_file_shows_the_defaults(void)
{
	char *example = slurp("packaging/nfdnsd.conf");
	char *text = printed_defaults();
	config_t shown, real;

	config_init(&shown);
	config_init(&real);
	uncomment(example);
	CHECK(config_read_string(&real, text) == CONFIG_TRUE);
	if (config_read_string(&shown, example) != CONFIG_TRUE) {
		printf("  line %d: %s\n", config_error_line(&shown),
		    config_error_text(&shown));
		CHECK(0);
	}
	for (size_t i = 0; i < config_option_count && !test_failed_here; i++) {
		const char *path = config_options[i].path;

		if (strchr(path, '[') == NULL && strcmp(path, "policy") != 0 &&
		    strcmp(path, "audit") != 0 &&
		    strcmp(path, "mesh.tables") != 0 &&
		    strcmp(path, "mesh.zones") != 0)
			CHECK(same_setting(&shown, &real, path));
	}
	config_destroy(&shown);
	config_destroy(&real);
	free(example);
	free(text);
}

static void
the_packaged_file_loads(void)
{
	char *example = slurp("packaging/nfdnsd.conf");
	struct config *c = parse(example);

	CHECK(c != NULL);
	if (c == NULL)
		printf("  %s\n", first_error());
	else {
		CHECK(c->mesh.source_count == 1);
		if (c->mesh.source_count != 1)
			return;
		CHECK(c->mesh.sources[0].format == source_format_find("hosts"));
		CHECK(strcmp(c->mesh.sources[0].path, "/etc/nfdns/hosts") == 0);
		CHECK(c->mesh.zone_count == 0);
	}
	config_free(c);
	free(example);
}

/* The manual as one line, one blank between words. */
static void
flatten(char *text)
{
	char *to = text;

	for (const char *from = text; *from != '\0'; from++)
		if (*from != '\n' && *from != ' ')
			*to++ = *from;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	*to = '\0';
}

static void
the_manual_agrees_with_the_table(void)
{
	char *manual = slurp("packaging/man/nfdnsd.conf.5");
	char buf[CONFIG_TEXT_SIZE], *at, *end, expected[2 * CONFIG_TEXT_SIZE];

	flatten(manual);
	for (size_t i = 0; i < config_option_count; i++) {
		const struct config_option *o = &config_options[i];

		snprintf(expected, sizeof(expected), ".It Va %s ", o->path);
		at = strstr(manual, expected);
		if (at == NULL) {
			printf("  missing: %s\n", expected);
			CHECK(0);
			continue;
		}
		end = strstr(at + 1, " .It Va ");
		if (end != NULL)
			*end = '\0';
		snprintf(expected, sizeof(expected), "Default: %s.",
		    o->fallback != NULL ? o->fallback : "");
		if (o->fallback != NULL && strstr(at, expected) == NULL) {
			printf("  %s: \"%s\"\n", o->path, expected);
			CHECK(0);
		}
		if (o->read != config_read_format && strstr(at,
		    config_option_expected(o, buf)) == NULL) {
			printf("  %s: \"%s\"\n", o->path,
			    config_option_expected(o, buf));
			CHECK(0);
		}
		if (end != NULL)
			*end = ' ';
	}
	free(manual);
}

int
main(void)
{
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	TEST(every_default_is_what_the_design_says);
	TEST(every_option_has_its_effect);
	TEST(bad_values_are_refused);
	TEST(no_option_is_without_a_bad_value);
	TEST(all_errors_come_at_once_with_their_lines);
	TEST(the_worker_may_have_any_number);
	TEST(workers_can_follow_the_machine);
	TEST(long_lists_are_refused);
	TEST(octets_that_are_no_text_are_refused);
	TEST(paths_that_are_no_file_are_refused);
	TEST(a_relative_path_is_made_absolute);
	TEST(what_is_fixed_cannot_be_reloaded);
	TEST(printed_defaults_are_a_whole_file);
	TEST(the_packaged_file_shows_the_defaults);
	TEST(the_packaged_file_loads);
	TEST(the_manual_agrees_with_the_table);
	diag_free(&diag);
	return test_summary();
}
