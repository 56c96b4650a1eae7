/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/lines.h"

#include <assert.h>
#include <string.h>

#include "policy/audit/json_out.h"
#include "policy/audit/text.h"
#include "resolver/dns/message.h"
#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

#define HEAD_MAX	128U
#define FIELDS_MAX	(1040U + 4U * NAME_MAX_OCTETS)
#define LINE_OCTETS	(HEAD_MAX + AUDIT_TEXT_MAX + AUDIT_RECORD_TEXT + \
    FIELDS_MAX + NAME_TEXT_SIZE)
/* "2026-11-22 13:40:01.123 ", which the logs have themselves. */
#define TIME_OCTETS	24U

/* How a key is written before its value, and what ends one. */
struct style {
	const char *name, *type, *client, *server, *rcode;
	const char *end;
};

static void
put_value(struct json_out *out, const char *key, const char *value,
    const char *end)
{
	json_text(out, key);
	json_text(out, value);
	json_text(out, end);
}

/* What was asked, by whom; nothing of a name that cannot be read. */
static void
put_asked(struct json_out *out, const struct audit_record *r,
    const struct style *style)
{
	char text[NAME_TEXT_SIZE], type[RR_TEXT_SIZE];
	struct dns_name name;
	size_t behind, length;

	if (r->question_length > DNS_HEADER &&
	    name_read_lower(&name, r->question + DNS_HEADER,
	    r->question_length - DNS_HEADER) == 0) {
		/* As in the JSON records: without the root's dot. */
		length = strlen(name_to_text(name.octets, text));
		if (length > 1)
			text[length - 1] = '\0';
		put_value(out, style->name, text, style->end);
		behind = DNS_HEADER + name.length;
		if (r->question_length >= behind + 2)
			put_value(out, style->type, rr_type_text(
			    wire_load_u16(r->question + behind), type),
			    style->end);
	}
	json_text(out, style->client);
	json_address(out, r->family, r->client);
	json_text(out, style->end);
	json_text(out, style->server);
	json_address(out, r->family, r->server);
	json_text(out, style->end);
	if (r->answer_length > 0)
		put_value(out, style->rcode, rcode_text(r->rcode, type),
		    style->end);
}

/* The name is as a text, so it has no blank and no line end. */
static const struct style syslog_style = { "name=", "type=", "client=",
	"server=", "rcode=", " " };

/*
 * As syslog(3) writes to /dev/log, but for the time, which may be left out: it
 * would be local, and without a year.  The record's own stands behind the head.
 */
static void
put_head(struct json_out *out, bool warning, uint64_t time_ns)
{
	/* LOG_DAEMON | LOG_WARNING or LOG_INFO. */
	json_text(out, warning ? "<28>nfdns: time=" : "<30>nfdns: time=");
	json_second(out, time_ns / 1000000000);
	json_char(out, '.');
	json_digits(out, time_ns % 1000000000 / 1000, 6);
	json_text(out, "Z ");
}

static size_t
syslog_record(void *state, const struct audit_record *record, char *buf,
    size_t *seal)
{
	struct json_out out = { .pos = buf, .end = buf + LINE_OCTETS };

	(void)state;
	*seal = AUDIT_NO_SEAL;
	put_head(&out, false, record->time_ns);
	put_asked(&out, record, &syslog_style);
	audit_record_text(&out, record);
	assert(!out.full);
	return (size_t)(out.pos - buf) - strlen(" seal=");
}

static size_t
syslog_note(void *state, const struct audit_note *note, char *buf, size_t *seal)
{
	struct json_out out = { .pos = buf, .end = buf + HEAD_MAX +
		AUDIT_NOTE_TEXT };

	(void)state;
	*seal = AUDIT_NO_SEAL;
	if (note->kind == AUDIT_CLOSE)
		return 0;
	put_head(&out, note->kind == AUDIT_LOST, note->time_ns);
	audit_note_text(&out, note);
	assert(!out.full);
	return (size_t)(out.pos - buf) - strlen(" seal=");
}

static const struct style journal_style = { "NFDNS_NAME=", "NFDNS_TYPE=",
	"NFDNS_CLIENT=", "NFDNS_SERVER=", "NFDNS_RCODE=", "\n" };

static void
put_pair(struct json_out *out, const char *key, uint64_t number)
{
	json_text(out, key);
	json_number(out, number);
	json_char(out, '\n');
}

/* Policy rules have names without line ends; what is none of ours is left out. */
static bool
put_rule(struct json_out *out, const char *key, const char *name,
    size_t length)
{
	if (length > AUDIT_RULE_MAX)
		length = AUDIT_RULE_MAX;
	if (length == 0 || memchr(name, '\n', length) != NULL)
		return false;
	json_text(out, key);
	json_octets(out, name, length);
	json_char(out, '\n');
	return true;
}

static size_t
journal_record(void *state, const struct audit_record *record, char *buf,
    size_t *seal)
{
	struct json_out out = { .pos = buf, .end = buf + LINE_OCTETS };
	char text[AUDIT_TEXT_MAX];

	(void)state;
	*seal = AUDIT_NO_SEAL;
	json_text(&out, "SYSLOG_IDENTIFIER=nfdns\nPRIORITY=6\nMESSAGE=");
	(void)audit_text(record, false, text);
	json_text(&out, strlen(text) > TIME_OCTETS ? text + TIME_OCTETS : text);
	json_char(&out, '\n');
	put_asked(&out, record, &journal_style);
	put_value(&out, "NFDNS_DECISION=",
	    decide_verdict_text(record->verdict), "\n");
	put_value(&out, "NFDNS_REASON=", decide_reason_text(record->reason),
	    "\n");
	(void)put_rule(&out, "NFDNS_RULE=", record->rule, record->rule_length);
	if (record->judged_length > 0) {
		json_text(&out, "NFDNS_JUDGED=");
		audit_name_text(&out, record->judged, record->judged_length);
		json_char(&out, '\n');
	}
	if (put_rule(&out, "NFDNS_OBSERVED=", record->observer,
	    record->observer_length))
		put_value(&out, "NFDNS_WOULD=", decide_action_text(
		    (enum rule_action)record->would), "\n");
	if (record->uid != (uid_t)-1)
		put_pair(&out, "NFDNS_UID=", record->uid);
	if (record->gid != (gid_t)-1)
		put_pair(&out, "NFDNS_GID=", record->gid);
	put_pair(&out, "NFDNS_GENERATION=", record->generation);
	put_pair(&out, "NFDNS_THREAD=", record->thread);
	put_pair(&out, "NFDNS_NUMBER=", record->number);
	assert(!out.full);
	return (size_t)(out.pos - buf);
}

static size_t
journal_note(void *state, const struct audit_note *note, char *buf,
    size_t *seal)
{
	struct json_out out = { .pos = buf, .end = buf + HEAD_MAX +
		AUDIT_NOTE_TEXT };

	(void)state;
	*seal = AUDIT_NO_SEAL;
	if (note->kind == AUDIT_CLOSE)
		return 0;
	json_text(&out, "SYSLOG_IDENTIFIER=nfdns\nPRIORITY=");
	json_char(&out, note->kind == AUDIT_LOST ? '4' : '6');
	put_value(&out, "\nNFDNS_EVENT=", audit_note_kind_text(note->kind),
	    "\nMESSAGE=");
	audit_note_text(&out, note);
	out.pos -= strlen(" seal=");
	json_char(&out, '\n');
	assert(!out.full);
	return (size_t)(out.pos - buf);
}

const struct audit_format audit_syslog_format = {
	.name = "syslog",
	.record_max = LINE_OCTETS,
	.note_max = HEAD_MAX + AUDIT_NOTE_TEXT,
	.record = syslog_record,
	.note = syslog_note,
	.datagrams = true,
};

const struct audit_format audit_journal_format = {
	.name = "journal",
	.record_max = LINE_OCTETS,
	.note_max = HEAD_MAX + AUDIT_NOTE_TEXT,
	.record = journal_record,
	.note = journal_note,
	.datagrams = true,
};
