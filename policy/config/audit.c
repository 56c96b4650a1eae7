/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/capture.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "policy/audit/audit.h"
#include "policy/config/setting.h"
#include "resolver/dns/rr.h"

void
config_read_audit_verdict(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct audit_sink *sink = to;
	const char *text = config_setting_get_string(value);

	for (unsigned int i = 0; i < VERDICTS; i++)
		if (strcmp(decide_verdict_text((enum verdict)i), text) == 0) {
			sink->verdicts |= AUDIT_VERDICT(i);
			return;
		}
	config_expected(load, option, value);
}

void
config_read_audit_rcode(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct audit_sink *sink = to;
	const char *text = config_setting_get_string(value);
	char buf[RR_TEXT_SIZE];

	for (uint16_t i = 0; i < AUDIT_RCODES; i++)
		if (strcmp(rcode_text(i, buf), text) == 0) {
			sink->rcodes |= AUDIT_RCODE(i);
			return;
		}
	config_expected(load, option, value);
}

/* "-" and "unix:/PATH" as they are; else a path. */
void
config_read_audit_path(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	const char *text = config_setting_get_string(value);

	if (strncmp(text, CONFIG_AUDIT_UNIX, strlen(CONFIG_AUDIT_UNIX)) == 0 &&
	    text[strlen(CONFIG_AUDIT_UNIX)] != '/')
		config_expected(load, option, value);
	else if (strcmp(text, "-") == 0 || strncmp(text, CONFIG_AUDIT_UNIX,
	    strlen(CONFIG_AUDIT_UNIX)) == 0)
		config_store_text(load, to, strdup(text));
	else
		config_read_path(load, option, value, to);
}

/* Two entries for one file would write over each other. */
static void
check_twice(const struct config_load *load, const config_setting_t *value,
    const struct config_audit *audit)
{
	for (const struct config_audit *a = load->config->audits; a < audit; a++)
		if (a->path != NULL && strcmp(a->path, audit->path) == 0)
			config_wrong(load, value, "%s is in the list already; "
			    "take one of the two out", audit->path);
}

void
config_read_audits(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct config *config = load->config;
	struct config_audit *audit;

	(void)option;
	(void)to;
	if (config->audit_count == AUDIT_MAX_FILES) {
		config_wrong(
		    load, value, "more than %d audit files", AUDIT_MAX_FILES);
		return;
	}
	audit = config_append(load, &config->audits, &config->audit_count,
	    sizeof(*audit));
	if (audit == NULL)
		return;
	audit->file = load->path;
	audit->line = config_setting_source_line(value);
	config_option_read_members(load, "audit[].", value, audit);
	if (audit->sink.verdicts == 0)
		audit->sink.verdicts = AUDIT_VERDICTS_USUAL;
	if (audit->passes)
		audit->sink.verdicts |= AUDIT_VERDICT(VERDICT_PASS);
	if (audit->path == NULL) {
		config_wrong(load, value, "\"path\" is missing");
		return;
	}
	audit->sink.id = XXH3_64bits(audit->path, strlen(audit->path));
	check_twice(load, value, audit);
}
