/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One record as a line of JSON.  The octets in it are a stranger's (question)
 * or might be another program's by then (answer), so both are read within
 * bounds, and every line is valid JSON whatever they hold.
 */
#include "policy/audit.h"

#include <sys/socket.h>
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <string.h>
#include <time.h>

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

struct out {
	char *pos;
	char *end;
	bool full;
};

/* One record of the answer section and where its rdata stands in the line. */
struct listed {
	uint16_t type;
	const char *rdata;
	size_t rdata_length;
};

static void
put_octets(struct out *out, const char *octets, size_t length)
{
	if (out->full || (size_t)(out->end - out->pos) < length) {
		out->full = true;
		return;
	}
	memcpy(out->pos, octets, length);
	out->pos += length;
}

static void
put_text(struct out *out, const char *text)
{
	put_octets(out, text, strlen(text));
}

static void
put_char(struct out *out, char c)
{
	if (out->full || out->pos == out->end)
		out->full = true;
	else
		*out->pos++ = c;
}

static void
put_number(struct out *out, uint64_t number)
{
	char digits[20];
	size_t n = sizeof(digits);

	do {
		digits[--n] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	put_octets(out, digits + n, sizeof(digits) - n);
}

/* The lowest "width" digits, with leading zeros. */
static void
put_digits(struct out *out, uint64_t number, size_t width)
{
	char digits[10];

	assert(width <= sizeof(digits));
	for (size_t i = width; i-- > 0; number /= 10)
		digits[i] = (char)('0' + number % 10);
	put_octets(out, digits, width);
}

static void
put_bool(struct out *out, const char *key, bool value)
{
	put_text(out, key);
	put_text(out, value ? "true" : "false");
}

/* "2026-11-20T20:25:00.123456+0000" */
static void
put_time(struct out *out, uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / 1000000000);
	struct tm tm = { .tm_mday = 1 };

	(void)gmtime_r(&seconds, &tm);
	put_digits(out, (uint64_t)tm.tm_year + 1900, 4);
	put_char(out, '-');
	put_digits(out, (uint64_t)tm.tm_mon + 1, 2);
	put_char(out, '-');
	put_digits(out, (uint64_t)tm.tm_mday, 2);
	put_char(out, 'T');
	put_digits(out, (uint64_t)tm.tm_hour, 2);
	put_char(out, ':');
	put_digits(out, (uint64_t)tm.tm_min, 2);
	put_char(out, ':');
	put_digits(out, (uint64_t)tm.tm_sec, 2);
	put_char(out, '.');
	put_digits(out, time_ns % 1000000000 / 1000, 6);
	put_text(out, "+0000");
}

static void
put_address(struct out *out, int family, const uint8_t *address)
{
	char text[INET6_ADDRSTRLEN];

	if (family == AF_INET) {
		for (int i = 0; i < 4; i++) {
			if (i > 0)
				put_char(out, '.');
			put_number(out, address[i]);
		}
	} else if (inet_ntop(AF_INET6, address, text, sizeof(text)) != NULL)
		put_text(out, text);
}

/*
 * One octet of a label or text: RFC 1035 section 5.1's escapes, whose
 * backslash JSON wants doubled.
 */
static void
put_escaped(struct out *out, uint8_t c, bool in_name)
{
	if (c == '"')
		put_text(out, "\\\"");
	else if (c == '\\')
		put_text(out, "\\\\\\\\");
	else if (c == '.' && in_name)
		put_text(out, "\\\\.");
	else if (c > 0x20 && c < 0x7f)
		put_char(out, (char)c);
	else if (c == ' ' && !in_name)
		put_char(out, ' ');
	else {
		put_text(out, "\\\\");
		put_digits(out, c, 3);
	}
}

/* What stands for itself in names and in JSON. */
static bool
is_plain(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static void
put_label(struct out *out, const uint8_t *octets, uint8_t length)
{
	uint8_t plain = 0;

	while (plain < length && is_plain(octets[plain]))
		plain++;
	put_octets(out, (const char *)octets, plain);
	for (uint8_t i = plain; i < length; i++)
		put_escaped(out, octets[i], true);
}

/* Without the final dot, as EVE has it; the root is ".". */
static void
put_name(struct out *out, const struct dns_name *name)
{
	const uint8_t *label = name->octets;

	if (*label == 0)
		put_char(out, '.');
	while (*label != 0) {
		if (label != name->octets)
			put_char(out, '.');
		put_label(out, label + 1, *label);
		label += *label + 1;
	}
}

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
put_strings(struct out *out, struct wire_reader *r)
{
	while (wire_left(r) > 0) {
		uint8_t length = wire_read_u8(r);
		const uint8_t *text = wire_read_octets(r, length);

		for (uint8_t i = 0; text != NULL && i < length; i++)
			put_escaped(out, text[i], false);
	}
}

static void
put_field(struct out *out, struct wire_reader *r, char kind)
{
	const uint8_t *octets;
	struct dns_name name;

	switch (kind) {
	case 'a':
		octets = wire_read_octets(r, 4);
		if (octets != NULL)
			put_address(out, AF_INET, octets);
		break;
	case '6':
		octets = wire_read_octets(r, 16);
		if (octets != NULL)
			put_address(out, AF_INET6, octets);
		break;
	case 'N':
		if (read_name(r, &name))
			put_name(out, &name);
		break;
	case '2':
		put_number(out, wire_read_u16(r));
		break;
	case '4':
		put_number(out, wire_read_u32(r));
		break;
	default:
		put_strings(out, r);
	}
}

/* RFC 3597 section 5: "\# 4 c0000201". */
static void
put_generic(struct out *out, struct wire_reader *r)
{
	static const char hex[] = "0123456789abcdef";

	put_text(out, "\\\\# ");
	put_number(out, wire_left(r));
	put_char(out, ' ');
	while (wire_left(r) > 0 && !out->full) {
		uint8_t octet = wire_read_u8(r);

		put_char(out, hex[octet >> 4]);
		put_char(out, hex[octet & 15]);
	}
}

/* rdata has the message up to the end of this record's data. */
static void
put_rdata(struct out *out, uint16_t type, struct wire_reader rdata)
{
	const char *layout = layout_of(type);
	struct wire_reader r = rdata;
	struct out before = *out;

	for (const char *kind = layout; kind != NULL && *kind != '\0'; kind++) {
		if (kind != layout)
			put_char(out, ' ');
		put_field(out, &r, *kind);
	}
	if (layout != NULL && !r.failed && wire_left(&r) == 0)
		return;
	*out = before;
	put_generic(out, &rdata);
}

/* One record of the answer.  False if there is no whole one. */
static bool
put_answer(struct out *out, struct wire_reader *r, struct listed *listed)
{
	char text[RR_TEXT_SIZE];
	struct wire_reader rdata;
	struct dns_name owner;
	uint32_t ttl;
	uint16_t length;

	if (!read_name(r, &owner))
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

	put_text(out, "{\"rrname\":\"");
	put_name(out, &owner);
	put_text(out, "\",\"rrtype\":\"");
	put_text(out, rr_type_text(listed->type, text));
	put_text(out, "\",\"ttl\":");
	put_number(out, ttl);
	put_text(out, ",\"rdata\":");
	listed->rdata = out->pos;
	put_char(out, '"');
	put_rdata(out, listed->type, rdata);
	put_char(out, '"');
	listed->rdata_length = (size_t)(out->pos - listed->rdata);
	put_char(out, '}');
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
put_grouped(struct out *out, const struct listed *all, size_t count)
{
	char text[RR_TEXT_SIZE];

	put_text(out, ",\"grouped\":{");
	for (size_t i = 0; i < count; i++) {
		if (seen_before(all, i))
			continue;
		put_text(out, i > 0 ? ",\"" : "\"");
		put_text(out, rr_type_text(all[i].type, text));
		put_text(out, "\":[");
		put_octets(out, all[i].rdata, all[i].rdata_length);
		for (size_t j = i + 1; j < count; j++) {
			if (all[j].type != all[i].type)
				continue;
			put_char(out, ',');
			put_octets(out, all[j].rdata, all[j].rdata_length);
		}
		put_char(out, ']');
	}
	put_char(out, '}');
}

/* The answer section: as many records as leave room for what has to follow. */
static void
put_answers(struct out *out, struct wire_reader *r, uint16_t count)
{
	struct listed listed[MAX_LISTED];
	size_t n = 0, grouped = 32;

	put_text(out, ",\"answers\":[");
	while (n < count && n < MAX_LISTED) {
		struct out before = *out;

		if (n > 0)
			put_char(out, ',');
		if (!put_answer(out, r, &listed[n])) {
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
	put_char(out, ']');
	put_grouped(out, listed, n);
	if (n < count) {
		put_text(out, ",\"answers_omitted\":");
		put_number(out, count - n);
	}
}

/* Header, RFC 1035 section 4.1.1; the reader stands behind it afterwards. */
static void
put_header(struct out *out, struct wire_reader *r, uint16_t *questions,
    uint16_t *answers)
{
	uint16_t id = wire_read_u16(r), flags = wire_read_u16(r);

	*questions = wire_read_u16(r);
	*answers = wire_read_u16(r);
	wire_skip(r, 4);
	if (r->failed)
		return;
	put_text(out, ",\"id\":");
	put_number(out, id);
	put_bool(out, ",\"qr\":", (flags & 0x8000) != 0);
	put_bool(out, ",\"aa\":", (flags & 0x0400) != 0);
	put_bool(out, ",\"tc\":", (flags & 0x0200) != 0);
	put_bool(out, ",\"rd\":", (flags & 0x0100) != 0);
	put_bool(out, ",\"ra\":", (flags & 0x0080) != 0);
	put_text(out, ",\"opcode\":");
	put_number(out, flags >> 11 & 15);
}

/* The first question; whatever is wrong with it, nothing is printed. */
static void
put_question(struct out *out, struct wire_reader *r)
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
	put_text(out, ",\"rrname\":\"");
	put_name(out, &name);
	put_text(out, "\",\"rrtype\":\"");
	put_text(out, rr_type_text(type, text));
	put_char(out, '"');
}

static void
put_dns(struct out *out, const struct audit_record *record)
{
	bool answer = record->answer_length > 0;
	struct wire_reader r = answer ?
	    wire_reader_over(record->answer, record->answer_length) :
	    wire_reader_over(record->question, record->question_length);
	char text[RR_TEXT_SIZE];
	uint16_t questions, answers;

	put_text(out, "\"dns\":{\"version\":2,\"type\":\"");
	put_text(out, answer ? "answer\"" : "query\"");
	put_header(out, &r, &questions, &answers);
	if (questions > 0)
		put_question(out, &r);
	if (answer) {
		put_text(out, ",\"rcode\":\"");
		put_text(out, rcode_text(record->rcode, text));
		put_char(out, '"');
		if (answers > 0)
			put_answers(out, &r, answers);
	}
	put_char(out, '}');
}

static void
put_id_or_null(struct out *out, const char *key, uint32_t id)
{
	put_text(out, key);
	if (id == UINT32_MAX)
		put_text(out, "null");
	else
		put_number(out, id);
}

static void
put_nfdns(struct out *out, const struct audit_record *record)
{
	put_text(out, ",\"nfdns\":{\"packet_id\":");
	put_number(out, record->packet_id);
	put_text(out, ",\"decision\":\"");
	put_text(out, decide_verdict_text(record->verdict));
	put_text(out, "\",\"reason\":\"");
	put_text(out, decide_reason_text(record->reason));
	put_text(out, "\",\"rule\":null");
	put_id_or_null(out, ",\"uid\":", record->uid);
	put_id_or_null(out, ",\"gid\":", record->gid);
	put_text(out, ",\"generation\":");
	put_number(out, record->generation);
	put_text(out, ",\"spent_us\":");
	put_number(out, record->spent_ns / 1000);
	put_char(out, '.');
	put_digits(out, record->spent_ns % 1000, 3);
	put_char(out, '}');
}

size_t
audit_json(const struct audit_record *record, char *buf, size_t size)
{
	struct out out = { buf, buf + size, false };

	assert(size >= AUDIT_JSON_MAX);
	put_text(&out, "{\"timestamp\":\"");
	put_time(&out, record->time_ns);
	put_text(&out, "\",\"event_type\":\"dns\",\"src_ip\":\"");
	put_address(&out, record->family, record->client);
	put_text(&out, "\",\"src_port\":");
	put_number(&out, record->client_port);
	put_text(&out, ",\"dest_ip\":\"");
	put_address(&out, record->family, record->server);
	put_text(&out, "\",\"dest_port\":");
	put_number(&out, record->server_port);
	put_text(&out, record->stream ? ",\"proto\":\"TCP\",\"ip_v\":" :
	    ",\"proto\":\"UDP\",\"ip_v\":");
	put_char(&out, record->family == AF_INET ? '4' : '6');
	put_char(&out, ',');
	put_dns(&out, record);
	put_nfdns(&out, record);
	put_text(&out, "}\n");
	assert(!out.full);
	return (size_t)(out.pos - buf);
}

size_t
audit_json_lost(uint64_t time_ns, uint64_t records, char *buf, size_t size)
{
	struct out out = { buf, buf + size, false };

	put_text(&out, "{\"timestamp\":\"");
	put_time(&out, time_ns);
	put_text(&out, "\",\"event_type\":\"stats\",\"nfdns\":"
	    "{\"event\":\"lost\",\"records\":");
	put_number(&out, records);
	put_text(&out, "}}\n");
	assert(!out.full);
	return (size_t)(out.pos - buf);
}
