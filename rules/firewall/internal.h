/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of this room share. */
#ifndef NFDNS_RULES_FIREWALL_INTERNAL_H
#define NFDNS_RULES_FIREWALL_INTERNAL_H

#include <stdio.h>

#include <libnftnl/expr.h>

#include "rules/firewall/firewall.h"
#include "rules/netlink/nft_dump.h"

struct firewall {
	struct nft_dump dump;		/* of others' tables */
};

/* Whether packets come to it by a hook: its table is not switched off. */
bool firewall_is_base(const struct firewall *firewall,
    const struct nftnl_chain *chain);

/* "ip", "ip6" or "inet". */
const char *firewall_family(uint32_t family);

/* The number of an interface; 0: none. */
uint32_t firewall_interface(const char *name);

enum firewall_match { MATCH_NO, MATCH_MAYBE, MATCH_YES };

/* nf_tables' registers: words of 32 bits; "known" for each octet. */
#define REGISTER_OCTETS	64
struct registers {
	uint8_t octets[REGISTER_OCTETS];
	bool known[REGISTER_OCTETS];
};

/* A packet on its way through one base chain. */
struct walk {
	const struct firewall *firewall;
	struct firewall_packet packet;	/* rules may change its mark */
	uint32_t family;		/* of the table */
	const char *table;
	struct registers registers;
	bool unsure;			/* a rule before may have let it pass */
	bool doubt;			/* the jump to here may not hold */
	unsigned int depth;
	size_t steps;			/* rules looked at so far */
};

/* What one rule says.  "verdict" as in the kernel: NF_ACCEPT, NFT_JUMP ... */
struct rule_outcome {
	enum firewall_match match;
	bool has_verdict;
	int32_t verdict;
	const char *chain;		/* of NFT_JUMP, NFT_GOTO; borrowed */
	enum firewall_effect effect;	/* if not FIREWALL_PASSES, it is terminal */
	uint16_t port;
};

/* Goes through the expressions of a rule. */
void walk_rule_expressions(struct walk *walk, struct nftnl_rule *rule,
    struct rule_outcome *outcome);

/* The set of that name in the table; NULL: there is none. */
struct nftnl_set *lookup_set(const struct walk *walk, const char *name);

/* The element that has the key, or the one for all others; NULL: none. */
struct nftnl_set_elem *lookup_element(struct nftnl_set *set,
    const uint8_t *key, size_t length);

/* A match of xtables, in its kernel form; what is not known is MATCH_MAYBE. */
enum firewall_match xt_match(const struct firewall_packet *packet,
    const char *name, uint32_t revision, const void *info, size_t length);

/* A target of xtables: FIREWALL_PASSES and *ends false if the rules go on. */
enum firewall_effect xt_target(const char *name, bool *ends);

#endif
