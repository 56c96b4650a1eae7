/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What TCP needs besides rules and worker: listeners and policy routing.  The
 * listeners come first: another daemon has their port, and so never loses its
 * routes to us.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/open.h"
#include "nfq/process/diag_print.h"
#include "nfq/supervisor/parts.h"
#include "policy/log.h"

static void
explain(const struct supervisor *s, size_t which, int error)
{
	const char *host = which == 0 ? "127.0.0.1" : "[::1]";
	const char *remedy =
	    error == -EADDRINUSE
		? "change stream.port, or stop the program that listens there"
	    : error == -EPERM && s->sockets != NULL
		? "stream.port has to be 1024 or higher"
	    : error == -EPERM ? "run as root or through systemd"
			      : "set capture.tcp = false";

	log_error("cannot listen for intercepted connections at %s:%u: %s: %s",
	    host, s->config->stream.port, strerror(-error), remedy);
}

/* The predecessor's, in which connections may wait; or -1. */
static int
inherit_listener(struct supervisor *s, size_t which)
{
	int fd = fdstore_take(&s->fdstore, fdstore_listeners[which]);

	if (fd < 0 || stream_listen_is_there(fd, which, s->config))
		return fd;
	fdstore_forget(fdstore_listeners[which]);
	(void)close(fd);
	return -1;
}

/* The socket or a negative errno. */
static int
open_listener(struct supervisor *s, size_t which)
{
	const struct sockets_request request =
	    stream_listen_request(which, s->config);
	int fd = inherit_listener(s, which), error;

	if (fd < 0)
		fd = s->sockets != NULL ? supervisor_open_listener(s, &request)
					: sockets_open(&request, 0);
	if (fd < 0)
		return fd;
	error = stream_listen_begin(fd, which, s->config);
	if (error == 0)
		return fd;
	(void)close(fd);
	return error;
}

static int
open_listeners(struct supervisor *s)
{
	for (size_t i = 0; i < STREAM_LISTENERS; i++) {
		int fd = open_listener(s, i);

		if (fd == -EAFNOSUPPORT && i > 0)
			continue;	/* this kernel has no IPv6 */
		if (fd < 0) {
			explain(s, i, fd);
			return fd;
		}
		s->listeners[i] = fd;
	}
	return 0;
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

int
supervisor_start_stream(struct supervisor *s)
{
	struct diag diag = DIAG_INIT;
	int error = 0;

	if (!s->config->capture.tcp)
		return EXIT_OK;
	error = open_listeners(s);
	if (error == 0)
		error = routes_install(&s->routes, s->config, &diag);
	diag_log(&diag);
	diag_free(&diag);
	return error == 0 ? EXIT_OK : EXIT_ERROR;
}

void
supervisor_stop_stream(struct supervisor *s)
{
	/* A successor goes on with the rules, and its own routes. */
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
		    "%u: put in again", s->config->stream.priority,
		    s->config->stream.table);
}
