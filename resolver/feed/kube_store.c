/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/kube_mirror.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define FIRST_SLOTS	64

struct kube_object {
	struct kube_object *next;	/* in its slot */
	uint64_t hash;
	size_t key_length;
	size_t length;			/* of the text */
	char octets[];			/* the key, a NUL, BETWEEN, the text */
};

/* What stands between two objects of the list, with each but the first. */
#define BETWEEN		",\n"
#define BETWEEN_LENGTH	(sizeof(BETWEEN) - 1)

static const char *
text_of(const struct kube_object *object)
{
	return object->octets + object->key_length + 1 + BETWEEN_LENGTH;
}

/* The pointer to the object, or to the NULL where it would be. */
static struct kube_object **
find(const struct kube_store *store, const char *key, size_t length,
    uint64_t hash)
{
	struct kube_object **at = &store->slots[hash & (store->slot_count - 1)];

	while (*at != NULL && ((*at)->hash != hash ||
	    (*at)->key_length != length ||
	    memcmp((*at)->octets, key, length) != 0))
		at = &(*at)->next;
	return at;
}

static int
grow(struct kube_store *store)
{
	size_t count = store->slot_count == 0 ? FIRST_SLOTS :
	    store->slot_count * 2;
	struct kube_object **slots = calloc(count, sizeof(struct kube_object *));

	if (slots == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < store->slot_count; i++) {
		struct kube_object *next;

		for (struct kube_object *o = store->slots[i]; o != NULL;
		    o = next) {
			next = o->next;
			o->next = slots[o->hash & (count - 1)];
			slots[o->hash & (count - 1)] = o;
		}
	}
	free(store->slots);
	store->slots = slots;
	store->slot_count = count;
	return 0;
}

static void
drop(struct kube_store *store, struct kube_object **at)
{
	struct kube_object *object = *at;

	*at = object->next;
	store->count--;
	store->room->used -= object->key_length + object->length +
	    KUBE_OBJECT_COST;
	free(object);
}

int
kube_store_put(struct kube_store *store, const char *key, const char *text,
    size_t length)
{
	size_t key_length = strlen(key);
	uint64_t hash = XXH3_64bits_withSeed(key, key_length, store->seed);
	struct kube_object *object, **at;

	if (store->count >= store->slot_count && grow(store) != 0)
		return -ENOMEM;
	at = find(store, key, key_length, hash);
	if (*at != NULL && (*at)->length == length &&
	    memcmp(text_of(*at), text, length) == 0)
		return 0;
	object = malloc(sizeof(*object) + key_length + 1 + BETWEEN_LENGTH +
	    length);
	if (object == NULL)
		return -ENOMEM;
	if (*at != NULL)
		drop(store, at);
	*object = (struct kube_object){ .next = *at, .hash = hash,
	    .key_length = key_length, .length = length };
	memcpy(object->octets, key, key_length + 1);
	memcpy(object->octets + key_length + 1, BETWEEN, BETWEEN_LENGTH);
	memcpy(object->octets + key_length + 1 + BETWEEN_LENGTH, text, length);
	*at = object;
	store->count++;
	store->room->used += key_length + length + KUBE_OBJECT_COST;
	return 1;
}

bool
kube_store_remove(struct kube_store *store, const char *key)
{
	size_t length = strlen(key);
	uint64_t hash = XXH3_64bits_withSeed(key, length, store->seed);
	struct kube_object **at;

	if (store->count == 0)
		return false;
	at = find(store, key, length, hash);
	if (*at == NULL)
		return false;
	drop(store, at);
	return true;
}

void
kube_store_replace(struct kube_store *store, struct kube_store *from)
{
	const struct kube_store empty = KUBE_STORE_INIT(store->seed,
	    store->room);

	kube_store_clear(store);
	*store = *from;
	*from = empty;
}

void
kube_store_clear(struct kube_store *store)
{
	for (size_t i = 0; i < store->slot_count; i++) {
		while (store->slots[i] != NULL)
			drop(store, &store->slots[i]);
	}
	free(store->slots);
	store->slots = NULL;
	store->slot_count = 0;
}

/* While they are sorted, the parts' bases are objects. */
static int
compare(const void *a, const void *b)
{
	const struct iovec *one = a, *other = b;
	const struct kube_object *x = one->iov_base, *y = other->iov_base;

	return strcmp(x->octets, y->octets);
}

/* Octets of the text, by its parts: head, objects with what is between, tail. */
static char head[] = "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[";
static char tail[] = "\n]}\n";

static void
add(struct kube_list *list, char *text, size_t length)
{
	list->parts[list->count++] = (struct iovec){ text, length };
	list->length += length;
}

static void
add_store(struct kube_list *list, const struct kube_store *store)
{
	struct iovec *first = list->parts + list->count;

	for (size_t i = 0, n = 0; i < store->slot_count; i++)
		for (struct kube_object *o = store->slots[i]; o != NULL;
		    o = o->next)
			first[n++].iov_base = o;
	if (store->count > 0)
		qsort(first, store->count, sizeof(*first), compare);
	for (size_t i = 0; i < store->count; i++) {
		struct kube_object *object = first[i].iov_base;
		/* The very first one has no comma before it. */
		const size_t skip = list->count == 1 ? 1 : 0;

		add(list, object->octets + object->key_length + 1 + skip,
		    BETWEEN_LENGTH - skip + object->length);
	}
}

int
kube_list_make(const struct kube_store *const *stores, size_t count,
    struct kube_list *list)
{
	size_t parts = 2;

	for (size_t i = 0; i < count; i++)
		parts += stores[i]->count;
	*list = (struct kube_list){ .parts = calloc(parts,
	    sizeof(*list->parts)) };
	if (list->parts == NULL)
		return -ENOMEM;
	add(list, head, sizeof(head) - 1);
	for (size_t i = 0; i < count; i++)
		add_store(list, stores[i]);
	add(list, tail, sizeof(tail) - 1);
	list->objects = parts - 2;
	return 0;
}

void
kube_list_free(struct kube_list *list)
{
	free(list->parts);
	*list = (struct kube_list){ .parts = NULL };
}
