/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/kube_http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "resolver/feed/keepalive.h"
#include "resolver/feed/text.h"
#include "resolver/text/given.h"
#include "resolver/text/host.h"
#include "resolver/version.h"

#define USER_INFO	256		/* octets of a proxy's "USER:PASSWORD" */

void
kube_transfer_init(struct kube_transfer *t, struct reflector *reflector)
{
	*t = (struct kube_transfer){ .reflector = reflector };
}

static void
forget(char **text)
{
	if (*text != NULL)
		explicit_bzero(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

static void
forget_request(struct kube_transfer *t)
{
	forget(&t->authority);
	forget(&t->path);
	forget(&t->bearer);
}

static void
disconnect(struct kube_transfer *t)
{
	link_free(t->link);
	t->link = NULL;
}

void
kube_transfer_stop(struct kube_transfer *t)
{
	/* What has not been answered may come later: that is no use to anybody. */
	if (t->running)
		disconnect(t);
	t->running = false;
	forget_request(t);
}

void
kube_transfer_free(struct kube_transfer *t)
{
	kube_transfer_stop(t);
	disconnect(t);
	forget(&t->server);
}

/* http2_reader.head: the reflector learns the status before the body. */
static void
take_head(void *arg, unsigned int status, unsigned int retry_after)
{
	struct kube_transfer *t = arg;

	t->headed = true;
	t->retry_after = retry_after;
	reflector_head(t->reflector, monotime_now(), status);
}

/* http2_reader.body */
static bool
take_body(void *arg, const uint8_t *octets, size_t length)
{
	struct kube_transfer *t = arg;

	return reflector_body(t->reflector, monotime_now(), octets, length);
}

/* "HOST:PORT" of a URL's part, with the port of its scheme; the caller frees it. */
static char *
with_port(const char *authority, size_t length, const char *port)
{
	const char *colon = memrchr(authority, ':', length);
	char *text;

	/* The last colon of "[::1]" is none of a port. */
	if (colon != NULL && memchr(colon, ']', length - (size_t)(colon -
	    authority)) != NULL)
		colon = NULL;
	return asprintf(&text, "%.*s%s%s", (int)length, authority,
	    colon == NULL ? ":" : "", colon == NULL ? port : "") >= 0 ? text :
	    NULL;
}

/* "Basic ..." of "USER:PASSWORD", percent-encoded; the caller frees it. */
static char *
basic(const char *info, size_t length)
{
	unsigned char plain[USER_INFO], coded[USER_INFO * 4 / 3 + 4];
	const size_t used = feed_text_decode((char *)plain, sizeof(plain),
	    info, length);
	char *text = NULL;

	(void)EVP_EncodeBlock(coded, plain, (int)used);
	if (asprintf(&text, "Basic %s", (const char *)coded) < 0)
		text = NULL;
	explicit_bzero(plain, sizeof(plain));
	explicit_bzero(coded, sizeof(coded));
	return text;
}

/* The kubeconfig's proxy-url, without a path.  False: it is none, or no memory. */
static bool
read_proxy(const char *url, char **server, char **authorization)
{
	const char *host = strstr(url, "://") + 3;
	const size_t length = strcspn(host, "/");
	const char *at = memrchr(host, '@', length);
	const size_t skip = at != NULL ? (size_t)(at + 1 - host) : 0;

	*server = with_port(host + skip, length - skip, "80");
	if (at != NULL)
		*authorization = basic(host, skip - 1);
	return *server != NULL && host_is_server(*server) &&
	    (at == NULL || *authorization != NULL);
}

/* A new connection; 0, -EINVAL or -ENOMEM. */
static int
connect_to(struct kube_transfer *t, const struct kube_login *login,
    const char *server, monotime_t now)
{
	const struct kube_access *access = login->access;
	const struct tls_options tls = { .roots = access->roots,
		.cert = access->cert, .key = access->key,
		.insecure = access->insecure };
	struct link_options options = { .server = server, .tls = &tls,
		.tls_host = access->server_name, .gave_time = true,
		.has_token = login->token[0] != '\0',
		.ping_ms = KEEPALIVE_INTERVAL_MS };
	struct link_proxy proxy = { .server = NULL };
	char *to = NULL, *authorization = NULL;
	int error = 0;

	if (access->proxy != NULL) {
		if (!read_proxy(access->proxy, &to, &authorization))
			error = -EINVAL;
		proxy = (struct link_proxy){ to, authorization };
		options.proxy = &proxy;
	}
	if (error == 0) {
		t->link = link_new(&options, now);
		error = t->link != NULL ? 0 : -ENOMEM;
	}
	forget(&authorization);
	free(to);
	return error;
}

/* Where it leads to, and how: another one needs another connection. */
static bool
is_same_way(const struct kube_transfer *t, const char *way)
{
	return t->link != NULL && link_ended(t->link) == NULL &&
	    !link_is_going(t->link) && text_is_same(t->server, way);
}

static char *
name_way(const struct kube_access *access)
{
	char *way;

	return asprintf(&way, "%s %s %s %d", access->server,
	    access->proxy != NULL ? access->proxy : "",
	    access->server_name != NULL ? access->server_name : "",
	    access->insecure) >= 0 ? way : NULL;
}

static int
prepare(struct kube_transfer *t, const struct kube_login *login,
    const char *target)
{
	/* "https://HOST:PORT/PREFIX" */
	const char *host = strstr(login->access->server, "://") + 3;
	const size_t length = strcspn(host, "/");

	t->authority = strndup(host, length);
	if (asprintf(&t->path, "%s%s", host + length, target) < 0)
		t->path = NULL;
	if (login->token[0] != '\0' &&
	    asprintf(&t->bearer, "Bearer %s", login->token) < 0)
		t->bearer = NULL;
	return t->authority != NULL && t->path != NULL &&
	    (login->token[0] == '\0' || t->bearer != NULL) ? 0 : -ENOMEM;
}

/* Once the link is open. */
static void
send_request(struct kube_transfer *t)
{
	const struct http2_reader reader = { .arg = t, .head = take_head,
		.body = take_body };
	const struct http2_header headers[] = {
		{ "accept", "application/json" },
		{ "user-agent", "nfdns-feed/" NFDNS_VERSION },
		{ "authorization", t->bearer },
	};
	const struct http2_request request = { .scheme = "https",
		.authority = t->authority, .path = t->path, .headers = headers,
		.header_count = t->bearer != NULL ? 3 : 2 };

	if (link_get(t->link, &request, &reader) != 0)
		link_abandon(t->link, FEED_CAUSE_PROTOCOL,
		    "the request could not be sent");
	t->sent = true;
	forget_request(t);
}

int
kube_transfer_start(struct kube_transfer *t, const struct kube_login *login,
    const char *target, bool fresh, monotime_t now)
{
	char *way = name_way(login->access), *server = NULL;
	int error = prepare(t, login, target);

	t->headed = t->sent = false;
	t->retry_after = 0;
	if (way == NULL)
		error = -ENOMEM;
	if (error == 0 && (fresh || !is_same_way(t, way))) {
		disconnect(t);
		forget(&t->server);
		t->server = way;
		way = NULL;
		server = with_port(t->authority, strlen(t->authority), "443");
		error = server == NULL ? -ENOMEM :
		    !host_is_server(server) ? -EINVAL :
		    connect_to(t, login, server, now);
	}
	forget(&way);
	t->running = error == 0;
	if (error != 0)
		kube_transfer_stop(t);
	else if (link_is_open(t->link))
		send_request(t);
	free(server);
	return error;
}

/* The link has ended before the answer had. */
static void
take_link_end(struct kube_transfer *t, struct reflector_end *end)
{
	t->end = *link_ended(t->link);
	disconnect(t);
	/* A watch that a server ends so is no answer that was given to its end. */
	*end = (struct reflector_end){ .why = t->end.why,
		.cause = t->end.cause == FEED_CAUSE_PLANNED ?
		    FEED_CAUSE_RESET : t->end.cause,
		.retry_after = t->retry_after };
}

bool
kube_transfer_step(struct kube_transfer *t, const struct pollfd *fds,
    size_t count, monotime_t now, struct reflector_end *end)
{
	const bool waited = t->running;

	if (t->link == NULL)
		return false;
	link_step(t->link, fds, count, now);
	if (t->running && !t->sent && link_is_open(t->link))
		send_request(t);
	if (t->running && t->sent && link_is_whole(t->link)) {
		t->running = false;
		*end = (struct reflector_end){ .whole = true, .why = "",
			.retry_after = t->retry_after };
		return true;
	}
	if (link_ended(t->link) == NULL)
		return false;
	take_link_end(t, end);
	t->running = false;
	forget_request(t);
	return waited;
}

size_t
kube_transfer_poll(struct kube_transfer *t, struct pollfd *fds, monotime_t now)
{
	return t->link != NULL ? link_poll(t->link, fds, now) : 0;
}

monotime_t
kube_transfer_deadline(struct kube_transfer *t, monotime_t now)
{
	return t->link != NULL ? link_deadline(t->link, now) : MONOTIME_NEVER;
}
