/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file consists of lines: a letter, a blank and a value.
 *
 *   V 1                       version of this format
 *   N SEQUENCE NAMES ERRORS WARNINGS
 *   S SECONDS PATH            a source
 *   D PATH                    where feeds say how they are
 *   F SECONDS NAME PATH       a feed, when it is stale, the table it keeps
 *   E TEXT, W TEXT            an error, a warning
 */
#include "policy/status/load_report.h"

#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolver/fds.h"
#include "resolver/replace.h"

#define VERSION		2
#define OCTETS_MAX	((size_t)1 << 20)	/* of a file that is read */

static int
path_of(char path[static PATH_MAX], const char *run_dir)
{
	int n = snprintf(path, PATH_MAX, "%s/" LOAD_REPORT_FILE, run_dir);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static void
write_feeds(FILE *out, const struct config *config)
{
	const struct mesh *mesh = &config->mesh;
	bool any = false;

	for (size_t i = 0; i < mesh->source_count; i++) {
		const struct mesh_source *source = &mesh->sources[i];

		if (source->feed == NULL || strchr(source->path, '\n') != NULL ||
		    strchr(config->feed_run_dir, '\n') != NULL)
			continue;
		if (!any)
			fprintf(out, "D %s\n", config->feed_run_dir);
		any = true;
		fprintf(out, "F %" PRIu32 " %s %s\n", source->stale_after,
		    source->feed, source->path);
	}
}

static void
write_lines(FILE *out, uint32_t sequence, uint64_t names,
    const struct config *config, bool has_table, const struct diag *diag)
{
	const struct mesh *mesh = &config->mesh;

	fprintf(out, "V %d\nN %" PRIu32 " %" PRIu64 " %zu %zu\n", VERSION,
	    sequence, names, diag->errors, diag->warnings);
	for (size_t i = 0; has_table && i < mesh->source_count; i++)
		if (strchr(mesh->sources[i].path, '\n') == NULL)
			fprintf(out, "S %" PRId64 " %s\n",
			    mesh->sources[i].changed, mesh->sources[i].path);
	write_feeds(out, config);
	for (size_t i = 0; i < diag->kept; i++)
		if (diag->entries[i].level != DIAG_NOTE)
			fprintf(out, "%c %s\n", diag->entries[i].level ==
			    DIAG_ERROR ? 'E' : 'W', diag->entries[i].text);
}

int
load_report_write(const struct config *config, uint32_t sequence,
    uint64_t names, bool has_table, const struct diag *diag)
{
	char path[PATH_MAX];
	struct replace file;
	FILE *out;
	int error = path_of(path, config->run_dir);

	if (error < 0)
		return error;
	error = replace_begin(&file, AT_FDCWD, path, 0644);
	if (error == 0) {
		out = replace_stream(&file);
		if (out != NULL)
			write_lines(out, sequence, names, config, has_table,
			    diag);
		error = replace_end(&file, REPLACE_QUICKLY,
		    out == NULL ? -errno : 0);
	}
	if (error < 0)
		(void)unlink(path);	/* no report is better than an old one */
	return error;
}

/* The whole file, with a NUL behind it; NULL and *error. */
static char *
read_file(const char *path, int *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char *text = NULL;
	struct stat st;
	size_t length = 0;

	*error = 0;
	if (fd < 0) {
		*error = errno == ELOOP ? -EPROTO : -errno;
		return NULL;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size > (off_t)OCTETS_MAX)
		*error = -EPROTO;
	else if ((text = malloc((size_t)st.st_size + 1)) == NULL)
		*error = -ENOMEM;
	else
		*error = fds_read_all(fd, text, (size_t)st.st_size, &length);
	if (*error == 0 && length < (size_t)st.st_size)
		*error = -EPROTO;
	(void)close(fd);
	if (text == NULL || *error < 0) {
		free(text);
		return NULL;
	}
	text[length] = '\0';
	return text;
}

static int
take_source(struct load_report *report, const char *line)
{
	struct load_source *grown, *source;
	char *end;

	if (report->source_count == LOAD_REPORT_SOURCES)
		return -EPROTO;
	grown = reallocarray(report->sources, report->source_count + 1,
	    sizeof(*grown));
	if (grown == NULL)
		return -ENOMEM;
	report->sources = grown;
	source = &grown[report->source_count];
	source->changed = strtoll(line, &end, 10);
	if (end == line || *end != ' ')
		return -EPROTO;
	source->path = strdup(end + 1);
	if (source->path == NULL)
		return -ENOMEM;
	report->source_count++;
	return 0;
}

/* Names become parts of paths: what nfdns-feed would not take is none. */
static bool
is_feed_name(const char *name, size_t length)
{
	return length >= 1 && length <= 63 && strspn(name, "-_0123456789"
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == length;
}

static int
take_feed(struct load_report *report, const char *line)
{
	struct load_feed *grown, *feed;
	unsigned long long stale_after;
	size_t length;
	char *end;

	if (report->feed_count == LOAD_REPORT_SOURCES || *line < '0' ||
	    *line > '9')
		return -EPROTO;
	stale_after = strtoull(line, &end, 10);
	if (*end != ' ' || stale_after > UINT32_MAX)
		return -EPROTO;
	line = end + 1;
	length = strcspn(line, " ");
	if (line[length] != ' ' || !is_feed_name(line, length))
		return -EPROTO;
	grown = reallocarray(report->feeds, report->feed_count + 1,
	    sizeof(*grown));
	if (grown == NULL)
		return -ENOMEM;
	report->feeds = grown;
	feed = &grown[report->feed_count++];
	feed->stale_after = (uint32_t)stale_after;
	feed->name = strndup(line, length);
	feed->table = strdup(line + length + 1);
	return feed->name == NULL || feed->table == NULL ? -ENOMEM : 0;
}

static int
take_feed_run_dir(struct load_report *report, const char *line)
{
	if (report->feed_run_dir != NULL)
		return -EPROTO;
	report->feed_run_dir = strdup(line);
	return report->feed_run_dir == NULL ? -ENOMEM : 0;
}

/* "count" decimal numbers with a space between, and nothing behind them. */
static int
take_numbers(const char *text, uint64_t *numbers, size_t count)
{
	char *end;

	for (size_t i = 0; i < count; i++) {
		if (*text < '0' || *text > '9')
			return -EPROTO;
		errno = 0;
		numbers[i] = strtoull(text, &end, 10);
		if (errno != 0 || *end != (i + 1 < count ? ' ' : '\0'))
			return -EPROTO;
		text = end + 1;
	}
	return 0;
}

static int
take_totals(struct load_report *report, const char *text, size_t totals[2])
{
	uint64_t numbers[4];

	if (take_numbers(text, numbers, 4) < 0 || numbers[0] > UINT32_MAX)
		return -EPROTO;
	report->sequence = (uint32_t)numbers[0];
	report->names = numbers[1];
	totals[DIAG_ERROR] = (size_t)numbers[2];
	totals[DIAG_WARNING] = (size_t)numbers[3];
	return 0;
}

static int
take_line(struct load_report *report, const char *line, size_t totals[2])
{
	const char *what = line + 2;
	uint64_t version;

	if (line[0] == '\0' || line[1] != ' ')
		return -EPROTO;
	switch (line[0]) {
	case 'V':
		return take_numbers(what, &version, 1) == 0 &&
		    version == VERSION ? 0 : -EPROTO;
	case 'N':
		return take_totals(report, what, totals);
	case 'S':
		return take_source(report, what);
	case 'D':
		return take_feed_run_dir(report, what);
	case 'F':
		return report->feed_run_dir == NULL ? -EPROTO :
		    take_feed(report, what);
	case 'E':
	case 'W':
		diag_add_text(&report->diag, line[0] == 'E' ? DIAG_ERROR :
		    DIAG_WARNING, what);
		return 0;
	default:
		return -EPROTO;
	}
}

int
load_report_parse(struct load_report *report, char *text)
{
	size_t totals[2] = { 0, 0 };
	struct diag *diag = &report->diag;
	int error = strncmp(text, "V ", 2) == 0 ? 0 : -EPROTO;
	char *line;

	*report = (struct load_report){ .diag = DIAG_INIT };
	while (error == 0 && (line = strsep(&text, "\n")) != NULL)
		if (line[0] != '\0')
			error = take_line(report, line, totals);
	/* The totals may exceed what was kept; they cannot be below it. */
	if (error == 0 && (totals[DIAG_ERROR] < diag->errors ||
	    totals[DIAG_WARNING] < diag->warnings ||
	    totals[DIAG_ERROR] > UINT32_MAX ||
	    totals[DIAG_WARNING] > UINT32_MAX))
		error = -EPROTO;
	if (error < 0) {
		load_report_free(report);
		return error;
	}
	diag->errors = totals[DIAG_ERROR];
	diag->warnings = totals[DIAG_WARNING];
	return 0;
}

int
load_report_read(struct load_report *report, const char *run_dir)
{
	char path[PATH_MAX], *text;
	int error = path_of(path, run_dir);

	*report = (struct load_report){ .diag = DIAG_INIT };
	if (error < 0)
		return error;
	text = read_file(path, &error);
	if (text == NULL)
		return error;
	error = load_report_parse(report, text);
	free(text);
	return error;
}

void
load_report_free(struct load_report *report)
{
	for (size_t i = 0; i < report->source_count; i++)
		free(report->sources[i].path);
	free(report->sources);
	for (size_t i = 0; i < report->feed_count; i++) {
		free(report->feeds[i].name);
		free(report->feeds[i].table);
	}
	free(report->feeds);
	free(report->feed_run_dir);
	diag_free(&report->diag);
	*report = (struct load_report){ .diag = DIAG_INIT };
}

void
load_report_remove(const char *run_dir)
{
	char path[PATH_MAX];

	if (path_of(path, run_dir) == 0)
		(void)unlink(path);
}
