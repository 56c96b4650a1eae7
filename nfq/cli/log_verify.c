/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "nfdns log verify": whether a log has all its records.  They are numbered from 1 on
 * for each worker, and those that were lost have numbers, too, and a line that says so.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/logs/log_text.h"
#include "nfq/process/exit_code.h"
#include "resolver/text/json_tree.h"
#include "resolver/text/printable.h"
#include "resolver/text/suggest.h"

enum kind {
	FOREIGN,			/* no line of nfdns */
	RECORD,
	BEGIN,				/* a file was opened */
	LOST,
	UNREAD,
	END,				/* and closed */
};

struct line {
	enum kind kind;
	uint64_t run;			/* of the worker; not of RECORD */
	uint64_t number;		/* of RECORD; of the next: BEGIN, END */
	uint64_t count;			/* records lost, questions unread */
};

struct file {
	const char *path;
	size_t place;			/* on the command line */
	struct line first;
};

struct verify {
	struct json_tree tree;
	uint64_t run;			/* 0: none has begun */
	bool ended;			/* by its last line so far */
	uint64_t next;			/* number that comes next */
	uint64_t gap, from, to;		/* numbers that did not come */
	uint64_t told;			/* of these, by lines that say so */
	uint64_t records, lost, unread;	/* of all runs */
	const char *last;		/* the file of its last line */
	bool failed;
};

static uint64_t
number_of(const json_t *ours, const char *key)
{
	long long number = 0;

	(void)json_tree_integer(json_object_get(ours, key), 0, INT64_MAX,
	    &number);
	return (uint64_t)number;
}

static struct line
read_line(struct verify *v, const char *text, size_t length)
{
	static const char *const events[] = { [BEGIN] = "begin",
		[LOST] = "lost", [UNREAD] = "unread", [END] = "end" };
	const struct json_range range = { .text = text, .length = length,
		.line = 1 };
	const json_t *ours;
	const char *event, *why;
	unsigned int where;
	struct line line;
	int error;

	ours = json_object_get(json_tree_take(&v->tree, &range, &error, &why,
	    &where), "nfdns");
	event = json_string_value(json_object_get(ours, "event"));
	line = (struct line){
		.kind = event == NULL ? RECORD : FOREIGN,
		.run = number_of(ours, "run"),
		.number = number_of(ours, event != NULL ? "next" : "number"),
		.count = number_of(ours, "records") +
		    number_of(ours, "questions"),
	};
	for (enum kind kind = BEGIN; event != NULL && kind <= END; kind++)
		if (strcmp(event, events[kind]) == 0)
			line.kind = kind;
	if (line.kind == RECORD ? line.number == 0 : line.run == 0)
		line.kind = FOREIGN;
	return line;
}

/* By their workers' starts and first numbers; else as they were given. */
static int
compare_files(const void *left, const void *right)
{
	const struct file *a = left, *b = right;

	if (a->first.run != b->first.run)
		return a->first.run < b->first.run ? -1 : 1;
	if (a->first.number != b->first.number)
		return a->first.number < b->first.number ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/* What the run lacks that is over. */
static void
tell_run(struct verify *v)
{
	if (v->gap > v->told) {
		printable_line(stdout, "%s: %" PRIu64 " record%s missing, of "
		    "those from %" PRIu64 " to %" PRIu64 " of their worker",
		    v->last, v->gap - v->told, v->gap - v->told == 1 ? " is" :
		    "s are", v->from, v->to);
		v->failed = true;
	}
	if (!v->ended)
		printable_line(stdout, "%s: the log of this worker has no end: it "
		    "was killed or writes yet, or a file is missing; records "
		    "behind number %" PRIu64 " may be missing", v->last,
		    v->next - 1);
}

/* NULL, or what is wrong with the line. */
static const char *
take_line(struct verify *v, const struct line *line)
{
	if (line->kind == FOREIGN)
		return "no line of nfdns, or one that is cut";
	/* The first line of all need not be the first of its run. */
	if (v->run == 0 || (line->kind == BEGIN && line->run != v->run)) {
		if (v->run != 0)
			tell_run(v);
		v->run = line->kind == BEGIN ? line->run : 1;
		v->next = line->kind == LOST || line->kind == UNREAD ? 1 :
		    line->number;
		v->gap = v->told = v->from = v->to = 0;
	}
	v->ended = line->kind == END;
	if (line->kind == LOST || line->kind == UNREAD) {
		v->told += line->kind == LOST ? line->count : 0;
		*(line->kind == LOST ? &v->lost : &v->unread) += line->count;
		return NULL;
	}
	if (line->number < v->next)
		return "the record was there before, or is out of its order";
	if (line->number > v->next) {
		if (v->gap == 0)
			v->from = v->next;
		v->to = line->number - 1;
		v->gap += line->number - v->next;
	}
	v->next = line->number + (line->kind == RECORD);
	v->records += line->kind == RECORD;
	return NULL;
}

/* "first": only its first line is looked at.  An exit code. */
static int
read_file(struct verify *v, struct file *file, bool first)
{
	static struct log_lines lines;
	const int error = log_lines_open(&lines, file->path);
	ssize_t length = 0;
	const char *text;

	if (error < 0) {
		cli_error("%s: cannot be read: %s", file->path,
		    error == -EINVAL ? "it is not a regular file" :
		    strerror(-error));
		return EXIT_ERROR;
	}
	while ((length = log_lines_next(&lines, &text)) >= 0) {
		const struct line line = read_line(v, text, (size_t)length);
		const char *why;

		if (first) {
			file->first = line;
			break;
		}
		why = take_line(v, &line);
		v->last = file->path;
		if (why != NULL)
			printable_line(stdout, "%s:%" PRIu64 ": %s", file->path,
			    lines.number, why);
		v->failed |= why != NULL;
	}
	if (!first && log_lines_is_cut(&lines))
		printable_line(stdout, "%s: the last line is not whole: it is "
		    "being written, or was cut off", file->path);
	log_lines_close(&lines);
	if (!first || length < 0 || file->first.kind != FOREIGN)
		return EXIT_OK;
	cli_error("%s: no log in the format json", file->path);
	return EXIT_ERROR;
}

static int
verify_files(struct verify *v, struct file *files, size_t count)
{
	int code = EXIT_OK;

	for (size_t i = 0; i < count && code == EXIT_OK; i++)
		code = read_file(v, &files[i], true);
	if (code != EXIT_OK)
		return code;
	qsort(files, count, sizeof(*files), compare_files);
	if (files[0].first.number > 1)
		printable_line(stdout, "%s: begins with record %" PRIu64 " of its "
		    "worker: what was before is in no file that was named",
		    files[0].path, files[0].first.number);
	for (size_t i = 0; i < count && code == EXIT_OK; i++)
		code = read_file(v, &files[i], false);
	if (code != EXIT_OK)
		return code;
	if (v->run != 0)
		tell_run(v);
	if (v->lost > 0)
		(void)printf("%" PRIu64 " records were lost, for lack of room\n",
		    v->lost);
	if (v->unread > 0)
		(void)printf("%" PRIu64 " questions have no record: nobody read "
		    "them, over a user's rate or while the queue was full\n",
		    v->unread);
	(void)printf("%" PRIu64 " records\n", v->records);
	return v->failed || v->lost > 0 || v->unread > 0 ? EXIT_ERROR : EXIT_OK;
}

int
cmd_log_verify(const struct config *config, int argc, char **argv)
{
	struct verify v = { .tree = JSON_TREE_INIT };
	const size_t count = argc > 2 ? (size_t)argc - 2 : 0;
	struct file *files;
	int code;

	(void)config;
	if (count == 0 || argv[2][0] == '-') {
		suggest_usage(stderr, "nfdns log verify", "name the files of "
		    "a log, such as /var/log/nfdns/audit.json*");
		return EXIT_USAGE;
	}
	files = calloc(count, sizeof(*files));
	if (files == NULL) {
		cli_error("out of memory");
		return EXIT_ERROR;
	}
	for (size_t i = 0; i < count; i++)
		files[i] = (struct file){ .path = argv[i + 2], .place = i };
	code = verify_files(&v, files, count);
	json_tree_free(&v.tree);
	free(files);
	return code;
}
