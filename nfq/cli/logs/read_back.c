/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages and addresses come from packets or frames, all else from the text
 * that audit_record_text() has put beside them.
 */
#include "nfq/cli/logs/read_back.h"

#include <string.h>

#include "resolver/dns/message.h"
#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

#define SEAL_KEY	" seal="

/* "key=value", or "key="value"" with octets as \DDD. */
struct word {
	const char *key, *value;
	size_t key_length, value_length;
};

/* The next word of a text up to "end"; false: there is none. */
static bool
next_word(struct word *word, const char **at, const char *end)
{
	const char *from = *at, *to, *equals;
	char stop = ' ';

	while (from < end && *from == ' ')
		from++;
	equals = memchr(from, '=', (size_t)(end - from));
	if (equals == NULL)
		return false;
	word->key = from;
	word->key_length = (size_t)(equals - from);
	from = equals + 1;
	if (from < end && *from == '"') {
		stop = '"';
		from++;
	}
	to = memchr(from, stop, (size_t)(end - from));
	if (to == NULL)
		to = end;
	word->value = from;
	word->value_length = (size_t)(to - from);
	*at = to < end ? to + 1 : end;
	return true;
}

static bool
is(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* Digits before a point; "none" and other texts are "other". */
static uint64_t
number_of(const struct word *word, uint64_t other)
{
	uint64_t number = 0;

	if (word->value_length == 0 || word->value[0] < '0' ||
	    word->value[0] > '9')
		return other;
	for (size_t i = 0; i < word->value_length && word->value[i] >= '0' &&
	    word->value[i] <= '9'; i++)
		number = number * 10 + (uint64_t)(word->value[i] - '0');
	return number;
}

static uint32_t
id_of(const struct word *word)
{
	return (uint32_t)number_of(word, UINT32_MAX);
}

/* Microseconds with three digits behind the point; what is too long is 0. */
static uint32_t
nanoseconds_of(const struct word *word)
{
	const char *point = memchr(word->value, '.', word->value_length);
	const char *end = word->value + word->value_length;
	uint64_t spent = number_of(word, 0) * 1000;
	uint64_t unit = 100;

	for (; point != NULL && ++point < end && unit > 0; unit /= 10)
		if (*point >= '0' && *point <= '9')
			spent += (uint32_t)(*point - '0') * unit;
	return spent <= UINT32_MAX ? (uint32_t)spent : 0;
}

static uint8_t
copy_name(char to[static AUDIT_RULE_MAX], const struct word *word)
{
	const char *at = word->value, *end = at + word->value_length;
	uint8_t length = 0;

	while (at < end && length < AUDIT_RULE_MAX) {
		if (*at == '\\' && end - at >= 4) {
			to[length++] = (char)((at[1] - '0') * 100 +
			    (at[2] - '0') * 10 + (at[3] - '0'));
			at += 4;
		} else
			to[length++] = *at++;
	}
	return length;
}

/* Which of the names it is; "count" if none. */
static unsigned int
find(const struct word *word, unsigned int count,
    const char *(*name)(unsigned int))
{
	unsigned int i = 0;

	while (i < count && !is(word->value, word->value_length, name(i)))
		i++;
	return i;
}

static const char *
verdict_name(unsigned int i)
{
	return decide_verdict_text((enum verdict)i);
}

static const char *
reason_name(unsigned int i)
{
	return decide_reason_text((enum reason)i);
}

static const char *
action_name(unsigned int i)
{
	return decide_action_text((enum rule_action)i);
}

static void
take_names(struct audit_read_back *back, const struct word *word)
{
	struct audit_record *r = &back->record;

	if (is(word->key, word->key_length, "decision"))
		r->verdict = find(word, VERDICTS, verdict_name);
	else if (is(word->key, word->key_length, "reason"))
		r->reason = find(word, REASONS, reason_name);
	else if (is(word->key, word->key_length, "would"))
		r->would = (uint8_t)find(word, RULE_ACTIONS, action_name);
	else if (is(word->key, word->key_length, "rule")) {
		r->rule = back->rule;
		r->rule_length = copy_name(back->rule, word);
	} else if (is(word->key, word->key_length, "judged") &&
	    name_from_text(&back->judged, word->value,
	    word->value_length) == 0) {
		r->judged = back->judged.octets;
		r->judged_length = back->judged.length;
	} else if (is(word->key, word->key_length, "observed")) {
		r->observer = back->observer;
		r->observer_length = copy_name(back->observer, word);
	}
}

static void
take_numbers(struct audit_record *r, const struct word *word)
{
	if (is(word->key, word->key_length, "uid"))
		r->uid = id_of(word);
	else if (is(word->key, word->key_length, "gid"))
		r->gid = id_of(word);
	else if (is(word->key, word->key_length, "generation"))
		r->generation = number_of(word, 0);
	else if (is(word->key, word->key_length, "packet_id"))
		r->packet_id = (uint32_t)number_of(word, 0);
	else if (is(word->key, word->key_length, "spent_us"))
		r->spent_ns = nanoseconds_of(word);
	else if (is(word->key, word->key_length, "thread"))
		r->thread = (uint16_t)number_of(word, 0);
	else if (is(word->key, word->key_length, "number"))
		r->number = number_of(word, 0);
}

/* False: a word of it is none that nfdns writes. */
static bool
read_words(struct audit_read_back *back, const char *text, size_t length)
{
	struct audit_record *r = &back->record;
	const char *end = text + length;
	struct word word;

	r->verdict = VERDICTS;
	r->reason = REASONS;
	r->uid = r->gid = UINT32_MAX;
	while (next_word(&word, &text, end)) {
		take_names(back, &word);
		take_numbers(r, &word);
	}
	return r->verdict < VERDICTS && r->reason < REASONS &&
	    r->would < RULE_ACTIONS;
}

/* Skips a section of that many records; false: it is cut off. */
static bool
skip_records(struct wire_reader *r, unsigned int count, uint16_t *extended)
{
	struct dns_name owner;

	while (count-- > 0) {
		uint16_t type;
		uint32_t ttl;

		if (!name_read_compressed(&owner, r, r->end, NULL))
			return false;
		type = wire_read_u16(r);
		wire_skip(r, 2);
		ttl = wire_read_u32(r);
		wire_skip(r, wire_read_u16(r));
		if (type == TYPE_OPT && !r->failed)
			*extended = (uint16_t)(ttl >> 24);
	}
	return !r->failed;
}

/* RFC 6891 section 6.1.3: the upper eight bits are in the OPT record. */
static uint16_t
rcode_of(const struct audit_record *record)
{
	struct wire_reader r = wire_reader_over(record->answer,
	    record->answer_length);
	uint16_t flags, questions, extended = 0;
	unsigned int records;
	struct dns_name name;

	wire_skip(&r, 2);
	flags = wire_read_u16(&r);
	questions = wire_read_u16(&r);
	records = wire_read_u16(&r);
	records += wire_read_u16(&r);
	records += wire_read_u16(&r);
	for (; questions > 0 && name_read_compressed(&name, &r, r.end, NULL);
	    questions--)
		wire_skip(&r, 4);
	(void)skip_records(&r, records, &extended);
	return (uint16_t)((extended << 4) | (flags & DNS_RCODE_MASK));
}

bool
audit_read_back(struct audit_read_back *back, enum audit_format_number format,
    const struct audit_reading *reading, const uint8_t *octets)
{
	struct audit_record *r = &back->record;
	const size_t seal = reading->seal_at - strlen(SEAL_KEY);
	uint64_t asked_ns = 0;
	size_t text = 0;
	bool well;

	*r = (struct audit_record){ .question = back->question,
		.answer = back->answer };
	if (reading->kind != AUDIT_PIECE_RECORD)
		return false;
	well = format == AUDIT_PCAPNG ?
	    audit_read_pcapng(back, &asked_ns, &text, reading, octets) :
	    audit_read_dnstap(back, &asked_ns, &text, reading, octets);
	if (!well || text > seal ||
	    !read_words(back, (const char *)octets + text, seal - text))
		return false;
	/* Only the answer's packet has the time of the decision. */
	if (r->time_ns == 0)
		r->time_ns = asked_ns + r->spent_ns;
	if (r->answer_length > 0)
		r->rcode = rcode_of(r);
	return true;
}
