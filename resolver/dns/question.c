/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parser of what clients send.  What the header alone decides is decided
 * first, in the order of the octets; then the question; then every record
 * that the counts promise, of which only OPT, TSIG and SIG(0) mean anything.
 */
#include "resolver/dns/question.h"

#include <errno.h>
#include <string.h>

#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

#define HEADER_OCTETS	12
#define FIXED_OCTETS	10	/* of a record, behind its owner */
#define FLAGS_OPCODE	0x7800
#define POINTER_BITS	0xc0	/* RFC 1035 section 4.1.4 */

/*
 * What a message may cost, in steps that take about the same time: everybody
 * waits while one is parsed.  It is enough for the longest name with an OPT and
 * a TSIG behind it, and for 16 records behind a short one, which is more than
 * any question has use for.  tests/fuzz/test_cost holds the whole to 20 times
 * what a usual question costs.
 */
#define MAX_STEPS	180
#define LABEL_STEPS	2	/* of an owner's name; a step in the question's */
#define POINTER_STEPS	3
#define RECORD_STEPS	5
#define OPTION_STEPS	2
#define MAX_POINTERS	16	/* of a question's name */

struct parser {
	struct wire_reader reader;
	unsigned int steps_left;
	uint8_t name_length;	/* of the question's name */
	unsigned int opts;	/* seen so far */
	bool is_signed;
};

/* Records behind the question. */
struct counts {
	unsigned int before;	/* the additional section: in the other two */
	unsigned int all;
};

/* False when the message costs more than it may. */
static inline bool
take_steps(struct parser *p, unsigned int steps)
{
	if (p->steps_left < steps)
		return false;
	p->steps_left -= steps;
	return true;
}

/*
 * Moves behind an owner name, having followed its pointers to the end: each
 * must lead to before the run of labels that it ends, and the whole must be
 * within 255 octets.  Most lead to the question's name, which was read already.
 */
static bool
skip_owner(struct parser *p)
{
	struct wire_reader *r = &p->reader;
	const uint8_t *at = r->pos, *run = at, *behind = NULL;
	size_t length = 1;

	for (;;) {
		size_t left = (size_t)(r->end - at), target;

		if (left == 0)
			return false;
		if (*at == 0)
			break;
		if (*at <= NAME_MAX_LABEL) {
			length += 1u + *at;
			if (length > NAME_MAX_OCTETS || left <= 1u + *at ||
			    !take_steps(p, LABEL_STEPS))
				return false;
			at += 1u + *at;
			continue;
		}
		if (*at < POINTER_BITS || left < 2 ||
		    !take_steps(p, POINTER_STEPS))
			return false;
		target = (size_t)(*at & ~POINTER_BITS) << 8 | at[1];
		if (target < HEADER_OCTETS || target >= (size_t)(run - r->base))
			return false;
		if (behind == NULL)
			behind = at + 2;
		if (target == HEADER_OCTETS) {
			r->pos = behind;
			return length + p->name_length - 1u <= NAME_MAX_OCTETS;
		}
		run = at = r->base + target;
	}
	r->pos = behind != NULL ? behind : at + 1;
	return true;
}

/*
 * Notes the options that an answer may have to have, too.  False unless the
 * octets are whole options and nothing else (RFC 6891 section 6.1.2).  Where
 * there are more than a message may cost, the rest is ignored as unknown
 * options are: they are within the record, whatever they say.
 */
static bool
take_options(struct parser *p, struct edns *edns, const uint8_t *octets,
    size_t length)
{
	while (length > 0 && take_steps(p, OPTION_STEPS)) {
		unsigned int code;
		size_t option;

		if (length < 4)
			return false;
		code = (unsigned int)octets[0] << 8 | octets[1];
		option = 4 + ((size_t)octets[2] << 8 | octets[3]);
		if (option > length)
			return false;
		edns->keepalive |= code == OPTION_KEEPALIVE;
		edns->padding |= code == OPTION_PADDING;
		octets += option;
		length -= option;
	}
	return true;
}

/* The fixed part of a record, and its data. */
struct record {
	bool root_owner;
	uint16_t type;
	uint16_t class;
	uint32_t ttl;
	uint16_t rdlength;
	const uint8_t *rdata;
};

static bool
read_record(struct parser *p, struct record *rr)
{
	struct wire_reader *r = &p->reader;
	const uint8_t *owner = r->pos, *fixed;

	if (!skip_owner(p))
		return false;
	fixed = wire_read_octets(r, FIXED_OCTETS);
	if (fixed == NULL)
		return false;
	rr->root_owner = *owner == 0;
	rr->type = wire_load_u16(fixed);
	rr->class = wire_load_u16(fixed + 2);
	rr->ttl = (uint32_t)wire_load_u16(fixed + 4) << 16 |
	    wire_load_u16(fixed + 6);
	rr->rdlength = wire_load_u16(fixed + 8);
	rr->rdata = wire_read_octets(r, rr->rdlength);
	return rr->rdata != NULL;
}

static bool
take_opt(struct parser *p, struct edns *edns, const struct record *rr)
{
	if (!rr->root_owner)
		return false;
	edns->present = true;
	edns->keepalive = edns->padding = false;
	edns->udp_size = rr->class;
	edns->version = (uint8_t)(rr->ttl >> 16);
	edns->dnssec_ok = (rr->ttl & 0x8000) != 0;
	/* What a later version's data look like, nobody knows. */
	return edns->version != 0 ||
	    take_options(p, edns, rr->rdata, rr->rdlength);
}

/* Reads one record; false if the message is malformed by it. */
static bool
take_record(struct parser *p, struct edns *edns, bool additional, bool last)
{
	struct record rr;

	if (!take_steps(p, RECORD_STEPS) || !read_record(p, &rr))
		return false;
	switch (rr.type) {
	case TYPE_OPT:
		p->opts++;
		return additional && take_opt(p, edns, &rr);
	case TYPE_TSIG:		/* RFC 8945 section 5.1: the last or wrong */
		p->is_signed = true;
		return additional && last;
	case TYPE_SIG:		/* type covered 0: RFC 2931 section 3 */
		if (rr.rdlength >= 2 && rr.rdata[0] == 0 && rr.rdata[1] == 0)
			p->is_signed = true;
		return true;
	default:
		return true;
	}
}

/*
 * The form that the records behind the question make of a message.  Not
 * inlined: many questions have none.
 */
static enum question_form __attribute__((noinline))
take_records(struct question *q, struct wire_reader reader,
    const struct counts *counts)
{
	struct parser p = { .reader = reader, .steps_left = MAX_STEPS - q->name.labels,
		.name_length = q->name.length };

	for (unsigned int n = 0; n < counts->all; n++) {
		if (!take_record(&p, &q->edns, n >= counts->before,
		    n + 1 == counts->all))
			return QUESTION_MALFORMED;
	}
	if (p.is_signed)
		return QUESTION_SIGNED;
	return p.opts < 2 ? QUESTION_PLAIN : QUESTION_TWO_OPT;
}

/*
 * A name whose pointers may lead to anywhere, header and octets behind the
 * question included.  *behind is what follows it.  False: it has none, or too
 * many of them.
 */
static bool
read_pointed(struct dns_name *name, const struct wire_reader *r,
    const uint8_t **behind)
{
	const size_t size = (size_t)(r->end - r->base);
	size_t at = wire_offset(r), length = 0, octet;
	unsigned int pointers = 0, labels = 0;

	if (at >= size)
		return false;
	while ((octet = r->base[at]) != 0) {
		if (octet >= POINTER_BITS) {
			if (at + 1 >= size || pointers == MAX_POINTERS)
				return false;
			if (pointers++ == 0)
				*behind = r->base + at + 2;
			at = (octet & ~(size_t)POINTER_BITS) << 8 |
			    r->base[at + 1];
			if (at >= size)
				return false;
			continue;
		}
		/* One more octet follows each label.  One branch: it has to cost little. */
		if ((octet > NAME_MAX_LABEL) | (size - at <= octet + 1) |
		    (length + octet + 2 > NAME_MAX_OCTETS))
			return false;
		memcpy(name->octets + length, r->base + at, octet + 1);
		length += octet + 1;
		at += octet + 1;
		labels++;
	}
	if (pointers == 0)
		return false;
	name->octets[length] = 0;
	name->length = (uint8_t)(length + 1);
	name->labels = (uint8_t)labels;
	name_lower(name);
	return true;
}

/* The octets of type and class. */
static void
take_type(struct question *q, const uint8_t *octets)
{
	q->type = wire_load_u16(octets);
	q->class = wire_load_u16(octets + 2);
	q->readable = true;
}

/* There is none that anybody could read. */
static enum question_form
take_none(struct question *q, enum question_form form)
{
	q->readable = false;
	q->wire = NULL;
	q->wire_length = 0;
	return form;
}

/* A question that only a nameserver which follows pointers would find. */
static void __attribute__((noinline))
take_pointed(struct question *q, struct wire_reader r)
{
	const uint8_t *behind = NULL;

	(void)take_none(q, QUESTION_NONE);
	if (read_pointed(&q->name, &r, &behind) && r.end - behind >= 4)
		take_type(q, behind);
}

/* The question section; what follows it is at the reader's position then. */
static inline bool
take_question(struct question *q, struct wire_reader *r)
{
	const int error = name_read_lower(&q->name, r->pos, wire_left(r));
	const uint8_t *octets;

	if (error != 0) {
		if (error == -ELOOP)
			take_pointed(q, *r);
		else
			(void)take_none(q, QUESTION_NONE);
		return false;
	}
	octets = wire_read_octets(r, q->name.length + 4u);
	if (octets == NULL) {
		(void)take_none(q, QUESTION_NONE);
		return false;
	}
	q->wire = octets;
	q->wire_length = q->name.length + 4u;
	take_type(q, octets + q->name.length);
	return true;
}

/* A form that the header decides: its first question is of use to policies. */
static enum question_form __attribute__((noinline))
take_first(struct question *q, struct wire_reader r, uint16_t questions,
    enum question_form form)
{
	(void)take_none(q, form);
	if (questions > 0)
		(void)take_question(q, &r);
	if (form != QUESTION_OPCODE)
		q->wire_length = 0;
	return form;
}

static enum question_form
parse_message(struct question *q, struct wire_reader *r)
{
	const uint8_t *header = wire_read_octets(r, HEADER_OCTETS);
	struct counts counts;
	uint16_t questions;
	enum question_form form = QUESTION_PLAIN;

	if (header == NULL)
		return take_none(q, QUESTION_MALFORMED);
	q->id = wire_load_u16(header);
	q->flags = wire_load_u16(header + 2);
	questions = wire_load_u16(header + 4);
	counts.before = wire_load_u16(header + 6);
	counts.before += wire_load_u16(header + 8);
	counts.all = counts.before + wire_load_u16(header + 10);
	if (q->flags & QUESTION_QR)
		return take_first(q, *r, questions, QUESTION_RESPONSE);
	if (q->flags & FLAGS_OPCODE)
		return take_first(q, *r, questions, QUESTION_OPCODE);
	if (questions == 0)
		return take_none(q, QUESTION_NONE);
	if (questions > 1)
		return take_first(q, *r, questions, QUESTION_MANY);
	/* The header promises one question. */
	if (!take_question(q, r))
		return QUESTION_MALFORMED;
	if (counts.all > 0)
		form = take_records(q, *r, &counts);
	if (form == QUESTION_MALFORMED || form == QUESTION_SIGNED ||
	    q->class == CLASS_IN)
		return form;
	/* Two OPTs are an error, but other classes are not ours to judge. */
	return q->class == CLASS_CH && form == QUESTION_PLAIN ? QUESTION_CHAOS :
	    QUESTION_CLASS;
}

void
question_parse(struct question *q, const uint8_t *message, size_t length)
{
	struct wire_reader reader = wire_reader_over(message, length);

	/* All of it: a caller's question may hold the one before. */
	q->edns = (struct edns){ .present = false };
	q->form = parse_message(q, &reader);
	/* Of two OPTs, which one would it be?  And who believes a bad one? */
	if (q->form != QUESTION_PLAIN && q->form != QUESTION_CHAOS)
		q->edns.present = false;
}
