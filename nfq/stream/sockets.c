/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sockets to nameservers that nfdns-sockets opens (nfq/sockets/server.h).
 * Connections that need one wait in order; some of them were asked for, and
 * stream_sockets_next() gives the results.  The thread itself does not wait:
 * the channel to nfdns-sockets is one more descriptor of its epoll.
 *
 * When the channel breaks, the sockets that were asked for on it have failed,
 * and the other connections wait for the next channel, which the supervisor
 * sends (control.h).
 */
#include <assert.h>
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "nfq/handover/control.h"
#include "nfq/sockets/client.h"
#include "nfq/stream/parts.h"
#include "policy/log.h"

#define WANT_EVERY_MS	1000

/* Values of "fresh" that are no channel. */
enum { NOTHING_NEW = -1, NONE_TO_BE_HAD = -2 };

void
stream_sockets_init(struct stream *s, const struct worker_handover *h)
{
	struct stream_sockets *o = &s->sockets;

	TAILQ_INIT(&o->waiting);
	o->used = h->sockets;
	o->control = h->control;
	o->end = (struct stream_end){ROLE_SOCKETS, -1, 0, NULL};
	atomic_store(&o->fresh, NOTHING_NEW);
}

void
stream_sockets_close(struct stream *s)
{
	int fresh = atomic_exchange(&s->sockets.fresh, NOTHING_NEW);

	if (fresh >= 0)
		sockets_leave(fresh);
	stream_close_end(s, &s->sockets.end);
}

/* Asks the supervisor for another channel, at most once a second. */
static void
want_channel(struct stream *s)
{
	const struct control_message order = {.kind = CONTROL_SOCKETS_WANTED};
	struct stream_sockets *o = &s->sockets;

	if (monotime_is_set(o->wanted) &&
	    monotime_ms_since(s->thread.now, o->wanted) < WANT_EVERY_MS)
		return;
	o->wanted = s->thread.now;
	/* A supervisor that is gone shows elsewhere. */
	(void)!control_send(o->control, &order, NULL, 0);
}

static void
append(struct stream_sockets *o, struct stream_connection *c)
{
	c->wait = STREAM_WAITS;
	TAILQ_INSERT_TAIL(&o->waiting, c, in_waiting);
}

static void
take_out(struct stream_sockets *o, struct stream_connection *c)
{
	TAILQ_REMOVE(&o->waiting, c, in_waiting);
	c->wait = STREAM_WAITS_NOT;
}

struct sockets_request
stream_sockets_request(const struct stream_connection *c)
{
	struct sockets_request request = { .kind = SOCKETS_CONNECTION,
		.family = c->name.any.sa_family, .has_source = true,
		.device = c->sender.device };
	uint16_t port;

	(void)sockets_address_split(&c->name, request.address, &request.port);
	if (request.family == AF_INET6)
		request.scope_id = c->name.v6.sin6_scope_id;
	(void)sockets_address_split(&c->peer, request.source, &port);
	return request;
}

/*
 * Asks for as many sockets as may be asked for at a time.  The other
 * connections still wait.  If the channel broke, epoll reports that, too.
 */
static void
ask(struct stream_sockets *o)
{
	struct stream_connection *c;

	while (o->end.fd >= 0 && o->count < STREAM_ASKED &&
	    (c = TAILQ_FIRST(&o->waiting)) != NULL) {
		const struct sockets_request request =
		    stream_sockets_request(c);

		if (c->wait == STREAM_REFUSED)
			return;		/* stream_sockets_next() comes first */
		if (sockets_request(o->end.fd, &request) < 0)
			return;
		take_out(o, c);
		c->wait = STREAM_ASKED_FOR;
		o->asked[(o->oldest + o->count++) % STREAM_ASKED] = c;
	}
}

void
stream_sockets_ask(struct stream *s, struct stream_connection *c)
{
	append(&s->sockets, c);
	if (s->sockets.end.fd < 0)
		want_channel(s);
	ask(&s->sockets);
}

void
stream_sockets_forget(struct stream *s, struct stream_connection *c)
{
	struct stream_sockets *o = &s->sockets;

	if (c->wait == STREAM_WAITS || c->wait == STREAM_REFUSED)
		take_out(o, c);
	for (size_t i = 0; c->wait == STREAM_ASKED_FOR; i++) {
		if (o->asked[i] != c)
			continue;
		o->asked[i] = NULL;	/* its answer will come */
		c->wait = STREAM_WAITS_NOT;
	}
}

/* The connection that was asked for first; NULL: it was given up. */
static struct stream_connection *
take_oldest(struct stream_sockets *o)
{
	struct stream_connection *c = o->asked[o->oldest];

	o->asked[o->oldest] = NULL;
	o->oldest = (o->oldest + 1) % STREAM_ASKED;
	o->count--;
	if (c != NULL)
		c->wait = STREAM_WAITS_NOT;
	return c;
}

static void
lose_channel(struct stream *s, int error)
{
	struct stream_sockets *o = &s->sockets;

	stream_close_end(s, &o->end);
	if (!o->lost && error == -EPERM)
		log_error("TCP: nfdns-sockets runs as another user than the "
		    "worker: set User= in nfdns-sockets.service to the value "
		    "of the option \"user\"");
	else if (!o->lost)
		log_warning("TCP: nfdns-sockets is gone: %s",
		    sockets_why_left(error));
	o->lost = true;
	o->error = error;
	want_channel(s);
}

/* What has come for the oldest: as sockets_answer(). */
static int
take_answer(const struct stream *s, int *fd)
{
	const struct stream_sockets *o = &s->sockets;
	const struct stream_connection *c = o->count == 0 ? NULL :
	    o->asked[o->oldest];
	struct sockets_request request;
	int error;

	if (c != NULL)
		request = stream_sockets_request(c);
	error = sockets_answer(o->end.fd, s->options->uid,
	    c != NULL ? &request : NULL, fd);
	return error == 0 && o->count == 0 ? -EPROTO : error;
}

/* The result for the oldest: its socket or errno.  False: none has come. */
static bool
receive(struct stream *s, int *fd)
{
	struct stream_sockets *o = &s->sockets;
	int error = take_answer(s, fd);

	if (error != 0) {
		if (error != -EAGAIN)
			lose_channel(s, error);
		return false;
	}
	if (o->lost)
		log_notice("TCP: sockets are opened again");
	o->lost = false;
	return true;
}

/* The next result of those asked for.  As stream_sockets_next(). */
static bool
next_asked(struct stream *s, struct stream_opened *opened)
{
	struct stream_sockets *o = &s->sockets;

	while (o->end.fd >= 0 && receive(s, &opened->fd)) {
		opened->connection = take_oldest(o);
		if (opened->connection != NULL)
			return true;
	}
	/* Requests on a channel that is gone. */
	while (o->end.fd < 0 && o->count > 0) {
		opened->connection = take_oldest(o);
		opened->fd = o->error;
		if (opened->connection != NULL)
			return true;
	}
	return false;
}

bool
stream_sockets_next(struct stream *s, struct stream_opened *opened)
{
	struct stream_sockets *o = &s->sockets;
	struct stream_connection *c = TAILQ_FIRST(&o->waiting);

	if (c != NULL && c->wait == STREAM_REFUSED) {
		take_out(o, c);
		*opened = (struct stream_opened){ c, -ECONNREFUSED };
		return true;
	}
	if (next_asked(s, opened))
		return true;
	ask(o);
	return false;
}

/* There is no nfdns-sockets: all that wait now have failed, not later ones. */
static void
refuse_waiting(struct stream_sockets *o)
{
	struct stream_connection *c;

	TAILQ_FOREACH(c, &o->waiting, in_waiting)
		c->wait = STREAM_REFUSED;
}

void
stream_sockets_take(struct stream *s)
{
	struct stream_sockets *o = &s->sockets;
	int fresh = atomic_exchange(&o->fresh, NOTHING_NEW);

	if (fresh == NONE_TO_BE_HAD && o->end.fd < 0)
		refuse_waiting(o);
	if (fresh < 0)
		return;
	if (o->end.fd >= 0) {
		sockets_leave(fresh);	/* it was asked for twice */
		return;
	}
	assert(o->count == 0);
	o->end.fd = fresh;
	stream_watch(s, &o->end, EPOLLIN);
}

void
stream_sockets_tick(struct stream *s)
{
	if (s->sockets.end.fd < 0 && !TAILQ_EMPTY(&s->sockets.waiting))
		want_channel(s);
}

void
stream_sockets_give(struct stream *s, int channel)
{
	int before = atomic_exchange(
	    &s->sockets.fresh, channel >= 0 ? channel : NONE_TO_BE_HAD);

	if (before >= 0)
		sockets_leave(before);
	stream_wake(s);
}
