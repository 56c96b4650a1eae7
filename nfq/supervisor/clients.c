/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Those who ask at run_dir/control (request.h).  Nobody is waited for: who sends no
 * line or takes no answer is dropped after CLIENT_MS.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfq/supervisor/parts.h"
#include "nfq/process/diag_print.h"
#include "policy/config/config.h"
#include "policy/status/metrics.h"
#include "resolver/fds.h"

#define ACCEPTS		32	/* in a round; then others have their turn */

void
clients_init(struct clients *clients)
{
	clients->listener = -1;
	clients->full = false;
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		clients->list[i] = (struct client){ .fd = -1 };
}

static void
drop(struct client *c)
{
	if (c->fd >= 0)
		(void)close(c->fd);
	while (c->fd_count > 0)
		(void)close(c->fds[--c->fd_count]);
	free(c->err);
	free(c->out);
	*c = (struct client){ .fd = -1 };
}

/* Of a daemon that was killed, it may be there: run_dir's lock says that none runs. */
static int
bind_at(int fd, const struct sockaddr_un *address)
{
	if ((unlink(address->sun_path) < 0 && errno != ENOENT) ||
	    bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ||
	    /* Who may ask what, SO_PEERCRED decides. */
	    chmod(address->sun_path, 0666) < 0)
		return -errno;
	return 0;
}

int
clients_open(struct supervisor *s)
{
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0);
	struct sockaddr_un address;
	int directory = -1;
	int error = fd < 0 ? -errno : request_address(&address,
	    s->config->run_dir, &directory);

	if (error == 0)
		error = bind_at(fd, &address);
	if (directory >= 0)
		(void)close(directory);
	if (error == 0 && listen(fd, SOMAXCONN) < 0)
		error = -errno;
	if (error == 0)
		s->clients.listener = fd;
	else if (fd >= 0)
		(void)close(fd);
	return error;
}

void
clients_close(struct supervisor *s)
{
	struct clients *clients = &s->clients;
	struct sockaddr_un address;
	int directory;

	for (size_t i = 0; i < CLIENTS_MAX; i++)
		drop(&clients->list[i]);
	if (clients->listener < 0)
		return;
	if (request_address(&address, s->config->run_dir, &directory) == 0)
		(void)unlink(address.sun_path);
	if (directory >= 0)
		(void)close(directory);
	(void)close(clients->listener);
	clients->listener = -1;
}

void
clients_poll(const struct clients *clients,
    struct pollfd fds[static CLIENTS_FDS])
{
	fds[0] = (struct pollfd){ clients->full ? -1 : clients->listener,
		POLLIN, 0 };
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		const struct client *c = &clients->list[i];

		fds[1 + i] = (struct pollfd){ c->fd,
			c->ends ? POLLOUT : POLLIN, 0 };
	}
}

/* Answers */

/* 0, -EAGAIN, or another negative errno: the client has gone. */
static int
send_packet(const struct client *c, char kind, const char *octets,
    size_t length, const int *fds, size_t fd_count)
{
	union fds_ancillary ancillary;
	struct iovec parts[] = { { &kind, 1 },
		{ (void *)(uintptr_t)octets, length } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	fds_attach(&message, &ancillary, fds, fd_count);
	return sendmsg(c->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 ? 0 :
	    -errno;
}

static int
send_text(const struct client *c, char kind, const char *text, size_t length,
    size_t *sent)
{
	int error = 0;

	while (*sent < length && error == 0) {
		size_t n = length - *sent;

		if (n > REQUEST_PACKET - 1)
			n = REQUEST_PACKET - 1;
		error = send_packet(c, kind, text + *sent, n, NULL, 0);
		if (error == 0)
			*sent += n;
	}
	return error;
}

/* As much of the answer as the client takes now. */
static void
send_answer(struct client *c)
{
	char code[16];
	const int length = snprintf(code, sizeof(code), "%d", c->code);
	int error = send_text(c, REQUEST_ERR, c->err, c->err_length,
	    &c->err_sent);

	if (error == 0)
		error = send_text(c, REQUEST_OUT, c->out, c->out_length,
		    &c->out_sent);
	if (error == 0)
		error = send_packet(c, REQUEST_END, code, (size_t)length,
		    c->fds, c->fd_count);
	if (error != -EAGAIN)
		drop(c);
}

/* What a client is told: begin, write to "out" and "err", end. */
struct telling {
	struct client *client;
	FILE *out, *err;
};

/* False, and the client is dropped, if there is no memory. */
static bool
tell_begin(struct telling *t, struct client *c)
{
	t->client = c;
	t->out = open_memstream(&c->out, &c->out_length);
	t->err = open_memstream(&c->err, &c->err_length);
	if (t->out != NULL && t->err != NULL)
		return true;
	if (t->out != NULL)
		(void)fclose(t->out);
	if (t->err != NULL)
		(void)fclose(t->err);
	drop(c);
	return false;
}

static void
tell_end(struct telling *t, int code)
{
	struct client *c = t->client;
	const bool out = fclose(t->out) == 0, err = fclose(t->err) == 0;

	if (!out || !err) {
		drop(c);
		return;
	}
	c->ends = true;
	c->code = code;
	c->deadline = monotime_add_ms(monotime_now(), CLIENT_MS);
	send_answer(c);
}

__attribute__((format(printf, 3, 4)))
static void
refuse(struct client *c, int code, const char *format, ...)
{
	struct telling t;
	va_list arguments;

	if (!tell_begin(&t, c))
		return;
	va_start(arguments, format);
	diag_print_error("nfdns", t.err, format, arguments);
	va_end(arguments);
	tell_end(&t, code);
}

/* Requests */

/* It goes on waiting for what takes longer. */
static void
wait_for(struct client *c, uint32_t number)
{
	c->number = number;
	c->deadline = MONOTIME_NEVER;
	if (send_packet(c, REQUEST_TAKEN, "", 0, NULL, 0) < 0)
		drop(c);
}

/* Another description of the file, for locks of its own; it can only be read. */
static int
open_again(int fd)
{
	char path[40];

	if (fd < 0)
		return -ENOENT;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Descriptors, and the number of the generation that they are of. */
static void
give_files(struct client *c, const struct generation_files *g, const int *fds,
    size_t count)
{
	struct telling t;
	int error = 0;

	for (size_t i = 0; i < count && error == 0; i++) {
		const int fd = fcntl(fds[i], F_DUPFD_CLOEXEC, 0);

		if (fd < 0)
			error = -errno;
		else
			c->fds[c->fd_count++] = fd;
	}
	if (error < 0)
		refuse(c, EXIT_ERROR, "nfdnsd cannot open its own files: %s",
		    strerror(-error));
	else if (tell_begin(&t, c)) {
		(void)fprintf(t.out, "%" PRIu64 "\n", g->number);
		tell_end(&t, EXIT_OK);
	}
}

static void
show_status(struct supervisor *s, struct client *c)
{
	const struct status_page *page = &s->status;
	const uint32_t state = atomic_load(&page->supervisor->state);
	struct telling t;
	int error;

	if (!tell_begin(&t, c))
		return;
	error = c->request.kind == REQUEST_STATUS ?
	    status_print(page, s->config, (enum status_form)
	    c->request.option, t.out) :
	    metrics_print(page, s->config, c->request.option != 0, t.out);
	tell_end(&t, error < 0 ? EXIT_ERROR : c->request.kind ==
	    REQUEST_METRICS || state == STATUS_READY ? EXIT_OK : EXIT_DEGRADED);
}

static bool
is_ours(const struct client *c)
{
	return c->uid == 0 || c->uid == geteuid();
}

static void
tell_changed(const struct supervisor *s, FILE *out)
{
	struct config_newer newer;

	if (config_newer(&newer, s->config, (int64_t)
	    atomic_load(&s->status.supervisor->table_loaded)) == 0)
		for (size_t i = 0; i < newer.count; i++)
			(void)fprintf(out, "%s\n", newer.files[i]);
	config_newer_free(&newer);
}

/* A copy of the page; what is asked, names and by whom, is root's to see. */
static void
give_page(const struct supervisor *s, struct client *c)
{
	const int copy = status_copy(&s->status);
	const int hitters = is_ours(c) ? open_again(s->status.hitters.fd) : -1;
	struct telling t;

	if (copy < 0) {
		refuse(c, EXIT_ERROR, "nfdnsd cannot copy its status: %s",
		    strerror(-copy));
		return;
	}
	c->fds[c->fd_count++] = copy;
	if (hitters >= 0)
		c->fds[c->fd_count++] = hitters;
	if (tell_begin(&t, c)) {
		tell_changed(s, t.out);
		tell_end(&t, EXIT_OK);
	}
}

static void
verify_rules(struct supervisor *s, struct client *c)
{
	struct diag differences = DIAG_INIT;
	enum rules_state state;
	const int error = rules_kernel_verify(s->kernel, &state,
	    &differences);
	struct telling t;

	if (error < 0)
		refuse(c, EXIT_ERROR, "rules: %s", error == -EINTR ?
		    "another program keeps changing the rules of this kernel; "
		    "try again" : rules_kernel_open_error(error));
	else if (tell_begin(&t, c)) {
		(void)!ruleset_print(&s->set, t.out);
		for (size_t i = 0; i < differences.kept; i++)
			(void)fprintf(t.err, "%s\n", differences.entries[i].text);
		if (diag_dropped(&differences) > 0)
			(void)fprintf(t.err, "... and %zu more\n",
			    diag_dropped(&differences));
		tell_end(&t, state == RULES_EQUAL ? EXIT_OK : EXIT_DEGRADED);
	}
	diag_free(&differences);
}

/* "resume" is a pause of no time. */
static void
pause_for(struct supervisor *s, struct client *c)
{
	struct diag diag = DIAG_INIT;
	const int error = supervisor_pause(s, c->request.option, &diag);
	struct telling t;

	if (error < 0)
		refuse(c, EXIT_ERROR, "%s", diag.kept > 0 ?
		    diag.entries[0].text : strerror(-error));
	else if (tell_begin(&t, c))
		tell_end(&t, EXIT_OK);
	diag_free(&diag);
}

/*
 * Flushes of the cache.  The worker has one at a time; one that a dying worker had is
 * given to the next.
 */
static void
give_flush(struct supervisor *s)
{
	const struct flush *first = &s->flushes.list[0];
	struct control_message order = { .kind = CONTROL_FLUSH };

	/* A worker that starts gets it when it is ready: clients_worker_ready(). */
	if (s->flushes.count == 0 || s->flushes.given ||
	    !s->worker.life.ready)
		return;
	order.generation = first->number;
	order.name_length = (uint32_t)flush_write(first, order.name);
	/* A worker that does not listen is dying: the next one gets it. */
	s->flushes.given =
	    control_send(s->worker.control, &order, NULL, 0) == 0;
}

void
clients_worker_ready(struct supervisor *s)
{
	s->flushes.given = false;
	give_flush(s);
}

static void
refuse_cache(struct client *c)
{
	refuse(c, EXIT_ERROR, "cache: nfdnsd has none: set forward.domains and "
	    "forward.cache.size");
}

static void
ask_flush(struct supervisor *s, struct client *c)
{
	struct flushes *f = &s->flushes;

	if (s->generation.cache < 0) {
		refuse_cache(c);
		return;
	}
	if (f->count == FLUSHES_MAX) {
		refuse(c, EXIT_ERROR, "cache: too many flushes at once: ask "
		    "again");
		return;
	}
	f->list[f->count++] = (struct flush){ .number = ++f->number,
		.below = c->request.option != 0, .name = c->request.name };
	wait_for(c, f->number);
	give_flush(s);
}

/* How many are over. */
static uint32_t
reloads(const struct supervisor *s)
{
	return (uint32_t)atomic_load(&s->status.supervisor->reloads);
}

/* A reload that runs may have read the files before they were written. */
static void
ask_reload(struct supervisor *s, struct client *c)
{
	const enum reload_wish wish = c->request.option != 0 ? RELOAD_FORCED :
	    RELOAD_ALL;

	wait_for(c, reloads(s) + (s->reload.phase == RELOAD_IDLE ? 1 : 2));
	if (wish > s->clients.wish)
		s->clients.wish = wish;
}

static void
obey(struct supervisor *s, struct client *c)
{
	const struct generation_files *g = &s->generation;
	const int running[] = { g->image, g->settings };

	if (!request_is_open(&c->request) && !is_ours(c)) {
		refuse(c, EXIT_ERROR, "only root may ask nfdnsd that");
		return;
	}
	if (!s->ready && !request_is_open(&c->request)) {
		refuse(c, EXIT_ERROR, "nfdnsd is starting: ask again");
		return;
	}
	switch (c->request.kind) {
	case REQUEST_STATUS:
	case REQUEST_METRICS:
		show_status(s, c);
		break;
	case REQUEST_PAGE:
		give_page(s, c);
		break;
	case REQUEST_RELOAD:
		ask_reload(s, c);
		break;
	case REQUEST_FLUSH:
		ask_flush(s, c);
		break;
	case REQUEST_PAUSE:
	case REQUEST_RESUME:
		pause_for(s, c);
		break;
	case REQUEST_RULES:
		verify_rules(s, c);
		break;
	case REQUEST_TABLE:
		give_files(c, g, &g->image, 1);
		break;
	case REQUEST_CACHE:
		if (g->cache < 0)
			refuse_cache(c);
		else
			give_files(c, g, &g->cache, 1);
		break;
	case REQUEST_RUNNING:
		give_files(c, g, running, 2);
		break;
	}
}

static void
take_line(struct supervisor *s, struct client *c)
{
	char line[REQUEST_MAX + 1];
	const ssize_t n = recv(c->fd, line, sizeof(line), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* It has gone, or says more than there is to say. */
	if (n <= 0 || c->asked) {
		drop(c);
		return;
	}
	c->asked = true;
	if (request_parse(&c->request, line, (size_t)n) == 0)
		obey(s, c);
	else
		refuse(c, EXIT_USAGE, "this is not a request of nfdnsd: see "
		    "nfdns(8)");
}

static bool
has_room(struct clients *clients, uid_t uid, struct client **place)
{
	size_t others = 0, same = 0;

	*place = NULL;
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = &clients->list[i];

		if (c->fd < 0)
			*place = c;
		else if (c->uid != 0) {
			others++;
			same += c->uid == uid;
		}
	}
	return *place != NULL && (uid == 0 ||
	    (others < CLIENTS_OTHERS && same < CLIENTS_USER));
}

static void
accept_clients(struct supervisor *s, monotime_t now)
{
	for (int i = 0; i < ACCEPTS; i++) {
		const int fd = accept4(s->clients.listener, NULL, NULL,
		    SOCK_CLOEXEC | SOCK_NONBLOCK);
		socklen_t length = sizeof(struct ucred);
		struct ucred user;
		struct client *c;

		/* Who waits would wake the loop without end. */
		s->clients.full = fd < 0 && errno != EAGAIN;
		if (fd < 0)
			return;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user,
		    &length) < 0 || !has_room(&s->clients, user.uid, &c)) {
			(void)close(fd);
			continue;
		}
		*c = (struct client){ .fd = fd, .uid = user.uid,
			.deadline = monotime_add_ms(now, CLIENT_MS) };
	}
}

enum reload_wish
clients_step(struct supervisor *s, const struct pollfd fds[static CLIENTS_FDS],
    monotime_t now)
{
	s->clients.wish = RELOAD_NOTHING;
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = &s->clients.list[i];

		if (fds[1 + i].revents == 0 || c->fd != fds[1 + i].fd)
			continue;
		if (c->ends)
			send_answer(c);
		else
			take_line(s, c);
	}
	if (fds[0].revents != 0 && s->clients.listener >= 0)
		accept_clients(s, now);
	return s->clients.wish;
}

void
clients_tick(struct supervisor *s, monotime_t now)
{
	s->clients.full = false;
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (s->clients.list[i].fd >= 0 &&
		    monotime_is_due(now, s->clients.list[i].deadline))
			drop(&s->clients.list[i]);
}

/* The client that waits for the next of that kind up to that number, or NULL. */
static struct client *
next_waiting(struct supervisor *s, enum request_kind kind, uint32_t number)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = &s->clients.list[i];

		if (c->fd >= 0 && c->asked && !c->ends &&
		    c->request.kind == kind &&
		    (int32_t)(c->number - number) <= 0)
			return c;
	}
	return NULL;
}

static void
tell_reload(struct supervisor *s, struct client *c, bool good)
{
	const struct status_supervisor *page = s->status.supervisor;
	const struct diag *diag = &s->reload.diag;
	struct telling t;

	if (!tell_begin(&t, c))
		return;
	diag_print(diag, "nfdns", t.err);
	if (!good) {
		(void)fputs("nfdns: error: reload: refused, everything stays as "
		    "it was\n", t.err);
		tell_end(&t, EXIT_INVALID);
		return;
	}
	(void)fprintf(t.out, "reloaded: table generation %" PRIu64 ", %" PRIu64
	    " names before\n", s->generation.number, s->reload.names);
	diag_print_valid(s->config->mesh.source_count,
	    atomic_load(&page->table_names), diag->warnings, t.out);
	tell_end(&t, EXIT_OK);
}

void
clients_reloaded(struct supervisor *s, bool good)
{
	struct client *c;

	while ((c = next_waiting(s, REQUEST_RELOAD, reloads(s))) != NULL)
		tell_reload(s, c, good);
}

void
clients_flushed(struct supervisor *s, const struct control_message *answer)
{
	struct flushes *f = &s->flushes;
	const uint32_t number = f->list[0].number;
	struct client *c;
	struct telling t;

	if (!f->given || answer->generation != number)
		return;
	f->given = false;
	f->count--;
	memmove(f->list, f->list + 1, f->count * sizeof(f->list[0]));
	give_flush(s);
	c = next_waiting(s, REQUEST_FLUSH, number);
	if (c == NULL || c->number != number)
		return;
	if (answer->names == UINT64_MAX)
		refuse(c, EXIT_ERROR, "cache: nfdnsd could not flush: see its log");
	else if (tell_begin(&t, c)) {
		(void)fprintf(t.out, "%" PRIu64 "\n", answer->names);
		tell_end(&t, EXIT_OK);
	}
}
