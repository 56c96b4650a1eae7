/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs that "nfdns log verify" reads, of any octets. */
#include <stdlib.h>
#include <string.h>

#include "policy/audit/reader.h"
#include "policy/audit/verify.h"
#include "tests/fuzz/fuzz.h"

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
