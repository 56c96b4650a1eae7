/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroups of capture.bypass.cgroups.  The rules identify a cgroup by its number,
 * and one that is created again at the same path has another: when the service manager
 * has restarted a service, the rules are installed again.
 */
#include <string.h>

#include "nfq/process/diag_print.h"
#include "nfq/supervisor/parts.h"
#include "policy/log.h"

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

void
supervisor_look_at_cgroups(struct supervisor *s)
{
	struct diag diag = DIAG_INIT;
	struct ruleset set;
	int error;

	/* While a reload swaps, the kernel's rules are not those of s->set. */
	if (s->config->capture.bypass.cgroup_count == 0 ||
	    s->reload.phase == RELOAD_SWAPPING)
		return;
	error = supervisor_build_rules(s, &set, s->config, RULES_FULL, &diag);
	if (error == 0)
		error = install(s, &set, &diag);
	if (error != 0 && !s->cgroups_failed) {
		diag_log(&diag);
		log_error("cgroups of capture.bypass.cgroups changed, but the "
		    "rules cannot be installed again: %s; trying again",
		    strerror(-error));
	}
	s->cgroups_failed = error != 0;
	diag_free(&diag);
}
