/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/logs/log_text.h"
#include "nfq/cli/logs/verify.h"
#include "nfq/process/exit_code.h"
#include "resolver/text/json_tree.h"
#include "resolver/text/printable.h"
#include "resolver/text/suggest.h"

struct log_file {
	const char *path;
	size_t place;			/* on the command line */
	struct log_line first;
};

struct verify_run {
	struct log_verify verify;
	struct json_tree tree;
	bool failed;
};

/* By their workers' starts and first numbers; else as they were given. */
static int
compare_files(const void *left, const void *right)
{
	const struct log_file *a = left, *b = right;

	if (a->first.run != b->first.run)
		return a->first.run < b->first.run ? -1 : 1;
	if (a->first.number != b->first.number)
		return a->first.number < b->first.number ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/* An exit code. */
static int
open_file(struct log_lines *lines, const char *path)
{
	const int error = log_lines_open(lines, path);

	if (error == 0)
		return EXIT_OK;
	cli_error("%s: cannot be read: %s", path, error == -EINVAL ?
	    "it is not a regular file" : strerror(-error));
	return EXIT_ERROR;
}

static int
look_at(struct verify_run *run, struct log_file *file)
{
	static struct log_lines lines;
	const char *text;
	ssize_t length;

	if (open_file(&lines, file->path) != EXIT_OK)
		return EXIT_ERROR;
	length = log_lines_next(&lines, &text);
	if (length >= 0)
		log_line_read(&file->first, &run->tree, text, (size_t)length);
	log_lines_close(&lines);
	if (length < 0 || file->first.kind != LOG_FOREIGN)
		return EXIT_OK;
	cli_error("%s: no log in the format json", file->path);
	return EXIT_ERROR;
}

/* What the run lacks that is over, by the end of this file. */
static void
tell_run(struct verify_run *run, const char *path)
{
	const struct log_verify *v = &run->verify;

	if (v->gap > v->told) {
		printable_line(stdout, "%s: %" PRIu64 " record%s missing, of "
		    "those from %" PRIu64 " to %" PRIu64 " of their worker",
		    path, v->gap - v->told, v->gap - v->told == 1 ? " is" :
		    "s are", v->from, v->to);
		run->failed = true;
	}
	if (v->ended)
		return;
	printable_line(stdout, "%s: the log of this worker has no end: it was "
	    "killed or writes yet, or a file is missing; records behind number "
	    "%" PRIu64 " may be missing", path, v->next - 1);
}

static int
verify_file(struct verify_run *run, const char *path, const char **last)
{
	static struct log_lines lines;
	struct log_line line;
	const char *text;
	ssize_t length;
	enum log_finding found;

	if (open_file(&lines, path) != EXIT_OK)
		return EXIT_ERROR;
	while ((length = log_lines_next(&lines, &text)) >= 0) {
		log_line_read(&line, &run->tree, text, (size_t)length);
		if (log_verify_is_over(&run->verify, &line))
			tell_run(run, *last);
		*last = path;
		found = log_verify_line(&run->verify, &line);
		if (found == LOG_FINE)
			continue;
		printable_line(stdout, "%s:%" PRIu64 ": %s", path,
		    lines.number, found == LOG_IS_FOREIGN ?
		    "no line of nfdns, or one that is cut" :
		    "the record was there before, or is out of its order");
		run->failed = true;
	}
	if (log_lines_is_cut(&lines))
		printable_line(stdout, "%s: the last line is not whole: it is "
		    "being written, or was cut off", path);
	log_lines_close(&lines);
	return EXIT_OK;
}

static int
verify_files(struct verify_run *run, struct log_file *files, size_t count)
{
	const char *last = files[0].path;
	int code = EXIT_OK;

	for (size_t i = 0; i < count && code == EXIT_OK; i++)
		code = look_at(run, &files[i]);
	if (code != EXIT_OK)
		return code;
	qsort(files, count, sizeof(*files), compare_files);
	if (files[0].first.number > 1)
		printable_line(stdout, "%s: begins with record %" PRIu64 " of its "
		    "worker: what was before is in no file that was named",
		    files[0].path, files[0].first.number);
	for (size_t i = 0; i < count && code == EXIT_OK; i++)
		code = verify_file(run, files[i].path, &last);
	if (code == EXIT_OK && log_verify_is_over(&run->verify, NULL))
		tell_run(run, last);
	return code;
}

int
cmd_log_verify(const struct config *config, int argc, char **argv)
{
	struct verify_run run = { .tree = JSON_TREE_INIT };
	const struct log_verify *v = &run.verify;
	const size_t count = argc > 2 ? (size_t)argc - 2 : 0;
	struct log_file *files = calloc(count + 1, sizeof(*files));
	int code;

	(void)config;
	if (count == 0 || argv[2][0] == '-') {
		suggest_usage(stderr, "nfdns log verify", "name the files of "
		    "a log, such as /var/log/nfdns/audit.json*");
		free(files);
		return EXIT_USAGE;
	}
	if (files == NULL) {
		cli_error("out of memory");
		return EXIT_ERROR;
	}
	for (size_t i = 0; i < count; i++)
		files[i] = (struct log_file){ .path = argv[i + 2], .place = i };
	code = verify_files(&run, files, count);
	json_tree_free(&run.tree);
	free(files);
	if (code != EXIT_OK)
		return code;
	if (v->lost > 0)
		(void)printf("%" PRIu64 " records were lost, for lack of room\n",
		    v->lost);
	if (v->unread > 0)
		(void)printf("%" PRIu64 " questions have no record: nobody read "
		    "them, over a user's rate or while the queue was full\n",
		    v->unread);
	(void)printf("%" PRIu64 " records\n", v->records);
	return run.failed || v->lost > 0 || v->unread > 0 ? EXIT_ERROR : EXIT_OK;
}
