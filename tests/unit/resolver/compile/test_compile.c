/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "nfq/cli/table.h"
#include "resolver/compile/compile.h"
#include "resolver/compile/source_files.h"
#include "nfq/process/exit_code.h"
#include "tests/check.h"
#include "tests/source.h"

static char directory[] = "/tmp/nfdns-test-compile.XXXXXX";

/* A path in the test's directory; good until the fourth call from here. */
static char *
path_of(const char *name)
{
	static char paths[4][200];
	static unsigned int next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

static char *
write_file(const char *name, const char *text)
{
	char *path = path_of(name);
	FILE *file = fopen(path, "w");

	MUST(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
	return path;
}

static struct mesh_source
source_of(const char *format, char *path)
{
	return (struct mesh_source){ .format = formats_find(format),
	    .path = path };
}

static struct mesh
mesh_of(struct mesh_source *sources, size_t count)
{
	return (struct mesh){ .ttl = 30, .udp_size = 1232,
	    .domain = name_of("mesh.test"), .namespace = (char[]){ "own" },
	    .sources = sources, .source_count = count };
}

/* Opens and compiles; *table is NULL if that failed. */
static int
compile_all(const struct mesh *mesh, struct diag *diag, struct table **table)
{
	struct source_files files;
	int image = memory_file(NULL, 0), error;
	const char *why = NULL;

	*table = NULL;
	error = source_files_open(&files, mesh, diag);
	if (error == 0)
		error = compile(&files.mesh, files.fds, image, diag);
	if (error == 0)
		MUST(table_open(table, image, &why) == 0);
	source_files_close(&files);
	close(image);
	return error;
}

static void
several_sources(void)
{
	struct mesh_source sources[] = {
	    source_of("hosts", write_file("a", "10.0.0.1 one two\n")),
	    source_of("nds", write_file("b", "{\"table\": {\n\"one\": {\"ips\":"
		" [\"10.0.0.2\"]},\n\"three\": {\"ips\": [\"10.0.0.3\"]}}}")),
	};
	struct mesh mesh = mesh_of(sources, 2);
	struct diag diag = DIAG_INIT;
	unsigned int source, line;
	struct table *t;
	struct entry e;
	char wanted[300];
	size_t length;
	const char *path;

	CHECK(compile_all(&mesh, &diag, &t) == 0);
	CHECK(diag.errors == 0 && diag.warnings == 1);
	(void)snprintf(wanted, sizeof(wanted), "%s:2: one. is left out:"
	    " %s:1 has it", sources[1].path, sources[0].path);
	CHECK(strcmp(diag.entries[0].text, wanted) == 0);
	CHECK(table_names(t) == 4);	/* with 10.0.0.1's reverse name */
	e = find(t, "one");
	CHECK(strcmp(address_of(t, e.node, TYPE_A, 0), "10.0.0.1") == 0);
	table_origin(t, find(t, "three").node, &source, &line);
	CHECK(source == 1 && line == 3);
	path = table_source(t, source, &length);
	CHECK(length == strlen(sources[1].path) &&
	    memcmp(path, sources[1].path, length) == 0);
	table_close(t);
	diag_free(&diag);
}

static void
errors_of_all_sources_at_once(void)
{
	struct mesh_source sources[] = {
	    source_of("nds", write_file("c", "{\"table\": {")),
	    source_of("nds", write_file("d", "")),
	    source_of("hosts", write_file("e", "10.0.0.1 fine\n")),
	};
	struct mesh mesh = mesh_of(sources, 3);
	struct diag diag = DIAG_INIT;
	struct table *t;

	CHECK(compile_all(&mesh, &diag, &t) == -EINVAL);
	CHECK(diag.errors == 2 && diag.warnings == 0);
	CHECK(strncmp(diag.entries[0].text, sources[0].path,
	    strlen(sources[0].path)) == 0);
	CHECK(strncmp(diag.entries[1].text, sources[1].path,
	    strlen(sources[1].path)) == 0);
	diag_free(&diag);
}

static void
what_is_no_file(void)
{
	static const struct {
		const char *path;	/* in the directory, if relative */
		const char *said;
	} bad[] = {
		{ "absent", "cannot be opened: No such file or directory:"
		    " write it or take it out of mesh.tables" },
		{ "", "is a directory: a table of the format zone is one"
		    " file, name that" },
		{ "fifo", "is a fifo: write what comes out of it to a file and"
		    " name that" },
		{ "/dev/zero", "is a device: name a file" },
		{ "huge", "has 1001 MiB, the limit is 1000 MiB: split it into"
		    " several tables" },
	};
	int fd = open(path_of("huge"), O_CREAT | O_WRONLY, 0600);

	MUST(fd >= 0 && ftruncate(fd, (off_t)1001 << 20) == 0);
	close(fd);
	MUST(mkfifo(path_of("fifo"), 0600) == 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char path[200], wanted[400];
		struct mesh_source source;
		struct mesh mesh = mesh_of(&source, 1);
		struct diag diag = DIAG_INIT;
		struct source_files files;

		(void)snprintf(path, sizeof(path), "%s", bad[i].path[0] == '/' ?
		    bad[i].path : path_of(bad[i].path));
		(void)snprintf(wanted, sizeof(wanted), "%s: %s", path,
		    bad[i].said);
		source = source_of("zone", path);
		CHECK(source_files_open(&files, &mesh, &diag) < 0);
		CHECK(files.fds == NULL && diag.errors == 1);
		CHECK(strcmp(diag.entries[0].text, wanted) == 0);
		diag_free(&diag);
	}
}

static void
image_that_cannot_be_written(void)
{
	struct mesh mesh = mesh_of(NULL, 0);
	struct diag diag = DIAG_INIT;
	int fd = open("/dev/full", O_WRONLY);

	MUST(fd >= 0);
	CHECK(compile(&mesh, NULL, fd, &diag) == -ENOSPC);
	CHECK(diag.errors == 1);
	close(fd);
	diag_free(&diag);
}

static void
image_of_no_table(void)
{
	struct mesh mesh = mesh_of(NULL, 0);
	int fd = memory_file(NULL, 0);
	const char *why;
	struct table *t;

	mesh.unloaded = UNLOADED_SERVFAIL;
	CHECK(compile_unloaded(&mesh, fd) == 0);
	MUST(table_open(&t, fd, &why) == 0);
	CHECK(!table_settings(t)->loaded && table_names(t) == 0);
	CHECK(table_settings(t)->unloaded == UNLOADED_SERVFAIL);
	table_close(t);
	close(fd);
}

/* Runs "nfdns table WORDS" with both outputs in *said, to be freed. */
static int
run(const struct mesh *mesh, const char *words, char **said)
{
	char copy[1000], *argv[12] = { (char[]){ "table" } }, *save = copy;
	int argc = 1, fd = memory_file(NULL, 0), out = dup(1), err = dup(2);
	int exit_code;
	off_t length;

	(void)snprintf(copy, sizeof(copy), "%s", words);
	while (argc < 11 && (argv[argc] = strsep(&save, " ")) != NULL)
		argc++;
	argv[argc] = NULL;
	(void)fflush(stdout);
	MUST(out >= 0 && err >= 0 && dup2(fd, 1) == 1 && dup2(fd, 2) == 2);
	exit_code = cmd_table(mesh, -1, argc, argv);
	(void)fflush(stdout);
	MUST(dup2(out, 1) == 1 && dup2(err, 2) == 2);
	close(out);
	close(err);
	length = lseek(fd, 0, SEEK_END);
	*said = calloc((size_t)length + 1, 1);
	MUST(*said != NULL && pread(fd, *said, (size_t)length, 0) == length);
	close(fd);
	return exit_code;
}

/* Whether the command ends with that code and its output has that text. */
static bool
gives(const struct mesh *mesh, const char *words, int exit_code,
    const char *text)
{
	char *said;
	int code = run(mesh, words, &said);
	bool good = code == exit_code && strstr(said, text) != NULL;

	if (!good)
		printf("  table %s: exit code %d: %s\n", words, code, said);
	free(said);
	return good;
}

#define ZEROS ".0.0.0.0.0.0.0.0.0.0"

/* Those that stand for names, whatever format they come from. */
static void
command_addresses(void)
{
	struct mesh_source source = source_of("hosts", write_file("given",
	    "240.241.0.1 c\n240.240.0.2 b\n\n240.240.0.1 c a\n"
	    "2001:2:1::1 a\n2001:2::f0f0:1 a\n"));
	struct mesh mesh = mesh_of(&source, 1);
	char *said;

	CHECK(run(&mesh, "addresses", &said) == EXIT_OK);
	CHECK(strncmp(said, "240.240.0.1\ta.\t/tmp/", 20) == 0);
	CHECK(strstr(said, "given:4\n240.240.0.1\tc.\t") != NULL);
	CHECK(strstr(said, "\n240.240.0.2\tb.\t") != NULL);
	CHECK(strstr(said, "given:2\n2001:2::f0f0:1\ta.\t") != NULL);
	CHECK(strstr(said, "240.241") == NULL);
	CHECK(strstr(said, "2001:2:1") == NULL);
	free(said);
	CHECK(gives(&mesh, "addresses --json", EXIT_OK, "{\"address\":"
	    "\"240.240.0.2\",\"name\":\"b.\",\"source\":\"/tmp/"));
	CHECK(gives(&mesh, "addresses now", EXIT_USAGE, "too many arguments"));
}

static void
commands(void)
{
	struct mesh_source source = source_of("hosts", write_file("hosts",
	    "10.0.0.2 two\n10.0.0.1 one *.w\n::1 one\n"));
	struct mesh mesh = mesh_of(&source, 1);
	char words[300], *said;

	mesh.search[mesh.search_count++] = name_of("search.test");
	CHECK(run(&mesh, "list", &said) == EXIT_OK);
	CHECK(strcmp(said, "*.w.\t30\tIN\tA\t10.0.0.1\n"
	    "1" ZEROS ZEROS ZEROS ".0.ip6.arpa.\t30\tIN\tPTR\tone.\n"
	    "1.0.0.10.in-addr.arpa.\t30\tIN\tPTR\tone.\n"
	    "2.0.0.10.in-addr.arpa.\t30\tIN\tPTR\ttwo.\n"
	    "one.\t30\tIN\tA\t10.0.0.1\none.\t30\tIN\tAAAA\t::1\n"
	    "two.\t30\tIN\tA\t10.0.0.2\n") == 0);
	free(said);
	CHECK(gives(&mesh, "list --json", EXIT_OK, "{\"name\":\"two.\","
	    "\"owned\":false,\"source\":\"/tmp/"));
	CHECK(gives(&mesh, "get one", EXIT_OK, "hosts, line 2\n"
	    "one.\t30\tIN\tA\t10.0.0.1\none.\t30\tIN\tAAAA\t::1\n"));
	CHECK(gives(&mesh, "get ONE.search.test AAAA", EXIT_OK,
	    "without the search domain: one."));
	CHECK(gives(&mesh, "get x.w a", EXIT_OK, "found as wildcard"));
	CHECK(gives(&mesh, "get two AAAA", EXIT_ERROR,
	    "no records of this type"));
	CHECK(gives(&mesh, "get three", EXIT_ERROR,
	    "three. is not in the table"));
	CHECK(gives(&mesh, "get --json three", EXIT_ERROR,
	    "{\"name\":\"three.\",\"found\":\"none\"}"));
	CHECK(gives(&mesh, "get -j two", EXIT_OK, "\"found\":\"exact\","));
	(void)snprintf(words, sizeof(words), "compile -o %s", path_of("image"));
	CHECK(gives(&mesh, words, EXIT_OK, "6 names, "));
	(void)snprintf(words, sizeof(words), "get -i %s one A",
	    path_of("image"));
	CHECK(gives(&mesh, words, EXIT_OK, "one.\t30\tIN\tA\t10.0.0.1\n"));
	MUST(unlink(path_of("image")) == 0);
}

static void
commands_that_fail(void)
{
	struct mesh_source source = source_of("nds", write_file("bad", "{"));
	struct mesh mesh = mesh_of(&source, 1);
	char words[300], wanted[300];

	(void)snprintf(wanted, sizeof(wanted), "nfdns: %s:1: expected",
	    source.path);
	CHECK(gives(&mesh, "list", EXIT_INVALID, wanted));
	CHECK(gives(&mesh, "get x", EXIT_INVALID, wanted));
	(void)snprintf(words, sizeof(words), "compile -o %s", path_of("image"));
	CHECK(gives(&mesh, words, EXIT_INVALID, wanted));
	(void)snprintf(words, sizeof(words), "list -i %s", source.path);
	CHECK(gives(&mesh, words, EXIT_INVALID, "bad: not a table image"));
	CHECK(gives(&mesh, "list -i /nowhere/image", EXIT_ERROR,
	    "/nowhere/image: cannot be opened: No such file"));
	CHECK(gives(&mesh, "compile -o /nowhere/image", EXIT_ERROR,
	    "/nowhere/image: cannot be created: No such file"));
	CHECK(gives(&mesh, "compile", EXIT_USAGE, "-o FILE"));
	CHECK(gives(&mesh, "compile -i x", EXIT_USAGE, "has no option -i"));
	CHECK(gives(&mesh, "get", EXIT_USAGE, "a name is missing"));
	CHECK(gives(&mesh, "get a A b", EXIT_USAGE, "too many arguments"));
	CHECK(gives(&mesh, "get a..b", EXIT_USAGE, "is no domain name"));
	CHECK(gives(&mesh, "get a BOGUS", EXIT_USAGE, "is no type"));
	CHECK(gives(&mesh, "fetch", EXIT_USAGE, "no command \"fetch\""));
	CHECK(gives(&mesh, "list --what", EXIT_USAGE, "nfdns table list"));
	CHECK(gives(&mesh, "--help", EXIT_OK, "nfdns table get"));
	CHECK(gives(&mesh, "get --help", EXIT_OK, "nfdns table get"));
}

int
main(void)
{
	static const char *const files[] = { "a", "b", "c", "d", "e", "huge",
	    "fifo", "hosts", "given", "bad" };

	MUST(mkdtemp(directory) != NULL);
	TEST(several_sources);
	TEST(errors_of_all_sources_at_once);
	TEST(what_is_no_file);
	TEST(image_that_cannot_be_written);
	TEST(image_of_no_table);
	TEST(commands);
	TEST(command_addresses);
	TEST(commands_that_fail);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		(void)unlink(path_of(files[i]));
	/* Nothing else may be left, no half-written image either. */
	if (rmdir(directory) != 0) {
		printf("FAIL leaves_nothing_behind: %s\n", directory);
		return 1;
	}
	return test_summary();
}
