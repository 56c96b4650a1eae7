/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "nfdns log verify": proves that a log of the audit is complete, or names what
 * is missing.  The files of one entry of "audit" are one log; they are put in
 * order by their first notes, so they may be given in any.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/log_report.h"
#include "nfq/cli/log_request.h"
#include "nfq/cli/message.h"
#include "nfq/cli/logs/log_pieces.h"
#include "nfq/process/exit_code.h"
#include "nfq/cli/logs/verify.h"
#include "resolver/text/suggest.h"

#define SECOND		UINT64_C(1000000000)
#define LOOKS		10U		/* at the end of the last file, */
#define LOOK_MS		100		/* this far apart */

/* One file of the log. */
struct log_file {
	const char *path;
	struct log_octets *source;	/* NULL: not open */
	enum audit_format_number format; /* AUDIT_FORMATS: it is empty */
	bool noted;			/* its first piece is a note: */
	uint64_t run, number;
	size_t place;			/* on the command line */
};

struct verify_run {
	struct audit_verify verify;
	struct log_file *files;
	size_t file_count;
	struct log_report report;
	const char *key;		/* NULL: none */
	bool json;
};

#define PLACE_TEXT	32U
#define PIECE_TEXT	128U

/* "line 5" of JSON, or "octet 4711" of what has no lines. */
static const char *
place_of(const struct log_pieces *pieces, char text[static PLACE_TEXT])
{
	(void)snprintf(text, PLACE_TEXT, "%s %llu",
	    pieces->line > 0 ? "line" : "octet", (unsigned long long)
	    (pieces->line > 0 ? pieces->line : pieces->offset));
	return text;
}

/* "record 5 of thread 0" or "the note", and where it stands. */
static const char *
describe(const struct audit_reading *r, const char *place,
    char text[static PIECE_TEXT])
{
	if (r->kind == AUDIT_PIECE_RECORD)
		(void)snprintf(text, PIECE_TEXT, "record %llu of thread %llu, "
		    "at %s", (unsigned long long)r->number,
		    (unsigned long long)r->thread, place);
	else
		(void)snprintf(text, PIECE_TEXT, "the note at %s", place);
	return text;
}

/* A run that has no end, and the one after it. */
static void
tell_unended(struct verify_run *run, const char *path, const char *text)
{
	const uint64_t between = run->verify.between;

	if (between == AUDIT_BETWEEN_UNKNOWN)
		log_report_fault(&run->report, path, "the worker that began before %s has left no "
		    "end: it was killed, with the records that it still held, "
		    "or the end was cut off", text);
	else if (between > 0)
		log_report_fault(&run->report, path, "the worker that began before %s was killed "
		    "with %llu records that are in no file, but for those that "
		    "filters would have left out", text,
		    (unsigned long long)between);
	else
		log_report_remark(&run->report, path, "the worker that began before %s was killed; "
		    "no record is missing", text);
}

static void
tell(struct verify_run *run, const char *path, unsigned int wrong,
    const struct audit_reading *r, const struct log_pieces *pieces)
{
	const struct audit_verify *v = &run->verify;
	char text[PIECE_TEXT], place[PLACE_TEXT];

	(void)describe(r, place_of(pieces, place), text);
	if ((wrong & AUDIT_UNENDED) != 0)
		tell_unended(run, path, text);
	if ((wrong & AUDIT_BETWEEN) != 0)
		log_report_fault(&run->report, path, "%llu records of other workers are missing "
		    "before %s: a file with them", (unsigned long long)
		    v->between, text);
	if ((wrong & AUDIT_CUT) != 0)
		log_report_fault(&run->report, path, "%llu records or notes are missing before %s: "
		    "pieces %llu to %llu, or a file with them",
		    (unsigned long long)v->cut_to - v->cut_from + 1, text,
		    (unsigned long long)v->cut_from,
		    (unsigned long long)v->cut_to);
	if ((wrong & AUDIT_CHANGED) != 0)
		log_report_fault(&run->report, path, "%s was changed, or sealed with another key",
		    text);
	if ((wrong & AUDIT_REPEATED) != 0)
		log_report_fault(&run->report, path, "%s is there twice, or out of its order",
		    text);
	if ((wrong & AUDIT_STRANGE) != 0)
		log_report_fault(&run->report, path, "%zu octets at %s are no record of nfdns, "
		    "or one that was changed", r->length, place);
	if ((wrong & AUDIT_LOSS) != 0)
		log_report_fault(&run->report, path, "%llu records of thread %llu were lost, for "
		    "lack of room, between numbers %llu and %llu",
		    (unsigned long long)r->records,
		    (unsigned long long)r->thread, (unsigned long long)r->from,
		    (unsigned long long)r->to);
	if ((wrong & AUDIT_WENT_BY) != 0)
		log_report_fault(&run->report, path, "%llu questions went by before %s "
		    "that nobody read, over a user's rate or while the queue "
		    "was full: they have no record", (unsigned long long)
		    r->unread, text);
	if ((wrong & AUDIT_UNCOUNTED) != 0)
		log_report_fault(&run->report, path, "the counts of %s are not those of the "
		    "records before it", text);
	if ((wrong & AUDIT_HEADLESS) != 0)
		log_report_remark(&run->report, path, "begins with piece %llu of its log: what was "
		    "before it is in no file that was named",
		    (unsigned long long)r->seal.number);
}

/*
 * Records that were counted may still be on their way into the last file: waits
 * for them, a second at most.
 */
static bool
wait_for_more(const struct verify_run *run, struct log_pieces *pieces,
    unsigned int *looks)
{
	const struct audit_verify *v = &run->verify;

	if (!run->report.counted.known || v->ended || !v->joined ||
	    v->run < v->since || v->given >= run->report.counted.sums.recorded ||
	    ++*looks > LOOKS)
		return false;
	(void)poll(NULL, 0, LOOK_MS);
	log_pieces_again(pieces);
	return true;
}

/* As log_pieces_next(). */
static enum log_next
verify_pieces(struct verify_run *run, const char *path,
    struct log_pieces *pieces)
{
	struct audit_reading reading;
	enum log_next next;

	while ((next = log_pieces_next(pieces, &reading)) == LOG_PIECE) {
		/* A STOP stands between two runs. */
		const unsigned int wrong =
		    log_pieces_is_stop(pieces, &reading) ? 0 :
		    audit_verify_piece(&run->verify, &reading,
		    (char *)pieces->octets + pieces->begin);

		if (wrong != 0)
			tell(run, path, wrong, &reading, pieces);
	}
	return next;
}

static void
verify_file(struct verify_run *run, const struct log_file *file,
    uint8_t *octets, bool last)
{
	const char *path = file->path;
	char place[PLACE_TEXT];
	struct log_pieces pieces;
	unsigned int looks = 0;
	enum log_next next;

	log_pieces_begin(&pieces, file->source, octets);
	do
		next = verify_pieces(run, path, &pieces);
	while (next == LOG_END && last && wait_for_more(run, &pieces, &looks));
	if (next == LOG_DAMAGED || log_octets_is_cut(file->source))
		log_report_fault(&run->report, path, "the compressed file is damaged or cut");
	else if (log_pieces_rest(&pieces) > 0)
		log_report_fault(&run->report, path, "the last %zu octets, at %s, are not whole: "
		    "a record that is being written, or was cut off",
		    log_pieces_rest(&pieces), place_of(&pieces, place));
	log_report_end_file(&run->report, path);
}

/* Reads a file's first piece, by which files are ordered. */
static int
look_at(struct log_file *file, uint8_t *octets)
{
	struct log_pieces pieces;
	struct audit_reading reading;
	enum log_next next;

	log_pieces_begin(&pieces, file->source, octets);
	next = log_pieces_next(&pieces, &reading);
	if (!log_octets_rewind(file->source)) {
		cli_error("%s: cannot be read twice", file->path);
		return EXIT_ERROR;
	}
	if (next == LOG_NONE) {
		cli_error("%s: no log in json, pcapng or dnstap", file->path);
		return EXIT_ERROR;
	}
	file->format = pieces.format;
	if (next == LOG_PIECE && reading.kind != AUDIT_PIECE_FOREIGN &&
	    reading.kind != AUDIT_PIECE_RECORD) {
		file->noted = true;
		file->run = reading.run;
		file->number = reading.seal.number;
	}
	return EXIT_OK;
}

/* Files of two logs would look as if each record were there twice. */
static int
compare_formats(const struct verify_run *run)
{
	const struct log_file *first = NULL;

	for (size_t i = 0; i < run->file_count; i++) {
		const struct log_file *file = &run->files[i];

		if (file->format == AUDIT_FORMATS)
			continue;
		if (first != NULL && first->format != file->format) {
			cli_error("%s has another format than %s, so it is of "
			    "another log: verify each log by itself",
			    file->path, first->path);
			return EXIT_ERROR;
		}
		first = file;
	}
	return EXIT_OK;
}

/* Files without a first note stay where they are, behind the others. */
static int
compare_files(const void *left, const void *right)
{
	const struct log_file *a = left, *b = right;

	if (a->noted != b->noted)
		return a->noted ? -1 : 1;
	if (a->noted && a->run != b->run)
		return a->run < b->run ? -1 : 1;
	if (a->noted && a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/*
 * Opens all files, and then gives up every right: what they hold may be
 * anybody's.
 */
static int
open_files(struct verify_run *run)
{
	for (size_t i = 0; i < run->file_count; i++) {
		struct log_file *file = &run->files[i];
		const int fd = log_octets_open_file(file->path);

		if (fd >= 0)
			file->source = log_octets_new(fd);
		if (file->source == NULL) {
			cli_error("%s: cannot be opened: %s", file->path,
			    strerror(fd < 0 ? -fd : ENOMEM));
			return EXIT_ERROR;
		}
	}
	return log_give_up_rights("log verify");
}

static int
verify_files(struct verify_run *run)
{
	uint8_t *octets = malloc(LOG_PIECES_OCTETS);
	int code;

	if (octets == NULL) {
		cli_error("out of memory");
		return EXIT_ERROR;
	}
	code = open_files(run);
	for (size_t i = 0; i < run->file_count && code == EXIT_OK; i++)
		code = look_at(&run->files[i], octets);
	if (code == EXIT_OK)
		code = compare_formats(run);
	if (run->file_count > 0)
		qsort(run->files, run->file_count, sizeof(*run->files),
		    compare_files);
	for (size_t i = 0; i < run->file_count && code == EXIT_OK; i++)
		verify_file(run, &run->files[i], octets,
		    i + 1 == run->file_count);
	for (size_t i = 0; i < run->file_count; i++)
		log_octets_free(run->files[i].source);
	free(octets);
	return code;
}

/* The key in the file; false after a message. */
static bool
read_key(struct audit_key *key, const char *path)
{
	char text[AUDIT_KEY_TEXT] = "";
	FILE *file = fopen(path, "re");

	if (file == NULL) {
		cli_error("%s: cannot be opened: %s", path, strerror(errno));
		return false;
	}
	(void)!fgets(text, sizeof(text), file);
	(void)fclose(file);
	if (!audit_key_from_text(key, text))
		cli_error("%s: no 32 hexadecimal digits", path);
	explicit_bzero(text, sizeof(text));
	return key->present;
}

const struct command_option log_verify_options[] = {
	OPTION_FLAG("json", 'j', struct verify_run, json),
	OPTION_TEXT("key", 'k', struct verify_run, key),
	{ .name = NULL },
};

static int
verify_and_report(struct verify_run *run)
{
	int code;

	run->verify.since = run->report.counted.since * SECOND;
	code = verify_files(run);
	if (code == EXIT_OK)
		code = log_report_end(&run->report, &run->verify);
	log_report_free(&run->report);
	return code;
}

int
cmd_log_verify(const struct config *config, int argc, char **argv)
{
	struct verify_run run = { .file_count = 0 };
	int first, code;

	argc--;				/* "log" */
	argv++;
	first = command_options_read(log_verify_options, "nfdns log verify",
	    &run, argc, argv);
	if (first < 0)
		return EXIT_USAGE;
	if (first == argc) {
		suggest_usage(stderr, "nfdns log verify", "name the files of "
		    "a log, such as /var/log/nfdns/audit.json*");
		return EXIT_USAGE;
	}
	if (run.key != NULL && !read_key(&run.verify.key, run.key))
		return EXIT_ERROR;
	log_report_count(&run.report, config->run_dir);
	run.file_count = (size_t)(argc - first);
	run.files = calloc(run.file_count, sizeof(*run.files));
	if (run.files == NULL ||
	    (run.json && log_report_json(&run.report) < 0)) {
		cli_error("out of memory");
		return EXIT_ERROR;
	}
	for (size_t i = 0; i < run.file_count; i++)
		run.files[i] = (struct log_file){ .path = argv[first + (int)i],
			.place = i };
	tzset();	/* it opens the zone's file */
	code = verify_and_report(&run);
	free(run.files);
	return code;
}
