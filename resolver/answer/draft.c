/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/answer/draft.h"

#include <string.h>

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

bool
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

void
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
