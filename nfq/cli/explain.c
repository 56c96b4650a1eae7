/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/cli/explain/explain.h"
#include "nfq/cli/explain/json.h"
#include "nfq/cli/explain/print.h"
#include "nfq/cli/message.h"
#include "nfq/process/compiler.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "nfq/sockets/address.h"
#include "policy/config/resolv_conf.h"
#include "policy/config/settings.h"
#include "resolver/dns/message.h"
#include "resolver/dns/reverse.h"
#include "resolver/dns/rr.h"
#include "resolver/idn.h"
#include "resolver/text/host.h"
#include "resolver/text/number.h"
#include "resolver/text/suggest.h"

/* What a command line, or a line of the standard input, asks for. */
struct explain_words {
	struct explain_question question;
	bool has_client, has_nameserver, has_gid;
	bool json, brief, all, configured, reverse;
	bool many;			/* NAME is "-" */
};

#define MAX_LINE	2048
#define MAX_WORDS	32

const char explain_usage[] =
    "usage: nfdns [-c FILE] explain [OPTION ...] NAME [TYPE]\n"
    "       nfdns [-c FILE] explain [OPTION ...] -\n"
    "\n"
    "Shows what happens to a question, step by step: the rule of the kernel that\n"
    "queues it, the policy rules, the table entry with its file and line, the\n"
    "decision, and the answer as dig prints it.  No packet is sent.  The daemon's\n"
    "own code decides, by the running daemon's table and settings; for a user who\n"
    "may not open those, by the configured tables as they are now.  The rules of\n"
    "the kernel are those of the configuration.\n"
    "\n"
    "With \"-\", reads questions from the standard input, one a line: NAME [TYPE]\n"
    "[OPTION ...]; options of the command line hold for all of them.\n"
    "\n"
    "  --uid USER, --gid GROUP  who asks, name or number (default: yourself)\n"
    "  --from ADDRESS           from which address (default: as it would be)\n"
    "  --nameserver ADDRESS     whom (default: the first of /etc/resolv.conf)\n"
    "  --proto udp|tcp          how (default: udp)\n"
    "  -x, --reverse            NAME is an address: ask for its PTR\n"
    "  --configured             by the configured tables, not the daemon's\n"
    "  --all                    print all rules of the policy\n"
    "  --brief                  one line: the decision, its reason, the records\n"
    "  --json                   print JSON, one object for each question\n"
    "\n"
    "Exit codes: 0 explained, 1 error, 2 usage, 3 nfdnsd is not running (use\n"
    "--configured), 4 invalid configuration or tables.\n";

/* Everything that questions are explained by; owned. */
struct ground {
	const struct config *config;
	struct settings *settings;
	struct ruleset rules;
	struct table *table;
	struct rules *policy;		/* of the table; NULL: there are none */
	struct explanation *explanation;
	char from[256];			/* where the table comes from, in words */
};

#define PROGRAM		"nfdns explain"

/* The caller's own user, now, over UDP, with EDNS. */
static void
explain_words_defaults(struct explain_words *words)
{
	*words = (struct explain_words){
		.question = { .type = TYPE_A, .family = AF_UNSPEC, .uid = getuid(), .gid = getgid() },
	};
}

static const char *
read_user(void *to, const char *value)
{
	struct explain_words *words = to;
	struct explain_question *q = &words->question;
	const struct passwd *user;
	uint64_t number;

	if (number_from_text(value, UINT32_MAX - 1, &number)) {
		q->uid = (uid_t)number;
		user = getpwuid(q->uid);
	} else {
		user = getpwnam(value);
		if (user == NULL)
			return "there is no such user";
		q->uid = user->pw_uid;
	}
	if (!words->has_gid)
		q->gid = user != NULL ? user->pw_gid : (gid_t)-1;
	return NULL;
}

static const char *
read_group(void *to, const char *value)
{
	struct explain_words *words = to;
	const struct group *group;
	uint64_t number;

	words->has_gid = true;
	if (number_from_text(value, UINT32_MAX - 1, &number)) {
		words->question.gid = (gid_t)number;
		return NULL;
	}
	group = getgrnam(value);
	if (group == NULL)
		return "there is no such group";
	words->question.gid = group->gr_gid;
	return NULL;
}

/* Both addresses are of one version of IP, which the first one sets. */
static const char *
read_address(struct explain_words *words, const char *text,
    uint8_t address[static 16], bool *given)
{
	struct explain_question *q = &words->question;
	const bool other = address == q->client ? words->has_nameserver :
	    words->has_client;
	const int family = host_address(text, address);

	if (family == AF_UNSPEC)
		return "no address";
	if (other && family != q->family)
		return "client and nameserver are of different versions of IP";
	q->family = family;
	*given = true;
	return NULL;
}

static const char *
read_nameserver(void *to, const char *value)
{
	struct explain_words *words = to;

	return read_address(words, value, words->question.nameserver,
	    &words->has_nameserver);
}

static const char *
read_client(void *to, const char *value)
{
	struct explain_words *words = to;

	return read_address(words, value, words->question.client,
	    &words->has_client);
}

static const char *
read_protocol(void *to, const char *value)
{
	struct explain_words *words = to;

	words->question.stream = strcmp(value, "tcp") == 0;
	return words->question.stream || strcmp(value, "udp") == 0 ? NULL :
	    "no protocol: write udp or tcp";
}

const struct command_option explain_options[] = {
	OPTION_READ("uid", 'u', read_user),
	OPTION_READ("gid", 'g', read_group),
	OPTION_READ("nameserver", 'n', read_nameserver),
	OPTION_READ("from", 'f', read_client),
	OPTION_READ("proto", 'p', read_protocol),
	OPTION_FLAG("reverse", 'x', struct explain_words, reverse),
	OPTION_FLAG("configured", 'C', struct explain_words, configured),
	OPTION_FLAG("brief", 'b', struct explain_words, brief),
	OPTION_FLAG("all", 'a', struct explain_words, all),
	OPTION_FLAG("json", 'j', struct explain_words, json),
	{ .name = NULL },
};

/* As dig -x: the name under in-addr.arpa or ip6.arpa, and PTR. */
static bool
take_address(struct explain_question *q, const char *text)
{
	uint8_t address[16];
	const int family = host_address(text, address);

	if (family == AF_UNSPEC) {
		suggest_usage(stderr, PROGRAM, "\"%s\" is not a valid address",
		    text);
		return false;
	}
	reverse_name(&q->name, address, family == AF_INET ? 4 : 16);
	q->type = TYPE_PTR;
	return true;
}

/* NAME [TYPE], or "-". */
static bool
take_words(struct explain_words *words, int count, char **word)
{
	struct explain_question *q = &words->question;

	words->many = count == 1 && strcmp(word[0], "-") == 0;
	if (words->many)
		return true;
	if (count < 1 || count > 2) {
		suggest_usage(stderr, PROGRAM, count < 1 ? "a name is missing" :
		    "too many arguments");
		return false;
	}
	if (words->reverse) {
		if (!take_address(q, word[0]))
			return false;
	} else if (idn_name_from_text(&q->name, word[0],
	    strlen(word[0])) != 0) {
		suggest_usage(stderr, PROGRAM, "\"%s\" is not a valid domain name", word[0]);
		return false;
	}
	if (count > 1 && rr_type_from_text(&q->type, word[1]) != 0) {
		suggest_usage(stderr, PROGRAM, "\"%s\" is not a valid type: give one such as "
		    "A, AAAA or TYPE65", word[1]);
		return false;
	}
	return true;
}

/*
 * Reads options and words; argv[0] is skipped.  What is not given stays as it
 * is.  False after a message.
 */
static bool
explain_words_read(struct explain_words *words, int argc, char **argv)
{
	int first;

	words->has_gid = false;
	first = command_options_read(explain_options, PROGRAM, words, argc,
	    argv);
	return first >= 0 && take_words(words, argc - first, argv + first);
}

static void
choose_nameserver(struct explain_words *words)
{
	struct explain_question *q = &words->question;
	struct resolv_conf conf;

	(void)resolv_conf_read(&conf, RESOLV_CONF_PATH);
	for (size_t i = 0; i < conf.server_count; i++) {
		const struct resolv_server *server = &conf.servers[i];

		if (q->family != AF_UNSPEC && q->family != server->family)
			continue;
		q->family = server->family;
		memcpy(q->nameserver, server->address, sizeof(q->nameserver));
		return;
	}
	if (q->family == AF_UNSPEC)
		q->family = AF_INET;
	/* What the C libraries ask without a resolv.conf. */
	(void)inet_pton(q->family, q->family == AF_INET ? "127.0.0.1" : "::1",
	    q->nameserver);
}

/* Connecting a UDP socket sends nothing: it only asks the routing table. */
static bool
choose_client(struct explain_question *q)
{
	union sockets_address address;
	socklen_t length = sockets_address_make(&address, q->family,
	    q->nameserver, DNS_PORT, 0);
	uint16_t port;
	int fd = socket(q->family, SOCK_DGRAM | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return false;
	error = connect(fd, &address.any, length);
	if (error == 0)
		error = getsockname(fd, &address.any, &length);
	(void)close(fd);
	if (error != 0)
		return false;
	(void)sockets_address_split(&address, q->client, &port);
	return true;
}

/* As the rules know it (fib saddr type): only a local address can be bound. */
static bool
is_foreign(const struct explain_question *q)
{
	union sockets_address address;
	const socklen_t length = sockets_address_make(&address, q->family,
	    q->client, 0, 0);
	int fd = socket(q->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const bool foreign = fd >= 0 && bind(fd, &address.any, length) < 0 &&
	    errno == EADDRNOTAVAIL;

	if (fd >= 0)
		(void)close(fd);
	return foreign;
}

/*
 * Chooses addresses that were not given: the first nameserver of resolv.conf(5),
 * and the address of this machine that is used towards it.  False after a
 * message: the two are of different versions of IP.
 */
static bool
explain_words_complete(struct explain_words *words)
{
	struct explain_question *q = &words->question;

	if (!words->has_nameserver)
		choose_nameserver(words);
	if (!words->has_client && !choose_client(q)) {
		suggest_usage(stderr, PROGRAM, "this machine has no route to the "
		    "nameserver; give --from ADDRESS");
		return false;
	}
	/* Configured tables may be another machine's. */
	q->foreign = words->has_client && !words->configured && is_foreign(q);
	return true;
}

static void
close_ground(struct ground *g)
{
	explain_free(g->explanation);
	rules_close(g->policy);
	table_close(g->table);
	ruleset_free(&g->rules);
	free(g->settings);
}

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
	if (ruleset_build(&g->rules, g->config, RULES_FULL, &diag) == 0)
		code = open_table(g, configured);
	diag_print(&diag, "nfdns", stderr);
	diag_free(&diag);
	return code;
}

/* An exit code. */
static int
explain_one(struct ground *g, struct explain_words *words)
{
	const struct explain_source source = { &g->rules, g->settings,
		g->table, g->policy };
	const struct explain_view view = { g->from, words->all };

	if (!explain_words_complete(words))
		return EXIT_USAGE;
	explain(g->explanation, &source, &words->question);
	if (words->brief)
		explain_print_brief(g->explanation, stdout);
	else if (!words->json)
		explain_print(g->explanation, &view, stdout);
	else if (explain_print_json(g->explanation, &view, stdout) != 0)
		goto fail;
	return EXIT_OK;
fail:
	cli_error("explain: out of memory");
	return EXIT_ERROR;
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
			one = explain_one(g, &words);
		if (one == EXIT_USAGE && words.json)
			puts("{\"error\":\"usage\"}");
		(void)fflush(stdout);
		code = code == EXIT_OK ? one : code;
	}
	return code;
}

int
cmd_explain(const struct config *config, int argc, char **argv)
{
	struct ground g = { .config = config };
	struct explain_words words;
	int code;

	explain_words_defaults(&words);
	if (!explain_words_read(&words, argc, argv))
		return EXIT_USAGE;
	code = open_ground(&g, words.configured);
	if (code == EXIT_OK)
		code = words.many ? explain_many(&g, &words) :
		    explain_one(&g, &words);
	close_ground(&g);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		cli_error("cannot write the output: %s", strerror(errno));
		return EXIT_ERROR;
	}
	return code;
}
