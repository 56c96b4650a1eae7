/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are read, and what is no file to read. */
#include "resolver/small_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

static char directory[] = "/tmp/small_file.XXXXXX";

static void
put(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

TEST(is_read_whole)
{
	struct small_file file;

	put("a", "one\ntwo");
	CHECK(small_file_read("a", &file) == 0);
	CHECK(file.length == 7 && strcmp(file.octets, "one\ntwo") == 0);
	small_file_wipe(&file);
	CHECK(file.octets == NULL);
	put("empty", "");
	CHECK(small_file_read("empty", &file) == 0 && file.length == 0);
	small_file_wipe(&file);
	put("marked", "\xef\xbb\xbf" "one");
	CHECK(small_file_read("marked", &file) == 0);
	CHECK(file.length == 3 && strcmp(file.octets, "one") == 0);
	small_file_wipe(&file);
	small_file_wipe(&file);
}

TEST(is_refused)
{
	struct small_file file;

	CHECK(small_file_read("absent", &file) == -ENOENT);
	CHECK(small_file_read(".", &file) == -EISDIR);
	CHECK(mkfifo("fifo", 0600) == 0);
	CHECK(small_file_read("fifo", &file) == -EINVAL);
	put("large", "");
	CHECK(truncate("large", (off_t)SMALL_FILE_MAX + 1) == 0);
	CHECK(small_file_read("large", &file) == -EFBIG);
	put("utf16", "\xff\xfe" "a");
	CHECK(small_file_read("utf16", &file) == -EILSEQ);
	CHECK(file.octets == NULL);
}

static bool
is_token(const char *octets, size_t length, const char *wanted)
{
	const struct span token = small_file_token(octets, length, 5);

	return token.length == strlen(wanted) &&
	    memcmp(token.text, wanted, token.length) == 0;
}

TEST(token_is_what_a_header_may_have)
{
	CHECK(is_token("abcde", 5, "abcde") && is_token("~", 1, "~"));
	CHECK(is_token("\r\n\t abc \r\n", 10, "abc"));
	CHECK(is_token("", 0, "") && is_token(" \n", 2, ""));
	CHECK(is_token("abcdef", 6, ""));
	CHECK(is_token("a b", 3, "") && is_token("a\nb", 3, ""));
	CHECK(is_token("a\0b", 3, "") && is_token("a\0", 2, ""));
	CHECK(is_token("a\x7f", 2, "") && is_token("\xc3\xa4", 2, ""));
}

int
main(void)
{
	if (mkdtemp(directory) == NULL || chdir(directory) != 0)
		return 1;
	test_run();
	(void)unlink("a");
	(void)unlink("empty");
	(void)unlink("fifo");
	(void)unlink("large");
	(void)rmdir(directory);
	return test_summary();
}
