/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One record as a line of JSON.  The question's octets come from any user of
 * the machine, so everything is read within bounds, and each line is valid JSON
 * whatever the octets are.
 *
 * Most of a line is the same in the next: addresses, flags, decision.  Such
 * pieces are kept as text and copied until their values change.
 */
#include "policy/audit/json.h"

#include <sys/socket.h>
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "policy/audit/json_out.h"
#include "policy/audit/json_record.h"
#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

static_assert(AUDIT_JSON_MAX > 2 * (5 * NAME_MAX_OCTETS) +
    2 * JSON_RECORDS_RESERVE, "fixed parts and a name always fit");

/* Octets of the longest line, a record or a note. */
#define LINE_MAX_OCTETS ((size_t)AUDIT_JSON_MAX + AUDIT_JSON_NOTE_MAX)

/* What a piece is made from. */
struct key {
	uint64_t words[3];
};

/* Puts the piece if it was made from the same values. */
static bool
piece_put(const struct audit_json_piece *piece, const struct key *key,
    struct json_out *out)
{
	if (piece->length == 0 ||
	    ((piece->key[0] ^ key->words[0]) | (piece->key[1] ^ key->words[1]) |
	    (piece->key[2] ^ key->words[2])) != 0)
		return false;
	json_octets(out, piece->text, piece->length);
	return true;
}

/* Keeps the text since "begin" as the piece, if it fits. */
static void
piece_keep(struct audit_json_piece *piece, const struct key *key,
    const char *begin, const struct json_out *out)
{
	const size_t length = (size_t)(out->pos - begin);

	piece->length = 0;
	if (out->full || length > sizeof(piece->text))
		return;
	memcpy(piece->key, key->words, sizeof(piece->key));
	memcpy(piece->text, begin, length);
	piece->length = length;
}

static void
put_flags(struct audit_json *json, struct json_out *out, uint16_t flags)
{
	const struct key key = { { flags } };
	const char *begin = out->pos;

	if (piece_put(&json->flags, &key, out))
		return;
	json_bool(out, ",\"qr\":", (flags & 0x8000) != 0);
	json_bool(out, ",\"aa\":", (flags & 0x0400) != 0);
	json_bool(out, ",\"tc\":", (flags & 0x0200) != 0);
	json_bool(out, ",\"rd\":", (flags & 0x0100) != 0);
	json_bool(out, ",\"ra\":", (flags & 0x0080) != 0);
	json_text(out, ",\"opcode\":");
	json_number(out, flags >> 11 & 15);
	piece_keep(&json->flags, &key, begin, out);
}

/* Reads and puts the header, RFC 1035 section 4.1.1. */
static void
put_header(struct audit_json *json, struct json_out *out,
    struct wire_reader *r, uint16_t *questions, uint16_t *answers)
{
	uint16_t id = wire_read_u16(r), flags = wire_read_u16(r);

	*questions = wire_read_u16(r);
	*answers = wire_read_u16(r);
	wire_skip(r, 4);
	if (r->failed)
		return;
	json_text(out, ",\"id\":");
	json_number(out, id);
	put_flags(json, out, flags);
}

/* Puts the first question; nothing if it is malformed. */
static void
put_question(struct json_out *out, struct wire_reader *r, struct json_asked *asked)
{
	const struct json_out before = *out;
	char text[RR_TEXT_SIZE];
	uint16_t type;

	json_text(out, ",\"queries\":[{\"rrname\":\"");
	asked->text = out->pos;
	(void)json_record_name(out, r);
	asked->length = (size_t)(out->pos - asked->text);
	type = wire_read_u16(r);
	wire_skip(r, 2);
	if (r->failed) {
		*out = before;
		asked->length = 0;
		return;
	}
	json_text(out, "\",\"rrtype\":\"");
	json_text(out, rr_type_text(type, text));
	json_text(out, "\"}]");
}

/*
 * Puts the rest of the object "dns"; put_destination() began it.  Returns how
 * many answers are left out.
 */
static unsigned int
put_dns(struct audit_json *json, struct json_out *out,
    const struct audit_record *record)
{
	bool answer = record->answer_length > 0;
	struct wire_reader r = answer ?
	    wire_reader_over(record->answer, record->answer_length) :
	    wire_reader_over(record->question, record->question_length);
	char text[RR_TEXT_SIZE];
	struct json_asked asked = { 0 };
	uint16_t questions, answers;
	unsigned int omitted = 0;

	put_header(json, out, &r, &questions, &answers);
	if (questions > 0)
		put_question(out, &r, &asked);
	if (answer) {
		json_text(out, ",\"rcode\":\"");
		json_text(out, rcode_text(record->rcode, text));
		json_char(out, '"');
		if (answers > 0)
			omitted = json_records(out, &r, &asked, answers);
	}
	json_char(out, '}');
	return omitted;
}

static void
put_id_or_null(struct json_out *out, const char *key, uint32_t id)
{
	json_text(out, key);
	if (id == UINT32_MAX)
		json_text(out, "null");
	else
		json_number(out, id);
}

static void
put_name(struct json_out *out, const char *name, size_t length)
{
	if (length > AUDIT_RULE_MAX)
		length = AUDIT_RULE_MAX;
	for (size_t i = 0; i < length; i++)
		json_escaped(out, (uint8_t)name[i], false);
	json_char(out, '"');
}

/* The rule that decided, and one that only observed. */
static void
put_rule(struct json_out *out, const struct audit_record *record)
{
	json_text(out, record->rule_length == 0 ? "\",\"rule\":null" :
	    "\",\"rule\":\"");
	if (record->rule_length > 0)
		put_name(out, record->rule, record->rule_length);
	if (record->judged_length > 0) {
		json_text(out, ",\"judged\":\"");
		json_name(out, record->judged, record->judged_length);
		json_char(out, '"');
	}
	if (record->observer_length == 0)
		return;
	json_text(out, ",\"observed\":\"");
	put_name(out, record->observer, record->observer_length);
	json_text(out, ",\"would\":\"");
	json_text(out, decide_action_text((enum rule_action)record->would));
	json_char(out, '"');
}

/* Whether it depends on more than numbers. */
static bool
has_names(const struct audit_record *record)
{
	return record->rule_length > 0 || record->observer_length > 0;
}

/* A key holds numbers only, so a piece with a rule's name is not kept. */
static void
put_outcome(struct audit_json *json, struct json_out *out,
    const struct audit_record *record)
{
	const struct key key = { {
		(uint64_t)record->uid << 32 | record->gid,
		record->generation,
		(uint64_t)record->verdict << 32 | (uint64_t)record->reason,
	} };
	const char *begin = out->pos;

	if (!has_names(record) && piece_put(&json->outcome, &key, out))
		return;
	json_text(out, ",\"decision\":\"");
	json_text(out, decide_verdict_text(record->verdict));
	json_text(out, "\",\"reason\":\"");
	json_text(out, decide_reason_text(record->reason));
	put_rule(out, record);
	put_id_or_null(out, ",\"uid\":", record->uid);
	put_id_or_null(out, ",\"gid\":", record->gid);
	json_text(out, ",\"generation\":");
	json_number(out, record->generation);
	json_text(out, ",\"spent_us\":");
	if (!has_names(record))
		piece_keep(&json->outcome, &key, begin, out);
}

static void
put_nfdns(struct audit_json *json, struct json_out *out,
    const struct audit_record *record, unsigned int omitted)
{
	json_text(out, ",\"nfdns\":{\"packet_id\":");
	json_number(out, record->packet_id);
	put_outcome(json, out, record);
	json_number(out, record->spent_ns / 1000);
	json_char(out, '.');
	json_digits(out, record->spent_ns % 1000, 3);
	if (omitted > 0) {
		json_text(out, ",\"answers_omitted\":");
		json_number(out, omitted);
	}
	json_text(out, ",\"number\":");
	json_number(out, record->number);
}

static void
put_time(struct audit_json *json, struct json_out *out, uint64_t time_ns)
{
	const struct key key = { { time_ns / 1000000000 } };
	const char *begin = out->pos;

	if (!piece_put(&json->second, &key, out)) {
		json_text(out, "{\"timestamp\":\"");
		json_second(out, key.words[0]);
		json_char(out, '.');
		piece_keep(&json->second, &key, begin, out);
	}
	json_digits(out, time_ns % 1000000000 / 1000, 6);
}

static void
put_source(struct audit_json *json, struct json_out *out,
    const struct audit_record *record)
{
	struct key key = { { 0, 0, record->family } };
	const char *begin = out->pos;

	if (record->is_private) {
		json_text(out, "+0000\",\"event_type\":\"dns\"");
		return;
	}
	memcpy(key.words, record->client, sizeof(record->client));
	if (!piece_put(&json->source, &key, out)) {
		json_text(out,
		    "+0000\",\"event_type\":\"dns\",\"src_ip\":\"");
		json_address(out, record->family, record->client);
		json_text(out, "\",\"src_port\":");
		piece_keep(&json->source, &key, begin, out);
	}
	json_number(out, record->client_port);
}

/* Up to the beginning of the object "dns". */
static void
put_destination(struct audit_json *json, struct json_out *out,
    const struct audit_record *record)
{
	const bool answer = record->answer_length > 0;
	struct key key = { { 0, 0, (uint64_t)record->server_port << 32 |
	    (uint64_t)record->family << 16 | (uint64_t)record->stream << 8 |
	    answer } };
	const char *begin = out->pos;

	memcpy(key.words, record->server, sizeof(record->server));
	if (piece_put(&json->destination, &key, out))
		return;
	json_text(out, ",\"dest_ip\":\"");
	json_address(out, record->family, record->server);
	json_text(out, "\",\"dest_port\":");
	json_number(out, record->server_port);
	json_text(out, record->stream ? ",\"proto\":\"TCP\",\"ip_v\":" :
	    ",\"proto\":\"UDP\",\"ip_v\":");
	json_char(out, record->family == AF_INET ? '4' : '6');
	json_text(out, ",\"dns\":{\"version\":3,\"type\":\"");
	json_text(out, answer ? "response\"" : "request\"");
	piece_keep(&json->destination, &key, begin, out);
}

size_t
audit_json(struct audit_json *json, const struct audit_record *record,
    char *buf, size_t size)
{
	struct json_out out = { .pos = buf, .end = buf + size };
	unsigned int omitted;

	assert(size >= AUDIT_JSON_MAX);
	put_time(json, &out, record->time_ns);
	put_source(json, &out, record);
	put_destination(json, &out, record);
	omitted = put_dns(json, &out, record);
	put_nfdns(json, &out, record, omitted);
	json_text(&out, "}}\n");
	assert(!out.full);
	return (size_t)(out.pos - buf);
}

static size_t
format_note(void *state, const struct audit_note *note, char *buf)
{
	struct json_out out = { .pos = buf, .end = buf + AUDIT_JSON_NOTE_MAX };

	(void)state;
	if (note->kind == AUDIT_CLOSE)
		return 0;
	json_text(&out, "{\"timestamp\":\"");
	json_second(&out, note->time_ns / 1000000000);
	json_char(&out, '.');
	json_digits(&out, note->time_ns % 1000000000 / 1000, 6);
	json_text(&out, "+0000\",\"event_type\":\"stats\",\"nfdns\":"
	    "{\"event\":\"");
	json_text(&out, audit_note_kind_text(note->kind));
	json_pair(&out, "\",\"run\":", note->run);
	if (note->kind == AUDIT_LOST) {
		json_pair(&out, ",\"records\":", note->lost_now);
		json_pair(&out, ",\"from\":", note->from);
		json_pair(&out, ",\"to\":", note->to);
	} else if (note->kind == AUDIT_UNREAD)
		json_pair(&out, ",\"questions\":", note->unread);
	else
		json_pair(&out, ",\"next\":", note->next);
	json_text(&out, "}}\n");
	assert(!out.full);
	return (size_t)(out.pos - buf);
}

static_assert(sizeof(struct audit_json) <= AUDIT_FORMAT_STATE,
    "a file has room for it");

static size_t
format_record(void *state, const struct audit_record *record, char *buf)
{
	return audit_json(state, record, buf, AUDIT_JSON_MAX);
}

/* Behind the last line end: the next line must not begin within another. */
static off_t
format_whole(int fd, off_t size)
{
	char tail[LINE_MAX_OCTETS];
	const off_t begin = size > (off_t)sizeof(tail) ?
	    size - (off_t)sizeof(tail) : 0;
	const ssize_t have = pread(fd, tail, sizeof(tail), begin);
	const char *end;

	if (have < 0)
		return -errno;
	end = memrchr(tail, '\n', (size_t)have);
	if (end == NULL)
		return begin == 0 ? 0 : -EILSEQ;
	return begin + (end + 1 - tail);
}

const struct audit_format audit_json_format = {
	.name = "json",
	.record_max = AUDIT_JSON_MAX,
	.note_max = AUDIT_JSON_NOTE_MAX,
	.record = format_record,
	.note = format_note,
	.cut_end = "\n",
	.whole = format_whole,
};
