/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/kube_store.h"

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
	char octets[];			/* the key, a NUL, the text */
};

static const char *
text_of(const struct kube_object *object)
{
	return object->octets + object->key_length + 1;
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
	store->octets -= object->key_length + object->length;
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
	object = malloc(sizeof(*object) + key_length + 1 + length);
	if (object == NULL)
		return -ENOMEM;
	if (*at != NULL)
		drop(store, at);
	*object = (struct kube_object){ .next = *at, .hash = hash,
	    .key_length = key_length, .length = length };
	memcpy(object->octets, key, key_length + 1);
	memcpy(object->octets + key_length + 1, text, length);
	*at = object;
	store->count++;
	store->octets += key_length + length;
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
	uint64_t seed = store->seed;

	kube_store_clear(store);
	*store = *from;
	*from = (struct kube_store)KUBE_STORE_INIT(seed);
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

static int
compare(const void *a, const void *b)
{
	const struct kube_object *const *one = a, *const *other = b;

	return strcmp((*one)->octets, (*other)->octets);
}

/* Octets of the text, by its parts: head, objects with what is between, tail. */
static const char head[] = "{\"apiVersion\":\"v1\",\"kind\":\"List\","
    "\"items\":[";
static const char tail[] = "\n]}\n";

static char *
write_store(char *to, const struct kube_store *store,
    const struct kube_object **sorted, bool *first)
{
	size_t count = 0;

	for (size_t i = 0; i < store->slot_count; i++) {
		for (struct kube_object *o = store->slots[i]; o != NULL;
		    o = o->next)
			sorted[count++] = o;
	}
	if (count > 0)
		qsort(sorted, count, sizeof(*sorted), compare);
	for (size_t i = 0; i < count; i++) {
		if (!*first)
			*to++ = ',';
		*first = false;
		*to++ = '\n';
		memcpy(to, text_of(sorted[i]), sorted[i]->length);
		to += sorted[i]->length;
	}
	return to;
}

int
kube_list_make(const struct kube_store *const *stores, size_t count,
    char **text, size_t *length)
{
	size_t size = sizeof(head) + sizeof(tail), most = 1;
	const struct kube_object **sorted;
	bool first = true;
	char *to;

	for (size_t i = 0; i < count; i++) {
		size += stores[i]->octets + 2 * stores[i]->count;
		if (stores[i]->count > most)
			most = stores[i]->count;
	}
	sorted = calloc(most, sizeof(const struct kube_object *));
	*text = to = malloc(size);
	if (sorted == NULL || to == NULL) {
		free(sorted);
		free(to);
		*text = NULL;
		return -ENOMEM;
	}
	memcpy(to, head, sizeof(head) - 1);
	to += sizeof(head) - 1;
	for (size_t i = 0; i < count; i++)
		to = write_store(to, stores[i], sorted, &first);
	memcpy(to, tail, sizeof(tail) - 1);
	*length = (size_t)(to - *text) + sizeof(tail) - 1;
	free(sorted);
	return 0;
}
