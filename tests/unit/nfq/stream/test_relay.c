/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions of a TCP client that a nameserver answers. */
#include "tests/unit/nfq/stream/relay_bench.h"

TEST(questions_are_relayed)
{
	begin();
	ask("public.example", TYPE_A, 7);
	CHECK(was_opened() && counted(STREAM_RELAYS) == 1);
	answer(7);
	CHECK(receives(7, RCODE_NOERROR));
	/* The same connection has the next one; mesh names need none. */
	ask("other.example", TYPE_A, 8);
	ask("shop.mesh.example", TYPE_A, 9);
	CHECK(receives(9, RCODE_NOERROR));
	answer(8);
	CHECK(receives(8, RCODE_NOERROR) && !was_opened());
	CHECK(counted(STREAM_RELAYS) == 1);
	end();
}

TEST(answers_come_in_pieces_or_to_nobody)
{
	uint8_t question[300];
	const size_t length = put_question(question, "public.example", TYPE_A,
	    7);

	begin();
	ask("public.example", TYPE_A, 7);
	CHECK(was_opened());
	/* Another id, and no id at all: dropped. */
	question[4] |= 0x80;
	wire_store_u16(question + 2, 6);
	say(b->server, question + 2, length - 2);
	say(b->server, (const uint8_t *)"x", 1);
	CHECK(!receives(6, 0));
	wire_store_u16(question + 2, 7);
	for (size_t i = 0; i < length; i++) {
		CHECK(send(b->server, question + i, 1, MSG_NOSIGNAL) == 1);
		run();
	}
	CHECK(receives(7, RCODE_NOERROR));
	end();
}

/* A nameserver may close a connection that it has answered on. */
TEST(closed_after_answers_is_asked_again)
{
	begin();
	ask("one.example", TYPE_A, 1);
	ask("two.example", TYPE_A, 2);
	CHECK(was_opened());
	answer(1);
	CHECK(receives(1, RCODE_NOERROR));
	drop(&b->server);
	run();
	CHECK(was_opened());
	answer(2);
	CHECK(receives(2, RCODE_NOERROR) && counted(STREAM_RELAYS) == 2);
	/* Nothing waits: it may close, and is opened with the next one. */
	drop(&b->server);
	run();
	CHECK(!client_is_closed() && !was_opened());
	ask("three.example", TYPE_A, 3);
	CHECK(was_opened());
	answer(3);
	CHECK(receives(3, RCODE_NOERROR));
	end();
}

TEST(closed_without_an_answer_is_a_failure)
{
	begin();
	ask("one.example", TYPE_A, 1);
	ask("two.example", TYPE_A, 2);
	CHECK(was_opened());
	drop(&b->server);
	run();
	CHECK(receives(1, RCODE_SERVFAIL) && receives(2, RCODE_SERVFAIL));
	CHECK(counted(STREAM_UNREACHABLE) == 2 && !client_is_closed());
	end();
}

TEST(refused_is_a_failure)
{
	begin();
	b->refuses = ECONNREFUSED;
	ask("one.example", TYPE_A, 1);
	CHECK(receives(1, RCODE_SERVFAIL));
	b->refuses = 0;
	ask("two.example", TYPE_A, 2);
	answer(2);
	CHECK(receives(2, RCODE_NOERROR));
	end();
}

TEST(nameservers_have_their_time)
{
	begin();
	b->is_far = true;
	ask("one.example", TYPE_A, 1);
	CHECK(was_opened());
	pass_ms(4900);
	run();
	CHECK(!receives(1, RCODE_SERVFAIL));
	pass_ms(300);			/* without a connection */
	run();
	CHECK(receives(1, RCODE_SERVFAIL));
	b->is_far = false;
	ask("two.example", TYPE_A, 2);
	CHECK(was_opened());
	pass_ms(4900);
	run();
	CHECK(!receives(2, RCODE_SERVFAIL));
	pass_ms(300);			/* without an answer */
	run();
	CHECK(receives(2, RCODE_SERVFAIL) && counted(STREAM_UNREACHABLE) == 2);
	/* One that has nothing to answer may take its time. */
	ask("three.example", TYPE_A, 3);
	CHECK(was_opened());
	answer(3);
	CHECK(receives(3, RCODE_NOERROR));
	pass_ms(20000);
	run();
	CHECK(!client_is_closed());
	end();
}

/* Questions above STREAM_IN_FLIGHT wait in the client's socket. */
TEST(questions_in_flight_are_bounded)
{
	begin();
	for (uint16_t id = 0; id < STREAM_IN_FLIGHT + 4; id++)
		ask("public.example", TYPE_A, id);
	CHECK(counted(STREAM_QUESTIONS) == STREAM_IN_FLIGHT &&
	    counted(STREAM_THROTTLED) == 1);
	CHECK(was_opened());
	for (uint16_t id = 0; id < STREAM_IN_FLIGHT + 4; id++) {
		answer(id);
		CHECK(receives(id, RCODE_NOERROR));
	}
	end();
}

/* A client that does not read holds up its nameserver, but does not end it. */
TEST(unread_answers_wait)
{
	static uint8_t large[65535], prefix[2] = { 0xff, 0xff };
	const int small = 1;
	size_t sent = 0, got = 0;
	ssize_t n;

	begin();
	MUST(setsockopt(TAILQ_FIRST(&b->stream->all)->client.fd, SOL_SOCKET, SO_SNDBUF,
	    &small, sizeof(small)) == 0);
	ask("one.example", TYPE_A, 1);
	ask("two.example", TYPE_A, 2);
	CHECK(was_opened());
	wire_store_u16(large, 1);
	large[2] = 0x80;
	CHECK(send(b->server, prefix, 2, MSG_NOSIGNAL) == 2);
	while (sent < sizeof(large)) {
		n = send(b->server, large + sent, sizeof(large) - sent,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
		sent += n > 0 ? (size_t)n : 0;
		run();
	}
	CHECK(stream_buffer_length(&TAILQ_FIRST(&b->stream->all)->out) > 0);
	pass_ms(6000);
	run();
	CHECK(counted(STREAM_UNREACHABLE) == 0);
	while (got < sizeof(large) + 2) {
		n = recv(b->client, large, sizeof(large), MSG_DONTWAIT);
		MUST(n > 0);
		got += (size_t)n;
		run();
	}
	CHECK(got == sizeof(large) + 2 && !client_is_closed());
	end();
}

/* Upstreams are asked for their ends; errors keep the chain. */
TEST(chains_are_completed)
{
	begin();
	ask("alias.mesh.example", TYPE_A, 5);
	ask("alias.mesh.example", TYPE_A, 5);
	answer_chain(5, STREAM_ANSWERED, RCODE_NXDOMAIN);
	CHECK(receives(5, RCODE_NXDOMAIN));
	answer_chain(5, STREAM_ANSWERED, RCODE_NOERROR);
	CHECK(receives(5, RCODE_NOERROR));
	/* Nobody else is asked for what upstreams do not have. */
	ask("alias.mesh.example", TYPE_A, 6);
	answer_chain(6, STREAM_FAILED, 0);
	CHECK(receives(6, RCODE_SERVFAIL));
	ask("alias.mesh.example", TYPE_A, 7);
	answer_chain(7, STREAM_PASSED, 0);
	CHECK(receives(7, RCODE_SERVFAIL) && !was_opened());
	CHECK(counted(STREAM_UNREACHABLE) == 2);
	end();
}

/* Of those, but none that is too long to wait; the nameserver has what passes. */
TEST(domains_are_asked_upstreams)
{
	static uint8_t octets[5000];
	struct forward_settings *forward;
	struct stream_asked *asked;

	begin();
	forward = &b->generation.settings.forward;
	forward->domains = 1;
	forward->domain[0] = (struct forward_domain){
		.name = "\4corp\7example" };
	ask("www.corp.example", TYPE_A, 1);
	ask("else.example", TYPE_A, 2);
	CHECK(was_opened());
	answer(2);
	CHECK(receives(2, RCODE_NOERROR));
	asked = TAILQ_FIRST(&b->stream->asked);
	MUST(asked != NULL);
	CHECK(asked->client.chase == NULL);
	stream_ask_answer(b->stream, asked, STREAM_PASSED, NULL, 0);
	CHECK(TAILQ_FIRST(&b->stream->asked) == NULL);
	run();
	answer(1);
	CHECK(receives(1, RCODE_NOERROR));
	memset(octets, 0, sizeof(octets));
	(void)put_question(octets, "long.corp.example", TYPE_A, 3);
	wire_store_u16(octets, sizeof(octets) - 2);
	CHECK(send(b->client, octets, sizeof(octets), MSG_NOSIGNAL) ==
	    sizeof(octets));
	run();
	CHECK(receives(3, RCODE_SERVFAIL));
	end();
}

/* Wherever the client goes, nothing is left. */
TEST(clients_go_at_any_time)
{
	static const char *const names[] = { "one.example",
		"alias.mesh.example" };

	for (int when = 0; when < 8; when++) {
		begin();
		b->is_far = when & 2;
		ask(names[when & 1], TYPE_A, 1);
		if (when & 4)
			ask("zone.example", TRANSFER, 2);
		drop(&b->client);
		run();
		/* Seen at the latest when the nameserver's time is over. */
		pass_ms(6000);
		run();
		CHECK(b->stream->count == 0);
		if (when & 1)
			answer_chain(1, STREAM_ANSWERED, RCODE_NOERROR);
		end();
	}
}

/*
 * Zone transfers and what nobody understands: answers are not matched to questions
 * from then on, but what the client sends is judged as before.
 */
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
