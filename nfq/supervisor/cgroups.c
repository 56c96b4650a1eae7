/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches the cgroups of capture.bypass.cgroups.  The rules identify a cgroup
 * by its number, and a cgroup that is created again at the same path has
 * another number.  So when the service manager restarts a service, the rules
 * are installed again.
 *
 * The owner of a delegated cgroup can create and remove cgroups as fast as the
 * kernel allows, so checks are limited: a few at once, since a process in a new
 * cgroup may ask at once, then one in LOOK_EVERY_MS.
 */
#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "nfq/process/diag_print.h"
#include "nfq/supervisor/parts.h"
#include "policy/log.h"
#include "rules/cgroup.h"

#define LOOK_EVERY_MS	200
#define LOOKS_AT_ONCE	5
/* Delay after the kernel refused the rules. */
#define RETRY_MS	1000
/* Reads of events in one go; more events wake the loop again. */
#define READS		64

/* Watches the paths to all cgroups; opens or closes the descriptor. */
static void
follow(struct supervisor *s)
{
	const struct config_bypass *bypass = &s->config->capture.bypass;
	struct cgroups *c = &s->cgroups;
	int error = 0;

	if (bypass->cgroup_count == 0) {
		supervisor_stop_cgroups(s);
		return;
	}
	if (c->inotify < 0)
		c->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (c->inotify < 0)
		error = -errno;
	for (size_t i = 0; i < bypass->cgroup_count && error == 0; i++)
		error = cgroup_watch(c->inotify, bypass->cgroups[i].path);
	if (error != 0 && !c->unfollowed)
		log_warning("cannot watch the cgroups of capture.bypass.cgroups:"
		    " %s: run nfdns reload after one was created again",
		    strerror(-error));
	c->unfollowed = error != 0;
}

void
supervisor_start_cgroups(struct supervisor *s)
{
	follow(s);
}

void
supervisor_stop_cgroups(struct supervisor *s)
{
	if (s->cgroups.inotify >= 0)
		(void)close(s->cgroups.inotify);
	s->cgroups.inotify = -1;
}

int
supervisor_cgroups_fd(const struct supervisor *s)
{
	return s->cgroups.pending ? -1 : s->cgroups.inotify;
}

/* Discards events: the look that follows sees all changes. */
static void
drop_events(const struct cgroups *c)
{
	_Alignas(struct inotify_event) char buffer[4096];

	for (int i = 0; i < READS; i++)
		if (read(c->inotify, buffer, sizeof(buffer)) <= 0)
			return;
}

static void
count_look(struct cgroups *c, monotime_t now)
{
	const monotime_t earliest = monotime_add_ms(now,
	    -(int64_t)(LOOKS_AT_ONCE - 1) * LOOK_EVERY_MS);

	if (monotime_is_past(earliest, c->next))
		c->next = earliest;
	c->next = monotime_add_ms(c->next, LOOK_EVERY_MS);
}

/* Owns set from here on: installs or frees it.  0 or a negative errno. */
static int
install(struct supervisor *s, struct ruleset *set, struct diag *diag)
{
	int error;

	if (ruleset_same_cgroups(set, &s->set)) {
		ruleset_free(set);
		return 0;
	}
	error = supervisor_install_rules(s, set, diag);
	if (error == 0)
		log_info("cgroups of capture.bypass.cgroups changed: the rules "
		    "are installed again");
	return error;
}

/* Watches come first, so that no change is missed. */
static void
look(struct supervisor *s, monotime_t now)
{
	struct cgroups *c = &s->cgroups;
	struct diag diag = DIAG_INIT;
	struct ruleset set;
	int error;

	count_look(c, now);
	if (c->inotify >= 0)
		drop_events(c);
	follow(s);
	error = supervisor_build_rules(s, &set, s->config, RULES_FULL,
	    &diag);
	if (error == 0)
		error = install(s, &set, &diag);
	if (error != 0) {
		if (!c->failed) {
			diag_log(&diag);
			log_error("cgroups of capture.bypass.cgroups changed, "
			    "but the rules cannot be installed again: %s; "
			    "trying again", strerror(-error));
		}
		c->pending = true;
		c->next = monotime_add_ms(now, RETRY_MS);
	}
	c->failed = error != 0;
	diag_free(&diag);
}

void
supervisor_cgroups_tick(struct supervisor *s, monotime_t now)
{
	/* While a reload swaps, the kernel's rules are not those of s->set. */
	if (!s->cgroups.pending || !monotime_is_past(now, s->cgroups.next) ||
	    s->reload.phase == RELOAD_SWAPPING)
		return;
	s->cgroups.pending = false;
	look(s, now);
}

void
supervisor_cgroups_changed(struct supervisor *s, monotime_t now)
{
	s->cgroups.pending = true;
	supervisor_cgroups_tick(s, now);
}

void
supervisor_cgroups_reloaded(struct supervisor *s)
{
	if (s->config->capture.bypass.cgroup_count > 0 ||
	    s->cgroups.inotify >= 0)
		s->cgroups.pending = true;
}
