/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The supervisor's IP sockets, which it opens itself or gets from nfdns-sockets
 * (nfq/sockets/server.h): the canaries', the TCP listeners with their policy
 * routing, and the worker's channel to nfdns-sockets.  The supervisor gets its
 * own sockets at the start and does not need nfdns-sockets afterwards.  What it
 * cannot get then costs no name over UDP: it starts without, and tries again each
 * second.  Until it has all, no worker takes connections: they pass, or are
 * dropped where the policy could deny their questions.
 *
 * Any user can take any port of 127.0.0.1, so the listeners have what the kernel
 * gives, and the rules name that.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "nfq/sockets/client.h"
#include "nfq/sockets/open.h"
#include "nfq/supervisor/parts.h"
#include "policy/log.h"
#include "resolver/dns/message.h"

#define FIRST_MS	1000	/* the service manager may have to start it */
#define ANSWER_MS	500	/* to what follows */
#define PORT_TRIES	64	/* of ports that may be taken */
#define FIRST_PORT	1024	/* a bit: lower ports need a capability */

/* Logs a problem that is not the last one, and keeps it for the state. */
static void __attribute__((format(printf, 2, 3)))
tell_problem(struct supervisor *s, const char *format, ...)
{
	char text[STATUS_TEXT];
	va_list arguments;

	va_start(arguments, format);
	if (vsnprintf(text, sizeof(text), format, arguments) < 0)
		text[0] = '\0';
	va_end(arguments);
	if (strcmp(text, s->sockets_problem) == 0)
		return;
	memcpy(s->sockets_problem, text, sizeof(text));
	log_warning("%s; until then names over TCP are not answered%s", text,
	    s->sockets != NULL && config_forwards(s->config) ?
	    ", and none is forwarded" : "");
	if (s->ready)
		supervisor_show_state(s);
}

static void
tell_helper_error(struct supervisor *s, int error)
{
	s->sockets_gone = true;
	if (error == -EPERM)
		tell_problem(s, "socket helper at %s must run as user \"%s\", "
		    "whose packets the rules bypass: set User= in "
		    "nfdns-sockets.service", s->sockets, s->config->user);
	else
		tell_problem(s, "socket helper at %s opens no sockets: %s: "
		    "systemctl start nfdns-sockets.socket", s->sockets,
		    error == -EAGAIN ? "no answer" : strerror(-error));
}

/*
 * The first socket, for canaries over IPv4; the channel is s->helper then.  If
 * nothing comes within timeout_ms, it is waited for by the next call (-EAGAIN):
 * the service manager has taken the request.  A descriptor or a negative errno.
 */
static int
ask_first(struct supervisor *s, int timeout_ms)
{
	const struct sockets_request request = {
		.kind = SOCKETS_DATAGRAM, .family = AF_INET };
	struct pollfd wait = { .events = POLLIN };
	int error = 0, fd = -1;

	if (s->helper < 0) {
		s->helper = sockets_connect(s->sockets);
		if (s->helper < 0)
			return s->helper;
		error = sockets_request(s->helper, &request);
	}
	wait.fd = s->helper;
	if (error == 0) {
		(void)poll(&wait, 1, timeout_ms);
		error = sockets_answer(s->helper, s->config->uid, &request,
		    &fd);
	}
	return error == 0 ? fd : error;
}

static void
leave_helper(struct supervisor *s)
{
	if (s->helper >= 0)
		sockets_leave(s->helper);
	s->helper = -1;
}

/* One UDP socket for each family, for canaries. */
static int
ask_sockets(struct supervisor *s, int timeout_ms)
{
	const struct sockets_request request = {
		.kind = SOCKETS_DATAGRAM, .family = AF_INET6 };
	int *fds = s->canary_sockets.fds, fd = ask_first(s, timeout_ms);

	if (fd == -EAGAIN)
		return fd;
	if (fd >= 0) {
		fds[0] = fd;
		fd = sockets_ask(s->helper, s->config->uid, &request,
		    ANSWER_MS);
		fds[1] = fd >= 0 ? fd : -1;
	}
	if (fd == -EAFNOSUPPORT && fds[0] >= 0)
		fd = 0;			/* this kernel has no IPv6 */
	if (fd < 0 && fds[0] >= 0) {
		(void)close(fds[0]);
		fds[0] = -1;
	}
	leave_helper(s);
	return fd < 0 ? fd : 0;
}

/* Canaries' sockets, unless they are there. */
static int
open_sockets(struct supervisor *s, int timeout_ms)
{
	const bool asked = s->helper >= 0 || timeout_ms > 0;
	int error;

	if (s->sockets == NULL || s->canary_sockets.fds[0] >= 0)
		return 0;
	error = ask_sockets(s, timeout_ms);
	if (error < 0 && (error != -EAGAIN || asked))
		tell_helper_error(s, error);
	return error;
}

void
supervisor_stop_sockets(struct supervisor *s)
{
	for (size_t i = 0; i < CANARY_SOCKETS; i++) {
		if (s->canary_sockets.fds[i] >= 0)
			(void)close(s->canary_sockets.fds[i]);
		s->canary_sockets.fds[i] = -1;
	}
	leave_helper(s);
}

/* The upstreams on other ports than 53, as requests; their number. */
static size_t
make_upstreams(const struct forward_settings *forward,
    struct sockets_request requests[static SOCKETS_UPSTREAMS])
{
	size_t count = 0;

	for (size_t i = 0; i < forward->upstreams; i++) {
		const struct forward_upstream *u = &forward->upstream[i];
		struct sockets_request *r = &requests[count];

		if (u->port == DNS_PORT || count == SOCKETS_UPSTREAMS)
			continue;
		*r = (struct sockets_request){
			.kind = SOCKETS_UPSTREAM,
			.family = (int)u->family,
			.port = (uint16_t)u->port,
			.scope_id = u->scope,
		};
		memcpy(r->address, u->address, u->family == AF_INET ? 4 : 16);
		count++;
	}
	return count;
}

void
supervisor_give_sockets(struct supervisor *s, const struct config *config)
{
	const struct control_message order = {.kind = CONTROL_SOCKETS};
	struct sockets_request upstreams[SOCKETS_UPSTREAMS];
	int channels[CONTROL_CHANNELS];
	size_t count = 0, upstream_count;
	bool all, sent;

	if (s->sockets == NULL)
		return;			/* no worker of ours asks for it */
	upstream_count = make_upstreams(&config->forward, upstreams);
	for (; count < CONTROL_CHANNELS; count++) {
		channels[count] = sockets_connect_restricted(s->sockets,
		    upstreams, upstream_count);
		if (channels[count] < 0)
			break;
	}
	if (count == 0 && !s->sockets_gone)
		log_warning("socket helper at %s cannot be reached: %s: over "
		    "TCP, only names of the mesh are answered, and nothing is "
		    "forwarded", s->sockets, strerror(-channels[0]));
	s->sockets_gone = count == 0;
	all = count == CONTROL_CHANNELS;
	/* If this fails, the worker is dying. */
	sent = control_send(s->worker.control, &order, channels,
	    all ? count : 0) == 0;
	while (count > 0) {
		count--;
		if (all && sent)
			(void)close(channels[count]);	/* the worker's now */
		else
			sockets_leave(channels[count]);
	}
}

static void
tell_listen_error(struct supervisor *s, size_t which, int error)
{
	const char *host = which == 0 ? "127.0.0.1" : "[::1]";
	const char *remedy =
	    error == -EADDRINUSE ? "stop the program that has all ports there"
	    : error == -EPERM && s->sockets == NULL
		? "run as root or through systemd"
	    : "set capture.tcp = false";

	tell_problem(s, "cannot listen for intercepted connections at %s: %s: "
	    "%s", host, strerror(-error), remedy);
}

/* The predecessor's listener, in which connections may wait, or -1. */
static int
inherit_listener(struct supervisor *s, size_t which)
{
	const uint16_t wanted = s->config->stream.port;
	int fd = fdstore_take(&s->fdstore, fdstore_listeners[which]);
	uint16_t port;

	if (fd < 0)
		return -1;
	port = stream_listen_port(fd, which);
	if (port != 0 && (wanted == 0 || port == wanted))
		return fd;
	fdstore_forget(fdstore_listeners[which]);
	(void)close(fd);
	return -1;
}

/* A listener from nfdns-sockets, or a negative errno. */
static int
ask_listener(const struct supervisor *s, const struct sockets_request *request)
{
	int channel = sockets_connect(s->sockets), fd;

	if (channel < 0)
		return channel;
	fd = sockets_ask(channel, s->config->uid, request, ANSWER_MS);
	sockets_leave(channel);
	return fd;
}

/* At that port, or one that the kernel chooses (0).  Or a negative errno. */
static int
listen_at(struct supervisor *s, size_t which, uint16_t port)
{
	const struct sockets_request request =
	    stream_listen_request(which, port);
	int fd = s->sockets != NULL ? ask_listener(s, &request) :
	    sockets_open(&request, 0), error;

	if (fd < 0)
		return fd;
	error = stream_listen_begin(fd, which, s->config);
	if (error == 0)
		return fd;
	(void)close(fd);
	return error;
}

/*
 * A user may have all ports that the kernel chooses from
 * (net.ipv4.ip_local_port_range), and an older nfdns-sockets, which is still
 * there after an upgrade, gives none that is not named (-EPERM).
 */
static int
listen_somewhere(struct supervisor *s, size_t which)
{
	int fd = listen_at(s, which, 0);
	uint16_t port;

	for (int i = 0; i < PORT_TRIES && (fd == -EADDRINUSE ||
	    (fd == -EPERM && s->sockets != NULL)); i++) {
		if (getrandom(&port, sizeof(port), 0) !=
		    (ssize_t)sizeof(port))
			return -EIO;
		fd = listen_at(s, which, port | FIRST_PORT);
	}
	return fd;
}

/* The socket or a negative errno. */
static int
open_listener(struct supervisor *s, size_t which)
{
	const uint16_t port = s->config->stream.port;
	int fd = inherit_listener(s, which);

	if (fd >= 0)
		return fd;
	if (port == 0)
		return listen_somewhere(s, which);
	fd = listen_at(s, which, port);
	if (fd != -EADDRINUSE && fd != -EPERM)
		return fd;
	log_warning("stream.port: cannot listen at %s:%u: %s: the kernel "
	    "chooses another port; take stream.port out of the configuration",
	    which == 0 ? "127.0.0.1" : "[::1]", port, strerror(-fd));
	return listen_somewhere(s, which);
}

static void
close_listeners(struct supervisor *s)
{
	for (size_t i = 0; i < STREAM_LISTENERS; i++) {
		if (s->listeners[i] >= 0)
			(void)close(s->listeners[i]);
		s->listeners[i] = -1;
	}
}

/* All or none, unless they are there.  0 or a negative errno. */
static int
open_listeners(struct supervisor *s)
{
	uint16_t *ports = s->status.supervisor->stream_ports;

	if (!s->config->capture.tcp || s->listeners[0] >= 0)
		return 0;
	for (size_t i = 0; i < STREAM_LISTENERS; i++) {
		int fd = open_listener(s, i);

		if (fd == -EAFNOSUPPORT && i > 0) {
			ports[i] = ports[0];	/* this kernel has no IPv6 */
			continue;
		}
		if (fd < 0) {
			tell_listen_error(s, i, fd);
			close_listeners(s);
			return fd;
		}
		s->listeners[i] = fd;
		ports[i] = stream_listen_port(fd, i);
	}
	ruleset_listen_at(&s->set, ports);
	return 0;
}

int
supervisor_start_sockets(struct supervisor *s)
{
	struct diag diag = DIAG_INIT;
	int error;

	s->canary_sockets.given = s->sockets != NULL;
	if (open_sockets(s, FIRST_MS) == 0)
		(void)!open_listeners(s);
	if (!s->config->capture.tcp)
		return EXIT_OK;
	error = routes_install(&s->routes, s->config, &diag);
	diag_log(&diag);
	diag_free(&diag);
	return error == 0 ? EXIT_OK : EXIT_ERROR;
}

/*
 * All is there now: rules lead connections to the listeners, and another worker
 * takes them; the questions that this one holds wait for it.
 */
static void
use_sockets(struct supervisor *s)
{
	struct diag diag = DIAG_INIT;

	if (rules_kernel_install(s->kernel, &s->set, &s->features, &diag) < 0) {
		tell_problem(s, "rules for intercepted connections: %s",
		    diag_first_error(&diag) != NULL ?
		    diag_first_error(&diag) : "cannot be installed");
		diag_free(&diag);
		return;
	}
	diag_free(&diag);
	s->sockets_problem[0] = '\0';
	s->sockets_gone = false;
	log_notice("sockets are open: another worker starts, which answers "
	    "over TCP, too");
	(void)!supervisor_keep_listeners(s);
	worker_process_kill(&s->worker);
	supervisor_show_state(s);
}

void
supervisor_retry_sockets(struct supervisor *s)
{
	/* A reload has rules of its own, with the ports that were known. */
	if (s->sockets_problem[0] != '\0' && s->reload.phase == RELOAD_IDLE &&
	    open_sockets(s, 0) == 0 && open_listeners(s) == 0)
		use_sockets(s);
}

int
supervisor_keep_listeners(const struct supervisor *s)
{
	int error = 0;

	for (size_t i = 0; i < STREAM_LISTENERS && error == 0; i++)
		if (s->listeners[i] >= 0)
			error = fdstore_keep(fdstore_listeners[i],
			    s->listeners[i]);
	return error;
}

int
supervisor_build_rules(const struct supervisor *s, struct ruleset *set,
    const struct config *config, enum rules_stage stage, struct diag *diag)
{
	int error = ruleset_build(set, config, stage, diag);

	if (error == 0)
		ruleset_listen_at(set, s->status.supervisor->stream_ports);
	return error;
}

void
supervisor_stop_stream(struct supervisor *s)
{
	/* The successor keeps rules and routes. */
	if (s->hand_over)
		routes_leave(s->routes);
	else
		routes_remove(s->routes);
	s->routes = NULL;
	close_listeners(s);
}

void
supervisor_watch_routes(struct supervisor *s)
{
	if (s->routes != NULL && routes_watch(s->routes))
		log_warning("another program removed routing rule %u or table "
		    "%u: installed again", s->config->stream.priority,
		    s->config->stream.table);
}
