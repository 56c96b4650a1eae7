/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs that "nfdns log" and "nfdns log verify" read, of any octets. */
#include <string.h>

#include "nfq/cli/logs/log_entry.h"
#include "nfq/cli/logs/verify.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct json_tree tree = JSON_TREE_INIT;
	static struct log_entry entry;
	struct log_verify verify = { .run = 0 };
	const char *at = (const char *)data, *end = at + size;
	char text[AUDIT_TEXT_MAX];
	struct log_line line;

	while (at < end) {
		const char *next = memchr(at, '\n', (size_t)(end - at));
		const size_t length = (size_t)((next != NULL ? next : end) - at);

		log_line_read(&line, &tree, at, length);
		(void)log_verify_is_over(&verify, &line);
		(void)log_verify_line(&verify, &line);
		if (log_entry_read(&entry, &tree, at, length))
			check(log_entry_text(&entry, true, text) <
			    sizeof(text));
		at += length + 1;
	}
	return 0;
}
