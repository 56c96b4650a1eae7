/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/doctor/findings.h"

#include <stdarg.h>
#include <string.h>

#include "resolver/text/json_write.h"
#include "resolver/text/printable.h"

#define COLUMN		19U	/* of the text, behind level and topic */
#define NARROW		60U	/* below, the text is a line of its own, */
#define NARROW_COLUMN	6U	/* in that column */

static const struct {
	const char *name, *colour;
} levels[FINDING_LEVELS] = {
	[FINDING_OK] = { "ok", "\033[32m" },
	[FINDING_WARNING] = { "warn", "\033[33m" },
	[FINDING_BAD] = { "bad", "\033[31m" },
	[FINDING_UNKNOWN] = { "?", "\033[2m" },
};

void
findings_add(struct findings *findings, enum finding_level level,
    const char *topic, const char *todo, const char *format, ...)
{
	struct finding *f = &findings->all[findings->count];
	char text[sizeof(f->text)];
	va_list arguments;

	if (findings->count == FINDINGS_MAX)
		return;
	findings->count++;
	f->level = level;
	f->topic = topic;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	f->paste[0] = '\0';
	(void)printable_text(f->text, sizeof(f->text), text, strlen(text));
	if (todo == NULL)
		todo = "";
	(void)printable_text(f->todo, sizeof(f->todo), todo, strlen(todo));
}

void
findings_paste(struct findings *findings, const char *format, ...)
{
	struct finding *f = &findings->all[findings->count - 1];
	char text[sizeof(f->paste)];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	(void)printable_text(f->paste, sizeof(f->paste), text, strlen(text));
}

void
findings_sort(struct findings *findings)
{
	static const enum finding_level order[FINDING_LEVELS] = { FINDING_BAD,
	    FINDING_WARNING, FINDING_UNKNOWN, FINDING_OK };
	size_t placed = 0;

	for (size_t level = 0; level < FINDING_LEVELS; level++)
		for (size_t i = placed; i < findings->count; i++) {
			const struct finding one = findings->all[i];

			if (one.level != order[level])
				continue;
			memmove(&findings->all[placed + 1],
			    &findings->all[placed],
			    (i - placed) * sizeof(one));
			findings->all[placed++] = one;
		}
}

bool
findings_have_obstacle(const struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		if ((findings->all[i].level == FINDING_BAD ||
		    findings->all[i].level == FINDING_WARNING) &&
		    strcmp(findings->all[i].topic, FINDING_OBSTACLE) == 0)
			return true;
	return false;
}

size_t
findings_count(const struct findings *findings, enum finding_level level)
{
	size_t count = 0;

	for (size_t i = 0; i < findings->count; i++)
		count += findings->all[i].level == level;
	return count;
}

void
findings_print(const struct findings *findings, bool colour,
    unsigned int width, FILE *out)
{
	const unsigned int column = width < NARROW ? NARROW_COLUMN : COLUMN;

	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *f = &findings->all[i];

		(void)fprintf(out, "%s%-5s%s ",
		    colour ? levels[f->level].colour : "",
		    levels[f->level].name, colour ? "\033[m" : "");
		if (width < NARROW)
			(void)fprintf(out, "%s\n%*s", f->topic, (int)column, "");
		else
			(void)fprintf(out, "%-12s ", f->topic);
		printable_wrap(out, f->text, column, width);
		if (f->todo[0] != '\0') {
			(void)fprintf(out, "%*s-> ", (int)column, "");
			printable_wrap(out, f->todo, column + 3, width);
		}
		if (f->paste[0] != '\0')
			(void)fprintf(out, "      %s\n", f->paste);
	}
}

int
findings_print_json(const struct findings *findings, FILE *out)
{
	struct json_write w = { .out = out, .ascii = true };

	json_write_open(&w, NULL, '[');
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *f = &findings->all[i];

		json_write_open(&w, NULL, '{');
		json_write_text(&w, "level", levels[f->level].name);
		json_write_text(&w, "topic", f->topic);
		json_write_text(&w, "text", f->text);
		if (f->todo[0] != '\0')
			json_write_text(&w, "todo", f->todo);
		if (f->paste[0] != '\0')
			json_write_text(&w, "paste", f->paste);
		json_write_close(&w, '}');
	}
	json_write_close(&w, ']');
	return json_write_end(&w);
}
