/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/replay/summary.h"

#include <inttypes.h>

#include "resolver/text/json_write.h"

void
replay_summary_packet(struct replay_summary *summary,
    enum replay_content content, uint64_t time_ns)
{
	summary->packets[content]++;
	if (summary->first_ns == 0 || time_ns < summary->first_ns)
		summary->first_ns = time_ns;
	if (time_ns > summary->last_ns)
		summary->last_ns = time_ns;
}

void
replay_summary_question(struct replay_summary *summary,
    const struct audit_record *record)
{
	if (record->stream)
		summary->tcp++;
	else
		summary->udp++;
	summary->reasons[record->verdict][record->reason]++;
	if (!summary->compares || replay_is_same(&record[0], &record[1]))
		return;
	summary->differ++;
	summary->changes[record[0].verdict][record[1].verdict]++;
}

static uint64_t
sum(const uint64_t *numbers, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += numbers[i];
	return total;
}

static const char *
plural(uint64_t number)
{
	return number == 1 ? "" : "s";
}

static void
print_decisions(const struct replay_summary *summary, FILE *out)
{
	const double all = (double)(summary->udp + summary->tcp);

	for (size_t v = 0; v < VERDICTS; v++) {
		const uint64_t total = sum(summary->reasons[v], REASONS);

		if (total == 0)
			continue;
		(void)fprintf(out, "  %-8s %12" PRIu64 " %5.1f %%  ",
		    decide_verdict_text((enum verdict)v), total,
		    100.0 * (double)total / all);
		for (size_t r = 0; r < REASONS; r++)
			if (summary->reasons[v][r] > 0)
				(void)fprintf(out, " %s %" PRIu64,
				    decide_reason_text((enum reason)r),
				    summary->reasons[v][r]);
		(void)fputc('\n', out);
	}
}

static void
print_changes(const struct replay_summary *summary, FILE *out)
{
	(void)fprintf(out, "%" PRIu64 " of them differ%s\n", summary->differ,
	    summary->differ == 0 ? "" : ":");
	for (size_t a = 0; a < VERDICTS; a++)
		for (size_t b = 0; b < VERDICTS; b++)
			if (summary->changes[a][b] > 0)
				(void)fprintf(out, "  %-8s -> %-8s %12" PRIu64
				    "\n", decide_verdict_text((enum verdict)a),
				    decide_verdict_text((enum verdict)b),
				    summary->changes[a][b]);
}

void
replay_summary_print_unjudged(const struct replay_summary *summary, FILE *out)
{
	if (summary->unjudged > 0)
		(void)fprintf(out, "%" PRIu64 " question%s %s forwarded: rules "
		    "of the policy may deny names in the answers, which replay "
		    "does not see\n", summary->unjudged,
		    plural(summary->unjudged),
		    summary->unjudged == 1 ? "is" : "are");
}

void
replay_summary_print(const struct replay_summary *summary, const char *name,
    FILE *out)
{
	const uint64_t packets = sum(summary->packets, REPLAY_CONTENTS);
	const uint64_t questions = summary->udp + summary->tcp;

	(void)fprintf(out, "%s: %" PRIu64 " packet%s in %.1f s, %" PRIu64
	    " question%s (UDP %" PRIu64 ", TCP %" PRIu64 ")\n", name, packets,
	    plural(packets),
	    (double)(summary->last_ns - summary->first_ns) / 1e9, questions,
	    plural(questions), summary->udp, summary->tcp);
	print_decisions(summary, out);
	if (packets > summary->packets[REPLAY_QUESTIONS])
		(void)fprintf(out, "Without a question: %" PRIu64
		    " TCP segments to port 53, %" PRIu64 " other packets, %"
		    PRIu64 " that are not IP\n",
		    summary->packets[REPLAY_CONNECTION],
		    summary->packets[REPLAY_OTHER],
		    summary->packets[REPLAY_NO_IP]);
	replay_summary_print_unjudged(summary, out);
	if (summary->compares)
		print_changes(summary, out);
}

static void
write_decisions(const struct replay_summary *summary, struct json_write *w)
{
	json_write_open(w, "decisions", '{');
	for (size_t v = 0; v < VERDICTS; v++) {
		if (sum(summary->reasons[v], REASONS) == 0)
			continue;
		json_write_open(w, decide_verdict_text((enum verdict)v), '{');
		for (size_t r = 0; r < REASONS; r++)
			if (summary->reasons[v][r] > 0)
				json_write_number(w,
				    decide_reason_text((enum reason)r),
				    summary->reasons[v][r]);
		json_write_close(w, '}');
	}
	json_write_close(w, '}');
}

static void
write_changes(const struct replay_summary *summary, struct json_write *w)
{
	json_write_number(w, "differ", summary->differ);
	json_write_open(w, "changes", '[');
	for (size_t a = 0; a < VERDICTS; a++)
		for (size_t b = 0; b < VERDICTS; b++) {
			if (summary->changes[a][b] == 0)
				continue;
			json_write_open(w, NULL, '{');
			json_write_text(w, "from",
			    decide_verdict_text((enum verdict)a));
			json_write_text(w, "to",
			    decide_verdict_text((enum verdict)b));
			json_write_number(w, "questions",
			    summary->changes[a][b]);
			json_write_close(w, '}');
		}
	json_write_close(w, ']');
}

int
replay_summary_print_json(const struct replay_summary *summary, FILE *out)
{
	struct json_write w = { .out = out };

	json_write_open(&w, NULL, '{');
	json_write_number(&w, "packets",
	    sum(summary->packets, REPLAY_CONTENTS));
	json_write_open(&w, "questions", '{');
	json_write_number(&w, "udp", summary->udp);
	json_write_number(&w, "tcp", summary->tcp);
	json_write_close(&w, '}');
	write_decisions(summary, &w);
	json_write_number(&w, "unjudged", summary->unjudged);
	if (summary->compares)
		write_changes(summary, &w);
	json_write_close(&w, '}');
	return json_write_end(&w);
}
