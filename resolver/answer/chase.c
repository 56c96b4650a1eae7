/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nameserver's records move to another place in another message, so names
 * in them cannot stay compressed as they are.  Each is taken apart and written
 * anew: as a pointer, where the same name stands among the last ones written,
 * which keeps a large answer from growing; in full elsewhere.
 */
#include "resolver/answer/chase.h"

#include <errno.h>
#include <string.h>

#include "resolver/dns/name.h"
#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

#define HEADER_OCTETS	12
#define OPT_SIZE	65535	/* a datagram's limit: over TCP it means nothing */
#define FLAG_QR		0x8000
#define FLAG_TC		0x0200
#define FLAG_CD		0x0010
#define FLAGS_OPCODE	0x7800
#define FLAGS_RCODE	0x000f
#define EDNS_DO		0x8000
#define POINTER		0xc000	/* RFC 1035 section 4.1.4 */
#define POINTER_MAX	0x3fff	/* how far one reaches */
#define RECENT		16	/* names that a pointer may lead to ... */
#define LASTING		2	/* ... of which the first, asked and target, stay */
/*
 * Labels and pointers that a message may have read in all.  Every name of two
 * octets can lead to 127 labels, and 64 KiB hold 9,000 such names: unbounded,
 * one answer costs as much as ten thousand questions.  The largest answer has
 * 4,600 records: 14 for each.
 */
#define STEPS_MAX	65536

/* An answer while it is joined. */
struct joint {
	struct wire_reader in;
	struct wire_writer out;
	uint16_t recent[RECENT];	/* offsets in out; 0: none */
	unsigned int next;
	uint16_t rcode;
	bool opt;			/* it was there */
	unsigned int steps;		/* labels and pointers that may still be read */
};

static void
note_name(struct joint *j, size_t offset)
{
	if (offset > POINTER_MAX)
		return;
	j->recent[j->next++] = (uint16_t)offset;
	if (j->next == RECENT)
		j->next = LASTING;
}

/* Where the name stands among the last ones that were written, or 0. */
static uint16_t
find_name(const struct joint *j, const struct dns_name *name)
{
	size_t written = wire_written(&j->out);

	for (unsigned int i = 0; i < RECENT; i++) {
		size_t offset = j->recent[i];

		if (offset != 0 && offset + name->length <= written &&
		    memcmp(j->out.base + offset, name->octets,
		    name->length) == 0)
			return (uint16_t)offset;
	}
	return 0;
}

static void
write_name(struct joint *j, const struct dns_name *name, bool plain)
{
	uint16_t offset = plain || name->length < 3 ? 0 : find_name(j, name);

	if (offset != 0) {
		wire_write_u16(&j->out, POINTER | offset);
		return;
	}
	if (name->length >= 3)
		note_name(j, wire_written(&j->out));
	wire_write_octets(&j->out, name->octets, name->length);
}

/* Data of rdlength octets, which are there. */
static bool
copy_data(struct joint *j, uint16_t type, size_t rdlength)
{
	const struct rdata_layout *layout = rdata_layout(type);
	const uint8_t *end = j->in.pos + rdlength;
	struct dns_name name;

	for (const char *field = layout->fields; *field != '\0'; field++) {
		size_t left = (size_t)(end - j->in.pos);
		size_t size = *field == 'R' || *field == 'T' ? left :
		    rdata_field_octets(*field);

		if (*field == 'N') {
			if (!name_read_compressed(&name, &j->in, end,
			    &j->steps))
				return false;
			write_name(j, &name, layout->plain);
			continue;
		}
		if (size > left)
			return false;
		wire_write_octets(&j->out, wire_read_octets(&j->in, size),
		    size);
	}
	return j->in.pos == end;
}

/* What there is of a record behind its owner. */
struct fixed {
	uint16_t type, class;
	uint32_t ttl;
	uint16_t rdlength;
};

static bool
read_fixed(struct wire_reader *r, struct fixed *fixed)
{
	fixed->type = wire_read_u16(r);
	fixed->class = wire_read_u16(r);
	fixed->ttl = wire_read_u32(r);
	fixed->rdlength = wire_read_u16(r);
	return !r->failed && wire_left(r) >= fixed->rdlength;
}

/* Its upper bits of the code are all that concerns the client. */
static bool
take_opt(struct joint *j, const struct dns_name *owner,
    const struct fixed *fixed, bool additional)
{
	if (!additional || j->opt || owner->length != 1)
		return false;
	j->opt = true;
	j->rcode |= (uint16_t)(fixed->ttl >> 24 << 4);
	wire_skip(&j->in, fixed->rdlength);
	return true;
}

/* Counts up *count if there was room.  False: malformed. */
static bool
copy_record(struct joint *j, bool additional, uint16_t *count)
{
	struct dns_name owner;
	struct fixed fixed;
	uint8_t *head;
	size_t start;

	if (!name_read_compressed(&owner, &j->in, j->in.end, &j->steps) ||
	    !read_fixed(&j->in, &fixed))
		return false;
	if (fixed.type == TYPE_OPT)
		return take_opt(j, &owner, &fixed, additional);
	if (fixed.type == TYPE_TSIG) {
		wire_skip(&j->in, fixed.rdlength);
		return additional;
	}
	write_name(j, &owner, false);
	head = wire_reserve(&j->out, 10);
	start = wire_written(&j->out);
	if (!copy_data(j, fixed.type, fixed.rdlength))
		return false;
	if (j->out.full)
		return true;
	wire_store_u16(head, fixed.type);
	wire_store_u16(head + 2, fixed.class);
	wire_store_u32(head + 4, fixed.ttl);
	wire_store_u16(head + 8, (uint16_t)(wire_written(&j->out) - start));
	(*count)++;
	return true;
}

/* Header and question; the records of each section are told. */
static bool
read_front(struct joint *j, uint16_t *flags, uint16_t counts[static 3])
{
	struct dns_name name;
	uint16_t questions;

	wire_skip(&j->in, 2);
	*flags = wire_read_u16(&j->in);
	questions = wire_read_u16(&j->in);
	for (int i = 0; i < 3; i++)
		counts[i] = wire_read_u16(&j->in);
	if (j->in.failed || !(*flags & FLAG_QR) || questions > 1)
		return false;
	if (questions == 1) {
		if (!name_read_compressed(&name, &j->in, j->in.end, &j->steps))
			return false;
		wire_skip(&j->in, 4);
	}
	j->rcode = *flags & FLAGS_RCODE;
	return !j->in.failed;
}

static bool
copy_sections(struct joint *j, const uint16_t counts[static 3],
    uint16_t copied[static 3])
{
	for (int i = 0; i < 3; i++) {
		for (unsigned int n = 0; n < counts[i] && !j->out.full; n++) {
			if (!copy_record(j, i == 2, &copied[i]))
				return false;
		}
	}
	return true;
}

/* Header and OPT of the chain's message, with what has come of it. */
static void
finish(const struct chase *chase, struct joint *j, uint16_t reply_flags,
    const uint16_t copied[static 3])
{
	uint8_t *out = j->out.base;
	uint16_t flags = wire_load_u16(out + 2);

	flags = (uint16_t)((flags & ~FLAGS_RCODE) |
	    (j->rcode & FLAGS_RCODE) | (reply_flags & FLAG_TC));
	wire_store_u16(out + 2, flags);
	for (size_t i = 0; i < 3; i++) {
		uint8_t *count = out + 6 + 2 * i;

		wire_store_u16(count, (uint16_t)(wire_load_u16(count) +
		    copied[i]));
	}
	if (chase->opt == 0)
		return;
	memcpy(j->out.pos, chase->chain + chase->length - chase->opt,
	    chase->opt);
	j->out.pos[5] = (uint8_t)(j->rcode >> 4);
	j->out.pos += chase->opt;
}

int
chase_join(const struct chase *chase, const uint8_t *message, size_t length,
    uint8_t *out, size_t size, size_t *out_length)
{
	struct joint j = {
		.in = wire_reader_over(message, length),
		.out = wire_writer_over(out, size - chase->opt),
		.steps = STEPS_MAX,
	};
	uint16_t flags, counts[3], copied[3] = { 0 };

	wire_write_octets(&j.out, chase->chain, chase->length - chase->opt);
	note_name(&j, HEADER_OCTETS);
	note_name(&j, chase->target);
	if (!read_front(&j, &flags, counts) ||
	    !copy_sections(&j, counts, copied))
		return -EBADMSG;
	if (j.out.full)
		return -EMSGSIZE;
	/* A code that the client has no way to be told. */
	if (j.rcode > FLAGS_RCODE && chase->opt == 0)
		j.rcode = RCODE_SERVFAIL;
	finish(chase, &j, flags, copied);
	*out_length = wire_written(&j.out);
	return 0;
}

size_t
chase_fail(const struct chase *chase, uint8_t *out)
{
	memcpy(out, chase->chain, chase->length);
	out[3] = (uint8_t)((out[3] & ~FLAGS_RCODE) | RCODE_SERVFAIL);
	return chase->length;
}

size_t
chase_question(const struct chase *chase, const struct question *asked,
    uint16_t id, uint8_t buf[static CHASE_QUESTION_MAX])
{
	struct wire_writer w = wire_writer_over(buf, CHASE_QUESTION_MAX);
	const uint8_t *target = chase->chain + chase->target, *end = target;

	while (*end != 0)
		end += 1u + *end;
	wire_write_u16(&w, id);
	wire_write_u16(&w, asked->flags & (QUESTION_RD | FLAG_CD));
	wire_write_u32(&w, 1u << 16);
	wire_write_u32(&w, chase->opt > 0);
	wire_write_octets(&w, target, (size_t)(end + 1 - target));
	wire_write_u16(&w, asked->type);
	wire_write_u16(&w, CLASS_IN);
	if (chase->opt > 0) {
		wire_write_u8(&w, 0);
		wire_write_u16(&w, TYPE_OPT);
		wire_write_u16(&w, OPT_SIZE);
		wire_write_u32(&w, asked->edns.dnssec_ok ? EDNS_DO : 0);
		wire_write_u16(&w, 0);
	}
	return wire_written(&w);
}
