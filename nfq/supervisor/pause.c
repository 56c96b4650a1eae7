/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "nfdns pause": the rules let new questions and connections pass, while table, cache,
 * sockets and what is under way stay.  A daemon that starts is never paused, so that a
 * crash ends it, too.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "nfq/process/diag_print.h"
#include "nfq/supervisor/parts.h"
#include "policy/log.h"

/* How soon an end is tried again that failed, or that a reload was in the way of. */
#define AGAIN_MS	1000

static int
install(struct supervisor *s, struct diag *diag)
{
	struct ruleset set;
	int error = supervisor_build_rules(s, &set, s->config, RULES_FULL, diag);

	return error < 0 ? error : supervisor_install_rules(s, &set, diag);
}

int
supervisor_pause(struct supervisor *s, unsigned int seconds, struct diag *diag)
{
	const monotime_t before = s->paused_until;
	int error = -EBUSY;

	/* New tables alone, which may come all the time, leave the rules as they are. */
	if (s->reload.phase != RELOAD_IDLE && s->reload.wish != RELOAD_TABLES) {
		diag_add(diag, DIAG_ERROR, NULL, 0, "a reload of the "
		    "configuration is under way: ask again");
		return error;
	}
	s->paused_until = seconds == 0 ? MONOTIME_NEVER :
	    monotime_add_ms(monotime_now(), (int64_t)seconds * 1000);
	/* A longer pause needs no other rules. */
	error = monotime_is_set(before) == (seconds != 0) ? 0 :
	    install(s, diag);
	if (error < 0) {
		s->paused_until = before;
		return error;
	}
	atomic_store(&s->status.supervisor->paused_until, seconds == 0 ? 0 :
	    (uint64_t)time(NULL) + seconds);
	if (seconds != 0)
		log_notice("paused for %u s: every question passes", seconds);
	else if (monotime_is_set(before))
		log_notice("the pause is over: questions are taken again");
	return 0;
}

void
supervisor_pause_tick(struct supervisor *s, monotime_t now)
{
	struct diag diag = DIAG_INIT;

	if (!monotime_is_set(s->paused_until) ||
	    !monotime_is_past(now, s->paused_until))
		return;
	if (supervisor_pause(s, 0, &diag) < 0) {
		if (s->reload.phase == RELOAD_IDLE ||
		    s->reload.wish == RELOAD_TABLES)
			diag_log(&diag);
		s->paused_until = monotime_add_ms(now, AGAIN_MS);
	}
	diag_free(&diag);
}
