/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports the supervisor's state in words. */
#include <stdio.h>
#include <string.h>

#include "nfq/process/notify.h"
#include "nfq/supervisor/parts.h"

void
supervisor_show_state(struct supervisor *s)
{
	char audit[STATUS_TEXT] = "";
	const bool no_tls = config_forwards_tls(s->config) &&
	    s->generation.authorities < 0;
	const char *why =
	    s->table_error[0] != '\0' ? s->table_error
	    : s->monitor.canary.unanswered
		? "the canary question is not answered: nfdns doctor finds "
		  "out why"
	    : s->listen_problem[0] != '\0' ? s->listen_problem
	    : s->monitor.streams.full
		? "the set of intercepted TCP connections "
		  "is full: new ones are not answered from the mesh"
	    : s->reload_error[0] != '\0' ? s->reload_error
	    : s->monitor.feeds.problem[0] != '\0' ? s->monitor.feeds.problem
	    : audit_files_problem(&s->generation.audit, s->config, audit,
	    sizeof(audit)) ? audit
	    : s->kept.problem[0] != '\0' ? s->kept.problem
	    : no_tls ? "the certificates of forward.tls.ca are missing: "
		"upstreams over TLS are not asked"
					 : NULL;
	char state[STATUS_TEXT + 32];

	status_set_state(&s->status, why != NULL ? STATUS_DEGRADED :
	    STATUS_READY, why);
	(void)snprintf(state, sizeof(state), "STATUS=%s%s",
	    why != NULL ? "degraded: " : "answering", why != NULL ? why : "");
	(void)notify(state);
}
