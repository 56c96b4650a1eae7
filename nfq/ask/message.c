/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/ask/message.h"

#include <string.h>

#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

#define FLAGS_OPCODE	0x7800
#define EDNS_DO		0x8000
#define OPT_OCTETS	11	/* of the record, without options */
#define OPTION_HEADER	4

/* Moves behind a name; a pointer must lead back, but not into the header. */
static bool
skip_name(struct wire_reader *r)
{
	size_t start = wire_offset(r);

	for (;;) {
		size_t at = wire_offset(r);
		uint8_t label = wire_read_u8(r);

		if (label == 0 || r->failed)
			break;
		if (label >= 0xc0) {
			size_t to = (size_t)(label & 0x3f) << 8 | wire_read_u8(r);

			return !r->failed && to >= DNS_HEADER && to < at;
		}
		if (label > NAME_MAX_LABEL)
			return false;
		wire_skip(r, label);
	}
	return !r->failed && wire_offset(r) - start <= NAME_MAX_OCTETS;
}

static bool
read_record(struct wire_reader *r, struct message_record *record)
{
	record->owner = wire_offset(r);
	if (!skip_name(r))
		return false;
	record->type = wire_read_u16(r);
	record->class = wire_read_u16(r);
	record->ttl_at = wire_offset(r);
	record->ttl = wire_read_u32(r);
	record->rdlength = wire_read_u16(r);
	record->data = wire_offset(r);
	wire_skip(r, record->rdlength);
	return !r->failed;
}

static bool
take_opt(struct message *m, const struct message_record *record)
{
	struct wire_reader r;

	if (m->edns || m->octets[record->owner] != 0)
		return false;
	m->edns = true;
	m->rcode |= (uint16_t)(record->ttl >> 24 << 4);
	m->dnssec_ok = (record->ttl & EDNS_DO) != 0;
	m->options = m->octets + record->data;
	m->options_length = record->rdlength;
	r = wire_reader_over(m->options, m->options_length);
	while (wire_left(&r) > 0) {
		wire_skip(&r, 2);
		wire_skip(&r, wire_read_u16(&r));
	}
	return !r.failed;
}

static bool
read_section(struct message *m, struct wire_reader *r,
    enum message_section section)
{
	uint16_t all = m->count[section];

	for (uint16_t i = 0; i < all; i++) {
		struct message_record record;

		if (!read_record(r, &record))
			return false;
		if (record.type != TYPE_OPT)
			continue;
		if (section != ADDITIONAL || !take_opt(m, &record))
			return false;
		m->count[section] = i;
		m->end[section] = record.owner;
		for (i++; i < all; i++)		/* they are left out */
			if (!read_record(r, &record) ||
			    record.type == TYPE_OPT)
				return false;
		return true;
	}
	m->end[section] = wire_offset(r);
	return true;
}

bool
message_read(struct message *m, const uint8_t *octets, size_t length)
{
	struct wire_reader r = wire_reader_over(octets, length);

	memset(m, 0, sizeof(*m));
	m->octets = m->options = octets;
	m->length = length;
	m->id = wire_read_u16(&r);
	m->flags = wire_read_u16(&r);
	m->rcode = m->flags & DNS_RCODE_MASK;
	for (int i = 0; i < SECTIONS; i++)
		m->count[i] = wire_read_u16(&r);
	for (uint16_t i = 0; i < m->count[QUESTIONS]; i++) {
		if (!skip_name(&r))
			return false;
		wire_skip(&r, 4);
	}
	if (r.failed)
		return false;
	m->end[QUESTIONS] = wire_offset(&r);
	return read_section(m, &r, ANSWERS) && read_section(m, &r, AUTHORITY) &&
	    read_section(m, &r, ADDITIONAL);
}

void
message_record(const struct message *m, size_t *offset,
    struct message_record *record)
{
	struct wire_reader r = wire_reader_over(m->octets, m->length);

	r.pos += *offset;
	(void)read_record(&r, record);
	*offset = wire_offset(&r);
}

void
message_cut(struct message *m, size_t limit)
{
	struct message_record record;
	size_t end = m->end[QUESTIONS], next = end;
	uint16_t left = 0;

	for (; left < m->count[ANSWERS]; left++) {
		message_record(m, &next, &record);
		if (next > limit)
			break;
		end = next;
	}
	m->count[ANSWERS] = left;
	m->count[AUTHORITY] = m->count[ADDITIONAL] = 0;
	m->end[ANSWERS] = m->end[AUTHORITY] = m->end[ADDITIONAL] = end;
}

bool
message_option(const struct message *m, size_t *offset,
    struct message_option *option)
{
	struct wire_reader r = wire_reader_over(m->options, m->options_length);

	wire_skip(&r, *offset);
	if (wire_left(&r) == 0)
		return false;
	option->code = wire_read_u16(&r);
	option->length = wire_read_u16(&r);
	option->octets = wire_read_octets(&r, option->length);
	*offset = wire_offset(&r);
	return !r.failed;
}

static bool
between_hops(uint16_t code)
{
	return code == OPTION_COOKIE || code == OPTION_KEEPALIVE ||
	    code == OPTION_PADDING;
}

uint16_t
message_ede(const struct message *m)
{
	struct message_option option;
	size_t offset = 0;

	while (m->edns && message_option(m, &offset, &option))
		if (option.code == OPTION_EDE && option.length >= 2)
			return wire_load_u16(option.octets);
	return EDE_NONE;
}

void
message_options(struct message_options *options, const struct message *m)
{
	struct wire_writer w = wire_writer_over(options->octets,
	    sizeof(options->octets));
	struct message_option option;
	size_t offset = 0;

	while (message_option(m, &offset, &option)) {
		if (between_hops(option.code))
			continue;
		wire_write_u16(&w, option.code);
		wire_write_u16(&w, option.length);
		wire_write_octets(&w, option.octets, option.length);
	}
	options->length = w.full ? 0 : wire_written(&w);
}

/* A lower-case octet in the case that the mask has for it. */
static uint8_t
mixed(uint8_t octet, const uint8_t *mask, size_t i)
{
	bool upper = mask != NULL && octet >= 'a' && octet <= 'z' &&
	    (mask[i / 8 % MESSAGE_MASK] >> i % 8 & 1) != 0;

	return upper ? (uint8_t)(octet - 'a' + 'A') : octet;
}

/* Octets of zeros, so that the length tells little of the name. */
static void
write_padding(struct wire_writer *w, size_t octets)
{
	wire_write_u16(w, OPTION_PADDING);
	wire_write_u16(w, (uint16_t)octets);
	while (octets-- > 0)
		wire_write_u8(w, 0);
}

static void
write_opt(struct wire_writer *w, const struct message_ask *ask)
{
	const struct message_options *options = ask->options;
	const size_t length = options != NULL ? options->length : 0;
	const size_t whole = wire_written(w) + OPT_OCTETS + length +
	    OPTION_HEADER;
	const size_t padding = (MESSAGE_PAD - whole % MESSAGE_PAD) %
	    MESSAGE_PAD;

	wire_write_u8(w, 0);
	wire_write_u16(w, TYPE_OPT);
	wire_write_u16(w, MESSAGE_UDP_SIZE);
	wire_write_u16(w, 0);
	wire_write_u16(w, ask->question->edns.dnssec_ok ? EDNS_DO : 0);
	wire_write_u16(w, (uint16_t)(length +
	    (ask->pad ? OPTION_HEADER + padding : 0)));
	if (options != NULL)
		wire_write_octets(w, options->octets, length);
	if (ask->pad)
		write_padding(w, padding);
}

size_t
message_ask(const struct message_ask *ask, uint16_t id,
    uint8_t out[static MESSAGE_ASK_MAX])
{
	const struct question *q = ask->question;
	struct wire_writer w = wire_writer_over(out, MESSAGE_ASK_MAX);

	wire_write_u16(&w, id);
	wire_write_u16(&w, (uint16_t)((q->flags & (DNS_FLAG_RD | DNS_FLAG_CD)) |
	    (ask->ad ? DNS_FLAG_AD : 0)));
	wire_write_u16(&w, 1);
	wire_write_u32(&w, 0);
	wire_write_u16(&w, ask->edns);
	for (size_t i = 0; i < q->name.length; i++)
		wire_write_u8(&w, mixed(q->name.octets[i], ask->mask, i));
	wire_write_u16(&w, q->type);
	wire_write_u16(&w, q->class);
	if (ask->edns)
		write_opt(&w, ask);
	return wire_written(&w);
}

/* Whether octets are the question's name, in the mask's case or, without, any. */
static bool
same_name(const struct dns_name *name, const uint8_t *mask,
    const uint8_t *octets)
{
	struct dns_name lower;

	if (mask == NULL)
		return name_read_lower(&lower, octets, name->length) == 0 &&
		    name_equal(&lower, name);
	for (size_t i = 0; i < name->length; i++)
		if (octets[i] != mixed(name->octets[i], mask, i))
			return false;
	return true;
}

enum message_fit
message_fit(struct message *m, const struct question *question, uint16_t id,
    const uint8_t *mask, const uint8_t *octets, size_t length)
{
	if (length < 4 || wire_load_u16(octets) != id)
		return FIT_OTHER;
	if ((wire_load_u16(octets + 2) & (DNS_FLAG_QR | FLAGS_OPCODE)) !=
	    DNS_FLAG_QR)
		return FIT_OTHER;
	if (!message_read(m, octets, length) || m->count[QUESTIONS] > 1)
		return FIT_BROKEN;
	if (m->count[QUESTIONS] == 1) {
		size_t name = question->name.length;
		const uint8_t *end = m->octets + DNS_HEADER + name;

		if (m->end[QUESTIONS] != DNS_HEADER + name + 4 ||
		    !same_name(&question->name, mask, m->octets + DNS_HEADER) ||
		    wire_load_u16(end) != question->type ||
		    wire_load_u16(end + 2) != question->class)
			return FIT_OTHER;
		return FIT_ANSWER;
	}
	return m->rcode != RCODE_NOERROR && m->count[ANSWERS] == 0 &&
	    m->count[AUTHORITY] == 0 ? FIT_ANSWER : FIT_BROKEN;
}
