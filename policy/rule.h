/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of a policy's rule, which its reader, the matching and the decision
 * share.  Only values: this room has no code and uses nothing.
 */
#ifndef NFDNS_POLICY_RULE_H
#define NFDNS_POLICY_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rules are numbered from 1, in the order in which they are tried. */
#define RULE_MAX	32768		/* of one policy */
#define RULE_NAME_MAX	63		/* octets of a rule's name */
#define RULE_NAMES_MAX	1000000		/* records of one zone of policies */
#define RULE_LIST_MAX	4000000		/* names of one file: 150 MiB a million to compile */
#define RULE_ZONE_PREFIX "rpz:"		/* of names of a zone's rules */

/* What is done with a question. */
enum rule_action {
	RULE_ANSWER,		/* as if there were no policy */
	RULE_PASS,		/* the packet goes on, names of the mesh too */
	RULE_NXDOMAIN,
	RULE_NODATA,
	RULE_REFUSE,		/* response code REFUSED */
	RULE_DROP,		/* no answer; over TCP the connection is closed */
	RULE_ADDRESSES,		/* fixed addresses; other types: NODATA */
	RULE_CNAME,		/* a fixed CNAME, followed as one of the table */
	RULE_CNAME_BELOW,	/* a CNAME to the name asked and a fixed end */
	RULE_RECORDS,		/* fixed records; other types: NODATA */
	RULE_REWRITE,		/* the table is asked for another name */
	RULE_FILTER,		/* as RULE_ANSWER, but some types are NODATA */
	RULE_TCP_ONLY,		/* over UDP truncated; over TCP as RULE_ANSWER */
	RULE_NOTHING,		/* a rule with only a rate or only a log: what is
				 * within the limit goes on to the next rule */
	RULE_ACTIONS
};

/* The conditions, in the order in which they are looked at. */
enum rule_key {
	RULE_NAMES,
	RULE_TYPES,
	RULE_USERS,
	RULE_GROUPS,
	RULE_NAMESERVERS,
	RULE_CLIENTS,
	RULE_PROTOCOLS,
	RULE_SOURCE,
	RULE_KEYS
};

/* Bits of the conditions "protocols" and "source". */
#define RULE_UDP	0x1
#define RULE_TCP	0x2
#define RULE_MESH	0x1		/* the table has the name */
#define RULE_OTHER	0x2

/* The one address type that "only" leaves. */
enum rule_only { RULE_ONLY_BOTH, RULE_ONLY_A, RULE_ONLY_AAAA };

/* Whose questions share a token bucket. */
enum rule_per { RULE_PER_USER, RULE_PER_CLIENT, RULE_PER_NAME, RULE_PER_RULE };

/*
 * Which questions get an audit record: those that would get one anyway, none,
 * all.  A rule with "only" decides nothing; matching goes on behind it.
 */
enum rule_log { RULE_LOG_USUAL, RULE_LOG_NONE, RULE_LOG_ALL, RULE_LOG_ONLY };

/* A rule's name as a value, for what outlives the generation of the rule. */
struct rule_name {
	uint8_t length;			/* 0: none */
	char text[RULE_NAME_MAX];	/* no NUL */
};

#endif
