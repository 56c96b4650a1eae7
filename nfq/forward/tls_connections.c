/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An upstream's connection goes IDLE -> (WAITS_SOCKET) -> SHAKES -> OPENED_UP and
 * back to IDLE.
 */
#include "nfq/forward/tls_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/log.h"

#define HANDSHAKE_MS	3000	/* from the socket to a good certificate */
#define RETRY_FIRST_MS	100	/* after a connection without any answer ... */
#define RETRY_MAX_MS	3200	/* ... doubled up to this */

static bool
has_questions(const struct tls_upstream *u)
{
	return !TAILQ_EMPTY(&u->waiting) || !TAILQ_EMPTY(&u->sent);
}

static struct tls_upstream *
take_place(struct tls_upstreams *t, struct tls_upstream *place,
    const struct forward_upstream *to)
{
	if (place == NULL && t->places == TLS_UPSTREAMS)
		return NULL;
	if (place == NULL)
		place = &t->all[t->places++];
	*place = (struct tls_upstream){ .to = *to };
	TAILQ_INIT(&place->waiting);
	TAILQ_INIT(&place->sent);
	return place;
}

/* The upstream's place, which it gets if it has none; NULL: all are taken. */
struct tls_upstream *
tls_place(struct tls_upstreams *t, const struct forward_upstream *to)
{
	struct tls_upstream *unused = NULL;

	for (size_t i = 0; i < t->places; i++) {
		struct tls_upstream *u = &t->all[i];

		if (forward_upstream_same(&u->to, to))
			return u;
		if (u->state == TLS_IDLE && !has_questions(u))
			unused = u;
	}
	/* What is known of one that is not asked now is worth keeping. */
	return take_place(t, t->places < FORWARD_UPSTREAMS ? NULL : unused, to);
}

struct tls_upstream *
tls_by_connection(struct tls_upstreams *t, uint32_t connection)
{
	for (size_t i = 0; i < t->places && connection != 0; i++)
		if (t->all[i].connection == connection)
			return &t->all[i];
	return NULL;
}

static int
error_of(enum tls_end end)
{
	static const int errors[TLS_ENDS] = {
		[TLS_END_PEER] = -ECONNRESET,
		[TLS_END_NETWORK] = -ECONNREFUSED,
		[TLS_END_HANDSHAKE] = -EPROTO,
		[TLS_END_CERTIFICATE] = -EPROTO,
		[TLS_END_GARBAGE] = -EPROTO,
		[TLS_END_UNREAD] = -ETIMEDOUT,
		[TLS_END_FULL] = -ENOBUFS,
	};

	return errors[end];
}

/* What was under way waits again if it may; else it failed. */
static void
take_back(struct tls_upstreams *t, struct tls_upstream *u, bool again,
    int error)
{
	struct stream_question *q;

	while ((q = TAILQ_FIRST(&u->sent)) != NULL) {
		if (!again || q->again > 0) {
			stream_question_fail(&t->questions, q, error);
			continue;
		}
		stream_question_sent(&t->questions, q, 0);
		stream_question_move(q, &u->waiting);
		q->again++;
		q->answered = false;
		t->stats.again++;
	}
}

/* Without a connection, but its history and its questions stay. */
void
tls_reset(struct tls_upstream *u)
{
	u->state = TLS_IDLE;
	u->connection = 0;
	u->deadline = u->idle = u->mute = MONOTIME_NEVER;
	u->awaited = u->given_up = u->unasked = 0;
	u->answered = false;
}

static void
tell_failure(struct tls_upstream *u, const char *why)
{
	char text[FORWARD_UPSTREAM_TEXT];

	if (strcmp(u->why, why) == 0)
		return;
	(void)snprintf(u->why, sizeof(u->why), "%s", why);
	log_warning("forwarding: upstream %s: %s",
	    forward_upstream_text(&u->to, text), u->why);
}

/*
 * The connection is over.  One that has brought answers may have been closed for
 * want of questions; any other is a failure, after which it is not tried again at
 * once.
 */
void
tls_connection_over(struct tls_upstreams *t, monotime_t now,
    struct tls_upstream *u, enum tls_end end, const char *why)
{
	const bool again = u->state == TLS_OPENED_UP && end == TLS_END_PEER;
	const int error = error_of(end);
	struct stream_question *q;
	int64_t wait = RETRY_FIRST_MS;

	take_back(t, u, again, error);
	if (u->answered && again) {
		u->retry = MONOTIME_NEVER;
		tls_reset(u);
		return;
	}
	for (unsigned int i = 0; i < u->failures && wait < RETRY_MAX_MS; i++)
		wait *= 2;
	u->failures++;
	t->stats.failed++;
	u->retry = monotime_add_ms(now, wait);
	tell_failure(u, why);
	tls_reset(u);
	while (!again && (q = TAILQ_FIRST(&u->waiting)) != NULL)
		stream_question_fail(&t->questions, q, error);
}

/* Whether nfdns-tls has it; if not, it does not take orders at all. */
static bool
order(struct tls_upstreams *t, enum tls_kind kind, uint32_t connection,
    const void *body, size_t length, int fd)
{
	uint8_t header[TLS_HEADER];

	tls_message_write(header, kind, connection, 0);
	return tls_channel_send(t->channel, header, body, length, fd) == 0;
}

/* We end the connection. */
void
tls_give_up(struct tls_upstreams *t, monotime_t now, struct tls_upstream *u,
    enum tls_end end, const char *why)
{
	if (u->state >= TLS_SHAKES && !order(t, TLS_CLOSE, u->connection, NULL,
	    0, -1))
		t->stuck = true;
	tls_connection_over(t, now, u, end, why);
}

void
tls_close_idle(struct tls_upstreams *t, struct tls_upstream *u)
{
	if (!order(t, TLS_CLOSE, u->connection, NULL, 0, -1))
		t->stuck = true;
	tls_reset(u);
}

/* The connection's socket goes to nfdns-tls. */
void
tls_hand_over(struct tls_upstreams *t, monotime_t now, struct tls_upstream *u,
    int fd)
{
	struct tls_peer peer = { .family = (int)u->to.family,
		.port = (uint16_t)u->to.port };
	uint8_t body[TLS_PEER_MAX];

	memcpy(peer.address, u->to.address, sizeof(peer.address));
	(void)snprintf(peer.name, sizeof(peer.name), "%s", u->to.tls_name);
	u->state = TLS_SHAKES;
	if (!order(t, TLS_OPEN, u->connection, body,
	    tls_peer_write(&peer, body), fd)) {
		t->stuck = true;
		tls_connection_over(t, now, u, TLS_END_FULL,
		    "nfdns-tls does not take it");
	}
	dialer_shut(t->dialer, fd);
}

/* Begins a connection, if it may. */
void
tls_begin(struct tls_upstreams *t, monotime_t now, struct tls_upstream *u)
{
	int fd;

	if (u->state != TLS_IDLE || t->channel < 0 || t->stuck ||
	    !dialer_ready(t->dialer) || (monotime_is_set(u->retry) &&
	    !monotime_is_past(now, u->retry)))
		return;
	u->connection = dialer_number(t->dialer);
	u->deadline = monotime_add_ms(now, HANDSHAKE_MS);
	u->retry = MONOTIME_NEVER;
	fd = dialer_open(t->dialer, u->connection, &u->to);
	if (fd >= 0)
		tls_hand_over(t, now, u, fd);
	else if (fd == -EINPROGRESS)
		u->state = TLS_WAITS_SOCKET;
	else
		tls_connection_over(t, now, u, TLS_END_NETWORK, strerror(-fd));
}

void
tls_watch(struct tls_upstreams *t)
{
	struct epoll_event event = {
		.events = EPOLLIN | (t->blocked ? EPOLLOUT : 0),
		.data.ptr = t,
	};

	(void)epoll_ctl(t->epoll, EPOLL_CTL_MOD, t->channel, &event);
}

/* Sends what waits, as far as there is room. */
void
tls_flush(struct tls_upstreams *t, monotime_t now, struct tls_upstream *u)
{
	struct stream_question *q;

	if (u->state != TLS_OPENED_UP)
		return;
	while (!t->blocked && (q = TAILQ_FIRST(&u->waiting)) != NULL) {
		if (!order(t, TLS_ASK, u->connection, q->octets, q->length,
		    -1)) {
			t->blocked = true;
			tls_watch(t);
			break;
		}
		stream_question_move(q, &u->sent);
		stream_question_sent(&t->questions, q, u->connection);
		u->awaited++;
		u->idle = MONOTIME_NEVER;
		if (!monotime_is_set(u->mute))
			u->mute = monotime_add_ms(now, TLS_MUTE_MS);
	}
}

/* It is closed in some time, if no question comes. */
void
tls_rest(const struct tls_upstreams *t, monotime_t now, struct tls_upstream *u)
{
	if (u->state == TLS_OPENED_UP && !has_questions(u))
		u->idle = monotime_add_ms(now, (int64_t)t->idle_s * 1000);
}

/* All connections are gone with the channel; what they carried is asked again. */
void
tls_lose_channel(struct tls_upstreams *t, int error)
{
	if (t->channel < 0)
		return;
	(void)close(t->channel);
	t->channel = -1;
	t->blocked = t->stuck = false;
	for (size_t i = 0; i < t->places; i++) {
		struct tls_upstream *u = &t->all[i];

		take_back(t, u, true, error < 0 ? error : -ECONNRESET);
		if (u->state != TLS_IDLE)
			tls_reset(u);
	}
	if (error < 0 && !t->lost)
		log_warning("forwarding: nfdns-tls is gone: %s",
		    strerror(-error));
	t->lost = error < 0;
}
