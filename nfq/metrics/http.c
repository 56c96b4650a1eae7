/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/metrics/http.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "nfq/metrics/accept.h"
#include "policy/status/metrics.h"

#define HEADERS_MAX	8192	/* octets of a request, with what MHD needs */
#define IDLE_S		5	/* without an octet */
#define FRESH_MS	100	/* a text is given again for so long */

/* Answers that are always the same. */
enum fixed { FIXED_INDEX, FIXED_NOT_FOUND, FIXED_METHOD, FIXED_FAILED, FIXED };

static const struct {
	unsigned int status;
	const char *text;
} fixed_answers[FIXED] = {
	[FIXED_INDEX] = { MHD_HTTP_OK, "nfdnsd: its numbers are at /metrics\n" },
	[FIXED_NOT_FOUND] = { MHD_HTTP_NOT_FOUND,
	    "not found: the numbers are at /metrics\n" },
	[FIXED_METHOD] = { MHD_HTTP_METHOD_NOT_ALLOWED,
	    "only GET and HEAD are allowed\n" },
	[FIXED_FAILED] = { MHD_HTTP_SERVICE_UNAVAILABLE,
	    "no numbers: ask again, or see nfdns status\n" },
};

struct http {
	struct MHD_Daemon *daemon;
	struct status_page *page;
	const struct metrics_reports *reports;
	struct peers *peers;
	struct peer *adding;		/* in http_add() */
	monotime_t now;
	struct MHD_Response *fixed[FIXED];
	struct text {
		struct MHD_Response *response;
		monotime_t made;
	} texts[METRICS_FORMATS];
	char reported[METRICS_REPORTS_MAX + 1];
};

/* A connection is not used for a second request. */
static struct MHD_Response *
response_of(size_t length, const char *octets, enum MHD_ResponseMemoryMode mode,
    const char *type)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(length,
	    (void *)(uintptr_t)octets, mode);

	if (r != NULL && MHD_add_response_header(r,
	    MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES &&
	    MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close") ==
	    MHD_YES)
		return r;
	if (r != NULL)
		MHD_destroy_response(r);
	else if (mode == MHD_RESPMEM_MUST_FREE)
		free((void *)(uintptr_t)octets);
	return NULL;
}

/* The numbers as they are now; NULL without memory, or if the page is cut off. */
static struct MHD_Response *
print_text(struct http *http, enum metrics_format format)
{
	static const char *const types[METRICS_FORMATS] = {
		[METRICS_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
		[METRICS_OPEN] = "application/openmetrics-text; "
		    "version=1.0.0; charset=utf-8",
	};
	char *octets = NULL;
	size_t length = 0;
	FILE *out;
	int error;

	if (status_refresh(http->page) < 0)
		return NULL;
	out = open_memstream(&octets, &length);
	if (out == NULL)
		return NULL;
	metrics_reports_read(http->reports, http->reported);
	error = metrics_print_with(http->page, http->reported,
	    format == METRICS_OPEN, out);
	if (fclose(out) == 0 && error == 0)
		return response_of(length, octets, MHD_RESPMEM_MUST_FREE,
		    types[format]);
	free(octets);
	return NULL;
}

static struct MHD_Response *
text_of(struct http *http, enum metrics_format format)
{
	struct text *text = &http->texts[format];

	if (text->response != NULL &&
	    monotime_ms_since(http->now, text->made) < FRESH_MS)
		return text->response;
	if (text->response != NULL)
		MHD_destroy_response(text->response);
	text->response = print_text(http, format);
	text->made = http->now;
	return text->response;
}

static enum MHD_Result
answer_fixed(struct http *http, struct MHD_Connection *connection,
    enum fixed which)
{
	return MHD_queue_response(connection, fixed_answers[which].status,
	    http->fixed[which]);
}

/* Called by libmicrohttpd once the headers are there. */
static enum MHD_Result
answer(void *closure, struct MHD_Connection *connection, const char *url,
    const char *method, const char *version, const char *upload,
    size_t *upload_size, void **request)
{
	struct http *http = closure;
	struct MHD_Response *text;

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)request;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return answer_fixed(http, connection, FIXED_METHOD);
	if (strcmp(url, "/") == 0)
		return answer_fixed(http, connection, FIXED_INDEX);
	if (strcmp(url, "/metrics") != 0)
		return answer_fixed(http, connection, FIXED_NOT_FOUND);
	text = text_of(http, metrics_accept(MHD_lookup_connection_value(
	    connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT)));
	return text != NULL ?
	    MHD_queue_response(connection, MHD_HTTP_OK, text) :
	    answer_fixed(http, connection, FIXED_FAILED);
}

/* Called by libmicrohttpd for each connection at its begin and end. */
static void
notice(void *closure, struct MHD_Connection *connection, void **context,
    enum MHD_ConnectionNotificationCode code)
{
	struct http *http = closure;

	(void)connection;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = http->adding;
		http->adding = NULL;
	} else if (*context != NULL) {
		peers_remove(*context);
	}
}

static bool
make_fixed(struct http *http)
{
	for (size_t i = 0; i < FIXED; i++) {
		const char *text = fixed_answers[i].text;

		http->fixed[i] = response_of(strlen(text), text,
		    MHD_RESPMEM_PERSISTENT, "text/plain; charset=utf-8");
		if (http->fixed[i] == NULL)
			return false;
	}
	return MHD_add_response_header(http->fixed[FIXED_METHOD],
	    MHD_HTTP_HEADER_ALLOW, "GET, HEAD") == MHD_YES;
}

struct http *
http_new(struct status_page *page,
    const struct metrics_reports *reports, struct peers *peers)
{
	struct http *http = calloc(1, sizeof(*http));

	if (http == NULL)
		return NULL;
	http->page = page;
	http->reports = reports;
	http->peers = peers;
	http->daemon = MHD_start_daemon(MHD_USE_EPOLL |
	    MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, answer, http,
	    MHD_OPTION_CONNECTION_LIMIT, (unsigned int)PEERS_MAX,
	    MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_S,
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADERS_MAX,
	    MHD_OPTION_STRICT_FOR_CLIENT, 1,
	    MHD_OPTION_NOTIFY_CONNECTION, notice, http, MHD_OPTION_END);
	if (http->daemon != NULL && make_fixed(http))
		return http;
	http_free(http);
	return NULL;
}

void
http_free(struct http *http)
{
	if (http == NULL)
		return;
	if (http->daemon != NULL)
		MHD_stop_daemon(http->daemon);
	for (size_t i = 0; i < FIXED; i++)
		if (http->fixed[i] != NULL)
			MHD_destroy_response(http->fixed[i]);
	for (size_t i = 0; i < METRICS_FORMATS; i++)
		if (http->texts[i].response != NULL)
			MHD_destroy_response(http->texts[i].response);
	free(http);
}

int
http_fd(const struct http *http)
{
	return MHD_get_daemon_info(http->daemon,
	    MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

int
http_wait(const struct http *http, int most)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (MHD_get_timeout(http->daemon, &ms) != MHD_YES ||
	    ms > (MHD_UNSIGNED_LONG_LONG)most)
		return most;
	return (int)ms;
}

void
http_add(struct http *http, int fd, uid_t uid, monotime_t now)
{
	/* All that libmicrohttpd does with it is to hand it on. */
	const struct sockaddr nobody = { .sa_family = AF_UNIX };
	struct peer *peer = peers_add(http->peers, fd, uid, now);

	if (peer == NULL) {
		(void)close(fd);
		return;
	}
	http->now = now;
	http->adding = peer;
	(void)MHD_add_connection(http->daemon, fd, &nobody, sizeof(nobody));
	/* It has closed what it did not take. */
	if (http->adding != NULL)
		peers_remove(peer);
	http->adding = NULL;
}

void
http_run(struct http *http, monotime_t now)
{
	http->now = now;
	(void)MHD_run(http->daemon);
}
