/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel has in our table, object by object, as digests of its own dump:
 * two snapshots say what was changed between them, whatever a rule does.
 */
#ifndef NFDNS_RULES_SNAPSHOT_H
#define NFDNS_RULES_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/netfilter/nf_tables.h>

#include "resolver/text/diag.h"
#include "rules/netlink/netlink.h"

enum snapshot_kind {
	SNAPSHOT_TABLE,		/* its flags */
	SNAPSHOT_CHAIN,
	SNAPSHOT_SET,
	SNAPSHOT_ELEMENTS,	/* of a set that no rule fills, in any order */
	SNAPSHOT_RULE,
};

struct snapshot_object {
	enum snapshot_kind kind;
	unsigned int number;		/* of a rule in its chain, from 1 */
	bool filled;			/* a set: by rules */
	char name[NFT_NAME_MAXLEN];	/* of the set, or of the chain */
	char comment[NFT_USERDATA_MAXLEN];	/* of a rule; "" if it has none */
	uint64_t digest;		/* of all but handles and counts */
};

/* In the order of the kernel.  {0} is empty, and may be freed. */
struct snapshot {
	struct snapshot_object *objects;
	size_t count, room;
};

/*
 * Reads it, and again if another program changed the rules meanwhile.  0, with
 * what the caller frees; or nothing and -ENOENT when there is no such table, -EINTR
 * when it changes all the time, or another negative errno.
 */
int snapshot_read(struct snapshot *s, struct netlink *netlink)
    __attribute__((warn_unused_result));
void snapshot_free(struct snapshot *s);

/* Whether there is an object of that kind and name. */
bool snapshot_has(const struct snapshot *s, enum snapshot_kind kind,
    const char *name);

/*
 * Whether both are the same; each difference is an error in diag, in words
 * ("chain question: rule 3 \"bypass: user 998\" is missing").
 */
bool snapshot_equal(const struct snapshot *installed,
    const struct snapshot *now, struct diag *diag);

#endif
