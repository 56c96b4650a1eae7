/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is wanted in the kernel, in the order in which a packet meets it:
 *
 * question  1  not UDP, not to port 53: nothing of ours, out at once
 *           2  the canary: before the bypasses, which must not hide a queue
 *              that does not work from it
 *           3  whoever is to see the real nameservers: out, not queued
 *           4  questions: marked as passed, counted, queued; one that comes
 *              with that mark was queued before (NF_REPEAT gives a dead
 *              worker's packets to the next) and is not counted again
 *           5  the first packet of a TCP connection: counted, queued
 *              Before each rule that counts and queues, if users have a rate,
 *              one of the same condition for packets over it: out, not queued
 * stream    6  our own packets of what is remembered: renew it, or end it soon
 *           7  a first packet marked as "stream" by the verdict: remembered, or
 *              released when there are too many
 *           8  any other first packet: forgotten, whatever was before
 *           9  later packets of what is remembered: marked, too; data renews it
 * verdict  10  still marked as passed: mark cleared, conntrack zone if wanted
 *          11  marked as answered or stream: no conntrack entry
 * arrival  12  marked as stream, from lo: to our listener
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
#include <errno.h>
#include <inttypes.h>
#include <linux/netfilter.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "rules/cgroup.h"
#include "rules/ruleset.h"

/* Rules that there are whatever the config says: at most this many. */
#define FIXED_RULES 48

static const char *const set_names[RULES_SETS] = {
	[SET_BYPASS4] = "bypass4",
	[SET_BYPASS6] = "bypass6",
	[SET_NAMESERVERS4] = "nameservers4",
	[SET_NAMESERVERS6] = "nameservers6",
};

/*
 * At output all stand before raw (-300) and conntrack (-200): a zone can only
 * be set before.  At prerouting, where tproxy stands with everybody: mangle.
 */
static const struct rules_chain_form chain_forms[CHAINS] = {
	[CHAIN_QUESTION] = { "question", "filter", NF_INET_LOCAL_OUT, -310 },
	[CHAIN_STREAM] = { "stream", "route", NF_INET_LOCAL_OUT, -307 },
	[CHAIN_VERDICT] = { "verdict", "filter", NF_INET_LOCAL_OUT, -305 },
	[CHAIN_ARRIVAL] = { "arrival", "filter", NF_INET_PRE_ROUTING, -150 },
};

const struct rules_chain_form *
rules_chain_form(enum rules_chain chain)
{
	return &chain_forms[chain];
}

bool
ruleset_has_chain(const struct ruleset *set, enum rules_chain chain)
{
	return set->tcp || chain == CHAIN_QUESTION || chain == CHAIN_VERDICT;
}

bool
rules_is_ipv4(enum rule_match match)
{
	switch (match) {
	case MATCH_DESTINATION4:
	case MATCH_NAMESERVER4:
	case MATCH_MULTICAST4:
	case MATCH_CONNECTION4:
	case MATCH_FIRST4:
	case MATCH_FIRST_MARKED4:
	case MATCH_LATER4:
	case MATCH_RESET4:
	case MATCH_DATA4:
	case MATCH_ANSWER4:
	case MATCH_END4:
	case MATCH_ARRIVED4:
		return true;
	default:
		return false;
	}
}

bool
rules_is_reply(enum rule_match match)
{
	return match == MATCH_ANSWER4 || match == MATCH_ANSWER6 ||
	    match == MATCH_END4 || match == MATCH_END6;
}

const char *
rules_set_name(enum rules_set_id set)
{
	return set_names[set];
}

enum rules_set_id
rule_set_id(const struct rule *rule)
{
	switch (rule->match) {
	case MATCH_DESTINATION4:
		return SET_BYPASS4;
	case MATCH_DESTINATION6:
		return SET_BYPASS6;
	case MATCH_NAMESERVER4:
	case MATCH_CONNECTION4:
		return SET_NAMESERVERS4;
	case MATCH_NAMESERVER6:
	case MATCH_CONNECTION6:
		return SET_NAMESERVERS6;
	default:
		return RULES_SETS;
	}
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

/* Appends; ruleset_build() made room for all. */
__attribute__((format(printf, 5, 6)))
static struct rule *
add_rule(struct ruleset *set, enum rules_chain chain, enum rule_match match,
    enum rule_action action, const char *comment, ...)
{
	struct rule *rule = &set->rules[set->count++];
	va_list arguments;

	rule->chain = chain;
	rule->match = match;
	rule->action = action;
	va_start(arguments, comment);
	vsnprintf(rule->comment, sizeof(rule->comment), comment, arguments);
	va_end(arguments);
	return rule;
}

static void
add_bypass_ids(struct ruleset *set, const struct config_bypass *bypass)
{
	for (size_t i = 0; i < bypass->user_count; i++)
		add_rule(set, CHAIN_QUESTION, MATCH_USER, ACTION_ACCEPT,
		    "bypass: user %u", bypass->users[i])->arg.id =
		    bypass->users[i];
	for (size_t i = 0; i < bypass->group_count; i++)
		add_rule(set, CHAIN_QUESTION, MATCH_GROUP, ACTION_ACCEPT,
		    "bypass: group %u", bypass->groups[i])->arg.id =
		    bypass->groups[i];
	for (size_t i = 0; i < bypass->mark_count; i++)
		add_rule(set, CHAIN_QUESTION, MATCH_MARK, ACTION_ACCEPT,
		    "bypass: mark 0x%" PRIx32 "/0x%" PRIx32,
		    bypass->marks[i].value, bypass->marks[i].mask)->arg.mark =
		    bypass->marks[i];
	for (size_t i = 0; i < bypass->classid_count; i++)
		add_rule(set, CHAIN_QUESTION, MATCH_CLASSID, ACTION_ACCEPT,
		    "bypass: net_cls class 0x%" PRIx32,
		    bypass->classids[i])->arg.id = bypass->classids[i];
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
			    config->path, cgroup->line,
			    "capture.bypass.cgroups: cgroup \"%s\" %s",
			    cgroup->path, why);
			rc = missing ? rc : -EINVAL;
			continue;
		}
		struct rule *rule = add_rule(set, CHAIN_QUESTION, MATCH_CGROUP,
		    ACTION_ACCEPT, "bypass: cgroup %s", cgroup->path);
		rule->arg.cgroup.id = position.id;
		rule->arg.cgroup.level = position.level;
		rule->arg.cgroup.path = cgroup->path;
	}
	return rc;
}

static void
add_bypass_destinations(struct ruleset *set)
{
	if (set->sets[SET_BYPASS4].count > 0)
		add_rule(set, CHAIN_QUESTION, MATCH_DESTINATION4,
		    ACTION_ACCEPT, "bypass: IPv4 destinations");
	if (set->sets[SET_BYPASS6].count > 0)
		add_rule(set, CHAIN_QUESTION, MATCH_DESTINATION6,
		    ACTION_ACCEPT, "bypass: IPv6 destinations");
}

/*
 * An answer to a foreign address would leave the machine, and one to a group of
 * hosts would come from no host.
 */
static void
add_unanswerable(struct ruleset *set)
{
	add_rule(set, CHAIN_QUESTION, MATCH_FOREIGN_SOURCE, ACTION_ACCEPT,
	    "from an address that is not local");
	add_rule(set, CHAIN_QUESTION, MATCH_BROADCAST, ACTION_ACCEPT,
	    "to a broadcast address");
	add_rule(set, CHAIN_QUESTION, MATCH_MULTICAST4, ACTION_ACCEPT,
	    "to a multicast address (IPv4)");
	add_rule(set, CHAIN_QUESTION, MATCH_MULTICAST6, ACTION_ACCEPT,
	    "to a multicast address (IPv6)");
}

/*
 * A rule that queues, behind the one that takes what is over the user's rate.
 * With a conntrack zone, a port's surplus has to be in it like what passes the
 * queue: see add_verdicts().  Passed TCP connections are in none.
 */
static void
add_queued(struct ruleset *set, enum rule_match match, enum rule_action action,
    const char *comment)
{
	if (set->user_rate > 0)
		add_rule(set, CHAIN_QUESTION, match, set->zone != 0 &&
		    action == ACTION_QUEUE ? ACTION_SURPLUS_MARKED :
		    ACTION_SURPLUS, RULES_COMMENT_SURPLUS "%s", comment);
	add_rule(set, CHAIN_QUESTION, match, action, "%s", comment);
}

static void
add_questions(struct ruleset *set, bool any_nameserver)
{
	add_rule(set, CHAIN_QUESTION, MATCH_REPEATED, ACTION_QUEUE,
	    RULES_COMMENT_REPEATED);
	if (any_nameserver)
		add_queued(set, MATCH_QUESTION, ACTION_QUEUE, "questions");
	if (set->sets[SET_NAMESERVERS4].count > 0)
		add_queued(set, MATCH_NAMESERVER4, ACTION_QUEUE,
		    "questions to IPv4 nameservers");
	if (set->sets[SET_NAMESERVERS6].count > 0)
		add_queued(set, MATCH_NAMESERVER6, ACTION_QUEUE,
		    "questions to IPv6 nameservers");
}

static void
add_connections(struct ruleset *set, bool any_nameserver)
{
	if (any_nameserver)
		add_queued(set, MATCH_CONNECTION, ACTION_QUEUE_STREAM,
		    "connections");
	if (set->sets[SET_NAMESERVERS4].count > 0)
		add_queued(set, MATCH_CONNECTION4, ACTION_QUEUE_STREAM,
		    "connections to IPv4 nameservers");
	if (set->sets[SET_NAMESERVERS6].count > 0)
		add_queued(set, MATCH_CONNECTION6, ACTION_QUEUE_STREAM,
		    "connections to IPv6 nameservers");
}

/* Appends a rule that matches a value of our own bits of the mark. */
static struct rule *
add_marked(struct ruleset *set, enum rules_chain chain, uint32_t value,
    enum rule_action action, const char *comment)
{
	struct rule *rule = add_rule(set, chain, MATCH_MARK, action, "%s",
	    comment);

	rule->arg.mark.value = value;
	rule->arg.mark.mask = set->mark_mask;
	return rule;
}

/*
 * A rule for each version of IP.  "seconds" is how long a connection stays in
 * the set from there on.
 */
static void
add_stream_pair(struct ruleset *set, enum rule_match match4,
    enum rule_match match6, enum rule_action action, unsigned int seconds,
    const char *comment)
{
	add_rule(set, CHAIN_STREAM, match4, action, "%s (IPv4)",
	    comment)->seconds = seconds;
	add_rule(set, CHAIN_STREAM, match6, action, "%s (IPv6)",
	    comment)->seconds = seconds;
}

/*
 * A first packet that is marked but finds the set full loses the mark, and so
 * gets its own route back: it goes to the nameserver like one that passed, and
 * the packets behind it follow. 
 */
static void
add_streams(struct ruleset *set)
{
	add_rule(set, CHAIN_STREAM, MATCH_NOT_TCP, ACTION_ACCEPT, "not TCP");
	add_rule(set, CHAIN_STREAM, MATCH_NOT_STREAMS, ACTION_ACCEPT,
	    "not DNS");
	add_stream_pair(set, MATCH_END4, MATCH_END6, ACTION_RENEW,
	    RULES_STREAMS_END_S, "ended by us");
	add_stream_pair(set, MATCH_ANSWER4, MATCH_ANSWER6, ACTION_RENEW,
	    set->stream_open_s, "data of ours");
	add_rule(set, CHAIN_STREAM, MATCH_NOT_PORT53, ACTION_ACCEPT,
	    "to clients");
	add_stream_pair(set, MATCH_FIRST_MARKED4, MATCH_FIRST_MARKED6,
	    ACTION_REMEMBER, set->stream_new_s, "intercepted: remembered");
	add_rule(set, CHAIN_STREAM, MATCH_FIRST_MARKED, ACTION_RELEASE,
	    RULES_COMMENT_FULL);
	add_stream_pair(set, MATCH_FIRST4, MATCH_FIRST6, ACTION_FORGET, 0,
	    "not intercepted");
	add_stream_pair(set, MATCH_RESET4, MATCH_RESET6, ACTION_RENEW_DIVERT,
	    RULES_STREAMS_END_S, "reset by the client");
	add_stream_pair(set, MATCH_DATA4, MATCH_DATA6, ACTION_RENEW_DIVERT,
	    set->stream_open_s, "data of intercepted connections");
	add_stream_pair(set, MATCH_LATER4, MATCH_LATER6, ACTION_DIVERT, 0,
	    "of intercepted connections");
}

/*
 * A connection from a link-local address belongs to its interface, lo is where
 * its packets come from, and so tproxy does not find it; the usual way does.
 */
static void
add_arrivals(struct ruleset *set)
{
	add_rule(set, CHAIN_ARRIVAL, MATCH_NOT_STREAM, ACTION_ACCEPT,
	    "not intercepted");
	add_rule(set, CHAIN_ARRIVAL, MATCH_NOT_LOOPBACK, ACTION_ACCEPT,
	    "not from lo");
	add_rule(set, CHAIN_ARRIVAL, MATCH_ARRIVED_SCOPED, ACTION_ACCEPT,
	    "of link-local connections");
	add_rule(set, CHAIN_ARRIVAL, MATCH_ARRIVED4, ACTION_TPROXY,
	    "intercepted (IPv4)");
	add_rule(set, CHAIN_ARRIVAL, MATCH_ARRIVED6, ACTION_TPROXY,
	    "intercepted (IPv6)");
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
		add_marked(set, CHAIN_VERDICT, set->mark_passed, ACTION_CLEAR,
		    "passed");
	add_marked(set, CHAIN_VERDICT, set->mark_passed,
	    set->zone != 0 ? ACTION_SET_ZONE : ACTION_CLEAR, passed);
	add_marked(set, CHAIN_VERDICT, set->mark_answered, ACTION_NOTRACK,
	    "answered: not tracked");
	if (set->tcp)
		add_marked(set, CHAIN_VERDICT, set->mark_stream,
		    ACTION_NOTRACK, "intercepted: not tracked");
}

static int
fill_sets(struct ruleset *set, const struct config_capture *capture)
{
	const struct config_bypass *bypass = &capture->bypass;

	for (size_t i = 0; i < RULES_SETS; i++) {
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

static unsigned int
larger(unsigned int a, unsigned int b)
{
	return a > b ? a : b;
}

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
	set->stream_open_s = 5 + larger(larger(stream->idle_s,
	    stream->unread_s), larger(stream->message_s, 2 * stream->relay_s));
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
		.tcp = config->capture.tcp,
		.stream_port = config->stream.port,
		.streams_max = config->stream.tracked,
		.zone = config->capture.zone,
		.user_rate = config->capture.user_rate,
		.queue_number = config->queue.number,
		.queue_count = (uint16_t)config->queue.workers,
		.queue_bypass = !config->queue.absent_drop,
	};
	set_times(set, &config->stream);
	for (size_t i = 0; i < RULES_SETS; i++) {
		set->sets[i].name = set_names[i];
		set->sets[i].family = i == SET_BYPASS4 ||
		    i == SET_NAMESERVERS4 ? AF_INET : AF_INET6;
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
	set->rules = calloc(FIXED_RULES + bypass->user_count +
	    bypass->group_count + bypass->mark_count + bypass->cgroup_count +
	    bypass->classid_count, sizeof(*set->rules));
	if (set->rules == NULL)
		return -ENOMEM;
	if (stage == RULES_FULL)
		rc = fill_sets(set, capture);
	if (rc != 0)
		goto fail;

	if (!set->tcp)
		add_rule(set, CHAIN_QUESTION, MATCH_NOT_UDP, ACTION_ACCEPT,
		    "not UDP");
	add_rule(set, CHAIN_QUESTION, MATCH_NOT_PORT53, ACTION_ACCEPT,
	    "not DNS");
	add_rule(set, CHAIN_QUESTION, MATCH_QUESTION, ACTION_QUEUE,
	    RULES_COMMENT_CANARY)->canary = true;
	if (set->tcp)
		add_marked(set, CHAIN_QUESTION, set->mark_relay, ACTION_ACCEPT,
		    "relay: our own connections");
	if (stage == RULES_FULL) {
		add_bypass_ids(set, bypass);
		rc = add_bypass_cgroups(set, config, diag);
		if (rc != 0)
			goto fail;
		add_bypass_destinations(set);
		add_unanswerable(set);
		add_questions(set, capture->any_nameserver);
		if (set->tcp)
			add_connections(set, capture->any_nameserver);
	}
	if (set->tcp) {
		add_streams(set);
		add_arrivals(set);
	}
	add_verdicts(set, stage);
	return 0;
fail:
	ruleset_free(set);
	return rc;
}

/* The next rule of a cgroup from *i on, which is then behind it; NULL: none. */
static const struct rule *
next_cgroup(const struct ruleset *set, size_t *i)
{
	while (*i < set->count) {
		const struct rule *rule = &set->rules[(*i)++];

		if (rule->match == MATCH_CGROUP)
			return rule;
	}
	return NULL;
}

bool
ruleset_same_cgroups(const struct ruleset *a, const struct ruleset *b)
{
	const struct rule *ours, *theirs;
	size_t i = 0, j = 0;

	do {
		ours = next_cgroup(a, &i);
		theirs = next_cgroup(b, &j);
		if (ours == NULL || theirs == NULL)
			return ours == theirs;
	} while (ours->arg.cgroup.id == theirs->arg.cgroup.id &&
	    ours->arg.cgroup.level == theirs->arg.cgroup.level);
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
