/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories as sources: which of their files, in what order, what is said. */
#include "resolver/compile/source_files.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "resolver/compile/compile.h"
#include "resolver/sources/source_file.h"
#include "tests/check.h"
#include "tests/source.h"
#include "tests/source_files.h"

#define SERVICE "{\"kind\": \"Service\", \"apiVersion\": \"v1\", \"metadata\":" \
	" {\"name\": \"web\", \"namespace\": \"shop\"}, \"spec\":" \
	" {\"clusterIP\": \"None\"}}"
#define SLICE "{\"kind\": \"EndpointSlice\", \"apiVersion\":" \
	" \"discovery.k8s.io/v1\", \"metadata\": {\"name\": \"web-1\"," \
	" \"namespace\": \"shop\", \"labels\": {\"kubernetes.io/service-name\":" \
	" \"web\"}}, \"addressType\": \"IPv4\", \"endpoints\":" \
	" [{\"addresses\": [\"10.1.0.7\"]}]}"

static struct diag diag;
static struct source_files files;

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	return at->level > 0 ? remove(path) : 0;
}

static struct mesh_source source;
static struct mesh mesh;

/* An empty directory, and a mesh whose only table it is. */
static void
set_up(const char *format)
{
	MUST(nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
	source = (struct mesh_source){ .format = formats_find(format),
	    .path = directory, .ttl = 77 };
	mesh = (struct mesh){ .ttl = 30,
	    .domain = name_of("mesh.test"), .namespace = (char[]){ "own" },
	    .sources = &source, .source_count = 1 };
	diag_free(&diag);
	diag = (struct diag)DIAG_INIT;
}

/* Whether this was said of the file of that name. */
static bool
said_of(const char *name, const char *text)
{
	char whole[700];

	(void)snprintf(whole, sizeof(whole), "%s%s%s", directory, name, text);
	for (size_t i = 0; i < diag.kept; i++) {
		if (strcmp(diag.entries[i].text, whole) == 0)
			return true;
	}
	for (size_t i = 0; i < diag.kept; i++)
		printf("  said: %s\n", diag.entries[i].text);
	return false;
}

/* The table that all of it makes; NULL if it is refused. */
static struct table *
compile_all(void)
{
	int image = memory_file(NULL, 0);
	struct table *table = NULL;
	const char *why;

	if (source_files_open(&files, &mesh, &diag) == 0 &&
	    compile(&files.mesh, files.fds, image, &diag) == 0)
		MUST(table_open(&table, image, &why) == 0);
	source_files_close(&files);
	close(image);
	return table;
}

TEST(files_in_the_order_of_their_names)
{
	static const char *const wanted[] = { "10-b", "2-a", "B", "a" };

	set_up("hosts");
	write_file("a", "10.0.0.4 web\n");
	write_file("B", "10.0.0.3 web\n");
	write_file("2-a", "10.0.0.2 web\n");
	write_file("10-b", "10.0.0.1 web\n");
	write_file(".hidden", "x");
	write_file("a~", "x");
	MUST(source_files_open(&files, &mesh, &diag) == 0);
	CHECK(files.mesh.source_count == 4);
	for (size_t i = 0; i < files.mesh.source_count && i < 4; i++) {
		CHECK(strcmp(files.mesh.sources[i].path,
		    path_of(wanted[i])) == 0);
		CHECK(files.mesh.sources[i].ttl == 77);
	}
	CHECK(diag.errors == 0 && diag.warnings == 0);
	source_files_close(&files);
	source_files_close(&files);
}

TEST(a_name_is_the_first_file_s)
{
	struct table *table;
	struct entry entry;
	unsigned int number, line;
	char slashed[300];
	const char *path;
	size_t length;

	set_up("hosts");
	(void)snprintf(slashed, sizeof(slashed), "%s/", directory);
	source.path = slashed;
	write_file("2", "10.0.0.2 web\n10.0.0.3 other\n");
	write_file("1", "\n10.0.0.1 web\n");
	table = compile_all();
	MUST(table != NULL);
	entry = find(table, "web");
	CHECK(strcmp(address_of(table, entry.node, TYPE_A, 0),
	    "10.0.0.1") == 0);
	table_origin(table, entry.node, &number, &line);
	path = table_source(table, number, &length);
	CHECK(line == 2 && length == strlen(path_of("1")) &&
	    memcmp(path, path_of("1"), length) == 0);
	CHECK(diag.warnings == 1);
	table_close(table);
}

TEST(objects_of_a_directory_belong_together)
{
	struct table *table;
	struct entry entry;

	set_up("kubernetes");
	write_file("a-slice.json", SLICE);
	write_file("b-service.json", SERVICE);
	write_file("c-again.json", "\n" SERVICE);
	write_file("web.yaml", "kind: Service\n");
	MUST(mkdir(path_of("more.json"), 0755) == 0);
	MUST(mkdir(path_of("..2026"), 0755) == 0);
	table = compile_all();
	MUST(table != NULL);
	entry = find(table, "web.shop.svc.mesh.test");
	CHECK(strcmp(address_of(table, entry.node, TYPE_A, 0),
	    "10.1.0.7") == 0);
	CHECK(diag.errors == 0 && diag.warnings == 3);
	CHECK(said_of("/web.yaml", ": is ignored: of a directory only files"
	    " *.json are read"));
	CHECK(said_of("/more.json", ": is ignored: directories in a directory"
	    " are not read"));
	CHECK(strstr(diag.entries[2].text, "c-again.json:2: Service shop/web:"
	    " is defined before on line 1 of ") != NULL);
	CHECK(strstr(diag.entries[2].text, "/b-service.json: ignored") != NULL);
	table_close(table);
}

TEST(errors_of_all_files_at_once)
{
	set_up("kubernetes");
	write_file("a.json", "{ \"kind\": \"Service\",\n");
	write_file("b.json", SERVICE);
	write_file("c.json", "\n\n[ 1 ]");
	CHECK(compile_all() == NULL);
	CHECK(diag.errors == 2);
	CHECK(strstr(diag.entries[0].text, "/a.json:2: ") != NULL);
	CHECK(strstr(diag.entries[1].text, "/c.json:3: ") != NULL);
	/* Those that cannot even be opened. */
	set_up("nds");
	MUST(mkfifo(path_of("a.json"), 0600) == 0);
	MUST(symlink("nowhere", path_of("b.json")) == 0);
	write_file("c.json", "{}");
	CHECK(source_files_open(&files, &mesh, &diag) == -EIO);
	CHECK(files.fds == NULL && diag.errors == 2);
	CHECK(said_of("/a.json", ": is a fifo: write what comes out of it to a"
	    " file and name that"));
	CHECK(said_of("/b.json", ": cannot be opened: No such file or"
	    " directory: write it or take it out of mesh.tables"));
}

TEST(an_empty_directory_is_an_empty_table)
{
	static const struct {
		const char *format, *said;
	} cases[] = {
		{ "kubernetes", ": holds no files *.json: no names come from"
		    " it" },
		{ "hosts", ": holds no files: no names come from it" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *table;

		set_up(cases[i].format);
		write_file(".keep", "");
		table = compile_all();
		MUST(table != NULL);
		CHECK(table_names(table) == 0);
		CHECK(table_is_loaded(table));
		CHECK(diag.errors == 0 && diag.warnings == 1);
		CHECK(said_of("", cases[i].said));
		table_close(table);
	}
}

TEST(no_more_files_than_can_be_open)
{
	char name[20];

	set_up("hosts");
	for (int i = 0; i < SOURCE_DIRECTORY_MAX; i++) {
		(void)snprintf(name, sizeof(name), "h%d", i);
		write_file(name, "");
	}
	MUST(source_files_open(&files, &mesh, &diag) == 0);
	CHECK(files.mesh.source_count == SOURCE_DIRECTORY_MAX);
	source_files_close(&files);
	write_file("one-more", "");
	CHECK(source_files_open(&files, &mesh, &diag) == -E2BIG);
	CHECK(diag.errors == 1);
	CHECK(said_of("", ": has more than 512 files: put what they hold into"
	    " fewer, or into several directories"));
}

TEST(a_zone_is_one_file)
{
	set_up("zone");
	write_file("mesh.zone", "");
	CHECK(source_files_open(&files, &mesh, &diag) == -EISDIR);
	CHECK(diag.errors == 1);
	CHECK(said_of("", ": is a directory: a table of the format zone is one"
	    " file, name that"));
}

/* Links may lead anywhere, but not to a second directory. */
TEST(links_are_followed)
{
	set_up("hosts");
	MUST(mkdir(path_of("..1"), 0755) == 0);
	write_file("..1/web", "10.0.0.1 web\n");
	MUST(symlink("..1", path_of("..data")) == 0);
	MUST(symlink("..data/web", path_of("web")) == 0);
	MUST(symlink("..data", path_of("directory")) == 0);
	MUST(source_files_open(&files, &mesh, &diag) == 0);
	CHECK(files.mesh.source_count == 1 && diag.warnings == 1);
	CHECK(strcmp(files.mesh.sources[0].path, path_of("web")) == 0);
	source_files_close(&files);
}

int
main(void)
{
	MUST(mkdtemp(directory) != NULL);
	test_run();
	set_up("hosts");
	diag_free(&diag);
	(void)rmdir(directory);
	return test_summary();
}
