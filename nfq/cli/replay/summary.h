/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a whole capture came to, in numbers. */
#ifndef NFDNS_NFQ_CLI_REPLAY_SUMMARY_H
#define NFDNS_NFQ_CLI_REPLAY_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "nfq/cli/replay/replay.h"
#include "policy/audit/audit.h"

struct replay_summary {
	uint64_t packets[REPLAY_CONTENTS];
	uint64_t udp, tcp;			/* questions */
	uint64_t first_ns, last_ns;		/* times of packets */
	uint64_t reasons[VERDICTS][REASONS];	/* of the first side */
	uint64_t unjudged;			/* replay_is_unjudged() */
	bool compares;				/* there are two sides: */
	uint64_t differ;
	uint64_t changes[VERDICTS][VERDICTS];	/* those that differ */
};

void replay_summary_packet(struct replay_summary *summary,
    enum replay_content content, uint64_t time_ns);

/* One question's records, of one side or of two. */
void replay_summary_question(struct replay_summary *summary,
    const struct audit_record *record);

/* One line about answers that rules would judge, if there are any. */
void replay_summary_print_unjudged(const struct replay_summary *summary,
    FILE *out);

/* As a person reads it; name is the capture's. */
void replay_summary_print(const struct replay_summary *summary,
    const char *name, FILE *out);

/* One JSON object and a line end.  0 or -ENOMEM. */
int replay_summary_print_json(const struct replay_summary *summary,
    FILE *out) __attribute__((warn_unused_result));

#endif
