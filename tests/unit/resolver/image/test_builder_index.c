/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>

#include "resolver/image/builder_index.h"
#include "tests/check.h"

/* Whether the index has that handle under that tag, once. */
static bool
has(const struct build_index *index, uint32_t tag, uint32_t handle)
{
	size_t step = 0, found = 0;
	uint32_t at;

	while ((at = build_index_next(index, tag, &step)) != 0)
		found += at == handle;
	return found == 1;
}

static uint32_t
tag_of(uint32_t handle)
{
	return handle * 2654435761u;
}

static void
fill(struct build_index *index, uint32_t count)
{
	for (uint32_t handle = 1; handle <= count; handle++) {
		CHECK(build_index_reserve(index) == 0);
		build_index_prefetch(index, tag_of(handle));
		build_index_place(index, tag_of(handle), handle);
	}
}

TEST(it_grows_and_loses_nothing)
{
	struct build_index index = { .bits = 0 };
	size_t missing = 0;

	CHECK(!has(&index, 1, 1));
	build_index_prefetch(&index, 1);
	fill(&index, 10000);
	for (uint32_t handle = 1; handle <= 10000; handle++)
		missing += !has(&index, tag_of(handle), handle);
	CHECK(missing == 0 && index.count == 10000);
	CHECK(!has(&index, tag_of(10001), 10001));
	/* Half empty: probing stays short. */
	CHECK(index.count * 2 <= (size_t)1 << index.bits);
	build_index_free(&index);
	CHECK(index.slots == NULL && !has(&index, tag_of(1), 1));
}

TEST(what_is_expected_has_space_at_once)
{
	struct build_index index = { .bits = 0 };
	const void *slots;

	build_index_expect(&index, 5000);
	slots = index.slots;
	CHECK(slots != NULL);
	fill(&index, 5000);
	CHECK(index.slots == slots);
	/* Less than there is changes nothing; more keeps what there is. */
	build_index_expect(&index, 10);
	CHECK(index.slots == slots);
	build_index_expect(&index, 100000);
	CHECK(index.slots != slots && has(&index, tag_of(4999), 4999));
	build_index_free(&index);
}

/* A source can claim any number of names. */
TEST(what_is_expected_is_bounded)
{
	struct build_index index = { .bits = 0 };

	build_index_expect(&index, SIZE_MAX);
	CHECK(index.bits <= 22);
	build_index_free(&index);
}

TEST(a_handle_is_replaced_among_others_of_its_tag)
{
	struct build_index index = { .bits = 0 };
	size_t step = 0;

	for (uint32_t handle = 1; handle <= 3; handle++) {
		CHECK(build_index_reserve(&index) == 0);
		build_index_place(&index, UINT32_MAX, handle);
	}
	/* The tag's first slot is the last one: the others are in front. */
	while (build_index_next(&index, UINT32_MAX, &step) != 2)
		continue;
	build_index_replace(&index, UINT32_MAX, step, 20);
	CHECK(has(&index, UINT32_MAX, 1) && has(&index, UINT32_MAX, 20) &&
	    has(&index, UINT32_MAX, 3) && !has(&index, UINT32_MAX, 2));
	CHECK(index.count == 3);
	build_index_free(&index);
}
