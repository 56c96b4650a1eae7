/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/sink.h"

#include <string.h>

#include "policy/audit/audit.h"
#include "policy/audit/siphash.h"
#include "resolver/dns/message.h"

#define SECOND_NS	UINT64_C(1000000000)

static bool
names_are_sound(const struct audit_sink *sink)
{
	struct dns_name read;

	for (uint32_t i = 0; i < sink->names; i++) {
		const struct dns_name *name = &sink->name[i].name;

		if (name_read_lower(&read, name->octets, name->length) < 0 ||
		    !name_equal(&read, name) || read.labels != name->labels)
			return false;
	}
	return true;
}

bool
audit_sink_is_sound(const struct audit_sink *sink)
{
	if (sink->format >= AUDIT_FORMATS ||
	    (sink->verdicts & ~AUDIT_VERDICTS_ALL) != 0 ||
	    sink->names > AUDIT_FILTER_ITEMS ||
	    sink->users > AUDIT_FILTER_ITEMS ||
	    sink->rules > AUDIT_FILTER_ITEMS ||
	    (sink->hash_names != 0 && !sink->key.present))
		return false;
	for (uint32_t i = 0; i < sink->rules; i++)
		if (sink->rule[i].length > AUDIT_RULE_MAX)
			return false;
	return names_are_sound(sink);
}

static void
read_name(const struct audit_record *record, struct audit_asked *asked)
{
	if (asked->read)
		return;
	asked->read = true;
	asked->has_name = record->question_length > DNS_HEADER &&
	    (record->question[4] | record->question[5]) != 0 &&
	    name_read_lower(&asked->name, record->question + DNS_HEADER,
	    record->question_length - DNS_HEADER) == 0;
}

static bool
takes_name(const struct audit_sink *sink, const struct audit_asked *asked)
{
	if (sink->names == 0)
		return true;
	for (uint32_t i = 0; asked->has_name && i < sink->names; i++) {
		const struct audit_name *n = &sink->name[i];

		if (n->below ? asked->name.labels > n->name.labels &&
		    name_is_within(&asked->name, &n->name) :
		    name_equal(&asked->name, &n->name))
			return true;
	}
	return false;
}

static bool
takes_user(const struct audit_sink *sink, const struct audit_record *record)
{
	/* A user who is not known is none of a list. */
	for (uint32_t i = 0; record->uid != UINT32_MAX && i < sink->users; i++)
		if (sink->user[i] == record->uid)
			return true;
	return sink->users == 0;
}

static bool
takes_rule(const struct audit_sink *sink, const struct audit_record *record)
{
	for (uint32_t i = 0; i < sink->rules; i++)
		if (sink->rule[i].length == record->rule_length &&
		    memcmp(sink->rule[i].text, record->rule,
		    record->rule_length) == 0)
			return true;
	return sink->rules == 0;
}

/* The same asker's questions for a name are all taken, or none of them. */
static bool
takes_sample(const struct audit_sink *sink, const struct audit_record *record,
    const struct audit_asked *asked, const uint8_t secret[static SIPHASH_KEY])
{
	uint8_t octets[sizeof(record->client) + sizeof(record->uid) +
	    NAME_MAX_OCTETS];
	size_t length = sizeof(record->client) + sizeof(record->uid);

	if (sink->sample <= 1)
		return true;
	memcpy(octets, record->client, sizeof(record->client));
	memcpy(octets + sizeof(record->client), &record->uid,
	    sizeof(record->uid));
	if (asked->has_name) {
		memcpy(octets + length, asked->name.octets,
		    asked->name.length);
		length += asked->name.length;
	}
	return siphash(secret, octets, length) % sink->sample == 0;
}

/* Seconds begin at the clock's, which may be set back. */
static bool
takes_now(const struct audit_sink *sink, const struct audit_record *record,
    struct audit_pace *pace)
{
	const uint64_t second = record->time_ns / SECOND_NS;

	if (sink->rate == 0)
		return true;
	if (second != pace->second) {
		pace->second = second;
		pace->records = 0;
	}
	if (pace->records >= sink->rate)
		return false;
	pace->records++;
	return true;
}

/* "forward" is all that was to be asked elsewhere, whatever came of it. */
static bool
takes_verdict(const struct audit_sink *sink, const struct audit_record *record)
{
	uint32_t verdicts = AUDIT_VERDICT(record->verdict);

	if (decide_is_forwarded(record->reason) &&
	    (record->verdict != VERDICT_PASS ||
	    sink->verdicts != AUDIT_VERDICTS_USUAL))
		verdicts |= AUDIT_VERDICT(VERDICT_FORWARD);
	return record->asked || (sink->verdicts & verdicts) != 0;
}

bool
audit_sink_takes(const struct audit_sink *sink, struct audit_pace *pace,
    const struct audit_record *record, struct audit_asked *asked,
    const uint8_t secret[static SIPHASH_KEY])
{
	if (!takes_verdict(sink, record) || !takes_user(sink, record) ||
	    !takes_rule(sink, record))
		return false;
	if (sink->names > 0 || sink->sample > 1)
		read_name(record, asked);
	return takes_name(sink, asked) &&
	    takes_sample(sink, record, asked, secret) &&
	    takes_now(sink, record, pace);
}
