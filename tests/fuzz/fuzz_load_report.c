/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as run_dir/load, which an unprivileged user may have written. */
#include <stdlib.h>
#include <string.h>

#include "policy/status/load_report.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct load_report report;
	int error;

	if (text == NULL)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	error = load_report_parse(&report, text);
	check(report.source_count <= LOAD_REPORT_SOURCES);
	check(error == 0 || (report.source_count == 0 &&
	    report.diag.kept == 0));
	check(report.diag.errors + report.diag.warnings >= report.diag.kept);
	for (size_t i = 0; i < report.diag.kept; i++)
		check(strpbrk(report.diag.entries[i].text, "\n\033") == NULL);
	load_report_free(&report);
	free(text);
	return 0;
}
