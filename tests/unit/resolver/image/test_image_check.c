/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What image_check() says of a header, and of the sections before the nodes. */
#include "resolver/image/image_filter.h"
#include "resolver/image/mesh.h"
#include "tests/unit/resolver/image/made_image.h"

TEST(header_says_what_it_is)
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

TEST(header_has_a_least_size)
{
	begin(0, NULL, 0);
	seal(sizeof(m.header) - 1);
	CHECK(strcmp(verdict(sizeof(m.header) - 1), "not a table image") == 0);
	seal(sizeof(m.header));
	CHECK(strcmp(verdict(sizeof(m.header)), "sections out of order") == 0);
}

/* Offsets are 32 bits wide: nothing of that is read. */
TEST(image_has_a_largest_size)
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

TEST(loaded_or_not)
{
	(void)small();
	m.header.loaded = 1;
	CHECK(SOUND);
	m.header.loaded = 2;
	CHECK(is("loaded flag out of range"));
}

TEST(lists_have_most)
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
TEST(one_slot_is_empty)
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

TEST(sections_are_in_order)
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
TEST(the_policy_is_within)
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
TEST(filters_are_as_large_as_they_say)
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

TEST(search_names_are_names)
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

TEST(zones_are_zones)
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

TEST(source_paths_are_whole)
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
