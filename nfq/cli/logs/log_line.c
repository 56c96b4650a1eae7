/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/logs/log_line.h"

#include <string.h>

#define SEAL_KEY	",\"seal\":\""
#define END		"}}"		/* of "nfdns" and of the line */

bool
log_line_of(struct log_line *line, const struct log_pieces *pieces,
    const struct audit_reading *reading)
{
	const uint8_t *octets = pieces->octets + pieces->begin;
	size_t seal;

	if (pieces->format == AUDIT_JSON) {
		line->text = (const char *)octets;
		line->length = reading->length;
		if (line->length > 0 && octets[line->length - 1] == '\n')
			line->length--;
		return true;
	}
	if (!audit_read_back(&line->back, pieces->format, reading, octets))
		return false;
	(void)audit_json(&line->json, &line->back.record, line->octets,
	    sizeof(line->octets), &seal);
	/* The seal is that of another file. */
	seal -= strlen(SEAL_KEY);
	memcpy(line->octets + seal, END, sizeof(END));
	line->text = line->octets;
	line->length = seal + strlen(END);
	return true;
}
