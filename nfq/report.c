/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/report.h"

#include "policy/log.h"

void
report_log(const struct diag *diag)
{
	for (size_t i = 0; i < diag->kept; i++)
		log_line(diag->entries[i].level == DIAG_ERROR ?
		    LOG_LEVEL_ERROR : LOG_LEVEL_WARNING, "%s",
		    diag->entries[i].text);
	if (diag_dropped(diag) > 0)
		log_notice("and %zu more like these", diag_dropped(diag));
}

void
report_print(const struct diag *diag, const char *program, FILE *out)
{
	for (size_t i = 0; i < diag->kept; i++)
		(void)fprintf(out, "%s: %s: %s\n", program,
		    diag->entries[i].level == DIAG_ERROR ? "error" : "warning",
		    diag->entries[i].text);
	if (diag_dropped(diag) > 0)
		(void)fprintf(out, "%s: and %zu more like these\n", program,
		    diag_dropped(diag));
}

const char *
report_first(const struct diag *diag)
{
	for (size_t i = 0; i < diag->kept; i++)
		if (diag->entries[i].level == DIAG_ERROR)
			return diag->entries[i].text;
	return NULL;
}
