/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A link's way to the server, address by address; link_call.c has the rest. */
#include "resolver/feed/link_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/feed/route_watch.h"
#include "resolver/text/given.h"

/* Tries the next address; defined below, since trying may fail at once. */
static void start_addresses(struct link *l, monotime_t now);

/* This address is of no use; is there another? */
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
set_deadline(struct link *l, enum link_state state, int64_t ms, monotime_t now)
{
	l->state = state;
	l->deadline = monotime_add_ms(now, ms);
}

/* The token as a header's value.  Why not, in "why", if there is none. */
static bool
read_token(struct link *l, char why[static FEED_TEXT])
{
	const char *path = l->options.config->token;
	struct small_file file;
	struct span token;
	int error;

	(void)snprintf(why, FEED_TEXT, "no token is configured");
	if (!text_is_given(path))
		return false;
	error = small_file_read(path, &file);
	if (error != 0) {
		(void)snprintf(why, FEED_TEXT, "token %.80s: %s", path,
		    strerror(-error));
		return false;
	}
	token = small_file_token(file.octets, file.length, LINK_TOKEN_MOST);
	memmove(file.octets, token.text, token.length);
	file.octets[token.length] = '\0';
	(void)snprintf(why, FEED_TEXT, "token %.80s: there is none in it", path);
	small_file_wipe(&l->token);
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
choose_identity(struct link *l, const struct tls_client *client)
{
	const struct feed_config *config = l->options.config;
	char why[FEED_TEXT];

	small_file_wipe(&l->token);
	l->certificate.begin = client->begin;
	l->certificate.end = client->end;
	if (client->pair == TLS_PAIR_GOOD)
		return true;
	l->end.torn = client->pair == TLS_PAIR_TORN;
	if (l->end.torn && !l->options.gave_time) {
		link_fail(l, FEED_CAUSE_TLS, "%s", client->why);
		return false;
	}
	if (read_token(l, why))
		return true;
	if (!text_is_given(config->cert) && !text_is_given(config->token))
		return true;			/* nobody is what was asked for */
	link_fail(l, FEED_CAUSE_TLS, "%.140s%s%.100s", client->why,
	    *client->why != '\0' ? ", and " : "", why);
	return false;
}

/* False: the link has failed. */
static bool
prepare_tls(struct link *l, struct tls_client *client)
{
	char why[FEED_TEXT];
	int error;

	memset(client, 0, sizeof(*client));
	if (l->options.config->plaintext)
		return true;
	error = tls_client_new(client, l->options.config, l->host,
	    realtime_s(), l->options.refused, why);
	if (error != 0) {
		link_fail(l, FEED_CAUSE_TLS, "%s", why);
		return false;
	}
	if (choose_identity(l, client))
		return true;
	SSL_free(client->ssl);
	return false;
}

static int
start_address(struct link *l, const struct resolve_address *address,
    monotime_t now)
{
	struct tls_client client;
	int error;

	resolve_print(address, l->peer);
	if (!prepare_tls(l, &client))
		return 0;			/* it has failed for good */
	error = transport_connect(&l->transport, address);
	if (error == 0 && client.ssl != NULL) {
		error = transport_secure(&l->transport, client.ssl,
		    client.pair == TLS_PAIR_GOOD);
		client.ssl = NULL;
	}
	SSL_free(client.ssl);
	if (error == 0)
		set_deadline(l, LINK_CONNECTING, LINK_CONNECT_MS, now);
	return error;
}

/* The next address to which connecting can at least begin. */
static void
start_addresses(struct link *l, monotime_t now)
{
	int error = -EADDRNOTAVAIL;

	while (l->tried < l->addresses.count) {
		size_t i = (l->options.turn + l->tried++) % l->addresses.count;

		error = start_address(l, &l->addresses.list[i], now);
		if (error == 0)
			return;
		transport_close(&l->transport);
	}
	link_fail(l, FEED_CAUSE_CONNECT, "%.60s: %s", l->peer,
	    strerror(-error));
}

struct link *
link_new(const struct link_options *options, monotime_t now)
{
	const struct feed_config *config = options->config;
	struct link *l = calloc(1, sizeof(*l));
	uint16_t port;

	if (l == NULL)
		return NULL;
	l->options = *options;
	l->transport = (struct transport)TRANSPORT_INIT;
	l->end.status = GRPC_UNAVAILABLE;
	set_deadline(l, LINK_RESOLVING, LINK_RESOLVE_MS, now);
	if (config->server == NULL ||
	    !host_split(config->server, l->host, &port)) {
		link_fail(l, FEED_CAUSE_CONNECT, "server is not HOST:PORT");
		return l;
	}
	for (size_t i = 0; i < config->address_count; i++)
		(void)resolve_literal(config->addresses[i], port,
		    &l->addresses);
	if (l->addresses.count == 0)
		(void)resolve_literal(l->host, port, &l->addresses);
	if (l->addresses.count > 0) {
		start_addresses(l, now);
		return l;
	}
	l->resolve = resolve_new(l->host, port);
	if (l->resolve != NULL)
		return l;
	link_free(l);
	return NULL;
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
	resolve_free(link->resolve);
	transport_close(&link->transport);
	http2_free(link->http2);
	small_file_wipe(&link->token);
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
			    "resolving %.150s took too long", l->host);
		return;
	}
	found = resolve_result(l->resolve, &why);
	if (found == NULL) {
		link_fail(l, FEED_CAUSE_CONNECT, "resolving %.100s: %s",
		    l->host, why);
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
step_connecting(struct link *l, const struct pollfd *fds, size_t count,
    monotime_t now)
{
	int error;

	if (count == 0 || fds[0].revents == 0) {
		if (monotime_is_past(now, l->deadline))
			fail_address(l, FEED_CAUSE_TIMEOUT,
			    "connecting took too long", now);
		return;
	}
	error = transport_connected(&l->transport);
	if (error != 0) {
		fail_address(l, FEED_CAUSE_CONNECT, strerror(-error), now);
	} else if (l->transport.ssl != NULL) {
		set_deadline(l, LINK_HANDSHAKE, LINK_HANDSHAKE_MS, now);
		step_handshake(l, now);
	} else {
		begin_call(l, now);
	}
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

void
link_check_route(struct link *link, monotime_t now)
{
	if (link->state == LINK_RESOLVING || link->state == LINK_FAILED)
		return;
	switch (route_of(link->transport.fd)) {
	case ROUTE_GOOD:
		break;
	case ROUTE_OTHER:
		link_suspect(link, now);
		break;
	case ROUTE_LOST:
		link_fail(link, FEED_CAUSE_RESET, "the connection's address is "
		    "not this machine's any more");
		break;
	}
}

static short
events_of(const struct link *l)
{
	if (l->state == LINK_CONNECTING)
		return POLLOUT;
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
	fds[0] = (struct pollfd){ link->transport.fd, events_of(link), 0 };
	return 1;
}

static monotime_t
earlier(monotime_t a, monotime_t b)
{
	return monotime_is_past(a, b) ? b : a;
}

monotime_t
link_deadline(struct link *link, monotime_t now)
{
	int ms;

	switch (link->state) {
	case LINK_RESOLVING:
		ms = resolve_timeout_ms(link->resolve);
		return ms < 0 ? link->deadline :
		    earlier(link->deadline, monotime_add_ms(now, ms));
	case LINK_FAILED:
		return now;
	case LINK_OPEN:
		return link->has_more ? now :
		    keepalive_deadline(&link->keepalive);
	default:
		return link->has_more ? now : link->deadline;
	}
}
