/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nameserver's end: each connection of a client has one connection to its
 * nameserver, which is opened when a question needs it.  Questions are kept
 * until they are answered, and each gets an answer.  If the nameserver closes a
 * connection after some answers, as it may at any time (RFC 7766 section
 * 6.2.4), the other questions are sent over a new one.  If it cannot be
 * reached, the answer is SERVFAIL with the reason (RFC 8914).
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "nfq/stream/parts.h"

/* The questions of one connection that its nameserver has not answered yet. */
struct stream_pending {
	TAILQ_ENTRY(stream_pending) link;
	bool unmatched;			/* forgotten as soon as it is sent */
	size_t length;			/* of octets */
	uint8_t octets[];		/* as they are sent: prefix and message */
};

struct stream_pendings {
	TAILQ_HEAD(, stream_pending) all;	/* oldest first */
	struct stream_pending *unsent;	/* the first not sent completely, or NULL */
	size_t sent;			/* octets of that one that were sent */
	unsigned int count;
	size_t octets;			/* of all */
};

static inline const uint8_t *
stream_pending_message(const struct stream_pending *p)
{
	return p->octets + STREAM_PREFIX;
}

#define WRITE_AT_ONCE 64	/* questions a call */

struct stream_relay {
	struct stream_pendings asked;
	struct stream_buffer in;	/* part of a message from there */
	monotime_t since;		/* when something last happened */
	bool connecting;
	bool answers;			/* this connection had an answer */
	bool shut;			/* our last octet is sent */
};

static void
stream_pending_init(struct stream_pendings *list)
{
	*list = (struct stream_pendings){ .unsent = NULL };
	TAILQ_INIT(&list->all);
}

/* A question with a copy of the message.  NULL: out of memory. */
static struct stream_pending *
stream_pending_new(const uint8_t *message, size_t length)
{
	struct stream_pending *p = malloc(sizeof(*p) + STREAM_PREFIX + length);

	if (p == NULL)
		return NULL;
	p->unmatched = false;
	p->length = STREAM_PREFIX + length;
	stream_frame_put(p->octets, length);
	memcpy(p->octets + STREAM_PREFIX, message, length);
	return p;
}

/* Appends p, which the list owns from then on. */
static void
stream_pending_append(struct stream_pendings *list, struct stream_pending *p)
{
	TAILQ_INSERT_TAIL(&list->all, p, link);
	if (list->unsent == NULL) {
		list->unsent = p;
		list->sent = 0;
	}
	list->count++;
	list->octets += p->length;
}

/* Removes and frees one question, or all. */
static void
stream_pending_drop(struct stream_pendings *list, struct stream_pending *p)
{
	if (list->unsent == p) {
		list->unsent = TAILQ_NEXT(p, link);
		list->sent = 0;
	}
	TAILQ_REMOVE(&list->all, p, link);
	list->count--;
	list->octets -= p->length;
	free(p);
}

/* Takes note that n more octets were sent; or that all must be sent again. */
static void
stream_pending_sent(struct stream_pendings *list, size_t n)
{
	while (n > 0) {
		struct stream_pending *p = list->unsent;
		size_t left = p->length - list->sent;

		if (n < left) {
			list->sent += n;
			return;
		}
		n -= left;
		list->unsent = TAILQ_NEXT(p, link);
		list->sent = 0;
		if (p->unmatched)
			stream_pending_drop(list, p);
	}
}

/*
 * The question that has the id of a message of the nameserver, if it was sent;
 * else NULL.
 */
static struct stream_pending *
stream_pending_find(struct stream_pendings *list, const uint8_t *message,
    size_t length)
{
	struct stream_pending *p;

	if (length < 2)
		return NULL;
	TAILQ_FOREACH(p, &list->all, link) {
		if (p == list->unsent)
			break;
		if (memcmp(stream_pending_message(p), message, 2) == 0)
			return p;
	}
	return NULL;
}

static void
close_server(struct stream *s, struct stream_connection *c)
{
	if (c->server.fd < 0)
		return;
	stream_close_end(s, &c->server);
	stream_buffer_clear(&c->relay->in);
	c->relay->connecting = false;
}

void
stream_relay_free(struct stream_connection *c)
{
	struct stream_relay *r = c->relay;
	struct stream_pending *p, *next;

	if (r == NULL)
		return;
	for (p = TAILQ_FIRST(&r->asked.all); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		free(p);
	}
	TAILQ_INIT(&r->asked.all);
	r->asked.unsent = NULL;
	r->asked.sent = r->asked.octets = 0;
	r->asked.count = 0;
	stream_buffer_clear(&r->in);
	free(r);
	c->relay = NULL;
}

/* All pending questions are answered with SERVFAIL.  A raw connection ends. */
static enum stream_next
fail(struct stream *s, struct stream_connection *c, enum extended_error error)
{
	struct stream_relay *r = c->relay;
	struct stream_pending *p, *next;

	close_server(s, c);
	if (c->raw)
		return STREAM_CLOSE;
	for (p = TAILQ_FIRST(&r->asked.all); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		if (stream_put_failure(s, c, &(struct stream_record){
		    .question = stream_pending_message(p),
		    .question_length = p->length - STREAM_PREFIX,
		    .received_ns = s->thread.received_ns },
		    error) == STREAM_CLOSE)
			return STREAM_CLOSE;
		stream_pending_drop(&r->asked, p);
	}
	return stream_flush(s, c);
}

/*
 * To c's nameserver, routed as the client's packets are; for a container from the
 * machine's own address, since what came back to the container's would go there.
 */
static struct sockets_request
request_for(const struct stream_connection *c)
{
	struct sockets_request request = { .kind = SOCKETS_CONNECTION,
		.family = c->name.any.sa_family,
		.has_source = !c->sender.guest,
		.device = c->sender.guest ? 0 : c->sender.device };
	uint16_t port;

	(void)sockets_address_split(&c->name, request.address, &request.port);
	if (request.family == AF_INET6)
		request.scope_id = c->name.v6.sin6_scope_id;
	if (request.has_source)
		(void)sockets_address_split(&c->peer, request.source, &port);
	return request;
}

/* Connects to it.  0 or a negative errno. */
static int
open_server(struct stream *s, struct stream_connection *c)
{
	const struct sockets_request request = request_for(c);
	struct stream_relay *r = c->relay;
	/*
	 * By its mark it is not intercepted again; the bits that are not ours
	 * route it as the client's packets.
	 */
	int fd = s->open(&request, c->sender.mark | s->options->mark_relay);

	if (fd < 0)
		return fd;
	c->server.fd = fd;
	r->connecting = true;
	r->answers = false;
	r->shut = false;
	r->since = s->thread.now;
	r->asked.unsent = TAILQ_FIRST(&r->asked.all);
	r->asked.sent = 0;
	stream_count(s, STREAM_RELAYS);
	return 0;
}

/* Makes sure that there is a relay with a connection, which may be in progress. */
static int
prepare(struct stream *s, struct stream_connection *c)
{
	if (c->relay == NULL) {
		c->relay = calloc(1, sizeof(*c->relay));
		if (c->relay == NULL)
			return -ENOMEM;
		stream_pending_init(&c->relay->asked);
	}
	return c->server.fd >= 0 ? 0 : open_server(s, c);
}

/* It is sent with the next stream_relay_settle(). */
static void
append(const struct stream *s, struct stream_relay *r, struct stream_pending *p)
{
	if (r->asked.count == 0)
		r->since = s->thread.now;
	stream_pending_append(&r->asked, p);
}

enum stream_next
stream_relay_question(struct stream *s, struct stream_connection *c,
    const uint8_t *message, size_t length, bool unmatched)
{
	struct stream_pending *p = stream_pending_new(message, length);

	if (p == NULL || prepare(s, c) < 0) {
		free(p);
		/* What nobody understands has no answer of ours. */
		if (unmatched)
			return STREAM_CLOSE;
		return stream_put_failure(s, c, &(struct stream_record){
		    .question = message, .question_length = length,
		    .received_ns = s->thread.received_ns },
		    EDE_NO_REACHABLE_AUTHORITY);
	}
	p->unmatched = unmatched;
	append(s, c->relay, p);
	return STREAM_GO_ON;
}

bool
stream_relay_has_room(const struct stream_connection *c)
{
	const struct stream_relay *r = c->relay;

	return r == NULL || (r->asked.count < STREAM_IN_FLIGHT &&
	    r->asked.octets < STREAM_BUFFER);
}

bool
stream_relay_is_busy(const struct stream_connection *c)
{
	const struct stream_relay *r = c->relay;

	if (r == NULL)
		return false;
	return c->raw ? c->server.fd >= 0 : r->asked.count > 0;
}

/* The nameserver has closed the connection, or it broke. */
static enum stream_next
lose_server(struct stream *s, struct stream_connection *c)
{
	struct stream_relay *r = c->relay;
	bool answers = r->answers;

	close_server(s, c);
	if (c->raw) {
		/* What it has sent goes to the client; then that ends, too. */
		c->ended = true;
		return STREAM_GO_ON;
	}
	if (r->asked.count == 0)
		return STREAM_GO_ON;
	/* Without an answer each time this would never end. */
	if (!answers || open_server(s, c) < 0)
		return fail(s, c, EDE_NETWORK_ERROR);
	return STREAM_GO_ON;
}

static enum stream_next
send_questions(struct stream *s, struct stream_connection *c)
{
	struct stream_relay *r = c->relay;
	struct iovec parts[WRITE_AT_ONCE];
	struct msghdr message = { .msg_iov = parts };
	struct stream_pending *p = r->asked.unsent;
	ssize_t n;
	int count;

	for (count = 0; count < WRITE_AT_ONCE && p != NULL; count++) {
		size_t sent = count == 0 ? r->asked.sent : 0;

		parts[count].iov_base = p->octets + sent;
		parts[count].iov_len = p->length - sent;
		p = TAILQ_NEXT(p, link);
	}
	message.msg_iovlen = (size_t)count;
	n = sendmsg(c->server.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n >= 0)
		stream_pending_sent(&r->asked, (size_t)n);
	else if (errno != EAGAIN && errno != EINTR)
		return lose_server(s, c);
	return STREAM_GO_ON;
}

/* Passes the client's end on, behind its last octet. */
static void
pass_end(struct stream_connection *c)
{
	struct stream_relay *r = c->relay;

	if (!c->raw || !c->ended || c->throttled ||
	    r->shut || c->server.fd < 0 || r->asked.unsent != NULL)
		return;
	r->shut = true;
	(void)shutdown(c->server.fd, SHUT_WR);
}

/* Sends what waits, if there is somebody to send it to. */
static enum stream_next
send_waiting(struct stream *s, struct stream_connection *c)
{
	struct stream_relay *r = c->relay;
	enum stream_next next = STREAM_GO_ON;

	if (c->server.fd < 0 || r->connecting)
		return STREAM_GO_ON;
	if (r->asked.unsent != NULL)
		next = send_questions(s, c);
	if (next == STREAM_GO_ON)
		pass_end(c);
	return next;
}

/*
 * One message of the nameserver: to the client, if it waits for it, or if nobody
 * knows what it waits for.  What the client's own nameserver says is the client's.
 */
static enum stream_next
deliver(struct stream *s, struct stream_connection *c, const uint8_t *message,
    size_t length)
{
	struct stream_relay *r = c->relay;
	struct stream_pending *p = stream_pending_find(&r->asked,
	    message, length);

	if (p == NULL && !c->raw)
		return STREAM_GO_ON;
	r->answers = true;
	r->since = s->thread.now;
	c->active = c->raw ? s->thread.now : c->active;
	if (p != NULL)
		stream_pending_drop(&r->asked, p);
	return stream_put_message(s, c, message, length);
}

static enum stream_next
take_answers(struct stream *s, struct stream_connection *c, size_t length)
{
	struct stream_input input = { s->input, length };
	struct stream_relay *r = c->relay;
	const uint8_t *message;
	size_t message_length;

	while (stream_frame_next(&input, &message, &message_length))
		if (deliver(s, c, message, message_length) == STREAM_CLOSE)
			return STREAM_CLOSE;
	if (stream_flush(s, c) == STREAM_CLOSE)
		return STREAM_CLOSE;
	return stream_buffer_put(&r->in, input.octets, input.left) < 0 ?
	    STREAM_CLOSE : STREAM_GO_ON;
}

static bool
is_connected(const struct stream_connection *c)
{
	socklen_t size = sizeof(int);
	int error = 0;

	return getsockopt(c->server.fd, SOL_SOCKET, SO_ERROR, &error,
	    &size) == 0 && error == 0;
}

enum stream_next
stream_relay_ready(struct stream *s, struct stream_connection *c,
    uint32_t events)
{
	if (c->server.fd < 0)
		return STREAM_GO_ON;	/* closed earlier in this round */
	if (c->relay->connecting) {
		if (!is_connected(c))
			return fail(s, c, EDE_NO_REACHABLE_AUTHORITY);
		c->relay->connecting = false;
		c->relay->since = s->thread.now;
		return STREAM_GO_ON;
	}
	if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) {
		struct stream_relay *r = c->relay;
		size_t kept = stream_buffer_length(&r->in);
		ssize_t n = recv(c->server.fd, s->input + kept, STREAM_READ,
		    MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return STREAM_GO_ON;
		if (n <= 0)
			return lose_server(s, c);
		if (kept > 0)
			memcpy(s->input, r->in.octets + r->in.start, kept);
		stream_buffer_clear(&r->in);
		return take_answers(s, c, kept + (size_t)n);
	}
	return STREAM_GO_ON;
}

enum stream_next
stream_relay_settle(struct stream *s, struct stream_connection *c)
{
	struct stream_relay *r = c->relay;
	uint32_t events = 0;

	if (r == NULL)
		return STREAM_GO_ON;
	if (send_waiting(s, c) == STREAM_CLOSE)
		return STREAM_CLOSE;
	if (c->server.fd < 0)
		return STREAM_GO_ON;
	/* While the client does not read, neither do we. */
	if (!r->connecting && stream_buffer_length(&c->out) == 0)
		events |= EPOLLIN;
	if (r->connecting || r->asked.unsent != NULL)
		events |= EPOLLOUT;
	stream_watch(s, &c->server, events);
	return STREAM_GO_ON;
}

enum stream_next
stream_relay_tick(struct stream *s, struct stream_connection *c)
{
	struct stream_relay *r = c->relay;

	if (r == NULL || c->server.fd < 0 ||
	    monotime_ms_since(s->thread.now, r->since) <
	    STREAM_RELAY_S * INT64_C(1000))
		return STREAM_GO_ON;
	/* Not its fault if the client does not take its answers. */
	if (stream_buffer_length(&c->out) > 0)
		r->since = s->thread.now;
	else if (r->connecting || r->asked.count > 0)
		return fail(s, c, EDE_NO_REACHABLE_AUTHORITY);
	return STREAM_GO_ON;
}
