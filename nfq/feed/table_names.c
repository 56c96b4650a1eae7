/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/feed/table_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "resolver/sources/name_table.h"

#define FIRST_ROOM	1024

static const struct {
	const char *name;
	char format;
} formats[] = { { "nds-proto", 'n' }, { "kubernetes", 'k' } };

int
table_reader_begin(struct table_reader *r, const char *format, size_t most,
    char *why, size_t why_size)
{
	*r = (struct table_reader){ .most = most, .split = JSON_SPLIT_INIT,
		.tree = JSON_TREE_INIT, .why = why, .why_size = why_size };
	json_split_begin(&r->split, true);
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (strcmp(format, formats[i].name) == 0)
			r->names.format = formats[i].format;
	if (r->names.format != 0)
		return 0;
	(void)snprintf(why, why_size, "its format is not known");
	return -EBADMSG;
}

static int
grow(struct table_reader *r)
{
	const size_t room = r->room > 0 ? r->room * 2 : FIRST_ROOM;
	uint64_t *grown;

	if (r->counts_only || r->names.count < r->room)
		return 0;
	grown = reallocarray(r->names.names, room, sizeof(*grown));
	if (grown == NULL)
		return -ENOMEM;
	r->names.names = grown;
	r->room = room;
	return 0;
}

static int
add(struct table_reader *r, uint64_t key, uint64_t rest)
{
	int error = grow(r);

	if (error == 0 && r->names.count == r->most) {
		(void)snprintf(r->why, r->why_size, "it has more than %zu "
		    "names, one for each 64 octets of \"limit\": raise that in "
		    "feed.conf if the mesh is that large", r->most);
		error = -EBADMSG;
	}
	if (error == 0 && !r->counts_only)
		r->names.names[r->names.count] =
		    (key >> (64 - TABLE_NAMES_KEY) << (64 - TABLE_NAMES_KEY)) |
		    rest >> TABLE_NAMES_KEY;
	r->names.count++;
	return error;
}

static int
take_nds(struct table_reader *r, const void *octets, size_t length,
    size_t *used)
{
	struct name_table_walk walk = name_table_walk_over(octets, length);
	struct name_table_entry entry;
	int error = 0;

	*used = 0;
	while (error == 0 && name_table_next(&walk, &entry)) {
		*used = name_table_offset(&walk);
		if (entry.fault != NULL || entry.host.length == 0)
			r->names.faulty++;
		else
			error = add(r, XXH3_64bits(entry.host.text,
			    entry.host.length), XXH3_64bits(entry.octets.text,
			    entry.octets.length));
	}
	/* Behind the last entry there may be fields of later versions. */
	if (error == 0 && !name_table_failed(&walk))
		*used = length;
	return error;
}

static uint64_t
hash_text(const struct json_node *text, uint64_t seed)
{
	const char *string = json_tree_string(text);

	if (string == NULL)
		string = "";
	return XXH3_64bits_withSeed(string, strlen(string), seed);
}

/* By kind, namespace and name: one stands for one object of the API. */
static int
add_object(struct table_reader *r, const struct json_range *range)
{
	const struct json_node *object, *metadata;
	const char *reason = "";
	unsigned int line;
	uint64_t key;
	int error;

	object = json_tree_take(&r->tree, range, &error, &reason, &line);
	if (object == NULL) {
		(void)snprintf(r->why, r->why_size, "%s", reason);
		return error == -ENOMEM ? error : -EBADMSG;
	}
	metadata = json_tree_member(object, "metadata");
	key = hash_text(json_tree_member(object, "kind"), 0);
	key = hash_text(json_tree_member(metadata, "namespace"), key);
	key = hash_text(json_tree_member(metadata, "name"), key);
	return add(r, key, XXH3_64bits(range->text, range->length));
}

static int
take_objects(struct table_reader *r, const void *octets, size_t length)
{
	struct json_range object;
	int error = json_split_add(&r->split, octets, length), n = 0;

	while (error == 0 && (n = json_split_next(&r->split, &object)) == 1)
		error = add_object(r, &object);
	if (error < 0 || n == 0)
		return error;
	if (n == -ENOMEM)
		return n;
	(void)snprintf(r->why, r->why_size, "it is not a list of JSON objects");
	return -EBADMSG;
}

int
table_reader_take(struct table_reader *r, const void *octets, size_t length,
    size_t *used)
{
	int error;

	*used = length;
	error = r->names.format == 'n' ? take_nds(r, octets, length, used) :
	    take_objects(r, octets, length);
	r->at += *used;
	return error;
}

static int
compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t
key_of(uint64_t name)
{
	return name >> (64 - TABLE_NAMES_KEY);
}

/* Of several with one key one stays: a map of protocol buffers has each once. */
static void
sort(struct table_names *names)
{
	uint64_t *at = names->names;
	size_t kept = 0;

	if (names->count > 0)
		qsort(at, names->count, sizeof(*at), compare);
	for (size_t i = 0; i < names->count; i++)
		if (kept == 0 || key_of(at[kept - 1]) != key_of(at[i]))
			at[kept++] = at[i];
	names->count = kept;
	/* What was too much of it; it stays where it is if that fails. */
	at = reallocarray(at, kept + 1, sizeof(*at));
	if (at != NULL)
		names->names = at;
}

int
table_reader_end(struct table_reader *r, int error, size_t rest,
    struct table_names *names)
{
	const bool objects = r->names.format == 'k';

	if (error == 0 && rest > 0) {
		(void)snprintf(r->why, r->why_size, "it is not a name table, from "
		    "octet %llu on", (unsigned long long)r->at);
		error = -EBADMSG;
	}
	if (error == 0 && objects && !json_split_is_whole(&r->split)) {
		(void)snprintf(r->why, r->why_size, "it is not JSON, or cut "
		    "off");
		error = -EBADMSG;
	}
	json_split_free(&r->split);
	json_tree_free(&r->tree);
	if (error == 0 && !r->counts_only)
		sort(&r->names);
	if (error < 0 || names == NULL)
		table_names_free(&r->names);
	if (names != NULL)
		*names = r->names;
	return error;
}

int
table_names_read(struct table_names *names, const char *format,
    const struct iovec *parts, size_t count, size_t most, char *why,
    size_t why_size)
{
	struct table_reader r;
	size_t used, rest = 0;
	int error = table_reader_begin(&r, format, most, why, why_size);

	r.counts_only = names == NULL;
	for (size_t i = 0; i < count && error == 0 && rest == 0; i++) {
		error = table_reader_take(&r, parts[i].iov_base,
		    parts[i].iov_len, &used);
		rest = parts[i].iov_len - used;
	}
	return table_reader_end(&r, error, rest, names);
}

void
table_names_free(struct table_names *names)
{
	free(names->names);
	memset(names, 0, sizeof(*names));
}

void
table_names_compare(const struct table_names *old,
    const struct table_names *new, struct table_delta *delta)
{
	size_t i = 0, j = 0;
	const size_t count = old->format == new->format ? old->count : 0;

	*delta = (struct table_delta){ .removed = old->count - count };
	while (i < count && j < new->count) {
		const uint64_t a = old->names[i], b = new->names[j];

		if (key_of(a) == key_of(b)) {
			delta->changed += a != b;
			i++;
			j++;
		} else if (a < b) {
			delta->removed++;
			i++;
		} else {
			delta->added++;
			j++;
		}
	}
	delta->removed += count - i;
	delta->added += new->count - j;
}
