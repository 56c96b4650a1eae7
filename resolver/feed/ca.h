/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a certificate of our own alive: asks istiod for one (istio.v1.auth,
 * IstioCertificateService/CreateCertificate) when there is none, and again at
 * half of its life.  The first request is authenticated by the token, the later
 * ones by the certificate before.
 */
#ifndef NFDNS_RESOLVER_FEED_CA_H
#define NFDNS_RESOLVER_FEED_CA_H

#include <openssl/evp.h>

#include "resolver/feed/backoff.h"
#include "resolver/feed/feed.h"
#include "resolver/feed/link.h"

#define CA_ANSWER_MS	30000
#define CA_LOOK_MS	30000		/* how often the clock is looked at */
#define CA_APART_MS	2000		/* one certificate after the other */
#define CA_VALIDITY_S	86400		/* that is asked for */

struct ca {
	const struct feed_config *config;	/* cert and key: the pair's file */
	const struct feed_host *host;
	struct link *link;			/* NULL: nothing is asked */
	EVP_PKEY *key;				/* of the request */
	bool asked;
	monotime_t due;				/* to look, or to ask */
	monotime_t deadline;			/* of the answer */
	struct backoff backoff;
	bool refused;				/* the pair, by the server */
	bool complained;			/* of the failure that lasts */
};

/* Config and host are borrowed.  config->server is the authority's address. */
void ca_init(struct ca *ca, const struct feed_config *config,
    const struct feed_host *host, monotime_t now);
void ca_end(struct ca *ca);

/* At most LINK_FDS to wait for, and until when. */
size_t ca_poll(struct ca *ca, struct pollfd *fds, monotime_t now);
monotime_t ca_deadline(struct ca *ca, monotime_t now);

/* After poll(2).  "today": seconds since 1970; "random": for the back-off. */
void ca_step(struct ca *ca, const struct pollfd *fds, size_t count,
    monotime_t now, int64_t today, uint64_t random);

#endif
