/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/text/utf8.h"

#include <string.h>

bool
bom_take(char *text, size_t *length)
{
	static const char mark[3] = "\xef\xbb\xbf";

	if (*length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 ||
	    memcmp(text, "\xfe\xff", 2) == 0))
		return false;
	if (*length >= sizeof(mark) && memcmp(text, mark, sizeof(mark)) == 0) {
		*length -= sizeof(mark);
		memmove(text, text + sizeof(mark), *length);
	}
	return true;
}
