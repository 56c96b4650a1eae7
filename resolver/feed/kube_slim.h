/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An object as it arrives, made into the little of it that is kept. */
#ifndef NFDNS_RESOLVER_FEED_KUBE_SLIM_H
#define NFDNS_RESOLVER_FEED_KUBE_SLIM_H

#include <stddef.h>

#include "resolver/feed/kube_kind.h"
#include "resolver/text/json_tree.h"

#define KUBE_KEY_SIZE		(253 + 1 + 253 + 1)
#define KUBE_VERSION_SIZE	256

/* What every object says of itself. */
struct kube_meta {
	char key[KUBE_KEY_SIZE];	/* "NAMESPACE/NAME"; "" without a name */
	char version[KUBE_VERSION_SIZE]; /* resourceVersion; opaque; or "" */
};

/* Start from KUBE_SLIM_INIT; owns its memory, which serves every object. */
struct kube_slim {
	char *text;			/* JSON on one line, no NUL */
	size_t length;
	size_t size;
	struct json_tree tree;
	int error;			/* of the one that is being made */
};

#define KUBE_SLIM_INIT { .tree = JSON_TREE_INIT }

/*
 * Reads metadata.  A name, namespace or version that is longer than it may be,
 * or has an escape, is taken for none: an API server allows neither.  Returns 0
 * or -EBADMSG if the object is not valid JSON.
 */
int kube_meta_read(struct kube_meta *meta, const struct json_range *object)
    __attribute__((warn_unused_result));

/*
 * Makes the object of that kind into slim->text, with apiVersion and kind,
 * which the items of a list lack.  Returns 0; -EBADMSG if the object is not
 * valid JSON; -EINVAL, and *why a static text, if what would be kept is
 * something that the reader of tables refuses as a whole (such as a NUL); or
 * -ENOMEM.
 */
int kube_slim_make(struct kube_slim *slim, const struct kube_kind *kind,
    const struct json_range *object, const char **why)
    __attribute__((warn_unused_result));

void kube_slim_free(struct kube_slim *slim);

#endif
