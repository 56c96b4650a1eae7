/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Screens with fixed figures, for tests/net/test_screens:
 *
 *	screens top         as "nfdns top" on 24 rows of 80 columns
 *	screens text        as it prints lines
 *	screens json        as it prints JSON
 *	screens doctor      as "nfdns doctor" prints findings
 *
 * The figures are those of a status page that this program makes, read by the
 * same code at times of its own.  NFDNS_SCREENS=down: the daemon has ended;
 * =degraded: it is degraded; =user: read by somebody who is not root.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/doctor/findings.h"
#include "nfq/cli/top/model.h"

#define SECOND		INT64_C(1000000000)
#define BEGIN		(INT64_C(1000000) * SECOND)	/* a window begins */
#define NOW		INT64_C(1790000000)	/* 2026-09-21 14:13:20 UTC */
#define READINGS	150
#define INVENTED	2500		/* names that were asked once */
#define SECRET		1		/* of hashes: what is pushed out is fixed */

static const struct {
	const char *name;
	unsigned int count;
	uid_t uid;
} asked[] = {
	{ "reviews.default.svc.cluster.local", 4210, 12345 },
	{ "ratings.default.svc.cluster.local", 2105, 12345 },
	{ "details.default.svc.cluster.local", 1404, 12345 },
	{ "productpage.shop.svc.cluster.local", 900, 0 },
	{ "api.example.com", 421, 0 },
	{ "a-name-that-is-longer-than-any-column.of-a-screen-that-is-not-very-"
	  "wide.and-goes-on-and-on.example.org", 300, 54321 },
	{ "\\027[31m\\027]0;owned\\007.evil\\010.example", 200, 54321 },
	{ "\\195\\164\\226\\150\\136.example", 100, 54321 },
	{ "www.example.net", 42, (uid_t)-1 },
};

static void
ask(struct hitters_bank *bank, const char *text, uid_t uid)
{
	struct question q = { .form = QUESTION_PLAIN };

	if (name_from_text(&q.name, text, strlen(text)) < 0)
		abort();
	hitters_question(bank, SECRET, &q, &(struct asker){ .uid = uid });
}

static void
watch_all(struct hitters *hitters)
{
	struct hitters_bank *bank;
	char text[64];

	hitters->page->secret = SECRET;
	atomic_store(&hitters->page->since, BEGIN - SECOND);
	bank = hitters_begin(hitters->page, 0, (monotime_t){ BEGIN });
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		for (unsigned int n = 0; n < asked[i].count; n++)
			ask(bank, asked[i].name, asked[i].uid);
	for (unsigned int i = 0; i < INVENTED; i++) {
		(void)snprintf(text, sizeof(text), "x%u.invented.example", i);
		ask(bank, text, 54321);
	}
}

/* What a second adds: a rate that rises and falls. */
static void
count_second(struct status_worker *w, unsigned int second)
{
	const unsigned int step = second % 60;
	const uint64_t n = 1000 + (step < 30 ? step : 60 - step) * 400 +
	    (second % 7) * 90;

	w->received += n;
	w->verdicts[VERDICT_ANSWER] += n * 8 / 10;
	w->verdicts[VERDICT_PASS] += n - n * 8 / 10 - n / 50 - n / 100;
	w->verdicts[VERDICT_FORWARD] += n / 50;
	w->verdicts[VERDICT_REFUSE] += n / 100;
	w->reasons[REASON_RECORD] += n * 7 / 10;
	w->reasons[REASON_WILDCARD] += n / 10;
	w->reasons[REASON_NOT_MESH] += n / 5;
	w->asked[ASKED_IPV4][ASKED_A] += n / 2;
	w->asked[ASKED_IPV4][ASKED_AAAA] += n / 4;
	w->asked[ASKED_IPV6][ASKED_AAAA] += n / 5;
	w->asked[ASKED_IPV4][ASKED_HTTPS] += n / 20;
	w->spent[0] += n / 4;
	w->spent[1] += n / 2;
	w->spent[2] += n / 5;
	w->spent[5] += n / 25;
	w->spent[9] += n / 200;
	w->spent_ns += n * 12300;
}

static void
set_rule(struct status_rule *rule, uint32_t number, const char *name,
    uint64_t count)
{
	rule->number = number;
	rule->name.length = (uint8_t)strlen(name);
	memcpy(rule->name.text, name, strlen(name));
	rule->counter.enforced = count;
}

static void
set_page(struct status_page *page)
{
	struct status_supervisor *s = page->supervisor;

	s->started = (uint64_t)NOW - 3 * 86400 - 4 * 3600 - 5 * 60;
	s->pid = 4711;
	s->table_generation = 42;
	s->table_names = 10412;
	s->table_loaded = (uint64_t)NOW - 754;
	s->rule_packets = 3;
	status_set_state(page, STATUS_READY, NULL);
	page->workers[0].received = 812345678;
	set_rule(&page->policy->rules[0], 1, "no-ads", 120034);
	set_rule(&page->policy->rules[1], 2, "build-hosts", 4711);
}

static bool
is_shown(const char *what)
{
	const char *wish = getenv("NFDNS_SCREENS");

	return wish != NULL && strcmp(wish, what) == 0;
}

/* Readings of so many seconds, the last at the fixed time. */
static int
read_all(struct top_model *model, struct status_page *page)
{
	struct top_reading reading = { .time = NOW };
	int error = 0;

	for (unsigned int i = 0; i < READINGS && error == 0; i++) {
		count_second(&page->workers[0], i);
		page->policy->rules[0].counter.enforced += i % 3;
		error = top_read(&reading, page, is_shown("user") ? NULL :
		    &page->hitters, (monotime_t){ BEGIN + 12 * SECOND -
		    (READINGS - 1 - i) * SECOND }, NOW);
		top_model_take(model, &reading);
	}
	if (error == 0 && is_shown("down")) {
		reading.time = NOW;
		top_model_take(model, &reading);
	}
	return error;
}

static int
make_model(struct top_model *model)
{
	struct status_page page;
	int error = status_create(&page, 1);

	if (error == 0) {
		set_page(&page);
		if (is_shown("degraded"))
			status_set_state(&page, STATUS_DEGRADED,
			    "the canary question is not answered");
		watch_all(&page.hitters);
		error = read_all(model, &page);
		status_close(&page);
	}
	return error;
}

static int
show_findings(void)
{
	struct findings findings = { .count = 0 };

	findings_add(&findings, FINDING_OK, "config", NULL,
	    "/etc/nfdns/nfdnsd.conf is valid");
	findings_add(&findings, FINDING_BAD, "daemon", "start nfdnsd: systemctl "
	    "start nfdnsd", "it is not running");
	findings_add(&findings, FINDING_WARNING, "resolved", "set DNSOverTLS=no "
	    "in /etc/systemd/resolved.conf: what is encrypted, nfdns cannot "
	    "see", "systemd-resolved asks over TLS");
	findings_add(&findings, FINDING_UNKNOWN, "rules", "run it as root",
	    "only root can see them \033[31m");
	findings_print(&findings, cli_has_colour(STDOUT_FILENO),
	    cli_columns(STDOUT_FILENO), stdout);
	return 0;
}

int
main(int argc, char **argv)
{
	static struct top_model model;
	const char *what = argc == 2 ? argv[1] : "";
	const struct top_view lines = { 0, 0, false, TOP_NAMES };
	const struct top_view screen = { 24, 80, false, TOP_NAMES };
	int error = -EINVAL;

	if (strcmp(what, "doctor") == 0)
		error = show_findings();
	else if (make_model(&model) < 0)
		error = -EIO;
	else if (strcmp(what, "top") == 0)
		error = top_print(&model, &screen, stdout);
	else if (strcmp(what, "text") == 0)
		error = top_print(&model, &lines, stdout);
	else if (strcmp(what, "json") == 0)
		error = top_print_json(&model, stdout);
	top_model_free(&model);
	if (error < 0)
		(void)fprintf(stderr, "screens: %s\n", strerror(-error));
	return error < 0;
}
