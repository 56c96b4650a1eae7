/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/feed/object_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "resolver/text/json_scan.h"
#include "resolver/text/json_tree.h"

/* A text while it is read. */
struct reading {
	struct object_names *names;
	struct json_tree tree;
	size_t room;
	const char *why;
};

static uint64_t
hash_text(const char *text, uint64_t seed)
{
	if (text == NULL)
		text = "";
	return XXH3_64bits_withSeed(text, strlen(text), seed);
}

/* By kind, namespace and name: one stands for one object of the API. */
static uint64_t
key_of(const struct json_node *object)
{
	const struct json_node *metadata = json_tree_member(object, "metadata");
	uint64_t hash = hash_text(json_tree_string(
	    json_tree_member(object, "kind")), 0);

	hash = hash_text(json_tree_string(json_tree_member(metadata,
	    "namespace")), hash);
	return hash_text(json_tree_string(json_tree_member(metadata, "name")),
	    hash);
}

static int
add(struct reading *r, const struct json_range *range)
{
	const struct json_node *object;
	unsigned int line;
	int error;

	object = json_tree_take(&r->tree, range, &error, &r->why, &line);
	if (object == NULL)
		return error == -ENOMEM ? error : -EBADMSG;
	if (r->names->count == r->room) {
		const size_t room = r->room > 0 ? r->room * 2 : 256;
		struct object_name *grown = reallocarray(r->names->names, room,
		    sizeof(*grown));

		if (grown == NULL)
			return -ENOMEM;
		r->names->names = grown;
		r->room = room;
	}
	r->names->names[r->names->count++] = (struct object_name){
		key_of(object), XXH3_64bits(range->text, range->length) };
	return 0;
}

static int
read_items(struct reading *r, struct json_scan *scan)
{
	struct json_range range;
	int error = 0;

	(void)json_scan_enter_array(scan);
	while (error == 0 && json_scan_element(scan))
		if (json_scan_value(scan, &range))
			error = add(r, &range);
	return error;
}

static int
read_text(struct reading *r, struct json_scan *scan)
{
	struct json_range name, value;
	int error = 0;

	(void)json_scan_enter_object(scan);
	while (error == 0 && json_scan_member(scan, &name)) {
		if (json_range_is(&name, "items"))
			error = read_items(r, scan);
		else
			(void)json_scan_value(scan, &value);
	}
	if (error == 0 && !json_scan_end(scan)) {
		r->why = "it is not JSON, or cut off";
		error = -EBADMSG;
	}
	return error;
}

static int
compare(const void *a, const void *b)
{
	const struct object_name *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

int
object_names_open(struct object_names *names, const char *text, size_t length,
    const char **why)
{
	struct reading r = { .names = names, .tree = JSON_TREE_INIT };
	struct json_scan scan = json_scan_over(text, length);
	size_t kept = 0;
	int error;

	*names = (struct object_names){ NULL, 0 };
	error = read_text(&r, &scan);
	json_tree_free(&r.tree);
	if (error < 0) {
		*why = r.why;
		object_names_close(names);
		return error;
	}
	if (names->count > 0)
		qsort(names->names, names->count, sizeof(*names->names),
		    compare);
	for (size_t i = 0; i < names->count; i++)
		if (kept == 0 ||
		    names->names[kept - 1].key != names->names[i].key)
			names->names[kept++] = names->names[i];
	names->count = kept;
	return 0;
}

void
object_names_close(struct object_names *names)
{
	free(names->names);
	*names = (struct object_names){ NULL, 0 };
}

void
object_names_compare(const struct object_names *old,
    const struct object_names *new, struct name_table_delta *delta)
{
	size_t i = 0, j = 0;

	*delta = (struct name_table_delta){ 0, 0, 0 };
	while (i < old->count && j < new->count) {
		const struct object_name *a = &old->names[i];
		const struct object_name *b = &new->names[j];

		if (a->key == b->key) {
			delta->changed += a->text != b->text;
			i++;
			j++;
		} else if (a->key < b->key) {
			delta->removed++;
			i++;
		} else {
			delta->added++;
			j++;
		}
	}
	delta->removed += old->count - i;
	delta->added += new->count - j;
}
