/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What image_check() says of slots, nodes and sets of records. */
#include "tests/unit/resolver/image/made_image.h"

TEST(nodes_are_whole)
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

TEST(wildcards_are_names_with_a_star)
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

TEST(sets_are_whole)
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

TEST(fixed_records_are_whole)
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

TEST(counted_records_are_whole)
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
TEST(one_cname_is_enough)
{
	static const char two[] = "\0\3\1b\0\0\5\3ccc\0";

	(void)with_rrset(TYPE_CNAME, 0, 2, two, sizeof(two) - 1);
	CHECK(is("several CNAMEs of one name"));
	CHECK(image_check(m.octets, m.at, true) == NULL);
	(void)with_rrset(TYPE_NS, 0, 2, two, sizeof(two) - 1);
	CHECK(SOUND);
}

TEST(slots_point_at_nodes)
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

TEST(counts_are_right)
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

TEST(aliases_point_at_sets)
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

/* Rules judge the name that a set leads to. */
TEST(sets_lead_to_their_nodes)
{
	struct image_set *set;

	for (unsigned int back = 0; back < 256; back++) {
		begin(1, NULL, 0);
		(void)node(0, "\1a", 3, OWN);
		set = set_of(1);
		(void)rrset(TYPE_A, 4, 1, "\12\0\0\1", 4);
		set->back = (uint8_t)back;
		CHECK(back == 4 ? SOUND :
		    is("set of records of another name"));
	}
}

/* "a.", and "b." whose set has the records of that at "offset" behind a's, too. */
static struct image_set *
with_origin(uint32_t offset, unsigned int times)
{
	struct image_node *a;
	struct image_set *set;
	uint32_t origin;

	begin(2, NULL, 0);
	a = node(0, "\1a", 3, OWN);
	(void)set_of(1);
	(void)rrset(TYPE_A, 4, 1, "\12\0\0\1", 4);
	(void)node(2, "\1b", 3, OWN);
	set = set_of(1);
	(void)rrset(TYPE_A, 4, 1, "\12\0\0\1", 4);
	set->origins = (uint8_t)times;
	origin = a->set + offset;
	for (; times > 0; times--)
		put(&origin, sizeof(origin));
	return set;
}

TEST(origins_are_sets)
{
	(void)with_origin(0, 1);
	CHECK(SOUND);
	(void)with_origin(0, IMAGE_ORIGINS);
	CHECK(SOUND);
	(void)with_origin(0, IMAGE_ORIGINS + 1);
	CHECK(is("set of records of another name"));
	for (uint32_t n = 1; n <= 4; n++) {
		(void)with_origin(n, 1);
		CHECK(is("alias points astray"));
		(void)with_origin((uint32_t)-n, 1);
		CHECK(is("alias points astray"));
	}
	(void)with_origin(UINT32_MAX / 2, 2);
	CHECK(is("alias points astray"));
	(void)with_origin(0, 2);
	m.at -= 4;
	CHECK(is("records cut off"));
	with_origin(0, 2)->origins = 1;
	CHECK(is("octets behind the last node"));
}

TEST(every_set_has_its_bit)
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
