/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker process.  Its only privilege is CAP_NET_ADMIN.  It has one thread
 * for each queue, one for TCP, the audit's writer, and the main thread, which
 * takes the supervisor's orders.
 */
#ifndef NFDNS_NFQ_WORKER_WORKER_H
#define NFDNS_NFQ_WORKER_WORKER_H

#include "nfq/handover/handover.h"

/*
 * Runs in the child until the supervisor says CONTROL_STOP.  Returns the exit
 * status (enum worker_exit); or ends the process with one, if the supervisor is
 * gone or a thread can no longer do its work.
 */
int worker_run(const struct worker_handover *handover);

#endif
