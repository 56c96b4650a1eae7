/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/kube_http.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <curl/curl.h>

#include "resolver/feed/resolve.h"
#include "resolver/feed/text.h"
#include "resolver/text/number.h"
#include "resolver/version.h"

#define CONNECT_MS	10000L
#define BUFFER_SIZE	(128L << 10)
/* A dead peer of an idle connection: found after 30 + 3 * 15 seconds. */
#define KEEPALIVE_IDLE	30L
#define KEEPALIVE_EACH	15L
#define UNACKNOWLEDGED_MS 60000

/*
 * libcurl would ask for the server's addresses in a thread, for which it waits at
 * the end of a transfer: seconds, if the nameserver is silent.  So they are looked
 * up here and given to it, and transfers wait for them; without new ones, the last
 * ones serve, since a connection may be there.
 */
struct kube_http {
	CURLM *multi;
	struct kube_http_news *news;	/* of the call that runs */
	struct resolve *resolve;	/* NULL: nobody is asked */
	struct kube_transfer *waiting;	/* for it, a list */
	char *server;			/* "HOST:PORT" that is asked for */
	char *addresses;		/* "HOST:PORT:ADDRESS,..."; NULL: none */
	const char *why;		/* who waits ends with it; or NULL */
};

int
kube_http_new(struct kube_http **http)
{
	struct kube_http *h = calloc(1, sizeof(*h));

	if (h == NULL)
		return -ENOMEM;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		free(h);
		return -ENOMEM;
	}
	h->multi = curl_multi_init();
	if (h->multi == NULL) {
		curl_global_cleanup();
		free(h);
		return -ENOMEM;
	}
	*http = h;
	return 0;
}

void
kube_http_free(struct kube_http *http)
{
	if (http == NULL)
		return;
	(void)curl_multi_cleanup(http->multi);
	resolve_free(http->resolve);
	free(http->addresses);
	free(http->server);
	curl_global_cleanup();
	free(http);
}

int
kube_transfer_init(struct kube_transfer *t, struct kube_http *http,
    struct reflector *reflector)
{
	*t = (struct kube_transfer){ .http = http, .reflector = reflector };
	t->error = calloc(1, CURL_ERROR_SIZE);
	return t->error != NULL ? 0 : -ENOMEM;
}

void
kube_transfer_free(struct kube_transfer *t)
{
	kube_transfer_stop(t);
	free(t->error);
	*t = (struct kube_transfer){ .easy = NULL };
}

/* The reflector learns the status before the first octet of the body. */
static void
pass_head(struct kube_transfer *t, monotime_t now)
{
	long status = 0;

	(void)curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	if (t->headed || status < 200 || status > 999)
		return;
	t->headed = true;
	reflector_head(t->reflector, now, (unsigned int)status);
}

static void
note_peer(struct kube_transfer *t)
{
	struct kube_http_news *news = t->http->news;
	const char *address = NULL;
	long port = 0;

	if (news == NULL)
		return;
	news->life = true;
	if (curl_easy_getinfo(t->easy, CURLINFO_PRIMARY_IP, &address) ==
	    CURLE_OK && curl_easy_getinfo(t->easy, CURLINFO_PRIMARY_PORT,
	    &port) == CURLE_OK && address != NULL && address[0] != '\0')
		(void)snprintf(news->peer, sizeof(news->peer),
		    strchr(address, ':') != NULL ? "[%.100s]:%ld" :
		    "%.100s:%ld", address, port);
}

/* CURLOPT_WRITEFUNCTION: anything but the length ends the transfer. */
static size_t
take_body(char *octets, size_t size, size_t count, void *arg)
{
	struct kube_transfer *t = arg;
	monotime_t now = monotime_now();
	size_t length = size * count;

	pass_head(t, now);
	note_peer(t);
	return reflector_body(t->reflector, now, octets, length) ? length : 0;
}

/* CURLOPT_HEADERFUNCTION: a watch without events sends only this for minutes. */
static size_t
take_header(char *octets, size_t size, size_t count, void *arg)
{
	struct kube_transfer *t = arg;
	size_t length = size * count;

	/* The empty line behind the last one. */
	if (length <= 2 && octets[0] != ' ') {
		pass_head(t, monotime_now());
		note_peer(t);
	}
	return length;
}

/* CURLOPT_SSL_CTX_FUNCTION */
static CURLcode
take_context(CURL *easy, void *context, void *arg)
{
	const struct kube_tls *tls = arg;

	(void)easy;
	return kube_tls_apply(tls, context) ? CURLE_OK : CURLE_SSL_CERTPROBLEM;
}

/* CURLOPT_SOCKOPTFUNCTION */
static int
take_socket(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	const unsigned int limit = UNACKNOWLEDGED_MS;

	(void)arg;
	(void)purpose;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit,
	    sizeof(limit));
	return CURL_SOCKOPT_OK;
}

/* Whether libcurl took an option; sticky. */
#define SET(easy, good, option, value)					\
	((good) &= curl_easy_setopt((easy), (option), (value)) == CURLE_OK)

static bool
set_callbacks(struct kube_transfer *t)
{
	bool good = true;

	SET(t->easy, good, CURLOPT_PRIVATE, t);
	SET(t->easy, good, CURLOPT_WRITEFUNCTION, take_body);
	SET(t->easy, good, CURLOPT_WRITEDATA, t);
	SET(t->easy, good, CURLOPT_HEADERFUNCTION, take_header);
	SET(t->easy, good, CURLOPT_HEADERDATA, t);
	SET(t->easy, good, CURLOPT_SOCKOPTFUNCTION, take_socket);
	SET(t->easy, good, CURLOPT_ERRORBUFFER, t->error);
	return good;
}

static bool
set_transport(CURL *easy, bool fresh)
{
	bool good = true;

	SET(easy, good, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(easy, good, CURLOPT_NOSIGNAL, 1L);
	SET(easy, good, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SET(easy, good, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	SET(easy, good, CURLOPT_BUFFERSIZE, BUFFER_SIZE);
	SET(easy, good, CURLOPT_TCP_KEEPALIVE, 1L);
	SET(easy, good, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_IDLE);
	SET(easy, good, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_EACH);
	SET(easy, good, CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L);
	SET(easy, good, CURLOPT_USERAGENT, "nfdns-feed/" NFDNS_VERSION);
	return good;
}

/*
 * From 7.87 on libcurl remembers the first roots for a day, also those that
 * take_context() sets: they could not rotate.
 */
static bool
forget_roots(CURL *easy)
{
	const struct curl_easyoption *option =
	    curl_easy_option_by_name("CA_CACHE_TIMEOUT");

	return option == NULL ||
	    curl_easy_setopt(easy, option->id, 0L) == CURLE_OK;
}

static bool
set_tls(CURL *easy, const struct kube_login *login)
{
	bool good = forget_roots(easy);

	SET(easy, good, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(easy, good, CURLOPT_SSL_VERIFYPEER,
	    login->access->insecure ? 0L : 1L);
	SET(easy, good, CURLOPT_SSL_VERIFYHOST,
	    login->access->insecure ? 0L : 2L);
	/* Roots of its own are the only ones. */
	if (login->tls->roots != NULL) {
		SET(easy, good, CURLOPT_CAINFO, (char *)NULL);
		SET(easy, good, CURLOPT_CAPATH, (char *)NULL);
	}
	SET(easy, good, CURLOPT_SSL_CTX_FUNCTION, take_context);
	/* libcurl hands the pointer on; nothing is written through it. */
	SET(easy, good, CURLOPT_SSL_CTX_DATA, (void *)(uintptr_t)login->tls);
	return good;
}

/* Appends a header line; what was there before is freed on failure. */
static bool
add_header(struct kube_transfer *t, const char *name, const char *value)
{
	struct curl_slist *longer = NULL;
	char *line;

	if (asprintf(&line, "%s%s", name, value) < 0)
		return false;
	longer = curl_slist_append(t->headers, line);
	explicit_bzero(line, strlen(line));
	free(line);
	if (longer != NULL)
		t->headers = longer;
	return longer != NULL;
}

static void
free_headers(struct kube_transfer *t)
{
	for (struct curl_slist *h = t->headers; h != NULL; h = h->next)
		explicit_bzero(h->data, strlen(h->data));
	curl_slist_free_all(t->headers);
	t->headers = NULL;
}

/* "HOST:PORT" of the server's URL, and where its path begins. */
static size_t
authority(const char *server, const char **host)
{
	*host = strstr(server, "://") + 3;
	return strcspn(*host, "/");
}

/*
 * The URL.  With a server_name it is of that name, so that libcurl asks for and
 * checks it, and the connection goes where the server is.
 */
static bool
set_url(struct kube_transfer *t, const struct kube_access *access,
    const char *target)
{
	const char *host;
	size_t length = authority(access->server, &host);
	const char *colon = memrchr(host, ':', length);
	char *url = NULL, *to = NULL;
	bool good = true;
	int port;

	/* The last colon of "[::1]" is none of a port. */
	if (colon != NULL && memchr(colon, ']', length - (size_t)(colon -
	    host)) != NULL)
		colon = NULL;
	port = colon != NULL ? (int)(host + length - colon) : 0;
	if (access->server_name == NULL)
		good = asprintf(&url, "%s%s", access->server, target) >= 0;
	else
		good = asprintf(&url, "%.*s%s%.*s%s%s",
		    (int)(host - access->server), access->server,
		    access->server_name, port, port > 0 ? colon : "",
		    host + length, target) >= 0 && asprintf(&to, "::%.*s",
		    (int)length, host) >= 0;
	if (good && to != NULL) {
		t->elsewhere = curl_slist_append(NULL, to);
		SET(t->easy, good, CURLOPT_CONNECT_TO, t->elsewhere);
	}
	SET(t->easy, good, CURLOPT_URL, url);
	free(url);
	free(to);
	return good;
}

static bool
set_all(struct kube_transfer *t, const struct kube_login *login,
    const char *target, bool fresh)
{
	const char *proxy = login->access->proxy;
	bool good = set_callbacks(t) && set_transport(t->easy, fresh) &&
	    set_tls(t->easy, login) &&
	    add_header(t, "Accept: ", "application/json") &&
	    (login->token[0] == '\0' ||
	    add_header(t, "Authorization: Bearer ", login->token));

	/* "" keeps libcurl from the environment. */
	SET(t->easy, good, CURLOPT_PROXY, proxy != NULL ? proxy : "");
	SET(t->easy, good, CURLOPT_HTTPHEADER, t->headers);
	return good && set_url(t, login->access, target);
}

/* Its host, which is no address, and its port; false: it is an address. */
static bool
server_host(const char *server, char host[static NI_MAXHOST], uint16_t *port)
{
	struct resolve_addresses none = { .count = 0 };
	uint64_t number = strncmp(server, "http:", 5) == 0 ? 80 : 443;
	const char *begin;
	const size_t length = authority(server, &begin);
	char *colon;

	if (begin[0] == '[' || length >= NI_MAXHOST)
		return false;
	memcpy(host, begin, length);
	host[length] = '\0';
	colon = strchr(host, ':');
	if (colon != NULL) {
		*colon = '\0';
		if (!number_from_text(colon + 1, UINT16_MAX, &number))
			return false;
	}
	*port = (uint16_t)number;
	return !resolve_literal(host, *port, &none);
}

/* Asks for the server's addresses.  False: there is no need to, or no way. */
static bool
ask_addresses(struct kube_http *http, const struct kube_access *access)
{
	char host[NI_MAXHOST];
	uint16_t port;

	if (access->proxy != NULL || !server_host(access->server, host, &port))
		return false;
	if (http->resolve == NULL) {
		free(http->server);
		if (asprintf(&http->server, "%s:%u", host, port) < 0)
			http->server = NULL;
		http->resolve = resolve_new(host, port);
	}
	return http->resolve != NULL && http->server != NULL;
}

/* What was found replaces what libcurl knew of it. */
static void
take_addresses(struct kube_http *http, const struct resolve_addresses *found)
{
	char entry[NI_MAXHOST + RESOLVE_ADDRESSES * FEED_TEXT];
	size_t used = (size_t)snprintf(entry, sizeof(entry), "%s",
	    http->server);
	char before = ':';

	for (size_t i = 0; i < found->count; i++) {
		const struct resolve_address *a = &found->list[i];
		char text[INET6_ADDRSTRLEN];

		if (getnameinfo((const struct sockaddr *)&a->address, a->length,
		    text, sizeof(text), NULL, 0, NI_NUMERICHOST) != 0)
			continue;
		used += (size_t)snprintf(entry + used, sizeof(entry) - used,
		    strchr(text, ':') != NULL ? "%c[%s]" : "%c%s", before,
		    text);
		before = ',';
	}
	if (before == ':')
		return;
	free(http->addresses);
	http->addresses = strdup(entry);
}

static bool
begin_resolved(struct kube_transfer *t)
{
	t->addresses = curl_slist_append(NULL, t->http->addresses);
	return t->addresses != NULL && curl_easy_setopt(t->easy,
	    CURLOPT_RESOLVE, t->addresses) == CURLE_OK &&
	    curl_multi_add_handle(t->http->multi, t->easy) == CURLM_OK;
}

/* Looks whether they are there; then those that wait for them begin. */
static void
go_on_resolving(struct kube_http *http, const struct pollfd *fds, size_t count)
{
	const struct resolve_addresses *found;
	const char *why;

	if (http->resolve == NULL || !resolve_step(http->resolve, fds, count))
		return;
	found = resolve_result(http->resolve, &why);
	if (found != NULL)
		take_addresses(http, found);
	if (http->addresses == NULL)
		http->why = found == NULL ? why : "no address of use";
	while (http->waiting != NULL && http->why == NULL) {
		struct kube_transfer *t = http->waiting;

		if (!begin_resolved(t)) {
			http->why = "out of memory";
			break;
		}
		http->waiting = t->next;
		t->waits = false;
	}
	resolve_free(http->resolve);
	http->resolve = NULL;
}

static void
stop_waiting(struct kube_transfer *t)
{
	struct kube_transfer **at = &t->http->waiting;

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	t->waits = false;
}

int
kube_transfer_start(struct kube_transfer *t, const struct kube_login *login,
    const char *target, bool fresh)
{
	/*
	 * A new handle each time: one that has failed does not take all options
	 * again (7.88: BUFFERSIZE).  The connections are the multi handle's.
	 */
	t->easy = curl_easy_init();
	t->headed = false;
	t->error[0] = '\0';
	if (t->easy == NULL || !set_all(t, login, target, fresh)) {
		kube_transfer_stop(t);
		return -EINVAL;
	}
	if (ask_addresses(t->http, login->access)) {
		t->waits = true;
		t->next = t->http->waiting;
		t->http->waiting = t;
	} else if (curl_multi_add_handle(t->http->multi, t->easy) !=
	    CURLM_OK) {
		kube_transfer_stop(t);
		return -EINVAL;
	}
	return 0;
}

void
kube_transfer_stop(struct kube_transfer *t)
{
	if (t->waits)
		stop_waiting(t);
	if (t->easy != NULL) {
		(void)curl_multi_remove_handle(t->http->multi, t->easy);
		curl_easy_cleanup(t->easy);
	}
	t->easy = NULL;
	free_headers(t);
	curl_slist_free_all(t->elsewhere);
	curl_slist_free_all(t->addresses);
	t->elsewhere = t->addresses = NULL;
}

int
kube_http_wait(struct kube_http *http, int stop_fd, int timeout_ms,
    struct kube_http_news *news)
{
	struct curl_waitfd wait[1 + RESOLVE_FDS] = {
		{ .fd = stop_fd, .events = CURL_WAIT_POLLIN } };
	struct pollfd asked[RESOLVE_FDS] = { { .fd = -1 } };
	size_t count = 0;
	int running;
	bool good;

	*news = (struct kube_http_news){ .life = false };
	if (http->resolve != NULL) {
		const int limit_ms = resolve_timeout_ms(http->resolve);

		count = resolve_poll(http->resolve, asked);
		if (limit_ms >= 0 && (timeout_ms < 0 || limit_ms < timeout_ms))
			timeout_ms = limit_ms;
	}
	for (size_t i = 0; i < count; i++)
		wait[1 + i] = (struct curl_waitfd){ .fd = asked[i].fd,
			.events = asked[i].events };
	if (curl_multi_poll(http->multi, wait, (unsigned int)(1 + count),
	    timeout_ms, NULL) != CURLM_OK)
		return -EIO;
	for (size_t i = 0; i < count; i++)
		asked[i].revents = wait[1 + i].revents;
	go_on_resolving(http, asked, count);
	http->news = news;
	good = curl_multi_perform(http->multi, &running) == CURLM_OK;
	http->news = NULL;
	return !good ? -EIO : wait[0].revents != 0;
}

static enum feed_cause
cause_of(CURLcode code)
{
	switch (code) {
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_URL_MALFORMAT:
		return FEED_CAUSE_CONNECT;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
		return FEED_CAUSE_TLS;
	case CURLE_OPERATION_TIMEDOUT:
		return FEED_CAUSE_TIMEOUT;
	case CURLE_PARTIAL_FILE:
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR:
	case CURLE_GOT_NOTHING:
		return FEED_CAUSE_RESET;
	default:
		return FEED_CAUSE_PROTOCOL;
	}
}

/* libcurl's words, which may quote the peer. */
static const char *
explain(struct kube_transfer *t, CURLcode code)
{
	char text[CURL_ERROR_SIZE];

	(void)snprintf(text, sizeof(text), "%s", t->error[0] != '\0' ?
	    t->error : curl_easy_strerror(code));
	feed_text_clean(t->error, CURL_ERROR_SIZE, text, strlen(text));
	return t->error;
}

static void
describe(struct kube_transfer *t, CURLcode code, struct reflector_end *end)
{
	curl_off_t after = 0;

	pass_head(t, monotime_now());
	(void)curl_easy_getinfo(t->easy, CURLINFO_RETRY_AFTER, &after);
	*end = (struct reflector_end){
		.whole = code == CURLE_OK,
		.cause = cause_of(code),
		.why = explain(t, code),
		.retry_after = after > 0 && after < INT_MAX ?
		    (unsigned int)after : 0,
	};
}

struct kube_transfer *
kube_http_ended(struct kube_http *http, struct reflector_end *end)
{
	struct kube_transfer *t = NULL;
	CURLMsg *message;
	char *private;
	int left;

	if (http->waiting != NULL && http->why != NULL) {
		t = http->waiting;
		(void)snprintf(t->error, CURL_ERROR_SIZE,
		    "resolving %.150s: %s", http->server, http->why);
		kube_transfer_stop(t);
		*end = (struct reflector_end){ .cause = FEED_CAUSE_CONNECT,
			.why = t->error };
		return t;
	}
	http->why = NULL;
	while ((message = curl_multi_info_read(http->multi, &left)) != NULL) {
		CURLcode code = message->data.result;

		if (message->msg != CURLMSG_DONE || curl_easy_getinfo(
		    message->easy_handle, CURLINFO_PRIVATE, &private) !=
		    CURLE_OK)
			continue;
		t = (struct kube_transfer *)(void *)private;
		describe(t, code, end);
		kube_transfer_stop(t);
		return t;
	}
	return NULL;
}
