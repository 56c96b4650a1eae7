/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/ruleset.h"

#include <arpa/inet.h>
#include <assert.h>
#include <linux/netfilter.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>

#include "resolver/dns/message.h"

/* nft's numbers of types; six bits each where two are one behind the other. */
#define TYPE_IPV4	7
#define TYPE_IPV6	8
#define TYPE_INTERFACE	20
#define TYPE_UID	24

static const struct rules_users budgets[USER_BUDGETS] = {
	[USER_PACKETS] = { "users", "uid", TYPE_UID, 4, TABLE_INET,
	    SUBJECT_SKUID },
	[USER_OCTETS] = { "users_octets", "uid", TYPE_UID, 4, TABLE_INET,
	    SUBJECT_SKUID },
	[USER_CONNECTIONS] = { "users_tcp", "uid", TYPE_UID, 4, TABLE_INET,
	    SUBJECT_SKUID },
	[INTERFACE4] = { "interfaces4", "iface_index", TYPE_INTERFACE, 4,
	    TABLE_IP, SUBJECT_IIF },
	[SOURCE4] = { "sources4", "iface_index . ipv4_addr",
	    TYPE_INTERFACE << 6 | TYPE_IPV4, 8, TABLE_IP, SUBJECT_SOURCE4 },
	[CONNECTIONS4] = { "interfaces4_tcp", "iface_index", TYPE_INTERFACE, 4,
	    TABLE_IP, SUBJECT_IIF },
	[INTERFACE6] = { "interfaces6", "iface_index", TYPE_INTERFACE, 4,
	    TABLE_IP6, SUBJECT_IIF },
	[SOURCE6] = { "sources6", "iface_index . ipv6_addr",
	    TYPE_INTERFACE << 6 | TYPE_IPV6, 20, TABLE_IP6, SUBJECT_SOURCE6 },
	[CONNECTIONS6] = { "interfaces6_tcp", "iface_index", TYPE_INTERFACE, 4,
	    TABLE_IP6, SUBJECT_IIF },
};

const struct rules_users *
rules_users(enum user_budget budget)
{
	return &budgets[budget];
}

uint32_t
connection_rate(const struct ruleset *set)
{
	const uint32_t rate = set->streams_max / 4 / set->stream_new_s;

	return rate > 0 ? rate : 1;
}

struct rule *
add_rule(struct ruleset *set, enum rules_chain chain, const char *comment, ...)
{
	struct rule *rule = &set->rules[set->count];
	va_list arguments;

	assert(set->count < set->room);
	set->count++;
	rule->chain = chain;
	va_start(arguments, comment);
	vsnprintf(rule->comment, sizeof(rule->comment), comment, arguments);
	va_end(arguments);
	return rule;
}

void
when_family(struct rule *rule, bool ipv4)
{
	rule_when(rule, condition_number(SUBJECT_NFPROTO, OPERATOR_EQUAL,
	    ipv4 ? NFPROTO_IPV4 : NFPROTO_IPV6));
}

void
when_protocol(struct rule *rule, enum condition_operator operator,
    uint8_t protocol)
{
	rule_when(rule, condition_number(SUBJECT_L4PROTO, operator, protocol));
}

void
when_port53(struct rule *rule, enum condition_operator operator)
{
	rule_when(rule, condition_number(SUBJECT_TH_DPORT, operator,
	    DNS_PORT));
}

void
when_question(struct rule *rule)
{
	when_protocol(rule, OPERATOR_EQUAL, IPPROTO_UDP);
	when_port53(rule, OPERATOR_EQUAL);
}

void
when_connection(struct rule *rule)
{
	when_protocol(rule, OPERATOR_EQUAL, IPPROTO_TCP);
	when_port53(rule, OPERATOR_EQUAL);
}

void
when_marked(struct rule *rule, const struct ruleset *set,
    enum condition_operator operator, uint32_t value)
{
	rule_when(rule, condition_masked(SUBJECT_MARK, operator, value,
	    set->mark_mask));
}

void
when_passed(struct rule *rule, const struct ruleset *set)
{
	rule_when(rule, condition_masked(SUBJECT_MARK, OPERATOR_EQUAL,
	    set->mark_passed, set->mark_passed));
}

/*
 * A packet without one has no user to compare with: nft_meta_get_eval_skugid()
 * breaks off the rule.  No user has the number (uid_t)-1.
 */
void
when_owned(struct rule *rule)
{
	rule_when(rule, condition_number(SUBJECT_SKUID, OPERATOR_DIFFERENT,
	    UINT32_MAX));
}

struct rule *
add_marked(struct ruleset *set, enum rules_chain chain, uint32_t value,
    const char *comment)
{
	struct rule *rule = add_rule(set, chain, "%s", comment);

	when_marked(rule, set, OPERATOR_EQUAL, value);
	return rule;
}

void
when_destination_in(struct rule *rule, const struct address_set *set)
{
	bool ipv4 = set->family == AF_INET;

	when_family(rule, ipv4);
	rule_when(rule, condition_in(ipv4 ? SUBJECT_IP_DADDR :
	    SUBJECT_IP6_DADDR, set->name));
}

void
when_first(struct rule *rule, enum condition_operator operator)
{
	rule_when(rule, condition_masked(SUBJECT_TCP_FLAGS, operator,
	    RULE_TCP_SYN, RULE_TCP_FIN | RULE_TCP_SYN | RULE_TCP_RST |
	    RULE_TCP_ACK));
}

void
then(struct rule *rule, enum statement_kind kind)
{
	rule_then(rule, (struct statement){ .kind = kind });
}

void
then_accept(struct rule *rule)
{
	then(rule, STATEMENT_COUNTER);
	then(rule, STATEMENT_ACCEPT);
}

void
then_drop(struct rule *rule)
{
	then(rule, STATEMENT_COUNTER);
	then(rule, STATEMENT_DROP);
}

void
then_set_bits(struct rule *rule, uint32_t bits)
{
	rule_then(rule, (struct statement){
		.kind = STATEMENT_MARK, .mark = { ~bits, bits },
	});
}

void
then_clear_bits(struct rule *rule, uint32_t bits)
{
	rule_then(rule, (struct statement){
		.kind = STATEMENT_MARK, .mark = { ~bits, 0 },
	});
}

void
then_queue(struct rule *rule, const struct ruleset *set)
{
	then(rule, STATEMENT_COUNTER);
	rule_then(rule, (struct statement){
		.kind = STATEMENT_QUEUE, .queue = { set->queue_number,
		set->queue_count, set->queue_bypass },
	});
}

void
add_not_dns(struct ruleset *set, enum rules_chain chain)
{
	struct rule *rule;

	if (!set->tcp) {
		rule = add_rule(set, chain, "not UDP");
		when_protocol(rule, OPERATOR_DIFFERENT, IPPROTO_UDP);
		then_accept(rule);
	}
	rule = add_rule(set, chain, "not DNS");
	when_port53(rule, OPERATOR_DIFFERENT);
	then_accept(rule);
}
