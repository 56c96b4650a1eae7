/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is wanted in the kernel, in the order in which a packet meets it:
 *
 * question  1  not UDP, not to port 53: nothing of ours, out at once
 *           2  the canary: before the bypasses, which must not hide a queue
 *              that does not work from it
 *           3  whoever is to see the real nameservers: out, not queued
 *           4  marked as passed already: queued before (NF_REPEAT gives a dead
 *              worker's packets to the next), and not counted again
 *           5  what no answer can be given to: out, not queued
 *           6  questions: marked as passed, counted, queued
 *           7  the first packet of a TCP connection: counted, queued
 *              Before each rule that counts and queues, if users have a rate,
 *              one of the same condition for packets over it: out, not queued
 * stream    8  our own packets of what is remembered: renew it, or end it soon
 *           9  a first packet marked as "stream" by the verdict: remembered, or
 *              released when there are too many
 *          10  any other first packet: forgotten, whatever was before
 *          11  later packets of what is remembered: marked, too; data renews it
 * verdict  12  still marked as passed: mark cleared, conntrack zone if wanted
 *          13  marked as answered or stream: no conntrack entry
 * arrival  14  marked as stream, from lo: to our listener
 *
 * What containers ask has chains of its own, in tables ip and ip6: guest_rules.c.
 *
 * Where a rule of the policy could deny a question, nothing that a program sends
 * goes by unread.  What no answer can be given to is queued as well, marked so;
 * what is over a user's rate, and a connection that the set has no room for, is
 * dropped; and what comes again is marked if its socket is closed, since the
 * queue names no user then.
 *
 * On TCP: the mark leads a packet to the routing table of routes.h and so to
 * lo.  The queue does that for the first packet when it comes back with the
 * mark; for all others a chain of type "route" does it.  Only the first packet
 * of a connection decides, so one that is older than the rules is never
 * touched; what the verdict was is remembered in a set, since nothing else
 * knows it before conntrack: the sender's socket is the application's, and a
 * conntrack entry cannot be looked up before its zone is known.  Both
 * directions go without conntrack.  So no NAT (docker's, kube-proxy's) sends
 * the packets elsewhere, and no entry is left that would be in the way of the
 * next connection from that port, which may well go to the real nameserver.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/netfilter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "rules/cgroup.h"
#include "rules/ruleset.h"

/* Rules that there are whatever the config says: at most this many. */
#define FIXED_RULES (12 + QUESTION_RULES + STREAM_RULES)

static const char *const set_names[RULES_SETS] = {
	[SET_BYPASS4] = "bypass4",
	[SET_BYPASS6] = "bypass6",
	[SET_NAMESERVERS4] = "nameservers4",
	[SET_NAMESERVERS6] = "nameservers6",
	[SET_GUESTS4] = "containers4",
	[SET_GUESTS6] = "containers6",
};

/*
 * At output all stand before raw (-300) and conntrack (-200): a zone can only
 * be set before.  At prerouting, where tproxy stands with everybody: mangle.
 */
static const struct rules_chain_form chain_forms[CHAINS] = {
	[CHAIN_QUESTION] = { "question", "filter", TABLE_INET,
	    NF_INET_LOCAL_OUT, -310 },
	[CHAIN_STREAM] = { "stream", "route", TABLE_INET, NF_INET_LOCAL_OUT,
	    -307 },
	[CHAIN_VERDICT] = { "verdict", "filter", TABLE_INET,
	    NF_INET_LOCAL_OUT, -305 },
	[CHAIN_ARRIVAL] = { "arrival", "filter", TABLE_INET,
	    NF_INET_PRE_ROUTING, -150 },
	[CHAIN_GUESTS] = { "connections", "filter", TABLE_INET,
	    NF_INET_PRE_ROUTING, -307 },
	[CHAIN_GUESTS4] = { "asked4", "filter", TABLE_IP, NF_INET_PRE_ROUTING,
	    -310 },
	[CHAIN_BACK4] = { "back4", "filter", TABLE_IP, NF_INET_PRE_ROUTING,
	    -305 },
	[CHAIN_GUESTS6] = { "asked6", "filter", TABLE_IP6,
	    NF_INET_PRE_ROUTING, -310 },
	[CHAIN_BACK6] = { "back6", "filter", TABLE_IP6, NF_INET_PRE_ROUTING,
	    -305 },
};

static const struct rules_table_form table_forms[RULES_TABLES] = {
	[TABLE_INET] = { NFPROTO_INET, "inet" },
	[TABLE_IP] = { NFPROTO_IPV4, "ip" },
	[TABLE_IP6] = { NFPROTO_IPV6, "ip6" },
};

const struct rules_table_form *
rules_table_form(enum rules_table table)
{
	return &table_forms[table];
}

const struct rules_chain_form *
rules_chain_form(enum rules_chain chain)
{
	return &chain_forms[chain];
}

bool
ruleset_has_chain(const struct ruleset *set, enum rules_chain chain)
{
	if (chain_forms[chain].table != TABLE_INET)
		return set->guests;
	if (chain == CHAIN_GUESTS)
		return set->tcp && set->guests;
	return set->tcp || chain == CHAIN_QUESTION || chain == CHAIN_VERDICT;
}

const char *
rules_set_name(enum rules_set_id set)
{
	return set_names[set];
}

enum rules_table
rules_set_table(enum rules_set_id set)
{
	return set == SET_GUESTS4 ? TABLE_IP : set == SET_GUESTS6 ? TABLE_IP6 :
	    TABLE_INET;
}

bool
ruleset_has_budget(const struct ruleset *set, enum user_budget budget)
{
	const bool tcp = budget == USER_CONNECTIONS || budget == CONNECTIONS4 ||
	    budget == CONNECTIONS6;

	return set->user_rate > 0 && (set->tcp || !tcp) &&
	    (set->guests || rules_users(budget)->table == TABLE_INET);
}

uint32_t
ruleset_canary_mark(const struct config *config)
{
	return config->capture.mark_mask;
}

uint32_t
ruleset_relay_mark(const struct config *config)
{
	return config->capture.mark_answered | config->capture.mark_stream;
}

uint32_t
ruleset_unanswerable_mark(const struct config *config)
{
	return config->capture.mark_passed | config->capture.mark_answered;
}

/* Nothing else at prerouting has it: what is queued there is marked as passed. */
static uint32_t
ruleset_back_mark(const struct config *config)
{
	return config->capture.mark_passed | config->capture.mark_answered;
}

static void
add_bypass(struct rule *rule, struct condition condition, const char *remedy)
{
	rule_when(rule, condition);
	then_accept(rule);
	rule->remedy = remedy;
}

static void
add_bypass_ids(struct ruleset *set, const struct config_bypass *bypass)
{
	for (size_t i = 0; i < bypass->user_count; i++)
		add_bypass(add_rule(set, CHAIN_QUESTION, "bypass: user %u",
		    bypass->users[i]), condition_number(SUBJECT_SKUID,
		    OPERATOR_EQUAL, bypass->users[i]),
		    "remove it from capture.bypass.users");
	for (size_t i = 0; i < bypass->group_count; i++)
		add_bypass(add_rule(set, CHAIN_QUESTION, "bypass: group %u",
		    bypass->groups[i]), condition_number(SUBJECT_SKGID,
		    OPERATOR_EQUAL, bypass->groups[i]),
		    "remove it from capture.bypass.groups");
	for (size_t i = 0; i < bypass->mark_count; i++)
		add_bypass(add_rule(set, CHAIN_QUESTION,
		    "bypass: mark 0x%" PRIx32 "/0x%" PRIx32,
		    bypass->marks[i].value, bypass->marks[i].mask),
		    condition_masked(SUBJECT_MARK, OPERATOR_EQUAL,
		    bypass->marks[i].value, bypass->marks[i].mask),
		    "remove it from capture.bypass.marks");
}

/*
 * One that is not there has a warning, and no rule: a service may be started
 * later.  0, or -EINVAL with an error for each that cannot be looked up.
 */
static int
add_bypass_cgroups(struct ruleset *set, const struct config *config,
    struct diag *diag)
{
	const struct config_bypass *bypass = &config->capture.bypass;
	int rc = 0;

	for (size_t i = 0; i < bypass->cgroup_count; i++) {
		const struct config_cgroup *cgroup = &bypass->cgroups[i];
		struct cgroup_position position;
		const char *why;
		int error = cgroup_find(cgroup->path, &position, &why);

		if (error != 0) {
			bool missing = error == -ENOENT;

			diag_add(diag, missing ? DIAG_WARNING : DIAG_ERROR,
			    cgroup->file, cgroup->line,
			    "capture.bypass.cgroups: cgroup \"%s\" %s",
			    cgroup->path, why);
			rc = missing ? rc : -EINVAL;
			continue;
		}
		add_bypass(add_rule(set, CHAIN_QUESTION, "bypass: cgroup %s",
		    cgroup->path), condition_cgroup(position.id,
		    position.level, cgroup->path),
		    "remove it from capture.bypass.cgroups, or use a kernel "
		    "with CONFIG_NFT_SOCKET (5.13 or later)");
	}
	return rc;
}

static void
add_bypass_destinations(struct ruleset *set)
{
	for (size_t i = SET_BYPASS4; i <= SET_BYPASS6; i++) {
		struct rule *rule;

		if (set->sets[i].count == 0)
			continue;
		rule = add_rule(set, CHAIN_QUESTION, "bypass: IPv%c "
		    "destinations", i == SET_BYPASS4 ? '4' : '6');
		when_destination_in(rule, &set->sets[i]);
		then_accept(rule);
		rule->remedy = "remove capture.bypass.destinations";
	}
}

/* Every bit of ours is set in its mark. */
static void
add_canary(struct ruleset *set)
{
	struct rule *rule = add_rule(set, CHAIN_QUESTION, RULES_COMMENT_CANARY);

	when_marked(rule, set, OPERATOR_EQUAL, set->mark_mask);
	when_question(rule);
	rule_then(rule, (struct statement){
		.kind = STATEMENT_MARK,
		.mark = { ~set->mark_mask, set->mark_passed },
	});
	then_queue(rule, set);
}

/* Passed: the mark goes, and the packet into the zone unless that is 0. */
static void
add_passed(struct ruleset *set, uint16_t zone, const char *comment)
{
	struct rule *rule = add_rule(set, CHAIN_VERDICT, "%s", comment);

	when_passed(rule, set);
	then(rule, STATEMENT_COUNTER);
	if (zone != 0)
		rule_then(rule, (struct statement){
			.kind = STATEMENT_ZONE, .zone = zone,
		});
	then_clear_bits(rule, set->mark_mask);
	then(rule, STATEMENT_ACCEPT);
}

static void
add_untracked(struct ruleset *set, uint32_t mark, const char *comment)
{
	struct rule *rule = add_marked(set, CHAIN_VERDICT, mark, comment);

	then(rule, STATEMENT_COUNTER);
	then(rule, STATEMENT_NOTRACK);
	then(rule, STATEMENT_ACCEPT);
}

/*
 * With a zone, entries of before the rules came are in the way of those that
 * come now, and the other way round when the rules go: conntrack.h.
 */
static void
add_verdicts(struct ruleset *set, enum rules_stage stage)
{
	char passed[40] = "passed";

	if (set->zone != 0)
		(void)snprintf(passed, sizeof(passed),
		    "passed: conntrack zone %u", set->zone);
	if (set->zone != 0 && stage == RULES_LEAVING)
		add_passed(set, 0, "passed");
	if (set->zone != 0 && set->tcp) {
		struct rule *rule = add_marked(set, CHAIN_VERDICT,
		    set->mark_unanswerable, "passed: connections");

		/*
		 * A connection is in no zone.  The rule is there whatever the
		 * policy says: to take it out would drop what is queued.
		 */
		when_protocol(rule, OPERATOR_EQUAL, IPPROTO_TCP);
		then(rule, STATEMENT_COUNTER);
		then_clear_bits(rule, set->mark_mask);
		then(rule, STATEMENT_ACCEPT);
	}
	add_passed(set, set->zone, passed);
	add_untracked(set, set->mark_answered, "answered: not tracked");
	if (set->tcp)
		add_untracked(set, set->mark_stream,
		    "intercepted: not tracked");
}

static int
fill_sets(struct ruleset *set, const struct config_capture *capture)
{
	const struct config_bypass *bypass = &capture->bypass;

	for (size_t i = 0; i < SET_GUESTS4; i++) {
		bool is_bypass = i == SET_BYPASS4 || i == SET_BYPASS6;
		int rc;

		if (!is_bypass && capture->any_nameserver)
			continue;
		rc = is_bypass ? address_set_fill(&set->sets[i],
		    bypass->destinations, bypass->destination_count) :
		    address_set_fill(&set->sets[i], capture->nameservers,
		    capture->nameserver_count);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* An answer that nobody reads; two nameservers that are asked one after the other. */
#define STREAM_LONGEST_S \
	(STREAM_UNREAD_S > 2 * STREAM_RELAY_S ? STREAM_UNREAD_S : 2 * STREAM_RELAY_S)
_Static_assert(STREAM_LONGEST_S >= STREAM_MESSAGE_S, "of all times");

/*
 * How long connections stay in the sets, from what the daemon allows them; it
 * looks once a second, and the end of a connection cuts it short anyway.  A new
 * one without a question has the daemon's patience, half a minute at most: what
 * nobody accepted must not stay.
 */
static void
set_times(struct ruleset *set, const struct config_stream *stream)
{
	set->stream_new_s = 2 + (stream->idle_s < 28 ? stream->idle_s : 28);
	set->stream_open_s = 5 + (stream->idle_s > STREAM_LONGEST_S ?
	    stream->idle_s : STREAM_LONGEST_S);
}

/* All but rules and sets' contents. */
static void
set_values(struct ruleset *set, const struct config *config)
{
	*set = (struct ruleset){
		.mark_mask = config->capture.mark_mask,
		.mark_passed = config->capture.mark_passed,
		.mark_answered = config->capture.mark_answered,
		.mark_stream = config->capture.mark_stream,
		.mark_relay = ruleset_relay_mark(config),
		.mark_unanswerable = ruleset_unanswerable_mark(config),
		.mark_orphan = config->capture.mark_passed |
		    config->capture.mark_stream,
		.tcp = config->capture.tcp,
		.guests = config->container_count > 0,
		.mark_back = ruleset_back_mark(config),
		.streams_max = STREAM_TRACKED,
		.zone = config->capture.zone,
		.user_rate = config->capture.user_rate,
		.queue_number = config->queue.number,
		.queue_count = (uint16_t)config->queue.workers,
		.queue_bypass = !config->queue.absent_drop,
		.denies = policy_could_deny(&config->policy),
		.fail_open = config->queue.overload_pass &&
		    !policy_could_deny(&config->policy),
	};
	set_times(set, &config->stream);
	for (size_t i = 0; i < RULES_SETS; i++) {
		set->sets[i].name = set_names[i];
		set->sets[i].family = i == SET_BYPASS4 ||
		    i == SET_NAMESERVERS4 || i == SET_GUESTS4 ? AF_INET :
		    AF_INET6;
	}
}

int
ruleset_build(struct ruleset *set, const struct config *config,
    enum rules_stage stage, struct diag *diag)
{
	const struct config_capture *capture = &config->capture;
	const struct config_bypass *bypass = &capture->bypass;
	int rc = 0;

	set_values(set, config);
	set->room = FIXED_RULES + bypass->user_count + bypass->group_count +
	    bypass->mark_count + bypass->cgroup_count +
	    guest_rules_count(config);
	set->rules = calloc(set->room, sizeof(*set->rules));
	if (set->rules == NULL)
		return -ENOMEM;
	if (stage >= RULES_FULL)
		rc = fill_sets(set, capture);
	if (rc == 0 && stage == RULES_FULL)
		rc = guest_rules_fill(set, config);
	if (rc != 0)
		goto fail;

	add_not_dns(set, CHAIN_QUESTION);
	add_canary(set);
	if (set->tcp)
		then_accept(add_marked(set, CHAIN_QUESTION, set->mark_relay,
		    "relay: our own connections"));
	if (set->tcp && set->guests)
		then_accept(add_marked(set, CHAIN_QUESTION, set->mark_stream,
		    "containers' connections, to nfdnsd"));
	if (stage >= RULES_FULL) {
		add_bypass_ids(set, bypass);
		rc = add_bypass_cgroups(set, config, diag);
		if (rc != 0)
			goto fail;
		add_bypass_destinations(set);
		question_rules_add(set, capture->any_nameserver,
		    stage == RULES_PAUSED);
	}
	if (set->tcp)
		stream_rules_add(set);
	add_verdicts(set, stage);
	if (set->guests)
		guest_rules_add(set, config, stage == RULES_FULL);
	return 0;
fail:
	ruleset_free(set);
	return rc;
}

void
ruleset_listen_at(struct ruleset *set, const uint16_t ports[static 2])
{
	memcpy(set->stream_ports, ports, sizeof(set->stream_ports));
	for (size_t i = 0; i < set->count; i++)
		for (size_t j = 0; j < set->rules[i].statement_count; j++) {
			struct statement *s = &set->rules[i].statements[j];

			if (s->kind == STATEMENT_TPROXY)
				s->tproxy.port = ports[s->tproxy.ipv4 ? 0 : 1];
		}
}

/* The next condition on a cgroup from rule *i on, which is then behind it. */
static const struct condition *
next_cgroup(const struct ruleset *set, size_t *i)
{
	while (*i < set->count) {
		const struct rule *rule = &set->rules[(*i)++];

		if (rule->conditions[0].subject == SUBJECT_CGROUPV2)
			return &rule->conditions[0];
	}
	return NULL;
}

bool
ruleset_same_cgroups(const struct ruleset *a, const struct ruleset *b)
{
	const struct condition *ours, *theirs;
	size_t i = 0, j = 0;

	do {
		ours = next_cgroup(a, &i);
		theirs = next_cgroup(b, &j);
		if (ours == NULL || theirs == NULL)
			return ours == theirs;
	} while (memcmp(ours->value, theirs->value, sizeof(ours->value)) == 0 &&
	    ours->level == theirs->level);
	return false;
}

void
ruleset_free(struct ruleset *set)
{
	for (size_t i = 0; i < RULES_SETS; i++)
		address_set_free(&set->sets[i]);
	free(set->rules);
	set->rules = NULL;
	set->count = 0;
}
