/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as a schedule of events for the TCP thread: clients and nameservers are
 * socket pairs, one octet says who does what next, others say how much.  Several events may fall into one round.
 * Nothing is used after it is freed, nothing leaks, and no descriptor does.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/open.h"
#include "nfq/stream/stream.h"
#include "nfq/stream/parts.h"
#include "policy/log.h"
#include "resolver/dns/wire.h"
#include "tests/fuzz/fuzz.h"
#include "tests/packets.h"

#define CLIENTS	8
#define SERVERS	16
#define FILES	256		/* descriptors that are looked at */

/*
 * BREAKS: whoever sends there fails, which nothing tells before.  OPENS and what
 * follows it: what comes of connections to nameservers from then on.
 */
enum event {
	COMES,
	SENDS,
	ENDS_SENDING,
	BREAKS,
	CLOSES,
	READS,
	SERVER_ANSWERS,
	SERVER_SENDS,
	SERVER_BREAKS,
	SERVER_CLOSES,
	OPENS,
	OPENS_SLOWLY,
	REFUSES,
	TIME,
	ROUND,
	EVENTS
};

struct schedule {
	const uint8_t *octets;
	size_t left;
};

struct bench {
	struct status_page status;
	struct status_worker slot;
	struct generation generation;
	struct worker_handover handover;
	struct answering_threads threads;
	struct stream *stream;
	monotime_t now;
	int clients[CLIENTS], servers[SERVERS];	/* their ends; -1: none */
	enum event opens;			/* one of three */
	int *opened;				/* of servers: the next connection's */
	int control[2];
};

static struct bench bench;

static uint8_t
next(struct schedule *s)
{
	if (s->left == 0)
		return 0;
	s->left--;
	return *s->octets++;
}

/* Ours in [0], with the smallest buffer, so that writing blocks soon. */
static void
make_pair(int pair[2])
{
	const int small = 1;

	check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
	    pair) == 0);
	check(setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &small,
	    sizeof(small)) == 0);
}

static void
drop(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* A connection, from one of a few users to a place where nobody listens. */
static void
come(struct bench *b, int *client, uint8_t who)
{
	struct stream_arrival arrival;
	int pair[2];

	drop(client);
	make_pair(pair);
	memset(&arrival, 0, sizeof(arrival));
	arrival.fd = pair[0];
	arrival.peer.v4.sin_family = arrival.name.v4.sin_family = AF_INET;
	arrival.peer.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (who & 3));
	arrival.name.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	arrival.name.v4.sin_port = htons(1);
	*client = pair[1];
	stream_arrive(b->stream, &arrival);
}

static size_t
put_question(uint8_t *out, uint8_t what, uint16_t id)
{
	static const char *const names[] = { "\3www\7example\3com",
		"\6public\7example" };
	const char *name = names[what & 1];
	size_t length = strlen(name) + 1;

	memset(out, 0, STREAM_PREFIX + 12);
	wire_store_u16(out, (uint16_t)(12 + length + 4));
	wire_store_u16(out + 2, id);
	out[4] = 1;				/* RD */
	out[7] = 1;				/* QDCOUNT */
	memcpy(out + 14, name, length);
	/* A, or a transfer, which makes the connection raw. */
	wire_store_u16(out + 14 + length, (what & 0x0e) == 2 ? 252 : 1);
	wire_store_u16(out + 16 + length, 1);
	return STREAM_PREFIX + 12 + length + 4;
}

/* Questions, many of one kind, malformed ones, or octets of the schedule. */
static void
send_something(struct schedule *s, int fd)
{
	static uint8_t out[65536];
	const uint8_t what = next(s), count = next(s);
	size_t length = 0;

	if ((what & 0x60) == 0x60) {
		length = s->left < count ? s->left : count;
		memcpy(out, s->octets, length);
		s->octets += length;
		s->left -= length;
	}
	for (unsigned int i = 0; (what & 0x60) != 0x60 &&
	    i < (what & 0x40 ? count * 8U : count & 15U) &&
	    length < sizeof(out) - 200; i++)
		length += put_question(out + length, what, (uint16_t)i);
	/* A message of one octet: malformed, everything from it on is raw. */
	if ((what & 0x80) != 0 && length < sizeof(out) - 3) {
		memcpy(out + length, "\0\1x", 3);
		length += 3;
	}
	(void)!send(fd, out, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Each question that is there comes back as an answer. */
static void
echo(int fd)
{
	static uint8_t octets[65536];
	ssize_t n = recv(fd, octets, sizeof(octets), MSG_DONTWAIT);

	for (ssize_t at = 0; at + 5 < n;
	    at += STREAM_PREFIX + (octets[at] << 8 | octets[at + 1]))
		octets[at + 4] |= 0x80;		/* QR */
	if (n > 0)
		(void)!send(fd, octets, (size_t)n,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* In place of sockets_open(). */
static int
open_server(const struct sockets_request *request, uint32_t mark)
{
	int pair[2];

	check(request->kind == SOCKETS_CONNECTION && mark == 0);
	if (bench.opens == REFUSES)
		return -ECONNREFUSED;
	make_pair(pair);
	while (bench.opens == OPENS_SLOWLY && send(pair[0], "", 1, MSG_DONTWAIT) == 1)
		;			/* it cannot be written to yet */
	drop(bench.opened);
	*bench.opened = pair[1];
	return pair[0];
}

/* In place of the engine, which has it. */
static void
keep_asked(struct stream *s, struct stream_asked *question)
{
	check(s == bench.stream && question->state == STREAM_ASKED);
}

/* Upstreams were asked; what came of it. */
static void
answer_asked(struct bench *b, uint8_t how)
{
	struct stream_asked *oldest = TAILQ_FIRST(&b->stream->asked);
	uint8_t *octets;

	if (oldest == NULL)
		return;
	octets = malloc(oldest->length);
	check(octets != NULL);
	memcpy(octets, oldest->octets, oldest->length);
	octets[2] |= 0x80;	/* QR */
	stream_ask_answer(b->stream, oldest, STREAM_ANSWERED + how % 3, octets,
	    oldest->length);
	free(octets);
}

static void
run_round(struct bench *b)
{
	struct epoll_event events[STREAM_EVENTS];
	const struct stream *s = b->stream;
	const struct stream_connection *c;
	unsigned int count = 0;
	int n = epoll_wait(s->epoll, events, STREAM_EVENTS, 0);

	stream_round(b->stream, events, n > 0 ? n : 0, b->now);
	check(TAILQ_EMPTY(&s->dead) && s->output_used == 0);
	TAILQ_FOREACH(c, &s->all, in_all) {
		check(!c->closed && c->client.fd >= 0);
		count++;
	}
	check(count == s->count && count <= b->generation.settings.stream.connections);
	check(s->raw_count <= STREAM_RAW_MAX);
}

static void
happen(struct bench *b, struct schedule *s)
{
	const uint8_t what = next(s), who = next(s);
	int *client = &b->clients[who % CLIENTS];
	int *server = &b->servers[who % SERVERS];
	uint8_t octets[4096] = { 0 };

	switch (what % EVENTS) {
	case COMES:
		come(b, client, next(s));
		break;
	case SENDS:
		send_something(s, *client);
		break;
	case ENDS_SENDING:
		(void)shutdown(*client, SHUT_WR);
		break;
	case BREAKS:
		(void)shutdown(*client, SHUT_RD);
		break;
	case CLOSES:
		drop(client);
		break;
	case READS:
		(void)!recv(*client, octets, sizeof(octets), MSG_DONTWAIT);
		break;
	case SERVER_ANSWERS:
		echo(*server);
		break;
	case SERVER_SENDS:
		send_something(s, *server);
		break;
	case SERVER_BREAKS:
		(void)shutdown(*server, SHUT_RD);
		break;
	case SERVER_CLOSES:
		drop(server);
		break;
	case OPENS:
	case OPENS_SLOWLY:
	case REFUSES:
		b->opens = what % EVENTS;
		b->opened = server;
		break;
	case TIME:
		b->now = monotime_add_ms(b->now, who * 20);
		break;
	case ROUND:
		if (who & 0x80)
			answer_asked(b, who);
		run_round(b);
		break;
	}
	/* What the supervisor was asked is of no interest. */
	while (recv(b->control[1], octets, sizeof(octets), MSG_DONTWAIT) > 0)
		;
}

static void
begin(struct bench *b, struct table *table, uint8_t how)
{
	static const int none[STREAM_LISTENERS] = { -1, -1 };

	memset(b, 0, sizeof(*b));
	memset(b->clients, 0xff, sizeof(b->clients));
	memset(b->servers, 0xff, sizeof(b->servers));
	b->opens = OPENS;
	b->opened = &b->servers[0];
	b->now = monotime_from_ms(1000000);
	b->generation.settings.stream = (struct stream_settings){
		.connections = 6, .per_client = 4, .idle_s = 4 };
	b->status.workers = &b->slot;
	b->generation.settings.answers = (struct answer_settings){
		.negative_ttl = 5, .udp_size = 1232, .tcp = 1 };
	b->generation.table = table;
	forward_settings_defaults(&b->generation.settings.forward);
	if (how & 8) {
		b->generation.settings.forward.domains = 1;
		b->generation.settings.forward.domain[0] =
		    (struct forward_domain){ .name = "\7example" };
	}
	check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    b->control) == 0);
	b->handover = (struct worker_handover){.options.uid = geteuid(),
	    .listeners = none,
	    .control = b->control[0],
	    .status = &b->status};
}

static void
end(struct bench *b)
{
	stream_free(b->stream);
	for (size_t i = 0; i < CLIENTS; i++)
		drop(&b->clients[i]);
	for (size_t i = 0; i < SERVERS; i++)
		drop(&b->servers[i]);
	drop(&b->control[0]);
	drop(&b->control[1]);
}

static unsigned int
open_files(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < FILES; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct table *table;
	static struct audit *audit;
	struct schedule s = { data, size };
	unsigned int files;

	if (table == NULL) {
		log_set_level(LOG_LEVEL_ERROR);
		table = sample_table(false);
		check(audit_start(&audit, 1) == 0);
	}
	files = open_files();
	begin(&bench, table, next(&s));
	answering_threads_init(&bench.threads, &bench.generation, audit, &bench.slot);
	check(stream_new(&bench.stream, &bench.threads, &bench.handover, 0) == 0);
	bench.stream->open = open_server;
	bench.stream->ask = keep_asked;
	for (unsigned int i = 0; s.left > 0 && i < 2000; i++)
		happen(&bench, &s);
	run_round(&bench);
	end(&bench);
	check(open_files() == files);
	return 0;
}
