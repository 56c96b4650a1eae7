/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intercept_batch: the pure path over recorded packets, for counting its
 * instructions.
 *
 *   intercept_batch BATCH LABEL TIMES
 *
 * Intercepts the packet with that label in BATCH (lines "label hex") TIMES
 * times over the sample table, and prints what became of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/packets.h"

#define PACKET_MAX	2048

static size_t
read_hex(uint8_t *octets, const char *text)
{
	size_t length = 0;
	unsigned int octet;

	while (length < PACKET_MAX && sscanf(text, "%2x", &octet) == 1) {
		octets[length++] = (uint8_t)octet;
		text += 2;
	}
	return length;
}

/* The length of the packet with that label; 0 if there is none. */
static size_t
find_packet(const char *path, const char *label, uint8_t *octets)
{
	static char line[2 * PACKET_MAX + 100];
	const size_t length = strlen(label);
	FILE *file = fopen(path, "r");
	size_t found = 0;

	MUST(file != NULL);
	while (found == 0 && fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, label, length) == 0 && line[length] == ' ')
			found = read_hex(octets, line + length + 1);
	}
	(void)fclose(file);
	return found;
}

int
main(int argc, char **argv)
{
	static uint8_t octets[PACKET_MAX], reply[INTERCEPT_REPLY_MAX];
	static struct interception i;
	struct table *table;
	unsigned long times;
	size_t length;

	if (argc != 4) {
		(void)fprintf(stderr,
		    "usage: intercept_batch BATCH LABEL TIMES\n");
		return 2;
	}
	times = strtoul(argv[3], NULL, 10);
	length = find_packet(argv[1], argv[2], octets);
	MUST(length > 0);
	table = sample_table(false);
	for (unsigned long n = 0; n < times; n++)
		intercept(&i, table, octets, length, length, (uint32_t)n,
		    reply);
	printf("%s %s %zu\n", decide_verdict_text(i.decision.verdict),
	    decide_reason_text(i.decision.reason), i.reply_length);
	table_close(table);
	return 0;
}
