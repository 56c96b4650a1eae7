/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/config.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include "policy/config/setting.h"
#include "resolver/compile/source_files.h"
#include "tests/config_text.h"

static bool
name_is(const struct dns_name *name, const char *text)
{
	char buf[NAME_TEXT_SIZE];

	return strcmp(name_to_text(name->octets, buf), text) == 0;
}

TEST(every_default_is_what_the_design_says)
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
	CHECK(c->capture.bypass.destination_count == 0);
	CHECK(c->capture.mark_mask == 0x70000000);
	CHECK(c->capture.mark_passed == 0x10000000);
	CHECK(c->capture.mark_answered == 0x20000000);
	CHECK(c->capture.mark_stream == 0x40000000);
	CHECK(c->capture.zone == 53);
	CHECK(c->queue.number == 5300 && c->queue.workers >= 1 &&
	    c->queue.workers <= 4);
	CHECK(c->queue.maxlen == 65536);
	CHECK(!c->queue.absent_drop && !c->queue.overload_pass);
	CHECK(name_is(&c->mesh.domain, "cluster.local."));
	CHECK(strcmp(c->mesh.namespace, "default") == 0);
	CHECK(c->mesh.ttl == 30 && c->answers.negative_ttl == 5);
	CHECK(c->answers.udp_size == 1232);
	CHECK(c->answers.suppress_https && c->answers.tcp);
	CHECK(c->mesh.cluster == NULL && c->mesh.network == NULL);
	CHECK(c->answers.unloaded == UNLOADED_PASS);
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
    "    destinations = [ \"169.254.169.254/32\", \"fd00::/8\" ];\n"
    "  };\n"
    "};\n"
    "queue = { number = 65534; workers = 2; maxlen = 128;\n"
    "  absent = \"drop\"; overload = \"pass\"; };\n"
    "mesh = {\n"
    "  domain = \"Mesh.Example.\"; namespace = \"shop\";\n"
    "  search = [ \"shop.svc.Mesh.example\", \"b.example\","
    " \"B.example\" ];\n"						/* 20 */
    "  ttl = 0; negative_ttl = 86400; udp_size = 512;\n"
    "  suppress_https = false; unloaded = \"servfail\";"
    " cluster = \"c1\"; network = \"n1\";\n"
    "  tables = ( { format = \"nds\"; path = \"/t/names.json\"; },\n"
    "    { format = \"hosts\"; path = \"hosts\"; },"
    " { format = \"kubernetes\"; path = \"/o\"; ttl = 5;"
    " namespaces = [ \"a\", \"b\" ]; pods = \"verified\";"
    " cluster = \"gke_p/zone.a\"; network = \"vpc-2\"; } );\n"
    "  zones = ( { name = \"Mesh.example\"; unknown = \"nxdomain\"; },\n"
    "    { name = \"b.example\"; } );\n"
    "};\n"
    "policy = ( );\n"
    "audit = ( { format = \"json\"; path = \"/a.json\"; passes = true; },\n"
    "  { path = \"audit/b.json\"; } );\n"				/* 30 */
    "log = { level = \"debug\"; };\n";

static bool
kubernetes_options(const struct mesh_source *source)
{
	return source->format == formats_find("kubernetes") &&
	    source->ttl == 5 && source->namespaces.count == 2 &&
	    strcmp(source->namespaces.texts[0], "a") == 0 &&
	    strcmp(source->namespaces.texts[1], "b") == 0 &&
	    source->pods == PODS_VERIFIED &&
	    strcmp(source->cluster, "gke_p/zone.a") == 0 &&
	    strcmp(source->network, "vpc-2") == 0;
}

TEST(a_feed_keeps_its_table_in_state_dir)
{
	struct config *c = parse("mesh = { tables = ( { format = \"feed\"; feed"
	    " = \"mesh\"; stale_after = 60; pods = \"verified\"; }, { format = \"feed\"; feed = "
	    "\"b\"; } ); }; state_dir = \"/s\"; run_dir = \"/r\";");
	const struct mesh_source *s;

	CHECK(c != NULL && c->mesh.source_count == 2);
	if (c == NULL)
		return;
	s = c->mesh.sources;
	CHECK(s->format == formats_find("feed") && strcmp(s->feed, "mesh") == 0);
	CHECK(strcmp(s->path, "/s/mesh.table") == 0);
	CHECK(s->stale_after == 60 && s->pods == PODS_VERIFIED);
	CHECK(s[1].stale_after == 600);
	CHECK(strcmp(s[1].path, "/s/b.table") == 0);
	CHECK(strcmp(c->state_dir, "/s") == 0);
	CHECK(strcmp(c->feed_run_dir, "/r-feed") == 0);
	config_free(c);
	c = parse("");
	CHECK(c != NULL && strcmp(c->state_dir, "/var/lib/nfdns") == 0 &&
	    strcmp(c->feed_run_dir, "/run/nfdns-feed") == 0);
	config_free(c);
}

/* It asks for its control plane's own name. */
TEST(the_user_of_the_feed_is_bypassed)
{
	struct config *c = parse("");

	/* It need not exist. */
	CHECK(c != NULL && c->capture.bypass.user_count ==
	    (getpwnam("nfdns-feed") != NULL ? 2 : 1));
	config_free(c);
}

TEST(every_option_has_its_effect)
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
	CHECK(c->capture.nameserver_count == 3);
	CHECK(c->capture.nameservers[0].length == 32);
	CHECK(c->capture.nameservers[1].family == AF_INET6);
	CHECK(c->capture.nameservers[1].length == 32);
	CHECK(c->capture.nameservers[2].length == 24);
	CHECK(memcmp(c->capture.nameservers[2].address, net, 16) == 0);
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
	CHECK(b->destination_count == 2);
	CHECK(c->queue.number == 65534 && c->queue.workers == 2);
	CHECK(c->queue.maxlen == 128);
	CHECK(c->queue.absent_drop && c->queue.overload_pass);
	CHECK(name_is(&c->mesh.domain, "mesh.example."));
	CHECK(strcmp(c->mesh.namespace, "shop") == 0);
	CHECK(c->mesh.search_count == 2);
	CHECK(name_is(&c->mesh.search[0], "shop.svc.mesh.example."));
	CHECK(c->mesh.ttl == 0 && c->answers.negative_ttl == 86400);
	CHECK(c->answers.udp_size == 512);
	CHECK(!c->answers.suppress_https && !c->answers.tcp);
	CHECK(strcmp(c->mesh.cluster, "c1") == 0);
	CHECK(strcmp(c->mesh.network, "n1") == 0);
	CHECK(c->answers.unloaded == UNLOADED_SERVFAIL);
	CHECK(c->mesh.source_count == 3);
	CHECK(c->mesh.sources[0].format == formats_find("nds"));
	CHECK(strcmp(c->mesh.sources[0].path, "/t/names.json") == 0);
	CHECK(c->mesh.sources[0].line == 22);
	CHECK(strcmp(c->mesh.sources[1].path, "/etc/nfdns/hosts") == 0);
	CHECK(c->mesh.sources[1].line == 23);
	CHECK(c->mesh.sources[1].ttl == 0);
	CHECK(kubernetes_options(&c->mesh.sources[2]));
	CHECK(c->mesh.zone_count == 2);
	CHECK(name_is(&c->mesh.zones[0].name, "mesh.example."));
	CHECK(c->mesh.zones[0].unknown == ZONE_NXDOMAIN);
	CHECK(c->mesh.zones[1].unknown == ZONE_PASS);
	CHECK(c->audit_count == 2);
	CHECK(c->audits[0].passes && !c->audits[1].passes);
	CHECK(strcmp(c->audits[1].path, "/etc/nfdns/audit/b.json") == 0);
	CHECK(c->audits[1].line == 29);
	CHECK(c->log_level == LOG_LEVEL_DEBUG);
	config_free(c);
}

TEST(all_errors_come_at_once_with_their_lines)
{
	static const char *const expected[] = {
		FILE_NAME ":2: colour: unknown option",
		FILE_NAME ":5: capture.zone: found -1",
		FILE_NAME ":9: queue.number: found \"x\"",
		FILE_NAME ":10: queue.maxlen: found 1",
		FILE_NAME ":14: mesh.tables[1]: \"path\" is missing",
		FILE_NAME ":13: mesh.tables[0].format: found \"xml\"",
		FILE_NAME ":18: log.level: found \"no\"",
	};
	struct config *config = parse("colour = 3;\n"	/* line 2 */
	    "capture = {\n"
	    "  tcp = true;\n"
	    "  zone =\n    -1;\n"				/* 5, 6 */
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

/* Issue 23, item 9: any user may bind a port above 1023 at these. */
TEST(upstreams_that_users_can_forge_are_told)
{
	static const struct {
		const char *upstream;
		size_t warnings;
	} cases[] = {
		{ "[2001:db8::53]@5353", 1 }, { "udp://127.0.0.1@1024", 1 },
		{ "udp://[fe80::1%lo]@5353", 1 }, { "::1@5353", 1 },
		{ "tcp://127.0.0.1@5353", 1 }, { "tcp://[2001:db8::53]@5353", 0 },
		{ "127.0.0.1@1023", 0 }, { "192.0.2.53@5353", 0 },
		{ "tls://[2001:db8::53]@8853", 0 }, { "2001:db8::53", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];
		struct config *c;

		(void)snprintf(text, sizeof(text), "forward = { domains = ( { "
		    "name = \"a.test\"; upstreams = [ \"%s\" ]; } ); };",
		    cases[i].upstream);
		c = parse(text);
		CHECK(c != NULL && diag.warnings == cases[i].warnings);
		config_free(c);
	}
}

TEST(the_worker_may_have_any_number)
{
	const struct passwd *entry = getpwnam("nobody");
	const struct passwd nobody = entry != NULL ? *entry :
	    (struct passwd){ .pw_uid = 0 };
	struct config *c = parse("user = 4000000000L;");

	CHECK(c != NULL && c->uid == 4000000000 && c->gid == 4000000000);
	CHECK(c != NULL && strcmp(c->user, "4000000000") == 0);
	CHECK(diag.warnings == 0);
	config_free(c);
	c = parse("user = \"root\";");
	CHECK(c != NULL && c->uid == 0 && c->gid == 0);
	CHECK(diag.warnings == 1);
	config_free(c);
	if (nobody.pw_uid != 0) {
		c = parse("user = \"nobody\";");
		CHECK(c != NULL && c->uid == nobody.pw_uid &&
		    c->gid == nobody.pw_gid &&
		    c->capture.bypass.users[0] == nobody.pw_uid);
		config_free(c);
	}
}

TEST(workers_can_follow_the_machine)
{
	struct config *c = parse("queue = { workers = \"auto\"; };");
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	CHECK(c != NULL && c->queue.workers ==
	    (cpus > CONFIG_MAX_WORKERS ? CONFIG_MAX_WORKERS : cpus));
	config_free(c);
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

TEST(paths_that_are_no_file_are_refused)
{
	char dir[] = "/tmp/nfdns-config-XXXXXX", path[64];
	struct config *c;
	FILE *f;

	CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/c", dir);
	CHECK(load_file(path, NULL, &c) == -EINVAL);
	CHECK(c == NULL && any_error_has("cannot be read: No such file"));
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
	CHECK(any_error_has("it is too large"));
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

TEST(a_relative_path_is_made_absolute)
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

TEST(what_is_fixed_cannot_be_reloaded)
{
	static const struct {
		const char *text;
		const char *option;	/* NULL: may change */
	} changes[] = {
		{ "run_dir = \"/run/x\";", "run_dir" },
		{ "user = \"65532\";", "user" },
		{ "queue = { number = 1; };", NULL },
		{ "queue = { workers = 2; };", NULL },
		{ "queue = { maxlen = 200; };", NULL },
		{ "queue = { absent = \"drop\"; };", NULL },
		{ "queue = { overload = \"pass\"; };", NULL },
		{ "capture = { mark_mask = 7; };", "capture.mark_mask" },
		{ "capture = { zone = 7; };", NULL },
		{ "capture = { tcp = false; };", NULL },
		{ "stream = { connections = 7; };", NULL },
		{ "stream = { per_client = 7; };", NULL },
		{ "stream = { idle = 7; };", NULL },
		{ "stream = { table = 700; };", NULL },
		{ "forward = { chase = true; };", NULL },
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
	for (size_t i = 0; i < config_option_count; i++) {
		bool tried = config_options[i].reload ||
		    config_options[i].worker;

		for (size_t j = 0; j < sizeof(changes) / sizeof(changes[0]);
		    j++)
			tried |= changes[j].option != NULL &&
			    strcmp(changes[j].option,
			    config_options[i].path) == 0;
		if (!tried)
			printf("  not tried: %s\n", config_options[i].path);
		CHECK(tried);
	}
}

TEST(members_reload_with_their_list)
{
	for (size_t i = 0; i < config_option_count; i++) {
		const struct config_option *o = &config_options[i], *list;
		const char *bracket = strchr(o->path, '[');
		char path[CONFIG_TEXT_SIZE];

		if (bracket == NULL)
			continue;
		snprintf(path, sizeof(path), "%.*s",
		    (int)(bracket - o->path), o->path);
		list = config_option_find(path);
		CHECK(list != NULL && list->reload == o->reload);
	}
}

static void
check_mesh_row(const char *list, const char *name)
{
	char path[CONFIG_TEXT_SIZE];

	snprintf(path, sizeof(path), "%s%s", list, name);
	if (config_option_find(path) == NULL)
		printf("  no row: %s\n", path);
	CHECK(config_option_find(path) != NULL);
}

/* By the lists of mesh.h; "file", "line" and "tcp" are no options of their own. */
TEST(every_setting_of_the_mesh_has_a_row)
{
#define NAMED(name, other) (strcmp(#name, other) == 0)
#define VALUE(type, name) \
	if (!NAMED(name, "file") && !NAMED(name, "line") && \
	    !NAMED(name, "tcp")) \
		check_mesh_row(list, #name);
#define TEXT(name)	check_mesh_row(list, #name);
#define ARRAY(type, name, count, most)	check_mesh_row(list, #name);
	const char *list = "mesh.";

	MESH_FIELDS(VALUE, TEXT, ARRAY)
	list = "mesh.tables[].";
	MESH_SOURCE_FIELDS(VALUE, TEXT, TEXT)
	list = "mesh.zones[].";
	MESH_ZONE_FIELDS(VALUE)
#undef ARRAY
#undef TEXT
#undef VALUE
#undef NAMED
}

TEST(run_dir_can_be_told_of_a_file_that_is_not_valid)
{
	char path[] = "/tmp/nfdns-peek-XXXXXX", *run_dir;
	struct config *c = parse("");
	int fd = mkstemp(path);
	static const char broken[] = "run_dir = \"/run/else\"; queue = 3; x {";

	CHECK(fd >= 0 && write(fd, broken, sizeof(broken) - 1) ==
	    (ssize_t)sizeof(broken) - 1);
	close(fd);
	run_dir = config_peek_run_dir(path);
	CHECK(run_dir != NULL && strcmp(run_dir, "/run/else") == 0);
	free(run_dir);
	unlink(path);
	/* Where nothing can be told, it is what the table of options says. */
	run_dir = config_peek_run_dir(path);
	CHECK(run_dir != NULL && c != NULL && strcmp(run_dir, c->run_dir) == 0);
	free(run_dir);
	config_free(c);
}

int
main(void)
{
	test_run();
	diag_free(&diag);
	return test_summary();
}
