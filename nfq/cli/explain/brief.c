/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/explain/brief.h"

#include <stdlib.h>

#include "nfq/cli/explain/message_text.h"
#include "resolver/dns/rr.h"

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
print_rule(const struct explanation *e, unsigned int number, const char *how,
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
		print_rule(e, e->in.decision.rule, "", out);
		if (explain_judged(e) != NULL)
			fprintf(out, " for %s", name_to_text(
			    explain_judged(e)->octets, name));
		print_records(e, out);
		if (e->source->policy != NULL)
			print_rule(e, e->in.found.observed, ", observed", out);
	} else if (e->rule != NULL) {
		fprintf(out, "pass (not queued: %s)", e->rule->comment);
	} else {
		fputs("pass (not queued: capture.nameservers)", out);
	}
	fputc('\n', out);
}
