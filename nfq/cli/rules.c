/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/cli/doctor/findings.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "rules/kernel.h"
#include "rules/routes.h"
#include "rules/ruleset.h"

const char rules_usage[] =
    "usage: nfdns [-c FILE] rules [print | verify [--json] | absent | sweep]\n"
    "\n"
    "  print    print the rules that nfdnsd installs in the kernel, in the syntax\n"
    "           of nft(8); the default\n"
    "  verify   ask nfdnsd whether the kernel has the rules that it installed, and\n"
    "           whether the configuration wants others by now.  Exit code 0 if\n"
    "           all are the same; 5 if not, with a line for each difference; 1 if\n"
    "           the kernel's rules cannot be read\n"
    "  absent   exit code 0 if the kernel has no rule of nfdnsd, else 5\n"
    "  sweep    remove the policy routing that a killed nfdnsd left behind (it\n"
    "           is harmless); use it only while no nfdnsd runs\n"
    "\n"
    "  -j, --json   of verify: print one JSON object\n";

struct words {
	bool json;			/* of verify */
};

const struct command_option rules_options[] = {
	OPTION_FLAG("json", 'j', struct words, json),
	{ .name = NULL },
};

static int
print(const struct ruleset *set)
{
	int rc = ruleset_print(set, stdout);

	if (rc == 0)
		return EXIT_OK;
	cli_error("cannot write the rules: %s", strerror(-rc));
	return EXIT_ERROR;
}

/* As rules_kernel_present(), but prints failures and returns -EIO. */
static int
look(bool *present)
{
	struct rules_kernel *kernel;
	int rc = rules_kernel_open(&kernel);

	if (rc != 0) {
		cli_error("rules: %s", rules_kernel_open_error(rc));
		return -EIO;
	}
	rc = rules_kernel_present(kernel, present);
	rules_kernel_close(kernel);
	if (rc == 0)
		return 0;
	cli_error("rules: cannot read the rules from the kernel: %s",
	    rules_kernel_open_error(rc));
	return -EIO;
}

/* Without a daemon no rule should be there. */
static int
verify_absent(void)
{
	bool present;

	if (look(&present) != 0)
		return EXIT_ERROR;
	(void)puts(present ? "table inet " RULES_TABLE " is in the kernel, but "
	    "nfdnsd is not running here" : "table inet " RULES_TABLE " is not "
	    "in the kernel: nfdnsd is not running here");
	return EXIT_DEGRADED;
}

static int
print_json(const struct daemon_answer *answer, bool edited)
{
	const bool same = answer->code == EXIT_OK && !edited;
	struct json_write w = { .out = stdout };

	json_write_open(&w, NULL, '{');
	json_write_bool(&w, "same", same);
	json_write_bool(&w, "edited", edited);
	daemon_write_lines(&w, "differences", answer->err);
	json_write_close(&w, '}');
	return json_write_end(&w) != 0 ? EXIT_ERROR :
	    same ? EXIT_OK : EXIT_DEGRADED;
}

static void
print_difference(const struct daemon_answer *answer, bool edited)
{
	if (answer->code == EXIT_DEGRADED)
		(void)printf("%stable inet " RULES_TABLE " was changed by "
		    "another program: nfdns reload puts it right\n",
		    answer->err);
	else if (!edited)
		(void)puts("table inet " RULES_TABLE " in the kernel is as "
		    "configured");
	if (edited)
		(void)puts("the configuration was edited and not reloaded: it "
		    "wants other rules than those in force; nfdns reload "
		    "takes it");
}

static int
verify(const struct config *config, const struct ruleset *set, bool json)
{
	struct daemon_answer answer;
	const int error = daemon_ask(&answer, config->run_dir, "rules",
	    DAEMON_REACTS_MS);
	bool edited;
	char *text;
	int code;

	if (error == -ENOENT || error == -ECONNREFUSED)
		return verify_absent();
	if (error < 0)
		return daemon_tell_error(&answer, "rules", config->run_dir,
		    error);
	code = answer.code;
	if (code != EXIT_OK && code != EXIT_DEGRADED) {
		(void)daemon_print(&answer, "rules");
		daemon_answer_free(&answer);
		return code;
	}
	text = ruleset_text(set);
	edited = text != NULL && strcmp(text, answer.out) != 0;
	if (text == NULL) {
		cli_error("rules: out of memory");
		code = EXIT_ERROR;
	} else if (json) {
		code = print_json(&answer, edited);
	} else {
		print_difference(&answer, edited);
		code = edited ? EXIT_DEGRADED : code;
	}
	free(text);
	daemon_answer_free(&answer);
	return code;
}

/* Needs no configuration: after the daemon's end it may be broken. */
int
cmd_rules_absent(const struct config *config, int argc, char **argv)
{
	bool present;

	(void)config;
	(void)argc;
	(void)argv;
	if (look(&present) != 0)
		return EXIT_ERROR;
	if (present)
		cli_error("rules: table inet " RULES_TABLE " is in the kernel; "
		    "if nfdnsd does not run, remove it with \"nft delete table "
		    "inet " RULES_TABLE "\"");
	return present ? EXIT_DEGRADED : EXIT_OK;
}

int
cmd_rules_sweep(const struct config *config, int argc, char **argv)
{
	int rc = routes_clean();

	(void)config;
	(void)argc;
	(void)argv;
	if (rc == 0)
		return EXIT_OK;
	cli_error("rules sweep: cannot remove the policy routing: %s; run as "
	    "root", strerror(-rc));
	return EXIT_ERROR;
}

/* Makes the rules of config.  EXIT_OK, or an exit code after a message. */
static int
build(struct ruleset *set, const struct config *config)
{
	struct diag problems = DIAG_INIT;
	struct daemon_answer answer;
	struct status_page page;
	int rc = daemon_page(&answer, &page, config->run_dir);
	const bool asked = rc == 0;

	/* Where none runs, the rules are without its ports. */
	if (!asked && rc != -ENOENT && rc != -ECONNREFUSED)
		return daemon_tell_error(&answer, "rules", config->run_dir, rc);
	rc = daemon_rules(set, config, asked ? &page : NULL, &problems);
	if (asked) {
		status_close(&page);
		daemon_answer_free(&answer);
	}
	diag_print(&problems, "nfdns", stderr);
	diag_free(&problems);
	if (rc == -ENOMEM)
		cli_error("rules: out of memory");
	return rc == 0 ? EXIT_OK : EXIT_ERROR;
}

int
cmd_rules_print(const struct config *config, int argc, char **argv)
{
	struct ruleset set;
	int code = build(&set, config);

	(void)argc;
	(void)argv;
	if (code != EXIT_OK)
		return code;
	code = print(&set);
	ruleset_free(&set);
	return code;
}

int
cmd_rules_verify(const struct config *config, int argc, char **argv)
{
	struct words words = { .json = false };
	struct ruleset set;
	int code;

	if (!command_options_only(rules_options, "nfdns rules", &words,
	    argc - 1, argv + 1))
		return EXIT_USAGE;
	code = build(&set, config);
	if (code != EXIT_OK)
		return code;
	code = verify(config, &set, words.json);
	ruleset_free(&set);
	return code;
}
