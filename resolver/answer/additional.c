/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/answer/draft.h"

#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"

/* Hosts of one answer whose addresses are added; the client asks for others. */
#define HOSTS_MAX	64
/* How far a compression pointer reaches: RFC 1035 section 4.1.4. */
#define POINTER_MAX	0x3fff

/* The nodes whose addresses are there already: several ports of one host. */
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

/* A whole RRset or nothing. */
static void
write_addresses(struct draft *d, uint32_t node, uint16_t type)
{
	uint8_t *start = d->sections.pos;
	struct rrset rrset;

	if (!table_rrset(d->plan->lookup->table, node, type, &rrset))
		return;
	if (answer_write_fixed(d, &rrset)) {
		d->additionals += rrset.count;
		return;
	}
	d->sections.pos = start;
	d->sections.full = false;
}

void
answer_write_additional(struct draft *d)
{
	const struct lookup *lookup = d->plan->lookup;
	const uint8_t *base = d->sections.base;
	const struct rrset *rrset = &lookup->chain[lookup->chain_length - 1];
	size_t before = RECORD_OCTETS + (size_t)rdata_name_offset(rrset->type);
	struct hosts hosts = { .count = 0 };
	size_t at = d->last;

	for (uint32_t left = rrset->count; left > 0; left--) {
		size_t length = (size_t)base[at + 10] << 8 | base[at + 11];
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
