/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "nfdns top".  A reading is a copy of the daemon's status page; rates come from the
 * difference of two.  Names and users are counted by the daemon while this watches.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/process/exit_code.h"
#include "policy/status/facts.h"
#include "resolver/text/number.h"
#include "resolver/text/printable.h"

const char top_usage[] =
    "usage: nfdns [-c FILE] top [-d SECONDS] [-n ROUNDS] [-l LIST] [-o] [-j]\n"
    "\n"
    "Shows what is asked now: questions a second, latency, and the names, users,\n"
    "rules and decisions with the most questions, until it is interrupted.  A\n"
    "terminal shows what it has room for.  Only root sees names and users.\n"
    "\n"
    "  -d, --delay SECONDS  between two readings: 0.1 to 3600, 1 by default\n"
    "  -n, --rounds NUMBER  end after so many readings\n"
    "  -l, --list LIST      only names, users, rules or decisions\n"
    "  -o, --once           print it once\n"
    "  -j, --json           print one JSON object once\n";

#define LOOK_MS		50	/* how often the start of counting is looked for */
#define LOOK_MS_MAX	3000
#define HEAD_LINES	6
#define LIST_LINES	3	/* of a list besides its rows */
#define ROWS_OF_LIST	10
#define NAMED_USERS	100

enum list { NAMES, USERS, RULES, DECISIONS, LISTS };

static const struct {
	const char *name, *title, *caption;
} lists[LISTS] = {
	[NAMES] = { "names", "name", "names" },
	[USERS] = { "users", "user", "users" },
	[RULES] = { "rules", "rule", "questions that a rule of the policy matched" },
	[DECISIONS] = { "decisions", "decision", "questions by the reason why" },
};

static const struct {
	const char *title;
	unsigned int permille;
} latencies[] = { { "p50", 500 }, { "p90", 900 }, { "p99", 990 }, { "p99.9", 999 } };
#define LATENCIES (sizeof(latencies) / sizeof(latencies[0]))

/* Owns page and rules.  Zero: no daemon runs. */
struct reading {
	monotime_t when;
	struct status_page page;	/* supervisor NULL: none */
	struct status_counters counters;
	struct policy_shown *rules;	/* of the policy; "(others)" is last */
	size_t rule_count;
};

struct top {
	const char *run_dir;
	pid_t pid;			/* of the daemon that was asked last, */
	pid_t counted;			/* and of that whose names these are: */
	struct hitters hitters;
	bool has_read;			/* there was a daemon */
	struct reading now, before;
	int delay_ms;
	uint64_t rounds;		/* 0: without end */
	bool once, json, only;
	enum list list;			/* the only one */
	unsigned int rows, columns;	/* of a terminal; 0: lines of any length */
};

static const char *
read_delay(void *to, const char *value)
{
	struct top *t = to;
	char *end;
	const double seconds = strtod(value, &end);

	if (end == value || *end != '\0' ||
	    !(seconds >= 0.1 && seconds <= 3600))
		return "no number of seconds from 0.1 to 3600";
	t->delay_ms = (int)(seconds * 1000);
	return NULL;
}

static const char *
read_rounds(void *to, const char *value)
{
	struct top *t = to;

	return number_from_text(value, UINT64_MAX, &t->rounds) &&
	    t->rounds > 0 ? NULL : "no number of readings from 1 on";
}

static const char *
read_list(void *to, const char *value)
{
	struct top *t = to;

	t->only = true;
	for (t->list = NAMES; t->list < LISTS; t->list++)
		if (strcmp(lists[t->list].name, value) == 0)
			return NULL;
	return "no list: give names, users, rules or decisions";
}

const struct command_option top_options[] = {
	OPTION_READ("delay", 'd', read_delay),
	OPTION_READ("rounds", 'n', read_rounds),
	OPTION_READ("list", 'l', read_list),
	OPTION_FLAG("once", 'o', struct top, once),
	OPTION_FLAG("json", 'j', struct top, json),
	{ .name = NULL },
};

static void
forget(struct reading *r)
{
	if (r->page.supervisor != NULL)
		status_close(&r->page);
	free(r->rules);
	*r = (struct reading){ .rules = NULL };
}

/* A copy of the page; a daemon that was started again counts anew. */
static int
read_page(struct top *t, struct status_page *page)
{
	struct daemon_answer answer;
	const int error = daemon_page(&answer, page, t->run_dir);

	t->pid = answer.pid;
	if (error < 0 || t->counted != answer.pid)
		hitters_close(&t->hitters);
	if (error < 0)
		return error;
	/* Only root is given it; whoever is not sees all but names and users. */
	if (t->hitters.page == NULL && answer.fds[1] >= 0) {
		(void)!hitters_watch(&t->hitters, answer.fds[1]);
		answer.fds[1] = -1;
	}
	t->counted = answer.pid;
	daemon_answer_free(&answer);
	return 0;
}

/* No daemon is a reading, too.  Another one is compared with nothing. */
static int
take_reading(struct top *t)
{
	struct reading r = { .rules = NULL };
	int error = read_page(t, &r.page);

	r.when = monotime_now();
	if (error == 0) {
		status_counters(&r.page, &r.counters);
		r.rule_count = policy_status_read(r.page.policy, &r.rules) + 1;
		error = r.rules == NULL ? -ENOMEM : 0;
	} else {
		r.page.supervisor = NULL;
		if (t->has_read && (error == -ENOENT || error == -ECONNREFUSED ||
		    error == -ECONNRESET))
			error = 0;
	}
	if (error < 0) {
		forget(&r);
		return error;
	}
	t->has_read = true;
	forget(&t->before);
	t->before = t->now;
	t->now = r;
	if (t->before.page.supervisor == NULL || r.page.supervisor == NULL ||
	    t->before.page.supervisor->pid != r.page.supervisor->pid ||
	    t->before.page.supervisor->started != r.page.supervisor->started)
		forget(&t->before);
	return 0;
}

/* Names are counted before, if they can be seen: the daemon looks once a second. */
static int
take_first(struct top *t)
{
	struct status_page page;
	const int error = read_page(t, &page);

	if (error < 0)
		return error;
	status_close(&page);
	for (int ms = 0; t->hitters.page != NULL && ms < LOOK_MS_MAX &&
	    atomic_load(&t->hitters.page->since) == 0; ms += LOOK_MS)
		(void)poll(NULL, 0, LOOK_MS);
	return take_reading(t);
}

static bool
has_rates(const struct top *t)
{
	return t->before.page.supervisor != NULL;
}

static double
rate(const struct top *t, uint64_t before, uint64_t now)
{
	const int64_t ns = t->now.when.ns - t->before.when.ns;

	return has_rates(t) && now > before && ns > 0 ?
	    (double)(now - before) * 1e9 / (double)ns : 0;
}

/* Lists */

struct rows {
	struct row {
		uint64_t count;
		double rate;
		size_t which;
	} *list;
	size_t count;
	uint64_t total;			/* of which a share is said */
	struct hitters_list hitters;	/* of names and users */
};

/*
 * A container's address.  The user's name; its number if it has none, or if it
 * stands far below: a name may be the answer of a server.
 */
static void
user_label(const struct hitter *h, size_t place, char text[static NAME_TEXT_SIZE])
{
	const bool v4 = IN6_IS_ADDR_V4MAPPED(&h->client);
	const struct passwd *user = h->uid == (uid_t)-1 ||
	    place >= NAMED_USERS ? NULL : getpwuid(h->uid);

	if (user != NULL)
		(void)snprintf(text, NAME_TEXT_SIZE, "%s", user->pw_name);
	else if (!IN6_IS_ADDR_UNSPECIFIED(&h->client))
		(void)inet_ntop(v4 ? AF_INET : AF_INET6, v4 ?
		    &h->client.s6_addr[12] : h->client.s6_addr, text,
		    NAME_TEXT_SIZE);
	else if (h->uid == (uid_t)-1)
		(void)snprintf(text, NAME_TEXT_SIZE, "(unknown)");
	else
		(void)snprintf(text, NAME_TEXT_SIZE, "%" PRIu32,
		    (uint32_t)h->uid);
}

static const char *
label(const struct top *t, enum list list, const struct rows *rows,
    size_t which, char text[static NAME_TEXT_SIZE])
{
	switch (list) {
	case NAMES:
		return name_to_text(rows->hitters.list[which].name.octets, text);
	case USERS:
		user_label(&rows->hitters.list[which], which, text);
		return text;
	case RULES:
		return t->now.rules[which].name;
	default:
		return decide_reason_text((enum reason)which);
	}
}

/* Nothing is said of what never happened. */
static void
add_counter(struct rows *rows, const struct top *t, size_t which,
    uint64_t before, uint64_t now)
{
	rows->total += now;
	if (now > 0)
		rows->list[rows->count++] = (struct row){ now,
		    rate(t, before, now), which };
}

static void
add_hitters(struct rows *rows)
{
	const struct hitters_list *h = &rows->hitters;

	rows->total = h->total;
	for (; rows->count < h->count; rows->count++) {
		const uint64_t n = h->list[rows->count].count;

		rows->list[rows->count] = (struct row){ n, h->covered_ns > 0 ?
		    (double)n * 1e9 / (double)h->covered_ns : 0, rows->count };
	}
}

static void
add_rules(struct rows *rows, const struct top *t)
{
	for (size_t i = 0; i < t->now.rule_count; i++) {
		const struct policy_shown *now = &t->now.rules[i];
		uint64_t before = now->matched;

		for (size_t n = 0; n < t->before.rule_count; n++)
			if (strcmp(t->before.rules[n].name, now->name) == 0)
				before = t->before.rules[n].matched;
		add_counter(rows, t, i, before, now->matched);
	}
}

static int
by_count(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->which < b->which ? -1 : 1;
}

/* The largest count first.  0 or -ENOMEM; free both lists in both cases. */
static int
read_rows(struct rows *rows, const struct top *t, enum list list)
{
	size_t room = REASONS + t->now.rule_count;
	int error = 0;

	*rows = (struct rows){ .list = NULL };
	if (t->now.page.supervisor == NULL)
		return 0;
	if (list == NAMES || list == USERS) {
		error = hitters_list_read(&rows->hitters, &t->hitters,
		    list == NAMES ? HITTERS_NAMES : HITTERS_USERS, t->now.when);
		room = rows->hitters.count + 1;
	}
	rows->list = error == 0 ? calloc(room, sizeof(*rows->list)) : NULL;
	if (rows->list == NULL)
		return -ENOMEM;
	if (list == RULES)
		add_rules(rows, t);
	else if (list == DECISIONS)
		for (size_t i = 0; i < REASONS; i++)
			add_counter(rows, t, i, t->before.counters.reasons[i],
			    t->now.counters.reasons[i]);
	else
		add_hitters(rows);
	qsort(rows->list, rows->count, sizeof(*rows->list), by_count);
	return 0;
}

static void
free_rows(struct rows *rows)
{
	free(rows->list);
	hitters_list_free(&rows->hitters);
}

/* Latency: between the two readings, or since the start.  How many were measured. */
static uint64_t
read_latency(const struct top *t, uint64_t counts[static STATUS_SPENT],
    uint64_t *ns)
{
	const struct status_counters *now = &t->now.counters;
	const struct status_counters *before = &t->before.counters;
	uint64_t all = 0, since_start = 0;

	for (size_t i = 0; i < STATUS_SPENT; i++) {
		counts[i] = now->spent[i] - before->spent[i];
		all += counts[i];
		since_start += now->spent[i];
	}
	*ns = now->spent_ns - before->spent_ns;
	if (all > 0)
		return all;
	memcpy(counts, now->spent, sizeof(now->spent));
	*ns = now->spent_ns;
	return since_start;
}

/* Microseconds up to which so many of 1000 were answered; 0: above all bounds. */
static uint32_t
percentile(const uint64_t counts[static STATUS_SPENT], uint64_t all,
    unsigned int permille)
{
	static const uint32_t bounds[] = STATUS_SPENT_US;
	double sum = 0;

	for (unsigned int i = 0; i < STATUS_SPENT - 1; i++) {
		sum += (double)counts[i];
		if (counts[i] > 0 && sum * 1000 >= (double)all * permille)
			return bounds[i];
	}
	return 0;
}

/* Lines of a terminal's width */

static void line(const struct top *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Printable ASCII, whatever the page says. */
static void
line(const struct top *t, const char *format, ...)
{
	char text[NAME_TEXT_SIZE + 256], shown[4 * sizeof(text)];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	(void)printable_text(shown, sizeof(shown), text, strlen(text));
	(void)printf("%.*s\n", t->columns > 0 ? (int)t->columns :
	    (int)sizeof(shown), shown);
}

static void
print_state(const struct top *t)
{
	const struct status_supervisor *s = t->now.page.supervisor;
	const uint64_t time_now = (uint64_t)time(NULL);
	const time_t seconds = (time_t)time_now;
	char clock[16] = "", span[FEED_SPAN_TEXT], degraded[STATUS_TEXT];
	struct tm tm;

	if (localtime_r(&seconds, &tm) != NULL)
		(void)strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	if (s == NULL) {
		line(t, "%s nfdnsd is not running", clock);
		line(t, "%s", "");
		return;
	}
	line(t, "%s nfdnsd is %s, up %s, worker restarts: %" PRIu64, clock,
	    status_state_text(s->state), feed_status_span((int64_t)status_age(
	    s->started, time_now), span), s->restarts);
	status_degraded(&t->now.page, degraded);
	if (s->state == STATUS_DEGRADED)
		line(t, "degraded: %s", degraded);
	else if (s->table_generation == 0)
		line(t, "no table has loaded yet");
	else
		line(t, "table %" PRIu64 ": %" PRIu64 " names, %s old",
		    s->table_generation, s->table_names, feed_status_span(
		    (int64_t)status_age(s->table_loaded, time_now), span));
}

/* Titles, what happened each second, and since the start; then the latency. */
static void
print_numbers(const struct top *t)
{
	const struct status_counters *c = &t->now.counters;
	const struct status_counters *b = &t->before.counters;
	const struct {
		const char *title;
		uint64_t before, now;
	} numbers[] = {
		{ "questions", b->received, c->received },
		{ "answered", b->answered, c->answered },
		{ "passed", b->passed, c->passed },
		{ "unseen", b->unseen, c->unseen },
		{ "forwarded", b->forwarded, c->forwarded },
		{ "refused", b->refused, c->refused },
	};
	char rows[3][256] = { "" }, shown[256] = "";
	uint64_t counts[STATUS_SPENT], ns;
	const uint64_t all = read_latency(t, counts, &ns);
	int at[3] = { 0 }, used = 0;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		at[0] += snprintf(rows[0] + at[0], 24, "%11s",
		    numbers[i].title);
		at[1] += has_rates(t) ? snprintf(rows[1] + at[1], 24, " %10.1f",
		    rate(t, numbers[i].before, numbers[i].now)) :
		    snprintf(rows[1] + at[1], 24, "%11s", "-");
		at[2] += snprintf(rows[2] + at[2], 24, " %10" PRIu64,
		    numbers[i].now);
	}
	line(t, "%-11s%s", "", rows[0]);
	line(t, "%-11s%s", "per second", rows[1]);
	line(t, "%-11s%s", "since start", rows[2]);
	for (size_t i = 0; i < LATENCIES && all > 0; i++) {
		const uint32_t us = percentile(counts, all,
		    latencies[i].permille);

		used += snprintf(shown + used, sizeof(shown) - (size_t)used,
		    us > 0 ? "%s <%" PRIu32 "us  " : "%s >5s  ",
		    latencies[i].title, us);
	}
	line(t, "%-13s%smean %.1fus", "latency", shown, all > 0 ?
	    (double)ns / 1e3 / (double)all : 0.0);
}

/* An empty line, two of titles, and "most" rows at most. */
static int
print_list(const struct top *t, enum list list, size_t most)
{
	const bool hitters = list == NAMES || list == USERS;
	char text[NAME_TEXT_SIZE];
	struct rows rows;
	const int error = read_rows(&rows, t, list);

	line(t, "%s", "");
	if (!hitters)
		line(t, "since start: %s", lists[list].caption);
	else if (t->hitters.page == NULL)
		line(t, "only root may see names and users");
	else if (rows.hitters.covered_ns == 0)
		line(t, "nfdnsd begins to count %s", lists[list].caption);
	else
		line(t, "last %" PRId64 "s: %" PRIu64 " questions; each came so "
		    "often at least", (rows.hitters.covered_ns / 100000000 + 5) /
		    10, rows.total);
	line(t, "%9s %10s %7s  %s", "per sec", "questions", "share",
	    lists[list].title);
	for (size_t i = 0; rows.list != NULL && i < rows.count && i < most; i++)
		line(t, "%9.1f %10" PRIu64 " %6.1f%%  %s", rows.list[i].rate,
		    rows.list[i].count, rows.total > 0 ? 100 *
		    (double)rows.list[i].count / (double)rows.total : 0.0,
		    label(t, list, &rows, rows.list[i].which, text));
	free_rows(&rows);
	return error;
}

/* The whole of a terminal, or ten rows of each list, or all of the only one. */
static int
print(struct top *t)
{
	struct winsize size = { .ws_row = 0 };
	const bool screen = !t->once && isatty(STDOUT_FILENO) &&
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
	size_t left = screen ? size.ws_row - 1U : SIZE_MAX;
	int error = 0;

	t->columns = screen ? size.ws_col : 0;
	if (screen)
		(void)fputs("\033[H\033[J", stdout);	/* home, and erase */
	print_state(t);
	print_numbers(t);
	left -= left < HEAD_LINES ? left : HEAD_LINES;
	for (enum list i = 0; i < LISTS && error == 0 && left > LIST_LINES; i++) {
		const size_t room = left - LIST_LINES;
		const size_t most = t->only ? room : !screen ? ROWS_OF_LIST :
		    room < ROWS_OF_LIST ? room : room / 2;

		if (t->only && i != t->list)
			continue;
		error = print_list(t, i, most);
		left -= screen ? LIST_LINES + most : 0;
	}
	return error;
}

static void
write_list(struct json_write *w, const struct top *t, enum list list)
{
	char text[NAME_TEXT_SIZE];
	struct rows rows;
	const int error = read_rows(&rows, t, list);

	if (error < 0)
		w->error = error;
	json_write_open(w, lists[list].name, '{');
	json_write_number(w, "total", rows.total);
	if (list == NAMES || list == USERS)
		json_write_real(w, "seconds",
		    (double)rows.hitters.covered_ns / 1e9);
	json_write_open(w, "rows", '[');
	for (size_t i = 0; i < rows.count; i++) {
		json_write_open(w, NULL, '{');
		json_write_text(w, "name", label(t, list, &rows,
		    rows.list[i].which, text));
		json_write_number(w, "count", rows.list[i].count);
		json_write_real(w, "rate", rows.list[i].rate);
		json_write_close(w, '}');
	}
	json_write_close(w, ']');
	json_write_close(w, '}');
	free_rows(&rows);
}

static int
print_json(const struct top *t)
{
	const struct status_supervisor *s = t->now.page.supervisor;
	uint64_t counts[STATUS_SPENT], ns;
	const uint64_t all = read_latency(t, counts, &ns);
	struct json_write w = { .out = stdout };

	json_write_open(&w, NULL, '{');
	json_write_integer(&w, "time", realtime_s());
	json_write_bool(&w, "ready", s != NULL && (s->state == STATUS_READY ||
	    s->state == STATUS_DEGRADED));
	json_write_number(&w, "received", t->now.counters.received);
	json_write_number(&w, "unseen", t->now.counters.unseen);
	json_write_real(&w, "rate", rate(t, t->before.counters.received,
	    t->now.counters.received));
	/* Upper bounds; null: above all, or nothing was measured. */
	json_write_open(&w, "latency_us", '{');
	for (size_t i = 0; i < LATENCIES; i++) {
		const uint32_t us = percentile(counts, all,
		    latencies[i].permille);

		if (us > 0)
			json_write_number(&w, latencies[i].title, us);
		else
			json_write_text(&w, latencies[i].title, NULL);
	}
	json_write_close(&w, '}');
	for (enum list i = 0; i < LISTS; i++)
		write_list(&w, t, i);
	json_write_close(&w, '}');
	return json_write_end(&w);
}

int
cmd_top(const struct config *config, int argc, char **argv)
{
	struct top t = { .run_dir = config->run_dir, .delay_ms = 1000,
		.hitters = HITTERS_NONE };
	int error;

	if (!command_options_only(top_options, "nfdns top", &t, argc, argv))
		return EXIT_USAGE;
	t.once |= t.json;
	error = take_first(&t);
	if (t.once && t.rounds == 0)
		t.rounds = 1;
	for (uint64_t round = 0; error == 0 && (t.rounds == 0 ||
	    round < t.rounds); round++) {
		(void)poll(NULL, 0, t.delay_ms);
		error = take_reading(&t);
		if (error == 0 && round > 0 && !isatty(STDOUT_FILENO))
			(void)putchar('\n');
		if (error == 0)
			error = t.json ? print_json(&t) : print(&t);
		if (error == 0 && (fflush(stdout) != 0 || ferror(stdout)))
			error = -errno;
	}
	forget(&t.now);
	forget(&t.before);
	hitters_close(&t.hitters);
	if (error == 0)
		return EXIT_OK;
	if (ferror(stdout))
		cli_error("top: cannot print: %s", strerror(-error));
	return ferror(stdout) ? EXIT_ERROR :
	    daemon_tell_error(&(struct daemon_answer){ .pid = t.pid }, "top",
	    config->run_dir, error);
}
