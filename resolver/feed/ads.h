/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One stream of xDS on a link of its own: asks for the NameTable, takes each
 * response, and answers each exactly once.
 */
#ifndef NFDNS_RESOLVER_FEED_ADS_H
#define NFDNS_RESOLVER_FEED_ADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/feed/discovery.h"
#include "resolver/feed/link.h"

#define ADS_FIRST_MS	30000		/* from the question to an answer */
/* A message that comes must grow by as much in that time. */
#define ADS_PROGRESS	((size_t)64 << 10)
#define ADS_PROGRESS_MS	60000
/* Responses that come at once are read to the newest, for so long. */
#define ADS_GATHER_MS	2000
#define ADS_OPAQUE_MOST	4096		/* octets of a version or nonce */

struct ads {
	struct link *link;
	const struct feed_config *config;
	const struct node_machine *machine;
	bool asked;
	bool answered;			/* a response has come */
	bool accepted;			/* a table of it, by the caller */
	bool postponed;			/* its last table is offered again */
	uint8_t *version;		/* accepted last on this stream */
	size_t version_length;
	monotime_t deadline;		/* of the first response, or progress */
	size_t progress;
	unsigned int strange;		/* responses of other types */
	/* The newest response, until it is dropped. */
	uint8_t *message;
	size_t message_length;
	bool is_answered;
	monotime_t came;
	struct discovery_response response;
	/* A newer one is there: answers the response and drops it. */
	void (*overtaken)(void *arg, struct ads *ads);
	void *arg;
};

/* Config and machine are borrowed.  NULL: no memory.  free accepts NULL. */
struct ads *ads_new(const struct feed_config *config,
    const struct link_options *options,
    const struct node_machine *machine, monotime_t now)
    __attribute__((warn_unused_result));
void ads_free(struct ads *ads);

monotime_t ads_deadline(struct ads *ads, monotime_t now);
void ads_step(struct ads *ads, const struct pollfd *fds, size_t count,
    monotime_t now);

/*
 * The newest response, which is to be answered; NULL: none is due.  Those that
 * it overtook were given to overtaken().
 */
const struct discovery_response *ads_response(struct ads *ads, monotime_t now);

/*
 * Accepts it, or says why not.  Then the response is dropped, or its message
 * taken, which the caller frees.
 */
void ads_answer(struct ads *ads, const char *refusal);
void ads_drop(struct ads *ads);
uint8_t *ads_take(struct ads *ads);

#endif
