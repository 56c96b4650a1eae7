/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/audit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "policy/audit/audit.h"
#include "policy/audit/lines.h"
#include "policy/config/capture.h"
#include "policy/config/value.h"
#include "resolver/dns/name.h"
#include "resolver/idn.h"

/* 0 is the default of each. */
const char *const config_audit_clients[] = { "full", "prefix24", NULL };
const char *const config_audit_names[] = { "plain", "hash", NULL };

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
	if (idn_name_from_text(&name->name, text, strlen(text)) < 0) {
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

void
config_read_audit_key(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct audit_sink *sink = to;
	char text[AUDIT_KEY_TEXT] = "", *path = NULL;
	FILE *file;

	config_read_path(load, option, value, &path);
	if (path == NULL)
		return;
	file = fopen(path, "re");
	if (file == NULL)
		config_wrong(load, value, "%s cannot be read: %s", path,
		    strerror(errno));
	else {
		(void)!fgets(text, sizeof(text), file);
		(void)fclose(file);
		if (!audit_key_from_text(&sink->key, text))
			config_wrong(load, value, "%s has no 32 hexadecimal "
			    "digits; make a key with: openssl rand -hex 16",
			    path);
	}
	explicit_bzero(text, sizeof(text));
	free(path);
}

/* What each format writes to. */
static void
check_place(const struct config_load *load, const config_setting_t *value,
    struct config_audit *audit)
{
	const bool file = audit->path != NULL, socket = audit->socket != NULL;
	const char *usual = audit->sink.format == AUDIT_SYSLOG ?
	    AUDIT_SYSLOG_PATH : AUDIT_JOURNAL_PATH;

	if (audit->sink.format == AUDIT_SYSLOG ||
	    audit->sink.format == AUDIT_JOURNAL) {
		if (file)
			config_wrong(load, value, "syslog and journal are no "
			    "files; take \"path\" out");
		else if (!socket)
			config_store_text(load, &audit->socket, strdup(usual));
	} else if (socket && audit->sink.format != AUDIT_DNSTAP)
		config_wrong(load, value, "only dnstap, syslog and journal go "
		    "to sockets; take \"socket\" out");
	else if (file && socket)
		config_wrong(load, value, "both \"path\" and \"socket\"; take "
		    "one of the two out");
	else if (!file && !socket)
		config_wrong(load, value, "\"path\" is missing");
	if (audit->sink.hash_names != 0 && !audit->sink.key.present)
		config_wrong(load, value, "privacy.names = \"hash\" needs a "
		    "\"key\"");
	if (!file && (audit->max_size | audit->max_age | audit->max_files) != 0)
		config_wrong(load, value, "only files are renamed; take "
		    "max_size, max_age and max_files out");
}

/* Two entries for one file would write over each other. */
static void
check_twice(const struct config_load *load, const config_setting_t *value,
    const struct config_audit *audit)
{
	const char *place = config_audit_place(audit), *other;

	for (const struct config_audit *a = load->config->audits; a < audit;
	    a++) {
		other = config_audit_place(a);
		if (other != NULL && strcmp(other, place) == 0)
			config_wrong(load, value, "%s is in the list already; "
			    "take one of the two out", place);
	}
}

void
config_read_audits(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct config *config = load->config;
	struct config_audit *grown, *audit;
	const char *place;

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
	check_place(load, value, audit);
	place = config_audit_place(audit);
	if (place == NULL)
		return;
	audit->sink.id = XXH3_64bits(place, strlen(place));
	check_twice(load, value, audit);
}
