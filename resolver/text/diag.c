/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/text/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/text/printable.h"

/* One line of printable text; NULL without memory. */
static char *
one_line(const char *text)
{
	const size_t length = strlen(text);
	const size_t size = length * PRINTABLE_GROWTH + 1;
	char *line = malloc(size);

	if (line != NULL)
		(void)printable_text(line, size, text, length);
	return line;
}

/*
 * Where the next entry goes, or NULL if it is only counted.  An error that
 * comes after a hundred warnings must not be lost, nor may a note: it takes the
 * place of the last of them.
 */
static struct diag_entry *
slot_for(struct diag *diag, enum diag_level level)
{
	if (diag->kept < DIAG_MAX_KEPT)
		return &diag->entries[diag->kept++];
	if (level == DIAG_WARNING)
		return NULL;
	for (size_t i = diag->kept; i-- > 0;) {
		if (diag->entries[i].level == DIAG_WARNING) {
			free(diag->entries[i].text);
			return &diag->entries[i];
		}
	}
	return NULL;
}

/* Whether there is room for an entry of this level. */
static bool
has_room(const struct diag *diag, enum diag_level level)
{
	return diag->kept < DIAG_MAX_KEPT ||
	    (level != DIAG_WARNING &&
	    diag->errors + diag->notes < DIAG_MAX_KEPT);
}

/* Takes ownership of text; NULL if there was no memory for it. */
static void
keep(struct diag *diag, enum diag_level level, char *text)
{
	struct diag_entry *entry = text != NULL ? slot_for(diag, level) : NULL;

	if (level == DIAG_ERROR)
		diag->errors++;
	else if (level == DIAG_WARNING)
		diag->warnings++;
	else
		diag->notes++;
	if (entry == NULL) {
		free(text);
		return;
	}
	entry->level = level;
	entry->text = text;
}

void
diag_add_text(struct diag *diag, enum diag_level level, const char *text)
{
	keep(diag, level, has_room(diag, level) ? one_line(text) : NULL);
}

void
diag_add(struct diag *diag, enum diag_level level, const char *file,
    unsigned int line, const char *format, ...)
{
	char *message = NULL, *whole = NULL;
	va_list arguments;
	int length;

	/* A million bad lines must not cost a million formatted texts. */
	if (!has_room(diag, level)) {
		keep(diag, level, NULL);
		return;
	}
	va_start(arguments, format);
	length = vasprintf(&message, format, arguments);
	va_end(arguments);
	if (length < 0) {
		keep(diag, level, NULL);
		return;
	}
	if (file != NULL && line != 0)
		length = asprintf(&whole, "%s:%u: %s", file, line, message);
	else if (file != NULL)
		length = asprintf(&whole, "%s: %s", file, message);
	else
		length = asprintf(&whole, "%s", message);
	free(message);
	if (length < 0) {
		keep(diag, level, NULL);
		return;
	}
	diag_add_text(diag, level, whole);
	free(whole);
}

/* With commas between the thousands. */
static const char *
grouped(size_t count, char text[static 32])
{
	size_t digits = 0, at = 31;

	text[at] = '\0';
	do {
		if (digits > 0 && digits % 3 == 0)
			text[--at] = ',';
		text[--at] = (char)('0' + count % 10);
		digits++;
	} while ((count /= 10) > 0);
	return text + at;
}

void
diag_add_count(struct diag *diag, const char *file, size_t count,
    const char *unit)
{
	char text[32];

	diag_add(diag, DIAG_NOTE, file, 0, "%s %s%s", grouped(count, text),
	    unit, count == 1 ? "" : "s");
}

void
diag_be_strict(struct diag *diag)
{
	for (size_t i = 0; i < diag->kept; i++)
		if (diag->entries[i].level == DIAG_WARNING)
			diag->entries[i].level = DIAG_ERROR;
	diag->errors += diag->warnings;
	diag->warnings = 0;
}

size_t
diag_dropped(const struct diag *diag)
{
	return diag->errors + diag->warnings + diag->notes - diag->kept;
}

void
diag_free(struct diag *diag)
{
	for (size_t i = 0; i < diag->kept; i++)
		free(diag->entries[i].text);
	*diag = (struct diag)DIAG_INIT;
}
