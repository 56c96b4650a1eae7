/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the files of a generation besides the table's image. */
#include <string.h>

#include "nfq/process/diag_print.h"
#include "nfq/supervisor/parts.h"
#include "policy/config/settings.h"
#include "policy/log.h"

int
supervisor_open_settings(const struct config *config,
    struct generation_files *generation, struct diag *diag)
{
	struct settings settings;
	int error = audit_files_open(&generation->audit, config, diag);

	if (error < 0)
		return error;
	settings_of(&settings, config);
	generation->settings = settings_write(&settings);
	if (generation->settings >= 0)
		return 0;
	diag_add(diag, DIAG_ERROR, NULL, 0, "cannot make a memory file for "
	    "the settings: %s", strerror(-generation->settings));
	audit_files_close(&generation->audit);
	return generation->settings;
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
	if (audit_files_open(&fresh, s->config, &diag) < 0) {
		diag_log(&diag);
		diag_free(&diag);
		return;
	}
	audit_files_close(&s->generation.audit);
	s->generation.audit = fresh;
	/* If the worker is dying, the next one starts with the new files. */
	if (audit_files_send(s->worker.control, &fresh) == 0)
		log_info("audit files reopened");
	diag_free(&diag);
}
