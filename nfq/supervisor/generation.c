/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of a generation besides the table's image, and what status says of it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nfq/cache/cache_memory.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/notify.h"
#include "nfq/supervisor/parts.h"
#include "policy/config/settings.h"
#include "policy/log.h"

int
supervisor_open_cache(const struct config *config, const struct generation_files *before,
    struct generation_files *generation)
{
	const uint32_t entries = config->forward.cache.size;

	if (config->forward.domains == 0 || entries == 0)
		return 0;
	if (before != NULL && before->cache >= 0 &&
	    cache_memory_fits(before->cache, entries)) {
		generation->cache = fcntl(before->cache, F_DUPFD_CLOEXEC, 0);
		return generation->cache < 0 ? -errno : 0;
	}
	generation->cache = cache_memory_new(entries);
	return generation->cache < 0 ? generation->cache : 0;
}

int
supervisor_open_settings(const struct config *config,
    const struct supervisor *s, struct generation_files *generation,
    struct diag *diag)
{
	const struct generation_files *before =
	    generation == &s->generation ? NULL : &s->generation;
	const char *what = "the settings";
	struct settings settings;
	int error = audit_files_open(&generation->audit, config,
	    before != NULL ? &before->audit : NULL, diag);

	if (error < 0)
		return error;
	settings_of(&settings, config);
	error = generation->settings = settings_write(&settings);
	if (error >= 0) {
		what = "the cache";
		error = supervisor_open_cache(config, before, generation);
	}
	if (error >= 0) {
		what = "the certificates of forward.tls.ca";
		error = supervisor_open_authorities(config, s, generation);
	}
	if (error >= 0)
		return 0;
	diag_add(diag, DIAG_ERROR, NULL, 0, "cannot make a memory file for "
	    "%s: %s", what, ca_file_error(error));
	generation_files_close(generation);
	return error;
}

void
supervisor_reopen_audit_files(struct supervisor *s)
{
	struct diag diag = DIAG_INIT;
	struct audit_files fresh;

	/* A reload may have opened the files before they were renamed. */
	s->reload.reopen = s->reload.phase != RELOAD_IDLE;
	if (s->reload.phase == RELOAD_SWAPPING)
		return;			/* the worker may have them already */
	if (audit_files_open(&fresh, s->config, &s->generation.audit, &diag) < 0) {
		diag_log(&diag);
		diag_free(&diag);
		return;
	}
	diag_log(&diag);
	audit_files_close(&s->generation.audit);
	s->generation.audit = fresh;
	/* If the worker is dying, the next one starts with the new files. */
	if (audit_files_send(s->worker.control, &fresh) == 0)
		log_info("audit files reopened");
	diag_free(&diag);
}

void
supervisor_tend_audit(struct supervisor *s)
{
	struct audit_files fresh;
	char text[STATUS_TEXT];
	size_t connected;
	bool problem;

	/* The worker may have the sinks of the next configuration already. */
	if (s->reload.phase != RELOAD_IDLE || s->generation.audit.count !=
	    s->config->audit_count)
		return;
	connected = audit_files_connect(&s->generation.audit, s->config,
	    &fresh);
	if (connected > 0 && audit_files_send(s->worker.control, &fresh) < 0)
		log_debug("the worker does not take audit files");
	problem = audit_files_problem(&s->generation.audit, s->config, text,
	    sizeof(text));
	if (problem && !s->audit_problem)
		log_warning("%s", text);
	if (problem != s->audit_problem || connected > 0) {
		s->audit_problem = problem;
		supervisor_show_state(s);
	}
}

void
supervisor_note_table(struct supervisor *s, const struct control_message *answer)
{
	struct status_supervisor *page = s->status.supervisor;

	atomic_store(&page->table_names, answer->names);
	atomic_store(&page->table_octets, answer->octets);
	atomic_store(&page->table_generation, s->generation.number);
	if (s->generation.number > 0)
		atomic_store(&page->table_loaded, s->stands_in != 0 ?
		    (uint64_t)s->stands_in : (uint64_t)time(NULL));
}

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
