/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/json_record.h"

#include <sys/socket.h>
#include <string.h>

#include "resolver/dns/name.h"
#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"

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

bool
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

/* Puts the fields of a record; rdata reads up to the record's end. */
static void
put_fields(struct json_out *out, uint16_t type, struct wire_reader rdata)
{
	const struct rdata_layout *known = rdata_layout(type);
	const char *layout = known->text ? known->fields : NULL;
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

unsigned int
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
