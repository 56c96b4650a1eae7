/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A queue thread's part of asking, with packets that the test makes and two servers on
 * the loopback interface: the first over IPv4, the second over IPv6.
 */
#ifndef NFDNS_TESTS_EXPRESS_H
#define NFDNS_TESTS_EXPRESS_H

#include "nfq/forward/express_state.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "nfq/sockets/address.h"
#include "nfq/sockets/open.h"
#include "resolver/dns/message.h"
#include "tests/check.h"
#include "tests/loopback.h"
#include "tests/packets.h"

#define GENERATION	7
#define WAIT_MS		10000
#define ROUNDS		256
#define FILES		(2 * EXPRESS_QUESTIONS)

/* A server, and the last question that it has got. */
static struct server {
	int fd;
	union sockets_address client;
	socklen_t size;
	uint8_t octets[512];
	size_t length;
} servers[2];

static struct forward_settings settings;
static struct express_board *board;
static struct express *x;
static struct upstreams upstreams;
static _Atomic uint64_t held;
static int queue;
static unsigned int most = 2 * EXPRESS_QUESTIONS;
static uint8_t octets[1024];	/* of the packet */
static struct queue_packet packet;
static struct interception in;
static struct express_ask asked;
static uint8_t out[QUEUE_REPLY_MAX];

static inline void
serve(unsigned int number, int family)
{
	const struct timeval wait = { .tv_sec = WAIT_MS / 1000 };
	const int fd = loopback_server(family, &settings.upstream[number]);

	MUST(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait,
	    sizeof(wait)) == 0);
	servers[number].fd = fd;
}

/* Both servers are near; that one alone may be asked (-1: none), by these settings. */
static inline void
prefer(int upstream, uint64_t generation)
{
	for (int i = 0; i < 2; i++) {
		upstreams.upstream[i].srtt_us = 5000;
		upstreams.upstream[i].lost = i != upstream;
	}
	upstreams.generation = generation;
}

/* Two servers for all names; the first may be asked. */
static inline void
begin(void)
{
	struct express_options options = { .upstreams = &upstreams,
		.held = &held, .most = most };

	memset(&settings, 0, sizeof(settings));
	forward_settings_defaults(&settings);
	settings.upstreams = 2;
	settings.domains = 1;
	settings.domain[0] = (struct forward_domain){ .upstreams = 2,
		.upstream = { 0, 1 }, .select = SELECT_ORDERED };
	serve(0, AF_INET);
	serve(1, AF_INET6);
	forward_settings_place(&settings, NULL);
	board = express_board_new();
	queue = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	MUST(board != NULL && queue >= 0);
	options.board = board;
	options.queue = queue;
	MUST(express_new(&x, &options) == 0);
	memset(&upstreams, 0, sizeof(upstreams));
	prefer(0, GENERATION);
}

static inline void
end(void)
{
	express_free(x);
	express_board_free(board);
	(void)close(queue);
	(void)close(servers[0].fd);
	(void)close(servers[1].fd);
}

/* As if the time was over that nothing is asked after a wrong reply. */
static inline void
trust_again(void)
{
	memset(x->doubted, 0, sizeof(x->doubted));
}

static inline unsigned int
open_files(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < FILES; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* A packet of the queue, with a question and "more" behind it. */
static inline void
make_packet(int family, const char *name, uint16_t type, uint16_t id,
    const char *more, size_t length)
{
	struct dns_name wire = name_of(name);
	uint8_t message[512];
	struct wire_writer w = wire_writer_over(message, sizeof(message));

	wire_write_u16(&w, id);
	wire_write_u16(&w, DNS_FLAG_RD);
	wire_write_u16(&w, 1);
	wire_write_u32(&w, 0);
	wire_write_u16(&w, length > 0);
	wire_write_octets(&w, wire.octets, wire.length);
	wire_write_u16(&w, type);
	wire_write_u16(&w, CLASS_IN);
	wire_write_octets(&w, (const uint8_t *)more, length);
	packet = (struct queue_packet){ .id = id, .uid = 1000, .gid = 100,
		.mark = 5, .device = 3, .octets = octets };
	packet.length = packet.whole_length = packet_around(octets, family,
	    message, wire_written(&w));
	memset(&in, 0, sizeof(in));
	intercept_parse(&in, octets, packet.length, packet.length);
	MUST(in.form == PACKET_OK);
	in.decision = (struct decision){ .verdict = VERDICT_FORWARD,
		.reason = REASON_FORWARD };
	asked = (struct express_ask){ .packet = &packet, .interception = &in,
		.settings = &settings, .generation = GENERATION,
		.received_ns = 4, .now = monotime_now() };
}

static inline void
make_question(const char *name, uint16_t id)
{
	make_packet(AF_INET, name, TYPE_A, id, NULL, 0);
}

/* The buffer of a packet is the next one's as soon as it is held. */
static inline enum express_begun
hold_for(unsigned int upstream)
{
	const enum express_begun begun = express_begin(x,
	    &settings.upstream[upstream], &asked);

	memset(octets, 0xa5, sizeof(octets));
	memset(&in, 0xa5, sizeof(in));
	return begun;
}

/* Asked at once; what cannot be asked is not held. */
static inline enum express_begun
ask_of(unsigned int upstream)
{
	const uint64_t generation = asked.generation;
	enum express_begun begun;
	struct express_attempt *a;

	prefer((int)upstream, generation);
	begun = hold_for(upstream);
	a = express_next(x);
	CHECK((a != NULL) == (begun == EXPRESS_HELD));
	if (a == NULL || express_send(x, a, &settings, generation) == 0)
		return begun;
	express_end(x, a);
	return EXPRESS_NOT;
}

static inline enum express_begun
ask(const char *name, uint16_t id)
{
	make_question(name, id);
	return ask_of(0);
}

/* The port that the question came from. */
static inline uint16_t
hear(struct server *s)
{
	ssize_t n;

	s->size = sizeof(s->client);
	n = recvfrom(s->fd, s->octets, sizeof(s->octets), 0, &s->client.any,
	    &s->size);
	MUST(n > DNS_HEADER + 11);
	s->length = (size_t)n;
	return ntohs(s->client.any.sa_family == AF_INET ?
	    s->client.v4.sin_port : s->client.v6.sin6_port);
}

static inline bool
hears_nothing(const struct server *s)
{
	uint8_t octet;

	return recv(s->fd, &octet, 1, MSG_DONTWAIT) < 0;
}

static inline void
send_back(struct server *s, const uint8_t *message, size_t length)
{
	CHECK(sendto(s->fd, message, length, 0, &s->client.any, s->size) ==
	    (ssize_t)length);
}

/* With one address; "flags" and octets of the header are changed before. */
static inline size_t
reply_of(const struct server *s, uint8_t message[static 600])
{
	static const char record[] = "\300\14\0\1\0\1\0\0\0\74\0\4\300\0\2\7";
	const size_t question = s->length - 11;	/* without its OPT */

	memcpy(message, s->octets, question);
	memcpy(message + question, record, sizeof(record) - 1);
	message[2] |= 0x80;
	message[7] = 1;
	message[11] = 0;
	return question + sizeof(record) - 1;
}

static inline void
reply(struct server *s)
{
	uint8_t message[600];
	const size_t length = reply_of(s, message);

	send_back(s, message, length);
}

/* Attempts with something to read; there must be some. */
static inline size_t
wait_ready(struct express_attempt *ready[static EXPRESS_BATCH])
{
	const monotime_t until = monotime_add_ms(monotime_now(), WAIT_MS);
	size_t count = 0;
	bool queued;

	while (count == 0 && !monotime_is_past(monotime_now(), until))
		count = express_wait(x, &queued, ready);
	MUST(count > 0);
	return count;
}

static inline struct express_attempt *
wait_one(void)
{
	struct express_attempt *ready[EXPRESS_BATCH];

	CHECK(wait_ready(ready) == 1);
	return ready[0];
}

static inline struct begun_question *
take(const char *name, uint16_t id)
{
	make_question(name, id);
	return express_board_take(board, octets, packet.length);
}

/* Answers one question, and looks at the packet; its octets are in octets[]. */
static inline void
check_answer(const struct express_question *q, const struct express_reply *r,
    uint16_t id)
{
	struct express_answer answer;
	struct message message;
	const char *fault;

	in.reply_length = express_answer(&settings, q, r, out, &answer);
	in.answer_length = answer.length;
	CHECK(answer.octets + answer.length == out + in.reply_length);
	CHECK(message_read(&message, answer.octets, answer.length));
	CHECK(message.id == id && message.count[ANSWERS] == 1);
	fault = header_fault(&in, q->octets, out);
	if (fault != NULL)
		printf("  not true: %s\n", fault);
	CHECK(fault == NULL);
}

static inline struct express_attempt *
wait_late(void)
{
	const monotime_t until = monotime_add_ms(monotime_now(), WAIT_MS);
	struct express_attempt *ready[EXPRESS_BATCH], *late;
	bool queued;

	while ((late = express_late(x)) == NULL) {
		MUST(!monotime_is_past(monotime_now(), until));
		CHECK(express_wait(x, &queued, ready) == 0 && !queued);
	}
	return late;
}

#endif
