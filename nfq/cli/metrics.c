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

#define REQUEST_OCTETS	8192	/* of a request's header */
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

/*
 * The request's first line, of which the rest of the header changes nothing: the
 * status to answer with.  0: nobody asks.
 */
static int
take_request(bool *head)
{
	const monotime_t end = monotime_add_ms(monotime_now(), REQUEST_MS);
	char octets[REQUEST_OCTETS + 1] = "", method[8], target[512], minor;
	size_t length = 0;

	*head = false;
	while (strstr(octets, "\n\r\n") == NULL &&
	    strstr(octets, "\n\n") == NULL) {
		const ssize_t n = receive(octets + length,
		    REQUEST_OCTETS - length, end);

		if (n <= 0)
			return n == 0 && length == 0 ? 0 : 400;
		length += (size_t)n;
		octets[length] = '\0';
	}
	if (sscanf(octets, " %7[A-Z] %511[!-~] HTTP/1.%c", method, target,
	    &minor) != 3)
		return 400;
	*head = strcmp(method, "HEAD") == 0;
	if (!*head && strcmp(method, "GET") != 0)
		return 400;
	target[strcspn(target, "?")] = '\0';
	return strcmp(target, "/metrics") == 0 ? 200 : 404;
}

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

/* "text" stands for the numbers where there are none to give. */
static void
answer(int status, bool head, const char *text, size_t length)
{
	const time_t now = time(NULL);
	char date[64] = "", octets[512];
	struct tm tm;
	int n;

	if (gmtime_r(&now, &tm) != NULL)
		(void)strftime(date, sizeof(date),
		    "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &tm);
	n = snprintf(octets, sizeof(octets), "HTTP/1.1 %d %s\r\n%s"
	    "Content-Type: text/plain; %scharset=utf-8\r\n"
	    "Content-Length: %zu\r\nConnection: close\r\n\r\n", status,
	    status == 200 ? "OK" : status == 503 ? "Service Unavailable" :
	    status == 404 ? "Not Found" : "Bad Request", date,
	    status == 200 ? "version=0.0.4; " : "", length);
	if (n > 0 && send_all(octets, (size_t)n) && !head)
		(void)send_all(text, length);
}

/*
 * If octets that nobody has read were left, closing would reset the connection,
 * and the client might lose the answer (RFC 9112 section 9.6).
 */
static void
leave(void)
{
	const monotime_t end = monotime_add_ms(monotime_now(), LEAVE_MS);
	char octets[REQUEST_OCTETS];

	(void)shutdown(STDOUT_FILENO, SHUT_WR);
	while (receive(octets, sizeof(octets), end) > 0 &&
	    !monotime_is_past(monotime_now(), end))
		;
}

int
cmd_metrics_http(const struct config *config, int argc, char **argv)
{
	static const char no_numbers[] =
	    "no numbers: is nfdnsd running? see nfdns status\n";
	static const char no_request[] =
	    "the numbers are what GET /metrics gives\n";
	struct daemon_answer numbers;
	int error, status;
	bool head;

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
	status = take_request(&head);
	if (status == 200 && numbers.out == NULL)
		answer(503, head, no_numbers, strlen(no_numbers));
	else if (status == 200)
		answer(status, head, numbers.out, numbers.out_length);
	else if (status != 0)
		answer(status, head, no_request, strlen(no_request));
	if (status != 0)
		leave();
	daemon_answer_free(&numbers);
	return EXIT_OK;
}
