/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sections are written front to back until an RRset of the answer does not fit
 * whole.  Space for the OPT is reserved first; the header is filled in last.
 *
 * Owners are always compressed.  The first owner is the question's name at
 * offset 12, later ones are the targets of the CNAMEs before them.  A pointer
 * reaches offset 16383, and 16 CNAMEs of at most 267 octets end far below that.
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
		write_zone_soa(d);
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
