/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/sources/feed_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"

static struct feed_header
example(const char *body)
{
	struct feed_header header = {
		.format = "nds-proto", .version = "2026/311",
		.time = 1795340664, .source = "192.0.2.10:15012",
		.names = 3, .length = strlen(body),
		.hash = feed_file_hash(body, strlen(body)),
	};

	return header;
}

/* Header and body as one text. */
static size_t
whole(const struct feed_header *header, const char *body,
    char text[static 2 * FEED_FILE_HEADER_MAX])
{
	size_t length = feed_file_header_write(header, text);

	memcpy(text + length, body, strlen(body) + 1);
	return length + strlen(body);
}

TEST(what_is_written_is_read)
{
	char text[2 * FEED_FILE_HEADER_MAX];
	struct feed_header header = example("body"), got;
	size_t length, n = 0;
	const char *why = NULL, *body;

	for (int i = 0; i < 2; i++) {
		header.names = (uint64_t)i;
		length = whole(&header, "body", text);
		body = feed_file_check(&got, text, length, &n, &why);
		CHECK(body != NULL && n == 4 && memcmp(body, "body", 4) == 0);
		CHECK(memcmp(&got, &header, sizeof(got)) == 0);
	}
}

/* Nothing that a control plane says breaks the lines, or their limit. */
TEST(any_text_can_be_written)
{
	char text[2 * FEED_FILE_HEADER_MAX];
	struct feed_header header = example(""), got;
	const char *why;

	memset(header.version, '\n', sizeof(header.version) - 1);
	memset(header.source, '\377', sizeof(header.source) - 1);
	header.time = 999999999999999999;
	header.names = header.length = 999999999999999999;
	CHECK(feed_file_header_write(&header, text) < FEED_FILE_HEADER_MAX);
	CHECK(feed_file_header_read(&got, text, strlen(text), &why) ==
	    (int)strlen(text));
	CHECK(strspn(got.version, "?") == FEED_FILE_TEXT - 1);
	CHECK(strspn(got.source, "?") == FEED_FILE_TEXT - 1);
}

TEST(what_is_not_whole_is_refused)
{
	char text[2 * FEED_FILE_HEADER_MAX];
	struct feed_header header = example("body"), got;
	size_t length = whole(&header, "body", text), n;
	const char *why;

	for (size_t i = 0; i < length; i++)
		CHECK(feed_file_check(&got, text, i, &n, &why) == NULL);
	text[length] = 'x';
	CHECK(feed_file_check(&got, text, length + 1, &n, &why) == NULL);
	/* A bit of the table, and of each line of the header. */
	for (size_t i = 0; i < length; i++) {
		text[i] ^= 0x10;
		if (feed_file_check(&got, text, length, &n, &why) != NULL)
			CHECK(memcmp(&got, &header, sizeof(got)) != 0);
		text[i] ^= 0x10;
	}
}

TEST(malformed_headers_are_refused)
{
	static const char *const bad[] = {
		"", "\n\n\n", "nfdns-feed 1", "nfdns-feed 2\n",
		"nfdns-feed 1\nformat \033[1m\n",
		"nfdns-feed 1\nformat a\nversion \ntime -1\n",
		"nfdns-feed 1\nformat a\nversion \ntime 1\nsource \n"
		"names 99999999999999999999\n",
		"nfdns-feed 1\nformat a\nversion \ntime 1\nsource \nnames 1\n"
		"length maybe\n",
		"nfdns-feed 1\nformat a\nversion \ntime 1\nsource \nnames 1\n"
		"length 0\nhash 00\n\n",
		"nfdns-feed 1\nformat a\nversion \ntime 1\nsource \nnames 1\n"
		"length 0\nhash 99aa06d3014798d86001c324468d497f"
		"\nmore\n",
		"nfdns-feed 1\nformat 0123456789012345678901234567890123\n",
	};
	struct feed_header got;
	const char *why;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		why = NULL;
		CHECK(feed_file_header_read(&got, bad[i], strlen(bad[i]),
		    &why) == -EPROTO);
		CHECK(why != NULL && got.length == 0 && got.format[0] == '\0');
	}
}

TEST(open_files_are_looked_at)
{
	char text[2 * FEED_FILE_HEADER_MAX], path[] = "/tmp/nfdns-feed-XXXXXX";
	struct feed_header header = example("body"), got;
	size_t length = whole(&header, "body", text);
	const char *why;
	int fd = mkstemp(path), ends[2];

	CHECK(fd >= 0 && write(fd, text, length) == (ssize_t)length);
	CHECK(feed_file_peek(&got, fd, &why) == (int)length - 4);
	CHECK(got.names == 3);
	CHECK(ftruncate(fd, (off_t)length - 1) == 0);
	CHECK(feed_file_peek(&got, fd, &why) == -EPROTO);
	CHECK(ftruncate(fd, 0) == 0);
	CHECK(feed_file_peek(&got, fd, &why) == -EPROTO);
	close(fd);
	unlink(path);
	CHECK(pipe(ends) == 0 && feed_file_peek(&got, ends[0], &why) < 0);
	close(ends[0]);
	close(ends[1]);
}

TEST(names_are_safe_in_paths)
{
	char name[80];

	memset(name, 'a', sizeof(name));
	name[FEED_FILE_NAME_MAX] = '\0';
	CHECK(feed_file_name_is_valid("mesh") && feed_file_name_is_valid("-_9"));
	CHECK(feed_file_name_is_valid(name));
	name[FEED_FILE_NAME_MAX] = 'a';
	name[FEED_FILE_NAME_MAX + 1] = '\0';
	CHECK(!feed_file_name_is_valid(name) && !feed_file_name_is_valid(""));
	CHECK(!feed_file_name_is_valid(".") && !feed_file_name_is_valid("a/b"));
	CHECK(!feed_file_name_is_valid("a b") &&
	    !feed_file_name_is_valid("\303\244"));
}
