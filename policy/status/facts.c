/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/status/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AT(type, member) .offset = offsetof(type, member), \
	.size = sizeof(((type *)NULL)->member)

/* Of the daemon; IS() alone is only a metric. */
#define IS(what, member) .kind = FACT_ ## what, AT(struct status_facts, member)
#define FACT(in, name, what, member) .section = (in), .key = (name), \
	IS(what, member)
#define NUMBER(in, name, member) FACT(in, name, NUMBER, member)
#define STREAM(name, counter) \
	NUMBER("stream", name, c.stream[STREAM_ ## counter])
#define FORWARD(name, counter) \
	NUMBER("forward", name, c.forward[FORWARD_ ## counter])
#define LIST(in, name, of) .section = (in), .key = (name), \
	.kind = FACT_LIST, .mask = (of)
/* Of elements; the first text of a list is their label. */
#define OF(lists, type, name, what, member) .list = FACTS_ ## lists, \
	.key = (name), .kind = FACT_ ## what, AT(type, member)
#define UPSTREAM(name, what, member) \
	OF(UPSTREAMS, struct status_upstream, name, what, member)
#define IN_DOMAIN(name, what, member) \
	OF(DOMAINS, struct status_domain, name, what, member)
#define RULE(name, what, member) \
	OF(RULES, struct policy_shown, name, what, member)
#define INTERFACE(name, what, member) \
	OF(INTERFACES, struct interface_shown, name, what, member)
#define FEED(what, member) OF(FEEDS, struct feed_shown, NULL, what, member)

#define METRIC(family, text) .metric = "nfdns_" family, .help = (text)
#define BY(family, name) .metric = "nfdns_" family, .label = (name)
#define MADE(family, text) .kind = FACT_METRIC, METRIC(family, text)

#define DEATH(name, cause) NUMBER("deaths", name, \
	s.deaths[STATUS_DEATH_ ## cause]), BY("worker_deaths_total", "cause")
#define CLOSED(name, counter) STREAM(name, counter), \
	BY("stream_closed_total", "reason")

/* The order is that of the metrics, and of the keys in each section. */
const struct fact facts_table[] = {
	{ MADE("build_info", "The version; always 1.") },
	{ FACT("", "ready", FLAG, s.state),
	  .mask = 1U << STATUS_READY | 1U << STATUS_DEGRADED,
	  METRIC("ready", "1 if questions are answered.") },
	{ FACT("", "state", STATE, s.state) },
	{ FACT("", "degraded", CHARS, degraded) },
	{ IS(FLAG, s.state), .mask = 1U << STATUS_DEGRADED,
	  METRIC("degraded", "1 if something is not as it should be; nfdns "
	  "status says what.") },
	{ FACT("", "paused", FLAG, paused), .mask = 1U << true,
	  METRIC("paused", "1 while every question passes: nfdns pause.") },
	{ NUMBER("", "pid", pid) },
	{ NUMBER("", "worker_pid", worker_pid) },
	{ FACT("", "uptime_seconds", AGE, s.started),
	  METRIC("start_time_seconds", "When nfdnsd started, since 1970.") },

	{ NUMBER("worker", "threads", threads) },
	{ NUMBER("worker", "restarts", s.restarts),
	  METRIC("worker_restarts_total",
	  "How often the worker was started again.") },
	{ DEATH("crash", CRASH), .help = "What workers died of." },
	{ DEATH("hang", HANG) },
	{ DEATH("killed", KILLED) },
	{ DEATH("failed", FAILED) },
	{ FACT("reload", "ok", FLAG, reload_ok), .mask = 1U << true,
	  METRIC("reload_success", "1 if the last reload succeeded.") },
	{ FACT("reload", "error", CHARS, reload_error) },
	{ IS(NUMBER, s.reload_time), METRIC("reload_time_seconds",
	  "When the last reload ended, since 1970.") },
	{ NUMBER("reload", "count", reloads),
	  METRIC("reloads_total", "Reloads.") },

	{ NUMBER("table", "generation", s.table_generation),
	  METRIC("table_generation",
	  "The table's number; 0: none was ever loaded.") },
	{ NUMBER("table", "worker_generation", c.oldest_generation) },
	{ NUMBER("table", "names", s.table_names),
	  METRIC("table_names", "Names that the table has.") },
	{ NUMBER("table", "octets", s.table_octets),
	  METRIC("table_bytes", "Size of the table.") },
	{ FACT("table", "age_seconds", AGE, s.table_loaded),
	  METRIC("table_loaded_time_seconds",
	  "When it was loaded, since 1970.") },
	{ OF(SOURCES, struct mesh_source, NULL, POINTER, path) },
	{ OF(SOURCES, struct mesh_source, NULL, AGE, changed),
	  .section = "source_age_seconds",
	  METRIC("table_source_changed_time_seconds",
	  "When a source of the table changed, since 1970.") },

	{ MADE("dns_requests_total", "DNS questions that nfdnsd has read, by "
	  "transport, IP version and type.") },
	{ MADE("dns_responses_total", "Answers of nfdnsd, by response code "
	  "and verdict; those of forwarding have the verdict \"forward\".") },
	{ NUMBER("counters", "received", c.received) },
	{ NUMBER("counters", "answered", c.answered) },
	{ NUMBER("counters", "passed", c.passed), METRIC("dns_passed_total",
	  "Questions that went on to the nameserver they were sent to.") },
	{ NUMBER("counters", "refused", c.refused) },
	{ NUMBER("counters", "dropped", c.dropped), METRIC("dns_dropped_total",
	  "Questions that were dropped, by policy.") },
	{ NUMBER("counters", "malformed", c.malformed) },
	{ NUMBER("counters", "canaries", c.canaries) },
	{ NUMBER("counters", "verdict_errors", c.verdict_errors) },
	{ .list = FACTS_REASONS, .kind = FACT_REASON },
	{ .list = FACTS_REASONS, .section = "reasons", .kind = FACT_NUMBER,
	  .size = sizeof(uint64_t), METRIC("dns_decisions_total",
	  "Questions, by the reason of the decision.") },
	{ MADE("dns_request_duration_seconds", "From the reading of a "
	  "question to its verdict; one batch of a queue in 16 is measured, "
	  "and each forwarded question.") },

	{ FACT("queue", "mode", MODE, s.queue_mode) },
	{ NUMBER("queue", "packets", s.rule_packets),
	  METRIC("queue_packets_total",
	  "Packets that the rules sent to the queue.") },
	{ MADE("queue_length", "Packets that wait for a verdict; if nfdnsd is "
	  "not root, those it has not read, about.") },
	{ NUMBER("queue", "unseen", c.unseen), METRIC("queue_unseen_total",
	  "Packets that the rules counted and nfdnsd never read.") },
	{ NUMBER("queue", "dropped", c.queue_dropped),
	  METRIC("queue_dropped_total",
	  "Packets that the kernel dropped because a queue was full.") },
	{ NUMBER("queue", "over_user_rate", s.surplus),
	  METRIC("queue_over_user_rate_total",
	  "Packets over capture.user_rate, which passed.") },
	{ IS(NUMBER, c.verdict_errors), METRIC("queue_verdict_errors_total",
	  "Verdicts that the kernel did not take.") },
	{ IS(NUMBER, c.malformed), METRIC("packets_malformed_total",
	  "Packets and messages that do not parse, which passed.") },
	{ NUMBER("audit", "records", c.recorded) },
	{ NUMBER("audit", "lost", c.audit_lost),
	  METRIC("audit_lost_total", "Records that no packet log has.") },

	{ NUMBER("stream", "intercepted", c.streams) },
	{ STREAM("open", OPEN), METRIC("stream_connections",
	  "DNS connections that are open.") },
	{ STREAM("accepted", ACCEPTED), METRIC("stream_accepted_total",
	  "DNS connections that were accepted.") },
	{ IS(NUMBER, c.stream[STREAM_RELAYS]), METRIC("stream_relays_total",
	  "Connections to nameservers, for questions that are not the "
	  "mesh's.") },
	{ IS(NUMBER, c.stream[STREAM_UNREACHABLE]),
	  METRIC("stream_unreachable_total",
	  "Questions over TCP that no nameserver answered.") },
	{ IS(NUMBER, s.streams_passed), METRIC("stream_passed_full_total",
	  "Connections that passed because a set of the kernel was full.") },
	{ STREAM("questions", QUESTIONS) },
	{ CLOSED("over_connections", OVER_ALL),
	  .help = "Connections that nfdnsd closed, by the reason." },
	{ CLOSED("over_per_client", OVER_CLIENT) },
	{ CLOSED("over_raw", OVER_RAW) },
	{ CLOSED("evicted", EVICTED) },
	{ CLOSED("idle", IDLE) },
	{ CLOSED("slow", SLOW) },
	{ CLOSED("unread", UNREAD) },
	{ STREAM("throttled", THROTTLED) },
	{ STREAM("relays", RELAYS) },
	{ STREAM("raw", RAW) },
	{ CLOSED("raw_expired", RAW_EXPIRED) },
	{ STREAM("unreachable", UNREACHABLE) },
	{ NUMBER("stream", "tracked_ipv4", s.streams[0]) },
	{ NUMBER("stream", "tracked_ipv6", s.streams[1]) },
	{ NUMBER("stream", "tracked_max", s.streams_max) },
	{ NUMBER("stream", "passed_full", s.streams_passed) },

	{ RULE("name", CHARS, name) },
	{ RULE("matched", NUMBER, matched), METRIC("policy_rule_matched_total",
	  "Questions that a rule of the policy matched.") },
	{ RULE(NULL, NUMBER, enforced), METRIC("policy_rule_enforced_total",
	  "Of these, while the rule was enforced.") },
	{ RULE("observed", NUMBER, observed),
	  METRIC("policy_rule_observed_total",
	  "Of these, while the rule only observed.") },
	{ RULE("limited", NUMBER, limited), METRIC("policy_rule_limited_total",
	  "Of these, over the rule's rate.") },

	{ NUMBER("forward", "questions", c.forwarded) },
	{ FORWARD("held", HELD), METRIC("forward_held",
	  "Questions that wait for an upstream.") },
	{ FORWARD("answered", ANSWERED) },
	{ NUMBER("forward", "hits", hits), METRIC("forward_cache_hits_total",
	  "Questions that were answered from the cache.") },
	{ FORWARD("stale", STALE) },
	{ FORWARD("prefetched", PREFETCHED) },
	{ FORWARD("failed", FAILED) },
	{ FORWARD("refused", REFUSED) },
	{ FORWARD("passed", PASSED) },
	{ FORWARD("joined", JOINED) },
	{ FORWARD("attempts", ATTEMPTS) },
	{ FORWARD("mismatched", MISMATCHED),
	  METRIC("forward_mismatched_total", "Replies to other questions than "
	  "those asked, as forged ones are.") },
	{ FORWARD("malformed", MALFORMED) },
	{ FORWARD("truncated", TRUNCATED) },
	{ FORWARD("late", LATE) },
	{ FORWARD("loops", LOOPS) },
	{ FORWARD("tls_connections", TLS_CONNECTIONS) },
	{ FORWARD("tls_resumed", TLS_RESUMED) },
	{ FORWARD("tls_failed", TLS_FAILED) },
	{ FORWARD("tls_again", TLS_AGAIN) },
	{ FORWARD("tls_unasked", TLS_UNASKED) },
	{ FORWARD("tcp_connections", TCP_CONNECTIONS) },
	{ FORWARD("tcp_again", TCP_AGAIN) },
	{ FORWARD("tcp_unasked", TCP_UNASKED) },
	{ LIST("forward", "upstreams", FACTS_UPSTREAMS) },
	{ LIST("forward", "domains", FACTS_DOMAINS) },

	{ UPSTREAM("address", CHARS, text) },
	{ UPSTREAM(NULL, FLAG, state),
	  .mask = 1U << STATUS_UPSTREAM_UP | 1U << STATUS_UPSTREAM_PROBING,
	  METRIC("forward_upstream_up", "1 if the upstream is asked.") },
	{ UPSTREAM("state", UPSTREAM_STATE, state) },
	{ UPSTREAM("state_seconds", AGE, since) },
	{ UPSTREAM("srtt_us", MICROSECONDS, srtt_us),
	  METRIC("forward_upstream_srtt_seconds",
	  "Smoothed round-trip time; 0: not known.") },
	{ UPSTREAM("error", TROUBLE, trouble) },
	{ UPSTREAM("error_seconds", AGE, trouble_at) },
	{ UPSTREAM("tls_error", CHARS, tls) },
	{ UPSTREAM("sent", COUNT, counters[UPSTREAM_SENT]),
	  METRIC("forward_upstream_sent_total", "Messages to an upstream.") },
	{ UPSTREAM("sent_tcp", COUNT, counters[UPSTREAM_SENT_TCP]) },
	{ UPSTREAM("sent_tls", COUNT, counters[UPSTREAM_SENT_TLS]) },
	{ UPSTREAM("replies", COUNT, counters[UPSTREAM_REPLIES]) },
	{ UPSTREAM("timeouts", COUNT, counters[UPSTREAM_TIMEOUTS]),
	  METRIC("forward_upstream_timeouts_total",
	  "Of these, without a reply in time.") },
	{ UPSTREAM("errors", COUNT, counters[UPSTREAM_ERRORS]),
	  METRIC("forward_upstream_errors_total",
	  "Of these, errors of the network.") },
	{ UPSTREAM("failures", COUNT, counters[UPSTREAM_FAILURES]),
	  METRIC("forward_upstream_failures_total", "Replies that were a "
	  "reason to ask another upstream.") },
	{ UPSTREAM("mismatched", COUNT, counters[UPSTREAM_MISMATCHED]) },

	{ IN_DOMAIN("name", NAME, name) },
	{ .list = FACTS_DOMAINS, .key = "upstreams", .kind = FACT_SERVERS },
	{ IN_DOMAIN("questions", NUMBER, counters[DOMAIN_QUESTIONS]),
	  METRIC("forward_domain_requests_total",
	  "Questions for names of a forward domain.") },
	{ IN_DOMAIN("waiting", COUNT, counters[DOMAIN_WAITING]) },
	{ IN_DOMAIN("answered", COUNT, counters[DOMAIN_ANSWERED]) },
	{ IN_DOMAIN("hits", COUNT, counters[DOMAIN_HITS]),
	  METRIC("forward_domain_cache_hits_total",
	  "Of these, answered from the cache.") },
	{ IN_DOMAIN("stale", COUNT, counters[DOMAIN_STALE]),
	  METRIC("forward_domain_stale_total", "Of these, answered by expired "
	  "answers (RFC 8767).") },
	{ IN_DOMAIN("failed", COUNT, counters[DOMAIN_FAILED]),
	  METRIC("forward_domain_failed_total", "Of these, answered by "
	  "SERVFAIL: no upstream answered.") },
	{ IN_DOMAIN("refused", COUNT, counters[DOMAIN_REFUSED]) },
	{ IN_DOMAIN("passed", COUNT, counters[DOMAIN_PASSED]) },

	{ LIST("", "containers", FACTS_INTERFACES) },
	{ .list = FACTS_INTERFACES, MADE("container_questions_total",
	  "Questions of containers and guests, by the interface by which they "
	  "came and what became of them.") },
	{ INTERFACE("interface", CHARS, name) },
	{ INTERFACE("answered", NUMBER, answered) },
	{ INTERFACE("passed", NUMBER, passed) },
	{ INTERFACE("forwarded", NUMBER, forwarded) },
	{ INTERFACE("refused", NUMBER, refused) },
	{ INTERFACE("dropped", NUMBER, dropped) },

	{ FEED(POINTER, name) },
	{ FEED(AGE, report.current), METRIC("feed_current_time_seconds",
	  "When a feed's table was current last, since 1970; 0: never.") },
	{ FEED(NUMBER, report.kept.names), METRIC("feed_names",
	  "Names of a feed's table.") },
};
const size_t facts_rows = sizeof(facts_table) / sizeof(facts_table[0]);

static uint64_t
read_number(const void *at, size_t size)
{
	uint64_t wide = 0;
	uint32_t number;

	if (size == sizeof(number)) {
		memcpy(&number, at, sizeof(number));
		return number;
	}
	if (size == sizeof(bool))
		return *(const bool *)at;
	memcpy(&wide, at, sizeof(wide));
	return wide;
}

uint64_t
fact_number(const struct fact *fact, const void *element)
{
	const uint64_t number = read_number((const char *)element +
	    fact->offset, fact->size);

	return fact->kind != FACT_FLAG ? number :
	    number < 32 && (fact->mask >> number & 1) != 0;
}

const char *
status_state_text(uint32_t state)
{
	static const char *const words[] = {
		[STATUS_STARTING] = "starting",
		[STATUS_READY] = "ready",
		[STATUS_DEGRADED] = "degraded",
		[STATUS_STOPPING] = "stopping",
	};

	return state < sizeof(words) / sizeof(words[0]) ? words[state] :
	    "unknown";
}

static const char *
mode_text(uint32_t mode)
{
	return mode == STATUS_QUEUE_NONE ? "none" :
	    mode == STATUS_QUEUE_NATIVE ? "native" :
	    mode == STATUS_QUEUE_XT ? "xt" : "unknown";
}

const char *
fact_text(const struct status_facts *f, const struct fact *fact,
    const void *element, char buf[static FACT_TEXT_SIZE])
{
	const void *at = (const char *)element + fact->offset;
	const uint32_t number = fact->size == sizeof(number) ?
	    (uint32_t)read_number(at, fact->size) : 0;

	switch (fact->kind) {
	case FACT_CHARS:
		return at;
	case FACT_POINTER:
		return *(const char *const *)at;
	case FACT_NAME:
		return name_to_text(at, buf);
	case FACT_REASON:
		return decide_reason_text((enum reason)
		    ((const uint64_t *)at - f->c.reasons));
	case FACT_STATE:
		return status_state_text(number);
	case FACT_MODE:
		return mode_text(number);
	case FACT_UPSTREAM_STATE:
		return forward_status_state(number);
	case FACT_TROUBLE:
		return forward_status_trouble(read_number(at, fact->size),
		    buf);
	default:
		return NULL;
	}
}

const char *
fact_key(const struct status_facts *f, const struct fact *fact,
    const void *element, char buf[static FACT_TEXT_SIZE])
{
	const struct fact *label = facts_table;

	if (fact->list == FACTS_DAEMON)
		return fact->key;
	while (label->list != fact->list || label->kind == FACT_METRIC)
		label++;
	return fact_text(f, label, element, buf);
}

const void *
facts_element(const struct status_facts *f, enum facts_list list, size_t i)
{
	return (const char *)f->lists[list].first + i * f->lists[list].size;
}

#define SET_LIST(f, of, at, n) do {					\
	(f)->lists[of].first = (at);					\
	(f)->lists[of].count = (n);					\
	(f)->lists[of].size = sizeof(*(at));				\
} while (0)

/* Sources without a table are not in use. */
static int
read_files(struct status_facts *f, const struct config *config)
{
	const struct mesh *mesh = &config->mesh;

	f->files = true;
	if (feeds_shown_read(&f->feeds, config) < 0)
		return -ENOMEM;
	SET_LIST(f, FACTS_SOURCES, mesh->sources,
	    atomic_load(&f->s.table_generation) > 0 ? mesh->source_count : 0);
	SET_LIST(f, FACTS_FEEDS, f->feeds.list, f->feeds.count);
	return 0;
}

static void
read_supervisor(struct status_facts *f, const struct status_page *page)
{
	const struct status_supervisor *s = page->supervisor;
	const int32_t pid = atomic_load(&s->pid);
	const int32_t worker_pid = atomic_load(&s->worker_pid);

	memcpy(&f->s, s, sizeof(f->s));
	f->pid = pid > 0 ? (uint64_t)pid : 0;
	f->worker_pid = worker_pid > 0 ? (uint64_t)worker_pid : 0;
	f->reloads = atomic_load(&s->reloads);
	f->paused = atomic_load(&s->paused_until) != 0;
	f->reload_ok = true;
	status_reload_error(page, &f->reload_ok, f->reload_error);
	status_degraded(page, f->degraded);
}

/* Of all threads; a worker may write anything into its part of the page. */
static void
add_interface(struct interface_shown *shown, size_t *count,
    const struct status_interface *from, bool last)
{
#define LOAD(verdict) atomic_load_explicit(&from->verdicts[VERDICT_ ## verdict], \
	memory_order_relaxed)
	struct interface_shown *i = shown, of = {
		.answered = LOAD(ANSWER) + LOAD(NODATA) + LOAD(NXDOMAIN),
		.passed = LOAD(PASS), .forwarded = LOAD(FORWARD),
		.refused = LOAD(REFUSE), .dropped = LOAD(DROP),
	};
#undef LOAD

	if ((of.answered | of.passed | of.forwarded | of.refused |
	    of.dropped) == 0)
		return;
	(void)snprintf(of.name, sizeof(of.name), "%.*s", IF_NAMESIZE - 1,
	    last ? INTERFACES_OTHER : from->name);
	while (i < shown + *count && strcmp(i->name, of.name) != 0)
		i++;
	if (i == shown + *count) {
		*i = of;
		(*count)++;
		return;
	}
	i->answered += of.answered;
	i->passed += of.passed;
	i->forwarded += of.forwarded;
	i->refused += of.refused;
	i->dropped += of.dropped;
}

static int
read_interfaces(struct status_facts *f, const struct status_page *page)
{
	size_t count = 0;

	f->interfaces = calloc(page->worker_slots * STATUS_INTERFACES + 1,
	    sizeof(*f->interfaces));
	if (f->interfaces == NULL)
		return -ENOMEM;
	for (size_t slot = 0; slot < page->worker_slots; slot++)
		for (size_t i = 0; i < STATUS_INTERFACES; i++)
			add_interface(f->interfaces, &count,
			    &page->workers[slot].interfaces.of[i],
			    i == STATUS_INTERFACES - 1);
	SET_LIST(f, FACTS_INTERFACES, f->interfaces, count);
	return 0;
}

static int
read_page(struct status_facts *f, const struct status_page *page)
{
	status_counters(page, &f->c);
	read_supervisor(f, page);
	for (size_t i = 0; i < page->worker_slots; i++)
		f->threads += atomic_load(&page->workers[i].thread) != 0;
	f->hits = f->c.cached + f->c.forward[FORWARD_HITS];
	f->rates_full = atomic_load(&page->policy->rates_full);
	f->forwarding = forward_status_read(page->forwarding);
	f->rule_count = policy_status_read(page->policy, &f->rules);
	if (f->forwarding == NULL || f->rules == NULL)
		return -ENOMEM;
	SET_LIST(f, FACTS_DAEMON, f, 1);
	SET_LIST(f, FACTS_REASONS, f->c.reasons, REASONS);
	SET_LIST(f, FACTS_UPSTREAMS, f->forwarding->upstream,
	    f->forwarding->upstreams);
	SET_LIST(f, FACTS_DOMAINS, f->forwarding->domain,
	    f->forwarding->domains);
	SET_LIST(f, FACTS_RULES, f->rules, f->rule_count +
	    (f->rules[f->rule_count].number > 0));
	return read_interfaces(f, page);
}

int
facts_read(struct status_facts *f, const struct status_page *page,
    const struct config *config)
{
	int error;

	memset(f, 0, sizeof(*f));
	f->now = (uint64_t)time(NULL);
	error = read_page(f, page);
	if (error == 0 && config != NULL)
		error = read_files(f, config);
	return error;
}

void
facts_free(struct status_facts *f)
{
	free(f->forwarding);
	free(f->rules);
	free(f->interfaces);
	feeds_shown_free(&f->feeds);
	config_newer_free(&f->newer);
}
