/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/process/compiler.h"
#include "nfq/process/diag_print.h"
#include "nfq/supervisor/audit_files.h"
#include "nfq/process/exit_code.h"
#include "nfq/cli/progress.h"
#include "resolver/image/table.h"
#include "rules/ruleset.h"

static const char usage[] =
    "usage: nfdns [-c FILE] check [--strict | --defaults]\n"
    "\n"
    "Checks the configuration file, compiles the mesh tables, and shows every\n"
    "error and warning with file and line, then how much there is.  Exit code 0\n"
    "when all is well, 4 when not.\n"
    "\n"
    "  --strict     what is only a warning otherwise is an error too\n"
    "  --defaults   print every option with its default and end\n";

int
check_everything(const struct config *config, bool strict,
    const char *program)
{
	struct diag diag = DIAG_INIT;
	struct ruleset set;
	struct table_label label = { .names = 0 };
	int image, code;

	if (ruleset_build(&set, config, RULES_FULL, &diag) == 0)
		ruleset_free(&set);
	audit_files_check(config, &diag);
	progress_start("compiling the tables");
	image = compiler_run(config, &diag);
	progress_stop();
	if (image >= 0) {
		(void)!table_peek(image, &label);
		(void)close(image);
	}
	if (strict) {
		if (config->warnings > 0)
			diag_add(&diag, DIAG_WARNING, config->path, 0,
			    "has %zu warnings, see above", config->warnings);
		diag_be_strict(&diag);
	}
	diag_print(&diag, program, stderr);
	code = image < 0 || diag.errors > 0 ? EXIT_INVALID : EXIT_OK;
	if (code == EXIT_OK) {
		(void)printf("%s: ", config->path);
		diag_print_valid(config->mesh.source_count, label.names,
		    config->warnings + diag.warnings, stdout);
	}
	diag_free(&diag);
	return code;
}

int
cmd_check(const struct config *config, int argc, char **argv)
{
	bool strict = false;

	if (argc > 1 && (strcmp(argv[1], "--help") == 0 ||
	    strcmp(argv[1], "-h") == 0)) {
		(void)fputs(usage, stdout);
		return EXIT_OK;
	}
	if (argc == 2 && strcmp(argv[1], "--defaults") == 0) {
		config_print_defaults(stdout);
		return EXIT_OK;
	}
	if (argc == 2 && strcmp(argv[1], "--strict") == 0) {
		strict = true;
	} else if (argc > 1) {
		(void)fprintf(stderr, "nfdns: check: unknown argument \"%s\"\n%s",
		    argv[1], usage);
		return EXIT_USAGE;
	}
	return check_everything(config, strict, "nfdns");
}
