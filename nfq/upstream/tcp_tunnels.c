/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections over TLS: how they begin, and what their ends say of servers.  One that
 * has brought answers may be ended by its server for want of questions; any other end
 * is a failure: its reason is shown, and after two in a row the server is left alone
 * for a while.
 */
#include "nfq/upstream/tcp_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/log.h"

#define RETRY_FIRST_MS	100	/* after two failures ... */
#define RETRY_MAX_MS	3200	/* ... doubled up to this */

bool
tcp_tunnels_are_ready(const struct tcp_upstreams *t,
    const struct tcp_upstream *u)
{
	return !tcp_is_tunnel(u) || (t->channel >= 0 && !t->stuck);
}

/* Sends the order with both; they stay the caller's. */
static int
send_open(struct tcp_upstreams *t, const struct tcp_connection *c,
    const int *fds)
{
	const struct forward_upstream *to = &c->upstream->to;
	struct tls_peer peer = { .family = (int)to->family,
		.port = (uint16_t)to->port };
	uint8_t header[TLS_HEADER], body[TLS_PEER_MAX];
	int error;

	memcpy(peer.address, to->address, sizeof(peer.address));
	(void)snprintf(peer.name, sizeof(peer.name), "%s", to->tls_name);
	tls_message_write(header, TLS_OPEN, 0);
	error = tls_channel_send(t->channel, header, body,
	    tls_peer_write(&peer, body), fds);
	t->stuck |= error < 0;
	return error;
}

int
tcp_tunnel_open(struct tcp_upstreams *t, const struct tcp_connection *c, int fd)
{
	int pair[2] = { -1, -1 }, error;

	error = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0, pair) < 0 ? -errno : 0;
	if (error == 0)
		error = send_open(t, c, (const int[TLS_FDS]){ fd, pair[1] });
	(void)close(fd);
	if (pair[1] >= 0)
		(void)close(pair[1]);
	if (error == 0)
		return pair[0];
	if (pair[0] >= 0)
		(void)close(pair[0]);
	return error;
}

static void
tell_failure(struct tcp_upstream *u, const char *why)
{
	char text[FORWARD_UPSTREAM_TEXT];

	if (strcmp(u->why, why) == 0)
		return;
	(void)snprintf(u->why, sizeof(u->why), "%s", why);
	log_warning("forwarding: upstream %s: %s",
	    forward_upstream_text(&u->to, text), u->why);
}

static const char *
why_over(const struct tcp_connection *c, int error)
{
	if (error == -ETIMEDOUT)
		return c->state == TCP_OPEN ? "it does not answer" :
		    "the TLS handshake takes too long";
	if (error == -EPROTO)
		return c->unasked > 0 ?
		    "it sends answers that nobody asked for" :
		    "the reply is not DNS";
	if (error == -ECONNRESET)
		return "the server closed the connection";
	return strerror(-error);
}

void
tcp_tunnel_failed(struct tcp_connection *c, const char *why)
{
	tell_failure(c->upstream, why);
	c->told = true;
}

void
tcp_tunnel_over(struct tcp_upstreams *t, monotime_t now,
    struct tcp_connection *c, enum tcp_end end, int error)
{
	struct tcp_upstream *u = c->upstream;
	const bool has_worked = c->answers > 0 || c->carried == 0;
	int64_t wait = RETRY_FIRST_MS;

	u->retry = MONOTIME_NEVER;
	if (end == TCP_END_OURS || (end == TCP_END_PEER && has_worked &&
	    c->state == TCP_OPEN && error != -EPROTO && !c->told))
		return;
	t->stats[true].failed++;
	if (!c->told)
		tell_failure(u, why_over(c, error));
	if (++u->failures < 2)
		return;
	for (unsigned int i = 2; i < u->failures && wait < RETRY_MAX_MS; i++)
		wait *= 2;
	u->retry = monotime_add_ms(now, wait);
}

void
tcp_tunnel_works(struct tcp_upstream *u)
{
	char text[FORWARD_UPSTREAM_TEXT];

	if (u->why[0] != '\0')
		log_notice("forwarding: upstream %s answers again",
		    forward_upstream_text(&u->to, text));
	u->why[0] = '\0';
	u->failures = 0;
}

const char *
tcp_upstreams_why(const struct tcp_upstreams *t,
    const struct forward_upstream *to)
{
	const struct tcp_upstream *u;

	TAILQ_FOREACH(u, &t->upstreams, entry)
		if (forward_upstream_same(&u->to, to))
			return u->why;
	return "";
}
