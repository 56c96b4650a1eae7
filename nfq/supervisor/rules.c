/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules, and changes of them that are no reload.
 *
 * cgroups   of capture.bypass.cgroups: the rules identify one by its number, and one
 *           that is created again at the same path has another: when the service
 *           manager has restarted a service, the rules are installed again
 * pause     "nfdns pause": new questions and connections pass, while table, cache,
 *           sockets and what is under way stay.  A daemon that starts is never paused,
 *           so that a crash ends it, too
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "nfq/process/diag_print.h"
#include "nfq/supervisor/parts.h"
#include "policy/log.h"

/* How soon an end is tried again that failed, or that a reload was in the way of. */
#define AGAIN_MS	1000

int
supervisor_build_rules(const struct supervisor *s, struct ruleset *set,
    const struct config *config, enum rules_stage stage, struct diag *diag)
{
	int error = ruleset_build(set, config, stage == RULES_FULL &&
	    monotime_is_set(s->paused_until) ? RULES_PAUSED : stage, diag);

	if (error == 0)
		ruleset_listen_at(set, s->status.supervisor->stream_ports);
	return error;
}

/*
 * Installs other rules of the same configuration in place of s->set, if "always" or
 * if cgroups are others.  1: installed; 0; or a negative errno.
 */
static int
install(struct supervisor *s, bool always, struct diag *diag)
{
	struct ruleset set;
	int error = supervisor_build_rules(s, &set, s->config, RULES_FULL, diag);

	if (error < 0)
		return error;
	if (always || !ruleset_same_cgroups(&set, &s->set)) {
		error = rules_kernel_install(s->kernel, &set, &s->features, diag);
		if (error == 0) {
			ruleset_free(&s->set);
			s->set = set;
			return 1;
		}
	}
	ruleset_free(&set);
	return error;
}

void
supervisor_look_at_cgroups(struct supervisor *s)
{
	struct diag diag = DIAG_INIT;
	int error;

	/* While a reload swaps, the kernel's rules are not those of s->set. */
	if (s->config->capture.bypass.cgroup_count == 0 ||
	    s->reload.phase == RELOAD_SWAPPING)
		return;
	error = install(s, false, &diag);
	if (error > 0)
		log_info("cgroups of capture.bypass.cgroups changed: the rules "
		    "are installed again");
	if (error < 0 && !s->cgroups_failed) {
		diag_log(&diag);
		log_error("cgroups of capture.bypass.cgroups changed, but the "
		    "rules cannot be installed again: %s; trying again",
		    strerror(-error));
	}
	s->cgroups_failed = error < 0;
	diag_free(&diag);
}

int
supervisor_pause(struct supervisor *s, unsigned int seconds, struct diag *diag)
{
	const monotime_t before = s->paused_until;
	int error = 0;

	/* New tables alone, which may come all the time, leave the rules as they are. */
	if (s->reload.phase != RELOAD_IDLE && s->reload.wish != RELOAD_TABLES) {
		diag_add(diag, DIAG_ERROR, NULL, 0, "a reload of the "
		    "configuration is under way: ask again");
		return -EBUSY;
	}
	s->paused_until = seconds == 0 ? MONOTIME_NEVER :
	    monotime_add_ms(monotime_now(), (int64_t)seconds * 1000);
	/* A longer pause needs no other rules. */
	if (monotime_is_set(before) != (seconds != 0))
		error = install(s, true, diag);
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
