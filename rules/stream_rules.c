/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/ruleset.h"

#include <netinet/in.h>

/* Packets of a connection in the set, and what else they have to be. */
struct stream_kind {
	const char *comment;
	bool reply;		/* of our side, which has the nameserver's address */
	uint8_t flags;		/* TCP flags of which it has at least one, or 0 */
};

static enum subject
key_of(bool ipv4, bool reply)
{
	if (reply)
		return ipv4 ? SUBJECT_STREAM4_REPLY : SUBJECT_STREAM6_REPLY;
	return ipv4 ? SUBJECT_STREAM4 : SUBJECT_STREAM6;
}

static const char *
streams_of(bool ipv4)
{
	return ipv4 ? RULES_STREAMS4 : RULES_STREAMS6;
}

static struct rule *
add_for_version(struct ruleset *set, bool ipv4, const char *comment)
{
	return add_rule(set, CHAIN_STREAM, "%s (IPv%c)", comment,
	    ipv4 ? '4' : '6');
}

/* Adds the packet's connection to the set, renews it there, or deletes it. */
static void
then_change(struct rule *rule, enum statement_kind kind, bool ipv4, bool reply,
    unsigned int seconds)
{
	then(rule, STATEMENT_COUNTER);
	rule_then(rule, (struct statement){
		.kind = kind, .change = { .key = key_of(ipv4, reply),
		.set = streams_of(ipv4), .seconds = seconds },
	});
}

static struct rule *
add_stream(struct ruleset *set, const struct stream_kind *kind, bool ipv4)
{
	struct rule *rule = add_for_version(set, ipv4, kind->comment);
	bool one;

	if (kind->reply)
		when_marked(rule, set, OPERATOR_EQUAL, set->mark_answered);
	when_family(rule, ipv4);
	when_protocol(rule, OPERATOR_EQUAL, IPPROTO_TCP);
	/* One flag has to be set; of several, any. */
	one = (kind->flags & (kind->flags - 1)) == 0;
	if (kind->flags != 0)
		rule_when(rule, condition_masked(SUBJECT_TCP_FLAGS, one ?
		    OPERATOR_EQUAL : OPERATOR_DIFFERENT, one ? kind->flags : 0,
		    kind->flags));
	rule_when(rule, condition_in(key_of(ipv4, kind->reply),
	    streams_of(ipv4)));
	return rule;
}

/* Our side's packets: its time in the set begins anew. */
static void
add_ours(struct ruleset *set, const char *comment, uint8_t flags,
    unsigned int seconds)
{
	const struct stream_kind kind = { comment, true, flags };

	for (int i = 0; i < 2; i++) {
		struct rule *rule = add_stream(set, &kind, i == 0);

		then_change(rule, STATEMENT_UPDATE, i == 0, true, seconds);
		then(rule, STATEMENT_ACCEPT);
	}
}

/* The client's: to lo, and its time begins anew unless seconds is 0. */
static void
add_theirs(struct ruleset *set, const char *comment, uint8_t flags,
    unsigned int seconds)
{
	const struct stream_kind kind = { comment, false, flags };

	for (int i = 0; i < 2; i++) {
		struct rule *rule = add_stream(set, &kind, i == 0);

		if (seconds > 0)
			then_change(rule, STATEMENT_UPDATE, i == 0, false,
			    seconds);
		else
			then(rule, STATEMENT_COUNTER);
		/* The mark leads the packet to lo. */
		then_set_bits(rule, set->mark_stream);
		then(rule, STATEMENT_ACCEPT);
		rule->remedy = "set capture.tcp = false";
	}
}

/* First packets, marked by the verdict: into the set; or not: out of it. */
static void
add_first(struct ruleset *set, bool marked, const char *comment)
{
	for (int i = 0; i < 2; i++) {
		struct rule *rule = add_for_version(set, i == 0, comment);

		if (marked)
			when_marked(rule, set, OPERATOR_EQUAL,
			    set->mark_stream);
		when_family(rule, i == 0);
		when_protocol(rule, OPERATOR_EQUAL, IPPROTO_TCP);
		when_first(rule, OPERATOR_EQUAL);
		then_change(rule, marked ? STATEMENT_UPDATE : STATEMENT_DELETE,
		    i == 0, false, marked ? set->stream_new_s : 0);
		then(rule, STATEMENT_ACCEPT);
	}
}

/*
 * A first packet that is marked but finds the set full loses the mark, and so
 * gets its own route back: it goes to the nameserver like one that passed, and
 * the packets behind it follow.  Nobody would read those: where the policy could
 * deny one, the connection is not made, and TCP tries again.
 */
static void
add_full(struct ruleset *set)
{
	struct rule *rule = add_rule(set, CHAIN_STREAM, RULES_COMMENT_FULL "%s",
	    set->denies ? "dropped" : "not intercepted");

	when_marked(rule, set, OPERATOR_EQUAL, set->mark_stream);
	when_protocol(rule, OPERATOR_EQUAL, IPPROTO_TCP);
	when_first(rule, OPERATOR_EQUAL);
	if (set->denies) {
		then_drop(rule);
	} else {
		then(rule, STATEMENT_COUNTER);
		then_clear_bits(rule, set->mark_mask);
		then(rule, STATEMENT_ACCEPT);
	}
	rule->remedy = "set capture.tcp = false";
}

/* To port 53 are the client's packets, and with the mark of answers ours. */
static void
add_streams(struct ruleset *set)
{
	struct rule *rule = add_rule(set, CHAIN_STREAM, "not TCP");

	when_protocol(rule, OPERATOR_DIFFERENT, IPPROTO_TCP);
	then_accept(rule);
	rule = add_rule(set, CHAIN_STREAM, "not DNS");
	when_port53(rule, OPERATOR_DIFFERENT);
	when_marked(rule, set, OPERATOR_DIFFERENT, set->mark_answered);
	then_accept(rule);
	add_ours(set, "ended by us", RULE_TCP_FIN | RULE_TCP_RST,
	    RULES_STREAMS_END_S);
	/* PSH ends all that is written. */
	add_ours(set, "data of ours", RULE_TCP_PSH, set->stream_open_s);
	rule = add_rule(set, CHAIN_STREAM, "to clients");
	when_port53(rule, OPERATOR_DIFFERENT);
	then_accept(rule);
	add_first(set, true, "intercepted: remembered");
	add_full(set);
	add_first(set, false, "not intercepted");
	add_theirs(set, "reset by the client", RULE_TCP_RST,
	    RULES_STREAMS_END_S);
	add_theirs(set, "data of intercepted connections", RULE_TCP_PSH,
	    set->stream_open_s);
	add_theirs(set, "of intercepted connections", 0, 0);
}

/*
 * A connection from a link-local address belongs to its interface, lo is where
 * its packets come from, and so tproxy does not find it; the usual way does.
 */
static void
add_link_local(struct ruleset *set)
{
	const uint8_t link_local[16] = { 0xfe, 0x80 };
	struct rule *rule = add_rule(set, CHAIN_ARRIVAL,
	    "of link-local connections");

	when_marked(rule, set, OPERATOR_EQUAL, set->mark_stream);
	when_family(rule, false);
	rule_when(rule, condition_prefix(SUBJECT_IP6_SADDR, link_local, 10));
	when_connection(rule);
	when_first(rule, OPERATOR_DIFFERENT);
	then_accept(rule);
}

static void
add_to_listener(struct ruleset *set, bool ipv4)
{
	struct rule *rule = add_rule(set, CHAIN_ARRIVAL, "intercepted (IPv%c)",
	    ipv4 ? '4' : '6');

	when_marked(rule, set, OPERATOR_EQUAL, set->mark_stream);
	when_family(rule, ipv4);
	when_connection(rule);
	then(rule, STATEMENT_COUNTER);
	rule_then(rule, (struct statement){
		.kind = STATEMENT_TPROXY, .tproxy = { ipv4,
		    set->stream_ports[ipv4 ? 0 : 1] },
	});
	then(rule, STATEMENT_ACCEPT);
}

/* A container's packet has no route yet: a copy of it goes to lo (guest_rules.c). */
static void
add_guests(struct ruleset *set)
{
	for (int i = 0; i < 2; i++) {
		struct rule *rule = add_rule(set, CHAIN_GUESTS,
		    "of intercepted connections (IPv%c)", i == 0 ? '4' : '6');

		when_marked(rule, set, OPERATOR_EQUAL, set->mark_passed);
		when_family(rule, i == 0);
		when_connection(rule);
		when_first(rule, OPERATOR_DIFFERENT);
		rule_when(rule, condition_in(key_of(i == 0, false),
		    streams_of(i == 0)));
		then(rule, STATEMENT_COUNTER);
		rule_then(rule, (struct statement){ .kind = STATEMENT_MARK,
		    .mark = { ~set->mark_mask, set->mark_stream } });
		then(rule, STATEMENT_ACCEPT);
	}
}

void
stream_rules_add(struct ruleset *set)
{
	struct rule *rule;

	if (set->guests)
		add_guests(set);
	add_streams(set);
	rule = add_rule(set, CHAIN_ARRIVAL, "not intercepted");
	when_marked(rule, set, OPERATOR_DIFFERENT, set->mark_stream);
	then_accept(rule);
	rule = add_rule(set, CHAIN_ARRIVAL, "not from lo");
	rule_when(rule, condition_number(SUBJECT_IIF, OPERATOR_DIFFERENT,
	    RULE_LOOPBACK));
	then_accept(rule);
	add_link_local(set);
	add_to_listener(set, true);
	add_to_listener(set, false);
}
