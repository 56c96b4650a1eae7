/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects and brackets that never end; all else is fuzz_feed_watch's. */
#include "resolver/feed/json_split.h"

#include <errno.h>
#include <string.h>

#include "tests/check.h"

static const struct {
	bool list;
	const char *begin;
	char then;
} endless[] = { { false, "{\"", 'x' }, { true, "{\"", 'x' }, { true, "{\"a\":", '[' } };

TEST(limits)
{
	static char text[1 << 16];
	struct json_split split = JSON_SPLIT_INIT;
	struct json_range object;

	for (size_t i = 0; i < sizeof(endless) / sizeof(*endless); i++) {
		int error;

		json_split_begin(&split, endless[i].list);
		error = json_split_add(&split, endless[i].begin,
		    strlen(endless[i].begin));
		memset(text, endless[i].then, sizeof(text));
		for (int n = 0; n < 1000 && error == 0; n++) {
			CHECK(json_split_add(&split, text, sizeof(text)) == 0);
			error = json_split_next(&split, &object);
		}
		CHECK(error == -EMSGSIZE);
		CHECK(split.kept.size <= 2 * JSON_SPLIT_MAX_OBJECT);
	}
	json_split_free(&split);
}
