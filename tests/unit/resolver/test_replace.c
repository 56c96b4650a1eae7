/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that is replaced at one go, and what may stand in the way. */
#include "resolver/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolver/fds.h"
#include "tests/check.h"

#define SMALL	100		/* octets that a file may have: RLIMIT_FSIZE */
#define LARGE	100000		/* more than a stream's buffer */

static char directory[] = "/tmp/nfdns-replace.XXXXXX";
static char large[LARGE];

static void
put(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	CHECK(out != NULL && fputs(text, out) >= 0 && fclose(out) == 0);
}

static bool
holds(const char *path, const char *text)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	char found[64] = "";

	if (fd < 0 || read(fd, found, sizeof(found) - 1) < 0)
		return false;
	(void)close(fd);
	return strcmp(found, text) == 0;
}

static bool
is_absent(const char *path)
{
	return access(path, F_OK) < 0 && errno == ENOENT;
}

static mode_t
mode_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 ? st.st_mode : 0;
}

static int
lowest_free(void)
{
	const int fd = dup(0);

	(void)close(fd);
	return fd;
}

/* Begins, writes the octets to the descriptor or a stream, and ends. */
static int
write_it(int at, const char *path, const char *octets, size_t length,
    bool by_stream, enum replace_how how)
{
	struct iovec part = { large, length };
	struct replace r;
	FILE *out;
	int error = replace_begin(&r, at, path, 0644);

	if (error < 0)
		return error;
	memmove(large, octets, length);
	if (!by_stream)
		return replace_end(&r, how, fds_write_all(r.fd, &part, 1));
	out = replace_stream(&r);
	CHECK(out != NULL);
	(void)fwrite(large, 1, length, out);
	return replace_end(&r, how, 0);
}

TEST(readers_see_the_old_or_the_new)
{
	static const enum replace_how hows[] = { REPLACE_QUICKLY,
		REPLACE_DURABLY };
	const int free = lowest_free();
	char old[4] = "";
	struct replace r;
	int fd;

	for (size_t i = 0; i < 2; i++) {
		put("f", "old");
		fd = open("f", O_RDONLY | O_CLOEXEC);
		CHECK(replace_begin(&r, AT_FDCWD, "f", 0600) == 0);
		CHECK(pwrite(r.fd, "new", 3, 0) == 3 && holds("f", "old"));
		CHECK(replace_end(&r, hows[i], 0) == 0);
		CHECK(holds("f", "new") && is_absent("f.new"));
		CHECK(mode_of("f") == (S_IFREG | 0600));
		CHECK(read(fd, old, 3) == 3 && strcmp(old, "old") == 0);
		(void)close(fd);
	}
	CHECK(lowest_free() == free);
}

TEST(the_mode_is_as_asked_for_whatever_the_umask)
{
	static const mode_t masks[] = { 0, 022, 077 };
	const mode_t old = umask(0);

	for (size_t n = 0; n < 3; n++) {
		(void)umask(masks[n]);
		CHECK(write_it(AT_FDCWD, "g", "1", 1, true,
		    REPLACE_QUICKLY) == 0);
		CHECK(mode_of("g") == (S_IFREG | 0644) && holds("g", "1"));
	}
	(void)umask(old);
}

/* Elsewhere than in the directory where we are. */
TEST(a_directory_may_be_open)
{
	int fd;

	CHECK(mkdir("sub", 0700) == 0);
	fd = open("sub", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(write_it(fd, "f", "in sub", 6, false, REPLACE_DURABLY) == 0);
	CHECK(holds("sub/f", "in sub"));
	CHECK(write_it(AT_FDCWD, "sub/f", "again", 5, true,
	    REPLACE_DURABLY) == 0);
	CHECK(holds("sub/f", "again") && is_absent("sub/f.new"));
	(void)close(fd);
}

TEST(an_error_leaves_what_there_was)
{
	const int free = lowest_free();
	struct replace r;

	put("f", "old");
	CHECK(replace_begin(&r, AT_FDCWD, "f", 0600) == 0);
	CHECK(write(r.fd, "part", 4) == 4);
	CHECK(replace_end(&r, REPLACE_DURABLY, -EPROTO) == -EPROTO);
	CHECK(holds("f", "old") && is_absent("f.new"));
	CHECK(replace_begin(&r, AT_FDCWD, "f", 0600) == 0);
	CHECK(replace_stream(&r) != NULL);
	CHECK(replace_end(&r, REPLACE_QUICKLY, -EPROTO) == -EPROTO);
	CHECK(holds("f", "old") && is_absent("f.new"));
	CHECK(lowest_free() == free);
}

/* As a full disk: a part is written, and the rest is refused. */
TEST(a_part_never_counts)
{
	const int free = lowest_free();
	struct rlimit all, few;

	put("f", "old");
	CHECK(getrlimit(RLIMIT_FSIZE, &all) == 0);
	few = (struct rlimit){ .rlim_cur = SMALL, .rlim_max = all.rlim_max };
	(void)signal(SIGXFSZ, SIG_IGN);
	for (int i = 0; i < 4; i++) {
		const bool by_stream = i % 2 == 0, is_large = i >= 2;
		int error;

		CHECK(setrlimit(RLIMIT_FSIZE, &few) == 0);
		error = write_it(AT_FDCWD, "f", large, is_large ? LARGE :
		    SMALL + 1, by_stream, REPLACE_QUICKLY);
		CHECK(setrlimit(RLIMIT_FSIZE, &all) == 0);
		/* A stream no longer knows why an earlier write failed. */
		CHECK(error == (by_stream && is_large ? -EIO : -EFBIG));
		CHECK(holds("f", "old") && is_absent("f.new"));
	}
	CHECK(lowest_free() == free);
}

TEST(no_link_is_followed)
{
	put("other", "untouched");
	put("f", "old");
	CHECK(symlink("other", "f.new") == 0);
	CHECK(write_it(AT_FDCWD, "f", "new", 3, false, REPLACE_QUICKLY) == 0);
	CHECK(holds("f", "new") && S_ISREG(mode_of("f")));
	CHECK(symlink("other", "h") == 0);
	CHECK(write_it(AT_FDCWD, "h", "new", 3, true, REPLACE_DURABLY) == 0);
	CHECK(holds("h", "new") && S_ISREG(mode_of("h")));
	CHECK(symlink("nowhere", "f.new") == 0);
	CHECK(write_it(AT_FDCWD, "f", "2", 1, false, REPLACE_QUICKLY) == 0);
	CHECK(is_absent("nowhere") && holds("f", "2"));
	CHECK(holds("other", "untouched"));
}

TEST(what_a_killed_writer_left_is_gone)
{
	put("f.new", "longer than what comes");
	CHECK(write_it(AT_FDCWD, "f", "new", 3, false, REPLACE_QUICKLY) == 0);
	CHECK(holds("f", "new") && is_absent("f.new"));
}

TEST(directories_in_the_way_are_said)
{
	struct replace r;

	put("f", "old");
	CHECK(mkdir("f.new", 0700) == 0);
	CHECK(replace_begin(&r, AT_FDCWD, "f", 0600) == -EEXIST);
	CHECK(holds("f", "old") && rmdir("f.new") == 0);
	CHECK(mkdir("d", 0700) == 0);
	CHECK(write_it(AT_FDCWD, "d", "new", 3, true, REPLACE_DURABLY) ==
	    -EISDIR);
	CHECK(S_ISDIR(mode_of("d")) && is_absent("d.new"));
}

TEST(a_directory_that_is_gone_is_said)
{
	const int free = lowest_free();
	struct replace r;

	CHECK(replace_begin(&r, AT_FDCWD, "gone/f", 0600) == -ENOENT);
	CHECK(mkdir("gone", 0700) == 0);
	CHECK(replace_begin(&r, AT_FDCWD, "gone/f", 0600) == 0);
	CHECK(unlink("gone/f.new") == 0 && rmdir("gone") == 0);
	CHECK(replace_end(&r, REPLACE_DURABLY, 0) == -ENOENT);
	CHECK(lowest_free() == free);
}

TEST(a_path_may_be_too_long)
{
	char path[PATH_MAX];
	struct replace r;

	memset(path, 'f', sizeof(path));
	path[PATH_MAX - 4] = '\0';
	CHECK(replace_begin(&r, AT_FDCWD, path, 0600) == -ENAMETOOLONG);
	path[NAME_MAX] = '\0';
	CHECK(replace_begin(&r, AT_FDCWD, path, 0600) == -ENAMETOOLONG);
}

static void
remove_all(void)
{
	static const char *const files[] = { "f", "f.new", "g", "h", "other",
		"sub/f" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		(void)unlink(files[i]);
	CHECK(rmdir("sub") == 0 && rmdir("d") == 0);
	CHECK(chdir("/") == 0 && rmdir(directory) == 0);
}

int
main(void)
{
	if (mkdtemp(directory) == NULL || chdir(directory) < 0) {
		printf("FAIL replace: no directory for files\n");
		return 1;
	}
	test_run();
	remove_all();
	return test_summary();
}
