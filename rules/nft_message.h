/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The netlink messages that install a rule set: table, chains, sets, rules.
 * Each function adds to the batch, which keeps the first error (netlink.h).
 */
#ifndef NFDNS_RULES_NFT_MESSAGE_H
#define NFDNS_RULES_NFT_MESSAGE_H

#include <linux/netfilter/nf_tables.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libnftnl/rule.h>

#include "rules/netlink/expr_builder.h"
#include "rules/rule.h"
#include "rules/ruleset.h"
#include "rules/netlink/netlink.h"
#include "resolver/text/diag.h"

/*
 * Conditions and statements as expressions of the kernel, the same that nft(8)
 * would make.  Each call appends to the rule that the builder holds.
 */

/* How a packet gets to its queue. */
enum queue_form {
	QUEUE_NATIVE,		/* nft's own expression (CONFIG_NFT_QUEUE) */
	QUEUE_XT,		/* the xt target NFQUEUE through nft_compat */
};

/* Names by which the kernel knows the two forms. */
#define EXPRESSION_QUEUE	"queue"
#define EXPRESSION_TARGET	"target"
#define EXPRESSION_TPROXY	"tproxy"
#define EXPRESSION_DUP		"dup"
#define XT_TARGET_NFQUEUE	"NFQUEUE"

void condition_encode(struct expr_builder *b,
    const struct condition *condition);
void statement_encode(struct expr_builder *b, const struct statement *statement,
    enum queue_form form);

/* Loads all of a subject from register 1 on. */
void subject_load(struct expr_builder *b, enum subject subject);

/* Rules and the types of sets as objects of libnftnl. */

/*
 * The rule as the kernel is to have it, with table, chain, comment and, behind
 * it, a digest of all this, by which expressions_are() knows it again.  The
 * caller frees it with nftnl_rule_free().  NULL: out of memory.
 */
struct nftnl_rule *expressions_rule(const struct rule *rule,
    enum queue_form form);

/*
 * Whether a rule from the kernel was made from an equal one, in either form of a
 * queue, by this process or by one before it.
 */
bool expressions_are(const struct rule *wanted, const struct nftnl_rule *there);

/* FNV-1a: begins with EXPRESSIONS_DIGEST, goes on with what it returned. */
#define EXPRESSIONS_DIGEST	UINT64_C(0xcbf29ce484222325)
uint64_t expressions_digest(uint64_t digest, const void *octets, size_t size);

/* The number by which nft(8) knows the type of a set's addresses. */
uint32_t expressions_key_type(int family);

/* The same for the sets of connections, and the length of their keys. */
uint32_t expressions_stream_type(bool ipv4);
uint32_t expressions_stream_length(bool ipv4);

/*
 * What the counter of a rule from the kernel counts, and *packets, its value;
 * RULES_COUNTERS if that is none of them.
 */
enum rules_counter expressions_counter(const struct nftnl_rule *rule,
    uint64_t *packets);

/* What a message is about: the subject of its batch_part. */
enum message_subject {
	MESSAGE_STALE = BATCH_FRAME + 1, /* deletes a table of an earlier run */
	MESSAGE_TABLE,
	MESSAGE_CHAIN,
	MESSAGE_CLEAR,		/* deletes what our last install added */
	MESSAGE_SET,		/* of addresses */
	MESSAGE_STREAMS,	/* a set of TCP connections */
	MESSAGE_USERS,		/* the set of users */
	MESSAGE_RULE,		/* its item is the struct rule */
};

/*
 * A message with the table's name and, unless name is NULL, the name of a chain
 * or a set as this attribute.
 */
void nft_message_name(struct batch *batch, enum rules_table table,
    uint16_t type, enum message_subject subject, uint16_t attribute,
    const char *name);

/* The table, with the owner flag: it goes with its socket. */
void nft_message_table(struct batch *batch, enum rules_table table);

/* A base chain without rules. */
void nft_message_chain(struct batch *batch, enum rules_chain which);

/* The sets of addresses that have elements, and those elements. */
void nft_message_sets(struct batch *batch, const struct ruleset *set);

/* Appends the rules of one chain. */
void nft_message_rules(struct batch *batch, const struct ruleset *set,
    enum rules_chain chain, enum queue_form form);

/* Inserts the first rule of a chain before the rules that it has. */
void nft_message_first_rule(struct batch *batch, const struct ruleset *set,
    enum rules_chain chain);

/*
 * A set of connections, which the rules fill: of fixed size, with time-outs.
 * id is its number in this batch.
 */
void nft_message_streams(struct batch *batch, const struct ruleset *set,
    bool ipv4, uint32_t id);

/* The set of users with that budget, which the rules fill too. */
void nft_message_users(struct batch *batch, enum user_budget budget,
    uint32_t id);

/*
 * What the kernel has in our table, object by object, as digests of its own dump:
 * two snapshots say what was changed between them, whatever a rule does.
 */

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
