/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/process/compiler.h"
#include "nfq/process/diag_print.h"
#include "nfq/supervisor/audit_files.h"
#include "nfq/process/exit_code.h"
#include "nfq/cli/progress.h"
#include "policy/config/policy_check.h"
#include "resolver/image/table.h"
#include "rules/ruleset.h"

const char check_usage[] =
    "usage: nfdns [-c FILE] check [--strict | --defaults]\n"
    "\n"
    "Checks the configuration file, compiles the mesh tables, and prints every\n"
    "error and warning with file and line, then a summary.  Exit code 0 if there\n"
    "is no error, 4 if there is one.\n"
    "\n"
    "  --strict     treat warnings as errors\n"
    "  --defaults   only print every option with its meaning and default\n";

/*
 * Rules that rename to one name that no table has: their answer is that the name
 * does not exist.
 */
static void
check_rewrites(const struct config *config, const struct table *table,
    struct diag *diag)
{
	const struct policy *policy = &config->policy;
	char text[NAME_TEXT_SIZE];

	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct policy_rule *rule = &policy->rules[i];
		struct entry entry;

		if (rule->action != RULE_REWRITE ||
		    rule->to.kind != POLICY_EXACT)
			continue;
		table_find(table, &rule->to.name, &entry);
		if (entry.kind == ENTRY_NONE)
			diag_add(diag, DIAG_WARNING, rule->file, rule->line,
			    "policy[%zu]: rule \"%s\" renames to %s, which no "
			    "table has: the answer is NXDOMAIN; add the name "
			    "to a table, or use \"cname\"", i, rule->name,
			    name_to_text(rule->to.name.octets, text));
	}
}

/* Closes the image. */
static void
check_image(const struct config *config, int image, struct table_label *label,
    struct diag *diag)
{
	struct table *table = NULL;
	const char *why;

	(void)!table_peek(image, label);
	if (table_open(&table, image, &why) == 0)
		check_rewrites(config, table, diag);
	table_close(table);
	(void)close(image);
}

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
	policy_check_gaps(&config->policy, &(struct policy_gaps){
	    .absent_passes = !config->queue.absent_drop,
	    .overload_passes = config->queue.overload_pass,
	    .tcp = config->capture.tcp }, config->path, &diag);
	if (config->mesh.source_count == 0 && config->forward.domains == 0 &&
	    config->policy.rule_count == 0 && config->audit_count == 0)
		diag_add(&diag, DIAG_WARNING, config->path, 0, "there is no "
		    "table, domain to forward or rule: every question passes; "
		    "name a table in mesh.tables, or run nfdns join");
	progress_start("compiling the tables");
	image = compiler_run(config, &diag);
	progress_stop();
	if (image >= 0)
		check_image(config, image, &label, &diag);
	if (strict) {
		if (config->warnings > 0)
			diag_add(&diag, DIAG_WARNING, config->path, 0,
			    "its warnings are errors here (--strict)");
		diag_be_strict(&diag);
	}
	diag_print(&diag, program, stderr);
	diag_print_notes(&diag, stdout);
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
	(void)argc;
	(void)argv;
	return check_everything(config, false, "nfdns");
}

int
cmd_check_strict(const struct config *config, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return check_everything(config, true, "nfdns");
}

int
cmd_check_defaults(const struct config *config, int argc, char **argv)
{
	(void)config;
	(void)argc;
	(void)argv;
	config_print_defaults(stdout);
	return EXIT_OK;
}
