/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the supervisor stands, in words for those who ask. */
#include <stdio.h>
#include <time.h>

#include "nfq/notify.h"
#include "nfq/supervisor_parts.h"

int64_t
supervisor_now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void
supervisor_show_state(struct supervisor *s)
{
	const char *why = s->table_error[0] != '\0' ? s->table_error :
	    s->health.unanswered ? "the canary question is not answered" :
	    s->health.streams_full ? "the set of intercepted TCP connections "
	    "is full: new ones are not answered from the mesh" : NULL;
	char state[STATUS_TEXT + 32];

	status_set_state(&s->status, why != NULL ? STATUS_DEGRADED :
	    STATUS_READY, why);
	(void)snprintf(state, sizeof(state), "STATUS=%s%s",
	    why != NULL ? "degraded: " : "answering", why != NULL ? why : "");
	(void)notify(state);
}
