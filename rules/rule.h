/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One rule: conditions that a packet has to meet, all of them, and what is then
 * done with it.  Both are primitive, as nft(8) and the kernel have them.
 * condition.c and statement.c have one row for each kind of them, which says how
 * nft writes it and by which expressions the kernel gets it.
 */
#ifndef NFDNS_RULES_RULE_H
#define NFDNS_RULES_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * In which table a chain is: all have one name.  "dup" is not in family inet, so what
 * containers ask has a table for each version of IP.
 */
enum rules_table { TABLE_INET, TABLE_IP, TABLE_IP6, RULES_TABLES };

/*
 * STREAM, ARRIVAL and GUESTS are only there if TCP is captured, the last four
 * for containers.
 */
enum rules_chain {
	CHAIN_QUESTION,		/* output: what is queued */
	CHAIN_VERDICT,		/* output: what becomes of it behind the queue */
	CHAIN_STREAM,		/* output, between them: packets of TCP connections */
	CHAIN_ARRIVAL,		/* prerouting: those that come back from lo */
	CHAIN_GUESTS,		/* prerouting: of containers' connections, what is ours */
	CHAIN_GUESTS4,		/* prerouting: what is queued of what containers ask */
	CHAIN_BACK4,		/* prerouting: what becomes of it behind the queue */
	CHAIN_GUESTS6,
	CHAIN_BACK6,
	CHAINS
};

/* What of a packet a condition looks at. */
enum subject {
	SUBJECT_NONE,
	SUBJECT_NFPROTO,	/* NFPROTO_IPV4 or NFPROTO_IPV6 */
	SUBJECT_L4PROTO,	/* IPPROTO_* */
	SUBJECT_MARK,
	SUBJECT_SKUID,		/* the socket's user and group */
	SUBJECT_SKGID,
	SUBJECT_CGROUPV2,	/* the socket's cgroup, or one above that */
	SUBJECT_IIF,		/* interface index */
	SUBJECT_IIFNAME,
	SUBJECT_FIB_SADDR_TYPE,	/* RTN_*, by the routing tables */
	SUBJECT_FIB_DADDR_TYPE,
	SUBJECT_FIB_BACK,	/* interface index, by which an answer would go if it
				 * had to go back where the packet came in; 0: none */
	SUBJECT_IP_SADDR,
	SUBJECT_IP_DADDR,
	SUBJECT_IP6_SADDR,
	SUBJECT_IP6_DADDR,
	SUBJECT_TH_DPORT,	/* of TCP and UDP */
	SUBJECT_TCP_FLAGS,	/* RULE_TCP_* */
	/*
	 * The key of the sets of connections: client address, client port and
	 * nameserver, of the client's packets and of ours.
	 */
	SUBJECT_STREAM4,
	SUBJECT_STREAM6,
	SUBJECT_STREAM4_REPLY,
	SUBJECT_STREAM6_REPLY,
	SUBJECT_SOURCE4,	/* interface and address that a container asks from */
	SUBJECT_SOURCE6,
	SUBJECTS
};

/* lo is the first device of every namespace (LOOPBACK_IFINDEX). */
#define RULE_LOOPBACK 1

#define RULE_TCP_FIN 0x01
#define RULE_TCP_SYN 0x02
#define RULE_TCP_RST 0x04
#define RULE_TCP_PSH 0x08
#define RULE_TCP_ACK 0x10

enum condition_operator {
	OPERATOR_EQUAL, OPERATOR_DIFFERENT,
	OPERATOR_IN		/* the set "name" */
};

/* Whether subject & mask is, or is not, value. */
struct condition {
	enum subject subject;
	enum condition_operator operator;
	uint8_t value[16], mask[16];	/* as the kernel's registers have them */
	uint8_t size;			/* octets of them in use, from the first */
	bool masked;			/* else all bits count */
	const char *name;		/* of a set or a cgroup; borrowed */
	uint32_t level;			/* of a cgroup: below the root, from 1 */
};

/* Numbers and masks are in host order.  Addresses have the octets of packets. */
struct condition condition_number(enum subject subject,
    enum condition_operator operator, uint64_t number);
struct condition condition_masked(enum subject subject,
    enum condition_operator operator, uint32_t number, uint32_t mask);
struct condition condition_prefix(enum subject subject, const uint8_t *address,
    unsigned int length);
struct condition condition_in(enum subject subject, const char *set);
/* SUBJECT_IIFNAME; "*" at its end stands for anything. */
struct condition condition_interface(const char *name);
struct condition condition_cgroup(uint64_t id, uint32_t level,
    const char *path);

/* As nft(8) writes them, a space between two, and what is implied left out. */
void conditions_print(const struct condition *conditions, size_t count,
    FILE *out);

/* How nft writes the subject. */
const char *subject_name(enum subject subject);

enum statement_kind {
	STATEMENT_COUNTER,
	STATEMENT_ACCEPT,
	STATEMENT_DROP,
	STATEMENT_QUEUE,
	STATEMENT_MARK,		/* mark = (mark & keep) ^ flip */
	STATEMENT_ZONE,		/* ct original zone set */
	STATEMENT_NOTRACK,
	STATEMENT_TPROXY,	/* to our listener at this port of lo */
	STATEMENT_SEND_BACK,	/* a copy goes out where it came in, to its destination */
	STATEMENT_TO_LO,	/* a copy goes out by lo */
	STATEMENT_UPDATE,	/* adds the key to the set, or renews its time */
	STATEMENT_DELETE,
	/*
	 * Goes on with the rule only if the packet's user, or where it comes from,
	 * has no budget left: it does not if there is no user, or no room in the set.
	 */
	STATEMENT_USER_OVER,
	STATEMENTS
};

struct statement {
	enum statement_kind kind;
	union {
		struct { uint32_t keep, flip; } mark;
		/* count > 1: spread by CPU (fanout). */
		struct { uint16_t number, count; bool bypass; } queue;
		struct { bool ipv4; uint16_t port; } tproxy;
		struct { bool ipv4; } back;
		struct {
			enum subject key;
			const char *set;	/* static text */
			unsigned int seconds;	/* 0: the set's own time */
		} change;
		uint16_t zone;
		/* Packets or octets a second, and how many of them at once;
		 * of octets those of a second more. */
		struct {
			enum subject key;
			const char *set;	/* of users; static text */
			uint32_t rate, burst;
			bool octets;
		} limit;
	};
};

/* As nft(8) writes it, with a space before. */
void statement_print(const struct statement *statement, FILE *out);

/*
 * What to do if the kernel refuses a rule for having that in it: static text,
 * NULL if nothing special.
 */
const char *statement_remedy(enum statement_kind kind);
const char *subject_remedy(enum subject subject);

#define RULE_CONDITIONS	6
#define RULE_STATEMENTS	4

/* A value, but for the names that conditions borrow. */
struct rule {
	enum rules_chain chain;
	struct condition conditions[RULE_CONDITIONS];
	size_t condition_count;
	struct statement statements[RULE_STATEMENTS];
	size_t statement_count;
	/* What to do if the kernel refuses it, or NULL; static text. */
	const char *remedy;
	/* What nft shows behind it: the purpose in words ("bypass: user 998"). */
	char comment[96];
};

/* Appends; there must be room (assert). */
void rule_when(struct rule *rule, struct condition condition);
void rule_then(struct rule *rule, struct statement statement);

/* Whether it gives packets to a queue. */
bool rule_queues(const struct rule *rule);

/* What to do if the kernel refuses it; static text. */
const char *rule_remedy(const struct rule *rule);

/* As nft(8) writes it, without counter and comment. */
void rule_print(const struct rule *rule, FILE *out);

#endif
