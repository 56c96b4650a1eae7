/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What TCP needs besides rules and worker: listeners and policy routing.  The
 * listeners come first: another daemon has their port, and so never loses its
 * routes to us.
 */
#include <errno.h>
#include <string.h>

#include "nfq/report.h"
#include "nfq/supervisor_parts.h"
#include "policy/log.h"

int
start_stream(struct supervisor *s)
{
	struct diag diag = DIAG_INIT;
	int error = 0;

	if (!s->config->capture.tcp)
		return EXIT_OK;
	error = stream_listen(s->listeners, s->config, &diag);
	if (error == 0)
		error = routes_install(&s->routes, s->config, &diag);
	report_log(&diag);
	diag_free(&diag);
	return error == 0 ? EXIT_OK : EXIT_ERROR;
}

void
stop_stream(struct supervisor *s)
{
	/* A successor goes on with the rules, and its own routes. */
	if (s->hand_over)
		routes_leave(s->routes);
	else
		routes_remove(s->routes);
	s->routes = NULL;
	stream_listen_close(s->listeners);
}

void
follow_routes(struct supervisor *s)
{
	if (s->routes != NULL && routes_follow(s->routes))
		log_warning("a routing rule of ours was gone: put in again");
}
