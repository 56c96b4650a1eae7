/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/log_request.h"
#include "nfq/cli/message.h"
#include "nfq/cli/logs/log_entry.h"
#include "nfq/cli/logs/log_follow.h"
#include "nfq/cli/logs/log_line.h"
#include "nfq/process/exit_code.h"
#include "resolver/text/printable.h"

const char log_usage[] =
    "usage: nfdns [-c FILE] log [OPTION]... [FILE]...\n"
    "       nfdns [-c FILE] log pcap [OPTION]... FILE\n"
    "       nfdns [-c FILE] log verify [--json] [--key FILE] FILE...\n"
    "\n"
    "Prints the records of packet logs, a line for each question; without FILE, of\n"
    "the configuration's first one that is a file.  FILEs are in the format json,\n"
    "pcapng or dnstap, and may be compressed (gzip, zstd); \"-\" is standard input.\n"
    "\n"
    "  -f, --follow        wait for more, also after the file was rotated\n"
    "  -n, --name NAME     only this name; * stands for any octets\n"
    "  -u, --user USER     only this user's, a name or a number\n"
    "  -r, --rule RULE     only what this rule of the policy decided\n"
    "  -v, --verdict WORD  only answer, nodata, nxdomain, refuse, drop or pass;\n"
    "                      forward: what was asked elsewhere, whatever came of it\n"
    "  -s, --since TIME    only later than 10m, 2h, 3d ago, than 13:40, or than\n"
    "                      \"2026-11-22 13:40\", local time\n"
    "  -F, --format WORD   text, or json: the lines as they are, and records of\n"
    "                      other formats as such lines\n"
    "\n"
    "pcap writes what comes from now on as pcapng to FILE (\"-\": standard output,\n"
    "as for \"wireshark -k -i -\") until it is interrupted.  It follows the\n"
    "configuration's first log in the format pcapng, and takes the options above\n"
    "but --follow and --format.\n"
    "\n"
    "verify proves that a log of the audit is complete, or names what is missing.\n"
    "All FILEs are of one entry of \"audit\", in any order; json, pcapng and\n"
    "dnstap can be verified.  Exit code 1: something was changed or cut out,\n"
    "records were lost, or a file is missing.\n"
    "\n"
    "  -j, --json          one object\n"
    "  -k, --key FILE      the key of that entry (audit[].key)\n";

static void
show_line(const struct log_request *r, struct json_tree *tree,
    const struct log_line *found)
{
	static struct log_entry entry;
	char line[AUDIT_TEXT_MAX];
	size_t size;

	if (!log_entry_read(&entry, tree, found->text, found->length) ||
	    !log_filter_takes(&r->filter, &entry.line))
		return;
	if (r->json)
		printable_put_json(found->text, found->length, stdout);
	else {
		size = log_entry_text(&entry, r->colour, line);
		(void)fwrite(line, 1, size, stdout);
	}
	(void)putchar('\n');
}

/* All records that are there; with "follow", those that come. */
static enum log_next
show_records(const struct log_request *r, struct log_follow *log, bool follow)
{
	static struct log_line line;
	struct json_tree tree = JSON_TREE_INIT;
	enum log_next next = LOG_PIECE;
	struct audit_reading reading;

	while (!ferror(stdout)) {
		next = log_pieces_next(&log->pieces, &reading);
		if (next == LOG_PIECE) {
			if (log_line_of(&line, &log->pieces, &reading))
				show_line(r, &tree, &line);
		} else if (next != LOG_END || !follow || fflush(stdout) != 0 ||
		    !log_follow_wait(log, STDOUT_FILENO))
			break;
	}
	json_tree_free(&tree);
	return next;
}

static int
show_file(const struct log_request *r, struct log_follow *log, const char *path,
    bool follow)
{
	switch (show_records(r, log, follow)) {
	case LOG_NONE:
		cli_error("%s: no log in json, pcapng or dnstap", path);
		return EXIT_ERROR;
	case LOG_DAMAGED:
		cli_error("%s: cannot be read, or the compressed file is "
		    "damaged", path);
		return EXIT_ERROR;
	default:
		if (!log_octets_is_cut(log->source))
			return EXIT_OK;
		cli_error("%s: the end of the compressed file is missing",
		    path);
		return EXIT_ERROR;
	}
}

/*
 * Opens all files.  What they hold may be anybody's, so every right is given up
 * before the first octet is read; another process opens the file that comes
 * after a rotation.
 */
static int
open_all(struct log_follow *logs, const struct log_request *r)
{
	for (size_t i = 0; i < r->file_count; i++) {
		const int error = log_follow_open(&logs[i], r->files[i],
		    r->follow && i + 1 == r->file_count);

		if (error == 0)
			continue;
		cli_error("%s: cannot be read: %s", r->files[i],
		    error == -EINVAL ? "it is no regular file" :
		    strerror(-error));
		return EXIT_ERROR;
	}
	tzset();	/* it opens the zone's file */
	return log_give_up_rights("log");
}

static int
show_files(const struct log_request *r)
{
	struct log_follow *logs = calloc(r->file_count, sizeof(*logs));
	uint8_t *octets = malloc(LOG_PIECES_OCTETS);
	int code = EXIT_ERROR;

	for (size_t i = 0; logs != NULL && i < r->file_count; i++)
		logs[i] = (struct log_follow)LOG_FOLLOW_INIT;
	if (logs == NULL || octets == NULL)
		cli_error("out of memory");
	else
		code = open_all(logs, r);
	for (size_t i = 0; i < r->file_count && code == EXIT_OK; i++) {
		log_follow_begin(&logs[i], octets);
		code = show_file(r, &logs[i], r->files[i],
		    r->follow && i + 1 == r->file_count);
	}
	for (size_t i = 0; logs != NULL && i < r->file_count; i++)
		log_follow_close(&logs[i]);
	free(octets);
	free(logs);
	return code;
}

int
cmd_log(const struct config *peeked, int argc, char **argv)
{
	struct log_request r = { .follow = false };
	char *path = NULL;
	int code;

	if (!log_request_read(&r, log_options, "nfdns log", argc, argv))
		return EXIT_USAGE;
	if (r.file_count == 0) {
		path = log_configured(peeked->path, AUDIT_FORMATS, "has no "
		    "entry of \"audit\" with a \"path\"; name a file");
		if (path == NULL)
			return EXIT_ERROR;
		r.files = &path;
		r.file_count = 1;
	}
	code = show_files(&r);
	free(path);
	if (code == EXIT_OK && (fflush(stdout) != 0 || ferror(stdout)) &&
	    errno != EPIPE) {
		cli_error("log: cannot write: %s", strerror(errno));
		code = EXIT_ERROR;
	}
	return code;
}
