/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections to nameservers that another process opens (opener.h): relays
 * wait in order, some of them asked for, and are told what came of it.  Nobody
 * else waits: the channel is one more descriptor of the thread.
 *
 * When the channel breaks, what was asked for on it has failed, and the rest
 * waits for the next channel, which the supervisor has (control.h).
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "nfq/control.h"
#include "nfq/opener_client.h"
#include "nfq/stream.h"
#include "nfq/stream_parts.h"
#include "policy/log.h"

#define WANT_EVERY_MS	1000

/* What stream_take_opener() leaves for the thread. */
enum { NOTHING_NEW = -1, NONE_TO_BE_HAD = -2 };

void
stream_opener_init(struct stream *s, const struct worker_handover *h)
{
	struct stream_opener *o = &s->opener;

	o->used = h->opener;
	o->control = h->control;
	o->end = (struct stream_end){ ROLE_OPENER, -1, 0, NULL };
	atomic_store(&o->fresh, NOTHING_NEW);
}

void
stream_opener_close(struct stream *s)
{
	int fresh = atomic_exchange(&s->opener.fresh, NOTHING_NEW);

	if (fresh >= 0)
		(void)close(fresh);
	if (s->opener.end.fd >= 0)
		(void)close(s->opener.end.fd);
	s->opener.end.fd = -1;
}

/* Another channel, at most once a second. */
static void
want_channel(struct stream *s)
{
	const struct control_message order = { .kind = CONTROL_OPENER_WANTED };
	struct stream_opener *o = &s->opener;

	if (s->now_ms - o->wanted_ms < WANT_EVERY_MS)
		return;
	o->wanted_ms = s->now_ms;
	/* A supervisor that is gone shows elsewhere. */
	(void)!control_send(o->control, &order, NULL, 0);
}

static void
append(struct stream_opener *o, struct stream_connection *c)
{
	c->wait = STREAM_WAITS;
	c->wait_next = NULL;
	c->wait_prev = o->last;
	if (o->last != NULL)
		o->last->wait_next = c;
	else
		o->first = c;
	o->last = c;
}

static void
take_out(struct stream_opener *o, struct stream_connection *c)
{
	if (c->wait_prev != NULL)
		c->wait_prev->wait_next = c->wait_next;
	else
		o->first = c->wait_next;
	if (c->wait_next != NULL)
		c->wait_next->wait_prev = c->wait_prev;
	else
		o->last = c->wait_prev;
	c->wait = STREAM_WAITS_NOT;
}

struct opener_request
stream_opener_request(const struct stream_connection *c)
{
	struct opener_request request = { .kind = OPENER_CONNECTION,
		.family = c->name.any.sa_family };

	(void)stream_address_of(&c->name, request.address, &request.port);
	if (request.family == AF_INET6)
		request.scope_id = c->name.v6.sin6_scope_id;
	return request;
}

/*
 * Asks for as many as may be asked for at once.  Who cannot be asked for yet
 * goes on waiting: if the channel broke, epoll says so too.
 */
static void
ask(struct stream_opener *o)
{
	while (o->end.fd >= 0 && o->first != NULL && o->count < STREAM_ASKED) {
		struct stream_connection *c = o->first;
		const struct opener_request request = stream_opener_request(c);

		if (opener_request(o->end.fd, &request) < 0)
			return;
		take_out(o, c);
		c->wait = STREAM_ASKED_FOR;
		o->asked[(o->oldest + o->count++) % STREAM_ASKED] = c;
	}
}

void
stream_opener_ask(struct stream *s, struct stream_connection *c)
{
	append(&s->opener, c);
	if (s->opener.end.fd < 0)
		want_channel(s);
	ask(&s->opener);
}

void
stream_opener_forget(struct stream *s, struct stream_connection *c)
{
	struct stream_opener *o = &s->opener;

	if (c->wait == STREAM_WAITS)
		take_out(o, c);
	for (size_t i = 0; c->wait == STREAM_ASKED_FOR; i++) {
		if (o->asked[i] != c)
			continue;
		o->asked[i] = NULL;	/* its answer will come */
		c->wait = STREAM_WAITS_NOT;
	}
}

/* The oldest that was asked for gets its socket or its errno. */
static void
settle_oldest(struct stream *s, int fd)
{
	struct stream_opener *o = &s->opener;
	struct stream_connection *c = o->asked[o->oldest];

	o->asked[o->oldest] = NULL;
	o->oldest = (o->oldest + 1) % STREAM_ASKED;
	o->count--;
	if (c != NULL) {
		c->wait = STREAM_WAITS_NOT;
		stream_relay_opened(s, c, fd);
		stream_settle(s, c);
	} else if (fd >= 0)
		(void)close(fd);
}

static void
lose_channel(struct stream *s, int error)
{
	struct stream_opener *o = &s->opener;

	stream_watch(s, &o->end, 0);
	(void)close(o->end.fd);
	o->end.fd = -1;
	if (!o->lost && error == -EPERM)
		log_error("TCP: who opens sockets runs as another user than "
		    "nfdnsd's, whose connections the rules let by");
	else if (!o->lost)
		log_warning("TCP: the process that opens sockets is gone: %s",
		    strerror(-error));
	o->lost = true;
	for (unsigned int left = o->count; left > 0; left--)
		settle_oldest(s, error);
	want_channel(s);
}

void
stream_opener_ready(struct stream *s)
{
	struct stream_opener *o = &s->opener;
	int error = 0, fd;

	while (o->end.fd >= 0 && error == 0) {
		error = opener_answer(o->end.fd, s->config->uid, &fd);
		if (error == 0 && o->count == 0) {
			if (fd >= 0)
				(void)close(fd);
			error = -EPROTO;	/* nothing was asked for */
		}
		if (error == 0) {
			if (o->lost)
				log_notice("TCP: sockets are opened again");
			o->lost = false;
			settle_oldest(s, fd);
		} else if (error != -EAGAIN)
			lose_channel(s, error);
	}
	ask(o);
}

/* Nobody opens any: all that waits has failed. */
static void
fail_waiting(struct stream *s)
{
	struct stream_opener *o = &s->opener;

	/* Who fails may ask for more, behind these. */
	for (struct stream_connection *c, *last = o->last; last != NULL;) {
		c = o->first;
		if (c == last)
			last = NULL;
		take_out(o, c);
		stream_relay_opened(s, c, -ECONNREFUSED);
		stream_settle(s, c);
	}
}

void
stream_opener_take(struct stream *s)
{
	struct stream_opener *o = &s->opener;
	int fresh = atomic_exchange(&o->fresh, NOTHING_NEW);

	if (fresh == NONE_TO_BE_HAD && o->end.fd < 0)
		fail_waiting(s);
	if (fresh < 0)
		return;
	if (o->end.fd >= 0) {
		(void)close(fresh);	/* it was asked for twice */
		return;
	}
	o->end.fd = fresh;
	stream_watch(s, &o->end, EPOLLIN);
	ask(o);
}

void
stream_opener_tick(struct stream *s)
{
	if (s->opener.end.fd < 0 && s->opener.first != NULL)
		want_channel(s);
}

void
stream_take_opener(struct stream *s, int channel)
{
	int before;

	if (s == NULL) {
		if (channel >= 0)
			(void)close(channel);
		return;
	}
	before = atomic_exchange(&s->opener.fresh,
	    channel >= 0 ? channel : NONE_TO_BE_HAD);
	if (before >= 0)
		(void)close(before);
	stream_wake(s);
}
