/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A link's way to the server; link_call.c has what happens on it then. */
#include "resolver/feed/link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/text/given.h"
#include "resolver/feed/text.h"
#include "resolver/text/printable.h"

/* A link's way through an HTTP proxy (RFC 9110, section 9.3.6). */

static int
send_request(struct link *l, char why[static FEED_TEXT])
{
	struct link_tunnel *t = l->tunnel;
	const ssize_t n = transport_write(&l->transport, t->octets, t->length,
	    why);

	if (n < 0)
		return (int)n;
	/* It is the first segment of the connection: all of it, or nothing. */
	if ((size_t)n < t->length) {
		(void)snprintf(why, FEED_TEXT, "the proxy takes nothing");
		return -ECONNABORTED;
	}
	explicit_bzero(t->octets, t->length);
	t->sent = true;
	t->length = 0;
	return -EAGAIN;
}

/* "HTTP/1.1 200 ..." is all that counts. */
static int
judge(const struct link_tunnel *t, char why[static FEED_TEXT])
{
	const char *end = memchr(t->octets, '\r', t->length);
	char line[120];

	if (t->length > 12 && memcmp(t->octets, "HTTP/1.", 7) == 0 &&
	    t->octets[8] == ' ' && t->octets[9] == '2')
		return 0;
	(void)printable_text(line, sizeof(line), t->octets,
	    end != NULL ? (size_t)(end - t->octets) : t->length);
	(void)snprintf(why, FEED_TEXT, "the proxy makes no tunnel: \"%s\"",
	    line);
	return -ECONNABORTED;
}

/* Nothing comes behind the header before the server is spoken to. */
static int
link_tunnel_step(struct link *l, char why[static FEED_TEXT])
{
	struct link_tunnel *t = l->tunnel;
	ssize_t n;

	if (!t->sent)
		return send_request(l, why);
	n = transport_read(&l->transport, t->octets + t->length,
	    sizeof(t->octets) - t->length, why);
	if (n < 0)
		return (int)n;
	t->length += (size_t)n;
	if (t->length >= 4 &&
	    memmem(t->octets, t->length, "\r\n\r\n", 4) != NULL)
		return judge(t, why);
	if (n > 0 && t->length < sizeof(t->octets))
		return -EAGAIN;
	(void)snprintf(why, FEED_TEXT, n == 0 ? "the proxy closed the connection"
	    : "the proxy's answer has no end");
	return -ECONNABORTED;
}

struct link_options
link_options_of(const struct feed_config *config, struct tls_options *tls,
    const char *path)
{
	*tls = (struct tls_options){
		.roots = { .name = "root_cert", .path = config->root_cert },
		.cert = { .name = "cert", .path = config->cert },
		.key = { .name = "key", .path = config->key } };
	return (struct link_options){ .server = config->server,
		.addresses = config->addresses,
		.address_count = config->address_count,
		.tls = config->plaintext ? NULL : tls,
		.token = config->token, .ping_ms = KEEPALIVE_INTERVAL_MS,
		.path = path, .cluster = config->node.cluster,
		.limit = config->limit };
}

static void
set_deadline(struct link *l, enum link_state state, int64_t ms, monotime_t now)
{
	l->state = state;
	l->deadline = monotime_add_ms(now, ms);
}

/* The token as a header's value.  Why not, in "why", if there is none. */
static bool
read_token(struct link *l, char why[static FEED_TEXT])
{
	const char *path = l->options.token;
	struct small_file file;
	struct span token;
	int error;

	(void)snprintf(why, FEED_TEXT, "no token is configured");
	if (!text_is_given(path))
		return false;
	error = small_file_read(path, &file);
	if (error != 0) {
		(void)snprintf(why, FEED_TEXT, "token %.80s: %s", path,
		    small_file_error(error));
		return false;
	}
	token = small_file_token(file.octets, file.length, LINK_TOKEN_MOST);
	memmove(file.octets, token.text, token.length);
	file.octets[token.length] = '\0';
	(void)snprintf(why, FEED_TEXT, "token %.80s: there is none in it", path);
	if (token.length > 0)
		l->token = file;
	else
		small_file_wipe(&file);
	return token.length > 0;
}

/*
 * Whom are we going to be?  The certificate if it is good, and only otherwise
 * the token.  False: neither, and the link has failed.
 */
static bool
choose_identity(struct link *l)
{
	const struct link_options *o = &l->options;
	const struct tls_client *client = &l->tls;
	char why[FEED_TEXT];

	if (client->pair == TLS_PAIR_GOOD)
		return true;
	l->end.torn = client->pair == TLS_PAIR_TORN;
	if (l->end.torn && !o->gave_time) {
		link_fail(l, FEED_CAUSE_TLS, "%s", client->why);
		return false;
	}
	if (o->has_token || read_token(l, why))
		return true;
	if (!pem_is_given(&o->tls->cert) && !text_is_given(o->token))
		return true;			/* nobody is what was asked for */
	link_fail(l, FEED_CAUSE_TLS, "%.140s%s%.100s", client->why,
	    *client->why != '\0' ? ", and " : "", why);
	return false;
}

/* False: the link has failed. */
static bool
prepare_tls(struct link *l)
{
	char why[FEED_TEXT];

	l->is_tls = l->options.tls != NULL;
	if (!l->is_tls)
		return true;
	if (tls_client_new(&l->tls, l->options.tls, realtime_s(), why) == 0)
		return choose_identity(l);
	link_fail(l, FEED_CAUSE_TLS, "%s", why);
	return false;
}

/* Begins to connect to the next address that lets it. */
static int
start_address(struct link *l, monotime_t now)
{
	struct link_attempt *a = &l->attempts[l->attempt_count];
	int error = -EADDRNOTAVAIL;

	while (l->tried < l->addresses.count) {
		size_t i = (l->options.turn + l->tried++) % l->addresses.count;

		a->address = &l->addresses.list[i];
		a->transport = (struct transport)TRANSPORT_INIT;
		a->deadline = monotime_add_ms(now, LINK_CONNECT_MS);
		error = transport_connect(&a->transport, a->address);
		if (error == 0) {
			l->attempt_count++;
			break;
		}
		resolve_print(a->address, l->peer);
	}
	l->next = l->tried < l->addresses.count ?
	    monotime_add_ms(now, LINK_NEXT_MS) : MONOTIME_NEVER;
	return error;
}

/* From the next address on; the link has failed if there is none. */
static void
start_addresses(struct link *l, monotime_t now)
{
	int error;

	l->state = LINK_CONNECTING;
	error = start_address(l, now);
	if (error != 0)
		link_fail(l, FEED_CAUSE_CONNECT, "%.60s: %s", l->peer,
		    strerror(-error));
}

/* The address that was taken is of no use; is there another? */
static void
fail_address(struct link *l, enum feed_cause cause, const char *why,
    monotime_t now)
{
	char text[FEED_TEXT];

	(void)snprintf(text, sizeof(text), "%.60s: %.180s", l->peer, why);
	l->end.refused |= l->transport.trouble == TLS_TROUBLE_REFUSED;
	transport_close(&l->transport);
	if (l->tried == l->addresses.count)
		link_fail(l, cause, "%s", text);
	else
		start_addresses(l, now);
}

static void
end_attempt(struct link *l, size_t i)
{
	transport_close(&l->attempts[i].transport);
	l->attempts[i] = l->attempts[--l->attempt_count];
}

/* The request for a tunnel to the server; 0 or a negative errno. */
static int
prepare_tunnel(struct link *l)
{
	const struct link_proxy *proxy = l->options.proxy;
	const char *server = l->options.server;
	int length;

	if (proxy == NULL)
		return 0;
	l->tunnel = calloc(1, sizeof(*l->tunnel));
	if (l->tunnel == NULL)
		return -ENOMEM;
	length = snprintf(l->tunnel->octets, sizeof(l->tunnel->octets),
	    "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s%s%s\r\n", server, server,
	    proxy->authorization != NULL ? "Proxy-Authorization: " : "",
	    proxy->authorization != NULL ? proxy->authorization : "",
	    proxy->authorization != NULL ? "\r\n" : "");
	l->tunnel->length = (size_t)length;
	return l->tunnel->length < sizeof(l->tunnel->octets) ? 0 : -EMSGSIZE;
}

static void
find_addresses(struct link *l, uint16_t port, monotime_t now)
{
	const struct link_options *o = &l->options;

	for (size_t i = 0; o->proxy == NULL && i < o->address_count; i++)
		(void)resolve_literal(o->addresses[i], port, &l->addresses);
	if (l->addresses.count == 0)
		(void)resolve_literal(l->to, port, &l->addresses);
	if (l->addresses.count > 0) {
		start_addresses(l, now);
		return;
	}
	l->resolve = resolve_new(l->to, port);
	if (l->resolve == NULL)
		link_fail(l, FEED_CAUSE_CONNECT, "resolving %.150s: no memory",
		    l->to);
}

struct link *
link_new(const struct link_options *options, monotime_t now)
{
	struct link *l = calloc(1, sizeof(*l));
	uint16_t port;

	if (l == NULL)
		return NULL;
	l->options = *options;
	l->transport = (struct transport)TRANSPORT_INIT;
	l->end.status = GRPC_UNAVAILABLE;
	set_deadline(l, LINK_RESOLVING, LINK_RESOLVE_MS, now);
	if (options->server == NULL ||
	    !host_split(options->server, l->host, &port)) {
		link_fail(l, FEED_CAUSE_CONNECT, "server is not HOST:PORT");
		return l;
	}
	memcpy(l->to, l->host, sizeof(l->to));
	if (options->proxy != NULL &&
	    (!host_split(options->proxy->server, l->to, &port) ||
	    prepare_tunnel(l) != 0)) {
		link_fail(l, FEED_CAUSE_CONNECT, "the proxy cannot be used");
		return l;
	}
	if (prepare_tls(l))
		find_addresses(l, port, now);
	if (options->tls_host != NULL)
		(void)snprintf(l->host, sizeof(l->host), "%s",
		    options->tls_host);
	return l;
}

void
link_free(struct link *link)
{
	if (link == NULL)
		return;
	if (link->state == LINK_SETTLING || link->state == LINK_OPEN) {
		http2_cancel(link->http2);
		link_flush(link);
	}
	while (link->attempt_count > 0)
		end_attempt(link, 0);
	resolve_free(link->resolve);
	transport_close(&link->transport);
	http2_free(link->http2);
	tls_client_free(&link->tls);
	small_file_wipe(&link->token);
	if (link->tunnel != NULL)
		explicit_bzero(link->tunnel, sizeof(*link->tunnel));
	free(link->tunnel);
	free(link);
}

void
link_abandon(struct link *link, enum feed_cause cause, const char *why)
{
	if (link->state == LINK_SETTLING || link->state == LINK_OPEN) {
		http2_cancel(link->http2);
		link_flush(link);
	}
	link_fail(link, cause, "%s", why);
}

static void
step_resolving(struct link *l, const struct pollfd *fds, size_t count,
    monotime_t now)
{
	const struct resolve_addresses *found;
	const char *why;

	if (!resolve_step(l->resolve, fds, count)) {
		if (monotime_is_past(now, l->deadline))
			link_fail(l, FEED_CAUSE_TIMEOUT,
			    "resolving %.150s took too long", l->to);
		return;
	}
	found = resolve_result(l->resolve, &why);
	if (found == NULL) {
		link_fail(l, FEED_CAUSE_CONNECT, "resolving %.100s: %s",
		    l->to, why);
		return;
	}
	l->addresses = *found;
	start_addresses(l, now);
}

/* The transport is there: begin to speak HTTP/2. */
static void
begin_call(struct link *l, monotime_t now)
{
	int error = link_call_begin(l);

	small_file_wipe(&l->token);
	if (error != 0) {
		link_fail(l, FEED_CAUSE_PROTOCOL, "no memory for a call");
		return;
	}
	keepalive_start(&l->keepalive, l->options.ping_ms, now);
	l->has_more = true;
	set_deadline(l, LINK_SETTLING, LINK_SETTLE_MS, now);
	link_exchange(l, now);
}

static void
step_handshake(struct link *l, monotime_t now)
{
	char why[FEED_TEXT];
	int error = transport_handshake(&l->transport, why);

	if (error == 0)
		begin_call(l, now);
	else if (error != -EAGAIN)
		fail_address(l, l->transport.trouble == TLS_TROUBLE_NETWORK ?
		    FEED_CAUSE_RESET : FEED_CAUSE_TLS, why, now);
	else if (monotime_is_past(now, l->deadline))
		fail_address(l, FEED_CAUSE_TIMEOUT,
		    "the TLS handshake took too long", now);
}

static void
begin_handshake(struct link *l, monotime_t now)
{
	SSL *ssl = tls_client_ssl(&l->tls, l->host);

	if (ssl == NULL || transport_secure(&l->transport, ssl,
	    l->tls.pair == TLS_PAIR_GOOD) != 0) {
		link_fail(l, FEED_CAUSE_TLS, "no memory for TLS");
		return;
	}
	set_deadline(l, LINK_HANDSHAKE, LINK_HANDSHAKE_MS, now);
	step_handshake(l, now);
}

/* The server is at the other end. */
static void
go_on_connected(struct link *l, monotime_t now)
{
	if (l->is_tls)
		begin_handshake(l, now);
	else
		begin_call(l, now);
}

static void
step_tunnel(struct link *l, monotime_t now)
{
	char why[FEED_TEXT];
	int error = link_tunnel_step(l, why);

	if (error == 0)
		go_on_connected(l, now);
	else if (error != -EAGAIN)
		link_fail(l, FEED_CAUSE_CONNECT, "%.60s: %.180s", l->peer, why);
	else if (monotime_is_past(now, l->deadline))
		link_fail(l, FEED_CAUSE_TIMEOUT,
		    "%.60s: the proxy does not answer", l->peer);
}

/* This address answered first. */
static void
take_attempt(struct link *l, size_t i, monotime_t now)
{
	resolve_print(l->attempts[i].address, l->peer);
	l->transport = l->attempts[i].transport;
	l->attempts[i].transport = (struct transport)TRANSPORT_INIT;
	while (l->attempt_count > 0)
		end_attempt(l, 0);
	if (l->tunnel != NULL) {
		set_deadline(l, LINK_TUNNEL, LINK_TUNNEL_MS, now);
		step_tunnel(l, now);
	} else {
		go_on_connected(l, now);
	}
}

/*
 * One address after the other that has answered or waited for too long; "fds" are
 * of the attempts before any is ended, so the last one is looked at first.
 */
static void
step_connecting(struct link *l, const struct pollfd *fds, size_t count,
    monotime_t now)
{
	enum feed_cause cause = FEED_CAUSE_CONNECT;
	char why[FEED_TEXT] = "";
	int error = 0;

	for (size_t i = l->attempt_count; i-- > 0;) {
		struct link_attempt *a = &l->attempts[i];
		const bool ready = i < count && fds[i].revents != 0;
		const int failed = ready ?
		    transport_connected(&a->transport) : 0;

		if (ready && failed == 0) {
			take_attempt(l, i, now);
			return;
		}
		if (!ready && !monotime_is_past(now, a->deadline))
			continue;
		cause = ready ? FEED_CAUSE_CONNECT : FEED_CAUSE_TIMEOUT;
		(void)snprintf(why, sizeof(why), "%s", ready ?
		    strerror(-failed) : "connecting took too long");
		resolve_print(a->address, l->peer);
		end_attempt(l, i);
		l->next = now;
	}
	if (l->tried < l->addresses.count && l->attempt_count < LINK_ATTEMPTS &&
	    monotime_is_past(now, l->next))
		error = start_address(l, now);
	if (error != 0)
		(void)snprintf(why, sizeof(why), "%s", strerror(-error));
	if (l->attempt_count == 0)
		link_fail(l, cause, "%.60s: %.180s", l->peer, why);
}

void
link_step(struct link *link, const struct pollfd *fds, size_t count,
    monotime_t now)
{
	switch (link->state) {
	case LINK_RESOLVING:
		step_resolving(link, fds, count, now);
		break;
	case LINK_CONNECTING:
		step_connecting(link, fds, count, now);
		break;
	case LINK_TUNNEL:
		step_tunnel(link, now);
		break;
	case LINK_HANDSHAKE:
		step_handshake(link, now);
		break;
	case LINK_SETTLING:
	case LINK_OPEN:
		if (link->has_more || (count > 0 && fds[0].revents != 0))
			link_exchange(link, now);
		link_watch(link, now);
		break;
	case LINK_FAILED:
		break;
	}
}

static short
events_of(const struct link *l)
{
	if (l->state == LINK_TUNNEL)
		return l->tunnel->sent ? POLLIN : POLLOUT;
	if (l->state == LINK_HANDSHAKE)
		return l->transport.wants_write ? POLLOUT : POLLIN;
	return (short)(POLLIN |
	    (l->is_blocked || l->transport.wants_write ? POLLOUT : 0));
}

size_t
link_poll(struct link *link, struct pollfd *fds, monotime_t now)
{
	(void)now;
	if (link->state == LINK_RESOLVING)
		return resolve_poll(link->resolve, fds);
	if (link->state == LINK_FAILED)
		return 0;
	if (link->state == LINK_CONNECTING) {
		for (size_t i = 0; i < link->attempt_count; i++)
			fds[i] = (struct pollfd){
				link->attempts[i].transport.fd, POLLOUT, 0 };
		return link->attempt_count;
	}
	fds[0] = (struct pollfd){ link->transport.fd, events_of(link), 0 };
	return 1;
}

static monotime_t
connecting_deadline(const struct link *l)
{
	monotime_t deadline = l->attempts[0].deadline;

	for (size_t i = 1; i < l->attempt_count; i++)
		deadline = monotime_first(deadline, l->attempts[i].deadline);
	return l->attempt_count < LINK_ATTEMPTS ?
	    monotime_first(deadline, l->next) : deadline;
}

monotime_t
link_deadline(struct link *link, monotime_t now)
{
	int ms;

	switch (link->state) {
	case LINK_RESOLVING:
		ms = resolve_timeout_ms(link->resolve);
		return ms < 0 ? link->deadline :
		    monotime_first(link->deadline, monotime_add_ms(now, ms));
	case LINK_CONNECTING:
		return connecting_deadline(link);
	case LINK_FAILED:
		return now;
	case LINK_OPEN:
		return link->has_more ? now :
		    keepalive_deadline(&link->keepalive);
	default:
		return link->has_more ? now : link->deadline;
	}
}
