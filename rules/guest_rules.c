/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A container's question is queued where it enters the machine, before conntrack and
 * routing, whatever nameserver it is for.  In the order of rules:
 *
 * asked	1  neither UDP nor TCP, not to port 53, from lo: out at once
 *		2  from an address that is not behind this interface, by the routing
 *		   tables; to a group of hosts: out
 *		3  our bits of the mark cleared: what stood in them leads nothing to the
 *		   queue.  What a dead worker had comes here again, and is counted again
 *		   (NF_REPEAT)
 *		4  from a configured interface and address: marked as passed
 *		   Of a TCP connection the first packet goes on; later ones are marked
 *		   as stream in chain "connections", if the set has the connection
 *		5  marked so, and over the rate of interface or source: out
 *		6  marked so: queued
 * back		7  still marked as passed: mark cleared.  No zone: the packet stays
 *		   what it was, also for NAT
 *		8  turned round: a copy goes out by the interface that it came in by.
 *		   It is output of this machine, so neither its source, nor a forward
 *		   chain, nor a bridge is in its way
 *		9  marked as stream, a first packet by the verdict: a copy goes out by
 *		   lo, where chain "arrival" takes it as one of this machine's.  What
 *		   comes back is output of our listener's
 *
 * The copy has another mark than the rule that makes it looks for: one that came by lo
 * again would be copied for ever.
 */
#include "rules/ruleset.h"

#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define FIXED	(2 * (size_t)18)	/* of both versions of IP */

/*
 * Where containers usually are: private (RFC 1918, RFC 6598, RFC 4193) and link-local
 * addresses.  So an entry for the interface to the Internet makes no open resolver.
 */
static const struct config_prefix usual[] = {
	{ AF_INET, { 10 }, 8 }, { AF_INET, { 172, 16 }, 12 },
	{ AF_INET, { 192, 168 }, 16 }, { AF_INET, { 100, 64 }, 10 },
	{ AF_INET, { 169, 254 }, 16 }, { AF_INET6, { 0xfc }, 7 },
	{ AF_INET6, { 0xfe, 0x80 }, 10 },
};

#define USUAL	(sizeof(usual) / sizeof(usual[0]))

size_t
guest_rules_count(const struct config *config)
{
	size_t count = FIXED;

	for (size_t i = 0; i < config->container_count; i++) {
		const struct config_container *c = &config->containers[i];

		count += c->interface_count * (2 + c->source_count);
	}
	return count;
}

int
guest_rules_fill(struct ruleset *set, const struct config *config)
{
	bool given = true;
	int rc = 0;

	for (size_t i = 0; i < config->container_count; i++)
		given = given && config->containers[i].source_count > 0;
	for (size_t i = SET_GUESTS4; i <= SET_GUESTS6 && rc == 0 && !given; i++)
		rc = address_set_fill(&set->sets[i], usual, USUAL);
	return rc;
}

/* One version of IP. */
struct version {
	bool ipv4;
	enum rules_chain asked, back;
	enum user_budget interface, source, connections;
	const struct address_set *sources;
};

static struct rule *
add_asked(struct ruleset *set, const struct version *v, const char *comment)
{
	return add_rule(set, v->asked, "%s", comment);
}

static void
add_not_ours(struct ruleset *set, const struct version *v)
{
	const uint8_t multicast4[4] = { 224 }, multicast6[16] = { 0xff };
	struct rule *rule;

	add_not_dns(set, v->asked);
	rule = add_asked(set, v, "from lo");
	rule_when(rule, condition_number(SUBJECT_IIF, OPERATOR_EQUAL,
	    RULE_LOOPBACK));
	then_accept(rule);
	rule = add_asked(set, v, "not from behind this interface");
	rule_when(rule, condition_number(SUBJECT_FIB_BACK, OPERATOR_EQUAL, 0));
	then_accept(rule);
	if (v->ipv4) {
		rule = add_asked(set, v, "to a broadcast address");
		rule_when(rule, condition_number(SUBJECT_FIB_DADDR_TYPE,
		    OPERATOR_EQUAL, RTN_BROADCAST));
		then_accept(rule);
	}
	rule = add_asked(set, v, "to a multicast address");
	rule_when(rule, v->ipv4 ? condition_prefix(SUBJECT_IP_DADDR,
	    multicast4, 4) : condition_prefix(SUBJECT_IP6_DADDR, multicast6,
	    8));
	then_accept(rule);
	rule = add_asked(set, v, "not marked by others");
	rule_when(rule, condition_masked(SUBJECT_MARK, OPERATOR_DIFFERENT, 0,
	    set->mark_mask));
	then_clear_bits(rule, set->mark_mask);
}

static void
add_source(struct ruleset *set, const struct version *v, const char *interface,
    const struct config_prefix *source)
{
	const enum subject subject = v->ipv4 ? SUBJECT_IP_SADDR :
	    SUBJECT_IP6_SADDR;
	struct rule *rule = add_rule(set, v->asked, "containers: %s",
	    interface);

	rule_when(rule, condition_interface(interface));
	rule_when(rule, source == NULL ? condition_in(subject,
	    v->sources->name) : condition_prefix(subject, source->address,
	    source->length));
	then(rule, STATEMENT_COUNTER);
	then_set_bits(rule, set->mark_passed);
	rule->remedy = "remove it from containers";
}

/* A connection of a link-local address belongs to its interface: it passes. */
static void
add_link_local(struct ruleset *set, const struct version *v)
{
	const uint8_t link_local[16] = { 0xfe, 0x80 };
	struct rule *rule = add_asked(set, v, "link-local connections");

	rule_when(rule, condition_prefix(SUBJECT_IP6_SADDR, link_local, 10));
	when_protocol(rule, OPERATOR_EQUAL, IPPROTO_TCP);
	then_accept(rule);
}

/* Of a connection, all but its first packet: stream_rules.c looks at them. */
static void
add_later(struct ruleset *set, const struct version *v)
{
	struct rule *rule = add_marked(set, v->asked, set->mark_passed,
	    "later packets of connections");

	when_connection(rule);
	when_first(rule, OPERATOR_DIFFERENT);
	then_accept(rule);
}

/* Where a rule could deny, nothing goes by unread. */
static void
add_over(struct ruleset *set, const struct version *v, enum user_budget budget,
    uint32_t rate)
{
	struct rule *rule = add_rule(set, v->asked, RULES_COMMENT_SURPLUS "%s",
	    rules_users_name(budget));

	when_marked(rule, set, OPERATOR_EQUAL, set->mark_passed);
	if (budget == v->connections)
		when_connection(rule);
	rule_then(rule, (struct statement){ .kind = STATEMENT_USER_OVER,
	    .limit = { .key = rules_users(budget)->key,
	    .set = rules_users_name(budget), .rate = rate,
	    .burst = rate < RULES_USERS_BURST ? rate : RULES_USERS_BURST } });
	if (set->denies) {
		then_drop(rule);
		return;
	}
	then(rule, STATEMENT_COUNTER);
	then_clear_bits(rule, set->mark_mask);
	then(rule, STATEMENT_ACCEPT);
}

static void
add_queued(struct ruleset *set, const struct version *v)
{
	struct rule *rule;

	if (set->tcp)
		add_later(set, v);
	if (set->user_rate > 0) {
		add_over(set, v, v->source, set->user_rate / 4 + 1);
		add_over(set, v, v->interface, set->user_rate);
	}
	if (set->user_rate > 0 && set->tcp)
		add_over(set, v, v->connections, connection_rate(set));
	rule = add_asked(set, v, "containers' questions");
	when_marked(rule, set, OPERATOR_EQUAL, set->mark_passed);
	when_question(rule);
	then_queue(rule, set);
	if (!set->tcp)
		return;
	rule = add_asked(set, v, "containers' connections");
	when_marked(rule, set, OPERATOR_EQUAL, set->mark_passed);
	when_connection(rule);
	then_queue(rule, set);
}

static void
add_entry(struct ruleset *set, const struct version *v,
    const struct config_container *c)
{
	const int family = v->ipv4 ? AF_INET : AF_INET6;

	for (size_t i = 0; i < c->interface_count; i++) {
		if (c->source_count == 0)
			add_source(set, v, c->interfaces[i], NULL);
		for (size_t n = 0; n < c->source_count; n++)
			if (c->sources[n].family == family)
				add_source(set, v, c->interfaces[i],
				    &c->sources[n]);
	}
}

static void
add_back(struct ruleset *set, const struct version *v)
{
	struct rule *rule = add_marked(set, v->back, set->mark_passed,
	    "passed");

	then(rule, STATEMENT_COUNTER);
	then_clear_bits(rule, set->mark_mask);
	then(rule, STATEMENT_ACCEPT);
	rule = add_marked(set, v->back, set->mark_back,
	    "answered: back where it came from");
	then(rule, STATEMENT_COUNTER);
	rule_then(rule, (struct statement){ .kind = STATEMENT_MARK,
	    .mark = { ~set->mark_mask, set->mark_answered } });
	rule_then(rule, (struct statement){ .kind = STATEMENT_SEND_BACK,
	    .back = { v->ipv4 } });
	then(rule, STATEMENT_DROP);
	if (!set->tcp)
		return;
	rule = add_marked(set, v->back, set->mark_stream,
	    "intercepted: to nfdnsd");
	rule_when(rule, condition_number(SUBJECT_IIF, OPERATOR_DIFFERENT,
	    RULE_LOOPBACK));
	then(rule, STATEMENT_COUNTER);
	rule_then(rule, (struct statement){ .kind = STATEMENT_TO_LO,
	    .back = { v->ipv4 } });
	then(rule, STATEMENT_DROP);
}

void
guest_rules_add(struct ruleset *set, const struct config *config, bool queued)
{
	const struct version versions[] = {
		{ true, CHAIN_GUESTS4, CHAIN_BACK4, INTERFACE4, SOURCE4,
		    CONNECTIONS4, &set->sets[SET_GUESTS4] },
		{ false, CHAIN_GUESTS6, CHAIN_BACK6, INTERFACE6, SOURCE6,
		    CONNECTIONS6, &set->sets[SET_GUESTS6] },
	};

	for (size_t v = 0; v < 2; v++) {
		if (queued)
			add_not_ours(set, &versions[v]);
		if (queued && set->tcp && !versions[v].ipv4)
			add_link_local(set, &versions[v]);
		for (size_t i = 0; queued && i < config->container_count; i++)
			add_entry(set, &versions[v], &config->containers[i]);
		if (queued)
			add_queued(set, &versions[v]);
		add_back(set, &versions[v]);
	}
}
