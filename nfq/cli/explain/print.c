/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/explain/print.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/cli/explain/message_text.h"
#include "policy/status/facts.h"
#include "policy/status/feed_status.h"
#include "resolver/dns/rr.h"
#include "resolver/text/printable.h"

#define WIDTH	79
#define INDENT	12

/* Prints the text behind "heading", which stands in the first twelve columns. */
static void __attribute__((format(printf, 3, 4)))
lines_print(FILE *out, const char *heading, const char *format, ...)
{
	char given[LINES_TEXT], text[LINES_TEXT];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(given, sizeof(given), format, arguments);
	va_end(arguments);
	(void)printable_text(text, sizeof(text), given, strlen(given));
	fprintf(out, "%-*s", INDENT, heading);
	printable_wrap(out, text, INDENT, WIDTH);
}

#define FEW		10	/* so many rules are all printed */

static const char *const parts[] = {
	[EXPLAIN_MISSED] = "missed", [EXPLAIN_DECIDES] = "decides",
	[EXPLAIN_OBSERVES] = "observes", [EXPLAIN_LOGS] = "logs",
	[EXPLAIN_COUNTS] = "counts", [EXPLAIN_BEHIND] = "behind",
};

/* Rules that no person wrote have a name that no person may give. */
static bool
is_written(const struct rules_rule *rule)
{
	return memchr(rule->name, ':', rule->name_length) == NULL;
}

static unsigned int
count_written(const struct rules *rules)
{
	unsigned int written = 0;

	for (unsigned int i = rules_count(rules); i > 0; i--) {
		struct rules_rule rule;

		rules_get(rules, i, &rule);
		written += is_written(&rule);
	}
	return written;
}

/* Whether nobody who asks about this name wants to read of the rule. */
static bool
is_far(enum explain_part part, const struct rules_miss *miss)
{
	return part == EXPLAIN_BEHIND || (part == EXPLAIN_MISSED &&
	    miss->key == RULE_NAMES && !miss->negated);
}

/* Where it stands: " (line 12)". */
static const char *
place(const struct rules_rule *rule, char buf[static 24])
{
	(void)snprintf(buf, 24, " (line %u)", rule->line);
	return buf;
}

/* What the rule is to the question, in words. */
static void
put_part(enum explain_part part, const struct rules_rule *rule,
    const struct rules_miss *miss, char *buf, size_t size)
{
	char action[WORDS_ACTION], line[24];

	switch (part) {
	case EXPLAIN_MISSED:
		(void)snprintf(buf, size, "no: %s match.%s", miss->negated ?
		    "excluded by" : "not in", words_key(miss->key));
		break;
	case EXPLAIN_DECIDES:
		(void)snprintf(buf, size, "yes, decides: %s%s",
		    words_action(rule, action), place(rule, line));
		break;
	case EXPLAIN_OBSERVES:
		(void)snprintf(buf, size, "yes, only observes: %s%s",
		    words_action(rule, action), place(rule, line));
		break;
	case EXPLAIN_LOGS:
		(void)snprintf(buf, size, "yes, only logs");
		break;
	case EXPLAIN_COUNTS:
		(void)snprintf(buf, size, "yes, within its rate of %u a second",
		    rule->rate.limit);
		break;
	default:
		(void)snprintf(buf, size, "not asked");
		break;
	}
}

static void
print_rule(const struct explanation *e, unsigned int number, bool first,
    FILE *out)
{
	char text[LINES_TEXT / 2], rate[64] = "", name[NAME_TEXT_SIZE];
	struct rules_rule rule;
	struct rules_miss miss;
	const enum explain_part part = explain_rule(e, number, &rule, &miss);

	put_part(part, &rule, &miss, text, sizeof(text));
	if (rule.rate.limit > 0 && part == EXPLAIN_DECIDES)
		(void)snprintf(rate, sizeof(rate), ", as long as it is within %u "
		    "a second", rule.rate.limit);
	lines_print(out, first ? "Policy" : "", "%u \"%.*s\": %s%s", number,
	    rule.name_length, rule.name, text, rate);
	if (part == EXPLAIN_DECIDES && explain_judged(e) != NULL)
		lines_print(out, "", "it denies %s, from which the name is "
		    "answered", name_to_text(explain_judged(e)->octets, name));
}

/* Whether it is printed, "all" aside: of few written rules, each. */
static bool
is_shown(const struct explanation *e, unsigned int number, bool few,
    bool *written)
{
	struct rules_rule rule;
	struct rules_miss miss;
	const enum explain_part part = explain_rule(e, number, &rule, &miss);

	*written = is_written(&rule);
	return (few && *written) || !is_far(part, &miss);
}

/*
 * The rules in order, matched or not, with the first condition that does not
 * hold.  Of many rules, those for other names are only counted, unless "all"; of
 * those that stand in no configuration, they are not mentioned.
 */
static void
explain_print_policy(const struct explanation *e, bool all, FILE *out)
{
	const unsigned int count = rules_count(e->source->policy);
	const bool few = count_written(e->source->policy) <= FEW;
	unsigned int far = 0, printed = 0;

	for (unsigned int i = 1; i <= count; i++) {
		bool written = true;

		if (all || is_shown(e, i, few, &written))
			print_rule(e, i, printed++ == 0, out);
		else
			far += written;
	}
	if (far > 0)
		lines_print(out, printed == 0 ? "Policy" : "",
		    "%u rules are for other names, or behind the one that "
		    "decides", far);
}

static void
write_name(const struct explanation *e, const char *key, unsigned int number,
    struct json_write *w)
{
	struct rules_rule rule = { .name = NULL };

	if (number != 0)
		rules_get(e->source->policy, number, &rule);
	json_write_octets(w, key, rule.name, rule.name_length);
}

void
explain_write_policy(const struct explanation *e, bool all,
    struct json_write *w)
{
	const unsigned int count = rules_count(e->source->policy);
	const bool few = count_written(e->source->policy) <= FEW;
	const struct dns_name *judged = explain_judged(e);
	char text[NAME_TEXT_SIZE];

	json_write_open(w, "policy", '{');
	json_write_number(w, "count", count);
	write_name(e, "decides", e->in.decision.rule, w);
	json_write_text(w, "judged", judged == NULL ? NULL :
	    name_to_text(judged->octets, text));
	write_name(e, "observed", count > 0 ? e->in.found.observed : 0, w);
	json_write_open(w, "rules", '[');
	for (unsigned int i = 1; i <= count; i++) {
		struct rules_rule rule;
		struct rules_miss miss;
		enum explain_part part;
		bool written;
		char action[WORDS_ACTION], missed[32];

		if (!all && !is_shown(e, i, few, &written))
			continue;
		part = explain_rule(e, i, &rule, &miss);
		json_write_open(w, NULL, '{');
		json_write_number(w, "number", i);
		json_write_octets(w, "name", rule.name, rule.name_length);
		json_write_number(w, "line", rule.line);
		json_write_text(w, "outcome", parts[part]);
		json_write_text(w, "action", words_action(&rule, action));
		if (part == EXPLAIN_MISSED) {
			(void)snprintf(missed, sizeof(missed), "match.%s",
			    words_key(miss.key));
			json_write_text(w, "missed", missed);
		}
		json_write_close(w, '}');
	}
	json_write_close(w, ']');
	json_write_close(w, '}');
}

/* Text that a function writes to a stream; the caller frees it. */
static char *
rule_text(const struct rule *rule)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	if (stream == NULL)
		return NULL;
	conditions_print(rule->conditions, rule->condition_count, stream);
	(void)fclose(stream);
	return text;
}

static void
print_question(const struct explain_question *q, const char *from, FILE *out)
{
	char client[INET6_ADDRSTRLEN], nameserver[INET6_ADDRSTRLEN];
	char name[NAME_TEXT_SIZE], type[RR_TEXT_SIZE], asker[WORDS_ASKER];

	(void)inet_ntop(q->family, q->client, client, sizeof(client));
	(void)inet_ntop(q->family, q->nameserver, nameserver,
	    sizeof(nameserver));
	lines_print(out, "Question", "%s %s over %s",
	    name_to_text(q->name.octets, name), rr_type_text(q->type, type),
	    q->stream ? "TCP" : "UDP");
	lines_print(out, "", "from %s to %s", client, nameserver);
	lines_print(out, "", "%s", words_asker(q, asker));
	lines_print(out, "By", "%s", from);
}

/* Rules that take the packet only sometimes, and stand before the one that does. */
static void
print_conditional(const struct explanation *e, FILE *out)
{
	const struct walk_packet packet = explain_packet(e->question);
	const struct ruleset *set = e->source->rules;
	const struct condition *failed;
	bool rate = false;

	for (size_t i = 0; i < set->count && &set->rules[i] != e->rule; i++) {
		const struct rule *rule = &set->rules[i];
		const enum walk_match match =
		    rule->chain == explain_chain(e->question) ?
		    walk_rule(set, rule, &packet, &failed) : WALK_NO;

		if (match == WALK_CGROUP)
			lines_print(out, "", "unless the asker is in the cgroup "
			    "of rule \"%s\"", rule->comment);
		rate = rate || match == WALK_OVER_RATE;
	}
	if (rate)
		lines_print(out, "", "unless the user sends more than %u "
		    "packets a second (capture.user_rate)", set->user_rate);
}

static void
print_kernel(const struct explanation *e, FILE *out)
{
	const struct ruleset *set = e->source->rules;
	char *text = e->rule != NULL ? rule_text(e->rule) : NULL;

	if (e->rule == NULL)
		lines_print(out, "Kernel", "not queued: no rule queues "
		    "questions %s", e->question->in != NULL ? "of this interface "
		    "and address (containers)" : "to this nameserver "
		    "(capture.nameservers)");
	else if (!e->queued)
		lines_print(out, "Kernel", "bypassed by rule \"%s\"",
		    e->rule->comment);
	else if (set->queue_count > 1)
		lines_print(out, "Kernel", "queued to one of the queues %u to "
		    "%u by rule \"%s\"", set->queue_number,
		    set->queue_number + set->queue_count - 1U,
		    e->rule->comment);
	else
		lines_print(out, "Kernel", "queued to queue %u by rule \"%s\"",
		    set->queue_number, e->rule->comment);
	if (text != NULL)
		lines_print(out, "", "%s", text);
	free(text);
	if (set->guests && e->question->foreign && e->question->in == NULL)
		lines_print(out, "", "if it is a container's, name its interface "
		    "with --in");
	print_conditional(e, out);
}

static void
print_entry(const struct explanation *e, FILE *out)
{
	const struct entry *entry = &e->entry;
	char name[NAME_TEXT_SIZE];
	unsigned int source, line;
	const char *path;
	size_t length;

	lines_print(out, "Table", "%s %s%s", name_to_text(e->found.octets, name),
	    words_found(entry->kind), entry->flags & NAME_OWNED ?
	    ", owned by the mesh" : "");
	table_origin(e->source->table, entry->node, &source, &line);
	path = table_source(e->source->table, source, &length);
	if (path != NULL && line != 0)
		lines_print(out, "", "from %.*s, line %u", (int)length, path,
		    line);
	else if (path != NULL)
		lines_print(out, "", "from %.*s", (int)length, path);
}

/* Which element of the search list was appended to the name that is found. */
static void
print_search(const struct explanation *e, FILE *out)
{
	char name[NAME_TEXT_SIZE], appended[NAME_TEXT_SIZE];
	const struct entry *entry = &e->entry;
	const uint8_t *octets = e->sought.octets;

	if (entry->target_length == 0)
		return;
	(void)name_to_text(octets + entry->target_length, appended);
	if (entry->target_search == NULL)
		lines_print(out, "Search", "without the search domain %s it is %s",
		    appended, name_to_text(e->found.octets, name));
	else
		lines_print(out, "Search", "with a later search domain instead of "
		    "%s it is %s", appended,
		    name_to_text(e->found.octets, name));
}

static void
print_table(const struct explanation *e, FILE *out)
{
	const struct entry *entry = &e->entry;
	const struct dns_name *name = &e->sought;
	char text[NAME_TEXT_SIZE];

	if (!table_is_loaded(e->source->table)) {
		lines_print(out, "Table", "none has loaded yet");
		return;
	}
	if (e->rewritten)
		lines_print(out, "Rewritten", "to %s",
		    name_to_text(name->octets, text));
	print_search(e, out);
	if (entry->node != 0)
		print_entry(e, out);
	else
		lines_print(out, "Table", "%s", words_found(entry->kind));
	if (entry->in_zone)
		lines_print(out, "", "in the zone %s with unknown = \"%s\"",
		    name_to_text(name->octets +
		    name_suffix_offset(name, entry->zone_labels), text),
		    entry->unknown == ZONE_NXDOMAIN ? "nxdomain" : "pass");
}

/* ", up for 3 min, 1.2 ms", if the running daemon says so. */
static void
state_of(const struct explain_live *live, const char *upstream,
    char text[static LINES_TEXT])
{
	const struct status_forwarding *f = live->forwarding;
	char span[FEED_SPAN_TEXT];

	text[0] = '\0';
	for (uint32_t i = 0; f != NULL && i < f->upstreams; i++) {
		const struct status_upstream *up = &f->upstream[i];

		if (strcmp(up->text, upstream) == 0)
			(void)snprintf(text, LINES_TEXT, ", %s for %s, %.1f ms",
			    forward_status_state(up->state), feed_status_span(
			    (int64_t)status_age(up->since, live->time), span),
			    up->srtt_us / 1000.0);
	}
}

static void
print_kept(const struct explanation *e, const struct explain_live *live,
    FILE *out)
{
	static const char *const kinds[CACHE_KINDS] = {
		[CACHE_POSITIVE] = "records", [CACHE_NODATA] = "NODATA",
		[CACHE_NXDOMAIN] = "NXDOMAIN", [CACHE_FAILURE] = "a failure",
	};
	struct dns_name name = e->in.question.name;
	const struct cache_key key = { .name = &name,
		.type = e->in.question.type };
	static uint8_t octets[CACHE_MESSAGE_MAX];
	struct cache_entry entry;
	long long left;

	if (live->cache == NULL)
		return;
	name_lower(&name);
	if (!cache_find(live->cache, live->now, &key, UINT32_MAX, &entry,
	    octets)) {
		lines_print(out, "", "the cache keeps no answer");
		return;
	}
	left = monotime_ms_since(entry.expires, live->now) / 1000;
	lines_print(out, "", left < 0 ? "the cache keeps %s, which ended %lld s "
	    "ago" : "the cache keeps %s for %lld s more", kinds[entry.kind],
	    left < 0 ? -left : left);
}

/* A name of the domain that the table answers is not asked of its upstreams. */
static void
print_forwarding(const struct explanation *e, const struct explain_live *live,
    FILE *out)
{
	const struct forward_settings *f = &e->source->settings->forward;
	char name[NAME_TEXT_SIZE];

	if (e->domain == NULL)
		return;
	lines_print(out, "Forwarding", "in the domain %s, %s",
	    name_to_text(e->domain->name, name), explain_is_forwarded(e) ?
	    "whose upstreams are asked" : "which is not asked");
	if (!explain_is_forwarded(e))
		return;
	for (uint32_t i = 0; i < e->domain->upstreams; i++) {
		char text[FORWARD_UPSTREAM_TEXT], state[LINES_TEXT];

		(void)forward_upstream_text(&f->upstream[e->domain->upstream[i]],
		    text);
		state_of(live, text, state);
		lines_print(out, "", "%s%s", text, state);
	}
	print_kept(e, live, out);
	if (e->source->policy != NULL)
		lines_print(out, "", "rules judge the names of the answer's "
		    "CNAMEs, too, when it comes");
}

static void
print_answer(const struct explanation *e, FILE *out)
{
	const uint32_t limit = e->source->settings->answers.udp_size;
	struct message message;

	if (!explain_message(e, &message))
		return;
	if (e->question->stream)
		lines_print(out, "Answer", "%zu octets", e->in.answer_length);
	else
		lines_print(out, "Answer", "%zu octets of at most %u%s",
		    e->in.answer_length, limit < EXPLAIN_EDNS ? limit : EXPLAIN_EDNS,
		    !e->in.summary.truncated ? "" :
		    e->source->settings->answers.tcp ?
		    ": cut, TCP has the whole" : ": cut, without TC: over TCP "
		    "the nameserver is asked, not nfdnsd (capture.tcp = false)");
	fputc('\n', out);
	message_print(&message, out);
}

static void
print_decision(const struct explanation *e, FILE *out)
{
	const struct decision *d = &e->in.decision;
	struct rules_rule rule = { .name_length = 0 };
	const char *by = d->rule != 0 ? " by rule \"" : "";

	if (d->rule != 0)
		rules_get(e->source->policy, d->rule, &rule);
	lines_print(out, "Decision", "%s (%s)%s%.*s%s: %s",
	    decide_verdict_text(d->verdict), decide_reason_text(d->reason), by,
	    rule.name_length, d->rule != 0 ? rule.name : "",
	    d->rule != 0 ? "\"" : "", words_reason(d->reason));
}

void
explain_print(const struct explanation *e, const struct explain_view *view,
    FILE *out)
{
	char nameserver[INET6_ADDRSTRLEN];

	print_question(e->question, view->from, out);
	print_kernel(e, out);
	(void)inet_ntop(e->question->family, e->question->nameserver,
	    nameserver, sizeof(nameserver));
	if (!e->queued) {
		lines_print(out, "Decision", "none here: %s answers",
		    nameserver);
		return;
	}
	explain_print_policy(e, view->all, out);
	print_table(e, out);
	print_forwarding(e, &view->live, out);
	print_decision(e, out);
	if (e->in.decision.verdict == VERDICT_PASS)
		lines_print(out, "Answer", "the one of %s", nameserver);
	print_answer(e, out);
}

static void
print_by(const struct explanation *e, unsigned int number, const char *how,
    FILE *out)
{
	struct rules_rule rule;

	if (number == 0)
		return;
	rules_get(e->source->policy, number, &rule);
	fprintf(out, "%s by rule \"%.*s\"", how, rule.name_length, rule.name);
}

void
explain_print_brief(const struct explanation *e, FILE *out)
{
	char name[NAME_TEXT_SIZE];
	struct message message;

	if (e->queued) {
		fprintf(out, "%s (%s)",
		    decide_verdict_text(e->in.decision.verdict),
		    decide_reason_text(e->in.decision.reason));
		print_by(e, e->in.decision.rule, "", out);
		if (explain_judged(e) != NULL)
			fprintf(out, " for %s", name_to_text(
			    explain_judged(e)->octets, name));
		if (explain_message(e, &message)) {
			fputs(message.count[ANSWERS] > 0 ||
			    e->in.summary.truncated ? ": " : "", out);
			message_print_answers(&message, out);
		}
		if (e->source->policy != NULL)
			print_by(e, e->in.found.observed, ", observed", out);
	} else if (e->rule != NULL) {
		fprintf(out, "pass (not queued: %s)", e->rule->comment);
	} else {
		fprintf(out, "pass (not queued: %s)", e->question->in != NULL ?
		    "containers" : "capture.nameservers");
	}
	fputc('\n', out);
}

bool
explain_agrees(const struct explanation *e, const struct explain_came *came)
{
	struct message expected;

	if (e->queued && e->in.decision.verdict == VERDICT_DROP)
		return came->message == NULL;
	return came->message != NULL && (!explain_message(e, &expected) ||
	    message_is_same(&expected, came->message));
}

bool
explain_print_beside(const struct explanation *e,
    const struct explain_came *came, FILE *out)
{
	const bool agrees = explain_agrees(e, came);
	char rcode[RR_TEXT_SIZE];

	fprintf(out, "%s  explain  ", e->question->stream ? "TCP" : "UDP");
	explain_print_brief(e, out);
	fputs("     came     ", out);
	if (came->message == NULL) {
		fprintf(out, "nothing: %s", came->why);
	} else {
		fprintf(out, "%s%s", rcode_text(came->message->rcode, rcode),
		    came->message->count[ANSWERS] > 0 ? ": " : "");
		message_print_answers(came->message, out);
		fprintf(out, ", after %.1f ms", (double)came->spent_us / 1000.0);
	}
	fputs(agrees ? "\n" : came->message == NULL ? ": see nfdns doctor\n" :
	    ": NOT the same: see nfdns doctor\n", out);
	return agrees;
}
