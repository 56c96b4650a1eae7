/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker process: no privilege but CAP_NET_ADMIN, one thread for each
 * queue, the audit writer, and the main thread, which takes orders from the
 * supervisor.
 */
#ifndef NFDNS_NFQ_WORKER_WORKER_H
#define NFDNS_NFQ_WORKER_WORKER_H

#include "nfq/handover/handover.h"

/*
 * Runs in the child until told to stop, or until the supervisor is gone;
 * returns the exit status (enum worker_exit).
 */
int worker_run(const struct worker_handover *handover);

#endif
