/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sections are written front to back until an RRset of the answer does not fit
 * whole.  Space for the OPT is reserved first; the header is filled in last.
 *
 * Owners are always compressed.  The first owner is the question's name at
 * offset 12, later ones are the targets of the CNAMEs before them.  A pointer
 * reaches offset 16383, and 16 CNAMEs of at most 267 octets end far below that.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "resolver/answer/answer.h"
#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

/*
 * An answer while it is written, and the writing of its records.  Sections are
 * written front to back; the owner of a record is always a pointer to a name
 * that was written before.
 */

#define RECORD_OCTETS	12	/* with a compressed owner and without rdata */
#define DRAFT_POINTER	0xc000	/* of compression: RFC 1035 section 4.1.4 */

struct draft {
	const struct answer_plan *plan;
	struct wire_writer sections;	/* ends before the space of the OPT */
	size_t owner;			/* offset of the current owner's name */
	size_t owner_length;		/* of that name, uncompressed */
	size_t last;			/* offset of the last RRset of the answer */
	uint32_t answers;
	uint32_t authorities;
	uint32_t additionals;
	bool truncated;
};

/* All of a record before its rdata, in as few words as possible. */
struct draft_head {
	uint64_t front;
	uint32_t back;
};

static inline struct draft_head
draft_head_of(size_t owner, uint16_t type, uint16_t class, uint32_t ttl,
    size_t rdlength)
{
	return (struct draft_head){
		.front = (uint64_t)(DRAFT_POINTER | owner) << 48 |
		    (uint64_t)type << 32 | (uint64_t)class << 16 | ttl >> 16,
		.back = ttl << 16 | (uint32_t)rdlength,
	};
}

static inline void
draft_store_head(uint8_t p[static RECORD_OCTETS], struct draft_head head)
{
	wire_store_u64(p, head.front);
	wire_store_u32(p + 8, head.back);
}

/* A record's head at p; owner is the offset of its name, ttl in seconds. */
static inline void
draft_store_record(uint8_t p[static RECORD_OCTETS], size_t owner,
    uint16_t type, uint16_t class, uint32_t ttl, size_t rdlength)
{
	draft_store_head(p, draft_head_of(owner, type, class, ttl, rdlength));
}

/* Whether rdata of a type names hosts whose addresses clients ask for next. */
static inline bool
draft_names_hosts(uint16_t type)
{
	return type == TYPE_SRV || type == TYPE_NS || type == TYPE_MX;
}

/* A copy of IPv4's length, which is usual, needs no call. */
static inline void
copy_address(uint8_t *dst, const uint8_t *src, size_t length)
{
	if (length == 4)
		memcpy(dst, src, 4);
	else
		memcpy(dst, src, length);
}

/*
 * Stores "left" records of one length at p, which has room for them.  Inlined
 * in both callers: nearly every answer goes through the first.
 */
static inline void __attribute__((always_inline))
store_fixed(const struct draft *d, const struct rrset *rrset, size_t left,
    uint8_t *p)
{
	const size_t rdlength = rrset->rdlength;
	const uint8_t *end = rrset->rdata + rrset->count * rdlength;
	const uint8_t *next = rrset->rdata;
	const struct draft_head head = draft_head_of(d->owner, rrset->type, CLASS_IN,
	    rrset->ttl, rdlength);

	if (rrset->count > 1)
		next += d->plan->rotation % rrset->count * rdlength;
	for (; left > 0; left--) {
		draft_store_head(p, head);
		copy_address(p + RECORD_OCTETS, next, rdlength);
		p += RECORD_OCTETS + rdlength;
		next += rdlength;
		if (next == end)
			next = rrset->rdata;
	}
}

/*
 * Writes records of one length, as addresses have, of the current owner.  If
 * not all of them fit, writes none, marks the writer full and returns false.
 */
static bool
draft_write_fixed(struct draft *d, const struct rrset *rrset)
{
	uint8_t *p = wire_reserve(&d->sections,
	    rrset->count * (size_t)(RECORD_OCTETS + rrset->rdlength));

	if (p == NULL)
		return false;
	store_fixed(d, rrset, rrset->count, p);
	return true;
}

/* Writes as many records as fit.  Returns how many. */
static uint32_t __attribute__((noinline))
write_fixed_part(struct draft *d, const struct rrset *rrset)
{
	const size_t each = RECORD_OCTETS + rrset->rdlength;
	size_t count = (size_t)(d->sections.end - d->sections.pos) / each;

	store_fixed(d, rrset, count, d->sections.pos);
	d->sections.pos += count * each;
	return (uint32_t)count;
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

/* Writes one record; false, and nothing written, if it does not fit. */
static bool
write_record(struct draft *d, const struct rrset *rrset, const uint8_t *rdata,
    size_t length)
{
	uint8_t *p = wire_reserve(&d->sections, RECORD_OCTETS + length);

	if (p == NULL)
		return false;
	draft_store_record(p, d->owner, rrset->type, CLASS_IN, rrset->ttl, length);
	memcpy(p + RECORD_OCTETS, rdata, length);
	if (draft_names_hosts(rrset->type))
		echo_case(d, p + RECORD_OCTETS, length);
	return true;
}

/*
 * Writes records of an RRset where each follows its own length, except those
 * that do not fit.  Returns how many were written.
 */
static uint32_t
write_counted(struct draft *d, const struct rrset *rrset)
{
	const uint8_t *rdata = rrset->rdata;
	uint32_t next = 0, first = 0, left, written = 0;

	if (rrset->count > 1)
		first = d->plan->rotation % rrset->count;
	for (; next < first; next++)
		rdata += 2 + wire_load_u16(rdata);
	for (left = rrset->count; left > 0; left--) {
		size_t length = wire_load_u16(rdata);

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
 * Writes and counts an RRset of the current owner.  If not all records fit,
 * writes those that do, and marks the writer full, so that nothing follows.
 * RFC 2181 section 9 leaves open whether a truncated answer has a part of the
 * RRset.  A client that never asks over TCP (musl before 1.2.4, busybox) gets
 * no other addresses than these, and rotation gives it others each time.
 */
static bool
write_rrset(struct draft *d, const struct rrset *rrset)
{
	const uint8_t *start = d->sections.pos;
	uint32_t written = rrset->count;

	if (rrset->rdlength == 0)
		written = write_counted(d, rrset);
	else if (!draft_write_fixed(d, rrset))
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
 * Writes the lookup's chain in order, and counts it.  The owner of the RRset
 * behind a CNAME is its target, which was just written as that record's rdata;
 * in the end it is the last one's.  If not all records fit, writes those that
 * do, sets truncated and marks the writer full.
 */
static void
draft_write_chain(struct draft *d)
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
		    wire_load_u16(rrset->rdata);
		d->owner = wire_written(&d->sections) - d->owner_length;
	}
}

#define HEADER_OCTETS	12
#define OPT_OCTETS	11
#define UDP_FLOOR	512	/* RFC 1035 section 4.2.1 */
#define STREAM_MAX	65535	/* RFC 1035 section 4.2.2 */

#define FLAG_QR 0x8000
#define FLAGS_OPCODE 0x7800
#define FLAG_AA 0x0400
#define FLAG_TC 0x0200
#define FLAG_RA 0x0080
#define FLAG_CD 0x0010
#define RCODE_HEADER_BITS 0x000f
#define EDNS_DO 0x8000

/* So many hosts get their addresses; clients have to ask for others. */
#define HOSTS_MAX	64
/* How far a compression pointer reaches: RFC 1035 section 4.1.4. */
#define POINTER_MAX	0x3fff

/* The SOA's timers (RFC 1035 section 3.3.13): nobody transfers the mesh. */
#define SOA_SERIAL	1
#define SOA_REFRESH	7200
#define SOA_RETRY	1800
#define SOA_EXPIRE	86400
#define SOA_TIMERS	20	/* octets of these, and of the minimum TTL */

/*
 * The CNAME from NAME.SEARCH, the name in the question, to its target.  The
 * target begins with the front of that name, which no pointer can express.
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
	draft_store_record(
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
	draft_write_chain(d);
}

/* The labels at "front", if the name does not get too long, and the owner. */
static inline void
write_below_owner(struct draft *d, const char *front, size_t length)
{
	if (length + d->owner_length <= NAME_MAX_OCTETS)
		wire_write_octets(&d->sections, front, length);
	wire_write_u16(&d->sections, (uint16_t)(DRAFT_POINTER | d->owner));
}

/* The SOA of the current owner: RFC 2308 section 3 on its TTL and minimum. */
static bool
write_soa(struct draft *d)
{
	static const char mname[] = "\2ns\3dns";
	static const char rname[] = "\12hostmaster";
	struct wire_writer *w = &d->sections;
	uint32_t ttl = d->plan->settings->negative_ttl;
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
	draft_store_record(p, d->owner, TYPE_SOA, CLASS_IN, ttl,
	    (size_t)(w->pos - p) - RECORD_OCTETS);
	return true;
}

/* Makes the apex of the question's zones entry, if any, the owner. */
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
 * Makes the last "labels" labels of the owner's name the owner.  False if the
 * owner is no name; the walk never passes its end.
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

/* The SOA record of a zone file, with the TTL of RFC 2308 section 3. */
static bool
write_file_soa(struct draft *d)
{
	const struct lookup *lookup = d->plan->lookup;
	size_t length = wire_load_u16(lookup->soa.rdata);
	const uint8_t *rdata = lookup->soa.rdata + 2;
	const uint8_t *minimum = rdata + length - 4;
	uint32_t ttl = (uint32_t)wire_load_u16(minimum) << 16 |
	    (uint32_t)wire_load_u16(minimum + 2);
	uint8_t *p;

	if (!move_owner_up(d, lookup->soa_labels))
		return false;
	p = wire_reserve(&d->sections, RECORD_OCTETS + length);
	if (p == NULL)
		return false;
	draft_store_record(p, d->owner, TYPE_SOA, CLASS_IN,
	    ttl < lookup->soa.ttl ? ttl : lookup->soa.ttl, length);
	memcpy(p + RECORD_OCTETS, rdata, length);
	return true;
}

/*
 * The chain, if its last name has no such data, and the SOA for that name.  A
 * search name gets no CNAME here: the CNAME exists only if its target has
 * records of the type.
 */
static void
write_negative(struct draft *d)
{
	if (d->plan->lookup->entry.kind != ENTRY_SEARCH)
		draft_write_chain(d);
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
	draft_store_record(p, d->owner, TYPE_TXT, CLASS_CH, 0, strings + left);
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

/* Nodes whose addresses were written: several ports may have one host. */
struct hosts {
	uint32_t nodes[HOSTS_MAX];
	size_t count;
};

/* Notes a host; false if it was noted before, or if there are enough. */
static bool
note(struct hosts *hosts, uint32_t node)
{
	for (size_t i = 0; i < hosts->count; i++) {
		if (hosts->nodes[i] == node)
			return false;
	}
	if (hosts->count == HOSTS_MAX)
		return false;
	hosts->nodes[hosts->count++] = node;
	return true;
}

/* Writes the whole RRset or nothing. */
static void
write_addresses(struct draft *d, uint32_t node, uint16_t type)
{
	uint8_t *start = d->sections.pos;
	struct rrset rrset;

	if (!table_rrset(d->plan->lookup->table, node, type, &rrset))
		return;
	if (draft_write_fixed(d, &rrset)) {
		d->additionals += rrset.count;
		return;
	}
	d->sections.pos = start;
	d->sections.full = false;
}

/*
 * The addresses of the hosts that the last RRset of the answer names, if the
 * table has them and they fit.  Missing ones are no truncation (RFC 2181
 * section 9).
 */
static void
write_additional(struct draft *d)
{
	const struct lookup *lookup = d->plan->lookup;
	const uint8_t *base = d->sections.base;
	const struct rrset *rrset = &lookup->chain[lookup->chain_length - 1];
	size_t before = RECORD_OCTETS + (size_t)rdata_name_offset(rrset->type);
	struct hosts hosts = { .count = 0 };
	size_t at = d->last;

	for (uint32_t left = rrset->count; left > 0; left--) {
		size_t length = wire_load_u16(base + at + 10);
		size_t end = at + RECORD_OCTETS + length;
		uint32_t node;

		d->owner = at + before;
		if (d->owner > POINTER_MAX)
			return;
		node = lookup_target(
		    lookup->table, base + d->owner, end - d->owner);
		if (node != 0 && note(&hosts, node)) {
			write_addresses(d, node, TYPE_A);
			write_addresses(d, node, TYPE_AAAA);
		}
		at = end;
	}
}

/* Whether the answer is complete and its last RRset names hosts. */
static bool
names_hosts(const struct draft *d)
{
	const struct lookup *lookup = d->plan->lookup;

	return lookup->has_type && !d->truncated && !d->plan->bare &&
	       draft_names_hosts(lookup->chain[lookup->chain_length - 1].type);
}

static void
write_sections(struct draft *d)
{
	switch (d->plan->content) {
	case ANSWER_RECORDS:
		write_records(d);
		if (names_hosts(d))
			write_additional(d);
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
		move_owner_to_zone(d);
		if (write_soa(d))
			d->answers++;
		else
			d->truncated = true;
		break;
	case ANSWER_CUT:
		d->truncated = true;
		break;
	case ANSWER_EMPTY:
		break;
	}
}

static uint16_t
own_udp_size(const struct answer_plan *plan)
{
	uint32_t own = plan->settings->udp_size;

	return (uint16_t)(own > UDP_FLOOR ? own : UDP_FLOOR);
}

/* The largest length of the whole answer, in octets. */
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

/* Octets of the option with the extended error. */
static size_t
error_octets(const struct answer_plan *plan)
{
	return plan->error != EDE_NONE ? 6u + plan->error_length : 0;
}

/* RFC 8914 section 2. */
static void
store_error(const struct answer_plan *plan, uint8_t *p)
{
	wire_store_u16(p, OPTION_EDE);
	wire_store_u16(p + 2, (uint16_t)(2u + plan->error_length));
	wire_store_u16(p + 4, (uint16_t)plan->error);
	if (plan->error_length > 0)
		memcpy(p + 6, plan->error_text, plan->error_length);
}

/* RFC 6891 section 6.1.2: root, type, our size, upper rcode, version 0, DO. */
static void
store_opt(const struct answer_plan *plan, uint8_t p[static OPT_OCTETS])
{
	p[0] = 0;
	wire_store_u16(p + 1, TYPE_OPT);
	wire_store_u16(p + 3, own_udp_size(plan));
	p[5] = (uint8_t)(plan->rcode >> 4);
	p[6] = 0;
	wire_store_u16(p + 7, plan->question->edns.dnssec_ok ? EDNS_DO : 0);
	wire_store_u16(p + 9, (uint16_t)error_octets(plan));
	if (plan->error != EDE_NONE)
		store_error(plan, p + OPT_OCTETS);
}

static void
store_header(const struct draft *d, uint8_t p[static HEADER_OCTETS])
{
	const struct question *q = d->plan->question;
	uint32_t flags = FLAG_QR | FLAG_RA | (d->plan->others ? 0 : FLAG_AA);
	uint32_t questions = q->wire_length > 0;

	flags |= q->flags & (FLAGS_OPCODE | QUESTION_RD | FLAG_CD);
	flags |= d->plan->rcode & RCODE_HEADER_BITS;
	/* Over TCP the nameserver would be asked, which has nothing of the table. */
	if (d->truncated && (d->plan->settings->tcp ||
	    d->plan->content == ANSWER_CUT))
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
	size_t opt = q->edns.present ? OPT_OCTETS + error_octets(plan) : 0;
	struct draft d = {
		.plan = plan,
		.sections = wire_writer_over(buf, limit - opt),
		.owner = HEADER_OCTETS,
		.owner_length = q->name.length,
	};

	/*
	 * Header, question and OPT, with an error's text of up to 63 octets, are
	 * 351 octets at most: these always fit.
	 */
	(void)wire_reserve(&d.sections, HEADER_OCTETS);
	wire_write_octets(&d.sections, q->wire, q->wire_length);
	write_sections(&d);
	if (opt > 0)
		store_opt(plan, d.sections.pos);
	store_header(&d, buf);
	summary->answers = d.answers;
	summary->target = d.owner;
	summary->truncated = d.truncated;
	summary->options = (uint16_t)(opt > 0 ? opt - OPT_OCTETS : 0);
	return wire_written(&d.sections) + opt;
}
