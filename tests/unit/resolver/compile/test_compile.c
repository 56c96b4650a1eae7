/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "resolver/compile/compile.h"
#include "resolver/compile/source_files.h"
#include "tests/check.h"
#include "tests/source.h"
#include "tests/source_files.h"

static struct mesh
mesh_of(struct mesh_source *sources, size_t count)
{
	return (struct mesh){ .ttl = 30,
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

TEST(several_sources)
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
	(void)snprintf(wanted, sizeof(wanted), "%s:2: one. is ignored:"
	    " %s:1 defines it", sources[1].path, sources[0].path);
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

TEST(errors_of_all_sources_at_once)
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

TEST(what_is_no_file)
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

TEST(image_that_cannot_be_written)
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

TEST(image_of_no_table)
{
	struct mesh mesh = mesh_of(NULL, 0);
	int fd = memory_file(NULL, 0);
	const char *why;
	struct table *t;

	CHECK(compile_unloaded(&mesh, NULL, fd) == 0);
	MUST(table_open(&t, fd, &why) == 0);
	CHECK(!table_is_loaded(t) && table_names(t) == 0);
	table_close(t);
	close(fd);
}

int
main(void)
{
	static const char *const files[] = { "a", "b", "c", "d", "e", "huge",
	    "fifo" };

	MUST(mkdtemp(directory) != NULL);
	test_run();
	if (!directory_end(files, sizeof(files) / sizeof(files[0])))
		return 1;
	return test_summary();
}
