/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zone transfers, after which a connection is copied as it is: raw. */
#include "tests/unit/nfq/stream/relay_bench.h"

static void
transfers_are_raw(void)
{
	uint8_t octets[100];

	begin(true);
	ask("one.example", TYPE_A, 1);		/* goes first, as it is */
	ask("zone.example", TRANSFER, 2);
	CHECK(counted(STREAM_RAW) == 1 && open_server(0));
	CHECK(take(b->server, (uint8_t[65536]){ 0 }) > 0);
	CHECK(take(b->server, (uint8_t[65536]){ 0 }) > 0);
	CHECK(send(b->client, "any octets", 10, MSG_NOSIGNAL) == 10);
	run();
	CHECK(recv(b->server, octets, 100, MSG_DONTWAIT) == 10 &&
	    memcmp(octets, "any octets", 10) == 0);
	CHECK(send(b->server, "and back", 8, MSG_NOSIGNAL) == 8);
	run();
	CHECK(recv(b->client, octets, 100, MSG_DONTWAIT) == 8);
	/* The client's end is passed on; the other way is still open. */
	MUST(shutdown(b->client, SHUT_WR) == 0);
	run();
	CHECK(recv(b->server, octets, 100, MSG_DONTWAIT) == 0);
	CHECK(send(b->server, "the rest", 8, MSG_NOSIGNAL) == 8);
	drop(&b->server);
	run();
	CHECK(recv(b->client, octets, 100, MSG_DONTWAIT) == 8);
	CHECK(client_is_closed());
	end();
}

static void
raw_connections_end_with_their_nameserver(void)
{
	begin(true);
	ask("zone.example", TRANSFER, 1);
	CHECK(open_server(ECONNREFUSED) && client_is_closed());
	end();
	begin(true);
	ask("zone.example", TRANSFER, 1);
	CHECK(open_server(0));
	drop(&b->server);
	CHECK(client_is_closed());
	end();
	/* Part of an answer that was read before belongs to the client. */
	begin(true);
	ask("one.example", TYPE_A, 1);
	CHECK(open_server(0));
	CHECK(take(b->server, (uint8_t[65536]){ 0 }) > 0);
	CHECK(send(b->server, "\0\20abc", 5, MSG_NOSIGNAL) == 5);
	run();
	ask("zone.example", TRANSFER, 2);
	CHECK(recv(b->client, (uint8_t[10]){ 0 }, 10, MSG_DONTWAIT) == 5);
	end();
}

/* What a raw nameserver does not read is not read from the client. */
static void
raw_octets_wait(void)
{
	static uint8_t octets[300000];
	size_t sent = 0, got = 0;
	ssize_t n;

	begin(true);
	ask("zone.example", TRANSFER, 1);
	CHECK(open_server(0) && take(b->server, octets) > 0);
	while (sent < sizeof(octets)) {
		n = send(b->client, octets + sent, sizeof(octets) - sent,
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
	CHECK(got == sent && got > 0);
	/* It breaks while octets wait for it. */
	MUST(shutdown(b->server, SHUT_RD) == 0);
	CHECK(send(b->client, octets, 100, MSG_NOSIGNAL) == 100);
	CHECK(client_is_closed());
	end();
}

/* Nothing is raw before the target's answer, which is none to the client. */
static void
raw_waits_for_chains(void)
{
	begin(true);
	ask("alias.mesh.example", TYPE_A, 5);
	ask("zone.example", TRANSFER, 6);
	CHECK(open_server(0) && counted(STREAM_RAW) == 0);
	answer_target(5, RCODE_NOERROR, false);
	CHECK(receives(5, RCODE_NOERROR) && counted(STREAM_RAW) == 1);
	CHECK(take(b->server, (uint8_t[65536]){ 0 }) > 0);
	end();
}

int
main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	table = make_table();
	MUST(audit_start(&audit, 1, NULL) == 0);
	TEST(transfers_are_raw);
	TEST(raw_connections_end_with_their_nameserver);
	TEST(raw_octets_wait);
	TEST(raw_waits_for_chains);
	audit_stop(audit, 1000);
	return test_summary();
}
