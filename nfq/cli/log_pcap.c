/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "nfdns log pcap": what the daemon writes to its log in the format pcapng from
 * now on, as one section, each record as it comes.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/log_request.h"
#include "nfq/cli/message.h"
#include "nfq/cli/logs/log_entry.h"
#include "nfq/cli/logs/log_follow.h"
#include "nfq/cli/logs/log_line.h"
#include "nfq/process/exit_code.h"
#include "policy/audit/format.h"
#include "policy/audit/pcapng.h"
#include "resolver/fds.h"

static volatile sig_atomic_t interrupted;

static void
interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* The record that is being written is written whole. */
static void
take_signals(void)
{
	struct sigaction action = { .sa_handler = interrupt };

	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	action.sa_handler = SIG_IGN;
	(void)sigaction(SIGPIPE, &action, NULL);
}

static int
write_octets(int out, const void *octets, size_t length)
{
	struct iovec part = { .iov_base = (void *)(uintptr_t)octets,
		.iov_len = length };

	return fds_write_all(out, &part, 1);
}

/* Whether it goes into the capture. */
static bool
is_wanted(const struct log_request *r, struct log_follow *log,
    const struct audit_reading *reading)
{
	static struct json_tree tree = JSON_TREE_INIT;
	static struct log_line line;
	static struct log_entry entry;

	if (reading->kind == AUDIT_PIECE_LOST)
		return true;
	return reading->kind == AUDIT_PIECE_RECORD &&
	    log_line_of(&line, &log->pieces, reading) &&
	    log_entry_read(&entry, &tree, line.text, line.length) &&
	    log_filter_takes(&r->filter, &entry.line);
}

/* Copies until it is interrupted, or nobody reads any more: 0 or -EPIPE. */
static int
copy(const struct log_request *r, struct log_follow *log, int out)
{
	struct audit_reading reading;
	char head[PCAPNG_HEAD_MAX];
	int error = write_octets(out, head, pcapng_put_head(head));

	while (error == 0 && !interrupted) {
		const struct log_pieces *pieces = &log->pieces;

		switch (log_pieces_next(&log->pieces, &reading)) {
		case LOG_PIECE:
			if (is_wanted(r, log, &reading))
				error = write_octets(out, pieces->octets +
				    pieces->begin, reading.length);
			break;
		case LOG_END:
			if (!log_follow_wait(log, out))
				error = -EPIPE;
			break;
		case LOG_NONE:
			return -EILSEQ;
		default:
			return -EIO;
		}
	}
	return error;
}

/* Begins behind the last whole block that is there. */
static int
begin(const struct log_request *r, struct log_follow *log, uint8_t *octets)
{
	off_t whole = 0;

	log_follow_begin(log, octets);
	if (r->filter.since_ns > 0)
		return 0;		/* from the beginning */
	whole = log_octets_whole(log->source, audit_pcapng_format.whole);
	if (whole <= 0)
		return (int)whole;
	return log_pieces_begin_at(&log->pieces, log->source, octets,
	    AUDIT_PCAPNG, (uint64_t)whole);
}

static int
run(const struct log_request *r, struct log_follow *log, int out,
    const char *path)
{
	uint8_t *octets = malloc(LOG_PIECES_OCTETS);
	int error;

	if (octets == NULL) {
		cli_error("out of memory");
		return EXIT_ERROR;
	}
	if (log_give_up_rights("log pcap") != EXIT_OK) {
		free(octets);
		return EXIT_ERROR;
	}
	error = begin(r, log, octets);
	if (error == 0)
		error = copy(r, log, out);
	free(octets);
	if (error == 0 || error == -EPIPE)
		return EXIT_OK;
	if (error == -EILSEQ)
		cli_error("%s: no whole log in pcapng", path);
	else
		cli_error("log pcap: cannot copy %s: %s", path,
		    strerror(-error));
	return EXIT_ERROR;
}

static int
open_out(const char *path)
{
	int fd = strcmp(path, "-") == 0 ? dup(STDOUT_FILENO) : open(path,
	    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0640);

	if (fd < 0)
		cli_error("%s: cannot be opened: %s", path, strerror(errno));
	return fd;
}

static int
open_and_run(const struct log_request *r, const char *path)
{
	struct log_follow log = LOG_FOLLOW_INIT;
	int out, error, code = EXIT_ERROR;

	/* A FIFO's reader may come late, but must not miss a record. */
	out = open_out(r->files[0]);
	if (out < 0)
		return EXIT_ERROR;
	error = log_follow_open(&log, path, true);
	if (error < 0)
		cli_error("%s: cannot be read: %s", path, strerror(-error));
	else
		code = run(r, &log, out, path);
	log_follow_close(&log);
	(void)close(out);
	return code;
}

int
cmd_log_pcap(const struct config *peeked, int argc, char **argv)
{
	struct log_request r = { .follow = false };
	char *path;
	int code;

	if (!log_request_read(&r, log_pcap_options, "nfdns log pcap", argc - 1,
	    argv + 1))
		return EXIT_USAGE;
	if (r.file_count != 1 ||
	    (strcmp(r.files[0], "-") == 0 && isatty(STDOUT_FILENO))) {
		(void)fputs(log_usage, stderr);
		return EXIT_USAGE;
	}
	path = log_configured(peeked->path, AUDIT_PCAPNG, "has no log in "
	    "pcapng; add { format = \"pcapng\"; path = \"/var/log/nfdns/"
	    "audit.pcapng\"; } to \"audit\" and run \"nfdns reload\"");
	if (path == NULL)
		return EXIT_ERROR;
	take_signals();
	code = open_and_run(&r, path);
	free(path);
	return code;
}
