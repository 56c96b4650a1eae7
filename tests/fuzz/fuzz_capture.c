/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as a capture file, through to the lines that are printed: libpcap,
 * link layers, the packets' messages, the interception, the records as text.
 */
#include <stdio.h>
#include <string.h>

#include "nfq/cli/replay/capture.h"
#include "nfq/cli/replay/replay.h"
#include "nfq/cli/replay/summary.h"
#include "policy/audit/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/packets.h"

/* All of one packet's questions, by two sides that are the same. */
static void
take_packet(struct replay *replay, struct replay_summary *summary,
    const struct capture_packet *packet)
{
	struct audit_record record[REPLAY_SIDES];
	char line[AUDIT_TEXT_MAX];

	check(packet->octets == NULL || packet->length <= packet->whole_length);
	replay_summary_packet(summary, replay_read(replay, packet),
	    packet->time_ns);
	while (replay_decide(replay, record)) {
		check(replay_is_same(&record[0], &record[1]));
		check(audit_text(&record[0], true, line) == strlen(line));
		replay_summary_question(summary, record);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct settings settings;
	static struct table *table;
	struct replay_summary summary = { .compares = true };
	struct replay_side sides[REPLAY_SIDES];
	struct capture_packet packet;
	char why[CAPTURE_WHY];
	struct capture *capture;
	struct replay *replay;
	FILE *file;

	if (size == 0)
		return 0;
	file = fmemopen((void *)(uintptr_t)data, size, "r");
	check(file != NULL);
	capture = capture_open(file, why);
	if (capture == NULL)
		return 0;
	if (table == NULL)
		table = sample_table(false);
	settings.answers = sample_settings;
	for (size_t i = 0; i < REPLAY_SIDES; i++)
		sides[i] = (struct replay_side){ table, &settings };
	replay = replay_new(sides, REPLAY_SIDES, 33, 33);
	check(replay != NULL);
	while (capture_next(capture, &packet, why) > 0)
		take_packet(replay, &summary, &packet);
	check(summary.differ == 0);
	replay_free(replay);
	capture_close(capture);
	return 0;
}
