/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sections are written front to back, until one RRset of the answer does not
 * fit whole; room for the OPT is set aside first, the header is filled in last.
 *
 * Owners are always compressed: the first is the question's name at offset
 * 12, the next ones the targets of the CNAMEs before them, which all lie far
 * below the 16383 that a pointer reaches: 16 CNAMEs of 267 octets at most.
 */
#include "resolver/answer/answer.h"

#include <string.h>

#include "resolver/answer/draft.h"
#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

#define HEADER_OCTETS	12
#define OPT_OCTETS	11
#define UDP_FLOOR	512	/* RFC 1035 section 4.2.1 */
#define STREAM_MAX	65535	/* RFC 1035 section 4.2.2 */

#define FLAG_QR 0x8000
#define FLAG_AA 0x0400
#define FLAG_TC 0x0200
#define FLAG_RA 0x0080
#define FLAG_CD 0x0010
#define RCODE_HEADER_BITS 0x000f
#define EDNS_DO 0x8000
#define POINTER 0xc000

/* The SOA's timers (RFC 1035 section 3.3.13): nobody transfers the mesh. */
#define SOA_SERIAL	1
#define SOA_REFRESH	7200
#define SOA_RETRY	1800
#define SOA_EXPIRE	86400
#define SOA_TIMERS	20	/* octets of these, and of the minimum TTL */

/* Everything of a record before its rdata, in as few words as it goes into. */
struct head {
	uint64_t front;
	uint32_t back;
};

static inline struct head
head_of(size_t owner, uint16_t type, uint16_t class, uint32_t ttl,
    size_t rdlength)
{
	return (struct head){
		.front = (uint64_t)(POINTER | owner) << 48 |
		    (uint64_t)type << 32 | (uint64_t)class << 16 | ttl >> 16,
		.back = ttl << 16 | (uint32_t)rdlength,
	};
}

static inline void
store_head(uint8_t p[static RECORD_OCTETS], struct head head)
{
	wire_store_u64(p, head.front);
	wire_store_u32(p + 8, head.back);
}

static inline void
fdstore_record(uint8_t p[static RECORD_OCTETS], size_t owner, uint16_t type,
    uint16_t class, uint32_t ttl, size_t rdlength)
{
	store_head(p, head_of(owner, type, class, ttl, rdlength));
}

/* IPv4's length is usual, and what is known beforehand needs no call. */
static inline void
copy_address(uint8_t *dst, const uint8_t *src, size_t length)
{
	if (length == 4)
		memcpy(dst, src, 4);
	else
		memcpy(dst, src, length);
}

/*
 * "left" records of one length, at p, which has room for them.  Inline, though
 * it stands in two places: nearly every answer goes through the first.
 */
static inline void __attribute__((always_inline))
store_fixed(const struct draft *d, const struct rrset *rrset, size_t left,
    uint8_t *p)
{
	const size_t rdlength = rrset->rdlength;
	const uint8_t *end = rrset->rdata + rrset->count * rdlength;
	const uint8_t *next = rrset->rdata;
	const struct head head = head_of(d->owner, rrset->type, CLASS_IN,
	    rrset->ttl, rdlength);

	if (rrset->count > 1)
		next += d->plan->rotation % rrset->count * rdlength;
	for (; left > 0; left--) {
		store_head(p, head);
		copy_address(p + RECORD_OCTETS, next, rdlength);
		p += RECORD_OCTETS + rdlength;
		next += rdlength;
		if (next == end)
			next = rrset->rdata;
	}
}

bool
answer_write_fixed(struct draft *d, const struct rrset *rrset)
{
	uint8_t *p = wire_reserve(&d->sections,
	    rrset->count * (size_t)(RECORD_OCTETS + rrset->rdlength));

	if (p == NULL)
		return false;
	store_fixed(d, rrset, rrset->count, p);
	return true;
}

/* As many as there is room for.  Returns how many. */
static uint32_t __attribute__((noinline))
write_fixed_part(struct draft *d, const struct rrset *rrset)
{
	const size_t each = RECORD_OCTETS + rrset->rdlength;
	size_t count = (size_t)(d->sections.end - d->sections.pos) / each;

	store_fixed(d, rrset, count, d->sections.pos);
	d->sections.pos += count * each;
	return (uint32_t)count;
}

static size_t
counted_length(const uint8_t *rdata)
{
	return (size_t)rdata[0] << 8 | rdata[1];
}

/*
 * The part of a target that is the zone's name gets the case of the question:
 * a client that mixes it to recognise its answers finds its own octets again.
 */
static void
echo_case(const struct draft *d, uint8_t *rdata, size_t length)
{
	const struct question *q = d->plan->question;
	const struct entry *entry = &d->plan->lookup->entry;
	size_t offset, zone;

	if (!entry->in_zone)
		return;
	offset = name_suffix_offset(&q->name, entry->zone_labels);
	zone = q->name.length - offset;
	if (zone <= length && memcmp(rdata + length - zone,
	    q->name.octets + offset, zone) == 0)
		memcpy(rdata + length - zone, q->wire + offset, zone);
}

/* One record; false, and nothing written, if it does not fit. */
static bool
write_record(struct draft *d, const struct rrset *rrset, const uint8_t *rdata,
    size_t length)
{
	uint8_t *p = wire_reserve(&d->sections, RECORD_OCTETS + length);

	if (p == NULL)
		return false;
	fdstore_record(p, d->owner, rrset->type, CLASS_IN, rrset->ttl, length);
	memcpy(p + RECORD_OCTETS, rdata, length);
	if (answer_leads_on(rrset->type))
		echo_case(d, p + RECORD_OCTETS, length);
	return true;
}

/*
 * Records each behind its own length, without those for which there is no room.
 * Returns how many were written.
 */
static uint32_t
write_counted(struct draft *d, const struct rrset *rrset)
{
	const uint8_t *rdata = rrset->rdata;
	uint32_t next = 0, first = 0, left, written = 0;

	if (rrset->count > 1)
		first = d->plan->rotation % rrset->count;
	for (; next < first; next++)
		rdata += 2 + counted_length(rdata);
	for (left = rrset->count; left > 0; left--) {
		size_t length = counted_length(rdata);

		if (write_record(d, rrset, rdata + 2, length))
			written++;
		else
			d->sections.full = false;
		rdata += 2 + length;
		if (++next == rrset->count) {
			next = 0;
			rdata = rrset->rdata;
		}
	}
	return written;
}

/*
 * A whole RRset, or as many of its records as fit, and TC.  RFC 2181 section 9
 * leaves the choice.  A client that never asks over TCP (musl before 1.2.4,
 * busybox) has no other addresses than these, and rotation gives it others each
 * time.  The writer is full then, so that nothing follows what is missing.
 */
static bool
write_rrset(struct draft *d, const struct rrset *rrset)
{
	const uint8_t *start = d->sections.pos;
	uint32_t written = rrset->count;

	if (rrset->rdlength == 0)
		written = write_counted(d, rrset);
	else if (!answer_write_fixed(d, rrset))
		written = write_fixed_part(d, rrset);
	d->answers += written;
	if (written < rrset->count) {
		d->truncated = true;
		d->sections.full = true;
		return false;
	}
	d->last = (size_t)(start - d->sections.base);
	return true;
}

/*
 * The chain in order.  What follows a CNAME belongs to its target, which was
 * just written as that record's rdata.
 */
static void
write_chain(struct draft *d)
{
	const struct lookup *lookup = d->plan->lookup;
	size_t i;

	for (i = 0; i < lookup->chain_length; i++) {
		const struct rrset *rrset = &lookup->chain[i];

		if (!write_rrset(d, rrset))
			return;
		if (rrset->type != TYPE_CNAME)
			continue;
		d->owner_length = rrset->rdlength != 0 ? rrset->rdlength :
		    counted_length(rrset->rdata);
		d->owner = wire_written(&d->sections) - d->owner_length;
	}
}

/*
 * The CNAME from NAME.SEARCH, as it was asked for, to the target.  That is the
 * front of the question's name, which no pointer can express.
 */
static bool
write_search_cname(struct draft *d)
{
	static const struct dns_name root = { .length = 1 };
	const struct question *q = d->plan->question;
	const struct lookup *lookup = d->plan->lookup;
	const struct dns_name *behind = lookup->entry.target_search;
	size_t front = lookup->entry.target_length, length;
	uint8_t *p;

	if (behind == NULL)
		behind = &root;
	length = front + behind->length;
	p = wire_reserve(&d->sections, RECORD_OCTETS + length);
	if (p == NULL) {
		d->truncated = true;
		return false;
	}
	fdstore_record(
	    p, d->owner, TYPE_CNAME, CLASS_IN, lookup->chain[0].ttl, length);
	memcpy(p + RECORD_OCTETS, q->wire, front);
	memcpy(p + RECORD_OCTETS + front, behind->octets, behind->length);
	d->owner = wire_written(&d->sections) - length;
	d->owner_length = length;
	d->answers++;
	return true;
}

static void
write_records(struct draft *d)
{
	if (d->plan->lookup->entry.kind == ENTRY_SEARCH &&
	    !write_search_cname(d))
		return;
	write_chain(d);
}

/* A name that is a label or two in front of the owner, if they fit there. */
static inline void
write_below_owner(struct draft *d, const char *front, size_t length)
{
	if (length + d->owner_length <= NAME_MAX_OCTETS)
		wire_write_octets(&d->sections, front, length);
	wire_write_u16(&d->sections, (uint16_t)(POINTER | d->owner));
}

/* The SOA of the current owner: RFC 2308 section 3 on its TTL and minimum. */
static bool
write_soa(struct draft *d)
{
	static const char mname[] = "\2ns\3dns";
	static const char rname[] = "\12hostmaster";
	struct wire_writer *w = &d->sections;
	uint32_t ttl = d->plan->negative_ttl;
	uint8_t *start = w->pos, *p = wire_reserve(w, RECORD_OCTETS), *timers;

	write_below_owner(d, mname, sizeof(mname) - 1);
	write_below_owner(d, rname, sizeof(rname) - 1);
	timers = wire_reserve(w, SOA_TIMERS);
	if (p == NULL || timers == NULL) {
		w->pos = start;
		return false;
	}
	wire_store_u32(timers, SOA_SERIAL);
	wire_store_u32(timers + 4, SOA_REFRESH);
	wire_store_u32(timers + 8, SOA_RETRY);
	wire_store_u32(timers + 12, SOA_EXPIRE);
	wire_store_u32(timers + 16, ttl);
	fdstore_record(p, d->owner, TYPE_SOA, CLASS_IN, ttl,
	    (size_t)(w->pos - p) - RECORD_OCTETS);
	return true;
}

/* From the name asked for to the apex of its zone, if it lies in one. */
static void
move_owner_to_zone(struct draft *d)
{
	const struct entry *entry = &d->plan->lookup->entry;
	const struct dns_name *name = &d->plan->question->name;
	size_t offset;

	if (!entry->in_zone)
		return;
	offset = name_suffix_offset(name, entry->zone_labels);
	d->owner = HEADER_OCTETS + offset;
	d->owner_length = name->length - offset;
}

/*
 * From the current owner to the last "labels" of its name.  False if it is no
 * name, however that got there: the walk ends where the owner does.
 */
static bool
move_owner_up(struct draft *d, unsigned int labels)
{
	const uint8_t *octets = d->sections.base + d->owner;
	unsigned int count = 0;
	size_t at;

	for (at = 0; at < d->owner_length && octets[at] != 0;
	    at += 1u + octets[at])
		count++;
	if (at >= d->owner_length)
		return false;
	for (at = 0; count > labels; count--)
		at += 1u + octets[at];
	d->owner += at;
	d->owner_length -= at;
	return true;
}

/* The SOA of a zone file: as it stands there, but for the TTL (RFC 2308). */
static bool
write_file_soa(struct draft *d)
{
	const struct lookup *lookup = d->plan->lookup;
	size_t length = counted_length(lookup->soa.rdata);
	const uint8_t *rdata = lookup->soa.rdata + 2;
	const uint8_t *minimum = rdata + length - 4;
	uint32_t ttl = (uint32_t)counted_length(minimum) << 16 |
	    (uint32_t)counted_length(minimum + 2);
	uint8_t *p;

	if (!move_owner_up(d, lookup->soa_labels))
		return false;
	p = wire_reserve(&d->sections, RECORD_OCTETS + length);
	if (p == NULL)
		return false;
	fdstore_record(p, d->owner, TYPE_SOA, CLASS_IN,
	    ttl < lookup->soa.ttl ? ttl : lookup->soa.ttl, length);
	memcpy(p + RECORD_OCTETS, rdata, length);
	return true;
}

/*
 * No such data at the end of the chain: the SOA is that of the name that
 * lacks it.  A search name of that kind is simply a name without the data;
 * its CNAME exists only together with records to lead to.
 */
static void
write_negative(struct draft *d)
{
	if (d->plan->lookup->entry.kind != ENTRY_SEARCH)
		write_chain(d);
	if (d->plan->lookup->has_soa) {
		d->authorities += write_file_soa(d);
		return;
	}
	if (d->answers == 0)
		move_owner_to_zone(d);
	else if (d->plan->lookup->target_unknown)
		move_owner_up(d, d->plan->lookup->target_zone_labels);
	if (write_soa(d))
		d->authorities++;
}

static void
write_zone_soa(struct draft *d)
{
	move_owner_to_zone(d);
	if (write_soa(d))
		d->answers++;
	else
		d->truncated = true;
}

/* One TXT record in class CH: strings of up to 255 octets, at least one. */
static void
write_text(struct draft *d)
{
	const char *text = d->plan->text;
	size_t left = strlen(text);
	size_t strings = left == 0 ? 1 : (left + 254) / 255;
	struct wire_writer *w = &d->sections;
	uint8_t *p = wire_reserve(w, RECORD_OCTETS + strings + left);

	if (p == NULL) {
		d->truncated = true;
		return;
	}
	fdstore_record(p, d->owner, TYPE_TXT, CLASS_CH, 0, strings + left);
	p += RECORD_OCTETS;
	for (; strings > 0; strings--) {
		size_t n = left < 255 ? left : 255;

		*p++ = (uint8_t)n;
		memcpy(p, text, n);
		p += n;
		text += n;
		left -= n;
	}
	d->answers++;
}

/* Whether the answer is all there and ends with the names of hosts. */
static bool
leads_on(const struct draft *d)
{
	const struct lookup *lookup = d->plan->lookup;

	return lookup->has_type && !d->truncated &&
	       answer_leads_on(lookup->chain[lookup->chain_length - 1].type);
}

static void
write_sections(struct draft *d)
{
	switch (d->plan->content) {
	case ANSWER_RECORDS:
		write_records(d);
		if (leads_on(d))
			answer_write_additional(d);
		break;
	case ANSWER_CHAIN:
		write_records(d);
		d->truncated |= !d->plan->stream;
		break;
	case ANSWER_NEGATIVE:
		write_negative(d);
		break;
	case ANSWER_TEXT:
		write_text(d);
		break;
	case ANSWER_SOA:
		write_zone_soa(d);
		break;
	case ANSWER_EMPTY:
		break;
	}
}

static uint16_t
own_udp_size(const struct answer_plan *plan)
{
	return plan->udp_size > UDP_FLOOR ? plan->udp_size : UDP_FLOOR;
}

/* How long the whole answer may become. */
static size_t
answer_limit(const struct answer_plan *plan, size_t size)
{
	const struct edns *edns = &plan->question->edns;
	size_t limit = UDP_FLOOR;

	if (plan->stream)
		return size < STREAM_MAX ? size : STREAM_MAX;
	if (edns->present && edns->udp_size > limit)
		limit = edns->udp_size;
	if (limit > own_udp_size(plan))
		limit = own_udp_size(plan);
	return limit < size ? limit : size;
}

/* RFC 6891 section 6.1.2: root, type, our size, upper rcode, version 0, DO. */
static void
fdstore_opt(const struct answer_plan *plan, uint8_t p[static OPT_OCTETS])
{
	p[0] = 0;
	wire_store_u16(p + 1, TYPE_OPT);
	wire_store_u16(p + 3, own_udp_size(plan));
	p[5] = (uint8_t)(plan->rcode >> 4);
	p[6] = 0;
	wire_store_u16(p + 7, plan->question->edns.dnssec_ok ? EDNS_DO : 0);
	wire_store_u16(p + 9, 0);
}

static void
store_header(const struct draft *d, uint8_t p[static HEADER_OCTETS])
{
	const struct question *q = d->plan->question;
	uint32_t flags = FLAG_QR | FLAG_AA | FLAG_RA;
	uint32_t questions = q->wire_length > 0;

	flags |= q->flags & (QUESTION_RD | FLAG_CD);
	flags |= d->plan->rcode & RCODE_HEADER_BITS;
	if (d->truncated)
		flags |= FLAG_TC;
	wire_store_u32(p, (uint32_t)q->id << 16 | flags);
	wire_store_u32(p + 4, questions << 16 | d->answers);
	wire_store_u32(p + 8, d->authorities << 16 |
	    (d->additionals + q->edns.present));
}

size_t
answer_build(const struct answer_plan *plan, uint8_t *buf, size_t size,
    struct answer_summary *summary)
{
	const struct question *q = plan->question;
	size_t limit = answer_limit(plan, size);
	size_t opt = q->edns.present ? OPT_OCTETS : 0;
	struct draft d = {
		.plan = plan,
		.sections = wire_writer_over(buf, limit - opt),
		.owner = HEADER_OCTETS,
		.owner_length = q->name.length,
	};

	/* Header, question and OPT are 282 octets at most: these always fit. */
	(void)wire_reserve(&d.sections, HEADER_OCTETS);
	wire_write_octets(&d.sections, q->wire, q->wire_length);
	write_sections(&d);
	if (opt > 0)
		fdstore_opt(plan, d.sections.pos);
	store_header(&d, buf);
	summary->answers = d.answers;
	summary->target = d.owner;
	summary->truncated = d.truncated;
	return wire_written(&d.sections) + opt;
}
