/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as what an API server sends: the first chooses the kind of object
 * and of body, the second the size of the pieces.  Whatever comes, the table
 * that is made of it is JSON which our own reader takes, and cutting the octets
 * elsewhere makes no other table.
 */
#include <string.h>

#include "resolver/feed/kube_mirror.h"
#include "tests/fuzz/fuzz.h"
#include "tests/parts.h"

#define LIMIT	100000

static void
feed(struct kube_mirror *m, struct kube_room *room, uint8_t choice,
    size_t piece, const uint8_t *data, size_t size)
{
	static const enum kube_body bodies[] = { KUBE_BODY_LIST,
	    KUBE_BODY_WATCH, KUBE_BODY_WATCH, KUBE_BODY_REFUSAL };
	enum kube_result result = KUBE_GOES_ON;

	kube_mirror_init(m, &kube_kinds[(choice >> 2) % kube_kind_count],
	    room, 1);
	kube_mirror_begin(m, bodies[choice & 3]);
	for (size_t at = 0; at < size && result == KUBE_GOES_ON; at += piece) {
		size_t n = size - at < piece ? size - at : piece;
		uint8_t *copy = malloc(n);

		check(copy != NULL);
		memcpy(copy, data + at, n);
		result = kube_mirror_body(m, copy, n);
		free(copy);
	}
	if (result == KUBE_GOES_ON)
		result = kube_mirror_end(m);
	check(result != KUBE_BROKEN || m->why != NULL);
	check(room->used <= LIMIT + size + KUBE_OBJECT_COST);
}

/* The table; the caller frees it. */
static char *
table_of(const struct kube_mirror *m, size_t *length)
{
	const struct kube_store *const stores[] = { &m->store };
	struct kube_list list;
	char *text;

	check(kube_list_make(stores, 1, &list) == 0);
	text = parts_join(list.parts, list.count, length);
	check(list.length == *length);
	kube_list_free(&list);
	return text;
}

static void
check_table(const char *text, size_t length)
{
	const struct json_range range = { .text = text, .length = length,
	    .line = 1 };
	struct json_tree tree = JSON_TREE_INIT;
	unsigned int line;
	const char *why;
	int error;

	check(json_tree_take(&tree, &range, &error, &why, &line) != NULL);
	json_tree_free(&tree);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kube_room room[2] = { { LIMIT, 0 }, { LIMIT, 0 } };
	struct kube_mirror one, other;
	size_t length, again;
	char *text, *second;

	if (size < 2)
		return 0;
	feed(&one, &room[0], data[0], 1 + data[1] % 64U, data + 2, size - 2);
	feed(&other, &room[1], data[0], size, data + 2, size - 2);
	text = table_of(&one, &length);
	second = table_of(&other, &again);
	check_table(text, length);
	check(length == again && memcmp(text, second, length) == 0);
	check(strcmp(one.version, other.version) == 0);
	free(text);
	free(second);
	kube_mirror_free(&one);
	kube_mirror_free(&other);
	return 0;
}
