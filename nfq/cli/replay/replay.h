/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A captured packet through the interception, as the daemon with a certain
 * configuration would have decided it.  What a capture does not show is a
 * parameter (the user), or is taken to be as usual: an empty cache, no full
 * queue.  Over TCP, a message is seen if it lies in one segment.
 */
#ifndef NFDNS_NFQ_CLI_REPLAY_REPLAY_H
#define NFDNS_NFQ_CLI_REPLAY_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/packet/intercept.h"
#include "nfq/cli/replay/capture.h"
#include "policy/audit/audit.h"
#include "policy/config/settings.h"
#include "resolver/image/table.h"

/* What decides: a table and the settings beside it.  Borrows both. */
struct replay_side {
	const struct table *table;
	const struct settings *settings;
};

#define REPLAY_SIDES	2

struct replay;

/* Of which user the questions are; -1 each: not known. */
struct replay *replay_new(const struct replay_side *sides, size_t count,
    uid_t uid, gid_t gid) __attribute__((warn_unused_result));
void replay_free(struct replay *replay);	/* NULL is allowed */

/* What a packet holds. */
enum replay_content {
	REPLAY_NO_IP,
	REPLAY_OTHER,			/* not to port 53, fragment, cut, … */
	REPLAY_CONNECTION,		/* TCP to port 53, without data */
	REPLAY_QUESTIONS,
	REPLAY_CONTENTS
};

/*
 * Reads the packet, which the caller keeps until the last replay_decide().
 */
enum replay_content replay_read(struct replay *replay,
    const struct capture_packet *packet);

/*
 * Decides the packet's next question for each side; call it until it returns
 * false.  record[n] is what the daemon with side n would have recorded; it
 * borrows from the packet and from replay, until the next call.
 */
bool replay_decide(struct replay *replay, struct audit_record *record);

/*
 * Whether the question of the last replay_decide() has an answer of others in which
 * a rule could deny names, for either side: a capture does not show it.
 */
bool replay_is_unjudged(const struct replay *replay);

/* Whether the two records decide the same and answer octet for octet the same. */
bool replay_is_same(const struct audit_record *a, const struct audit_record *b);

#endif
