/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tests of sources in files share: a directory of the test's own. */
#ifndef NFDNS_TESTS_SOURCE_FILES_H
#define NFDNS_TESTS_SOURCE_FILES_H

#include "resolver/compile/source_files.h"
#include "tests/image.h"

static char directory[] = "/tmp/nfdns-test-sources.XXXXXX";

/* A path in the test's directory; good until the fourth call from here. */
static inline char *
path_of(const char *name)
{
	static char paths[4][300];
	static unsigned int next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

/* Makes the file; its path. */
static inline char *
write_file(const char *name, const char *text)
{
	char *path = path_of(name);
	FILE *file = fopen(path, "w");

	MUST(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
	return path;
}

static inline struct mesh_source
source_of(const char *format, char *path)
{
	return (struct mesh_source){ .format = formats_find(format),
	    .path = path };
}

/*
 * Removes these files and the directory.  False, and a FAIL line, if anything
 * else is left, a half-written image for one.
 */
static inline bool
directory_end(const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		(void)unlink(path_of(names[i]));
	if (rmdir(directory) == 0)
		return true;
	printf("FAIL leaves_nothing_behind: %s\n", directory);
	return false;
}

#endif
