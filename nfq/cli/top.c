/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/process/exit_code.h"
#include "nfq/cli/top/model.h"
#include "resolver/text/number.h"
#include "resolver/text/suggest.h"

const char top_usage[] =
    "usage: nfdns [-c FILE] top [-d SECONDS] [-n ROUNDS] [-l LIST] [-o] [-j]\n"
    "\n"
    "Shows what is asked now: questions a second, latency, and the names, users,\n"
    "rules, types, verdicts and decisions with the most questions, until it is\n"
    "interrupted.  A terminal shows what it has room for.  Only root sees names\n"
    "and users.\n"
    "\n"
    "  -d, --delay SECONDS  between two readings: 0.1 to 3600, 1 by default\n"
    "  -n, --rounds NUMBER  end after so many readings\n"
    "  -l, --list LIST      only names, users, rules, types, verdicts, decisions\n"
    "                       or latency\n"
    "  -o, --once           print it once\n"
    "  -j, --json           print one JSON object once\n";

#define LOOK_MS		50	/* how often the start of counting is looked for */
#define LOOK_MS_MAX	3000

struct top {
	const char *run_dir;
	pid_t pid;			/* of the daemon that was asked last, */
	pid_t counted;			/* and of that whose names these are: */
	struct hitters hitters;
	bool has_read;			/* there was a daemon */
	struct top_model model;
	struct top_view view;
	int delay_ms;
	uint64_t rounds;		/* 0: without end */
	bool once, json;
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

	t->view.only = true;
	return top_list_read(&t->view.list, value) ? NULL :
	    "no list: give one such as names, users, rules, types, verdicts, "
	    "decisions or latency";
}

const struct command_option top_options[] = {
	OPTION_READ("delay", 'd', read_delay),
	OPTION_READ("rounds", 'n', read_rounds),
	OPTION_READ("list", 'l', read_list),
	OPTION_FLAG("once", 'o', struct top, once),
	OPTION_FLAG("json", 'j', struct top, json),
	{ .name = NULL },
};

/* A copy of the page; a daemon that was started again counts anew. */
static int
read_page(struct top *t, struct status_page *page)
{
	struct daemon_answer answer;
	const int error = daemon_page(&answer, page, t->run_dir);

	t->pid = answer.pid;
	if (error < 0) {
		hitters_close(&t->hitters);
		return error;
	}
	if (t->counted != answer.pid)
		hitters_close(&t->hitters);
	/* Only root is given it; whoever is not sees all but names and users. */
	if (t->hitters.page == NULL && answer.fds[1] >= 0) {
		(void)!hitters_watch(&t->hitters, answer.fds[1]);
		answer.fds[1] = -1;
	}
	t->counted = answer.pid;
	daemon_answer_free(&answer);
	return 0;
}

/* No daemon is a reading, too. */
static int
take_reading(struct top *t)
{
	struct top_reading reading = { .running = false };
	struct status_page page;
	int error = read_page(t, &page);
	const monotime_t now = monotime_now();
	const int64_t time = realtime_s();

	if (error == 0) {
		error = top_read(&reading, &page, t->hitters.page != NULL ?
		    &t->hitters : NULL, now, time);
		status_close(&page);
	} else if (t->has_read && (error == -ENOENT ||
	    error == -ECONNREFUSED || error == -ECONNRESET)) {
		error = 0;
	}
	t->has_read |= error == 0;
	reading.when = now;
	reading.time = time;
	if (error < 0)
		top_reading_free(&reading);
	else
		top_model_take(&t->model, &reading);
	return error;
}

/* The daemon looks once a second whether somebody watches. */
static void
wait_for_counting(const struct top *t)
{
	for (int ms = 0; t->hitters.page != NULL && ms < LOOK_MS_MAX &&
	    atomic_load(&t->hitters.page->since) == 0; ms += LOOK_MS)
		(void)poll(NULL, 0, LOOK_MS);
}

/* The names are counted before, if they can be seen. */
static int
take_first(struct top *t)
{
	struct status_page page;
	const int error = read_page(t, &page);

	if (error < 0)
		return error;
	status_close(&page);
	wait_for_counting(t);
	return take_reading(t);
}

/* The whole of a terminal, or lines. */
static int
print(struct top *t)
{
	struct winsize size = { .ws_row = 0 };
	const bool screen = !t->once && isatty(STDOUT_FILENO) &&
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;

	if (t->json)
		return top_print_json(&t->model, stdout);
	t->view.rows = screen ? size.ws_row : 0;
	t->view.columns = screen ? size.ws_col : 0;
	if (screen)
		(void)fputs("\033[H\033[J", stdout);	/* home, and erase */
	return top_print(&t->model, &t->view, stdout);
}

static int
run(struct top *t)
{
	int error = 0;

	if (t->once && t->rounds == 0)
		t->rounds = 1;
	for (uint64_t round = 0; error == 0 && (t->rounds == 0 ||
	    round < t->rounds); round++) {
		if (round == 0)
			error = take_first(t);
		if (error == 0) {
			(void)poll(NULL, 0, t->delay_ms);
			error = take_reading(t);
		}
		if (error == 0 && round > 0 && !isatty(STDOUT_FILENO))
			(void)putchar('\n');
		if (error == 0)
			error = print(t);
		if (error == 0 && (fflush(stdout) != 0 || ferror(stdout)))
			error = -errno;
	}
	return error;
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
	error = run(&t);
	top_model_free(&t.model);
	hitters_close(&t.hitters);
	if (error == 0)
		return EXIT_OK;
	if (ferror(stdout))
		cli_error("top: cannot print: %s", strerror(-error));
	return ferror(stdout) ? EXIT_ERROR :
	    daemon_tell_error(&(struct daemon_answer){ .pid = t.pid }, "top",
	    config->run_dir, error);
}
