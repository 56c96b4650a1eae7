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

#include "resolver/feed/feed.h"
#include "resolver/feed/json_split.h"
#include "resolver/feed/kube_kind.h"
#include "resolver/feed/kube_slim.h"
#include "resolver/feed/kube_store.h"
#include "resolver/text/json_tree.h"

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
	KUBE_BODY_INITIAL,		/* a watch that begins with all objects */
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

#endif
