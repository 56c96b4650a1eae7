/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Istio's NameTable as protocol buffers write it.  The outermost level, a
 * sequence of entries, is walked here, so that only one entry at a time is in
 * memory; each entry is unpacked by protobuf-c.
 *
 * A message that is malformed anywhere is an error: a truncated table must not
 * replace a good one.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include <resolver/sources/nds.pb-c.h>

#include "resolver/sources/nds.h"
#include "resolver/sources/source_format.h"

/* Field 1 of NameTable. */
#define TABLE_FIELD	1

/* Types of fields on the wire; the two of groups are obsolete. */
enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_LENGTH = 2, WIRE_32 = 5 };

struct cursor {
	const uint8_t *at, *end;
	bool failed;
};

static void
skip(struct cursor *c, uint64_t n)
{
	if ((uint64_t)(c->end - c->at) < n)
		c->failed = true;
	else
		c->at += n;
}

/* Seven bits an octet, lowest first, ten octets at most. */
static uint64_t
read_varint(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 70; shift += 7) {
		if (c->at == c->end)
			break;
		value |= shift < 64 ? (uint64_t)(*c->at & 0x7f) << shift : 0;
		if ((*c->at++ & 0x80) == 0)
			return value;
	}
	c->failed = true;
	return 0;
}

/*
 * The next entry's octets.  Other fields, which later versions may add, are
 * skipped.  False at the end and on failure.
 */
static bool
next_entry(struct cursor *c, const uint8_t **octets, size_t *length)
{
	while (c->at < c->end && !c->failed) {
		uint64_t key = read_varint(c), n;

		if (key >> 3 == 0)
			c->failed = true;
		if (c->failed)
			break;
		switch (key & 7) {
		case WIRE_VARINT:
			(void)read_varint(c);
			c->failed |= key >> 3 == TABLE_FIELD;
			break;
		case WIRE_64:
			skip(c, 8);
			break;
		case WIRE_32:
			skip(c, 4);
			break;
		case WIRE_LENGTH:
			n = read_varint(c);
			*octets = c->at;
			*length = (size_t)n;
			skip(c, n);
			if (key >> 3 == TABLE_FIELD && !c->failed)
				return true;
			break;
		default:
			c->failed = true;
			break;
		}
	}
	return false;
}

static struct nds_texts
texts_of(char *const *texts, size_t count)
{
	return (struct nds_texts){ (const char *const *)texts, count };
}

static void
add(struct nds *nds, const Nfdns__NdsEntry *message)
{
	Nfdns__NdsInfo empty;
	const Nfdns__NdsInfo *info = message->info;
	struct nds_entry entry;

	if (info == NULL) {
		nfdns__nds_info__init(&empty);
		info = &empty;
	}
	entry = (struct nds_entry){
		.host = message->host,
		.ips = texts_of(info->ips, info->n_ips),
		.registry = info->registry,
		.shortname = info->shortname,
		.namespace = info->namespace_name,
		.alternates = texts_of(info->alt_hosts, info->n_alt_hosts),
	};

	nds_add(nds, &entry);
}

int
source_nds_proto_read(const struct source_text *text, struct builder *b,
    struct diag *diag)
{
	const uint8_t *start = (const uint8_t *)text->data, *octets;
	struct cursor c = { start, start + text->length, false };
	struct nds nds;
	size_t length;

	if (nds_init(&nds, text, b, diag) != 0)
		return 0;
	while (nds.error == 0 && next_entry(&c, &octets, &length)) {
		Nfdns__NdsEntry *entry = nfdns__nds_entry__unpack(NULL, length,
		    octets);

		if (entry == NULL) {
			c.at = octets;
			c.failed = true;
			break;
		}
		add(&nds, entry);
		nfdns__nds_entry__free_unpacked(entry, NULL);
	}
	if (c.failed)
		diag_add(diag, DIAG_ERROR, text->path, 0, "is malformed at"
		    " octet %zu: it is no name table in binary form, or cut"
		    " off (for JSON, set format = \"nds\")",
		    (size_t)(c.at - start));
	else if (text->length == 0)
		diag_add(diag, DIAG_WARNING, text->path, 0, "is empty: a table"
		    " without names");
	return nds.error;
}
