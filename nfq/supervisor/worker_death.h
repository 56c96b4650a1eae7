/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What worker.c and worker_process_death.c share.  Nobody else includes this.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_WORKER_PARTS_H
#define NFDNS_NFQ_SUPERVISOR_WORKER_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "nfq/supervisor/worker_process.h"

#define DEATH_TEXT 160

/*
 * What a worker died of, to be called once it is reaped and before its packets
 * are put back.  The packet that is to blame, if there is one, is let go on, so
 * that it cannot end the next worker too; it is counted, and kept for a bug
 * report.  wait_status is what waitpid(2) said; "text" says in words which
 * packet it was, "" if it was none.
 */
void worker_process_examine(struct worker_process *worker, int wait_status,
    int64_t now_ms, struct life_end *end, char text[static DEATH_TEXT]);

/* Batches that the threads for packets have finished, of all workers. */
uint64_t worker_process_batches(const struct worker_process *worker);

/* A flood of deaths is no flood of lines: whether there may be another now. */
bool worker_process_may_talk(const struct worker_process *worker);

#endif
