/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection that is reset after each number of octets, in each direction, of
 * a whole exchange: two tables, their answers, and the server's goodbye.  And
 * memory that runs out at each place of it, for one step of the session.
 */
#include <poll.h>
#include <stdlib.h>

#include "resolver/feed/xds_session.h"
#include "tests/check.h"
#include "tests/feed_host.h"
#include "tests/no_memory.h"
#include "tests/unit/resolver/feed/server.h"

#define ROUNDS		2000
#define STEP_MS		100
#define OCTETS_MOST	2000		/* of the exchange, in one direction */

static struct server server;
static struct xds_session session;
static struct feed_status status;
static struct feed_config config;
static struct feed_host host;
static monotime_t now;
static char target[32], name[] = "mesh", last[64];
static unsigned int pushed[PEERS];
static long memory;			/* the session's calls that succeed */
static bool memory_missed;		/* and that was said */

static enum feed_verdict
offer(void *arg, const struct feed_table *table, char why[FEED_TEXT])
{
	(void)arg;
	(void)why;
	server_host(table, last);
	return FEED_APPLIED;
}

static void
changed(void *arg)
{
	(void)arg;
}

static void
report(void *arg, enum feed_level level, const char *text)
{
	(void)arg;
	memory_missed |= level != FEED_DEBUG && strstr(text, "no memory") !=
	    NULL;
}

static void
begin(long sends, long takes, long calls)
{
	no_memory_after(-1);
	memory = calls;
	server_start(&server);
	server.sends = sends;
	server.takes = takes;
	(void)snprintf(target, sizeof(target), "127.0.0.1:%u", server.port);
	memset(&status, 0, sizeof(status));
	memset(pushed, 0, sizeof(pushed));
	last[0] = '\0';
	config = (struct feed_config){ .name = name, .server = target,
		.plaintext = true };
	host = (struct feed_host){ .stop_fd = -1, .status = &status,
		.offer = offer, .changed = changed, .report = report };
	now = monotime_from_ms(1000000);
	xds_session_init(&session, &config, &host, 42, now);
}

/* What a server does: a table, another one when that is taken, and goodbye. */
static void
answer(unsigned int i)
{
	struct peer *p = &server.peers[i];

	if (p->fd < 0 || p->count <= pushed[i])
		return;
	pushed[i]++;
	if (pushed[i] <= 2)
		server_push(p, pushed[i] == 1 ? "1" : "2", DISCOVERY_NAME_TABLE,
		    DISCOVERY_NAME_TABLE, pushed[i] == 1 ? "one" : "two");
	else
		server_goaway(p, NGHTTP2_NO_ERROR, "");
}

static void
round_of_both(void)
{
	struct pollfd fds[XDS_FDS];
	size_t count = xds_session_poll(&session, fds, now);

	(void)poll(fds, (nfds_t)count, 0);
	if (!no_memory_failed)
		no_memory_in = memory;
	xds_session_step(&session, fds, now);
	memory = no_memory_in;
	no_memory_in = -1;
	server_step(&server);
	for (unsigned int i = 0; i < server.count && i < PEERS; i++)
		answer(i);
}

/* Whether a connection has gone through all of it. */
static bool
is_through(void)
{
	for (unsigned int i = 0; i < server.count && i < PEERS; i++)
		if (pushed[i] >= 3)
			return status.connected;
	return false;
}

/*
 * One exchange that is disturbed once; false: it was not, since there was no
 * more of it.
 */
static bool
cut(long sends, long takes, long calls)
{
	bool was_cut, through;

	begin(sends, takes, calls);
	for (int i = 0; i < ROUNDS && !is_through(); i++) {
		round_of_both();
		if (i % 20 == 19)
			now = monotime_add_ms(now, STEP_MS);
	}
	through = is_through();
	was_cut = no_memory_failed ||
	    (calls < 0 && server.count > 1 && server.peers[0].fd < 0);
	if (!through || strcmp(last, "two") != 0 || *status.error != '\0' ||
	    status.attempts > 2 || server.count > 2)
		printf("  after %ld sent, %ld taken, %ld calls: \"%s\", %u "
		    "connections, %s\n", sends, takes, calls, last,
		    server.count, status.error);
	CHECK(through && strcmp(last, "two") == 0 && *status.error == '\0');
	CHECK(status.attempts <= 2 && server.count <= 2);
	xds_session_end(&session);
	server_stop(&server);
	return was_cut;
}

TEST(what_the_server_sends)
{
	long n = 0;

	while (n < OCTETS_MOST && cut(n, -1, -1))
		n++;
	printf("figure: reset after each of %ld octets from the server\n", n);
	CHECK(n > 200 && n < OCTETS_MOST);
}

TEST(what_the_server_takes)
{
	long n = 0;

	while (n < OCTETS_MOST && cut(-1, n, -1))
		n++;
	printf("figure: reset after each of %ld octets to the server\n", n);
	CHECK(n > 200 && n < OCTETS_MOST);
}

TEST(what_memory_lacks)
{
	long n = 0;

	while (n < OCTETS_MOST && cut(-1, -1, n))
		n++;
	printf("figure: memory ran out at each of %ld calls\n", n);
	CHECK(n > 10 && n < OCTETS_MOST);
	CHECK(memory_missed);
}
