/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nfq/ask/message.h"
#include "nfq/cache/cache_memory.h"
#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/cli/doctor/ask.h"
#include "nfq/cli/doctor/findings.h"
#include "nfq/cli/explain/explain.h"
#include "nfq/cli/explain/print.h"
#include "nfq/cli/question_words.h"
#include "nfq/process/compiler.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "policy/config/resolv_conf.h"
#include "policy/config/settings.h"
#include "resolver/dns/message.h"

#define MAX_LINE	2048
#define MAX_WORDS	32
#define ASK_WAIT_MS	5000

const char explain_usage[] =
    "usage: nfdns [-c FILE] explain [OPTION ...] NAME [TYPE]\n"
    "       nfdns [-c FILE] explain [OPTION ...] -\n"
    "\n"
    "Shows what happens to a question, step by step: the rule of the kernel that\n"
    "queues it, the policy rules, the table entry with its file and line, the\n"
    "decision, and the answer with its records.  No packet is sent.  The daemon's\n"
    "own code decides, by the running daemon's table and settings; for a user who\n"
    "may not open those, by the configured tables as they are now.  The rules of\n"
    "the kernel are those of the configuration.\n"
    "\n"
    "With \"-\", reads questions from the standard input, one a line: NAME [TYPE]\n"
    "[OPTION ...]; options of the command line hold for all of them.\n"
    "\n"
    "  --uid USER, --gid GROUP  who asks, name or number (default: yourself)\n"
    "  --from ADDRESS           from which address (default: as it would be)\n"
    "  --in INTERFACE           a container asks, from behind this interface\n"
    "  --nameserver ADDRESS     whom (default: the first of /etc/resolv.conf)\n"
    "  --proto udp|tcp          how (default: udp)\n"
    "  -x, --reverse            NAME is an address: ask for its PTR\n"
    "  --search                 all names that a C library makes of NAME by the\n"
    "                           search list of /etc/resolv.conf, in its order\n"
    "  --configured             by the configured tables, not the daemon's\n"
    "  --all                    print all rules of the policy\n"
    "  --brief                  one line: the decision, its reason, the records\n"
    "  --json                   print JSON, one object for each question\n"
    "\n"
    "Exit codes: 0 explained, 1 error, 2 usage, 3 nfdnsd is not running (use\n"
    "--configured), 4 invalid configuration or tables.\n";

const char ask_usage[] =
    "usage: nfdns [-c FILE] ask [OPTION ...] NAME [TYPE]\n"
    "\n"
    "Sends a question, over UDP and over TCP, and prints what came beside what\n"
    "\"nfdns explain\" says of it.\n"
    "\n"
    "  --uid USER, --gid GROUP  who asks, name or number (default: yourself; only\n"
    "                           root can ask as another)\n"
    "  --nameserver ADDRESS     whom (default: the first of /etc/resolv.conf)\n"
    "  -x, --reverse            NAME is an address: ask for its PTR\n"
    "  --json                   print explain's JSON, with what came\n"
    "\n"
    "Exit codes: 0 an answer came both times, and it is explain's where that has\n"
    "one; 1 not, or error; 2 usage; 3 nfdnsd is not running; 4 invalid\n"
    "configuration or tables.\n"
    "\n"
    "  nfdns ask reviews.shop.svc.cluster.local\n"
    "  nfdns ask --uid www-data www.example.com AAAA\n";

/* Everything that questions are explained by; owned. */
struct ground {
	const struct config *config;
	struct settings *settings;
	struct ruleset rules;
	struct table *table;
	struct rules *policy;		/* of the table; NULL: there are none */
	struct explanation *explanation;
	struct explain_live live;
	struct status_forwarding *forwarding;	/* of "live" */
	struct cache_memory cache;		/* the same */
	char from[256];			/* where the table comes from, in words */
};

/* Takes over fd.  An exit code. */
static int
map_table(struct ground *g, int fd, const char *what)
{
	const char *why = NULL;
	int error = table_open(&g->table, fd, &why);

	(void)close(fd);
	if (error == 0) {
		size_t size;
		const uint8_t *octets = table_policy(g->table, &size);

		error = rules_open(&g->policy, octets, size, &why);
	}
	if (error == 0)
		return EXIT_OK;
	cli_error("%s: %s", what, why);
	return EXIT_INVALID;
}

/* The configuration's tables, compiled now.  An exit code. */
static int
use_configured(struct ground *g)
{
	struct diag diag = DIAG_INIT;
	const int fd = compiler_run(g->config, &diag);

	if (fd < 0)
		diag_print(&diag, "nfdns", stderr);
	diag_free(&diag);
	settings_of(g->settings, g->config);
	return fd < 0 ? EXIT_INVALID : map_table(g, fd, g->config->path);
}

static int
use_running(struct ground *g, struct daemon_answer *answer)
{
	const char *why = settings_read(g->settings, answer->fds[1]);
	const int table = answer->fds[0];

	(void)snprintf(g->from, sizeof(g->from), "the running daemon, "
	    "process %d, table generation %.*s", (int)answer->pid,
	    (int)strcspn(answer->out, "\n"), answer->out);
	if (why == NULL) {
		answer->fds[0] = -1;
		return map_table(g, table, "the table of nfdnsd");
	}
	cli_error("explain: the settings of nfdnsd: %s", why);
	return EXIT_ERROR;
}

/* The running daemon's table and settings, or the configured ones. */
static int
open_table(struct ground *g, bool configured)
{
	struct daemon_answer answer;
	int error = configured ? 0 : daemon_ask(&answer, g->config->run_dir,
	    "running", DAEMON_REACTS_MS);

	if (error < 0)
		return daemon_tell_error(&answer, "explain",
		    g->config->run_dir, error);
	(void)snprintf(g->from, sizeof(g->from), "%s and its tables, as they "
	    "are now%s", g->config->path, configured ? "" :
	    ": only root may open those of the running daemon");
	if (configured)
		return use_configured(g);
	error = answer.code != EXIT_OK ? use_configured(g) :
	    use_running(g, &answer);
	daemon_answer_free(&answer);
	return error;
}

/* The cache, which only root may see. */
static void
open_cache(struct ground *g)
{
	struct daemon_answer answer;

	if (daemon_ask(&answer, g->config->run_dir, "cache",
	    DAEMON_REACTS_MS) < 0)
		return;
	if (answer.fds[0] >= 0 &&
	    cache_memory_copy(&g->cache, answer.fds[0]) == 0)
		g->live.cache = g->cache.cache;
	daemon_answer_free(&answer);
}

/* The rules, and what only a running daemon knows.  0 or a negative errno. */
static int
open_rules(struct ground *g, bool configured, struct diag *diag)
{
	struct daemon_answer answer;
	struct status_page page;
	int error;

	if (configured || daemon_page(&answer, &page, g->config->run_dir) < 0)
		return daemon_rules(&g->rules, g->config, NULL, diag);
	error = daemon_rules(&g->rules, g->config, &page, diag);
	g->forwarding = forward_status_read(page.forwarding);
	g->live = (struct explain_live){ .forwarding = g->forwarding,
		.now = monotime_boot(), .time = (uint64_t)time(NULL) };
	open_cache(g);
	status_close(&page);
	daemon_answer_free(&answer);
	return error;
}

/* An exit code. */
static int
open_ground(struct ground *g, bool configured)
{
	struct diag diag = DIAG_INIT;
	int code = EXIT_ERROR;

	g->settings = calloc(1, sizeof(*g->settings));
	g->explanation = explain_new();
	if (g->settings == NULL || g->explanation == NULL) {
		cli_error("out of memory");
		return EXIT_ERROR;
	}
	if (open_rules(g, configured, &diag) == 0)
		code = open_table(g, configured);
	diag_print(&diag, "nfdns", stderr);
	diag_free(&diag);
	return code;
}

/* Of one explanation.  An exit code. */
static int
print_one(const struct ground *g, const struct explain_words *words,
    const struct explain_came *came)
{
	const struct explain_view view = { g->from, words->all, g->live, came };

	if (words->json)
		return explain_print_json(g->explanation, &view, stdout) == 0 ?
		    EXIT_OK : EXIT_ERROR;
	if (came != NULL)
		return explain_print_beside(g->explanation, came, stdout) ?
		    EXIT_OK : EXIT_ERROR;
	if (words->brief)
		explain_print_brief(g->explanation, stdout);
	else
		explain_print(g->explanation, &view, stdout);
	return EXIT_OK;
}

/* An exit code. */
static int
explain_one(struct ground *g, struct explain_words *words)
{
	const struct explain_source source = { &g->rules, g->settings,
		g->table, g->policy };

	if (!explain_words_complete(words))
		return EXIT_USAGE;
	explain(g->explanation, &source, &words->question);
	return print_one(g, words, NULL);
}

/* Over UDP and TCP.  An exit code. */
static int
ask_one(struct ground *g, struct explain_words *words)
{
	static uint8_t octets[2][ASK_ANSWER];
	const struct explain_source source = { &g->rules, g->settings,
		g->table, g->policy };
	struct explain_question *q = &words->question;
	struct ask asks[2];
	int code = EXIT_OK;

	if (!explain_words_complete(words))
		return EXIT_USAGE;
	if (geteuid() != 0 && q->uid != getuid()) {
		cli_error("ask: only root can ask as another user");
		return EXIT_ERROR;
	}
	explain(g->explanation, &source, q);
	for (size_t i = 0; i < 2; i++) {
		asks[i] = (struct ask){ .server = { .family = q->family,
			.scope_id = words->scope_id }, .port = DNS_PORT,
			.tcp = i == 1, .message = g->explanation->message,
			.message_length = g->explanation->message_length,
			.answer = octets[i], .uid = q->uid, .gid = q->gid };
		memcpy(asks[i].server.address, q->nameserver,
		    sizeof(q->nameserver));
	}
	ask_open(asks, 2);
	ask_all(asks, 2, ASK_WAIT_MS);
	for (size_t i = 0; i < 2; i++) {
		const struct ask *ask = &asks[i];
		struct message message;
		struct explain_came came = { .spent_us = ask->spent_us };

		if (ask->result != ASK_ANSWERED)
			came.why = ask_result_text(ask);
		else if (!message_read(&message, octets[i], ask->answer_length))
			came.why = "the answer does not parse";
		else
			came.message = &message;
		q->stream = ask->tcp;
		explain(g->explanation, &source, q);
		code |= print_one(g, words, &came);
	}
	return code;
}

/*
 * As the C libraries do (resolv.conf(5), ndots 1): a name with a dot as it is, then
 * in each domain of the list; without a dot the other way round; with the last dot
 * only as it is.
 */
static int
explain_search(struct ground *g, struct explain_words *words)
{
	const struct dns_name name = words->question.name;
	const bool dotted = name.octets[0] + 2U < name.length;
	struct resolv_conf conf;
	char text[NAME_TEXT_SIZE];
	int code = EXIT_OK;

	(void)resolv_conf_read(&conf, RESOLV_CONF_PATH);
	if (words->absolute)
		conf.search_count = 0;
	for (size_t i = 0; i <= conf.search_count && code == EXIT_OK; i++) {
		const struct dns_name *domain =
		    i == (dotted ? 0 : conf.search_count) ? NULL :
		    &conf.search[i - dotted];

		words->question.name = name;
		if (domain != NULL && name_join(&words->question.name, &name,
		    domain) != 0)
			continue;
		if (words->brief && !words->json)
			(void)printf("%s ", name_to_text(
			    words->question.name.octets, text));
		code = explain_one(g, words);
		if (!words->brief && !words->json && i < conf.search_count)
			(void)putchar('\n');
	}
	return code;
}

/* The words of a line behind argv[0].  Returns their number with it. */
static int
split(char *line, char *argv[static MAX_WORDS + 1])
{
	static char program[] = "explain";
	int argc = 0;
	char *word;

	argv[argc++] = program;
	while ((word = strsep(&line, " \t\n")) != NULL && argc < MAX_WORDS)
		if (*word != '\0')
			argv[argc++] = word;
	argv[argc] = NULL;
	return argc;
}

/*
 * Each line of the standard input.  A bad one has a message and, with --json,
 * an object, so that lines and objects stay side by side.
 */
static int
explain_many(struct ground *g, const struct explain_words *defaults)
{
	char line[MAX_LINE], *argv[MAX_WORDS + 1];
	const char *between = "";
	int code = EXIT_OK;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		struct explain_words words = *defaults;
		const int argc = split(line, argv);
		int one = EXIT_USAGE;

		if (argc == 1)
			continue;
		if (!words.json && !words.brief)
			fputs(between, stdout);
		between = "\n";
		words.many = false;
		if (explain_words_read(&words, argc, argv) && !words.many)
			one = words.search ? explain_search(g, &words) :
			    explain_one(g, &words);
		if (one == EXIT_USAGE && words.json)
			puts("{\"error\":\"usage\"}");
		(void)fflush(stdout);
		code = code == EXIT_OK ? one : code;
	}
	return code;
}

static int
run(const struct config *config, bool ask, int argc, char **argv)
{
	struct ground g = { .config = config };
	struct explain_words words;
	int code;

	explain_words_defaults(&words);
	words.ask = ask;
	if (!explain_words_read(&words, argc, argv))
		return EXIT_USAGE;
	code = open_ground(&g, words.configured);
	if (code == EXIT_OK)
		code = words.many ? explain_many(&g, &words) :
		    ask ? ask_one(&g, &words) :
		    words.search ? explain_search(&g, &words) :
		    explain_one(&g, &words);
	explain_free(g.explanation);
	free(g.forwarding);
	cache_memory_close(&g.cache);
	rules_close(g.policy);
	table_close(g.table);
	ruleset_free(&g.rules);
	free(g.settings);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		cli_error("cannot write the output: %s", strerror(errno));
		return EXIT_ERROR;
	}
	return code;
}

int
cmd_explain(const struct config *config, int argc, char **argv)
{
	return run(config, false, argc, argv);
}

int
cmd_ask(const struct config *config, int argc, char **argv)
{
	return run(config, true, argc, argv);
}
