/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way of one question that nobody sends: through the kernel's rules, then
 * through the same interception that the worker runs, with all that was looked
 * at on the way.  Printers show it: print.h for people, json.h for programs.
 *
 * This room makes no system call.
 */
#ifndef NFDNS_NFQ_CLI_EXPLAIN_EXPLAIN_H
#define NFDNS_NFQ_CLI_EXPLAIN_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/ask/message.h"
#include "nfq/packet/intercept.h"
#include "policy/config/settings.h"
#include "policy/match/rules.h"
#include "resolver/image/table.h"
#include "rules/ruleset.h"
#include "rules/walk.h"

#define EXPLAIN_EDNS	1232		/* the size that the client offers, as dig(1) */

/* A question and its asker. */
struct explain_question {
	struct dns_name name;		/* letters keep their case */
	uint16_t type;
	int family;			/* AF_INET or AF_INET6: of both addresses */
	uint8_t client[16], nameserver[16];
	bool foreign;			/* the client is no address of this machine */
	const char *in;			/* a container's interface, or NULL */
	bool stream;			/* TCP */
	uid_t uid;			/* (uid_t)-1: not known */
	gid_t gid;			/* (gid_t)-1: not known */
};

/* What questions are explained by; borrows all. */
struct explain_source {
	const struct ruleset *rules;
	const struct settings *settings;
	const struct table *table;
	const struct rules *policy;	/* NULL: there are none */
};

/*
 * Large: allocated by explain_new(), used for one question after the other.
 * Borrows source and question.
 */
struct explanation {
	const struct explain_source *source;
	const struct explain_question *question;
	/* The rule of chain "question" that takes it; NULL: none does. */
	const struct rule *rule;
	bool queued;			/* false: it leaves; nothing below is set */
	struct interception in;
	const struct forward_domain *domain;	/* NULL: of no forward domain */
	/* What the rules of the policy look at. */
	struct rules_question asked;
	/*
	 * The name that is sought in the table, the rewritten one if a rule
	 * rewrites it; its entry; and the name whose records that has, if it has
	 * a node.
	 */
	struct dns_name sought;
	bool rewritten;
	struct entry entry;
	struct dns_name found;
	uint8_t message[512], packet[1024];	/* the question */
	size_t message_length;
	uint8_t reply[INTERCEPT_STREAM_MAX];
};

struct explanation *explain_new(void) __attribute__((warn_unused_result));
void explain_free(struct explanation *e);

/* Overwrites e with the way of that question. */
void explain(struct explanation *e, const struct explain_source *source,
    const struct explain_question *question);

/* The question's packet, as the kernel's rules see it, and the chain that it meets. */
struct walk_packet explain_packet(const struct explain_question *question);
enum rules_chain explain_chain(const struct explain_question *question);

/* What one rule of the policy is to a question, in order of precedence. */
enum explain_part {
	EXPLAIN_MISSED,			/* *miss does not hold */
	EXPLAIN_DECIDES,
	EXPLAIN_OBSERVES,		/* it would have decided */
	EXPLAIN_LOGS,			/* it only logs */
	EXPLAIN_COUNTS,			/* it only has a rate, and nothing is over it */
	EXPLAIN_BEHIND,			/* one before it decided: it was not asked */
};

/*
 * What the rule of that number, from 1 to rules_count(), is to the question.  No
 * rate is taken: all questions are within.
 */
enum explain_part explain_rule(const struct explanation *e,
    unsigned int number, struct rules_rule *rule, struct rules_miss *miss);

/*
 * The name that the rule which decides denies, if it is not the one asked but one
 * that this is answered from; NULL: there is none.
 */
const struct dns_name *explain_judged(const struct explanation *e);

/* A view of the answer.  False: nfdnsd gives none. */
bool explain_message(const struct explanation *e, struct message *message);

/* Whether forwarding answers it, or keeps an answer for it. */
bool explain_is_forwarded(const struct explanation *e);

#endif
