/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that were edited since they were loaded. */
#include "policy/config/config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

static char directory[] = "/tmp/nfdns-newer-XXXXXX";
static struct config *config;
static char said[1000];

static const char *
path_of(const char *name)
{
	static char path[100];

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

/* Writes a file that was changed last at that time. */
static void
write_file(const char *name, const char *text, time_t when)
{
	const struct timespec times[] = { { when, 0 }, { when, 0 } };
	FILE *file = fopen(path_of(name), "w");

	CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
	CHECK(utimensat(AT_FDCWD, path_of(name), times, 0) == 0);
}

static void
load(void)
{
	struct diag diag = DIAG_INIT;

	CHECK(config_load(&config, path_of("nfdnsd.conf"), &diag) == 0);
	for (size_t i = 0; i < diag.kept; i++)
		printf("  %s\n", diag.entries[i].text);
	diag_free(&diag);
	/* As the compiler does. */
	config->mesh.sources[0].changed = 100;
	config->mesh.sources[1].changed = 120;
}

/* The names of what has changed, each with a blank behind it. */
static const char *
changed(void)
{
	const size_t skip = strlen(directory) + 1;
	struct config_newer newer;

	CHECK(config_newer(&newer, config, 200) == 0);
	said[0] = '\0';
	for (size_t i = 0; i < newer.count; i++) {
		const size_t n = strlen(said);

		CHECK(strncmp(newer.files[i], directory, skip - 1) == 0);
		(void)snprintf(said + n, sizeof(said) - n, "%s ",
		    newer.files[i] + skip);
	}
	config_newer_free(&newer);
	return said;
}

static bool
are(const char *wanted)
{
	const bool good = strcmp(changed(), wanted) == 0;

	if (!good)
		printf("  changed: %s\n", said);
	return good;
}

TEST(each_kind)
{
	char text[1000];

	CHECK(mkdir(path_of("conf.d"), 0755) == 0);
	CHECK(mkdir(path_of("tables"), 0755) == 0);
	write_file("hosts", "10.0.0.1 a\n", 100);
	write_file("tables/a.hosts", "10.0.0.1 b\n", 110);
	write_file("tables/b.json", "{}", 120);
	write_file("list", "bad.example\n", 200);
	(void)snprintf(text, sizeof(text), "user = 65533;\nmesh = { tables = ("
	    "{ format = \"hosts\"; path = \"%s/hosts\"; }, { format = "
	    "\"kubernetes\"; path = \"%s/tables\"; } ); };\npolicy = ( { match"
	    " = { names = [ \"@%s/list\" ]; }; action = \"refuse\"; } );\n",
	    directory, directory, directory);
	write_file("nfdnsd.conf", text, 300);
	write_file("conf.d/a.conf", "log = { level = \"info\"; };\n", 300);
	load();
	/* The time of a text says nothing. */
	CHECK(are(""));
	write_file("conf.d/a.conf", "log = { level = \"debug\"; };\n", 300);
	CHECK(are("conf.d/a.conf "));
	write_file("conf.d/b.conf", "", 300);
	(void)unlink(path_of("conf.d/a.conf"));
	CHECK(are("conf.d/b.conf conf.d/a.conf (gone) "));
	write_file("conf.d/a.conf", "log = { level = \"info\"; };\n", 300);
	(void)unlink(path_of("conf.d/b.conf"));
	/* Of a table any other time counts, an earlier one, too. */
	write_file("hosts", "10.0.0.1 a\n", 99);
	write_file("tables/c.json", "{}", 121);
	CHECK(are("hosts tables "));
	(void)unlink(path_of("hosts"));
	(void)unlink(path_of("tables/c.json"));
	write_file("list", "worse.example\n", 201);
	CHECK(are("hosts (gone) list "));
	config_free(config);
}

int
main(void)
{
	static const char *const left[] = { "conf.d/a.conf", "conf.d", "list",
		"tables/a.hosts", "tables/b.json", "tables", "nfdnsd.conf" };

	CHECK(mkdtemp(directory) != NULL);
	(void)test_run();
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		(void)remove(path_of(left[i]));
	CHECK(rmdir(directory) == 0);
	return test_summary();
}
