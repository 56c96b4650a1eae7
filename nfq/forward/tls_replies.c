/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What nfdns-tls says, of which nothing is trusted. */
#include "nfq/forward/tls_state.h"

#include <errno.h>
#include <unistd.h>

#include "policy/log.h"
#include "resolver/dns/wire.h"

#define UNASKED_MAX	16

static void
opened(struct tls_upstreams *t, monotime_t now, struct tls_upstream *u,
    const struct tls_message *m)
{
	if (u->state != TLS_SHAKES)
		return;
	u->state = TLS_OPENED_UP;
	u->deadline = MONOTIME_NEVER;
	t->lost = false;
	t->stats.connections++;
	t->stats.resumed += m->detail;
	tls_flush(t, now, u);
	tls_rest(t, now, u);
}

static void
closed(struct tls_upstreams *t, monotime_t now, struct tls_upstream *u,
    const struct tls_message *m)
{
	char why[TLS_TEXT];

	tls_connection_over(t, now, u, m->detail, tls_text(why, m->body,
	    m->length));
	if (!TAILQ_EMPTY(&u->waiting))
		tls_begin(t, now, u);
}

/* An answer to no question: to one that was given up, or of a liar. */
static void
unasked(struct tls_upstreams *t, monotime_t now, struct tls_upstream *u)
{
	if (u->given_up > 0) {
		u->given_up--;
		return;
	}
	t->stats.unasked++;
	if (++u->unasked <= UNASKED_MAX)
		return;
	u->answered = false;
	tls_give_up(t, now, u, TLS_END_GARBAGE,
	    "it sends answers that nobody asked for");
}

static void
works_again(struct tls_upstream *u)
{
	char text[FORWARD_UPSTREAM_TEXT];

	if (u->why[0] != '\0')
		log_notice("forwarding: upstream %s answers again",
		    forward_upstream_text(&u->to, text));
	u->why[0] = '\0';
	u->failures = 0;
	u->answered = true;
}

/* Whether it is for one of the attempts. */
static bool
answered(struct tls_upstreams *t, monotime_t now, struct tls_upstream *u,
    const struct tls_message *m, struct stream_reply *reply)
{
	struct stream_question *q = stream_question_by_id(&t->questions,
	    u->connection, wire_load_u16(m->body));

	if (q == NULL) {
		unasked(t, now, u);
		return false;
	}
	if (!u->answered)
		works_again(u);
	if (!q->answered)
		u->awaited--;
	q->answered = true;
	u->mute = u->awaited == 0 ? MONOTIME_NEVER :
	    monotime_add_ms(now, TLS_MUTE_MS);
	*reply = (struct stream_reply){ .attempt = q->attempt, .cause = q->cause,
		.from = &u->to, .octets = m->body, .length = m->length };
	return true;
}

/* Takes one message.  Whether it is an answer for an attempt. */
static bool
take(struct tls_upstreams *t, monotime_t now, size_t length,
    struct stream_reply *reply)
{
	struct tls_upstream *u;
	struct tls_message m;

	if (tls_message_parse(&m, t->octets, length) < 0) {
		tls_lose_channel(t, -EPROTO);
		return false;
	}
	u = tls_by_connection(t, m.connection);
	if (u == NULL)
		return false;		/* it was closed here before */
	if (m.kind == TLS_OPENED)
		opened(t, now, u, &m);
	else if (m.kind == TLS_CLOSED)
		closed(t, now, u, &m);
	else if (m.kind == TLS_ANSWER && u->state == TLS_OPENED_UP)
		return answered(t, now, u, &m, reply);
	else
		tls_lose_channel(t, -EPROTO);
	return false;
}

bool
tls_upstreams_receive(struct tls_upstreams *t, monotime_t now,
    struct stream_reply *reply)
{
	ssize_t length = 0;
	int fd;

	while (t->channel >= 0) {
		length = tls_channel_receive(t->channel, t->octets, &fd);
		if (fd >= 0)
			(void)close(fd);
		if (length == -EAGAIN)
			return false;
		if (length < 0)
			tls_lose_channel(t, (int)length);
		else if (take(t, now, (size_t)length, reply))
			return true;
	}
	return false;
}
