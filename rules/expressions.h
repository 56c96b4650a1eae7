/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules and the types of sets as objects of libnftnl. */
#ifndef NFDNS_RULES_EXPRESSIONS_H
#define NFDNS_RULES_EXPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libnftnl/rule.h>

#include "rules/encode.h"
#include "rules/ruleset.h"

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

#endif
