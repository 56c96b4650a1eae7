/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/audit.h"

#include <string.h>

#include <xxhash.h>

#include "policy/audit/audit.h"
#include "policy/config/capture.h"
#include "resolver/dns/name.h"

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

/* Whether a list has room for one more item. */
static bool
has_room(const struct config_load *load, const struct config_option *option,
    const config_setting_t *value, uint32_t items)
{
	if (items == AUDIT_FILTER_ITEMS)
		config_expected(load, option, value);
	return items < AUDIT_FILTER_ITEMS;
}

void
config_read_audit_name(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct audit_sink *sink = to;
	const char *text = config_setting_get_string(value);
	struct audit_name *name;

	if (!has_room(load, option, value, sink->names))
		return;
	name = &sink->name[sink->names];
	name->below = strncmp(text, "*.", 2) == 0;
	text += name->below ? 2 : 0;
	if (name_from_text(&name->name, text, strlen(text)) < 0) {
		config_wrong(load, value, "this is no name: a label is empty or "
		    "longer than 63 octets, or the name longer than 255");
		return;
	}
	name_lower(&name->name);
	sink->names++;
}

void
config_read_audit_user(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct audit_sink *sink = to;

	if (has_room(load, option, value, sink->users) &&
	    config_user_of(load, option, value, &sink->user[sink->users]))
		sink->users++;
}

void
config_read_audit_rule(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct audit_sink *sink = to;
	const char *text = config_setting_get_string(value);
	const size_t length = strlen(text);
	struct audit_rule *rule;

	if (!has_room(load, option, value, sink->rules))
		return;
	if (length < 1 || length > AUDIT_RULE_MAX) {
		config_expected(load, option, value);
		return;
	}
	rule = &sink->rule[sink->rules++];
	rule->length = (uint8_t)length;
	memcpy(rule->text, text, length);
}

/* Two entries for one file would write over each other. */
static void
check_twice(const struct config_load *load, const config_setting_t *value,
    const struct config_audit *audit)
{
	const struct config *config = load->config;

	for (const struct config_audit *other = config->audits;
	    audit->path != NULL && other < audit; other++)
		if (other->path != NULL && strcmp(other->path, audit->path) == 0)
			config_wrong(load, value, "%s is in the list already; "
			    "take one of the two out", audit->path);
}

void
config_read_audits(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct config *config = load->config;
	struct config_audit *grown, *audit;

	(void)option;
	(void)to;
	if (config->audit_count == AUDIT_MAX_FILES) {
		config_wrong(
		    load, value, "more than %d audit files", AUDIT_MAX_FILES);
		return;
	}
	grown = config_append(load, config->audits, &config->audit_count,
	    sizeof(*grown));
	if (grown == NULL)
		return;
	config->audits = grown;
	audit = &grown[config->audit_count - 1];
	audit->line = config_setting_source_line(value);
	config_option_read_members(load, "audit[].", value, audit);
	if (audit->sink.verdicts == 0)
		audit->sink.verdicts = AUDIT_VERDICTS_USUAL;
	if (audit->passes)
		audit->sink.verdicts |= AUDIT_VERDICT(VERDICT_PASS);
	if (audit->path == NULL)
		return;
	audit->sink.id = XXH3_64bits(audit->path, strlen(audit->path));
	check_twice(load, value, audit);
}
