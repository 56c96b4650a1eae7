/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/explain/print.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/cli/explain/lines.h"
#include "nfq/cli/explain/message_text.h"
#include "nfq/cli/explain/print_policy.h"
#include "nfq/cli/explain/words.h"
#include "resolver/dns/rr.h"

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
		const enum walk_match match = rule->chain == CHAIN_QUESTION ?
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
		    "questions to this nameserver (capture.nameservers)");
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

/* A name of the domain that the table answers is not asked of its upstreams. */
static void
print_forwarding(const struct explanation *e, FILE *out)
{
	const struct forward_settings *f = &e->source->settings->forward;
	char name[NAME_TEXT_SIZE];

	if (e->domain == NULL)
		return;
	lines_print(out, "Forwarding", "in the domain %s, %s",
	    name_to_text(e->domain->name, name), explain_is_forwarded(e) ?
	    "whose upstreams are asked" : "which is not asked");
	for (uint32_t i = 0; explain_is_forwarded(e) &&
	    i < e->domain->upstreams; i++) {
		char text[WORDS_UPSTREAM];

		lines_print(out, "", "%s", words_upstream(
		    &f->upstream[e->domain->upstream[i]], text));
	}
	if (explain_is_forwarded(e) && e->source->policy != NULL)
		lines_print(out, "", "rules judge the names of the answer's "
		    "CNAMEs, too, when it comes");
}

static void
print_answer(const struct explanation *e, FILE *out)
{
	const uint32_t limit = e->source->settings->answers.udp_size;
	struct message message;

	if (e->in.answer_length == 0 ||
	    !message_read(&message, e->in.answer, e->in.answer_length))
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
	print_forwarding(e, out);
	print_decision(e, out);
	if (e->in.decision.verdict == VERDICT_PASS)
		lines_print(out, "Answer", "the one of %s", nameserver);
	print_answer(e, out);
}

static void
print_records(const struct explanation *e, FILE *out)
{
	struct message message;
	const char *between = ": ";
	size_t at;

	if (e->in.answer_length == 0 ||
	    !message_read(&message, e->in.answer, e->in.answer_length))
		return;
	at = message.end[QUESTIONS];
	for (unsigned int i = 0; i < message.count[ANSWERS]; i++) {
		struct message_record record;
		char type[RR_TEXT_SIZE], *data;

		message_record(&message, &at, &record);
		data = message_data_text(&message, &record);
		fprintf(out, "%s%s %s", between,
		    rr_type_text(record.type, type), data != NULL ? data : "?");
		free(data);
		between = ", ";
	}
	if (e->in.summary.truncated)
		fputs(", cut", out);
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

	if (e->queued) {
		fprintf(out, "%s (%s)",
		    decide_verdict_text(e->in.decision.verdict),
		    decide_reason_text(e->in.decision.reason));
		print_by(e, e->in.decision.rule, "", out);
		if (explain_judged(e) != NULL)
			fprintf(out, " for %s", name_to_text(
			    explain_judged(e)->octets, name));
		print_records(e, out);
		if (e->source->policy != NULL)
			print_by(e, e->in.found.observed, ", observed", out);
	} else if (e->rule != NULL) {
		fprintf(out, "pass (not queued: %s)", e->rule->comment);
	} else {
		fputs("pass (not queued: capture.nameservers)", out);
	}
	fputc('\n', out);
}
