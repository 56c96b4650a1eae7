/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logs that "nfdns log" and "nfdns log verify" read, of any octets: of what is
 * read back a line of JSON can be made.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/audit/json.h"
#include "nfq/cli/logs/read_back.h"
#include "nfq/cli/logs/reader.h"
#include "nfq/cli/logs/verify.h"
#include "tests/fuzz/fuzz.h"

static void
read_back(enum audit_format_number format, const struct audit_reading *reading,
    const uint8_t *octets)
{
	static struct audit_read_back back;
	static char line[AUDIT_JSON_MAX];
	struct audit_json json = { .second.length = 0 };
	size_t seal, length;

	if (format == AUDIT_JSON ||
	    !audit_read_back(&back, format, reading, octets))
		return;
	length = audit_json(&json, &back.record, line, sizeof(line), &seal);
	check(length <= sizeof(line) && memchr(line, '\n', length) ==
	    line + length - 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const enum audit_format_number format = audit_reader_format(data,
	    size);
	struct audit_verify verify = { .begun = false };
	struct audit_reading r;
	uint8_t *octets;
	size_t at = 0;

	if (format == AUDIT_FORMATS)
		return 0;
	/* Of the size allowed: one octet more is seen by the sanitizer. */
	octets = malloc(size);
	check(octets != NULL);
	memcpy(octets, data, size);
	while (at < size) {
		const enum audit_read read = audit_reader_next(&r, format,
		    octets + at, size - at);

		if (read == AUDIT_READ_PIECE) {
			check(r.length > 0 && r.length <= size - at);
			read_back(format, &r, octets + at);
			(void)audit_verify_piece(&verify, &r,
			    (char *)octets + at);
			at += r.length;
		} else if (read == AUDIT_READ_MORE) {
			break;
		} else {
			const size_t skipped = audit_reader_skip(format,
			    octets + at, size - at);

			check(skipped > 0 && skipped <= size - at);
			at += skipped;
		}
	}
	free(octets);
	return 0;
}
