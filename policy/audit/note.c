/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/format.h"

const char *
audit_note_kind_text(enum audit_note_kind kind)
{
	static const char *const texts[] = {
		[AUDIT_BEGIN] = "begin",
		[AUDIT_LOST] = "lost",
		[AUDIT_UNREAD] = "unread",
		[AUDIT_END] = "end",
		[AUDIT_CLOSE] = "close",
	};

	return texts[kind];
}

void
audit_note_text(struct json_out *out, const struct audit_note *note)
{
	json_text(out, "event=");
	json_text(out, audit_note_kind_text(note->kind));
	json_pair(out, " run=", note->run);
	if (note->kind == AUDIT_LOST) {
		json_pair(out, " records=", note->lost_now);
		json_pair(out, " from=", note->from);
		json_pair(out, " to=", note->to);
	} else if (note->kind == AUDIT_UNREAD)
		json_pair(out, " questions=", note->unread);
	else
		json_pair(out, " next=", note->next);
}

/* Printable ASCII as it is; other octets as RFC 1035 section 5.1 writes them. */
static void
put_rule_name(struct json_out *out, const char *key, const char *name,
    size_t length)
{
	if (length == 0)
		return;
	if (length > AUDIT_RULE_MAX)
		length = AUDIT_RULE_MAX;
	json_text(out, key);
	for (size_t i = 0; i < length; i++) {
		const uint8_t c = (uint8_t)name[i];

		if (c >= ' ' && c < 0x7f && c != '"' && c != '\\')
			json_char(out, (char)c);
		else {
			json_char(out, '\\');
			json_digits(out, c, 3);
		}
	}
	json_char(out, '"');
}

static bool
is_plain(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '*';
}

/*
 * A name without its final dot, in characters that need no quotes: all that are no
 * letters, digits, "-", "_" or "*" are \DDD.  The root is ".".
 */
static void
audit_name_text(struct json_out *out, const uint8_t *octets, size_t length)
{
	size_t at = 0, end;

	while (at < length && octets[at] != 0) {
		if (at > 0)
			json_char(out, '.');
		for (end = at + 1 + octets[at]; ++at < end && at < length; )
			if (is_plain(octets[at]))
				json_char(out, (char)octets[at]);
			else {
				json_char(out, '\\');
				json_digits(out, octets[at], 3);
			}
	}
	if (at == 0)
		json_char(out, '.');
}

/* The rule that decided, and one that only observed. */
static void
put_rule(struct json_out *out, const struct audit_record *record)
{
	put_rule_name(out, " rule=\"", record->rule, record->rule_length);
	if (record->judged_length > 0) {
		json_text(out, " judged=");
		audit_name_text(out, record->judged, record->judged_length);
	}
	put_rule_name(out, " observed=\"", record->observer,
	    record->observer_length);
	if (record->observer_length == 0)
		return;
	json_text(out, " would=");
	json_text(out, decide_action_text((enum rule_action)record->would));
}

static void
put_id(struct json_out *out, const char *key, uint32_t id)
{
	json_text(out, key);
	if (id == UINT32_MAX)
		json_text(out, "none");
	else
		json_number(out, id);
}

void
audit_record_text(struct json_out *out, const struct audit_record *record)
{
	json_text(out, "decision=");
	json_text(out, decide_verdict_text(record->verdict));
	json_text(out, " reason=");
	json_text(out, decide_reason_text(record->reason));
	put_rule(out, record);
	put_id(out, " uid=", record->uid);
	put_id(out, " gid=", record->gid);
	json_pair(out, " generation=", record->generation);
	json_pair(out, " packet_id=", record->packet_id);
	json_pair(out, " spent_us=", record->spent_ns / 1000);
	json_char(out, '.');
	json_digits(out, record->spent_ns % 1000, 3);
	json_pair(out, " number=", record->number);
}
