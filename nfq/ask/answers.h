/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What clients get, and what the cache gets. */
#ifndef NFDNS_NFQ_ASK_ANSWERS_H
#define NFDNS_NFQ_ASK_ANSWERS_H

#include "nfq/ask/client_message.h"
#include "nfq/ask/engine_state.h"
#include "resolver/dns/rr.h"

/* A message for one client, which is given back. */
struct answer_given {
	const struct message *message;	/* NULL: none, but the code */
	uint16_t rcode;			/* then */
	uint16_t ede;			/* enum extended_error, or a server's */
	bool cached;
	struct message_ttl ttl;
};

void answer_client(struct engine *e, struct engine_client *client,
    const struct answer_given *given);

/* The client is refused; with NULL, of no domain, it gets SERVFAIL. */
void answer_full(struct engine *e, struct engine_client *client,
    const struct forward_domain *domain);

/* What is kept for the question, in e->found; see cache_find(). */
bool answer_find(struct engine *e, monotime_t now,
    const struct question *asked, struct cache_entry *entry);

/* An answer that answer_find() has found, fresh or stale. */
void answer_found(struct engine *e, monotime_t now,
    struct engine_client *client, const struct cache_entry *entry);

/*
 * All clients of a question get an upstream's message, and the cache, if it may
 * be kept.  "ede" is for a failure that is handed on.
 */
void answer_reply(struct engine *e, monotime_t now, struct pending *p,
    const struct message *message, uint16_t ede);

/* All clients get a stale answer.  False: there is none. */
bool answer_stale(struct engine *e, monotime_t now, struct pending *p);

/* A refresh failed: the stale answer is not refreshed again for a while. */
void answer_retry_later(struct engine *e, monotime_t now,
    const struct cache_entry *entry);

/* All clients get a code. */
void answer_failure(struct engine *e, struct pending *p, uint16_t rcode,
    uint16_t ede);

/* Keeps a code as the failure of the question alone (RFC 9520). */
void answer_keep_failure(struct engine *e, monotime_t now,
    const struct pending *p, uint16_t rcode, uint16_t ede);

#endif
