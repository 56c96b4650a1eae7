/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as state_dir/NAME.table, which another user may have written. */
#include <string.h>

#include "resolver/sources/feed_file.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *octets = (const char *)data, *why = NULL, *table;
	char text[FEED_FILE_HEADER_MAX];
	struct feed_header header, again;
	size_t length = 0;
	int skip = feed_file_header_read(&header, octets, size, &why);

	check((skip < 0) == (why != NULL));
	check(skip <= (int)FEED_FILE_HEADER_MAX);
	check(strnlen(header.version, FEED_FILE_TEXT) < FEED_FILE_TEXT);
	check(strpbrk(header.source, "\n\033") == NULL);
	why = NULL;
	table = feed_file_check(&header, octets, size, &length, &why);
	check((table == NULL) == (why != NULL));
	check(table == NULL || table + length == octets + size);
	if (skip > 0) {
		size = feed_file_header_write(&header, text);
		check(feed_file_header_read(&again, text, size, &why) ==
		    (int)size);
		check(memcmp(&header, &again, sizeof(again)) == 0);
	}
	return 0;
}
