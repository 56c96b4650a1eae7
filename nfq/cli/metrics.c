/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/cli/http_request.h"
#include "nfq/process/exit_code.h"
#include "nfq/process/sandbox.h"
#include "resolver/clock.h"

const char metrics_usage[] =
    "usage: nfdns [-c FILE] metrics [--openmetrics | --http]\n"
    "\n"
    "Prints the daemon's numbers in the text format of Prometheus, as\n"
    "run_dir/metrics.prom has them.\n"
    "\n"
    "  --openmetrics  as OpenMetrics 1.0\n"
    "  --http         answer one HTTP request, which is read from standard\n"
    "                 input: nfdns-metrics.socket runs it for each scrape\n";

#define REQUEST_MS	5000	/* for the whole request */
#define LEAVE_MS	1000	/* until the client closes, too */
#define LIFE_S		10	/* then SIGALRM ends a client that reads nothing */

int
cmd_metrics(const struct config *config, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return daemon_show("metrics", config->run_dir, "metrics",
	    DAEMON_REACTS_MS);
}

int
cmd_metrics_open(const struct config *config, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return daemon_show("metrics", config->run_dir, "metrics openmetrics",
	    DAEMON_REACTS_MS);
}

/* How many octets came; 0: no more will; or a negative errno: -ETIMEDOUT. */
static ssize_t
receive(char *to, size_t room, monotime_t end)
{
	struct pollfd wait = { .fd = STDIN_FILENO, .events = POLLIN };
	int ready;
	ssize_t n;

	do
		ready = poll(&wait, 1,
		    monotime_poll_timeout(monotime_now(), end));
	while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		return ready == 0 ? -ETIMEDOUT : -errno;
	n = read(STDIN_FILENO, to, room);
	return n < 0 ? -errno : n;
}

/* What to answer; HTTP_MORE: nothing, since nobody asks. */
static enum http_status
take_request(struct http_request *request)
{
	const monotime_t end = monotime_add_ms(monotime_now(), REQUEST_MS);
	char octets[HTTP_REQUEST_MAX];
	enum http_status status;
	size_t length = 0;

	*request = (struct http_request){ .head = false };
	do {
		const ssize_t n = receive(octets + length,
		    sizeof(octets) - length, end);

		if (n == -ETIMEDOUT)
			return HTTP_TIMEOUT;
		if (n <= 0)
			return n == 0 && length > 0 ? HTTP_BAD : HTTP_MORE;
		length += (size_t)n;
		status = http_request_read(octets, length, request);
	} while (status == HTTP_MORE);
	return status;
}

static const struct fixed_answer {
	enum http_status status;
	const char *reason, *text;
} fixed_answers[] = {
	{ HTTP_OK, "OK", "nfdnsd: its numbers are at /metrics\n" },
	{ HTTP_BAD, "Bad Request", "this is not a request of HTTP/1\n" },
	{ HTTP_NOT_FOUND, "Not Found",
	  "not found: the numbers are at /metrics\n" },
	{ HTTP_METHOD, "Method Not Allowed",
	  "only GET and HEAD are allowed\n" },
	{ HTTP_TIMEOUT, "Request Timeout", "no request came in 5 s\n" },
	{ HTTP_TOO_LARGE, "Request Header Fields Too Large",
	  "the request is larger than 8 KiB\n" },
	{ HTTP_UNAVAILABLE, "Service Unavailable",
	  "no numbers: is nfdnsd running? see nfdns status\n" },
	{ HTTP_VERSION, "HTTP Version Not Supported",
	  "only HTTP/1 is spoken here\n" },
};

/* False if the client has gone. */
static bool
send_all(const char *octets, size_t length)
{
	while (length > 0) {
		const ssize_t n = write(STDOUT_FILENO, octets, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		octets += n;
		length -= (size_t)n;
	}
	return true;
}

/* numbers NULL: the fixed text of that status. */
static void
answer(enum http_status status, bool head, const char *numbers, size_t length)
{
	const struct fixed_answer *fixed = fixed_answers;
	const time_t now = time(NULL);
	char date[64] = "", octets[512];
	struct tm tm;
	int n;

	while (fixed->status != status)
		fixed++;
	if (numbers == NULL)
		length = strlen(fixed->text);
	if (gmtime_r(&now, &tm) != NULL)
		(void)strftime(date, sizeof(date),
		    "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &tm);
	n = snprintf(octets, sizeof(octets), "HTTP/1.1 %d %s\r\n%s"
	    "Content-Type: text/plain; %scharset=utf-8\r\n"
	    "Content-Length: %zu\r\n%sConnection: close\r\n\r\n",
	    (int)status, fixed->reason, date,
	    numbers != NULL ? "version=0.0.4; " : "", length,
	    status == HTTP_METHOD ? "Allow: GET, HEAD\r\n" : "");
	if (n > 0 && send_all(octets, (size_t)n) && !head)
		(void)send_all(numbers != NULL ? numbers : fixed->text, length);
}

/*
 * If octets that nobody has read were left, closing would reset the connection,
 * and the client might lose the answer (RFC 9112 section 9.6).
 */
static void
leave(void)
{
	const monotime_t end = monotime_add_ms(monotime_now(), LEAVE_MS);
	char octets[HTTP_REQUEST_MAX];

	(void)shutdown(STDOUT_FILENO, SHUT_WR);
	while (receive(octets, sizeof(octets), end) > 0 &&
	    !monotime_is_past(monotime_now(), end))
		;
}

int
cmd_metrics_http(const struct config *config, int argc, char **argv)
{
	struct http_request request;
	struct daemon_answer numbers;
	enum http_status status;
	int error;

	(void)argc;
	(void)argv;
	(void)alarm(LIFE_S);
	/* First, since nobody can be asked once a client is heard. */
	if (daemon_ask(&numbers, config->run_dir, "metrics",
	    DAEMON_REACTS_MS) == 0 && numbers.code != EXIT_OK)
		daemon_answer_free(&numbers);
	error = sandbox_reader();
	if (error < 0) {
		daemon_answer_free(&numbers);
		cli_error("metrics: cannot give up privileges: %s",
		    strerror(-error));
		return EXIT_ERROR;
	}
	status = take_request(&request);
	if (status == HTTP_OK && !request.index && numbers.out == NULL)
		status = HTTP_UNAVAILABLE;
	if (status != HTTP_MORE) {
		answer(status, request.head, status == HTTP_OK &&
		    !request.index ? numbers.out : NULL, numbers.out_length);
		leave();
	}
	daemon_answer_free(&numbers);
	return EXIT_OK;
}
