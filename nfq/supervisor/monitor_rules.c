/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the kernel's rules with the intended ones. */
#include "nfq/process/diag_print.h"
#include "nfq/supervisor/parts.h"
#include "policy/log.h"

static void
check_rules(struct supervisor *s)
{
	struct monitor_rules *m = &s->monitor.rules;
	struct diag diag = DIAG_INIT;
	enum rules_state state;
	int error = rules_kernel_verify(s->kernel, &s->set, &state, &diag);
	bool differs = error == 0 && state == RULES_DIFFER;

	if (error == 0 && state == RULES_ABSENT) {
		diag_free(&diag);
		error = zone_install(s, s->set.zone != 0, &diag);
		if (error == 0)
			log_warning("table inet nfdns was gone: another program "
			    "flushed the rules; installed again");
		else
			diag_log(&diag);
	} else if (differs && !m->differs) {
		log_warning("another program changed table inet nfdns: nfdns "
		    "rules verify shows how; a restart installs it again");
	}
	m->differs = differs;
	diag_free(&diag);
}

bool
monitor_rules_tick(struct supervisor *s, monotime_t now)
{
	struct monitor_rules *m = &s->monitor.rules;

	/*
	 * While a reload swaps, the kernel has the new rules, and s->set still
	 * describes the old ones.
	 */
	if (!monotime_is_past(now, m->next) ||
	    s->reload.phase == RELOAD_SWAPPING)
		return false;
	m->next = monotime_add_ms(now, MONITOR_RULES_MS);
	check_rules(s);
	return true;
}
