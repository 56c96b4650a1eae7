/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a worker died of: which packet is to blame, which user sends such
 * packets again and again, and what the log says about it.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_WORKER_DEATH_H
#define NFDNS_NFQ_SUPERVISOR_WORKER_DEATH_H

#include <stdint.h>

#include "nfq/supervisor/worker_process.h"

#define WORKER_DEATH_TEXT 160

/*
 * Examines a death: call it after the worker is reaped and before its packets
 * are put back.  wait_status is that of waitpid(2).  The packet to blame, if
 * there is one, is let go on, so that it cannot end the next worker too; it is
 * counted, and kept for a bug report (quarantine.h).  "text" says in words
 * which packet it was, "" if it was none.
 */
void worker_death_examine(struct worker_process *worker, int wait_status,
    monotime_t now, struct life_end *end,
    char text[static WORKER_DEATH_TEXT]);

/* Logs a death, at most five in a second; "packet" is the text of above. */
void worker_death_tell(struct worker_process *worker, int wait_status,
    const char *packet, enum life_next next);

/* Logs the number of those that worker_death_tell() left out, once a second. */
void worker_death_tell_unsaid(struct worker_process *worker, monotime_t now);

/* Batches that the queue threads have finished, of all workers so far. */
uint64_t worker_death_batches(const struct worker_process *worker);

/* Why a worker ended by itself, in words with ": " before them, or "". */
const char *worker_death_text(int wait_status);

#endif
