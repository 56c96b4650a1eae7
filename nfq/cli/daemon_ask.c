/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/daemon_ask.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/process/exit_code.h"
#include "resolver/clock.h"
#include "resolver/fds.h"
#include "resolver/text/number.h"
#include "resolver/text/printable.h"

#define ANSWER_MAX	((size_t)64 << 20)	/* octets of a text */

static int
connect_to(const char *run_dir, pid_t *pid)
{
	struct sockaddr_un address;
	struct ucred user;
	socklen_t length = sizeof(user);
	int directory, fd = -1;
	int error = request_address(&address, run_dir, &directory);

	/* Without waiting: -EAGAIN if too many wait already. */
	if (error == 0)
		fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC |
		    SOCK_NONBLOCK, 0);
	if (error == 0 && (fd < 0 || connect(fd,
	    (const struct sockaddr *)&address, sizeof(address)) < 0))
		error = -errno;
	if (directory >= 0)
		(void)close(directory);
	if (error == 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user,
	    &length) == 0)
		*pid = user.pid;
	if (error == 0)
		return fd;
	if (fd >= 0)
		(void)close(fd);
	return error == -EAGAIN ? -ETIMEDOUT : error;
}

static int
append(char **text, size_t *length, const char *octets, size_t count)
{
	char *grown = *length + count < ANSWER_MAX ?
	    realloc(*text, *length + count + 1) : NULL;

	if (grown == NULL)
		return -ENOMEM;
	memcpy(grown + *length, octets, count);
	*length += count;
	grown[*length] = '\0';
	*text = grown;
	return 0;
}

/* One packet.  1: it was the last one; 0; or a negative errno. */
static int
take_packet(struct daemon_answer *a, int fd, bool *taken)
{
	static char octets[REQUEST_PACKET + 1];
	union fds_ancillary ancillary;
	struct iovec part = { octets, REQUEST_PACKET };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	uint64_t code;
	ssize_t n;
	int fds[REQUEST_FDS];
	size_t count;

	fds_expect(&message, &ancillary, REQUEST_FDS);
	n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0)
		return -ECONNRESET;
	count = fds_take(&message, fds, REQUEST_FDS);
	for (size_t i = 0; i < count && i < REQUEST_FDS; i++) {
		if (a->fds[i] >= 0)
			(void)close(a->fds[i]);
		a->fds[i] = fds[i];
	}
	*taken = true;
	octets[n] = '\0';
	switch (octets[0]) {
	case REQUEST_TAKEN:
		return 0;
	case REQUEST_OUT:
		return append(&a->out, &a->out_length, octets + 1,
		    (size_t)n - 1);
	case REQUEST_ERR:
		return append(&a->err, &a->err_length, octets + 1,
		    (size_t)n - 1);
	case REQUEST_END:
		if (!number_from_text(octets + 1, 255, &code))
			return -EPROTO;
		a->code = (int)code;
		return 1;
	default:
		return -EPROTO;
	}
}

static int
take_answer(struct daemon_answer *a, int fd, int wait_ms)
{
	const monotime_t begun = monotime_now();
	bool taken = false;
	int done = 0;

	while (done == 0) {
		const monotime_t now = monotime_now();
		const monotime_t end = monotime_add_ms(begun,
		    taken ? wait_ms : DAEMON_REACTS_MS);
		struct pollfd wait = { .fd = fd, .events = POLLIN };

		if (monotime_is_past(now, end))
			return taken ? -EINPROGRESS : -ETIMEDOUT;
		if (poll(&wait, 1, monotime_poll_timeout(now, end)) > 0)
			done = take_packet(a, fd, &taken);
	}
	return done < 0 ? done : 0;
}

int
daemon_ask(struct daemon_answer *answer, const char *run_dir, const char *line,
    int wait_ms)
{
	const size_t length = strlen(line);
	int error = 0, fd;

	*answer = (struct daemon_answer){ .fds = { -1, -1 } };
	fd = connect_to(run_dir, &answer->pid);
	if (fd < 0)
		return fd;
	if (send(fd, line, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		error = -errno;
	if (error == 0)
		error = append(&answer->out, &answer->out_length, "", 0);
	if (error == 0)
		error = append(&answer->err, &answer->err_length, "", 0);
	if (error == 0)
		error = take_answer(answer, fd, wait_ms);
	(void)close(fd);
	if (error < 0)
		daemon_answer_free(answer);
	return error == -EPIPE ? -ECONNRESET : error;
}

void
daemon_answer_free(struct daemon_answer *answer)
{
	free(answer->out);
	free(answer->err);
	answer->out = answer->err = NULL;
	for (size_t i = 0; i < REQUEST_FDS; i++) {
		if (answer->fds[i] >= 0)
			(void)close(answer->fds[i]);
		answer->fds[i] = -1;
	}
}

int
daemon_tell_error(const struct daemon_answer *answer, const char *command,
    const char *run_dir, int error)
{
	const int pid = (int)answer->pid;

	switch (error) {
	case -ENOENT:
	case -ECONNREFUSED:
		cli_error("%s: nfdnsd is not running: nobody listens at "
		    "%s/" REQUEST_SOCKET "; start nfdnsd, or name its "
		    "configuration with -c", command, run_dir);
		return EXIT_NOT_RUNNING;
	case -EPROTO:
		cli_error("%s: nfdnsd (pid %d) is of another version: restart "
		    "it", command, pid);
		return EXIT_ERROR;
	case -ECONNRESET:
		cli_error("%s: nfdnsd (pid %d) has ended, or too many ask at "
		    "once: ask again", command, pid);
		return EXIT_ERROR;
	case -ETIMEDOUT:
		cli_error("%s: nfdnsd (pid %d) does not react: it is starting or "
		    "stopping, or was stopped (kill -CONT %d), or it hangs: "
		    "restart it", command, pid, pid);
		return EXIT_ERROR;
	case -EINPROGRESS:
		cli_error("%s: no result yet: see nfdns status", command);
		return EXIT_ERROR;
	default:
		cli_error("%s: cannot ask nfdnsd at %s/" REQUEST_SOCKET ": %s",
		    command, run_dir, strerror(-error));
		return EXIT_ERROR;
	}
}

/* Line by line: run_dir may be another user's, and the terminal root's. */
static void
print(char *text, FILE *out)
{
	char *line;

	while ((line = strsep(&text, "\n")) != NULL)
		if (text != NULL || line[0] != '\0') {
			(void)printable_put(line, out);
			(void)putc('\n', out);
		}
}

int
daemon_open(const char *what, const char *run_dir, int *exit_code)
{
	struct daemon_answer answer;
	const int error = daemon_ask(&answer, run_dir, what, DAEMON_REACTS_MS);
	int fd;

	if (error < 0) {
		*exit_code = daemon_tell_error(&answer, what, run_dir, error);
		return -1;
	}
	print(answer.err, stderr);
	*exit_code = answer.code;
	fd = answer.fds[0];
	answer.fds[0] = -1;
	daemon_answer_free(&answer);
	return fd;
}

int
daemon_print(const struct daemon_answer *answer, const char *command)
{
	print(answer->err, stderr);
	print(answer->out, stdout);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return answer->code;
	cli_error("%s: cannot print: %s", command, strerror(errno));
	return EXIT_ERROR;
}

void
daemon_write_lines(struct json_write *w, const char *key, const char *text)
{
	json_write_open(w, key, '[');
	while (*text != '\0') {
		const size_t length = strcspn(text, "\n");

		json_write_octets(w, NULL, text, length);
		text += length;
		text += *text == '\n';
	}
	json_write_close(w, ']');
}

int
daemon_page(struct daemon_answer *answer, struct status_page *page,
    const char *run_dir)
{
	int error = daemon_ask(answer, run_dir, "page", DAEMON_REACTS_MS);

	if (error == 0)
		error = answer->fds[0] < 0 ? -EPROTO :
		    status_open(page, answer->fds[0]);
	if (error < 0)
		daemon_answer_free(answer);
	return error;
}

bool
daemon_is_there(const char *run_dir)
{
	pid_t pid;
	const int fd = connect_to(run_dir, &pid);

	if (fd >= 0)
		(void)close(fd);
	return fd >= 0 || fd == -ETIMEDOUT;
}

int
daemon_show(const char *command, const char *run_dir, const char *line,
    int wait_ms)
{
	struct daemon_answer answer;
	const int error = daemon_ask(&answer, run_dir, line, wait_ms);
	int code;

	if (error < 0)
		return daemon_tell_error(&answer, command, run_dir, error);
	code = daemon_print(&answer, command);
	daemon_answer_free(&answer);
	return code;
}
