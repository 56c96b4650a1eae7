/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of a session: acknowledged, refused, offered again. */
#include "tests/unit/resolver/feed/session.h"

/* FEED X6: no version and no nonce at first, and each answer once. */
TEST(asks_and_acks)
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

TEST(nack_has_the_version_before)
{
	const struct asked *a;

	begin();
	connect_and_push();
	push(0, "2", "!garbage");
	a = asked(0, 2);
	CHECK(strcmp(a->version, "1") == 0 && strcmp(a->nonce, "nonce-2") == 0);
	CHECK(strstr(a->refusal, "it is not a name table, from octet "));
	CHECK(status.nacks == 1 && *status.error != '\0');
	CHECK(!status.connected);		/* to what it would have us use */
	settle();
	CHECK(server.peers[0].count == 3);
	end();
}

/* Nothing but a new stream makes istiod repeat what was refused. */
TEST(refused_tables_are_asked_for_again)
{
	begin();
	connect_and_push();
	push(0, "2", "!garbage");
	UNTIL(status.nacks == 1);
	pass_ms(XDS_REFUSED_MS / 2 - 1);
	CHECK(server.count == 1);
	pass_ms(XDS_REFUSED_MS / 2 + 1);
	CHECK(asked(1, 0)->has_node);
	push(1, "3", "two");
	UNTIL(status.connected && server.peers[0].cancelled);
	CHECK(*status.error == '\0');
	end();
}

TEST(what_comes_at_once)
{
	begin();
	CHECK(asked(0, 0)->has_node);
	push(0, "1", "one");
	push(0, "2", "two");
	push(0, "3", "three");
	CHECK(strcmp(asked(0, 3)->nonce, "nonce-3") == 0);
	CHECK(strcmp(offered, "three") == 0);
	end();
}

TEST(strange_responses)
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

/* The disk is full: the table stays in memory until it is kept. */
TEST(what_cannot_be_kept_is_offered_again)
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
TEST(what_is_kept_late_connects_nobody)
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
TEST(a_refusal_is_reported_once)
{
	begin();
	connect_and_push();
	for (unsigned int i = 2; i < 10; i++) {
		push(0, i % 2 == 0 ? "2" : "3", "!garbage");
		(void)asked(0, i);
	}
	CHECK(status.nacks == 8 && errors == 1);
	end();
}

/* What was accepted is kept, whatever comes before its time has come. */
TEST(item_25_what_was_accepted_is_kept)
{
	begin();
	connect_and_push();
	verdict = FEED_FAILED;
	push(0, "2", "two");
	CHECK(*asked(0, 2)->refusal == '\0');
	push(0, "3", "!garbage");
	CHECK(*asked(0, 3)->refusal != '\0' && offers == 2);
	verdict = FEED_APPLIED;
	pass_ms(XDS_AGAIN_MS);
	CHECK(offers == 3 && strcmp(offered, "two") == 0);
	end();
}

TEST(item_25_at_the_end)
{
	begin();
	connect_and_push();
	verdict = FEED_FAILED;
	push(0, "2", "two");
	CHECK(*asked(0, 2)->refusal == '\0' && offers == 2);
	end();
	CHECK(offers == 3 && strcmp(offered, "two") == 0);
}

/*
 * While a table waits to be kept, one that has no room beside it is not taken from
 * the server; however much that sends, and whatever else it asks, the stream lives.
 */
TEST(item_28_a_table_waits_for_room)
{
	char one[700], other[700];

	memset(one, '1', sizeof(one) - 1);
	memset(other, '2', sizeof(other) - 1);
	one[sizeof(one) - 1] = other[sizeof(other) - 1] = '\0';
	begin();
	config.limit = 1000;
	verdict = FEED_FAILED;
	CHECK(asked(0, 0)->has_node);
	push(0, "1", one);
	CHECK(strcmp(asked(0, 1)->nonce, "nonce-1") == 0);
	push(0, "2", other);
	push(0, "3", "three");
	settle();
	CHECK(server.peers[0].count == 2 && status.pushes == 1 && offers == 1);
	/* The one that waits is tried again, for longer than a table may take. */
	for (int i = 0; i < 4; i++)
		pass_ms(ADS_PROGRESS_MS / 2);
	CHECK(server.count == 1 && offers > 1 && offered[0] == '1');
	CHECK(server.peers[0].count == 2);
	verdict = FEED_APPLIED;
	pass_ms(XDS_AGAIN_MOST_MS);
	CHECK(strcmp(asked(0, 2)->nonce, "nonce-2") == 0);
	CHECK(strcmp(asked(0, 3)->nonce, "nonce-3") == 0);
	UNTIL(strcmp(offered, "three") == 0);
	CHECK(status.pushes == 3 && server.count == 1);
	config.limit = 0;
	end();
}
