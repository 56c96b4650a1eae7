/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a worker died, what becomes of its packets, and the line of the log. */
#ifndef NFDNS_NFQ_SUPERVISOR_WORKER_DEATH_H
#define NFDNS_NFQ_SUPERVISOR_WORKER_DEATH_H

#include <stdbool.h>

#include "nfq/queue/queue.h"
#include "nfq/supervisor/worker_process.h"

/* wait_status is that of waitpid(2). */
enum status_death worker_death_cause(const struct worker_process *worker,
    int wait_status);

/*
 * What becomes of the packets that the dead worker had read.  One of them may be
 * to blame for a crash or a hang, so no other worker gets them: they pass, or are
 * dropped if a rule could deny; so they do if no other worker comes.  Else they
 * are put back.
 */
enum queue_fate worker_death_fate(const struct worker_process *worker,
    enum status_death cause, enum life_next next);

/*
 * Whether what the dead worker wrote must not reach the next one: a system call
 * that is forbidden, or the second crash within WORKER_TERM_MS, may be the work of
 * somebody who had taken it over.
 */
#define WORKER_TERM_MS	60000
bool worker_death_distrusts(struct worker_process *worker, int wait_status,
    monotime_t now);

/* Logs a death, at most five a second. */
void worker_death_tell(struct worker_process *worker, int wait_status,
    enum queue_fate fate, enum life_next next);

/* Logs how many deaths worker_death_tell() omitted, once a second. */
void worker_death_tell_unsaid(struct worker_process *worker, monotime_t now);

/* ": REASON" for a worker that exited by itself, else "". */
const char *worker_death_text(int wait_status);

#endif
