/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/process/diag_print.h"

#include <inttypes.h>
#include <stdlib.h>

#include "policy/log.h"
#include "resolver/text/printable.h"

void
diag_log(const struct diag *diag)
{
	static const enum log_level levels[] = {
		[DIAG_ERROR] = LOG_LEVEL_ERROR,
		[DIAG_WARNING] = LOG_LEVEL_WARNING,
		[DIAG_NOTE] = LOG_LEVEL_INFO,
	};

	for (size_t i = 0; i < diag->kept; i++)
		log_line(levels[diag->entries[i].level], "%s",
		    diag->entries[i].text);
	if (diag_dropped(diag) > 0)
		log_notice("and %zu more like these", diag_dropped(diag));
}

static void
print_line(const char *program, enum diag_level level, const char *text,
    FILE *out)
{
	printable_line(out, "%s: %s: %s", program,
	    level == DIAG_ERROR ? "error" : "warning", text);
}

void
diag_print(const struct diag *diag, const char *program, FILE *out)
{
	for (size_t i = 0; i < diag->kept; i++)
		if (diag->entries[i].level != DIAG_NOTE)
			print_line(program, diag->entries[i].level,
			    diag->entries[i].text, out);
	if (diag_dropped(diag) > 0)
		(void)fprintf(out, "%s: and %zu more like these\n", program,
		    diag_dropped(diag));
}

void
diag_print_error(const char *program, FILE *out, const char *format,
    va_list arguments)
{
	char *text = NULL;

	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	print_line(program, DIAG_ERROR, text != NULL ? text : "out of memory",
	    out);
	free(text);
}

void
diag_print_notes(const struct diag *diag, FILE *out)
{
	for (size_t i = 0; i < diag->kept; i++)
		if (diag->entries[i].level == DIAG_NOTE)
			(void)fprintf(out, "%s\n", diag->entries[i].text);
}

void
diag_print_valid(size_t tables, uint64_t names, size_t warnings, FILE *out)
{
	(void)fprintf(out, "valid: %zu table%s, %" PRIu64 " name%s, %zu "
	    "warning%s\n", tables, plural(tables), names, plural(names),
	    warnings, plural(warnings));
}

void
diag_write_json(const struct diag *diag, struct json_write *w)
{
	static const char *const keys[] = { [DIAG_ERROR] = "errors",
		[DIAG_WARNING] = "warnings", [DIAG_NOTE] = "notes" };

	for (enum diag_level level = DIAG_ERROR; level <= DIAG_NOTE; level++) {
		json_write_open(w, keys[level], '[');
		for (size_t i = 0; i < diag->kept; i++)
			if (diag->entries[i].level == level)
				json_write_text(w, NULL, diag->entries[i].text);
		json_write_close(w, ']');
	}
	json_write_number(w, "more", diag_dropped(diag));
}

const char *
diag_first_error(const struct diag *diag)
{
	for (size_t i = 0; i < diag->kept; i++)
		if (diag->entries[i].level == DIAG_ERROR)
			return diag->entries[i].text;
	return NULL;
}
