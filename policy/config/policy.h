/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy as the configuration says it: rules in order, as plain values.
 * Lists of all rules lie behind each other in one array a kind, and a rule has
 * the span of its own.
 */
#ifndef NFDNS_POLICY_CONFIG_POLICY_H
#define NFDNS_POLICY_CONFIG_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/rule.h"
#include "resolver/dns/name.h"
#include "resolver/text/host.h"

/* Items first to first + count - 1 of one of the arrays; count 0: not given. */
struct policy_span {
	uint32_t first;
	uint32_t count;
};

enum policy_name_kind {
	POLICY_EXACT,		/* "a.example" */
	POLICY_BELOW,		/* "*.example": at any depth, without its apex */
	POLICY_WITHIN,		/* ".example": with its apex */
	POLICY_SET,		/* "@/path": the names in a file */
};

struct policy_name {
	uint32_t kind;		/* enum policy_name_kind */
	uint32_t set;		/* POLICY_SET: which of the files */
	struct dns_name name;	/* lower-cased; of the others */
};

struct policy_prefix {
	uint8_t address[16];	/* IPv4: the first four; host bits cleared */
	uint8_t family;		/* AF_INET or AF_INET6 */
	uint8_t length;		/* bits */
};

/* Whether all addresses of the one are in the other. */
static inline bool
policy_prefix_covers(const struct policy_prefix *wide,
    const struct policy_prefix *narrow)
{
	return wide->family == narrow->family &&
	    wide->length <= narrow->length &&
	    host_same_bits(wide->address, narrow->address, wide->length);
}

/* An address of an answer. */
struct policy_address {
	uint8_t address[16];	/* IPv4: the first four */
	uint8_t family;
};

/* What has to hold; or what may not, none of it: items that begin with "!". */
struct policy_conditions {
	struct policy_span names;	/* of policy.names */
	struct policy_span types;	/* of policy.numbers, like the next two */
	struct policy_span users;
	struct policy_span groups;
	struct policy_span nameservers;	/* of policy.prefixes */
	struct policy_span clients;
	uint32_t protocols;		/* RULE_UDP, RULE_TCP; 0: not given */
	uint32_t source;		/* RULE_MESH, RULE_OTHER;
					 * 0: not given */
};

struct policy_rate {
	uint32_t limit;			/* questions a second, and at once; 0: no rate */
	uint32_t per;			/* enum rule_per */
};

struct policy_rule {
	char name[RULE_NAME_MAX + 1];
	const char *file;		/* of the configuration; */
	uint32_t line;			/* there */
	uint32_t action;		/* enum rule_action */
	struct policy_conditions match;
	struct policy_conditions not;
	uint32_t zone;			/* 0; or these are all rules of a zone of
					 * policies: from 1, which of policy.sets */
	struct dns_name origin;		/* its apex */
	uint32_t watch;			/* 0 or 1: rules follow the files */
	struct policy_span addresses;	/* RULE_ADDRESSES: of policy.addresses */
	struct dns_name cname;		/* RULE_CNAME: the target */
	struct policy_name from;	/* RULE_REWRITE: EXACT or BELOW */
	struct policy_name to;		/* EXACT, or BELOW as "from" */
	uint32_t ttl;			/* seconds, of addresses and cname */
	uint32_t only;			/* enum rule_only; of RULE_FILTER */
	struct policy_rate rate;
	uint32_t log;			/* enum rule_log */
	uint32_t observe;		/* 0 or 1: mode = "observe" */
	uint32_t given;			/* which actions the reader saw */
};

/* A file of names, "@/path", or a zone of policies. */
struct policy_set {
	char *path;
	const char *file;		/* of the configuration; */
	uint32_t line;			/* there, for messages */
	uint32_t zone;			/* 0 or 1: which of them */
};

/* Whether a rule of that action and rate denies some of what it matches. */
static inline bool
policy_action_denies(uint32_t action, const struct policy_rate *rate)
{
	return (action != RULE_ANSWER && action != RULE_PASS &&
	    action != RULE_NOTHING) || rate->limit > 0;
}

/* Growable arrays; all is owned. */
struct policy {
	struct policy_rule *rules;	size_t rule_count;
	struct policy_name *names;	size_t name_count;
	uint32_t *numbers;		size_t number_count;
	struct policy_prefix *prefixes;	size_t prefix_count;
	struct policy_address *addresses; size_t address_count;
	struct policy_set *sets;	size_t set_count;
	uint32_t refuse_unloaded;	/* 0 or 1: policy_unloaded = "refuse" */
};

/*
 * Whether some rule that is enforced denies something to somebody, as far as
 * the configuration tells before it is compiled: a zone of policies does, default
 * rules do not.
 */
bool policy_could_deny(const struct policy *policy);

/* Frees what it owns, and empties it. */
void policy_clear(struct policy *policy);

#endif
