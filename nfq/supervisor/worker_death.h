/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a worker died: finds the packet to blame, the users who send such packets
 * repeatedly, and writes the line of the log.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_WORKER_DEATH_H
#define NFDNS_NFQ_SUPERVISOR_WORKER_DEATH_H

#include <stdbool.h>
#include <stdint.h>

#include "nfq/supervisor/worker_process.h"

#define WORKER_DEATH_TEXT 160

/* What becomes of packets that no worker is to read: dropped if a rule could deny. */
enum queue_fate worker_death_fate(const struct worker_process *worker);

/*
 * Examines a death.  Call it after the worker is reaped and before its packets
 * are queued again.  wait_status is that of waitpid(2).  A packet to blame
 * does not get to the next worker (worker_death_fate()); it is counted, and a copy
 * is kept for a bug report (quarantine.h).  "text" describes the packet; "" if
 * there is none.
 */
void worker_death_examine(struct worker_process *worker, int wait_status,
    monotime_t now, struct life_end *end,
    char text[static WORKER_DEATH_TEXT]);

/*
 * Whether what the dead worker wrote must not reach the next one: a system call
 * that is forbidden, or the second crash within WORKER_TERM_MS, may be the work of
 * somebody who had taken it over.
 */
#define WORKER_TERM_MS	60000
bool worker_death_distrusts(struct worker_process *worker, int wait_status,
    monotime_t now);

/* Logs a death, at most five a second; "packet" is the text from above. */
void worker_death_tell(struct worker_process *worker, int wait_status,
    const char *packet, enum life_next next);

/* Logs how many deaths worker_death_tell() omitted, once a second. */
void worker_death_tell_unsaid(struct worker_process *worker, monotime_t now);

/* Batches that the queue threads of all workers have finished so far. */
uint64_t worker_death_batches(const struct worker_process *worker);

/* ": REASON" for a worker that exited by itself, else "". */
const char *worker_death_text(int wait_status);

#endif
