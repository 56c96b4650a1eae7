/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/logs/log_text.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "policy/audit/audit.h"
#include "policy/decide.h"
#include "resolver/text/number.h"
#include "resolver/text/printable.h"

const char log_usage[] =
    "usage: nfdns [-c FILE] log [OPTION]... [FILE]...\n"
    "       nfdns [-c FILE] log verify FILE...\n"
    "\n"
    "Prints the records of packet logs in the format json, a line for each question;\n"
    "without FILE, of the configuration's first one that is a file.  \"-\" is standard\n"
    "input, for zcat; tshark and dnstap-read read the other formats.\n"
    "\n"
    "  -f, --follow        wait for more, also after the file was renamed\n"
    "  -n, --name NAME     only this name; * stands for any octets\n"
    "  -u, --user USER     only this user's, a name or a number\n"
    "  -r, --rule RULE     only what this rule of the policy decided\n"
    "  -v, --verdict WORD  only answer, nodata, nxdomain, refuse, drop or pass;\n"
    "                      forward: what was asked elsewhere, whatever came of it\n"
    "  -s, --since TIME    only later than 10m, 2h, 3d ago, than 13:40, or than\n"
    "                      \"2026-11-22 13:40\", local time\n"
    "  -F, --format WORD   text, or json: the lines as they are\n"
    "\n"
    "verify says what is missing in a log, whose FILEs are all of one entry of\n"
    "\"audit\", in any order.  Exit code 1: something is.\n"
    "\n"
    "  nfdns log -f\n"
    "  nfdns log --user www-data --verdict nxdomain --since 1h\n"
    "  zcat /var/log/nfdns/all.json.2.gz | nfdns log -n '*.shop.*' -\n";

/* Borrows its texts from argv. */
struct log_request {
	struct log_filter filter;
	bool follow;
	bool json;
	bool colour;
	char **files;
	size_t file_count;
};

static const char *
read_user(void *to, const char *value)
{
	struct log_request *r = to;
	const struct passwd *user = getpwnam(value);
	uint64_t number;

	if (user != NULL)
		number = user->pw_uid;
	else if (!number_from_text(value, UINT32_MAX - 1, &number))
		return "there is no such user";
	r->filter.has_user = true;
	r->filter.user = (uid_t)number;
	return NULL;
}

static bool
is_verdict(const char *text)
{
	for (int v = 0; v < VERDICTS; v++)
		if (strcmp(text, decide_verdict_text((enum verdict)v)) == 0)
			return true;
	return false;
}

static const char *
read_verdict(void *to, const char *value)
{
	struct log_request *r = to;

	r->filter.verdict = value;
	return is_verdict(value) ? NULL : "not a verdict: answer, "
	    "nodata, nxdomain, refuse, drop, pass or forward";
}

static const char *
read_since(void *to, const char *value)
{
	struct log_request *r = to;

	return log_filter_since(&r->filter.since_ns, value,
	    (int64_t)time(NULL)) ? NULL : "not a time: give one such as 10m, 2h, "
	    "13:40 or \"2026-11-22 13:40\"";
}

static const char *
read_format(void *to, const char *value)
{
	struct log_request *r = to;

	r->json = strcmp(value, "json") == 0;
	return r->json || strcmp(value, "text") == 0 ? NULL :
	    "neither text nor json";
}

const struct command_option log_options[] = {
	OPTION_TEXT("name", 'n', struct log_request, filter.name),
	OPTION_READ("user", 'u', read_user),
	OPTION_TEXT("rule", 'r', struct log_request, filter.rule),
	OPTION_READ("verdict", 'v', read_verdict),
	OPTION_READ("since", 's', read_since),
	OPTION_FLAG("follow", 'f', struct log_request, follow),
	OPTION_READ("format", 'F', read_format),
	{ .name = NULL },
};

/* The configuration's first log to read, the caller's; NULL after a message. */
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
	for (size_t i = 0; config != NULL && i < config->audit_count; i++) {
		const struct config_audit *audit = &config->audits[i];

		if (found == NULL && config_audit_is_file(audit) &&
		    audit->sink.format == AUDIT_JSON)
			found = strdup(audit->path);
	}
	if (config != NULL && found == NULL)
		cli_error("no packet log of the format json is written: add "
		    "audit = ( { path = \"/var/log/nfdns/all.json\"; } ); to "
		    "%s, and run nfdns reload; or name a file", path);
	config_free(config);
	return found;
}

/* Whether it is a record, or another event of ours. */
static bool
show_line(const struct log_request *r, struct json_tree *tree,
    const char *text, size_t length)
{
	struct log_entry entry;

	if (!log_entry_read(&entry, tree, text, length))
		return length > 0 && text[0] == '{';
	if (!log_filter_takes(&r->filter, &entry))
		return true;
	if (r->json) {
		printable_put_json(text, length, stdout);
		(void)putchar('\n');
	} else {
		log_entry_print(&entry, r->colour, stdout);
	}
	return true;
}

/* All records that are there; with "follow", those that come. */
static int
show_file(const struct log_request *r, const char *path, bool follow)
{
	static struct log_lines lines;
	struct json_tree tree = JSON_TREE_INIT;
	int error = log_lines_open(&lines, path);
	ssize_t length = 0;
	bool good = true;
	const char *line;

	while (error == 0 && good && !ferror(stdout)) {
		length = log_lines_next(&lines, &line);
		if (length >= 0)
			/* A log of another format has no line of ours. */
			good = show_line(r, &tree, line, (size_t)length) ||
			    lines.number > 1;
		else if (length != -EAGAIN || !follow || fflush(stdout) != 0 ||
		    !log_lines_wait(&lines, path, STDOUT_FILENO))
			break;
	}
	if (error == 0)
		log_lines_close(&lines);
	json_tree_free(&tree);
	if (error == 0 && length < 0 && length != -EAGAIN)
		error = (int)length;
	if (error < 0)
		cli_error("%s: cannot be read: %s", path, error == -EINVAL ?
		    "it is not a regular file" : strerror(-error));
	else if (!good)
		cli_error("%s: no log in the format json: read pcapng with "
		    "tshark -r, dnstap with dnstap-read, a compressed file with "
		    "zcat FILE | nfdns log -", path);
	return error < 0 || !good ? EXIT_ERROR : EXIT_OK;
}

int
cmd_log(const struct config *peeked, int argc, char **argv)
{
	struct log_request r = { .colour = cli_has_colour(STDOUT_FILENO) };
	const int first = command_options_read(log_options, "nfdns log", &r,
	    argc, argv);
	char *path = NULL;
	int code = EXIT_OK;

	if (first < 0)
		return EXIT_USAGE;
	r.files = argv + first;
	r.file_count = (size_t)(argc - first);
	if (r.file_count == 0) {
		path = configured(peeked->path);
		if (path == NULL)
			return EXIT_ERROR;
		code = show_file(&r, path, r.follow);
	}
	for (size_t i = 0; i < r.file_count && code == EXIT_OK; i++)
		code = show_file(&r, r.files[i], r.follow &&
		    i + 1 == r.file_count);
	free(path);
	if (code == EXIT_OK && (fflush(stdout) != 0 || ferror(stdout)) &&
	    errno != EPIPE) {
		cli_error("log: cannot write: %s", strerror(errno));
		code = EXIT_ERROR;
	}
	return code;
}
