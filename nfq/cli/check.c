/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/process/compiler.h"
#include "nfq/process/diag_print.h"
#include "nfq/supervisor/audit_files.h"
#include "nfq/process/exit_code.h"
#include "policy/config/capture.h"
#include "resolver/image/table.h"
#include "resolver/text/json_write.h"
#include "rules/ruleset.h"

const char check_usage[] =
    "usage: nfdns [-c FILE] check [--strict] [--json]\n"
    "       nfdns check --defaults\n"
    "\n"
    "Checks the configuration file, compiles the mesh tables, and prints every\n"
    "error and warning with file and line, then a summary.  Exit code 0 if there\n"
    "is no error, 4 if there is one.\n"
    "\n"
    "      --strict     treat warnings as errors\n"
    "  -j, --json       print one JSON object\n"
    "      --defaults   only print every option with its meaning and default\n";

struct words {
	bool strict, json, defaults;
};

const struct command_option check_options[] = {
	OPTION_FLAG("strict", 0, struct words, strict),
	OPTION_FLAG("json", 'j', struct words, json),
	OPTION_FLAG("defaults", 0, struct words, defaults),
	{ .name = NULL },
};

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

/* All that a reload would look at; the tables' names to *names. */
static void
check_all(const struct config *config, uint64_t *names, struct diag *diag)
{
	struct table_label label = { .names = 0 };
	struct ruleset set;
	int image;

	if (ruleset_build(&set, config, RULES_FULL, diag) == 0)
		ruleset_free(&set);
	audit_files_check(config, diag);
	policy_check_gaps(&config->policy, &(struct policy_gaps){
	    .absent_passes = !config->queue.absent_drop,
	    .overload_passes = config->queue.overload_pass,
	    .tcp = config->capture.tcp }, config->path, diag);
	if (config->mesh.source_count == 0 && config->forward.domains == 0 &&
	    config->policy.rule_count == 0 && config->audit_count == 0)
		diag_add(diag, DIAG_WARNING, config->path, 0, "there is no "
		    "table, domain to forward or rule: every question passes; "
		    "name a table in mesh.tables, or run nfdns join");
	cli_waits_for("compiling the tables");
	image = compiler_run(config, diag);
	cli_waits_for(NULL);
	if (image >= 0) {
		struct table *table = NULL;
		const char *why;

		(void)!table_peek(image, &label);
		if (table_open(&table, image, &why) == 0)
			check_rewrites(config, table, diag);
		table_close(table);
		(void)close(image);
	}
	*names = label.names;
}

static int
print_json(const char *path, size_t tables, uint64_t names,
    const struct diag *diag)
{
	struct json_write w = { .out = stdout };

	json_write_open(&w, NULL, '{');
	json_write_text(&w, "file", path);
	json_write_bool(&w, "valid", diag->errors == 0);
	json_write_number(&w, "tables", tables);
	json_write_number(&w, "names", names);
	diag_write_json(diag, &w);
	json_write_close(&w, '}');
	return json_write_end(&w);
}

/* Reads and checks the file, and prints what was found.  An exit code. */
static int
check(const char *path, const struct words *words, const char *program)
{
	struct diag diag = DIAG_INIT;
	struct config *config = NULL;
	uint64_t names = 0;
	size_t tables;
	int code;

	if (config_load(&config, path, &diag) < 0)
		config = NULL;
	else
		check_all(config, &names, &diag);
	if (words->strict)
		diag_be_strict(&diag);
	tables = config != NULL ? config->mesh.source_count : 0;
	code = diag.errors > 0 ? EXIT_INVALID : EXIT_OK;
	if (words->json) {
		if (print_json(path, tables, names, &diag) != 0)
			code = EXIT_ERROR;
	} else {
		diag_print(&diag, program, stderr);
		diag_print_notes(&diag, stdout);
	}
	if (!words->json && code == EXIT_OK) {
		(void)printf("%s: ", path);
		diag_print_valid(tables, names, diag.warnings, stdout);
	}
	config_free(config);
	diag_free(&diag);
	return code;
}

int
check_file(const char *path, const char *program)
{
	return check(path, &(const struct words){ .json = false }, program);
}

/* It reads the configuration itself: its errors are what is asked for. */
int
cmd_check(const struct config *peeked, int argc, char **argv)
{
	struct words words = { .json = false };

	if (!command_options_only(check_options, "nfdns check", &words, argc,
	    argv))
		return EXIT_USAGE;
	if (!words.defaults)
		return check(peeked->path, &words, "nfdns");
	config_print_defaults(stdout);
	return EXIT_OK;
}
