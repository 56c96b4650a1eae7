/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One record as a line of JSON.  The question's octets come from any user of
 * the machine, so everything is read within bounds, and each line is valid JSON
 * whatever the octets are.
 *
 * Most of a line is the same in the next: addresses, flags, decision.  Such
 * pieces are kept as text and copied until their values change.
 */
#include "policy/audit/format.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/audit/audit.h"
#include "policy/audit/json_out.h"
#include "resolver/dns/name.h"
#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

/*
 * Names and resource records of a DNS message in the JSON of EVE.  Octets are
 * read within bounds, and the output is valid JSON whatever they are.
 */

/* The question's name in the line; length 0 if it is not there. */
struct json_asked {
	const char *text;
	size_t length;
};

/* Octets that json_records() leaves free for the rest of the line. */
#define JSON_RECORDS_RESERVE (900 + 2 * 5 * AUDIT_RULE_MAX + 5 * NAME_MAX_OCTETS)

static_assert(AUDIT_JSON_MAX > 2 * (5 * NAME_MAX_OCTETS) +
    2 * JSON_RECORDS_RESERVE, "fixed parts and a name always fit");

/* Octets of the longest line, a record or a note. */
#define LINE_MAX_OCTETS ((size_t)AUDIT_JSON_MAX + AUDIT_JSON_NOTE_MAX)

/* What a piece is made from. */
struct key {
	uint64_t words[3];
};

#define GROUP_OVERHEAD (RR_TEXT_SIZE + 8)	/* "TYPE":[], */
#define MAX_LISTED 256

/* A record of the answer section: what of its text "grouped" repeats. */
struct listed {
	uint16_t type;
	const char *rdata;
	size_t rdata_length;		/* 0: nothing */
};

/* Octets of the name if it is not compressed, else 0. */
static size_t
length_in_one_piece(const struct wire_reader *r)
{
	const size_t left = wire_left(r);
	const size_t most = left < NAME_MAX_OCTETS ? left : NAME_MAX_OCTETS;
	size_t length = 0;

	while (length < most && r->pos[length] <= NAME_MAX_LABEL) {
		if (r->pos[length] == 0)
			return length + 1;
		length += r->pos[length] + 1U;
	}
	return 0;
}

/*
 * Reads a name, which may be compressed, and puts it.  False if there is no
 * valid name; then the reader has failed.
 */
static bool
json_record_name(struct json_out *out, struct wire_reader *r)
{
	const size_t length = length_in_one_piece(r);
	struct dns_name name;

	if (length > 0)
		json_name(out, wire_read_octets(r, length), length);
	else if (name_read_compressed(&name, r, r->end, NULL))
		json_name(out, name.octets, name.length);
	return !r->failed;
}

static void
put_field(struct json_out *out, struct wire_reader *r, char kind)
{
	switch (kind) {
	case 'N':
		(void)json_record_name(out, r);
		break;
	case 'A':
	case '6':
		/* Addresses of the right length were put by the caller. */
		r->failed = true;
		break;
	case '2':
		json_number(out, wire_read_u16(r));
		break;
	case '4':
		json_number(out, wire_read_u32(r));
		break;
	default:
		while (wire_left(r) > 0) {
			uint8_t length = wire_read_u8(r);
			const uint8_t *text = wire_read_octets(r, length);

			for (uint8_t i = 0; text != NULL && i < length; i++)
				json_escaped(out, text[i], false);
		}
	}
}

/* Puts the fields of a record; rdata reads up to the record's end. */
static void
put_fields(struct json_out *out, uint16_t type, struct wire_reader rdata)
{
	const struct rdata_layout *known = rdata_layout(type);
	const char *layout = known->text ? known->fields : NULL;
	struct wire_reader r = rdata;
	struct json_out before = *out;
	static const char hex[] = "0123456789abcdef";

	for (const char *kind = layout; kind != NULL && *kind != '\0'; kind++) {
		if (kind != layout)
			json_char(out, ' ');
		put_field(out, &r, *kind);
	}
	if (layout != NULL && !r.failed && wire_left(&r) == 0)
		return;
	*out = before;
	/* RFC 3597 section 5: "\# 4 c0000201". */
	json_text(out, "\\\\# ");
	json_number(out, wire_left(&rdata));
	json_char(out, ' ');
	while (wire_left(&rdata) > 0 && !out->full) {
		uint8_t octet = wire_read_u8(&rdata);

		json_char(out, hex[octet >> 4]);
		json_char(out, hex[octet & 15]);
	}
}

static void
put_rdata(struct json_out *out, uint16_t type, const struct wire_reader *rdata)
{
	const size_t length = wire_left(rdata);

	json_char(out, '"');
	if (type == TYPE_A && length == 4)
		json_address(out, AF_INET, rdata->pos);
	else if (type == TYPE_AAAA && length == 16)
		json_address(out, AF_INET6, rdata->pos);
	else
		put_fields(out, type, *rdata);
	json_char(out, '"');
}

/* The types whose data "grouped" of EVE has as text, and those as objects. */
static bool
is_grouped(uint16_t type)
{
	switch (type) {
	case TYPE_A:
	case TYPE_AAAA:
	case TYPE_CNAME:
	case TYPE_MX:
	case TYPE_NS:
	case TYPE_PTR:
	case TYPE_TXT:
		return true;
	default:
		return false;
	}
}

static const char *const srv_members[] = { "{\"priority\":", ",\"weight\":",
	",\"port\":", ",\"name\":" };
static const char *const soa_members[] = { "{\"mname\":", ",\"rname\":",
	",\"serial\":", ",\"refresh\":", ",\"retry\":", ",\"expire\":",
	",\"minimum\":" };

/* The data once more as the object "srv" or "soa"; nothing if it is malformed. */
static void
put_object(struct json_out *out, struct listed *listed,
    const struct wire_reader *rdata)
{
	const char *const *members = listed->type == TYPE_SRV ? srv_members :
	    soa_members;
	const char *fields = rdata_layout(listed->type)->fields;
	const struct json_out before = *out;
	struct wire_reader r = *rdata;

	json_text(out, listed->type == TYPE_SRV ? ",\"srv\":" : ",\"soa\":");
	listed->rdata = out->pos;
	for (; *fields != '\0'; fields++) {
		json_text(out, *members++);
		if (*fields == 'N')
			json_char(out, '"');
		put_field(out, &r, *fields);
		if (*fields == 'N')
			json_char(out, '"');
	}
	json_char(out, '}');
	listed->rdata_length = (size_t)(out->pos - listed->rdata);
	if (r.failed || wire_left(&r) > 0) {
		*out = before;
		listed->rdata_length = 0;
	}
}

/*
 * Puts the owner of a record.  Usually it is a pointer to the question's name,
 * whose text is in the line already.
 */
static bool
put_owner(struct json_out *out, struct wire_reader *r,
    const struct json_asked *asked)
{
	static const uint8_t to_question[2] = { 0xc0, 12 };

	if (asked->length > 0 && wire_left(r) >= sizeof(to_question) &&
	    memcmp(r->pos, to_question, sizeof(to_question)) == 0) {
		wire_skip(r, sizeof(to_question));
		json_octets(out, asked->text, asked->length);
		return true;
	}
	return json_record_name(out, r);
}

/*
 * The head of a record, before its rdata: an owner that is a pointer, type,
 * class and TTL; and its text.  All records of a set have the same head.
 */
#define HEAD_OCTETS 10
struct head {
	const uint8_t *octets;		/* NULL: its owner is no pointer */
	const char *text;
	size_t length;
	uint16_t type;
};

/* False if the head is cut off. */
static bool
put_head(struct json_out *out, struct wire_reader *r,
    const struct json_asked *asked, struct head *head)
{
	const uint8_t *octets = r->pos;
	char text[RR_TEXT_SIZE];

	if (head->octets != NULL && wire_left(r) >= HEAD_OCTETS &&
	    memcmp(head->octets, octets, HEAD_OCTETS) == 0) {
		wire_skip(r, HEAD_OCTETS);
		json_octets(out, head->text, head->length);
		return true;
	}
	head->text = out->pos;
	json_text(out, "{\"rrname\":\"");
	if (!put_owner(out, r, asked))
		return false;
	head->type = wire_read_u16(r);
	wire_skip(r, 2);
	json_text(out, "\",\"rrtype\":\"");
	json_text(out, rr_type_text(head->type, text));
	json_text(out, "\",\"ttl\":");
	json_number(out, wire_read_u32(r));
	json_text(out, ",\"rdata\":");
	head->length = (size_t)(out->pos - head->text);
	head->octets = r->pos == octets + HEAD_OCTETS ? octets : NULL;
	return !r->failed;
}

/* Puts one record of the answer section.  False if it is cut off. */
static bool
put_answer(struct json_out *out, struct wire_reader *r,
    const struct json_asked *asked, struct head *head, struct listed *listed)
{
	struct wire_reader rdata;
	uint16_t length;

	if (!put_head(out, r, asked, head))
		return false;
	length = wire_read_u16(r);
	rdata = *r;
	wire_skip(r, length);
	if (r->failed)
		return false;
	rdata.end = r->pos;
	listed->type = head->type;
	listed->rdata = out->pos;
	put_rdata(out, head->type, &rdata);
	listed->rdata_length = is_grouped(head->type) ?
	    (size_t)(out->pos - listed->rdata) : 0;
	if (head->type == TYPE_SRV || head->type == TYPE_SOA)
		put_object(out, listed, &rdata);
	json_char(out, '}');
	return true;
}

static bool
seen_before(const struct listed *all, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (all[i].type == all[index].type && all[i].rdata_length > 0)
			return true;
	return false;
}

/* Puts the data of one type, from the record "first" on. */
static void
put_group(struct json_out *out, const struct listed *all, size_t first,
    size_t count)
{
	char text[RR_TEXT_SIZE];

	json_char(out, '"');
	json_text(out, rr_type_text(all[first].type, text));
	json_text(out, "\":[");
	json_octets(out, all[first].rdata, all[first].rdata_length);
	for (size_t i = first + 1; i < count; i++) {
		if (all[i].type != all[first].type || all[i].rdata_length == 0)
			continue;
		json_char(out, ',');
		json_octets(out, all[i].rdata, all[i].rdata_length);
	}
	json_char(out, ']');
}

/* Puts the data once more, by type, copied from the line itself. */
static void
put_grouped(struct json_out *out, const struct listed *all, size_t count)
{
	const char *before = ",\"grouped\":{";

	for (size_t i = 0; i < count; i++) {
		if (all[i].rdata_length == 0 || seen_before(all, i))
			continue;
		json_text(out, before);
		put_group(out, all, i, count);
		before = ",";
	}
	if (before[1] == '\0')
		json_char(out, '}');
}

/*
 * Puts the members "answers" and "grouped" for the answer section at the
 * reader; neither is ever empty.  Returns how many records are not put: they are
 * cut off, or there is no room for them.
 */
static unsigned int
json_records(struct json_out *out, struct wire_reader *r,
    const struct json_asked *asked, uint16_t count)
{
	const struct json_out empty = *out;
	struct listed listed[MAX_LISTED];
	struct head head = { .octets = NULL };
	size_t n = 0, grouped = 32;

	json_text(out, ",\"answers\":[");
	while (n < count && n < MAX_LISTED) {
		struct json_out before = *out;

		if (n > 0)
			json_char(out, ',');
		if (!put_answer(out, r, asked, &head, &listed[n])) {
			*out = before;
			break;
		}
		grouped += listed[n].rdata_length + 1;
		grouped += seen_before(listed, n) ? 0 : GROUP_OVERHEAD;
		if (out->full || (size_t)(out->end - out->pos) <
		    grouped + JSON_RECORDS_RESERVE) {
			*out = before;
			break;
		}
		n++;
	}
	if (n == 0) {
		*out = empty;
		return count;
	}
	json_char(out, ']');
	put_grouped(out, listed, n);
	return (unsigned int)(count - n);
}

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

static void
put_interface(struct json_out *out, const struct audit_record *record)
{
	if (record->interface == NULL || record->interface[0] == '\0' ||
	    record->is_private)
		return;
	json_text(out, ",\"in_iface\":\"");
	put_name(out, record->interface, strlen(record->interface));
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
	put_interface(&out, record);
	put_destination(json, &out, record);
	omitted = put_dns(json, &out, record);
	json_text(&out, ",\"nfdns\":{\"packet_id\":");
	json_number(&out, record->packet_id);
	put_outcome(json, &out, record);
	json_number(&out, record->spent_ns / 1000);
	json_char(&out, '.');
	json_digits(&out, record->spent_ns % 1000, 3);
	if (omitted > 0) {
		json_text(&out, ",\"answers_omitted\":");
		json_number(&out, omitted);
	}
	json_text(&out, ",\"number\":");
	json_number(&out, record->number);
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
