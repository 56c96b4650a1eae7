/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Relays without a network: the client, the nameserver and the process that
 * opens sockets are the other ends of socket pairs, and the time is the test's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/channel.h"
#include "nfq/stream/parts.h"
#include "nfq/stream/stream.h"
#include "policy/log.h"
#include "resolver/dns/wire.h"
#include "tests/check.h"
#include "tests/image.h"

#define QUESTION_END	(STREAM_PREFIX + 12)	/* where its name begins */
#define TRANSFER	252

struct bench {
	struct status_page status;
	struct status_worker slot;
	struct generation generation;
	struct worker_handover handover;
	struct answering_threads threads;
	struct stream *stream;
	monotime_t now;
	int client, server, channel;	/* the test's ends; -1: none */
	int control[2];
};

static struct bench bench, *const b = &bench;
static struct table *table;
static struct audit *audit;

/* One name with an address, and one whose CNAME leaves the table. */
static struct table *
make_table(void)
{
	struct mesh mesh = { .ttl = 30 };
	const struct dns_name target = name_of("target.public.example");
	const struct dns_name alias = name_of("alias.mesh.example");
	struct builder *builder;
	struct table *made;

	mesh.domain = name_of("cluster.local");
	builder = builder_new(&mesh);
	MUST(builder != NULL);
	MUST(add_address(builder, "shop.mesh.example", 0, "10.1.2.3") == 0);
	MUST(builder_add(builder, &alias, 0, TYPE_CNAME, 30, target.octets,
	    target.length, 1) == 0);
	made = table_of(builder);
	builder_free(builder);
	return made;
}

static void
make_pair(int type, int pair[2])
{
	const int on = 1;

	MUST(socketpair(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
	    pair) == 0);
	MUST(setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on,
	    sizeof(on)) == 0);
}

static void
drop(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static void
pass_ms(int64_t ms)
{
	b->now = monotime_add_ms(b->now, ms);
}

/* Rounds until nothing more happens. */
static void
run(void)
{
	struct epoll_event events[STREAM_EVENTS];
	int n;

	for (int i = 0; i < 20; i++) {
		n = epoll_wait(b->stream->epoll, events, STREAM_EVENTS, 0);
		stream_round(b->stream, events, n > 0 ? n : 0, b->now);
	}
}

static void
begin(bool sockets)
{
	static const int none[STREAM_LISTENERS] = { -1, -1 };
	struct stream_arrival arrival;
	int pair[2];

	memset(b, 0, sizeof(*b));
	b->server = b->channel = -1;
	b->now = monotime_from_ms(1000000);
	b->generation.settings.stream = (struct stream_settings){
		.connections = 6, .per_client = 4, .raw = 2, .raw_lifetime_s = 50,
		.in_flight = 8, .idle_s = 40, .message_s = 20, .unread_s = 30,
		.relay_s = 5, .buffer = 4096 };
	b->status.workers = &b->slot;
	b->generation.settings.answers = (struct answer_settings){
		.negative_ttl = 5, .udp_size = 1232, .tcp = 1 };
	b->generation.table = table;
	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0, b->control) == 0);
	b->handover = (struct worker_handover){ .options.uid = geteuid(),
		.listeners = none, .sockets = sockets,
		.control = b->control[0], .status = &b->status };
	answering_threads_init(&b->threads, &b->generation, audit, &b->slot);
	MUST(stream_new(&b->stream, &b->threads, &b->handover, 0) == 0);
	make_pair(SOCK_STREAM, pair);
	memset(&arrival, 0, sizeof(arrival));
	arrival.fd = pair[0];
	arrival.peer.v4.sin_family = arrival.name.v4.sin_family = AF_INET;
	arrival.peer.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	arrival.name.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	arrival.name.v4.sin_port = htons(53);
	b->client = pair[1];
	/* Outside of a round, as accept() is within one. */
	b->stream->thread.now = b->now;
	stream_arrive(b->stream, &arrival);
	if (!sockets)
		return;
	make_pair(SOCK_SEQPACKET, pair);
	b->channel = pair[1];
	stream_take_sockets(b->stream, pair[0]);
	run();
}

static void
end(void)
{
	stream_free(b->stream);
	drop(&b->client);
	drop(&b->server);
	drop(&b->channel);
	drop(&b->control[0]);
	drop(&b->control[1]);
}

static uint64_t
counted(enum status_stream counter)
{
	return atomic_load(&b->slot.stream[counter]);
}

static size_t
put_question(uint8_t *out, const char *text, uint16_t type, uint16_t id)
{
	const struct dns_name name = name_of(text);

	memset(out, 0, QUESTION_END);
	wire_store_u16(out, (uint16_t)(12 + name.length + 4));
	wire_store_u16(out + 2, id);
	out[4] = 1;				/* RD */
	out[7] = 1;				/* QDCOUNT */
	memcpy(out + QUESTION_END, name.octets, name.length);
	wire_store_u16(out + QUESTION_END + name.length, type);
	wire_store_u16(out + QUESTION_END + name.length + 2, CLASS_IN);
	return QUESTION_END + name.length + 4u;
}

static void
ask(const char *name, uint16_t type, uint16_t id)
{
	uint8_t out[300];
	const size_t length = put_question(out, name, type, id);

	CHECK(send(b->client, out, length, MSG_NOSIGNAL) == (ssize_t)length);
	run();
}

/* The process that opens sockets answers: a nameserver, or an error. */
static bool
open_server(int error)
{
	uint8_t octets[SOCKETS_ANSWER_LENGTH];
	struct sockets_received received;
	struct sockets_request request;
	int pair[2] = { -1, -1 };

	if (sockets_channel_receive(b->channel, &received) < 0)
		return false;
	CHECK(sockets_request_parse(&request, received.octets,
	    received.length) == 0);
	CHECK(request.kind == SOCKETS_CONNECTION && request.port == 53 &&
	    request.has_source && request.source[0] == 127);
	if (error == 0) {
		drop(&b->server);
		make_pair(SOCK_STREAM, pair);
		b->server = pair[1];
	}
	sockets_answer_write(error, octets);
	CHECK(sockets_channel_send(b->channel, octets, sizeof(octets),
	    pair[0]) == 0);
	drop(&pair[0]);
	run();
	return true;
}

/* The next message at an end; its length, 0: none, -1: the end is over. */
static ssize_t
take(int fd, uint8_t message[static 65536])
{
	uint8_t prefix[STREAM_PREFIX];
	ssize_t n = recv(fd, prefix, sizeof(prefix), MSG_DONTWAIT);

	if (n <= 0)
		return n == 0 ? -1 : 0;
	MUST(n == STREAM_PREFIX);
	n = recv(fd, message, wire_load_u16(prefix), MSG_DONTWAIT);
	MUST(n == wire_load_u16(prefix));
	return n;
}

static void
say(int fd, const uint8_t *message, size_t length)
{
	uint8_t out[2000];

	wire_store_u16(out, (uint16_t)length);
	memcpy(out + 2, message, length);
	CHECK(send(fd, out, length + 2, MSG_NOSIGNAL) == (ssize_t)length + 2);
	run();
}

/* The nameserver gets a question with this id, and answers it. */
static void
answer(uint16_t id)
{
	static uint8_t message[65536];
	const ssize_t length = take(b->server, message);

	CHECK(length > 12 && wire_load_u16(message) == id);
	if (length <= 12)
		return;
	message[2] |= 0x80;
	say(b->server, message, (size_t)length);
}

/* The client gets an answer with this id and response code. */
static bool
receives(uint16_t id, unsigned int rcode)
{
	static uint8_t message[65536];
	const ssize_t length = take(b->client, message);

	return length >= 12 && wire_load_u16(message) == id &&
	    (message[2] & 0x80) != 0 && (message[3] & 15u) == rcode;
}

static bool
client_is_closed(void)
{
	uint8_t octet;

	run();
	return recv(b->client, &octet, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

static void
questions_are_relayed(void)
{
	begin(true);
	ask("public.example", TYPE_A, 7);
	CHECK(open_server(0) && counted(STREAM_RELAYS) == 1);
	answer(7);
	CHECK(receives(7, RCODE_NOERROR));
	/* The same connection has the next one; mesh names need none. */
	ask("other.example", TYPE_A, 8);
	ask("shop.mesh.example", TYPE_A, 9);
	CHECK(receives(9, RCODE_NOERROR));
	answer(8);
	CHECK(receives(8, RCODE_NOERROR) && !open_server(0));
	CHECK(counted(STREAM_RELAYS) == 1);
	end();
}

static void
answers_come_in_pieces_or_to_nobody(void)
{
	uint8_t question[300];
	const size_t length = put_question(question, "public.example", TYPE_A,
	    7);

	begin(true);
	ask("public.example", TYPE_A, 7);
	CHECK(open_server(0));
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
static void
closed_after_answers_is_asked_again(void)
{
	begin(true);
	ask("one.example", TYPE_A, 1);
	ask("two.example", TYPE_A, 2);
	CHECK(open_server(0));
	answer(1);
	CHECK(receives(1, RCODE_NOERROR));
	drop(&b->server);
	run();
	CHECK(open_server(0));
	answer(2);
	CHECK(receives(2, RCODE_NOERROR) && counted(STREAM_RELAYS) == 2);
	/* Nothing waits: it may close, and is opened with the next one. */
	drop(&b->server);
	run();
	CHECK(!client_is_closed() && !open_server(0));
	ask("three.example", TYPE_A, 3);
	CHECK(open_server(0));
	answer(3);
	CHECK(receives(3, RCODE_NOERROR));
	end();
}

static void
closed_without_an_answer_is_a_failure(void)
{
	begin(true);
	ask("one.example", TYPE_A, 1);
	ask("two.example", TYPE_A, 2);
	CHECK(open_server(0));
	drop(&b->server);
	run();
	CHECK(receives(1, RCODE_SERVFAIL) && receives(2, RCODE_SERVFAIL));
	CHECK(counted(STREAM_UNREACHABLE) == 2 && !client_is_closed());
	end();
}

static void
refused_is_a_failure(void)
{
	begin(true);
	ask("one.example", TYPE_A, 1);
	CHECK(open_server(ECONNREFUSED) && receives(1, RCODE_SERVFAIL));
	/* No process opens sockets any more. */
	drop(&b->channel);
	run();
	ask("two.example", TYPE_A, 2);
	CHECK(!receives(2, RCODE_SERVFAIL));
	stream_take_sockets(b->stream, -1);
	run();
	CHECK(receives(2, RCODE_SERVFAIL));
	end();
}

static void
nameservers_have_their_time(void)
{
	begin(true);
	ask("one.example", TYPE_A, 1);
	pass_ms(4900);
	run();
	CHECK(!receives(1, RCODE_SERVFAIL));
	pass_ms(300);			/* without a connection */
	run();
	CHECK(receives(1, RCODE_SERVFAIL));
	CHECK(open_server(0));		/* comes too late for anybody */
	ask("two.example", TYPE_A, 2);
	CHECK(open_server(0));
	pass_ms(4900);
	run();
	CHECK(!receives(2, RCODE_SERVFAIL));
	pass_ms(300);			/* without an answer */
	run();
	CHECK(receives(2, RCODE_SERVFAIL) && counted(STREAM_UNREACHABLE) == 2);
	/* One that has nothing to answer may take its time. */
	ask("three.example", TYPE_A, 3);
	CHECK(open_server(0));
	answer(3);
	CHECK(receives(3, RCODE_NOERROR));
	pass_ms(20000);
	run();
	CHECK(!client_is_closed());
	end();
}

/* Questions above stream.in_flight wait in the client's socket. */
static void
questions_in_flight_are_bounded(void)
{
	begin(true);
	for (uint16_t id = 0; id < 12; id++)
		ask("public.example", TYPE_A, id);
	CHECK(counted(STREAM_QUESTIONS) == 8 &&
	    counted(STREAM_THROTTLED) == 1);
	CHECK(open_server(0));
	for (uint16_t id = 0; id < 12; id++) {
		answer(id);
		CHECK(receives(id, RCODE_NOERROR));
	}
	end();
}

/* A client that does not read holds up its nameserver, but does not end it. */
static void
unread_answers_wait(void)
{
	static uint8_t large[65535], prefix[2] = { 0xff, 0xff };
	const int small = 1;
	size_t sent = 0, got = 0;
	ssize_t n;

	begin(true);
	MUST(setsockopt(TAILQ_FIRST(&b->stream->all)->client.fd, SOL_SOCKET, SO_SNDBUF,
	    &small, sizeof(small)) == 0);
	ask("one.example", TYPE_A, 1);
	ask("two.example", TYPE_A, 2);
	CHECK(open_server(0));
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

/* The nameserver gets the chain's target, and says this about it. */
static void
answer_target(uint16_t id, unsigned int rcode, bool other)
{
	static uint8_t message[65536];
	const struct dns_name target = name_of("target.public.example");
	const ssize_t length = take(b->server, message);

	CHECK(length > 12 && wire_load_u16(message) == id &&
	    memcmp(message + 12, target.octets, target.length) == 0);
	if (length <= 12)
		return;
	message[2] |= 0x80;
	message[3] = (uint8_t)rcode;
	if (other)
		message[13] ^= 1;
	say(b->server, message, (size_t)length);
}

static void
chains_are_completed(void)
{
	begin(true);
	ask("alias.mesh.example", TYPE_A, 5);
	CHECK(open_server(0));
	answer_target(5, RCODE_NXDOMAIN, false);
	CHECK(receives(5, RCODE_NXDOMAIN));
	/* An answer to another question is none. */
	ask("alias.mesh.example", TYPE_A, 6);
	answer_target(6, RCODE_NOERROR, true);
	CHECK(receives(6, RCODE_SERVFAIL));
	/* Ids are told apart: a question of the client has 7 already. */
	ask("one.example", TYPE_A, 7);
	ask("alias.mesh.example", TYPE_A, 7);
	answer(7);
	CHECK(receives(7, RCODE_NOERROR));
	answer_target(0, RCODE_NOERROR, false);
	CHECK(receives(7, RCODE_NOERROR));
	drop(&b->server);
	run();
	ask("alias.mesh.example", TYPE_A, 8);
	CHECK(open_server(ENETUNREACH) && receives(8, RCODE_SERVFAIL));
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

/* Without another process: the relay connects by itself. */
static void
own_connections(void)
{
	struct sockaddr_in name = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(name);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	MUST(bind(listener, (struct sockaddr *)&name, size) == 0);
	MUST(listen(listener, 1) == 0);
	MUST(getsockname(listener, (struct sockaddr *)&name, &size) == 0);
	begin(false);
	TAILQ_FIRST(&b->stream->all)->name.v4.sin_port = name.sin_port;
	ask("one.example", TYPE_A, 1);
	b->server = accept(listener, NULL, NULL);
	CHECK(b->server >= 0);
	run();
	answer(1);
	run();
	CHECK(receives(1, RCODE_NOERROR));
	drop(&b->server);
	drop(&listener);
	run();
	/* Now nobody listens there. */
	ask("two.example", TYPE_A, 2);
	run();
	CHECK(receives(2, RCODE_SERVFAIL));
	/* An address that no connection can go to. */
	TAILQ_FIRST(&b->stream->all)->name.v4.sin_addr.s_addr = htonl(INADDR_BROADCAST);
	ask("three.example", TYPE_A, 3);
	CHECK(receives(3, RCODE_SERVFAIL));
	ask("alias.mesh.example", TYPE_A, 4);
	CHECK(receives(4, RCODE_SERVFAIL));
	ask("zone.example", TRANSFER, 5);
	CHECK(client_is_closed());
	end();
}

/* Wherever the client goes, nothing is left. */
static void
clients_go_at_any_time(void)
{
	static const char *const names[] = { "one.example",
		"alias.mesh.example" };

	for (int when = 0; when < 8; when++) {
		begin(true);
		ask(names[when & 1], TYPE_A, 1);
		if (when & 2)
			CHECK(open_server(0));
		if (when & 4)
			ask("zone.example", TRANSFER, 2);
		drop(&b->client);
		run();
		/* Seen at the latest when the nameserver's time is over. */
		pass_ms(6000);
		run();
		CHECK(b->stream->count == 0);
		(void)open_server(0);
		end();
	}
}

int
main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	table = make_table();
	MUST(audit_start(&audit, 1, NULL) == 0);
	TEST(questions_are_relayed);
	TEST(answers_come_in_pieces_or_to_nobody);
	TEST(closed_after_answers_is_asked_again);
	TEST(closed_without_an_answer_is_a_failure);
	TEST(refused_is_a_failure);
	TEST(nameservers_have_their_time);
	TEST(questions_in_flight_are_bounded);
	TEST(unread_answers_wait);
	TEST(transfers_are_raw);
	TEST(raw_connections_end_with_their_nameserver);
	TEST(raw_octets_wait);
	TEST(chains_are_completed);
	TEST(raw_waits_for_chains);
	TEST(own_connections);
	TEST(clients_go_at_any_time);
	audit_stop(audit, 1000);
	return test_summary();
}
