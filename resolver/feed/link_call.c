/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happens on a link whose transport is there. */
#include "resolver/feed/link.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "resolver/text/given.h"

#define READ_SIZE	((size_t)16 << 10)
#define READS_A_STEP	64		/* then the others have their turn */

void
link_fail(struct link *l, enum feed_cause cause, const char *format, ...)
{
	va_list args;

	if (l->state == LINK_FAILED)
		return;
	l->end.cause = cause;
	va_start(args, format);
	(void)vsnprintf(l->end.why, sizeof(l->end.why), format, args);
	va_end(args);
	transport_close(&l->transport);
	l->state = LINK_FAILED;
}

int
link_call_begin(struct link *l)
{
	const struct link_options *o = &l->options;
	struct http2_header headers[2];
	struct http2_request request = {
		.scheme = l->transport.ssl != NULL ? "https" : "http",
		.authority = o->server, .path = o->path, .headers = headers };
	char bearer[sizeof("Bearer ") + LINK_TOKEN_MOST];
	int error;

	l->http2 = http2_new(o->limit != 0 ? o->limit : LINK_LIMIT_DEFAULT);
	if (l->http2 == NULL)
		return -ENOMEM;
	if (o->path == NULL)
		return 0;			/* GETs, one by one */
	if (text_is_given(o->cluster))
		headers[request.header_count++] = (struct http2_header){
			"clusterid", o->cluster };
	/* Only what TLS protects carries a token: there is none otherwise. */
	if (l->transport.ssl != NULL && l->token.length > 0) {
		(void)snprintf(bearer, sizeof(bearer), "Bearer %s",
		    l->token.octets);
		headers[request.header_count++] = (struct http2_header){
			"authorization", bearer };
	}
	error = http2_call(l->http2, &request);
	explicit_bzero(bearer, sizeof(bearer));
	return error;
}

/* The call is over: what the server said of it is the reason. */
static void
take_state(struct link *l)
{
	const struct http2_state *state = http2_state(l->http2);
	enum feed_cause cause = state->cause;

	if (state->settled && l->state == LINK_SETTLING)
		l->state = LINK_OPEN;
	if (!state->ended || l->state == LINK_FAILED)
		return;
	/* Servers end calls in many ways after they have said goodbye. */
	if (state->going && (cause == FEED_CAUSE_RESET ||
	    (cause == FEED_CAUSE_STATUS && state->status == GRPC_UNAVAILABLE)))
		cause = FEED_CAUSE_PLANNED;
	l->end.status = state->status;
	l->end.too_many_pings = state->too_many_pings;
	link_fail(l, cause, "%s", state->why);
}

/*
 * Servers that want a certificate, or another one, often close without a word;
 * so do those that do not speak TLS, or nothing else.
 */
static const char *
advice(const struct link *l)
{
	if (l->transport.ssl == NULL)
		return "is it one for plaintext?";
	return l->transport.offered ? "does it accept this certificate?" :
	    "does it want a client certificate?";
}

/* The connection is gone. */
static void
lose(struct link *l, enum feed_cause cause, const char *why)
{
	const struct http2_state *state = http2_state(l->http2);

	if (state->ended)
		take_state(l);
	else if (!state->settled && cause == FEED_CAUSE_RESET)
		link_fail(l, cause, "%.60s: %.120s before it said anything; %s",
		    l->peer, why, advice(l));
	else if (state->going)
		link_fail(l, FEED_CAUSE_PLANNED,
		    "the server closed the connection as announced");
	else if (http2_inside(l->http2) > 0)
		link_fail(l, cause, "%.200s, within a message", why);
	else
		link_fail(l, cause, "%s", why);
}

void
link_flush(struct link *l)
{
	const uint8_t *octets;
	char why[FEED_TEXT];
	size_t length;

	l->is_blocked = false;
	while (l->state != LINK_FAILED && !l->is_broken &&
	    http2_output(l->http2, &octets, &length)) {
		ssize_t n = transport_write(&l->transport, octets, length, why);

		if (n == -EAGAIN) {
			l->is_blocked = true;
			return;
		}
		if (n < 0) {
			/* What there is to read may say why. */
			l->is_broken = l->has_more = true;
			return;
		}
		http2_written(l->http2, (size_t)n);
	}
}

/* False: nothing more is there. */
static bool
read_once(struct link *l, monotime_t now)
{
	uint8_t octets[READ_SIZE];
	char why[FEED_TEXT];
	ssize_t n = transport_read(&l->transport, octets, sizeof(octets), why);

	if (n == -EAGAIN)
		return false;
	if (n <= 0) {
		l->end.refused = l->transport.trouble == TLS_TROUBLE_REFUSED;
		lose(l, l->transport.trouble == TLS_TROUBLE_NETWORK ?
		    FEED_CAUSE_RESET : FEED_CAUSE_TLS,
		    n == 0 ? "the server closed the connection" : why);
		return false;
	}
	l->heard = true;
	keepalive_heard(&l->keepalive, now);
	http2_receive(l->http2, octets, (size_t)n);
	return !http2_state(l->http2)->ended;
}

void
link_exchange(struct link *l, monotime_t now)
{
	unsigned int reads = 0;

	l->has_more = false;
	while (reads < READS_A_STEP && read_once(l, now))
		reads++;
	l->has_more = reads == READS_A_STEP;
	if (l->state == LINK_FAILED)
		return;
	if (l->is_broken)
		lose(l, FEED_CAUSE_RESET, "the connection takes nothing");
	link_flush(l);
	take_state(l);
}

void
link_watch(struct link *l, monotime_t now)
{
	if (l->state == LINK_SETTLING && monotime_is_past(now, l->deadline))
		link_fail(l, FEED_CAUSE_TIMEOUT,
		    "the server accepted the connection but does not answer: "
		    "no HTTP/2 SETTINGS");
	if (l->state != LINK_OPEN)
		return;
	switch (keepalive_step(&l->keepalive, now)) {
	case KEEPALIVE_WAIT:
		break;
	case KEEPALIVE_PING:
		keepalive_sent(&l->keepalive, now);
		http2_ping(l->http2);
		link_flush(l);
		break;
	case KEEPALIVE_DEAD:
		link_fail(l, FEED_CAUSE_TIMEOUT, "the server does not answer "
		    "a ping: no octet for %d seconds",
		    KEEPALIVE_TIMEOUT_MS / 1000);
		break;
	}
}

int
link_send(struct link *link, const void *octets, size_t length)
{
	int error;

	if (link->http2 == NULL || link->state == LINK_FAILED)
		return -ENOTCONN;
	error = http2_send(link->http2, octets, length);
	link_flush(link);
	return error;
}

void
link_send_end(struct link *link)
{
	if (link->http2 == NULL || link->state == LINK_FAILED)
		return;
	http2_send_end(link->http2);
	link_flush(link);
}

int
link_get(struct link *link, const struct http2_request *request,
    const struct http2_reader *reader)
{
	int error;

	if (link->http2 == NULL || link->state == LINK_FAILED)
		return -ENOTCONN;
	error = http2_get(link->http2, request, reader);
	link_flush(link);
	return error;
}

bool
link_is_whole(const struct link *link)
{
	return link->http2 != NULL && http2_state(link->http2)->whole;
}

uint8_t *
link_message(struct link *link, size_t *length)
{
	return link->http2 != NULL ? http2_message(link->http2, length) : NULL;
}

size_t
link_inside(const struct link *link)
{
	return link->http2 != NULL ? http2_inside(link->http2) : 0;
}

size_t
link_coming(const struct link *link)
{
	return link->http2 != NULL ? http2_coming(link->http2) : 0;
}

bool
link_waits(const struct link *link)
{
	return link->http2 != NULL && http2_waits(link->http2);
}

void
link_hold(struct link *link, uint64_t octets)
{
	const bool waited = link_waits(link);

	if (link->http2 == NULL)
		return;
	http2_hold(link->http2, octets);
	/* What had to wait is looked at now; the peer may send more. */
	if (waited && !link_waits(link) && link->state != LINK_FAILED) {
		link->has_more = true;
		link_flush(link);
	}
}

bool
link_is_open(const struct link *link)
{
	return link->state == LINK_OPEN || link->state == LINK_SETTLING;
}

bool
link_is_going(const struct link *link)
{
	return link->http2 != NULL && http2_state(link->http2)->going;
}

const struct link_end *
link_ended(const struct link *link)
{
	return link->state == LINK_FAILED ? &link->end : NULL;
}

bool
link_take_life(struct link *link)
{
	bool heard = link->heard;

	link->heard = false;
	return heard;
}

const char *
link_peer(const struct link *link)
{
	return link->peer;
}

struct link_certificate
link_certificate(const struct link *link)
{
	return (struct link_certificate){ link->tls.begin, link->tls.end };
}
