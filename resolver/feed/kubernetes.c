/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop: it alone reads the clock.  Each round it starts the requests that
 * reflectors want, offers a table if changes have settled, waits, and hands
 * what came to the reflectors.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <openssl/evp.h>

#include "resolver/feed/http2.h"
#include "resolver/feed/kube_mirror.h"
#include "resolver/feed/kubeconfig.h"
#include "resolver/feed/feed.h"
#include "resolver/feed/link.h"
#include "resolver/feed/reflector.h"
#include "resolver/feed/text.h"
#include "resolver/text/given.h"
#include "resolver/text/host.h"
#include "resolver/version.h"
#include "resolver/text/printable.h"

/*
 * The requests of one reflector, one after the other, over an HTTP/2 connection
 * of their own (link.h), which stays open between them.
 */

/* How a request is authorised; borrowed for the call. */
struct kube_login {
	const struct kube_access *access;
	const char *token;		/* "": none */
};

/* Owns its texts and the link. */
struct kube_transfer {
	struct reflector *reflector;	/* borrowed */
	struct link *link;		/* NULL: there is no connection */
	char *server;			/* that it leads to, and how */
	bool running;			/* a request, from here on: */
	bool sent;
	bool headed;			/* the reflector knows the status */
	unsigned int retry_after;	/* seconds, as the answer says; or 0 */
	char *authority, *path, *bearer; /* until it is sent */
	struct link_end end;
};

#define USER_INFO	256		/* octets of a proxy's "USER:PASSWORD" */

/* A place for them. */
static void
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

/* Gives it up; the reflector is not told. */
static void
kube_transfer_stop(struct kube_transfer *t)
{
	/* What has not been answered may come later: that is no use to anybody. */
	if (t->running)
		disconnect(t);
	t->running = false;
	forget_request(t);
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
put_request(struct kube_transfer *t)
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

/*
 * Begins a request; "target" is its path and query.  "fresh": over a connection of
 * its own, since the last one may be the fault.  Returns 0; -EINVAL if the server
 * or proxy is none; -ENOMEM.
 */
static int
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
		put_request(t);
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

/*
 * After poll(2), with what kube_transfer_poll() filled in: hands what came to the
 * reflector.  True: the request has ended, and how; "end" is good until the next
 * one.
 */
static bool
kube_transfer_step(struct kube_transfer *t, const struct pollfd *fds,
    size_t count, monotime_t now, struct reflector_end *end)
{
	const bool waited = t->running;

	if (t->link == NULL)
		return false;
	link_step(t->link, fds, count, now);
	if (t->running && !t->sent && link_is_open(t->link))
		put_request(t);
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

/* What to wait for: at most LINK_FDS, and until when, which may be never. */
static size_t
kube_transfer_poll(struct kube_transfer *t, struct pollfd *fds, monotime_t now)
{
	return t->link != NULL ? link_poll(t->link, fds, now) : 0;
}

#define COMPLAINT_MS	60000		/* at most one in that time */

struct feed {
	const struct feed_config *config;
	const struct feed_host *host;
	struct reflector *reflectors;
	struct kube_transfer *transfers; /* as many; of the same index */
	struct pollfd *fds;		/* the stop's, and LINK_FDS of each */
	size_t *fd_counts;		/* of each */
	const struct kube_store **stores;
	size_t count;
	struct kube_credentials credentials;
	struct kube_room room;		/* of all stores */
	struct kube_offer offer;
	enum feed_verdict verdict;	/* the last one */
	bool offered;			/* a table, since the start */
	bool dirty;			/* *host->status has changed */
	monotime_t complained;
};

static uint64_t
random_number(void)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		number = realtime_ns();
	return number;
}

static void
report(const struct feed *f, enum feed_level level, const char *text)
{
	f->host->report(f->host->arg, level, text);
}

/* Whether the feed wants that kind, in one namespace or in all. */
static bool
is_wanted(const struct feed_config *config, const struct kube_kind *kind)
{
	if (kind->pods && !config->pods)
		return false;
	/* Who may read one namespace need not see the others' names. */
	return kind->in_namespace || config->namespace_count == 0;
}

static size_t
reflectors_wanted(const struct feed_config *config)
{
	size_t each = config->namespace_count > 0 ? config->namespace_count : 1;
	size_t count = 0;

	for (size_t i = 0; i < kube_kind_count; i++)
		count += is_wanted(config, &kube_kinds[i]) ? each : 0;
	return count;
}

static void
add_reflector(struct feed *f, const struct kube_kind *kind,
    const char *namespace)
{
	struct reflector *r = &f->reflectors[f->count];

	reflector_init(r, kind, namespace, &f->room, random_number());
	kube_transfer_init(&f->transfers[f->count], r);
	f->stores[f->count++] = &r->mirror.store;
}

static int
add_reflectors(struct feed *f)
{
	const struct feed_config *config = f->config;
	size_t each = config->namespace_count > 0 ? config->namespace_count : 1;
	size_t most = reflectors_wanted(config);

	if (most == 0)
		return -EINVAL;		/* the table of kinds is empty */
	f->reflectors = calloc(most, sizeof(*f->reflectors));
	f->transfers = calloc(most, sizeof(*f->transfers));
	f->stores = calloc(most, sizeof(struct kube_store *));
	f->fds = calloc(1 + most * LINK_FDS, sizeof(*f->fds));
	f->fd_counts = calloc(most, sizeof(*f->fd_counts));
	if (f->reflectors == NULL || f->transfers == NULL ||
	    f->stores == NULL || f->fds == NULL || f->fd_counts == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < kube_kind_count; i++) {
		if (!is_wanted(config, &kube_kinds[i]))
			continue;
		for (size_t n = 0; n < each; n++)
			add_reflector(f, &kube_kinds[i],
			    config->namespace_count > 0 ?
			    config->namespaces[n] : NULL);
	}
	return 0;
}

static int
start(struct feed *f)
{
	const int error = add_reflectors(f);

	kube_credentials_init(&f->credentials, f->config->kubeconfig);
	f->host->status->since = realtime_s();
	return error;
}

/*
 * The status's error: that of the credentials, of a kind without which there is no
 * table, or else the first of a kind.
 */
static const char *
current_error(const struct feed *f)
{
	const char *first = "";
	int most = 0, weight;

	if (f->credentials.error[0] != '\0')
		return f->credentials.error;
	for (size_t i = 0; i < f->count; i++) {
		const struct reflector *r = &f->reflectors[i];

		if (r->error[0] == '\0')
			continue;
		weight = 1 + (r->mirror.kind->needed ? 1 : 0) +
		    (reflector_is_settled(r) ? 0 : 2);
		if (weight > most) {
			most = weight;
			first = r->error;
		}
	}
	return first;
}

/*
 * Connected: a table was offered, and no kind that is part of it, or has to be,
 * has lost its server.
 */
static bool
is_connected(const struct feed *f)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct reflector *r = &f->reflectors[i];

		if (r->failing && (r->mirror.synced || r->mirror.kind->needed))
			return false;
	}
	return f->offered;
}

static void
set_text(struct feed *f, char to[static FEED_TEXT], const char *text)
{
	if (strcmp(to, text) == 0)
		return;
	(void)snprintf(to, FEED_TEXT, "%s", text);
	f->dirty = true;
}

/* Brings the host's status up to date and tells it. */
static void
show(struct feed *f)
{
	struct feed_status *status = f->host->status;
	const char *error = current_error(f);
	bool connected = is_connected(f);

	if (strcmp(status->error, error) != 0 && error[0] != '\0')
		report(f, FEED_ERROR, error);
	set_text(f, status->error, error);
	if (status->connected != connected) {
		status->connected = connected;
		status->since = realtime_s();
		report(f, FEED_NOTICE, connected ? "connected" :
		    "lost the API server; the last table stays");
		f->dirty = true;
	}
	if (f->dirty)
		f->host->changed(f->host->arg);
	f->dirty = false;
}

/* A transfer is over, by itself or since it was given up. */
static void
end_request(struct feed *f, struct reflector *r, monotime_t now,
    const struct reflector_end *end)
{
	enum feed_cause cause = reflector_end(r, now, random_number(), end);

	if (cause < FEED_CAUSES) {
		f->host->status->reconnects[cause]++;
		f->dirty = true;
	}
}

/* Sends the request that a reflector wants. */
static void
send_request(struct feed *f, size_t i, monotime_t now)
{
	const struct kube_credentials *credentials = &f->credentials;
	const struct kube_login login = { .access = &credentials->access,
	    .token = credentials->token };
	struct reflector_end end = { .cause = FEED_CAUSE_CONNECT,
	    .why = "the request cannot be made: look at server and proxy-url" };
	char target[REFLECTOR_TARGET_SIZE];
	struct reflector *r = &f->reflectors[i];
	struct kube_transfer *t = &f->transfers[i];
	struct feed_status *status = f->host->status;
	struct link_certificate certificate;

	reflector_start(r, now, random_number(), target);
	status->attempts++;
	status->attempted = realtime_s();
	f->dirty = true;
	if (kube_transfer_start(t, &login, target, r->failing, now) != 0) {
		end_request(f, r, now, &end);
		return;
	}
	certificate = link_certificate(t->link);
	status->cert_begin = certificate.begin;
	status->cert_end = certificate.end;
}

static void
give_up_silent(struct feed *f, monotime_t now)
{
	static const struct reflector_end end = { .cause = FEED_CAUSE_TIMEOUT,
	    .why = "no sign of life from the API server" };

	for (size_t i = 0; i < f->count; i++) {
		if (!reflector_is_silent(&f->reflectors[i], now))
			continue;
		kube_transfer_stop(&f->transfers[i]);
		end_request(f, &f->reflectors[i], now, &end);
	}
}

/* A table is whole when every kind that exists has been read. */
static bool
is_settled(const struct feed *f)
{
	for (size_t i = 0; i < f->count; i++) {
		if (!reflector_is_settled(&f->reflectors[i]))
			return false;
	}
	return true;
}

/* Offers it; the host does not keep its parts. */
static void
offer_list(struct feed *f, const struct kube_list *list, monotime_t now)
{
	struct feed_status *status = f->host->status;
	const struct feed_table table = { .format = "kubernetes",
	    .version = status->version, .parts = list->parts,
	    .part_count = list->count, .length = list->length,
	    .names = list->objects };
	char why[FEED_TEXT] = "", text_why[FEED_TEXT + 40];
	enum feed_verdict verdict = f->host->offer(f->host->arg, &table, why);

	status->pushes++;
	status->same += verdict == FEED_SAME;
	f->offered = true;
	f->dirty = true;
	/* While it is as before, each table would say it again. */
	if (verdict == FEED_FAILED && verdict != f->verdict) {
		(void)snprintf(text_why, sizeof(text_why), "table not kept: %s",
		    why);
		report(f, FEED_ERROR, text_why);
	}
	f->verdict = verdict;
	kube_offer_verdict(&f->offer, now, random_number(), verdict);
}

static void
offer(struct feed *f, monotime_t now)
{
	struct kube_list list;

	if (!is_settled(f) || !kube_offer_is_due(&f->offer, now))
		return;
	if (kube_list_make(f->stores, f->count, &list) != 0) {
		report(f, FEED_ERROR, "no memory for the table");
		kube_offer_verdict(&f->offer, now, random_number(),
		    FEED_FAILED);
		return;
	}
	offer_list(f, &list, now);
	kube_list_free(&list);
}

/* What the reflectors say, beside their objects. */
static void
collect(struct feed *f, monotime_t now)
{
	struct feed_status *status = f->host->status;

	for (size_t i = 0; i < f->count; i++) {
		struct kube_mirror *m = &f->reflectors[i].mirror;

		if (m->changed) {
			char version[FEED_TEXT];

			m->changed = false;
			kube_offer_change(&f->offer, now);
			(void)printable_text(version, sizeof(version), m->version,
			    strlen(m->version));
			set_text(f, status->version, version);
		}
		if (m->complaint[0] == '\0')
			continue;
		if (!monotime_is_set(f->complained) || monotime_ms_since(now,
		    f->complained) > COMPLAINT_MS) {
			report(f, FEED_ERROR, m->complaint);
			f->complained = now;
		}
		m->complaint[0] = '\0';
	}
}

static int
wait_ms(const struct feed *f, monotime_t now)
{
	monotime_t least = monotime_add_ms(now, FEED_TICK_MS);

	for (size_t i = 0; i < f->count; i++) {
		monotime_t due = reflector_deadline(&f->reflectors[i]);

		/* A request that is due may wait for the credentials. */
		if (monotime_is_past(now, due))
			due = monotime_is_set(f->credentials.due) ?
			    f->credentials.due : now;
		least = monotime_first(least, due);
		least = monotime_first(least, f->transfers[i].link != NULL ?
		    link_deadline(f->transfers[i].link, now) : MONOTIME_NEVER);
	}
	if (is_settled(f))
		least = monotime_first(least, kube_offer_deadline(&f->offer));
	return monotime_poll_timeout(now, least);
}

/* 1 if it is to stop, 0, or a negative errno. */
static int
poll_all(struct feed *f)
{
	const monotime_t now = monotime_now();
	nfds_t count = 1;

	f->fds[0] = (struct pollfd){ f->host->stop_fd, POLLIN, 0 };
	for (size_t i = 0; i < f->count; i++) {
		f->fd_counts[i] = kube_transfer_poll(&f->transfers[i],
		    f->fds + count, now);
		count += f->fd_counts[i];
	}
	if (poll(f->fds, count, wait_ms(f, now)) >= 0)
		return f->fds[0].revents != 0;
	for (nfds_t i = 0; i < count; i++)
		f->fds[i].revents = 0;
	return errno == EINTR ? 0 : -errno;
}

/* One round; 1: it is to stop. */
static int
go_on(struct feed *f)
{
	monotime_t now = monotime_now();
	int outcome;
	struct feed_status *status;
	const struct pollfd *fds;
	struct reflector_end end;

	f->host->tick(f->host->arg);
	give_up_silent(f, now);
	for (size_t i = 0; i < f->count; i++) {
		if (!reflector_is_due(&f->reflectors[i], now) ||
		    !kube_credentials_refresh(&f->credentials, now))
			continue;
		if (f->credentials.warning != NULL) {
			report(f, FEED_ERROR, f->credentials.warning);
			f->credentials.warning = NULL;
		}
		send_request(f, i, now);
	}
	offer(f, now);
	show(f);
	outcome = poll_all(f);
	now = monotime_now();
	/* What came to the reflectors, and which requests have ended. */
	status = f->host->status;
	fds = f->fds + 1;
	for (size_t i = 0; i < f->count; i++) {
		struct kube_transfer *t = &f->transfers[i];

		if (kube_transfer_step(t, fds, f->fd_counts[i], now, &end))
			end_request(f, t->reflector, now, &end);
		fds += f->fd_counts[i];
		if (t->link == NULL || !link_take_life(t->link))
			continue;
		status->last_life = realtime_s();
		if (t->headed)
			set_text(f, status->peer, link_peer(t->link));
	}
	collect(f, now);
	return outcome;
}

int
kubernetes_run(const struct feed_config *config, const struct feed_host *host)
{
	struct feed f = { .config = config, .host = host,
	    .room = { .limit = config->limit } };
	int outcome = start(&f);

	while (outcome == 0)
		outcome = go_on(&f);
	if (outcome == 1 && host->status->connected) {
		host->status->connected = false;
		host->status->since = realtime_s();
		host->changed(host->arg);
	}
	for (size_t i = 0; i < f.count; i++) {
		kube_transfer_stop(&f.transfers[i]);
		disconnect(&f.transfers[i]);
		forget(&f.transfers[i].server);
		reflector_free(&f.reflectors[i]);
	}
	free(f.transfers);
	free(f.reflectors);
	free(f.stores);
	free(f.fds);
	free(f.fd_counts);
	kube_credentials_free(&f.credentials);
	return outcome < 0 ? outcome : 0;
}
