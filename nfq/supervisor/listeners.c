/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The TCP listeners, with their policy routing.  If they cannot be had, that costs no
 * name over UDP: nfdnsd starts without, and tries again each second.  Until it has
 * them, no worker takes connections: they pass, or are dropped where the policy could
 * deny their questions.
 *
 * Any user can take any port of 127.0.0.1, so the listeners have what the kernel
 * gives, and the rules name that.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "nfq/sockets/open.h"
#include "nfq/supervisor/parts.h"
#include "policy/log.h"

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
	if (strcmp(text, s->listen_problem) == 0)
		return;
	memcpy(s->listen_problem, text, sizeof(text));
	log_warning("%s; until then names over TCP are not answered", text);
	if (s->ready)
		supervisor_show_state(s);
}

static void
tell_listen_error(struct supervisor *s, size_t which, int error)
{
	const char *host = which == 0 ? "127.0.0.1" : "[::1]";
	const char *remedy =
	    error == -EADDRINUSE ? "stop the program that has all ports there"
	    : error == -EPERM ? "run as root or through systemd"
	    : "set capture.tcp = false";

	tell_problem(s, "cannot listen for intercepted connections at %s: %s: "
	    "%s", host, strerror(-error), remedy);
}

/* The predecessor's listener, in which connections may wait, or -1. */
static int
inherit_listener(struct supervisor *s, size_t which)
{
	int fd = fdstore_take(&s->fdstore, fdstore_listeners[which]);

	if (fd < 0 || stream_listen_port(fd, which) != 0)
		return fd;
	fdstore_forget(fdstore_listeners[which]);
	(void)close(fd);
	return -1;
}

/* At that port, or one that the kernel chooses (0).  Or a negative errno. */
static int
listen_at(struct supervisor *s, size_t which, uint16_t port)
{
	const struct sockets_request request =
	    stream_listen_request(which, port);
	int fd = sockets_open(&request, 0), error;

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
 * (net.ipv4.ip_local_port_range).
 */
static int
listen_somewhere(struct supervisor *s, size_t which)
{
	int fd = listen_at(s, which, 0);
	uint16_t port;

	for (int i = 0; i < PORT_TRIES && fd == -EADDRINUSE; i++) {
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
	int fd = inherit_listener(s, which);

	return fd >= 0 ? fd : listen_somewhere(s, which);
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
supervisor_start_listeners(struct supervisor *s)
{
	struct diag diag = DIAG_INIT;
	int error;

	(void)!open_listeners(s);
	if (!s->config->capture.tcp)
		return EXIT_OK;
	error = routes_install(&s->routes, s->config, &diag);
	diag_log(&diag);
	diag_free(&diag);
	return error == 0 ? EXIT_OK : EXIT_ERROR;
}

int
supervisor_change_listeners(struct supervisor *s, const struct config *before,
    struct diag *diag)
{
	const bool tcp = s->config->capture.tcp;

	if (tcp == before->capture.tcp &&
	    s->config->stream.table == before->stream.table)
		return 0;
	routes_remove(s->routes);
	s->routes = NULL;
	if (!tcp) {
		close_listeners(s);
		for (size_t i = 0; i < STREAM_LISTENERS; i++)
			fdstore_forget(fdstore_listeners[i]);
		s->listen_problem[0] = '\0';
		return 0;
	}
	if (open_listeners(s) == 0)
		(void)!supervisor_keep_listeners(s);
	return routes_install(&s->routes, s->config, diag);
}

/*
 * All is there now: rules lead connections to the listeners, and another worker
 * takes them; the questions that this one holds wait for it.
 */
static void
use_listeners(struct supervisor *s)
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
	s->listen_problem[0] = '\0';
	log_notice("nfdnsd listens for connections: another worker starts, "
	    "which answers over TCP, too");
	(void)!supervisor_keep_listeners(s);
	worker_process_kill(&s->worker);
	supervisor_show_state(s);
}

void
supervisor_retry_listeners(struct supervisor *s)
{
	/* A reload has rules of its own, with the ports that were known. */
	if (s->listen_problem[0] != '\0' && s->reload.phase == RELOAD_IDLE &&
	    open_listeners(s) == 0)
		use_listeners(s);
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
		    "%u: installed again", STREAM_PRIORITY,
		    s->config->stream.table);
}
