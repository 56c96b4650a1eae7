/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The session of xDS against a server in this very process, with a clock that
 * the test turns: every state, and every way out.
 */
#include "resolver/feed/xds_session.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>

#include "resolver/feed/keepalive.h"
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

static enum feed_verdict
offer(void *arg, const struct feed_table *table, char why[FEED_TEXT])
{
	(void)arg;
	offers++;
	(void)snprintf(offered, sizeof(offered), "%.*s", (int)table->length,
	    (const char *)table->octets);
	(void)snprintf(why, FEED_TEXT, "not liked");
	return verdict;
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
	(void)text;
	errors += level == FEED_ERROR;
}

static void
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

static void
end(void)
{
	xds_session_end(&session);
	server_stop(&server);
}

static void
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
static void
settle(void)
{
	for (int i = 0; i < 10; i++)
		round_of_both(0);
}

static void
pass_ms(int64_t ms)
{
	now = monotime_add_ms(now, ms);
	settle();
}

static void
push(unsigned int peer, const char *version, const char *table)
{
	server_push(&server.peers[peer], version, DISCOVERY_NAME_TABLE,
	    DISCOVERY_NAME_TABLE, table);
}

/* The peer's n-th request, when it is there. */
static const struct asked *
asked(unsigned int peer, unsigned int n)
{
	UNTIL(server.count > peer && server.peers[peer].count > n);
	return &server.peers[peer].asked[n];
}

static void
connect_and_push(void)
{
	CHECK(asked(0, 0)->has_node);
	push(0, "1", "one");
	UNTIL(status.connected);
	CHECK(strcmp(asked(0, 1)->nonce, "nonce-1") == 0);
}

/* FEED X6: no version and no nonce at first, and each answer once. */
static void
asks_and_acks(void)
{
	const struct asked *a;

	begin();
	a = asked(0, 0);
	CHECK(a->has_node && *a->version == '\0' && *a->nonce == '\0');
	CHECK(!status.connected);
	push(0, "1", "one");
	a = asked(0, 1);
	CHECK(!a->has_node && strcmp(a->version, "1") == 0 &&
	    strcmp(a->nonce, "nonce-1") == 0 && *a->refusal == '\0');
	UNTIL(status.connected);
	CHECK(offers == 1 && strcmp(offered, "one") == 0);
	CHECK(strcmp(status.version, "1") == 0 && *status.error == '\0');
	settle();
	CHECK(server.peers[0].count == 2 && status.pushes == 1);
	end();
}

static void
nack_has_the_version_before(void)
{
	const struct asked *a;

	begin();
	connect_and_push();
	verdict = FEED_REFUSED;
	push(0, "2", "two");
	a = asked(0, 2);
	CHECK(strcmp(a->version, "1") == 0 && strcmp(a->nonce, "nonce-2") == 0);
	CHECK(strcmp(a->refusal, "not liked") == 0);
	CHECK(status.nacks == 1 && *status.error != '\0');
	CHECK(!status.connected);		/* to what it would have us use */
	settle();
	CHECK(server.peers[0].count == 3);
	end();
}

/* Nothing but a new stream makes istiod repeat what was refused. */
static void
refused_tables_are_asked_for_again(void)
{
	begin();
	connect_and_push();
	verdict = FEED_REFUSED;
	push(0, "2", "two");
	UNTIL(status.nacks == 1);
	pass_ms(XDS_REFUSED_MS / 2 - 1);
	CHECK(server.count == 1);
	pass_ms(XDS_REFUSED_MS / 2 + 1);
	CHECK(asked(1, 0)->has_node);
	verdict = FEED_APPLIED;
	push(1, "3", "two");
	UNTIL(status.connected && server.peers[0].cancelled);
	CHECK(*status.error == '\0');
	end();
}

/* istiod repeats a table on a new stream only; it is asked for it once. */
static void
held_tables_are_asked_for_again(void)
{
	begin();
	connect_and_push();
	verdict = FEED_HELD;
	push(0, "2", "two");
	CHECK(*asked(0, 2)->refusal == '\0');
	UNTIL(offers == 2);
	pass_ms(XDS_HELD_MS / 2 - 1);
	CHECK(server.count == 1);
	pass_ms(XDS_HELD_MS / 2 + 1);
	CHECK(asked(1, 0)->has_node && status.connected);
	CHECK(!server.peers[0].cancelled);
	push(1, "3", "three");			/* held as well: enough asked */
	UNTIL(server.peers[0].cancelled && offers == 3);
	pass_ms(10 * XDS_HELD_MS);
	CHECK(server.count == 2);
	verdict = FEED_APPLIED;
	push(1, "4", "one");
	UNTIL(offers == 4);
	verdict = FEED_HELD;			/* another hold */
	push(1, "5", "two");
	UNTIL(offers == 5);
	pass_ms(XDS_HELD_MS);
	CHECK(asked(2, 0)->has_node);
	CHECK(status.connected && *status.error == '\0' && errors == 0);
	end();
}

/* The host is given the newest of several; each is answered. */
static void
what_comes_at_once_is_one_table(void)
{
	begin();
	CHECK(asked(0, 0)->has_node);
	push(0, "1", "one");
	push(0, "2", "two");
	push(0, "3", "three");
	(void)asked(0, 3);
	settle();
	CHECK(strcmp(offered, "three") == 0 && offers < 3);
	CHECK(server.peers[0].count == 4);
	CHECK(strcmp(asked(0, 3)->nonce, "nonce-3") == 0);
	end();
}

static void
strange_responses(void)
{
	begin();
	connect_and_push();
	server_push(&server.peers[0], "2", DISCOVERY_NAME_TABLE, NULL, NULL);
	CHECK(strcmp(asked(0, 2)->version, "2") == 0);	/* zero resources: ACK */
	CHECK(offers == 1 && status.nacks == 0);
	server_push(&server.peers[0], "3", DISCOVERY_NAME_TABLE, "other", "x");
	CHECK(*asked(0, 3)->refusal != '\0');
	server_push(&server.peers[0], "4", "other", "other", "x");
	push(0, "5", "five");
	/* An answer to another type would subscribe to it. */
	CHECK(strcmp(asked(0, 4)->nonce, "nonce-5") == 0);
	CHECK(strcmp(offered, "five") == 0);
	end();
}

static void
garbage_ends_the_stream(void)
{
	begin();
	connect_and_push();
	server_send(&server.peers[0], "\0\0\0\0\4\xff\xff\xff\xff", 9);
	UNTIL(status.reconnects[FEED_CAUSE_CONTENT] == 1);
	CHECK(offers == 1 && !status.connected);
	end();
}

/* Make before break: FEED 1.7. */
static void
goaway_is_followed_by_a_second_connection(void)
{
	begin();
	connect_and_push();
	pass_ms(XDS_STEADY_MS);
	server_goaway(&server.peers[0], 0, "max_age");
	settle();
	pass_ms(BACKOFF_PLANNED_MS);
	CHECK(asked(1, 0)->has_node && *asked(1, 0)->nonce == '\0');
	CHECK(status.connected && !server.peers[0].cancelled);
	push(0, "2", "two");			/* the old one still counts */
	UNTIL(strcmp(offered, "two") == 0);
	push(1, "3", "three");
	UNTIL(server.peers[0].cancelled);
	CHECK(strcmp(offered, "three") == 0 && status.connected);
	CHECK(status.reconnects[FEED_CAUSE_PLANNED] == 1);
	CHECK(status.attempts == 2 && *status.error == '\0' && errors == 0);
	settle();
	CHECK(server.count == 2);
	end();
}

/* The old connection ends before the new one has a table: nothing is worse. */
static void
old_connection_ends_first(void)
{
	begin();
	connect_and_push();
	pass_ms(XDS_STEADY_MS);
	server_goaway(&server.peers[0], 0, "");
	settle();
	pass_ms(BACKOFF_PLANNED_MS);
	CHECK(asked(1, 0)->has_node);
	server_hang_up(&server.peers[0]);
	UNTIL(!status.connected);
	push(1, "2", "two");
	UNTIL(status.connected);
	CHECK(status.attempts == 2 && server.count == 2);
	CHECK(status.reconnects[FEED_CAUSE_PLANNED] == 1);
	end();
}

static void
second_connection_fails(void)
{
	begin();
	connect_and_push();
	pass_ms(XDS_STEADY_MS);
	server.hangs_up = true;
	server_goaway(&server.peers[0], 0, "");
	settle();
	for (int i = 0; i < 60; i++)
		pass_ms(1000);
	CHECK(status.connected && server.count >= 2 && server.count < 40);
	push(0, "2", "two");
	UNTIL(strcmp(offered, "two") == 0);
	server.hangs_up = false;
	pass_ms(BACKOFF_MOST_MS);
	UNTIL(server.peers[server.count - 1].count == 1);
	push(server.count - 1, "3", "three");
	UNTIL(server.peers[0].cancelled && status.connected);
	end();
}

/* Without a GOAWAY too, the whole table is asked for from time to time. */
static void
resync(void)
{
	begin();
	connect_and_push();
	for (int i = 0; i < 54 * 3; i++)
		pass_ms(20000);
	CHECK(server.count == 1);
	for (int i = 0; i < 6 * 60 && server.count == 1; i++)
		pass_ms(1000);
	CHECK(asked(1, 0)->has_node);
	push(1, "2", "one");
	UNTIL(server.peers[0].cancelled);
	CHECK(status.connected && errors == 0);
	end();
}

static void
deadlines(void)
{
	begin();
	(void)asked(0, 0);
	pass_ms(ADS_FIRST_MS - 1);
	CHECK(status.reconnects[FEED_CAUSE_TIMEOUT] == 0);
	pass_ms(1);
	CHECK(status.reconnects[FEED_CAUSE_TIMEOUT] == 1);
	CHECK(strstr(status.error, "does not answer") != NULL);
	end();
	begin();
	server.is_deaf = true;
	UNTIL(server.count == 1);
	settle();
	pass_ms(LINK_SETTLE_MS);
	CHECK(status.reconnects[FEED_CAUSE_TIMEOUT] == 1);
	CHECK(strstr(status.error, "SETTINGS") != NULL);
	end();
}

/* An octet a second is a sign of life, but not a table. */
static void
a_table_that_drips(void)
{
	begin();
	(void)asked(0, 0);
	server_send(&server.peers[0], "\0\0\1\0\0", 5);
	for (int i = 0; i < 70 && status.reconnects[FEED_CAUSE_TIMEOUT] == 0;
	    i++) {
		server_send(&server.peers[0], "x", 1);
		pass_ms(1000);
	}
	CHECK(status.reconnects[FEED_CAUSE_TIMEOUT] == 1);
	CHECK(strstr(status.error, "slowly") != NULL);
	end();
}

/* An address that is still there, and an attempt that need not wait. */
static void
routes_change(void)
{
	begin();
	connect_and_push();
	xds_session_routes_changed(&session, now);
	settle();
	CHECK(status.connected && server.count == 1);
	CHECK(server.peers[0].pings == 0);	/* nor a reason to doubt */
	server.hangs_up = true;
	server_hang_up(&server.peers[0]);
	UNTIL(!status.connected);
	pass_ms(1000);
	for (int i = 0; i < 100; i++) {
		xds_session_routes_changed(&session, now);
		pass_ms(100);
	}
	CHECK(server.count > 2 && server.count < 12);
	end();
}

static void
keepalive(void)
{
	begin();
	connect_and_push();
	pass_ms(30000);
	CHECK(server.peers[0].pings == 1 && status.connected);
	pass_ms(KEEPALIVE_TIMEOUT_MS);		/* it was answered */
	CHECK(status.connected);
	nghttp2_session_del(server.peers[0].session);
	server.peers[0].session = NULL;		/* it hangs from now on */
	pass_ms(20000);
	CHECK(status.connected);
	pass_ms(KEEPALIVE_TIMEOUT_MS);
	CHECK(!status.connected && status.reconnects[FEED_CAUSE_TIMEOUT] == 1);
	end();
}

static void
sleep_makes_suspicious(void)
{
	begin();
	connect_and_push();
	pass_ms(1000);
	xds_session_suspect(&session, now);
	settle();
	CHECK(server.peers[0].pings == 1 && status.connected);
	end();
}

static void
too_many_pings(void)
{
	begin();
	connect_and_push();
	server_goaway(&server.peers[0], NGHTTP2_ENHANCE_YOUR_CALM,
	    "too_many_pings");
	UNTIL(!status.connected);
	CHECK(session.ping_ms == 60000);
	end();
}

/* FEED X11: what another attempt will not heal is tried rarely. */
static void
lasting_refusals(void)
{
	begin();
	(void)asked(0, 0);
	server_refuse(&server.peers[0], "3", "missing%20node%0A");
	UNTIL(status.reconnects[FEED_CAUSE_STATUS] == 1);
	CHECK(strcmp(status.error, "InvalidArgument (3): missing node?") == 0);
	CHECK(errors == 1);
	pass_ms(14900);
	CHECK(server.count == 1);
	pass_ms(15100);
	UNTIL(server.count == 2);
	end();
}

/* INADEQUATE_SECURITY stands for PermissionDenied, and the server said none. */
static void
a_reset_is_no_refusal(void)
{
	begin();
	(void)asked(0, 0);
	server_reset(&server.peers[0], NGHTTP2_INADEQUATE_SECURITY);
	UNTIL(status.reconnects[FEED_CAUSE_RESET] == 1);
	CHECK(strstr(status.error, "PermissionDenied") != NULL);
	CHECK(errors == 0);
	pass_ms(1000);
	UNTIL(server.count == 2);
	end();
}

/* The disk is full: the table stays in memory until it is kept. */
static void
what_cannot_be_kept_is_offered_again(void)
{
	begin();
	(void)asked(0, 0);
	verdict = FEED_FAILED;
	push(0, "1", "one");
	CHECK(*asked(0, 1)->refusal == '\0');	/* there is no fault in it */
	CHECK(offers == 1 && !status.connected && *status.error != '\0');
	pass_ms(XDS_AGAIN_MS);
	CHECK(offers == 2 && !status.connected);
	verdict = FEED_APPLIED;
	pass_ms(2 * XDS_AGAIN_MS);
	CHECK(offers == 3 && strcmp(offered, "one") == 0);
	UNTIL(status.connected);
	CHECK(*status.error == '\0');
	pass_ms(60000);
	CHECK(offers == 3);
	end();
}

/* That says nothing of a stream that began since, and has brought nothing. */
static void
what_is_kept_late_connects_nobody(void)
{
	begin();
	(void)asked(0, 0);
	verdict = FEED_FAILED;
	push(0, "1", "one");
	(void)asked(0, 1);
	server.is_deaf = true;
	server_hang_up(&server.peers[0]);
	settle();
	pass_ms(BACKOFF_FIRST_MS);
	UNTIL(server.count == 2);
	verdict = FEED_APPLIED;
	pass_ms(XDS_AGAIN_MS - BACKOFF_FIRST_MS);
	CHECK(offers == 2 && !status.connected);
	CHECK(*status.error != '\0');
	end();
}

/* However fast a server repeats what is refused. */
static void
a_refusal_is_reported_once(void)
{
	begin();
	connect_and_push();
	verdict = FEED_REFUSED;
	for (unsigned int i = 2; i < 10; i++) {
		push(0, i % 2 == 0 ? "2" : "3", "two");
		(void)asked(0, i);
	}
	CHECK(status.nacks == 8 && errors == 1);
	end();
}

/* Each push is answered; how often one is kept has a bound. */
static void
a_mad_server_is_kept_slowly(void)
{
	const unsigned int pushes = 3000;
	char text[16] = "";

	begin();
	connect_and_push();
	for (unsigned int i = 0; i < pushes; i++) {
		(void)snprintf(text, sizeof(text), "%u", i);
		push(0, text, text);
		UNTIL(server.peers[0].count == i + 3);
		now = monotime_add_ms(now, 10);
	}
	printf("figure: %u tables in %u s: %u are kept\n", pushes,
	    pushes / 100, offers);
	CHECK(offers <= (XDS_KEEP_CREDIT_MS + pushes * 10) /
	    (XDS_KEEP_SHARE * XDS_KEEP_MS) + 2);
	CHECK(offers > pushes * 10 / (XDS_KEEP_SHARE * XDS_KEEP_MS));
	CHECK(status.connected && *status.error == '\0' && status.nacks == 0);
	pass_ms(XDS_KEEP_SHARE * XDS_KEEP_MS);
	CHECK(strcmp(offered, text) == 0);	/* the last one is kept */
	pass_ms(XDS_KEEP_CREDIT_MS);
	offers = 0;
	push(0, "rare", "rare");
	UNTIL(offers == 1);			/* and a rare one at once */
	end();
}

/* Nobody was there to refuse it when it was answered. */
static void
what_came_too_soon_may_be_bad(void)
{
	begin();
	connect_and_push();
	session.spent = monotime_add_ms(now, 2 * XDS_KEEP_CREDIT_MS);
	verdict = FEED_REFUSED;
	push(0, "2", "two");
	CHECK(*asked(0, 2)->refusal == '\0' && status.connected);
	CHECK(offers == 1);
	pass_ms(XDS_KEEP_CREDIT_MS);
	CHECK(offers == 2 && !status.connected && *status.error != '\0');
	pass_ms(XDS_REFUSED_MS);
	CHECK(asked(1, 0)->has_node);
	push(1, "3", "three");
	CHECK(*asked(1, 1)->refusal != '\0');
	end();
}

/* Nobody listens at the first two: each address is tried. */
static void
every_address_is_tried(void)
{
	char a[] = "127.99.0.1", b[] = "127.99.0.2", c[] = "127.0.0.1";
	char *addresses[] = { a, b, c };

	begin();
	(void)snprintf(target, sizeof(target), "istiod.test:%u", server.port);
	config.addresses = addresses;
	config.address_count = 3;
	connect_and_push();
	CHECK(strncmp(status.peer, "127.0.0.1:", 10) == 0);
	CHECK(status.attempts == 1);
	end();
	begin();
	config.addresses = addresses;
	config.address_count = 2;
	settle();
	CHECK(status.reconnects[FEED_CAUSE_CONNECT] >= 1);
	CHECK(strstr(status.error, "127.99.0.2") != NULL);
	end();
}

/* An address that lets us in and then gives nothing is not the next first. */
static void
a_mute_address_is_not_tried_first_again(void)
{
	char a[] = "127.0.0.1", b[] = "127.0.0.2";
	char *addresses[] = { a, b };

	begin();
	config.addresses = addresses;
	config.address_count = 2;
	(void)asked(0, 0);
	pass_ms(ADS_FIRST_MS);
	CHECK(status.reconnects[FEED_CAUSE_TIMEOUT] == 1);
	/* The server listens at the first one only. */
	pass_ms(1000);
	CHECK(session.turn == 1);
	(void)asked(1, 0);
	push(1, "1", "one");
	UNTIL(status.connected);
	CHECK(session.turn == 0);
	end();
}

static unsigned int
open_files(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* A server that closes at once, for a day of the clock's. */
static void
no_tight_loop_and_no_leak(void)
{
	unsigned int files = open_files();

	begin();
	server.hangs_up = true;
	for (int64_t s = 0; s < 86400; s++) {
		monotime_t due;

		round_of_both(session.current != NULL ? 1 : 0);
		due = xds_session_deadline(&session, now);
		if (session.current == NULL)
			now = monotime_is_past(due, now) ? due : now;
		if (monotime_to_ms(now) > 1000000 + 3600000)
			break;
	}
	printf("figure: %llu attempts an hour against a server that closes\n",
	    (unsigned long long)status.attempts);
	/* One in 15 s on average, and some more at the beginning. */
	CHECK(status.attempts > 180 && status.attempts < 330);
	CHECK(errors == 0);
	end();
	CHECK(open_files() == files);
}

/* The delay grows over streams that give a table and end at once. */
static void
short_lives_are_no_success(void)
{
	begin();
	for (unsigned int i = 0; i < 12; i++) {
		UNTIL(server.count == i + 1 && server.peers[i].count == 1);
		push(i, "1", "one");
		UNTIL(status.connected);
		server_hang_up(&server.peers[i]);
		UNTIL(!status.connected);
		now = monotime_is_past(session.retry, now) ? session.retry : now;
	}
	CHECK(session.backoff.ceiling_ms == BACKOFF_MOST_MS);
	UNTIL(server.peers[12].count == 1);
	push(12, "1", "one");
	UNTIL(status.connected);
	pass_ms(XDS_STEADY_MS);
	CHECK(session.backoff.ceiling_ms == 0);
	end();
}

int
main(void)
{
	TEST(asks_and_acks);
	TEST(nack_has_the_version_before);
	TEST(refused_tables_are_asked_for_again);
	TEST(held_tables_are_asked_for_again);
	TEST(a_reset_is_no_refusal);
	TEST(what_comes_at_once_is_one_table);
	TEST(strange_responses);
	TEST(garbage_ends_the_stream);
	TEST(goaway_is_followed_by_a_second_connection);
	TEST(old_connection_ends_first);
	TEST(second_connection_fails);
	TEST(resync);
	TEST(deadlines);
	TEST(a_table_that_drips);
	TEST(keepalive);
	TEST(routes_change);
	TEST(sleep_makes_suspicious);
	TEST(too_many_pings);
	TEST(lasting_refusals);
	TEST(what_cannot_be_kept_is_offered_again);
	TEST(a_mad_server_is_kept_slowly);
	TEST(what_came_too_soon_may_be_bad);
	TEST(what_is_kept_late_connects_nobody);
	TEST(a_refusal_is_reported_once);
	TEST(every_address_is_tried);
	TEST(a_mute_address_is_not_tried_first_again);
	TEST(no_tight_loop_and_no_leak);
	TEST(short_lives_are_no_success);
	return test_summary();
}
