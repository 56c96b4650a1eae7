/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/message.h"
#include "nfq/logs/log_entry.h"
#include "nfq/logs/log_filter.h"
#include "nfq/logs/log_lines.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "nfq/process/sandbox.h"
#include "policy/audit/format.h"
#include "policy/decide.h"
#include "resolver/text/suggest.h"

const char log_usage[] =
    "usage: nfdns [-c FILE] log [OPTION]... [FILE]...\n"
    "       nfdns log verify [--key FILE] FILE...\n"
    "\n"
    "Prints the records of packet logs in the format json, a line for each\n"
    "question; without FILE, of the configuration's first one.  FILEs may be\n"
    "compressed (gzip); \"-\" is standard input.\n"
    "\n"
    "  -f, --follow        wait for more, also after the file was rotated\n"
    "  -n, --name NAME     only this name; * stands for any octets\n"
    "  -u, --user USER     only this user's, a name or a number\n"
    "  -r, --rule RULE     only what this rule of the policy decided\n"
    "  -v, --verdict WORD  only answer, nodata, nxdomain, refuse, drop or pass\n"
    "  -s, --since TIME    only later than 10m, 2h, 3d ago, than 13:40, or than\n"
    "                      \"2026-11-22 13:40\", local time\n"
    "  -F, --format WORD   text, or json: the lines as they are\n"
    "\n"
    "verify proves that a log of the audit is complete, or names what is missing.\n"
    "All FILEs are of one entry of \"audit\", in any order; json, pcapng and\n"
    "dnstap can be verified.  Exit code 1: something was changed or cut out,\n"
    "records were lost, or a file is missing.\n"
    "\n"
    "  -k, --key FILE      the key of that entry (audit[].key)\n";

#define LOOK_MS		200	/* how often --follow looks for more */

struct request {
	struct log_filter filter;
	bool follow;
	bool json;
	bool colour;
	char **files;
	size_t file_count;
};

static const struct option options[] = {
	{ "follow", no_argument, NULL, 'f' },
	{ "name", required_argument, NULL, 'n' },
	{ "user", required_argument, NULL, 'u' },
	{ "rule", required_argument, NULL, 'r' },
	{ "verdict", required_argument, NULL, 'v' },
	{ "since", required_argument, NULL, 's' },
	{ "format", required_argument, NULL, 'F' },
	{ NULL, 0, NULL, 0 },
};
const struct command_options log_options = { "fn:u:r:v:s:F:", options };

static bool
read_user(struct log_filter *filter, const char *text)
{
	const struct passwd *user = getpwnam(text);
	unsigned long number;
	char *end;

	filter->has_user = true;
	if (user != NULL) {
		filter->user = user->pw_uid;
		return true;
	}
	errno = 0;
	number = strtoul(text, &end, 10);
	filter->user = (uid_t)number;
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' &&
	    errno == 0 && number < UINT32_MAX;
}

static bool
is_verdict(const char *text)
{
	for (int v = 0; v < VERDICTS; v++)
		if (strcmp(text, decide_verdict_text((enum verdict)v)) == 0)
			return true;
	return false;
}

/* One option; NULL, or what is wrong with its value. */
static const char *
take_option(struct request *r, int option, const char *value)
{
	switch (option) {
	case 'f':
		r->follow = true;
		return NULL;
	case 'n':
		r->filter.name = value;
		return NULL;
	case 'u':
		return read_user(&r->filter, value) ? NULL :
		    "there is no such user";
	case 'r':
		r->filter.rule = value;
		return NULL;
	case 'v':
		r->filter.verdict = value;
		return is_verdict(value) ? NULL : "no verdict: give one such "
		    "as answer, nodata, nxdomain, refuse, drop or pass";
	case 's':
		return log_filter_since(&r->filter.since_ns, value,
		    (int64_t)time(NULL)) ? NULL : "no time: give one such as "
		    "10m, 2h, 13:40 or \"2026-11-22 13:40\"";
	case 'F':
		r->json = strcmp(value, "json") == 0;
		return r->json || strcmp(value, "text") == 0 ? NULL :
		    "neither text nor json";
	default:
		return "makes no sense here";
	}
}

static bool
read_options(struct request *r, int argc, char **argv)
{
	const char *why = NULL;
	int option;

	optind = 0;
	opterr = 0;
	while (why == NULL && (option = getopt_long(argc, argv,
	    log_options.letters, options, NULL)) != -1) {
		why = take_option(r, option, optarg);
		if (why != NULL)
			suggest_usage(stderr, "nfdns log", "\"%s\": %s",
			    option == '?' || optarg == NULL ? argv[optind - 1] :
			    optarg, why);
	}
	r->files = argv + optind;
	r->file_count = (size_t)(argc - optind);
	r->colour = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL;
	return why == NULL;
}

static void
show_line(const struct request *r, struct json_tree *tree, const char *text,
    size_t length)
{
	static struct log_entry entry;
	char line[AUDIT_TEXT_MAX];
	size_t size;

	if (!log_entry_read(&entry, tree, text, length) ||
	    !log_filter_takes(&r->filter, &entry.line))
		return;
	if (r->json)
		(void)fwrite(text, 1, length, stdout);
	else {
		size = log_entry_text(&entry, r->colour, line);
		(void)fwrite(line, 1, size, stdout);
	}
	(void)putchar('\n');
}

/* All lines that are there; with --follow, those that come. */
static int
show_lines(const struct request *r, struct log_lines *lines, const char *path,
    bool follow)
{
	struct json_tree tree = JSON_TREE_INIT;
	enum log_next next = LOG_WAIT;
	const char *text;
	size_t length;

	while (!ferror(stdout)) {
		next = log_lines_next(lines, &text, &length);
		if (next == LOG_LINE)
			show_line(r, &tree, text, length);
		else if (next == LOG_LINE_LONG)
			continue;
		else if (next == LOG_BROKEN || !follow)
			break;
		else if (fflush(stdout) == 0 && !log_lines_follow(lines))
			(void)poll(NULL, 0, LOOK_MS);
	}
	if (next == LOG_BROKEN)
		cli_error("%s: the compressed file is damaged", path);
	json_tree_free(&tree);
	return next == LOG_BROKEN ? EXIT_ERROR : EXIT_OK;
}

/*
 * Opens all files.  What they hold may be anybody's, so every right is given up
 * before the first octet is read; not with "follow", which opens the file that
 * comes after a rotation.
 */
static int
open_all(struct log_lines **lines, char **paths, size_t count, bool follow)
{
	int error;

	for (size_t i = 0; i < count; i++) {
		lines[i] = log_lines_open(paths[i]);
		if (lines[i] == NULL) {
			cli_error("%s: cannot be read: %s", paths[i],
			    strerror(errno));
			return EXIT_ERROR;
		}
	}
	tzset();	/* it opens the zone's file */
	error = follow ? 0 : sandbox_reader();
	if (error == 0)
		return EXIT_OK;
	cli_error("log: cannot give up privileges: %s", strerror(-error));
	return EXIT_ERROR;
}

static int
show_files(const struct request *r, char **paths, size_t count)
{
	struct log_lines **lines = calloc(count, sizeof(struct log_lines *));
	int code = EXIT_ERROR;

	if (lines == NULL)
		cli_error("out of memory");
	else
		code = open_all(lines, paths, count, r->follow);
	for (size_t i = 0; i < count && code == EXIT_OK; i++)
		code = show_lines(r, lines[i], paths[i],
		    r->follow && i + 1 == count);
	for (size_t i = 0; i < count && lines != NULL; i++)
		log_lines_close(lines[i]);
	free(lines);
	return code;
}

/* The first file of the configuration that has lines of JSON. */
static char *
configured(const char *path)
{
	struct diag diag = DIAG_INIT;
	struct config *config = NULL;
	char *found = NULL;

	if (config_load(&config, path, &diag) != 0)
		config = NULL;
	diag_print(&diag, "nfdns", stderr);
	diag_free(&diag);
	for (size_t i = 0; config != NULL && i < config->audit_count; i++)
		if (config->audits[i].sink.format == AUDIT_JSON &&
		    config->audits[i].path != NULL && found == NULL)
			found = strdup(config->audits[i].path);
	if (config != NULL && found == NULL)
		cli_error("log: %s has no entry of \"audit\" with the format "
		    "\"json\"; name a file", path);
	config_free(config);
	return found;
}

int
cmd_log(const struct config *peeked, int argc, char **argv)
{
	struct request r = { .follow = false };
	char *path;
	int code;

	if (!read_options(&r, argc, argv))
		return EXIT_USAGE;
	if (r.file_count == 0) {
		path = configured(peeked->path);
		code = path != NULL ? show_files(&r, &path, 1) : EXIT_ERROR;
		free(path);
	} else
		code = show_files(&r, r.files, r.file_count);
	if (code == EXIT_OK && (fflush(stdout) != 0 || ferror(stdout))) {
		cli_error("log: cannot write: %s", strerror(errno));
		code = EXIT_ERROR;
	}
	return code;
}
