/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Images made by hand, right in all but one place, and what image_check() says
 * of them.  Each ends where a page begins that nobody may read, so that one
 * octet too many is a crash.
 */
#include "tests/check.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "resolver/image/image.h"
#include "resolver/image/image_filter.h"
#include "resolver/image/mesh.h"
#include "tests/image.h"

#define ROOM	65536
#define NONE	0		/* no set: an empty non-terminal */
#define OWN	UINT32_MAX	/* the set that follows */

/* The image that is being made; "at" is where the next thing goes. */
static struct {
	union {
		struct image_header header;
		uint8_t octets[ROOM];
	};
	size_t at;
	uint8_t *guarded;	/* ends at the forbidden page */
} m;

static void
put(const void *octets, size_t length)
{
	MUST(m.at + length <= ROOM);
	if (length > 0)
		memcpy(m.octets + m.at, octets, length);
	m.at += length;
}

/* A header, those strings, filters and empty slots; nodes follow. */
static void
begin_filtered(uint32_t slot_bits, const void *strings, size_t length,
    uint8_t tail_bits, uint8_t head_bits)
{
	struct image_header *h = &m.header;

	memset(m.octets, 0, ROOM);
	memcpy(h->magic, IMAGE_MAGIC, sizeof(h->magic));
	h->version = IMAGE_VERSION;
	h->header_size = sizeof(*h);
	h->slot_bits = slot_bits;
	m.at = sizeof(*h);
	h->strings = (uint32_t)m.at;
	put(strings, length);
	m.at = image_pad8(m.at);
	h->tails = (uint32_t)m.at;
	h->tail_bits = tail_bits;
	m.at += sizeof(uint64_t) << tail_bits;
	h->heads = (uint32_t)m.at;
	h->head_bits = head_bits;
	m.at += sizeof(uint64_t) << head_bits;
	h->policy = (uint32_t)m.at;
	h->slots = (uint32_t)m.at;
	m.at += sizeof(struct image_slot) << slot_bits;
	h->nodes = (uint32_t)m.at;
}

static void
begin(uint32_t slot_bits, const void *strings, size_t length)
{
	begin_filtered(slot_bits, strings, length, 0, 0);
}

static struct image_slot *
slot(unsigned int n)
{
	return (struct image_slot *)(void *)(m.octets + m.header.slots) + n;
}

/* A node in that slot; returns where it is. */
static struct image_node *
node(unsigned int in_slot, const void *name, size_t length, uint32_t set)
{
	struct image_node *made = (void *)(m.octets + m.at);
	struct image_node head = { .length = (uint8_t)length };

	slot(in_slot)->node = (uint32_t)m.at;
	m.header.node_count++;
	m.header.name_count += set != NONE;
	put(&head, sizeof(head));
	put(name, length);
	m.at = image_pad4(m.at);
	made->set = set == OWN ? (uint32_t)m.at : set;
	return made;
}

static struct image_set *
set_of(uint32_t count)
{
	struct image_set *made = (void *)(m.octets + m.at);

	put(&count, sizeof(count));
	return made;
}

static struct image_rrset *
rrset(uint16_t type, uint16_t rdlength, uint32_t count, const void *rdata,
    size_t size)
{
	struct image_rrset *made = (void *)(m.octets + m.at);
	struct image_rrset head = { .type = type, .rdlength = rdlength,
		.ttl = 30, .count = count, .size = (uint32_t)size };

	put(&head, sizeof(head));
	put(rdata, size);
	m.at = image_pad4(m.at);
	return made;
}

/* Size and checksum are put right, as a hostile image has them right. */
static void
seal(size_t size)
{
	const size_t unhashed = offsetof(struct image_header, wildcard_labels);

	m.header.total_size = size;
	m.header.checksum = XXH3_64bits(m.octets + unhashed, size - unhashed);
}

/* The verdict on the first "size" octets as they are. */
static const char *
verdict(size_t size)
{
	uint8_t *copy;

	if (m.guarded == NULL) {
		uint8_t *pages = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		MUST(pages != MAP_FAILED);
		MUST(mprotect(pages + ROOM, 4096, PROT_NONE) == 0);
		m.guarded = pages + ROOM;
	}
	/* Images are aligned as the pages are that they are mapped to. */
	copy = m.guarded - image_pad8(size);
	memcpy(copy, m.octets, size);
	return image_check(copy, size, false);
}

static bool
is(const char *expected)
{
	const char *why;

	seal(m.at);
	why = verdict(m.at);
	if (why == NULL || expected == NULL ? why == expected :
	    strcmp(why, expected) == 0)
		return true;
	printf("  \"%s\", not \"%s\"\n", why != NULL ? why : "sound",
	    expected != NULL ? expected : "sound");
	return false;
}

#define SOUND	is(NULL)

/* One address at "a." in an image with two slots. */
static struct image_node *
small(void)
{
	struct image_node *a;

	begin(1, NULL, 0);
	a = node(0, "\1a", 3, OWN);
	(void)set_of(1);
	(void)rrset(TYPE_A, 4, 1, "\12\0\0\1", 4);
	return a;
}

static void
header_says_what_it_is(void)
{
	const char *why;

	(void)small();
	CHECK(SOUND);
	CHECK(verdict(m.at - 1) != NULL);
	(void)small();
	m.header.magic[7] ^= 1;
	CHECK(is("not a table image"));
	(void)small();
	m.header.version++;
	CHECK(is("made by another version of this program: compile it again"));
	(void)small();
	m.header.header_size--;
	CHECK(is("header of another size: compile it again"));
	(void)small();
	seal(m.at);
	m.header.total_size--;
	why = verdict(m.at);
	CHECK(why != NULL && strncmp(why, "size differs", 12) == 0);
	(void)small();
	seal(m.at);
	m.header.checksum ^= 1;
	why = verdict(m.at);
	CHECK(why != NULL && strncmp(why, "checksum differs", 16) == 0);
}

static void
header_has_a_least_size(void)
{
	begin(0, NULL, 0);
	seal(sizeof(m.header) - 1);
	CHECK(strcmp(verdict(sizeof(m.header) - 1), "not a table image") == 0);
	seal(sizeof(m.header));
	CHECK(strcmp(verdict(sizeof(m.header)), "sections out of order") == 0);
}

/* Offsets are 32 bits wide: nothing of that is read. */
static void
image_has_a_largest_size(void)
{
	const size_t size = IMAGE_MAX_OCTETS + 1;
	struct image_header *h = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	const char *why;

	MUST(h != MAP_FAILED);
	(void)small();
	*h = m.header;
	h->total_size = size;
	why = image_check((const uint8_t *)h, size, false);
	CHECK(why != NULL && strncmp(why, "size differs", 12) == 0);
	(void)munmap(h, size);
}

static void
loaded_or_not(void)
{
	(void)small();
	m.header.loaded = 1;
	CHECK(SOUND);
	m.header.loaded = 2;
	CHECK(is("loaded flag out of range"));
}

static void
lists_have_most(void)
{
	static const uint8_t zeros[2 * MESH_MAX_ZONES + 2];

	begin(0, zeros, MESH_MAX_SEARCH);
	m.header.search_count = MESH_MAX_SEARCH;
	CHECK(SOUND);
	begin(0, zeros, MESH_MAX_SEARCH + 1);
	m.header.search_count = MESH_MAX_SEARCH + 1;
	CHECK(is("too many search domains or zones"));
	begin(0, zeros, (size_t)2 * MESH_MAX_ZONES);
	m.header.zone_count = MESH_MAX_ZONES;
	CHECK(SOUND);
	begin(0, zeros, (size_t)2 * MESH_MAX_ZONES + 2);
	m.header.zone_count = MESH_MAX_ZONES + 1;
	CHECK(is("too many search domains or zones"));
}

/* Lookups end at an empty slot. */
static void
one_slot_is_empty(void)
{
	begin(0, NULL, 0);
	CHECK(SOUND);
	(void)node(0, "\1a", 3, NONE);
	CHECK(is("more nodes than slots"));
	begin(1, NULL, 0);
	(void)node(0, "\1a", 3, NONE);
	CHECK(SOUND);
	(void)node(1, "\1b", 3, NONE);
	CHECK(is("more nodes than slots"));
	(void)small();
	m.header.slot_bits = 28;
	CHECK(is("sections out of order"));
	m.header.slot_bits = 29;
	CHECK(is("too many slots"));
	m.header.slot_bits = 32;
	CHECK(is("too many slots"));
}

static void
sections_are_in_order(void)
{
	(void)small();
	m.header.strings++;
	CHECK(is("sections out of order"));
	begin(0, "\0\0\0\0\0\0\0", 8);
	CHECK(SOUND);
	m.header.strings++;
	CHECK(is("sections out of order"));
	/* Slots over the end of the header. */
	(void)small();
	m.header.slots -= 8;
	m.header.nodes -= 8;
	CHECK(is("sections out of order"));
	(void)small();
	m.header.slots += 4;
	m.header.nodes += 4;
	CHECK(is("sections out of order"));
	(void)small();
	m.header.nodes += 8;
	CHECK(is("sections out of order"));
	begin(3, NULL, 0);
	CHECK(SOUND);
	m.at--;
	CHECK(is("sections out of order"));
}

/* Its octets are others' matter, but they must be there. */
static void
the_policy_is_within(void)
{
	(void)small();
	CHECK(SOUND);
	m.header.policy_size = 8;
	CHECK(is("sections out of order"));
	m.header.policy_size = UINT32_MAX;
	CHECK(is("sections out of order"));
	m.header.policy_size = 0;
	m.header.policy += 8;
	CHECK(is("sections out of order"));
}

/* Lookups read a word of each without looking where it ends. */
static void
filters_are_as_large_as_they_say(void)
{
	begin_filtered(1, "\1a\0", 3, 3, 5);
	m.header.search_count = 1;
	CHECK(SOUND);
	/* As large as they may be, which they are not here. */
	m.header.tail_bits = IMAGE_TAIL_BITS_MAX;
	CHECK(is("sections out of order"));
	m.header.tail_bits = 3;
	m.header.head_bits = IMAGE_HEAD_BITS_MAX;
	CHECK(is("sections out of order"));
	m.header.head_bits = 5;
	/* Each larger, smaller or elsewhere than it is. */
	m.header.tail_bits = 4;
	CHECK(is("sections out of order"));
	m.header.tail_bits = 2;
	CHECK(is("sections out of order"));
	m.header.tail_bits = 3;
	m.header.head_bits = 6;
	CHECK(is("sections out of order"));
	m.header.head_bits = 4;
	CHECK(is("sections out of order"));
	m.header.head_bits = 5;
	m.header.tails += 8;
	m.header.heads += 8;
	CHECK(is("sections out of order"));
	m.header.tails -= 8;
	CHECK(is("sections out of order"));
	m.header.heads -= 8;
	CHECK(SOUND);
	/* Over the header, between words, behind the end. */
	m.header.tails = 0;
	m.header.heads = 64;
	CHECK(is("sections out of order"));
	begin_filtered(0, NULL, 0, 0, 0);
	m.header.tails += 4;
	m.header.heads += 4;
	m.header.slots += 4;
	m.header.nodes += 4;
	m.at += 4;
	CHECK(is("sections out of order"));
	begin_filtered(0, NULL, 0, 0, 0);
	m.header.heads = m.header.tails = UINT32_MAX - 7;
	CHECK(is("sections out of order"));
	m.header.tail_bits = 18;
	CHECK(is("filter too large"));
	m.header.tail_bits = 0;
	m.header.head_bits = 27;
	CHECK(is("filter too large"));
	m.header.head_bits = 255;
	CHECK(is("filter too large"));
}

static void
search_names_are_names(void)
{
	uint8_t strings[320];

	/* Up to the last octet of the strings, and one further. */
	begin(0, "\6search\0", 8);
	m.header.search_count = 1;
	CHECK(SOUND);
	begin(0, "\7searchx\0", 8);
	m.header.search_count = 1;
	CHECK(is("bad name in the search list"));
	begin(0, "\1a\0\1b\0", 6);
	m.header.search_count = 2;
	CHECK(SOUND);
	begin(0, "\1a\0\1b\1c\4", 8);
	m.header.search_count = 2;
	CHECK(is("bad name in the search list"));
	/* 63 octets a label, 255 a name. */
	memset(strings, 'x', sizeof(strings));
	strings[0] = 63;
	strings[64] = 0;
	begin(0, strings, 65);
	m.header.search_count = 1;
	CHECK(SOUND);
	strings[0] = 64;
	strings[65] = 0;
	begin(0, strings, 66);
	m.header.search_count = 1;
	CHECK(is("bad name in the search list"));
	strings[0] = strings[64] = strings[128] = 63;
	strings[192] = 61;
	strings[254] = 0;
	begin(0, strings, 256);
	m.header.search_count = 1;
	CHECK(SOUND);
	strings[192] = 62;
	strings[255] = 0;
	begin(0, strings, 256);
	m.header.search_count = 1;
	CHECK(is("bad name in the search list"));
}

static void
zones_are_zones(void)
{
	begin(0, "\1\1z\0\0\4none", 10);
	m.header.zone_count = 2;
	CHECK(SOUND);
	begin(0, "\2\1z\0", 4);
	m.header.zone_count = 1;
	CHECK(is("bad zone"));
	begin(0, "\1\1z\1", 4);
	memset(m.octets + m.header.strings + 4, 1, 4);
	m.header.zone_count = 1;
	CHECK(is("bad name of a zone"));
	/* At the end of the strings, where the slots' zeros look like one. */
	begin(0, "\0\5zones\0", 8);
	m.header.zone_count = 2;
	CHECK(is("bad zone"));
	begin(0, "\0\4zone\0\1", 8);
	m.header.zone_count = 2;
	CHECK(is("bad name of a zone"));
}

static void
source_paths_are_whole(void)
{
	static const struct { uint16_t length; char path[6]; } whole = { 6,
		"/paths" }, cut = { 7, "/paths" };

	begin(0, &whole, 8);
	m.header.source_count = 1;
	CHECK(SOUND);
	m.header.source_count = 2;
	CHECK(is("source paths cut off"));
	begin(0, &cut, 8);
	m.header.source_count = 1;
	CHECK(is("source paths cut off"));
	/* One octet is no length, two are. */
	begin(0, "\5\0/path\0", 8);
	m.header.source_count = 2;
	CHECK(is("source paths cut off"));
	begin(0, "\4\0/pat\0\0", 8);
	m.header.source_count = 2;
	CHECK(SOUND);
}

static void
nodes_are_whole(void)
{
	struct image_node *a;

	/* Cut before, within and behind the name. */
	begin(2, NULL, 0);
	a = node(0, "\2ab", 4, NONE);
	CHECK(SOUND);
	m.at -= 4;
	CHECK(is("name cut off"));
	m.at -= 1;
	CHECK(is("node cut off"));
	m.at += 2;
	CHECK(is("name cut off"));
	begin(2, NULL, 0);
	a = node(0, "\2ab", 4, NONE);
	a->length = 0;
	m.at -= 4;
	CHECK(is("bad name"));
	a->length = 3;
	m.at += 4;
	CHECK(is("bad name"));
	begin(2, NULL, 0);
	(void)node(0, "\1a\0b", 4, NONE);
	CHECK(is("bad name"));
	begin(2, NULL, 0);
	(void)node(0, "\3ab", 4, NONE);
	CHECK(is("bad name"));
	begin(2, NULL, 0);
	(void)node(0, "", 1, NONE);
	CHECK(SOUND);
}

static void
wildcards_are_names_with_a_star(void)
{
	uint8_t name[255];
	struct image_node *wild;

	begin(1, NULL, 0);
	wild = node(0, "\1a", 3, NONE);
	wild->flags = IMAGE_WILDCARD;
	CHECK(is("bad wildcard"));
	wild = small();
	wild->flags = IMAGE_WILDCARD;
	CHECK(SOUND);
	for (uint8_t length = 253; length != 0; length++) {
		memset(name, 'x', sizeof(name));
		name[0] = name[64] = name[128] = 63;
		name[192] = (uint8_t)(length - 194);
		name[length - 1] = 0;
		begin(1, NULL, 0);
		wild = node(0, name, length, OWN);
		(void)set_of(1);
		(void)rrset(TYPE_A, 4, 1, "\12\0\0\1", 4);
		CHECK(SOUND);
		wild->flags = IMAGE_WILDCARD;
		CHECK(length == 253 ? SOUND : is("bad wildcard"));
	}
}

static void
sets_are_whole(void)
{
	begin(1, NULL, 0);
	(void)node(0, "\1a", 3, OWN);
	CHECK(is("records cut off"));
	(void)set_of(0);
	CHECK(is("empty set of records"));
	m.at--;
	CHECK(is("records cut off"));
	begin(1, NULL, 0);
	(void)node(0, "\1a", 3, OWN);
	(void)set_of(1);
	CHECK(is("records cut off"));
	/* With nothing behind it, it would be an RRset of no type. */
	(void)rrset(TYPE_A, 4, 0, NULL, 0);
	CHECK(is("bad set of records"));
	m.at--;
	CHECK(is("records cut off"));
	/* Two, of which one is there. */
	(void)small();
	m.at -= 24;
	(void)set_of(2);
	(void)rrset(TYPE_A, 4, 1, "\12\0\0\1", 4);
	CHECK(is("records cut off"));
	(void)rrset(TYPE_TXT, 0, 1, "\0\2\1x", 4);
	CHECK(SOUND);
	/* One, and one more behind it. */
	(void)small();
	(void)rrset(TYPE_TXT, 0, 1, "\0\2\1x", 4);
	CHECK(is("octets behind the last node"));
}

static struct image_rrset *
with_rrset(uint16_t type, uint16_t rdlength, uint32_t count, const void *rdata,
    size_t size)
{
	begin(1, NULL, 0);
	(void)node(0, "\1a", 3, OWN);
	(void)set_of(1);
	return rrset(type, rdlength, count, rdata, size);
}

static void
fixed_records_are_whole(void)
{
	struct image_rrset *r;

	r = with_rrset(TYPE_A, 4, 2, "\12\0\0\1\12\0\0\2", 8);
	CHECK(SOUND);
	r->count = 3;
	CHECK(is("bad record data"));
	r->count = 1;
	CHECK(is("bad record data"));
	r->count = 0;
	CHECK(is("bad set of records"));
	/* 2^30 + 2 times 4 is 8 in 32 bits. */
	r->count = 0x40000002;
	CHECK(is("bad record data"));
	(void)with_rrset(TYPE_A, 8, 1, "\12\0\0\1\12\0\0\2", 8);
	CHECK(is("bad set of records"));
	(void)with_rrset(TYPE_A, 0, 1, "\0\2\12\0", 4);
	CHECK(is("bad set of records"));
	(void)with_rrset(TYPE_TXT, 4, 1, "\0\2\1x", 4);
	CHECK(is("bad set of records"));
	r = with_rrset(TYPE_A, 4, 2, "\12\0\0\1\12\0\0\2", 8);
	m.at -= 4;
	CHECK(is("record data cut off"));
	m.at += 3;
	CHECK(is("record data cut off"));
	/* The padding must be there, too. */
	(void)with_rrset(TYPE_TXT, 0, 1, "\0\3\2xy", 5);
	CHECK(SOUND);
	m.at -= 3;
	CHECK(is("record data cut off"));
}

static void
counted_records_are_whole(void)
{
	uint8_t long_text[2 + 4 + 256] = { 0 };
	struct image_rrset *r;

	r = with_rrset(TYPE_TXT, 0, 2, "\0\2\1x\0\2\1y", 8);
	CHECK(SOUND);
	r->count = 1;
	CHECK(is("bad record data"));
	r->count = 3;
	CHECK(is("bad record data"));
	/* Cut in a record, between record and length, in a length. */
	r->count = 2;
	r->size = 7;
	CHECK(is("bad record data"));
	r->size = 6;
	CHECK(is("bad record data"));
	r->size = 5;
	memset(m.octets + m.at - 4, 0xff, 2);
	CHECK(is("bad record data"));
	/* No data at all is allowed where the type says nothing of it. */
	(void)with_rrset(65280, 0, 1, "\0\0", 2);
	CHECK(SOUND);
	(void)with_rrset(TYPE_TXT, 0, 1, "\0\0", 2);
	CHECK(is("bad record data"));
	/* Their lengths are in network order. */
	memcpy(long_text, "\1\4\3abc\377", 7);
	(void)with_rrset(TYPE_TXT, 0, 1, long_text, sizeof(long_text));
	CHECK(SOUND);
	(void)with_rrset(TYPE_CNAME, 0, 1, "\0\3\1b\0", 5);
	CHECK(SOUND);
	(void)with_rrset(TYPE_CNAME, 0, 1, "\0\3\1b\1", 5);
	CHECK(is("bad record data"));
}

/* But in a draft, which nobody answers from. */
static void
one_cname_is_enough(void)
{
	static const char two[] = "\0\3\1b\0\0\5\3ccc\0";

	(void)with_rrset(TYPE_CNAME, 0, 2, two, sizeof(two) - 1);
	CHECK(is("several CNAMEs of one name"));
	CHECK(image_check(m.octets, m.at, true) == NULL);
	(void)with_rrset(TYPE_NS, 0, 2, two, sizeof(two) - 1);
	CHECK(SOUND);
}

static void
slots_point_at_nodes(void)
{
	begin(2, NULL, 0);
	(void)node(1, "\1a", 3, NONE);
	(void)node(3, "\1b", 3, NONE);
	CHECK(SOUND);
	slot(3)->node -= 4;
	CHECK(is("slot points astray"));
	slot(3)->node = slot(1)->node;
	CHECK(is("slot points astray"));
	begin(2, NULL, 0);
	(void)node(1, "\1a", 3, NONE);
	(void)node(3, "\1b", 3, NONE);
	slot(2)->node = slot(1)->node;
	slot(1)->node = 0;
	CHECK(SOUND);
	slot(0)->node = 0;
	slot(3)->node = 0;
	CHECK(is("octets behind the last node"));
}

static void
counts_are_right(void)
{
	(void)small();
	m.header.node_count = 0;
	CHECK(is("slot points astray"));
	begin(2, NULL, 0);
	(void)node(1, "\1a", 3, NONE);
	m.header.node_count = 2;
	CHECK(is("counts differ from the header's"));
	(void)small();
	m.header.name_count = 0;
	CHECK(is("counts differ from the header's"));
	m.header.name_count = 2;
	CHECK(is("counts differ from the header's"));
	begin(2, NULL, 0);
	(void)node(1, "\1a", 3, NONE);
	m.header.name_count = 1;
	CHECK(is("counts differ from the header's"));
}

/* "a." with records, and "b.", whose set is "offset" behind that of "a.". */
static struct image_node *
with_alias(uint32_t offset)
{
	struct image_node *a, *b;

	begin(2, NULL, 0);
	a = node(0, "\1a", 3, OWN);
	(void)set_of(1);
	(void)rrset(TYPE_A, 4, 1, "\12\0\0\1", 4);
	b = node(2, "\1b", 3, a->set);
	b->set += offset;
	return b;
}

static void
aliases_point_at_sets(void)
{
	struct image_node *b;

	b = with_alias(0);
	CHECK(SOUND);
	/* Before it, behind it, within it; not where 4 octets begin. */
	(void)with_alias((uint32_t)-4);
	CHECK(is("alias points astray"));
	(void)with_alias(4);
	CHECK(is("alias points astray"));
	for (uint32_t n = 1; n <= 3; n++) {
		(void)with_alias(n);
		CHECK(is("alias points astray"));
	}
	b = with_alias(0);
	b->set = m.header.nodes;
	CHECK(is("alias points astray"));
	b->set = m.header.nodes - 4;
	CHECK(is("alias points astray"));
	b->set = sizeof(m.header);
	CHECK(is("alias points astray"));
	b->set = 4;
	CHECK(is("alias points astray"));
	b->set = (uint32_t)m.at - 4;
	CHECK(is("alias points astray"));
	b->set = UINT32_MAX - 3;
	CHECK(is("alias points astray"));
	/* What is wrong elsewhere counts beside a good one. */
	b = with_alias(0);
	m.at += 4;
	CHECK(is("octets behind the last node"));
	/* In the first slot. */
	begin(1, NULL, 0);
	b = node(0, "\1a", 3, 4);
	CHECK(is("alias points astray"));
	/* A name without records beside one. */
	b = with_alias(0);
	(void)node(3, "\1c", 3, NONE);
	CHECK(SOUND);
	b->set = (uint32_t)m.at;
	CHECK(is("alias points astray"));
}

static void
every_set_has_its_bit(void)
{
	struct image_node *a, *b;

	begin(4, NULL, 0);
	for (unsigned int n = 0; n < 12; n++) {
		a = node(n, "\1a", 3, OWN);
		(void)set_of(1);
		(void)rrset(TYPE_A, 4, 1, "\12\0\0\1", 4);
		b = node(++n, "\1b", 3, a->set);
		CHECK(SOUND);
		b->set += 32;
		CHECK(is("alias points astray"));
		b->set -= 32;
	}
}

int
main(void)
{
	TEST(header_says_what_it_is);
	TEST(header_has_a_least_size);
	TEST(image_has_a_largest_size);
	TEST(loaded_or_not);
	TEST(lists_have_most);
	TEST(one_slot_is_empty);
	TEST(sections_are_in_order);
	TEST(the_policy_is_within);
	TEST(filters_are_as_large_as_they_say);
	TEST(search_names_are_names);
	TEST(zones_are_zones);
	TEST(source_paths_are_whole);
	TEST(nodes_are_whole);
	TEST(wildcards_are_names_with_a_star);
	TEST(sets_are_whole);
	TEST(fixed_records_are_whole);
	TEST(counted_records_are_whole);
	TEST(one_cname_is_enough);
	TEST(slots_point_at_nodes);
	TEST(counts_are_right);
	TEST(aliases_point_at_sets);
	TEST(every_set_has_its_bit);
	return test_summary();
}
