/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The connections of a session: every state, and every way out. */
#include <fcntl.h>
#include <stdlib.h>

#include "resolver/feed/http2.h"
#include "tests/unit/resolver/feed/session.h"

TEST(garbage_ends_the_stream)
{
	begin();
	connect_and_push();
	server_send(&server.peers[0], "\0\0\0\0\4\xff\xff\xff\xff", 9);
	UNTIL(status.reconnects[FEED_CAUSE_CONTENT] == 1);
	CHECK(offers == 1 && !status.connected);
	end();
}

/* Make before break: FEED 1.7. */
TEST(goaway_is_followed_by_a_second_connection)
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
TEST(old_connection_ends_first)
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

TEST(second_connection_fails)
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
TEST(resync)
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

TEST(deadlines)
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
TEST(a_table_that_drips)
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

TEST(keepalive)
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

TEST(too_many_pings)
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
TEST(lasting_refusals)
{
	begin();
	(void)asked(0, 0);
	server_refuse(&server.peers[0], "3", "missing%20node%0A");
	UNTIL(status.reconnects[FEED_CAUSE_STATUS] == 1);
	CHECK(strcmp(status.error, "InvalidArgument (3): missing node\\x0a") == 0);
	CHECK(errors == 1);
	pass_ms(14900);
	CHECK(server.count == 1);
	pass_ms(15100);
	UNTIL(server.count == 2);
	end();
}

/* INADEQUATE_SECURITY stands for PermissionDenied, and the server said none. */
TEST(a_reset_is_no_refusal)
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

/* Nobody listens at the first two: each address is tried. */
TEST(every_address_is_tried)
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
TEST(a_mute_address_is_not_tried_first_again)
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
TEST(no_tight_loop_and_no_leak)
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
TEST(short_lives_are_no_success)
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
