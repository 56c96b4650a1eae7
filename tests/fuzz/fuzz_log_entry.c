/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as a line of a packet log: what is printed is printable. */
#include <string.h>

#include "nfq/cli/logs/log_entry.h"
#include "nfq/cli/logs/log_filter.h"
#include "resolver/text/printable.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct json_tree tree;
	static struct log_entry entry;
	const struct log_filter filter = { .name = "*a*.example" };
	char text[AUDIT_TEXT_MAX], again[AUDIT_TEXT_MAX];
	size_t length;

	if (!log_entry_read(&entry, &tree, (const char *)data, size))
		return 0;
	(void)log_filter_takes(&filter, &entry.line);
	length = log_entry_text(&entry, false, text);
	check(length < sizeof(text) && length == strlen(text));
	check(printable_text(again, sizeof(again), text, length) == length);
	return 0;
}
