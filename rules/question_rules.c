/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/ruleset.h"

#include <linux/rtnetlink.h>
#include <netinet/in.h>

static void
then_leave_unanswered(struct rule *rule, const struct ruleset *set)
{
	if (!set->denies) {
		then_accept(rule);
		return;
	}
	then(rule, STATEMENT_COUNTER);
	then_set_bits(rule, set->mark_answered);
}

/*
 * Any user may send from a foreign IPv6 address (IPV6_FREEBIND, ipv6(7)), and a
 * nameserver may listen at a broadcast address: where a rule could deny, such
 * packets are queued, marked for the worker, which may only drop them.  What no
 * program of this namespace has sent goes on: copies, ipvlan (ipvlan_core.c),
 * tunnels.
 */
static void
add_unanswerable_marks(struct ruleset *set)
{
	struct rule *rule = add_rule(set, CHAIN_QUESTION,
	    "of a program: judged, not answered");

	when_marked(rule, set, OPERATOR_EQUAL, set->mark_answered);
	when_owned(rule);
	then_set_bits(rule, set->mark_passed);
	rule = add_rule(set, CHAIN_QUESTION, "of no program");
	when_marked(rule, set, OPERATOR_EQUAL, set->mark_answered);
	then(rule, STATEMENT_COUNTER);
	then_clear_bits(rule, set->mark_mask);
	then(rule, STATEMENT_ACCEPT);
}

/*
 * An answer to a foreign address would leave the machine, and one to a group of
 * hosts would come from no host.
 */
static void
add_unanswerable(struct ruleset *set)
{
	const uint8_t multicast4[4] = { 224 }, multicast6[16] = { 0xff };
	struct rule *rule = add_rule(set, CHAIN_QUESTION,
	    "from an address that is not local");

	rule_when(rule, condition_number(SUBJECT_FIB_SADDR_TYPE,
	    OPERATOR_DIFFERENT, RTN_LOCAL));
	then_leave_unanswered(rule, set);
	rule = add_rule(set, CHAIN_QUESTION, "to a broadcast address");
	when_family(rule, true);
	rule_when(rule, condition_number(SUBJECT_FIB_DADDR_TYPE,
	    OPERATOR_EQUAL, RTN_BROADCAST));
	then_leave_unanswered(rule, set);
	rule = add_rule(set, CHAIN_QUESTION, "to a multicast address (IPv4)");
	when_family(rule, true);
	rule_when(rule, condition_prefix(SUBJECT_IP_DADDR, multicast4, 4));
	then_leave_unanswered(rule, set);
	rule = add_rule(set, CHAIN_QUESTION, "to a multicast address (IPv6)");
	when_family(rule, false);
	rule_when(rule, condition_prefix(SUBJECT_IP6_DADDR, multicast6, 8));
	then_leave_unanswered(rule, set);
	if (set->denies)
		add_unanswerable_marks(set);
}

/* What is queued: UDP or TCP, to the nameservers in a set, or to any. */
struct queued {
	bool tcp;
	enum rules_set_id nameservers;	/* or RULES_SETS */
	const char *comment;
};

/*
 * UDP and port 53 are matched here once more, although the first rules let all
 * else go: no edit of those can then queue a packet of another protocol.
 */
static void
when_queued(struct rule *rule, const struct ruleset *set,
    const struct queued *what)
{
	if (what->tcp) {
		when_connection(rule);
		when_first(rule, OPERATOR_EQUAL);
	} else {
		when_question(rule);
	}
	if (what->nameservers < RULES_SETS)
		when_destination_in(rule, &set->sets[what->nameservers]);
}

static uint32_t
larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/*
 * Root can stop the daemon anyway, and asks for others.  With a conntrack zone, a
 * port's surplus has to be in it like what passes the
 * queue: see add_verdicts().  Passed TCP connections are in none.
 */
static void
add_surplus(struct ruleset *set, const struct queued *what,
    enum user_budget budget)
{
	static const char *const kinds[USER_BUDGETS] = {
		"", "octets of ", "new ",
	};
	struct rule *rule = add_rule(set, CHAIN_QUESTION,
	    RULES_COMMENT_SURPLUS "%s%s", kinds[budget], what->comment);
	struct statement over = { .kind = STATEMENT_USER_OVER,
		.limit = { .key = SUBJECT_SKUID, .set = rules_users_name(budget),
		.octets = budget == USER_OCTETS } };

	if (budget == USER_OCTETS)
		over.limit.rate = larger(set->user_rate * RULES_USER_QUESTION,
		    RULES_USER_OCTETS_MIN);
	else if (budget == USER_CONNECTIONS)
		over.limit.rate = over.limit.burst = connection_rate(set);
	else {
		over.limit.rate = set->user_rate;
		over.limit.burst = set->user_rate < RULES_USERS_BURST ?
		    set->user_rate : RULES_USERS_BURST;
	}
	when_queued(rule, set, what);
	rule_when(rule, condition_number(SUBJECT_SKUID, OPERATOR_DIFFERENT, 0));
	rule_then(rule, over);
	if (set->denies) {
		then_drop(rule);
		return;
	}
	if (set->zone != 0 && !what->tcp)
		then_set_bits(rule, set->mark_passed);
	then_accept(rule);
}

/*
 * A rule that queues, behind the one that takes what is over the user's rate.
 * A question's mark is set before: the queue takes the packet with it.  A
 * connection's first packet is queued with the mark as it is.
 */
static void
add_queued(struct ruleset *set, const struct queued *what)
{
	struct rule *rule;

	if (set->user_rate > 0) {
		add_surplus(set, what, USER_PACKETS);
		add_surplus(set, what, what->tcp ? USER_CONNECTIONS :
		    USER_OCTETS);
	}
	rule = add_rule(set, CHAIN_QUESTION, "%s", what->comment);
	when_queued(rule, set, what);
	if (!what->tcp)
		then_set_bits(rule, set->mark_passed);
	then_queue(rule, set);
}

static struct rule *
add_again(struct ruleset *set, const char *comment)
{
	struct rule *rule = add_rule(set, CHAIN_QUESTION,
	    RULES_COMMENT_REPEATED "%s", comment);

	when_passed(rule, set);
	when_question(rule);
	return rule;
}

/*
 * The queue names a packet's user as long as its socket is open
 * (nfqnl_put_sk_uidgid()); the packet outlives the socket.  The worker is told
 * by a mark, since packets of the kernel's own never have a user.
 */
static void
add_repeated(struct ruleset *set)
{
	struct rule *rule = add_again(set, "counted before");

	if (set->denies) {
		when_owned(rule);
		then_queue(rule, set);
		rule = add_marked(set, CHAIN_QUESTION, set->mark_passed,
		    RULES_COMMENT_REPEATED "its socket is closed");
		when_question(rule);
		then_set_bits(rule, set->mark_orphan);
		rule = add_again(set, "of no socket");
	}
	then_queue(rule, set);
}

static void
add_questions(struct ruleset *set, bool any_nameserver)
{
	static const struct queued any = { false, RULES_SETS, "questions" };
	static const struct queued named[] = {
		{ false, SET_NAMESERVERS4, "questions to IPv4 nameservers" },
		{ false, SET_NAMESERVERS6, "questions to IPv6 nameservers" },
	};

	if (any_nameserver)
		add_queued(set, &any);
	for (size_t i = 0; i < 2; i++)
		if (set->sets[named[i].nameservers].count > 0)
			add_queued(set, &named[i]);
}

static void
add_connections(struct ruleset *set, bool any_nameserver)
{
	static const struct queued any = { true, RULES_SETS, "connections" };
	static const struct queued named[] = {
		{ true, SET_NAMESERVERS4, "connections to IPv4 nameservers" },
		{ true, SET_NAMESERVERS6, "connections to IPv6 nameservers" },
	};

	if (any_nameserver)
		add_queued(set, &any);
	for (size_t i = 0; i < 2; i++)
		if (set->sets[named[i].nameservers].count > 0)
			add_queued(set, &named[i]);
}

/* With a conntrack zone, a question passes as if the daemon had let it: add_surplus(). */
static void
add_paused(struct ruleset *set, bool tcp)
{
	const struct queued what = { tcp, RULES_SETS, NULL };
	struct rule *rule = add_rule(set, CHAIN_QUESTION, "paused: %s pass",
	    tcp ? "connections" : "questions");

	when_queued(rule, set, &what);
	if (set->zone != 0 && !tcp)
		then_set_bits(rule, set->mark_passed);
	then_accept(rule);
}

void
question_rules_add(struct ruleset *set, bool any_nameserver, bool paused)
{
	add_repeated(set);
	if (paused)
		add_paused(set, false);
	if (paused && set->tcp)
		add_paused(set, true);
	add_unanswerable(set);
	add_questions(set, any_nameserver);
	if (set->tcp)
		add_connections(set, any_nameserver);
}
