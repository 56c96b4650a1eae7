/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One record as a line of JSON.  The octets in it are a stranger's (question)
 * or might be another program's by then (answer), so both are read within
 * bounds, and every line is valid JSON whatever they hold.
 */
#include "policy/audit.h"

#include <sys/socket.h>
#include <assert.h>
#include <string.h>

#include "policy/json_out.h"
#include "resolver/name.h"
#include "resolver/rr.h"
#include "resolver/wire.h"

/*
 * For what follows the answers: their number if some were left out, and the
 * object "nfdns".
 */
#define TAIL_RESERVE 640
#define GROUP_OVERHEAD (RR_TEXT_SIZE + 8)	/* "TYPE":[], */
#define MAX_LISTED 256

static_assert(AUDIT_JSON_MAX > 2 * (5 * NAME_MAX_OCTETS) + 2 * TAIL_RESERVE,
    "fixed parts and one name always fit");

/* One record of the answer section and where its rdata stands in the line. */
struct listed {
	uint16_t type;
	const char *rdata;
	size_t rdata_length;
};

/* The question's name, where it stands in the line; length 0 if it does not. */
struct asked {
	const char *text;
	size_t length;
};

/*
 * Reads a name that may be compressed; pointers only lead backwards, so there
 * is an end.  False, and the reader failed, if it is none.
 */
static bool
read_name(struct wire_reader *r, struct dns_name *name)
{
	struct wire_reader at = *r;
	size_t before = wire_offset(r);
	bool jumped = false;

	name->length = 0;
	for (;;) {
		uint8_t length = wire_read_u8(&at);
		const uint8_t *label;

		if ((length & 0xc0) == 0xc0) {
			size_t target = (size_t)(length & 0x3f) << 8;

			target |= wire_read_u8(&at);
			if (!jumped)
				*r = at;
			jumped = true;
			if (at.failed || target >= before)
				break;
			before = target;
			at.pos = at.base + target;
			continue;
		}
		label = wire_read_octets(&at, length);
		if (length > NAME_MAX_LABEL || at.failed ||
		    name->length + length + 1 > NAME_MAX_OCTETS)
			break;
		name->octets[name->length] = length;
		memcpy(name->octets + name->length + 1, label, length);
		name->length = (uint8_t)(name->length + length + 1);
		if (length == 0) {
			if (!jumped)
				*r = at;
			return true;
		}
	}
	r->failed = true;
	return false;
}

/*
 * How rdata of known types is read, RFC 1035 section 3.3, 3596, 2782: a A,
 * 6 AAAA, N name, 2 and 4 numbers of so many octets, T character strings.
 */
static const char *
layout_of(uint16_t type)
{
	switch (type) {
	case TYPE_A:
		return "a";
	case TYPE_AAAA:
		return "6";
	case TYPE_NS: case TYPE_CNAME: case TYPE_PTR:
		return "N";
	case TYPE_MX:
		return "2N";
	case TYPE_SRV:
		return "222N";
	case TYPE_SOA:
		return "NN44444";
	case TYPE_TXT:
		return "T";
	default:
		return NULL;
	}
}

static void
put_strings(struct json_out *out, struct wire_reader *r)
{
	while (wire_left(r) > 0) {
		uint8_t length = wire_read_u8(r);
		const uint8_t *text = wire_read_octets(r, length);

		for (uint8_t i = 0; text != NULL && i < length; i++)
			json_escaped(out, text[i], false);
	}
}

static void
put_field(struct json_out *out, struct wire_reader *r, char kind)
{
	const uint8_t *octets;
	struct dns_name name;

	switch (kind) {
	case 'a':
		octets = wire_read_octets(r, 4);
		if (octets != NULL)
			json_address(out, AF_INET, octets);
		break;
	case '6':
		octets = wire_read_octets(r, 16);
		if (octets != NULL)
			json_address(out, AF_INET6, octets);
		break;
	case 'N':
		if (read_name(r, &name))
			json_name(out, &name);
		break;
	case '2':
		json_number(out, wire_read_u16(r));
		break;
	case '4':
		json_number(out, wire_read_u32(r));
		break;
	default:
		put_strings(out, r);
	}
}

/* RFC 3597 section 5: "\# 4 c0000201". */
static void
put_generic(struct json_out *out, struct wire_reader *r)
{
	static const char hex[] = "0123456789abcdef";

	json_text(out, "\\\\# ");
	json_number(out, wire_left(r));
	json_char(out, ' ');
	while (wire_left(r) > 0 && !out->full) {
		uint8_t octet = wire_read_u8(r);

		json_char(out, hex[octet >> 4]);
		json_char(out, hex[octet & 15]);
	}
}

/* rdata has the message up to the end of this record's data. */
static void
put_rdata(struct json_out *out, uint16_t type, struct wire_reader rdata)
{
	const char *layout = layout_of(type);
	struct wire_reader r = rdata;
	struct json_out before = *out;

	for (const char *kind = layout; kind != NULL && *kind != '\0'; kind++) {
		if (kind != layout)
			json_char(out, ' ');
		put_field(out, &r, *kind);
	}
	if (layout != NULL && !r.failed && wire_left(&r) == 0)
		return;
	*out = before;
	put_generic(out, &rdata);
}

/*
 * The owner of a record, which mostly is but a pointer to the question's name,
 * behind the header: that stands in the line already.
 */
static bool
put_owner(struct json_out *out, struct wire_reader *r,
    const struct asked *asked)
{
	static const uint8_t to_question[2] = { 0xc0, 12 };
	struct dns_name owner;

	if (asked->length > 0 && wire_left(r) >= sizeof(to_question) &&
	    memcmp(r->pos, to_question, sizeof(to_question)) == 0) {
		wire_skip(r, sizeof(to_question));
		json_octets(out, asked->text, asked->length);
		return true;
	}
	if (!read_name(r, &owner))
		return false;
	json_name(out, &owner);
	return true;
}

/* One record of the answer.  False if there is no whole one. */
static bool
put_answer(struct json_out *out, struct wire_reader *r,
    const struct asked *asked, struct listed *listed)
{
	char text[RR_TEXT_SIZE];
	struct wire_reader rdata;
	uint32_t ttl;
	uint16_t length;

	json_text(out, "{\"rrname\":\"");
	if (!put_owner(out, r, asked))
		return false;
	listed->type = wire_read_u16(r);
	wire_skip(r, 2);
	ttl = wire_read_u32(r);
	length = wire_read_u16(r);
	rdata = *r;
	wire_skip(r, length);
	if (r->failed)
		return false;
	rdata.end = r->pos;
	json_text(out, "\",\"rrtype\":\"");
	json_text(out, rr_type_text(listed->type, text));
	json_text(out, "\",\"ttl\":");
	json_number(out, ttl);
	json_text(out, ",\"rdata\":");
	listed->rdata = out->pos;
	json_char(out, '"');
	put_rdata(out, listed->type, rdata);
	json_char(out, '"');
	listed->rdata_length = (size_t)(out->pos - listed->rdata);
	json_char(out, '}');
	return true;
}

static bool
seen_before(const struct listed *all, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (all[i].type == all[index].type)
			return true;
	return false;
}

/* The same rdata by type, copied from where they stand in the line already. */
static void
put_grouped(struct json_out *out, const struct listed *all, size_t count)
{
	char text[RR_TEXT_SIZE];

	json_text(out, ",\"grouped\":{");
	for (size_t i = 0; i < count; i++) {
		if (seen_before(all, i))
			continue;
		json_text(out, i > 0 ? ",\"" : "\"");
		json_text(out, rr_type_text(all[i].type, text));
		json_text(out, "\":[");
		json_octets(out, all[i].rdata, all[i].rdata_length);
		for (size_t j = i + 1; j < count; j++) {
			if (all[j].type != all[i].type)
				continue;
			json_char(out, ',');
			json_octets(out, all[j].rdata, all[j].rdata_length);
		}
		json_char(out, ']');
	}
	json_char(out, '}');
}

/* The answer section: as many records as leave room for what has to follow. */
static void
put_answers(struct json_out *out, struct wire_reader *r,
    const struct asked *asked, uint16_t count)
{
	struct listed listed[MAX_LISTED];
	size_t n = 0, grouped = 32;

	json_text(out, ",\"answers\":[");
	while (n < count && n < MAX_LISTED) {
		struct json_out before = *out;

		if (n > 0)
			json_char(out, ',');
		if (!put_answer(out, r, asked, &listed[n])) {
			*out = before;
			break;
		}
		grouped += listed[n].rdata_length + 1;
		grouped += seen_before(listed, n) ? 0 : GROUP_OVERHEAD;
		if (out->full || (size_t)(out->end - out->pos) <
		    grouped + TAIL_RESERVE) {
			*out = before;
			break;
		}
		n++;
	}
	json_char(out, ']');
	put_grouped(out, listed, n);
	if (n < count) {
		json_text(out, ",\"answers_omitted\":");
		json_number(out, count - n);
	}
}

/* Header, RFC 1035 section 4.1.1; the reader stands behind it afterwards. */
static void
put_header(struct json_out *out, struct wire_reader *r, uint16_t *questions,
    uint16_t *answers)
{
	uint16_t id = wire_read_u16(r), flags = wire_read_u16(r);

	*questions = wire_read_u16(r);
	*answers = wire_read_u16(r);
	wire_skip(r, 4);
	if (r->failed)
		return;
	json_text(out, ",\"id\":");
	json_number(out, id);
	json_bool(out, ",\"qr\":", (flags & 0x8000) != 0);
	json_bool(out, ",\"aa\":", (flags & 0x0400) != 0);
	json_bool(out, ",\"tc\":", (flags & 0x0200) != 0);
	json_bool(out, ",\"rd\":", (flags & 0x0100) != 0);
	json_bool(out, ",\"ra\":", (flags & 0x0080) != 0);
	json_text(out, ",\"opcode\":");
	json_number(out, flags >> 11 & 15);
}

/* The first question; whatever is wrong with it, nothing is printed. */
static void
put_question(struct json_out *out, struct wire_reader *r, struct asked *asked)
{
	char text[RR_TEXT_SIZE];
	struct dns_name name;
	uint16_t type;

	if (!read_name(r, &name))
		return;
	type = wire_read_u16(r);
	wire_skip(r, 2);
	if (r->failed)
		return;
	json_text(out, ",\"rrname\":\"");
	asked->text = out->pos;
	json_name(out, &name);
	asked->length = (size_t)(out->pos - asked->text);
	json_text(out, "\",\"rrtype\":\"");
	json_text(out, rr_type_text(type, text));
	json_char(out, '"');
}

static void
put_dns(struct json_out *out, const struct audit_record *record)
{
	bool answer = record->answer_length > 0;
	struct wire_reader r = answer ?
	    wire_reader_over(record->answer, record->answer_length) :
	    wire_reader_over(record->question, record->question_length);
	char text[RR_TEXT_SIZE];
	struct asked asked = { 0 };
	uint16_t questions, answers;

	json_text(out, "\"dns\":{\"version\":2,\"type\":\"");
	json_text(out, answer ? "answer\"" : "query\"");
	put_header(out, &r, &questions, &answers);
	if (questions > 0)
		put_question(out, &r, &asked);
	if (answer) {
		json_text(out, ",\"rcode\":\"");
		json_text(out, rcode_text(record->rcode, text));
		json_char(out, '"');
		if (answers > 0)
			put_answers(out, &r, &asked, answers);
	}
	json_char(out, '}');
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
put_nfdns(struct json_out *out, const struct audit_record *record)
{
	json_text(out, ",\"nfdns\":{\"packet_id\":");
	json_number(out, record->packet_id);
	json_text(out, ",\"decision\":\"");
	json_text(out, decide_verdict_text(record->verdict));
	json_text(out, "\",\"reason\":\"");
	json_text(out, decide_reason_text(record->reason));
	json_text(out, "\",\"rule\":null");
	put_id_or_null(out, ",\"uid\":", record->uid);
	put_id_or_null(out, ",\"gid\":", record->gid);
	json_text(out, ",\"generation\":");
	json_number(out, record->generation);
	json_text(out, ",\"spent_us\":");
	json_number(out, record->spent_ns / 1000);
	json_char(out, '.');
	json_digits(out, record->spent_ns % 1000, 3);
	json_char(out, '}');
}

size_t
audit_json(const struct audit_record *record, char *buf, size_t size)
{
	struct json_out out = { .pos = buf, .end = buf + size };

	assert(size >= AUDIT_JSON_MAX);
	json_text(&out, "{\"timestamp\":\"");
	json_time(&out, record->time_ns);
	json_text(&out, "\",\"event_type\":\"dns\",\"src_ip\":\"");
	json_address(&out, record->family, record->client);
	json_text(&out, "\",\"src_port\":");
	json_number(&out, record->client_port);
	json_text(&out, ",\"dest_ip\":\"");
	json_address(&out, record->family, record->server);
	json_text(&out, "\",\"dest_port\":");
	json_number(&out, record->server_port);
	json_text(&out, record->stream ? ",\"proto\":\"TCP\",\"ip_v\":" :
	    ",\"proto\":\"UDP\",\"ip_v\":");
	json_char(&out, record->family == AF_INET ? '4' : '6');
	json_char(&out, ',');
	put_dns(&out, record);
	put_nfdns(&out, record);
	json_text(&out, "}\n");
	assert(!out.full);
	return (size_t)(out.pos - buf);
}

size_t
audit_json_lost(uint64_t time_ns, uint64_t records, char *buf, size_t size)
{
	struct json_out out = { .pos = buf, .end = buf + size };

	json_text(&out, "{\"timestamp\":\"");
	json_time(&out, time_ns);
	json_text(&out, "\",\"event_type\":\"stats\",\"nfdns\":"
	    "{\"event\":\"lost\",\"records\":");
	json_number(&out, records);
	json_text(&out, "}}\n");
	assert(!out.full);
	return (size_t)(out.pos - buf);
}
