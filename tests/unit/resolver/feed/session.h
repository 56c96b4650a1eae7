/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session of xDS and its server in this very process, with a clock that the
 * test turns.
 */
#ifndef NFDNS_TESTS_UNIT_RESOLVER_FEED_SESSION_H
#define NFDNS_TESTS_UNIT_RESOLVER_FEED_SESSION_H

#include "resolver/feed/xds_session.h"

#include <poll.h>

#include "tests/check.h"
#include "tests/unit/resolver/feed/server.h"

#define ROUNDS	400		/* of both sides, until something is so */

static struct server server;
static struct xds_session session;
static struct feed_status status;
static struct feed_config config;
static struct feed_host host;
static monotime_t now;
static char target[32], name[] = "mesh";

static enum feed_verdict verdict;	/* the host's next ones */
static unsigned int offers, errors;
static char offered[64];

static inline enum feed_verdict
offer(void *arg, const struct feed_table *table, char why[FEED_TEXT])
{
	(void)arg;
	offers++;
	server_host(table, offered);
	(void)snprintf(why, FEED_TEXT, "not kept");
	return verdict;
}

static inline void
changed(void *arg)
{
	(void)arg;
}

static inline void
report(void *arg, enum feed_level level, const char *text)
{
	(void)arg;
	(void)text;
	errors += level == FEED_ERROR;
}

static inline void
begin(void)
{
	server_start(&server);
	(void)snprintf(target, sizeof(target), "127.0.0.1:%u", server.port);
	memset(&status, 0, sizeof(status));
	config = (struct feed_config){ .name = name, .server = target,
		.plaintext = true };
	host = (struct feed_host){ .stop_fd = -1, .status = &status,
		.offer = offer, .changed = changed, .report = report };
	verdict = FEED_APPLIED;
	offers = errors = 0;
	now = monotime_from_ms(1000000);
	xds_session_init(&session, &config, &host, 42, now);
}

static inline void
end(void)
{
	xds_session_end(&session);
	server_stop(&server);
}

static inline void
round_of_both(int wait_ms)
{
	struct pollfd fds[XDS_FDS];
	size_t count = xds_session_poll(&session, fds, now);

	(void)poll(fds, (nfds_t)count, wait_ms);
	xds_session_step(&session, fds, now);
	server_step(&server);
}

/* Runs both until the condition holds; the clock stands still. */
#define UNTIL(condition) do {						\
	for (int round_ = 0; round_ < ROUNDS && !(condition); round_++)	\
		round_of_both(2);					\
	CHECK(condition);						\
} while (0)

/* Whatever is on its way arrives. */
static inline void
settle(void)
{
	for (int i = 0; i < 10; i++)
		round_of_both(0);
}

static inline void
pass_ms(int64_t ms)
{
	now = monotime_add_ms(now, ms);
	settle();
}

static inline void
push(unsigned int peer, const char *version, const char *table)
{
	server_push(&server.peers[peer], version, DISCOVERY_NAME_TABLE,
	    DISCOVERY_NAME_TABLE, table);
}

/* The peer's n-th request, when it is there. */
static inline const struct asked *
asked(unsigned int peer, unsigned int n)
{
	UNTIL(server.count > peer && server.peers[peer].count > n);
	return &server.peers[peer].asked[n];
}

static inline void
connect_and_push(void)
{
	CHECK(asked(0, 0)->has_node);
	push(0, "1", "one");
	UNTIL(status.connected);
	CHECK(strcmp(asked(0, 1)->nonce, "nonce-1") == 0);
}

#endif
