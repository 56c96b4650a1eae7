/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The channel to nfdns-tls and what it says of tunnels, of which nothing is trusted. */
#include "nfq/upstream/tcp_state.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/log.h"

#define WANT_EVERY_MS	1000

static void
take_status(struct tcp_upstreams *t, monotime_t now, struct tcp_connection *c,
    const struct tls_message *m)
{
	static const int errors[TLS_STATUSES] = {
		[TLS_ENDED] = -ECONNRESET, [TLS_NETWORK] = -ECONNREFUSED,
		[TLS_FAILED] = -EPROTO, [TLS_CERTIFICATE] = -EPROTO,
		[TLS_FULL] = -ENOBUFS,
	};
	char why[TLS_TEXT];

	if (m->status < TLS_ENDED) {
		t->lost = false;
		t->stats[true].resumed += m->status == TLS_RESUMED;
		tcp_opened(t, now, c);
		return;
	}
	tcp_tunnel_failed(c, tls_text(why, m->body, m->length));
	tcp_over(t, now, c, TCP_END_PEER, errors[m->status]);
}

int
tcp_tunnel_opening(struct tcp_upstreams *t, monotime_t now,
    struct tcp_connection *c)
{
	struct tls_message m;
	int fds[TLS_FDS];
	const ssize_t length = tls_channel_receive(c->fd, t->message, fds);

	tls_channel_discard(fds);
	if (length < 0)
		return length == -EAGAIN ? 0 : (int)length;
	if (tls_message_parse(&m, t->message, (size_t)length) < 0 ||
	    m.kind != TLS_STATUS)
		return -EPROTO;
	take_status(t, now, c, &m);
	return 0;
}

/* Nothing comes over the channel but its end. */
void
tcp_tunnels_look(struct tcp_upstreams *t, monotime_t now)
{
	const ssize_t n = t->channel < 0 ? -1 : recv(t->channel, t->message,
	    sizeof(t->message), MSG_DONTWAIT);

	if (t->channel >= 0 && (n >= 0 || (errno != EAGAIN && errno != EINTR)))
		tcp_tunnels_lose(t, now, n > 0 ? -EPROTO : n == 0 ?
		    -ECONNRESET : -errno);
}

static struct tcp_connection *
any_tunnel(const struct tcp_upstreams *t)
{
	struct tcp_upstream *u;

	TAILQ_FOREACH(u, &t->upstreams, entry)
		if (tcp_is_tunnel(u) && !TAILQ_EMPTY(&u->connections))
			return TAILQ_FIRST(&u->connections);
	return NULL;
}

void
tcp_tunnels_lose(struct tcp_upstreams *t, monotime_t now, int error)
{
	struct tcp_connection *c;

	if (t->channel < 0)
		return;
	(void)close(t->channel);
	t->channel = -1;
	t->stuck = false;
	while ((c = any_tunnel(t)) != NULL)
		tcp_over(t, now, c, TCP_END_OURS, -ECONNRESET);
	if (error < 0 && !t->lost)
		log_warning("forwarding: nfdns-tls is gone: %s",
		    strerror(-error));
	t->lost = error < 0;
}

void
tcp_upstreams_use_tls(struct tcp_upstreams *t, monotime_t now, int channel)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = t };

	tcp_tunnels_lose(t, now, 0);
	if (epoll_ctl(t->epoll, EPOLL_CTL_ADD, channel, &event) < 0) {
		(void)close(channel);
		return;
	}
	t->channel = channel;
}

static bool
any_waits(const struct tcp_upstreams *t)
{
	const struct tcp_upstream *u;

	TAILQ_FOREACH(u, &t->upstreams, entry)
		if (tcp_is_tunnel(u) && u->waits > 0)
			return true;
	return false;
}

bool
tcp_upstreams_want_tls(struct tcp_upstreams *t, monotime_t now, bool any)
{
	if (t->channel >= 0 || (!any && !any_waits(t)) ||
	    (monotime_is_set(t->wanted) &&
	    monotime_ms_since(now, t->wanted) < WANT_EVERY_MS))
		return false;
	t->wanted = now;
	return true;
}
