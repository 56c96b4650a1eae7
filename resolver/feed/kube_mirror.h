/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The objects of one kind as the API server has them.  It is given the bodies
 * of answers, in pieces cut anywhere, and keeps what they say; when to ask for
 * what is the reflector's to decide.
 */
#ifndef NFDNS_RESOLVER_FEED_KUBE_MIRROR_H
#define NFDNS_RESOLVER_FEED_KUBE_MIRROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "resolver/text/json_tree.h"
#include "resolver/feed/feed.h"
#include "resolver/feed/json_split.h"
#include "resolver/clock.h"
#include "resolver/feed/backoff.h"

/*
 * The kinds of objects that are watched: where the API has them, and what
 * resolver/kubernetes reads of each.  The rest of an object (its status, its
 * managed fields, a pod's whole template) is dropped as it arrives: it would be
 * nine tenths of the memory, and would make a new table each time it changes.
 */

/*
 * A member that is kept.  A row without a key ends the list.  Lists are
 * transparent: the same members are kept of each item.
 */
struct kube_field {
	const char *key;
	const struct kube_field *below;	/* NULL: all of the value */
};

struct kube_kind {
	const char *kind;		/* "Service" */
	const char *version;		/* of the API: "v1" */
	const char *path;		/* of the API: "/api/v1" */
	const char *plural;		/* "services" */
	const char *selector;		/* a field selector, escaped for a URL */
	const struct kube_field *fields;
	bool in_namespace;
	bool needed;			/* no table without it */
	bool pods;			/* only if pods are asked for */
};

extern const struct kube_kind kube_kinds[];
extern const size_t kube_kind_count;

/* An object as it arrives, made into the little of it that is kept. */

#define KUBE_KEY_SIZE		(253 + 1 + 253 + 1)
#define KUBE_VERSION_SIZE	256

/* What every object says of itself. */
struct kube_meta {
	char key[KUBE_KEY_SIZE];	/* "NAMESPACE/NAME"; "" without a name */
	char version[KUBE_VERSION_SIZE]; /* resourceVersion; opaque; or "" */
};

/* Start from KUBE_SLIM_INIT; owns its memory, which serves every object. */
struct kube_slim {
	char *text;			/* JSON on one line */
	struct json_tree tree;
};

#define KUBE_SLIM_INIT { .tree = JSON_TREE_INIT }

/*
 * Reads metadata.  A name, namespace or version that is longer than it may be,
 * or has an escape, is taken for none: an API server allows neither.  Returns 0
 * or -EBADMSG if the object is not valid JSON.
 */
int kube_meta_read(struct kube_meta *meta, const struct json_range *object)
    __attribute__((warn_unused_result));

/* Octets of an object as it arrives; etcd takes 1.5 MiB. */
#define KUBE_OBJECT_MOST	((size_t)2 << 20)

/*
 * Makes the object of that kind into slim->text, with apiVersion and kind,
 * which the items of a list lack.  Returns 0; -ENOMEM; or -EINVAL, and *why, if
 * it is no JSON that the reader of tables takes: one object must not cost all.
 */
int kube_slim_make(struct kube_slim *slim, const struct kube_kind *kind,
    const struct json_range *object, const char **why)
    __attribute__((warn_unused_result));

void kube_slim_free(struct kube_slim *slim);

/*
 * The slim objects of one kind by namespace and name, and the List of all of
 * them that is the table.
 */

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
	size_t objects;
};

/*
 * One JSON List of the objects of all stores, an object a line; in the order of
 * the stores, then of the keys, so that equal states are equal octets.  It borrows
 * from the stores, which must stay as they are.  0 or -ENOMEM.
 */
int kube_list_make(const struct kube_store *const *stores, size_t count,
    struct kube_list *list) __attribute__((warn_unused_result));
void kube_list_free(struct kube_list *list);

#define KUBE_PAGE_SIZE	4096		/* of a "continue", with NUL */
#define KUBE_MAX_PAGES	20000		/* of a list: ten million objects */

/* What an API server says when it refuses: an object of kind Status. */
struct kube_status {
	unsigned int code;		/* as of HTTP; 0: not known */
	unsigned int retry_after;	/* seconds; 0: not said */
	bool expired;			/* reason Expired or Gone */
	bool too_large;			/* cause ResourceVersionTooLarge */
	char message[FEED_TEXT];	/* printable; "" if there is none */
};

/* What an answer holds. */
enum kube_body {
	KUBE_BODY_LIST,			/* a list, or a page of one */
	KUBE_BODY_WATCH,
	KUBE_BODY_REFUSAL,		/* a Status, or a proxy's text */
};

enum kube_result {
	KUBE_GOES_ON,
	KUBE_REFUSED,			/* mirror->status says why */
	KUBE_BROKEN,			/* mirror->why says what */
};

/* Start with kube_mirror_init(). */
struct kube_mirror {
	const struct kube_kind *kind;
	struct kube_store store;
	struct kube_store staged;	/* a list that has not ended */

	enum kube_body body;
	struct json_split split;
	struct kube_slim slim;
	struct json_tree tree;
	struct json_split_text refusal;

	char version[KUBE_VERSION_SIZE]; /* to watch from; "": none */
	char page[KUBE_PAGE_SIZE];	/* of the list's next page; "": none */
	unsigned int pages;		/* of the list, so far */
	bool synced;			/* the store has been whole once */
	bool dropped;			/* the store, for a list: no room for both */
	bool changed;			/* the store; the owner clears it */
	uint64_t events;		/* of this body */

	struct kube_status status;
	const char *why;		/* static */
	/* An object that had to be left out; the owner clears it. */
	char complaint[FEED_TEXT];
};

/* "room" is shared with the feed's other mirrors. */
void kube_mirror_init(struct kube_mirror *mirror, const struct kube_kind *kind,
    struct kube_room *room, uint64_t random);

/* A body begins.  A list without a page begins anew. */
void kube_mirror_begin(struct kube_mirror *mirror, enum kube_body body);

/* A piece of it.  After anything but KUBE_GOES_ON the body is over. */
enum kube_result kube_mirror_body(struct kube_mirror *mirror,
    const void *octets, size_t length) __attribute__((warn_unused_result));

/*
 * The body has ended as it should.  A list without a next page is now what the
 * store holds.
 */
enum kube_result kube_mirror_end(struct kube_mirror *mirror)
    __attribute__((warn_unused_result));

/* The kind is gone: so are its objects. */
void kube_mirror_clear(struct kube_mirror *mirror);

void kube_mirror_free(struct kube_mirror *mirror);

/*
 * When a table is made of what has changed, and what follows from the host's
 * verdict.  Pure: time is a parameter.
 */

#define KUBE_OFFER_QUIET_MS	100	/* without another change */
#define KUBE_OFFER_MOST_MS	10000	/* from the first change */

/* Start from zeros. */
struct kube_offer {
	monotime_t first;		/* change that was not offered; or never */
	monotime_t last;
	monotime_t again;		/* the host could not keep it: not before */
	struct backoff backoff;
};

/* Something has changed. */
void kube_offer_change(struct kube_offer *offer, monotime_t now);

/* Whether to make a table now, or when; MONOTIME_NEVER: nothing has changed. */
bool kube_offer_is_due(const struct kube_offer *offer, monotime_t now);
monotime_t kube_offer_deadline(const struct kube_offer *offer);

/* A table was offered. */
void kube_offer_verdict(struct kube_offer *offer, monotime_t now,
    uint64_t random, enum feed_verdict verdict);

#endif
