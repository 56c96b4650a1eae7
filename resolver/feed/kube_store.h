/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slim objects of one kind by namespace and name, and the List of all of
 * them that is the table.
 */
#ifndef NFDNS_RESOLVER_FEED_KUBE_STORE_H
#define NFDNS_RESOLVER_FEED_KUBE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* Octets that the stores of a feed may take together, and do. */
struct kube_room {
	size_t limit;
	size_t used;			/* keys, texts and KUBE_OBJECT_COST each */
};

#define KUBE_OBJECT_COST	64	/* octets: the object, its slot, malloc(3) */

/* Start from KUBE_STORE_INIT(random number, room); owns its objects. */
struct kube_store {
	struct kube_object **slots;
	size_t slot_count;		/* a power of two; 0 at first */
	size_t count;
	struct kube_room *room;		/* shared; not checked here */
	uint64_t seed;			/* names are chosen by strangers */
};

#define KUBE_STORE_INIT(random, room_) { .seed = (random), .room = (room_) }

/*
 * Adds or replaces.  Key and text are copied; the key ends with a NUL.  Returns
 * 1 if that changed anything, 0 if not, or -ENOMEM.
 */
int kube_store_put(struct kube_store *store, const char *key, const char *text,
    size_t length) __attribute__((warn_unused_result));

/* Whether there was such an object. */
bool kube_store_remove(struct kube_store *store, const char *key);

/* Takes all of "from", which is empty then; what it had before goes. */
void kube_store_replace(struct kube_store *store, struct kube_store *from);

/* Frees the objects; the store is empty then, and can be used. */
void kube_store_clear(struct kube_store *store);

/* A text in parts, of which only the array is its own. */
struct kube_list {
	struct iovec *parts;
	size_t count;
	size_t length;			/* octets of all */
};

/*
 * One JSON List of the objects of all stores, an object a line; in the order of
 * the stores, then of the keys, so that equal states are equal octets.  It borrows
 * from the stores, which must stay as they are.  0 or -ENOMEM.
 */
int kube_list_make(const struct kube_store *const *stores, size_t count,
    struct kube_list *list) __attribute__((warn_unused_result));
void kube_list_free(struct kube_list *list);

#endif
