/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our own questions: health and loops. */
#ifndef NFDNS_NFQ_ASK_PROBES_H
#define NFDNS_NFQ_ASK_PROBES_H

#include "nfq/ask/engine_state.h"

/* Sends those that are due. */
void probes_send(struct engine *e, monotime_t now);

/* When the next is due, or MONOTIME_NEVER. */
monotime_t probes_next(const struct engine *e);

/* A reply to one. */
void probe_reply(struct engine *e, monotime_t now, struct attempt *a,
    const uint8_t *octets, size_t length);

/* One was lost (0), or failed with an error of the network, positive. */
void probe_lost(struct engine *e, monotime_t now, struct attempt *a,
    int error);

/* Whether a client's question is a loop probe of ours; notes the loop then. */
bool probe_came_back(struct engine *e, monotime_t now,
    const struct question *question);

#endif
