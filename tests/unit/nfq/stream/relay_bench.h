/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Relays without a network: the client and the nameserver are the other ends of
 * socket pairs, and the time is the test's.
 */
#ifndef NFDNS_TESTS_UNIT_NFQ_STREAM_RELAY_BENCH_H
#define NFDNS_TESTS_UNIT_NFQ_STREAM_RELAY_BENCH_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/open.h"
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
	int client, server;		/* the test's ends; -1: none */
	unsigned int opened;		/* connections to the nameserver */
	int refuses;			/* the errno with which it does; or 0 */
	bool is_far;			/* connections to it are not made */
	int control[2];
};

static struct bench bench, *const b = &bench;
static struct table *table;
static struct audit *audit;

/* One name with an address, and one whose CNAME leaves the table. */
static inline struct table *
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

static inline void
make_pair(int pair[2])
{
	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
	    pair) == 0);
}

static inline void
drop(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* In place of sockets_open(). */
static inline int
open_server(const struct sockets_request *request, uint32_t mark)
{
	int pair[2];

	CHECK(request->kind == SOCKETS_CONNECTION && request->port == 53 &&
	    request->has_source && request->source[0] == 127 && mark == 0);
	if (b->refuses != 0)
		return -b->refuses;
	drop(&b->server);
	make_pair(pair);
	while (b->is_far && send(pair[0], "", 1, MSG_DONTWAIT) == 1)
		;			/* it cannot be written to */
	b->server = pair[1];
	b->opened++;
	return pair[0];
}

/* Whether one was opened since the last look. */
static inline bool
was_opened(void)
{
	const bool was = b->opened > 0;

	b->opened = 0;
	return was;
}

/* In place of the engine, which has it. */
static inline void
keep_asked(struct stream *s, struct stream_asked *question)
{
	CHECK(s == b->stream && question->state == STREAM_ASKED);
}

/* Rounds until nothing more happens. */
static inline void
run(void)
{
	struct epoll_event events[STREAM_EVENTS];
	int n;

	for (int i = 0; i < 20; i++) {
		n = epoll_wait(b->stream->epoll, events, STREAM_EVENTS, 0);
		stream_round(b->stream, events, n > 0 ? n : 0, b->now);
	}
}

static inline void
pass_ms(int64_t ms)
{
	b->now = monotime_add_ms(b->now, ms);
}

static inline void
begin(void)
{
	static const int none[STREAM_LISTENERS] = { -1, -1 };
	struct stream_arrival arrival;
	int pair[2];

	memset(b, 0, sizeof(*b));
	b->server = -1;
	b->now = monotime_from_ms(1000000);
	b->generation.settings.stream = (struct stream_settings){
		.connections = 6, .per_client = 4, .idle_s = 40 };
	forward_settings_defaults(&b->generation.settings.forward);
	b->status.workers = &b->slot;
	b->generation.settings.answers = (struct answer_settings){
		.negative_ttl = 5, .udp_size = 1232, .tcp = 1 };
	b->generation.table = table;
	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0, b->control) == 0);
	b->handover = (struct worker_handover){ .options.uid = geteuid(),
		.listeners = none,
		.control = b->control[0], .status = &b->status };
	answering_threads_init(&b->threads, &b->generation, audit, &b->slot);
	MUST(stream_new(&b->stream, &b->threads, &b->handover, 0) == 0);
	b->stream->open = open_server;
	b->stream->ask = keep_asked;
	make_pair(pair);
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
}

static inline void
end(void)
{
	stream_free(b->stream);
	drop(&b->client);
	drop(&b->server);
	drop(&b->control[0]);
	drop(&b->control[1]);
}

static inline uint64_t
counted(enum status_stream counter)
{
	return atomic_load(&b->slot.stream[counter]);
}

static inline size_t
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

static inline void
ask(const char *name, uint16_t type, uint16_t id)
{
	uint8_t out[300];
	const size_t length = put_question(out, name, type, id);

	CHECK(send(b->client, out, length, MSG_NOSIGNAL) == (ssize_t)length);
	run();
}

/* The next message at an end; its length, 0: none, -1: the end is over. */
static inline ssize_t
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

static inline void
say(int fd, const uint8_t *message, size_t length)
{
	uint8_t out[2000];

	wire_store_u16(out, (uint16_t)length);
	memcpy(out + 2, message, length);
	CHECK(send(fd, out, length + 2, MSG_NOSIGNAL) == (ssize_t)length + 2);
	run();
}

/* The nameserver gets a question with this id, and answers it. */
static inline void
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
static inline bool
receives(uint16_t id, unsigned int rcode)
{
	static uint8_t message[65536];
	const ssize_t length = take(b->client, message);

	return length >= 12 && wire_load_u16(message) == id &&
	    (message[2] & 0x80) != 0 && (message[3] & 15u) == rcode;
}

static inline bool
client_is_closed(void)
{
	uint8_t octet;

	run();
	return recv(b->client, &octet, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

/*
 * Upstreams are asked for the end of the chain of the question with that id, and this
 * is what becomes of it; STREAM_ANSWERED: a message with the response code.
 */
static inline void
answer_chain(uint16_t id, enum stream_asked_state end, unsigned int rcode)
{
	const struct dns_name target = name_of("target.public.example");
	struct stream_asked *asked = TAILQ_FIRST(&b->stream->asked);
	const struct chase *chase = asked != NULL ? asked->client.chase : NULL;
	uint8_t message[1000];

	CHECK(chase != NULL && wire_load_u16(asked->client.message) == id &&
	    memcmp(chase->chain + chase->target, target.octets,
	    target.length) == 0);
	if (chase == NULL)
		return;
	MUST(chase->length <= sizeof(message));
	memcpy(message, chase->chain, chase->length);
	message[3] |= (uint8_t)rcode;
	stream_ask_answer(b->stream, asked, end, message, chase->length);
	run();
}

#endif
