/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the scenario files: a mesh, its tables, questions, and what becomes of
 * each.  tests/scenarios/README.md describes the format.
 *
 *   test_scenarios [FILE ...]	without FILE: all of tests/scenarios, and each
 *				reason must have been seen in one of them
 */
#include "tests/scenarios/scenario.h"

#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "resolver/compile/compile.h"
#include "resolver/dns/rr.h"
#include "tests/answer_fault.h"

/* What the scenarios' own CHAOS name says. */
#define OWN_TEXT	"nfdns"

static bool reasons_seen[REASONS];

void
scenario_complain(struct scenario *s, unsigned int line,
    const char *format, ...)
{
	va_list arguments;

	printf("  %s:%u: ", s->path, line);
	va_start(arguments, format);
	(void)vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	s->failed = true;
}

unsigned long
scenario_number(struct scenario *s, const char *text)
{
	char *end = NULL;
	unsigned long n = text != NULL ? strtoul(text, &end, 10) : 0;

	if (text == NULL || *text == '\0' || *end != '\0')
		scenario_complain(s, s->line, "no number: %s", text ? text : "");
	return n;
}

char *
scenario_word(char **rest)
{
	char *w;

	do {
		w = strsep(rest, " \t");
	} while (w != NULL && *w == '\0');
	return w;
}

static void
print_diag(struct scenario *s, struct diag *diag)
{
	size_t i;

	for (i = 0; i < diag->kept; i++)
		scenario_complain(s, s->line, "%s", diag->entries[i].text);
	diag_free(diag);
}

static bool
load_table(struct scenario *s)
{
	struct diag diag = DIAG_INIT;
	const char *why = "";
	int fd, error;

	if (s->table != NULL)
		return true;
	fd = memfd_create("image", MFD_CLOEXEC);
	s->mesh.sources = s->sources;
	error = s->unloaded ? compile_unloaded(&s->mesh, NULL, fd) :
	    compile(&s->mesh, s->fds, fd, &diag);
	if (error == 0)
		error = table_open(&s->table, fd, &why);
	if (error != 0)
		scenario_complain(s, s->line, "no table: %s %s", strerror(-error), why);
	print_diag(s, &diag);
	(void)close(fd);
	return error == 0;
}

static bool
same_record(const ldns_rr *a, const ldns_rr *b)
{
	char *text_a = ldns_rr2str(a), *text_b = ldns_rr2str(b);
	bool same = strcmp(text_a, text_b) == 0;

	free(text_a);
	free(text_b);
	return same;
}

/* Whether each of expected stands in got: at its place, or anywhere. */
static bool
same_records(const ldns_rr_list *expected, const ldns_rr_list *got,
    bool any_order)
{
	size_t n = ldns_rr_list_rr_count(expected), i, j;

	if (ldns_rr_list_rr_count(got) != n)
		return false;
	for (i = 0; i < n; i++) {
		const ldns_rr *rr = ldns_rr_list_rr(expected, i);

		for (j = any_order ? 0 : i; j < n; j++) {
			if (same_record(rr, ldns_rr_list_rr(got, j)) ||
			    !any_order)
				break;
		}
		if (j == n || !same_record(rr, ldns_rr_list_rr(got, j)))
			return false;
	}
	return true;
}

static void
flags_text(const ldns_pkt *p, char *text, size_t size)
{
	(void)snprintf(text, size, "%s%s%s%s%s%s%s",
	    ldns_pkt_qr(p) ? "qr " : "", ldns_pkt_aa(p) ? "aa " : "",
	    ldns_pkt_tc(p) ? "tc " : "", ldns_pkt_rd(p) ? "rd " : "",
	    ldns_pkt_ra(p) ? "ra " : "", ldns_pkt_ad(p) ? "ad " : "",
	    ldns_pkt_cd(p) ? "cd " : "");
	text[strlen(text) > 0 ? strlen(text) - 1 : 0] = '\0';
}

static bool
packet_is_expected(const struct exchange *x, const ldns_pkt *p)
{
	const ldns_rr_list *answer = ldns_pkt_answer(p);
	unsigned int rcode = ldns_pkt_get_rcode(p);
	char flags[64];

	if (ldns_pkt_edns(p))
		rcode |= (unsigned int)ldns_pkt_edns_extended_rcode(p) << 4;
	flags_text(p, flags, sizeof(flags));
	return (int)rcode == x->rcode && ldns_pkt_tc(p) == x->truncated &&
	    (x->flags[0] == '\0' || strcmp(flags, x->flags) == 0) &&
	    (x->count != SCENARIO_COUNT_ANY ? ldns_pkt_ancount(p) == x->count :
	    same_records(x->records, answer, x->any_order)) &&
	    same_records(x->authority, ldns_pkt_authority(p), false) &&
	    same_records(x->additional, ldns_pkt_additional(p), false);
}

static void
check_answer(struct scenario *s, const struct question *q,
    const struct lookup *lookup, const struct decision *decision)
{
	static uint8_t answer[65535];
	const struct exchange *x = &s->x;
	const struct answer_plan plan = {
	    .question = q,
	    .lookup = lookup,
	    .content = decision->content,
	    .rcode = decision->rcode,
	    .settings = &s->settings,
	    .stream = x->stream,
	    .rotation = x->turn,
	    .text = OWN_TEXT,
	};
	struct answer_summary summary;
	size_t length = answer_build(&plan, answer, sizeof(answer), &summary);
	const char *fault = answer_fault(q, answer, length, x->stream ?
	    sizeof(answer) : answer_room(q, s->settings.udp_size), &summary);
	ldns_pkt *packet = NULL;

	if (fault != NULL)
		scenario_complain(s, x->line, "the answer: %s", fault);
	if (length > x->fits)
		scenario_complain(s, x->line, "the answer has %zu octets", length);
	if (ldns_wire2pkt(&packet, answer, length) == LDNS_STATUS_OK &&
	    !packet_is_expected(x, packet)) {
		scenario_complain(s, x->line, "not the expected answer, but:");
		ldns_pkt_print(stdout, packet);
	}
	ldns_pkt_free(packet);
}

static void
run_exchange(struct scenario *s)
{
	const struct exchange *x = &s->x;
	struct question question;
	struct lookup lookup;
	struct facts facts = { .question = &question };
	struct decision decision;

	if (!x->expected) {
		scenario_complain(s, x->line, "nothing is expected of this question");
		return;
	}
	if (!load_table(s))
		return;
	question_parse(&question, x->message, x->length);
	facts.settings = &s->settings;
	facts.loaded = table_is_loaded(s->table);
	if (question.form == QUESTION_PLAIN) {
		lookup_gather(&lookup, s->table, &question);
		facts.lookup = &lookup;
	}
	facts.own_name = question.form == QUESTION_CHAOS &&
	    question.type == TYPE_TXT &&
	    name_equal(&question.name, &s->own_name);
	decision = decide(&facts);
	reasons_seen[decision.reason] = true;
	s->questions++;
	if (decision.verdict != x->verdict || decision.reason != x->reason) {
		scenario_complain(s, x->line, "expected %s %s, got %s %s",
		    decide_verdict_text(x->verdict),
		    decide_reason_text(x->reason),
		    decide_verdict_text(decision.verdict),
		    decide_reason_text(decision.reason));
		return;
	}
	if (decision.verdict != VERDICT_PASS)
		check_answer(s, &question, facts.lookup, &decision);
}

static void
end_exchange(struct scenario *s)
{
	if (s->x.line != 0)
		run_exchange(s);
	ldns_rr_list_deep_free(s->x.records);
	ldns_rr_list_deep_free(s->x.authority);
	ldns_rr_list_deep_free(s->x.additional);
	s->x.records = s->x.authority = s->x.additional = NULL;
	s->x.line = 0;
}

static void
begin_exchange(struct scenario *s)
{
	end_exchange(s);
	s->x = (struct exchange){ .line = s->line, .fits = SIZE_MAX,
		.count = SCENARIO_COUNT_ANY, .records = ldns_rr_list_new(),
		.authority = ldns_rr_list_new(),
		.additional = ldns_rr_list_new() };
}

/* The words that a line may begin with, beside the verdicts. */
static const struct statement {
	const char *name;
	enum { SETTING, QUESTION, EXPECTATION } kind;
	void (*take)(struct scenario *, char *rest);
} statements[] = {
	{ "domain", SETTING, scenario_set_domain },
	{ "namespace", SETTING, scenario_set_namespace },
	{ "search", SETTING, scenario_set_search },
	{ "zone", SETTING, scenario_set_zone },
	{ "ttl", SETTING, scenario_set_ttl },
	{ "negative-ttl", SETTING, scenario_set_negative_ttl },
	{ "udp-size", SETTING, scenario_set_udp_size },
	{ "suppress-https", SETTING, scenario_set_suppress_https },
	{ "tcp", SETTING, scenario_set_tcp },
	{ "unloaded", SETTING, scenario_set_unloaded },
	{ "own-name", SETTING, scenario_set_own_name },
	{ "table", SETTING, scenario_set_table },
	{ "ask", QUESTION, scenario_ask },
	{ "raw", QUESTION, scenario_more },
	{ "more", EXPECTATION, scenario_more },
	{ "record", EXPECTATION, scenario_expect_record },
	{ "authority", EXPECTATION, scenario_expect_authority },
	{ "additional", EXPECTATION, scenario_expect_additional },
	{ "rcode", EXPECTATION, scenario_expect_rcode },
	{ "flags", EXPECTATION, scenario_expect_flags },
	{ "truncated", EXPECTATION, scenario_expect_truncated },
	{ "any-order", EXPECTATION, scenario_expect_any_order },
	{ "fits", EXPECTATION, scenario_expect_fits },
	{ "count", EXPECTATION, scenario_expect_count },
};

static void
take_line(struct scenario *s, char *line)
{
	const size_t n = sizeof(statements) / sizeof(statements[0]);
	size_t i = 0;
	char *rest = line;
	const char *first;

	line[strcspn(line, "\n")] = '\0';
	first = scenario_word(&rest);
	if (first == NULL || *first == '#')
		return;
	if (rest == NULL)
		rest = line + strlen(line);
	rest += strspn(rest, " \t");
	while (i < n && strcmp(statements[i].name, first) != 0)
		i++;
	if (i < n && statements[i].kind == QUESTION)
		begin_exchange(s);
	if ((i == n || statements[i].kind == EXPECTATION) && s->x.line == 0)
		scenario_complain(s, s->line, "no question before \"%s\"", first);
	else if (i < n && statements[i].kind == SETTING && s->x.line != 0)
		scenario_complain(s, s->line, "a setting behind a question: %s", first);
	else if (i < n)
		statements[i].take(s, rest);
	else if (!scenario_expect_verdict(s, first, rest))
		scenario_complain(s, s->line, "no word of this format: %s", first);
}

static void
close_scenario(struct scenario *s)
{
	size_t i;

	for (i = 0; i < s->mesh.source_count; i++) {
		free(s->sources[i].path);
		(void)close(s->fds[i]);
	}
	free(s->mesh.namespace);
	table_close(s->table);
	if (s->file != NULL)
		(void)fclose(s->file);
}

/* Prints the outcome; true if it was good. */
static bool
run_scenario(const char *path)
{
	static struct scenario s;
	char line[SCENARIO_MAX_LINE];

	s = (struct scenario){ .path = path, .file = fopen(path, "r"),
		.mesh = { .namespace = strdup("default"), .ttl = 30 },
		.settings = { .negative_ttl = 5, .udp_size = 1232,
		.suppress_https = 1, .tcp = 1 } };
	if (name_from_text(&s.mesh.domain, "cluster.local", 13) != 0)
		scenario_complain(&s, 0, "name_from_text");
	if (s.file == NULL)
		scenario_complain(&s, 0, "%s", strerror(errno));
	while (s.file != NULL && fgets(line, sizeof(line), s.file) != NULL) {
		s.line++;
		take_line(&s, line);
	}
	end_exchange(&s);
	if (s.questions == 0)
		scenario_complain(&s, s.line, "no question in it was run");
	close_scenario(&s);
	if (s.failed)
		printf("FAIL %s: see above\n", path);
	else
		printf("PASS %s: %u questions\n", path, s.questions);
	return !s.failed;
}

/*
 * A reason that no scenario shows is a rule that nothing here tests; but for
 * the one that a nameserver's silence gives, which tests/net/test_tcp shows,
 * and those of forwarding: tests/net/test_forward_matrix.
 */
static bool
all_reasons_seen(void)
{
	enum reason reason;
	bool all = true;

	for (reason = 0; reason < REASONS; reason++) {
		if (!reasons_seen[reason] && reason != REASON_UNREACHABLE &&
		    reason < REASON_FORWARD) {
			printf("  no scenario has the reason \"%s\"\n",
			    decide_reason_text(reason));
			all = false;
		}
	}
	printf("%s\n", all ? "PASS every reason is seen" :
	    "FAIL every reason is seen: see above");
	return all;
}

int
main(int argc, char **argv)
{
	glob_t files = { .gl_pathc = 0 };
	bool good = true;
	size_t i;

	for (i = 1; i < (size_t)argc; i++)
		good = run_scenario(argv[i]) && good;
	if (argc > 1)
		return !good;
	if (glob("tests/scenarios/*.scenario", 0, NULL, &files) != 0) {
		printf("FAIL scenarios: no tests/scenarios/*.scenario here\n");
		return 1;
	}
	for (i = 0; i < files.gl_pathc; i++)
		good = run_scenario(files.gl_pathv[i]) && good;
	globfree(&files);
	return !(all_reasons_seen() && good);
}
