/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "resolver/text/printable.h"

/*
 * Room for the text and for each of its octets as \xNN.  A line stays below
 * PIPE_BUF (pipe(7)), so that lines of several processes never mix.
 */
#define TEXT_SIZE 1000
#define LINE_SIZE 4096

static const struct {
	enum log_level level;
	const char *text;
} levels[] = {
	{ LOG_LEVEL_ERROR, "error" },
	{ LOG_LEVEL_WARNING, "warning" },
	{ LOG_LEVEL_NOTICE, "notice" },
	{ LOG_LEVEL_INFO, "info" },
	{ LOG_LEVEL_DEBUG, "debug" },
};
#define LEVELS (sizeof(levels) / sizeof(levels[0]))

static atomic_int highest = LOG_LEVEL_INFO;
static atomic_bool on_terminal;
static atomic_bool keeps_error;
static char kept_error[TEXT_SIZE];

int
log_level_from_text(enum log_level *level, const char *text)
{
	for (size_t i = 0; i < LEVELS; i++)
		if (strcmp(levels[i].text, text) == 0) {
			*level = levels[i].level;
			return 0;
		}
	return -EINVAL;
}

void
log_set_level(enum log_level level)
{
	log_change_level(level);
	/* Here and not in log_line(): a sandbox may forbid the ioctl later. */
	atomic_store(&on_terminal, isatty(STDERR_FILENO) == 1);
}

void
log_change_level(enum log_level level)
{
	atomic_store(&highest, (int)level);
}

/* The prefix of a line: for systemd a number, for a person a word. */
static size_t
put_prefix(char *line, size_t size, enum log_level level)
{
	const char *word = "";
	int n;

	for (size_t i = 0; i < LEVELS; i++)
		if (levels[i].level == level)
			word = levels[i].text;
	if (!atomic_load(&on_terminal))
		n = snprintf(line, size, "<%d>", (int)level);
	else if (level <= LOG_LEVEL_WARNING)
		n = snprintf(line, size, "%.60s: %s: ",
		    program_invocation_short_name, word);
	else
		n = snprintf(line, size, "%.60s: ",
		    program_invocation_short_name);
	return n > 0 ? (size_t)n : 0;
}

void
log_keep_error(void)
{
	kept_error[0] = '\0';
	atomic_store(&keeps_error, true);
}

const char *
log_kept_error(void)
{
	return kept_error;
}

void
log_line(enum log_level level, const char *format, ...)
{
	int saved = errno, length;
	char text[TEXT_SIZE], line[LINE_SIZE];
	size_t n;
	va_list arguments;
	ssize_t done;

	if ((int)level > atomic_load(&highest))
		return;
	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (length < 0)
		text[0] = '\0';
	else if ((size_t)length >= sizeof(text))
		memcpy(text + sizeof(text) - 4, "...", 4);

	if (level == LOG_LEVEL_ERROR && atomic_exchange(&keeps_error, false))
		(void)printable_text(kept_error, sizeof(kept_error), text,
		    strlen(text));
	n = put_prefix(line, sizeof(line), level);
	(void)printable_text(line + n, sizeof(line) - n - 1, text,
	    strlen(text));
	n += strlen(line + n);
	line[n++] = '\n';
	do
		done = write(STDERR_FILENO, line, n);
	while (done < 0 && errno == EINTR);
	errno = saved;
}
