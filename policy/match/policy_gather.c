/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/match/policy_gather.h"

#include <limits.h>
#include <netinet/in.h>
#include <string.h>

#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

/* What the rule says about the question, if it decides. */
static struct ruling
ruling_of(const struct rules_rule *rule, unsigned int number, bool limited)
{
	return (struct ruling){
		.rule = (uint16_t)number,
		.limited = limited,
		.only = rule->only,
		.action = limited ? RULE_REFUSE :
		    rule->action,
	};
}

static void
count_up(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static void
count(const struct policy_source *source, const struct rules_rule *rule,
    unsigned int number, bool limited)
{
	struct policy_counter *counter;

	if (source->counters == NULL)
		return;
	counter = source->counters[number - 1];
	count_up(rule->observe ? &counter->observed : &counter->enforced);
	if (limited)
		count_up(&counter->limited);
}

/* The first that would have decided is the one that is told. */
static void
observe(const struct rules_rule *rule, unsigned int number, bool limited,
    struct policy_found *found)
{
	if (found->observed != 0)
		return;
	found->observed = (uint16_t)number;
	found->observed_limited = limited;
	found->observer.length = rule->name_length;
	memcpy(found->observer.text, rule->name, rule->name_length);
	found->would = limited ? RULE_REFUSE :
	    rule->action;
}

/*
 * Whether the rule ends the search; if it only observes, that is noted.  "again":
 * it has counted for this question, and its rate was not used up.
 */
static inline bool __attribute__((always_inline))
decides(const struct policy_source *source,
    const struct rules_question *question, unsigned int number,
    bool again, struct policy_found *found)
{
	const struct rules_rule *rule = &found->rule;
	const bool limited = rule->rate.limit > 0 && source->rates != NULL &&
	    !again && !rate_take(source->rates, rule, question);

	if (!again)
		count(source, rule, number, limited);
	/* What is only observed is of use only if it is told. */
	if (!again && (rule->log == RULE_LOG_ALL ||
	    rule->log == RULE_LOG_ONLY ||
	    (rule->observe && rule->log != RULE_LOG_NONE)))
		found->is_logged = found->is_logged ||
		    rate_take_record(source->rates, rule, question);
	if (rule->log == RULE_LOG_ONLY ||
	    (rule->action == RULE_NOTHING && !limited))
		return false;
	if (rule->observe) {
		observe(rule, number, limited, found);
		return false;
	}
	found->ruling = ruling_of(rule, number, limited);
	if (found->ruling.action == RULE_TCP_ONLY &&
	    question->asker->protocol == IPPROTO_TCP)
		found->ruling.action = RULE_ANSWER;
	found->is_not_logged = rule->log == RULE_LOG_NONE;
	return true;
}

static void
begin(struct policy_found *found)
{
	found->ruling.rule = 0;
	found->judged.length = 0;
	found->observed = 0;
	found->observed_limited = false;
	found->observer.length = 0;
	found->would = RULE_NOTHING;
	found->is_logged = false;
	found->is_not_logged = false;
}

void
policy_gather(const struct policy_source *source,
    const struct rules_question *question, struct policy_found *found)
{
	struct rules_cursor cursor;
	unsigned int number;

	begin(found);
	if (source->rules == NULL)
		return;
	rules_begin(&cursor, source->rules, question);
	while ((number = rules_next(&cursor)) != 0) {
		rules_get_for(&cursor, number, &found->rule);
		if (decides(source, question, number, false, found))
			return;
	}
}

/* The name asked is the first, then come the others. */
struct gathering {
	const struct policy_source *source;
	enum policy_scope scope;
	unsigned int rule;		/* of POLICY_OF_RULE */
	unsigned int count;
	struct side {
		struct rules_question question;
		struct rules_cursor cursor;
		unsigned int next;	/* rule that matches; 0: none is left */
	} sides[1 + POLICY_NAMES_MAX];
};

static void
begin_side(struct gathering *g, const struct rules_question *question,
    const struct dns_name *name)
{
	struct side *side = &g->sides[g->count++];

	side->question = *question;
	side->question.name = name;
	rules_begin(&side->cursor, g->source->rules, &side->question);
	side->next = rules_next(&side->cursor);
}

/* The least of the rules that are next; 0: there is none. */
static unsigned int
next_rule(const struct gathering *g)
{
	unsigned int least = 0;

	for (unsigned int i = 0; i < g->count; i++)
		if (g->sides[i].next != 0 &&
		    (least == 0 || g->sides[i].next < least))
			least = g->sides[i].next;
	return least;
}

/* The first of the other names that the rule matches; 0: none. */
static unsigned int
first_other(const struct gathering *g, unsigned int number)
{
	for (unsigned int i = 1; i < g->count; i++)
		if (g->sides[i].next == number)
			return i;
	return 0;
}

/* All names that the rule matches go on; the others end there if they are settled. */
static void
go_on(struct gathering *g, unsigned int number, bool settled)
{
	for (unsigned int i = 0; i < g->count; i++) {
		struct side *side = &g->sides[i];

		if (side->next == number)
			side->next = settled && i > 0 ? 0 :
			    rules_next(&side->cursor);
	}
}

/* Whether the zone that the rule is of says something of the name asked, too. */
static bool
zone_has_asked(const struct gathering *g, const struct rules_rule *rule)
{
	const size_t prefix = sizeof(RULE_ZONE_PREFIX) - 1;
	struct rules_rule asked;

	if (g->sides[0].next == 0 || g->scope == POLICY_OF_RULE ||
	    rule->name_length < prefix ||
	    memcmp(rule->name, RULE_ZONE_PREFIX, prefix) != 0)
		return false;
	rules_get(g->source->rules, g->sides[0].next, &asked);
	return asked.name_length == rule->name_length &&
	    memcmp(asked.name, rule->name, rule->name_length) == 0;
}

static bool
denies(const struct gathering *g, const struct ruling *ruling)
{
	switch (ruling->action) {
	case RULE_ANSWER:
	case RULE_PASS:
	case RULE_NOTHING:
		return false;
	case RULE_FILTER:
		return ruling_filters(ruling, g->sides[0].question.type);
	case RULE_CNAME:
	case RULE_CNAME_BELOW:
	case RULE_REWRITE:
		return g->scope != POLICY_OF_RULE;
	default:
		return true;
	}
}

/* Whether a rule that the name asked matches was gathered for it before. */
static bool
has_counted(const struct gathering *g, unsigned int number)
{
	return g->scope == POLICY_AFTER_ASKED ||
	    (g->scope == POLICY_OF_RULE && number <= g->rule);
}

/* One rule for all names.  Whether it ends the search. */
static bool
try_rule(struct gathering *g, unsigned int number, struct policy_found *found)
{
	const bool asked = g->sides[0].next == number;
	const unsigned int other = first_other(g, number);
	bool decided;

	rules_get_for(&g->sides[asked ? 0 : other].cursor, number,
	    &found->rule);
	/* Of no concern: its own zone's word for the name asked, or that name. */
	if ((other == 0 && g->scope == POLICY_OF_RULE) ||
	    (!asked && zone_has_asked(g, &found->rule))) {
		go_on(g, number, false);
		return false;
	}
	decided = decides(g->source, &g->sides[0].question, number,
	    asked && has_counted(g, number), found);
	if (decided && asked && g->scope == POLICY_WITH_ASKED)
		return true;
	if (decided && asked && g->scope == POLICY_AFTER_ASKED) {
		found->ruling.rule = 0;
		return true;
	}
	if (decided && other != 0 && denies(g, &found->ruling)) {
		found->judged = *g->sides[other].question.name;
		return true;
	}
	found->ruling.rule = 0;
	found->is_not_logged = false;
	go_on(g, number, decided);
	return false;
}

/*
 * Later rules have no say of where a fixed CNAME leads: whoever wrote the rule has
 * chosen its target, a walled garden before a rule that refuses all.  To rename is
 * no choice of one name.
 */
static unsigned int
last_rule(const struct gathering *g)
{
	struct rules_rule rule;

	if (g->scope != POLICY_OF_RULE || g->rule == 0 ||
	    g->rule > rules_count(g->source->rules))
		return UINT_MAX;
	rules_get(g->source->rules, g->rule, &rule);
	return rule.action == RULE_CNAME || rule.action == RULE_CNAME_BELOW ?
	    g->rule : UINT_MAX;
}

void
policy_gather_names(const struct policy_source *source,
    const struct rules_question *question, const struct policy_names *names,
    enum policy_scope scope, unsigned int rule, struct policy_found *found)
{
	struct gathering g;
	unsigned int number, last;

	begin(found);
	if (source->rules == NULL)
		return;
	g.source = source;
	g.scope = scope;
	g.rule = rule;
	g.count = 0;
	begin_side(&g, question, question->name);
	for (unsigned int i = 0; i < names->count; i++)
		begin_side(&g, question, &names->names[i]);
	last = last_rule(&g);
	while ((number = next_rule(&g)) != 0 && number <= last)
		if (try_rule(&g, number, found))
			return;
}

bool
policy_is_mesh(const struct lookup *lookup)
{
	return lookup->entry.kind != ENTRY_NONE &&
	    lookup->entry.kind != ENTRY_EMPTY;
}

/* The rule's records of the type asked for, or its CNAME; ANY: all of them. */
static void
look_at_records(const struct rules_rule *rule, const struct question *question,
    struct lookup *lookup)
{
	struct rrset found[LOOKUP_MAX_CHAIN + 1];
	size_t count = 0;

	for (unsigned int n = 0; count < LOOKUP_MAX_CHAIN + 1 &&
	    rules_rrset(rule, n, &found[count]); n++)
		count += question->type == TYPE_ANY ||
		    found[count].type == question->type ||
		    found[count].type == TYPE_CNAME;
	lookup_fixed(lookup, question, found, count);
}

static void
look_below(const struct rules_rule *rule, const struct question *question,
    struct lookup *lookup)
{
	struct rrset cname;
	struct dns_name end;

	if (rules_rrset(rule, 0, &cname) && cname.type == TYPE_CNAME &&
	    name_read_lower(&end, cname.rdata + 2,
	    wire_load_u16(cname.rdata)) == 0)
		lookup_below(lookup, question, &end, cname.ttl);
	else
		lookup_fixed(lookup, question, NULL, 0);
}

bool
policy_rewrite(const struct policy_found *found, const struct dns_name *asked,
    struct dns_name *to)
{
	return rules_rewrite(&found->rule,
	    found->judged.length > 0 ? &found->judged : asked, to);
}

static void
look_elsewhere(const struct policy_found *found,
    const struct question *question, struct lookup *lookup)
{
	struct dns_name to;

	if (policy_rewrite(found, &question->name, &to))
		lookup_other(lookup, question, &to);
	else
		lookup_fixed(lookup, question, NULL, 0);
}

void
policy_lookup(const struct policy_found *found,
    const struct question *question, struct lookup *lookup)
{
	const struct ruling *ruling = &found->ruling;

	switch (ruling->action) {
	case RULE_ADDRESSES:
	case RULE_CNAME:
	case RULE_RECORDS:
		look_at_records(&found->rule, question, lookup);
		break;
	case RULE_CNAME_BELOW:
		look_below(&found->rule, question, lookup);
		break;
	case RULE_REWRITE:
		look_elsewhere(found, question, lookup);
		break;
	case RULE_NXDOMAIN:
	case RULE_NODATA:
	case RULE_TCP_ONLY:
		lookup_fixed(lookup, question, NULL, 0);
		break;
	case RULE_FILTER:
		if (ruling_filters(ruling, question->type))
			lookup_fixed(lookup, question, NULL, 0);
		break;
	default:
		break;
	}
}
