/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Zone transfers and what nobody understands: answers are not matched to questions
 * from then on, but what the client sends is judged as before.
 */
#include "tests/unit/nfq/stream/relay_bench.h"

static uint8_t octets[300000];

TEST(transfers_are_raw)
{
	begin();
	ask("one.example", TYPE_A, 1);		/* goes first, as it is */
	ask("zone.example", TRANSFER, 2);
	CHECK(counted(STREAM_RAW) == 1 && was_opened());
	CHECK(take(b->server, octets) > 0);
	CHECK(take(b->server, octets) > 0);
	/* Any messages come back, whole, none of them asked for. */
	CHECK(send(b->server, "\0\3abc\0\4de", 9, MSG_NOSIGNAL) == 9);
	run();
	CHECK(recv(b->client, octets, 100, MSG_DONTWAIT) == 5);
	CHECK(send(b->server, "fg", 2, MSG_NOSIGNAL) == 2);
	run();
	CHECK(recv(b->client, octets, 100, MSG_DONTWAIT) == 6 &&
	    memcmp(octets, "\0\4defg", 6) == 0);
	/* Names of the table are answered here as ever. */
	ask("shop.mesh.example", TYPE_A, 3);
	CHECK(receives(3, RCODE_NOERROR));
	/* The client's end is passed on; the other way is still open. */
	MUST(shutdown(b->client, SHUT_WR) == 0);
	run();
	CHECK(recv(b->server, octets, 100, MSG_DONTWAIT) == 0);
	CHECK(send(b->server, "\0\3end", 5, MSG_NOSIGNAL) == 5);
	drop(&b->server);
	run();
	CHECK(recv(b->client, octets, 100, MSG_DONTWAIT) == 5);
	CHECK(client_is_closed());
	end();
}

TEST(raw_connections_end_with_their_nameserver)
{
	begin();
	b->refuses = ECONNREFUSED;
	ask("zone.example", TRANSFER, 1);
	CHECK(client_is_closed());
	end();
	begin();
	ask("zone.example", TRANSFER, 1);
	CHECK(was_opened());
	drop(&b->server);
	CHECK(client_is_closed());
	end();
}

/* What a raw nameserver does not read is not read from the client. */
TEST(raw_messages_wait)
{
	size_t sent = 0, got = 0;
	ssize_t n;

	begin();
	ask("zone.example", TRANSFER, 1);
	CHECK(was_opened() && take(b->server, octets) > 0);
	/* Messages of 1,022 octets that are no DNS. */
	for (size_t i = 0; i < sizeof(octets); i += 1024)
		memcpy(octets + i, "\3\376", 2);
	while (sent < sizeof(octets)) {
		n = send(b->client, octets + sent % 1024, 1024 - sent % 1024,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0)
			break;
		sent += (size_t)n;
		run();
	}
	do {
		n = recv(b->server, octets, sizeof(octets), MSG_DONTWAIT);
		got += n > 0 ? (size_t)n : 0;
		run();
	} while (n > 0);
	CHECK(got == sent - sent % 1024 && got > 0);
	end();
}

/* However busy they are, they have an end. */
TEST(raw_connections_have_an_end)
{
	begin();
	ask("zone.example", TRANSFER, 1);
	CHECK(was_opened());
	for (int passed = 0; passed < STREAM_RAW_S - 30; passed += 30) {
		ask("zone.example", TRANSFER, 2);
		pass_ms(30000);
		run();
	}
	CHECK(!client_is_closed() && counted(STREAM_RAW_EXPIRED) == 0);
	ask("zone.example", TRANSFER, 2);
	pass_ms(30000);
	run();
	CHECK(client_is_closed() && counted(STREAM_RAW_EXPIRED) == 1);
	end();
}

/* The target's answer is none to the client, whatever else comes. */
TEST(chains_are_matched_beside)
{
	begin();
	ask("alias.mesh.example", TYPE_A, 5);
	ask("zone.example", TRANSFER, 6);
	CHECK(was_opened() && counted(STREAM_RAW) == 1);
	CHECK(send(b->server, "\0\4\0\5zz", 6, MSG_NOSIGNAL) == 6);
	run();
	CHECK(recv(b->client, octets, 100, MSG_DONTWAIT) == 6);
	answer_chain(5, STREAM_ANSWERED, RCODE_NOERROR);
	CHECK(receives(5, RCODE_NOERROR));
	end();
}

int
main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	table = make_table();
	MUST(audit_start(&audit, 1) == 0);
	test_run();
	audit_stop(audit, 1000);
	return test_summary();
}
