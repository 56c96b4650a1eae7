/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "nfq/process/exit_code.h"
#include "nfq/cli/rules.h"
#include "rules/kernel.h"
#include "rules/routes.h"
#include "rules/ruleset.h"

static const char usage[] =
    "usage: nfdns [-c FILE] rules [print | verify | absent | sweep]\n"
    "\n"
    "  print    the rule set that nfdnsd puts into the kernel, in the syntax\n"
    "           of nft(8) (what \"rules\" alone does too)\n"
    "  verify   compare the kernel with it; needs CAP_NET_ADMIN.  Exit code 0\n"
    "           when they are equal, 5 with every difference in words when\n"
    "           not, 1 when the kernel could not be asked\n"
    "  absent   exit code 0 when the kernel has no rule of nfdnsd, else 5\n"
    "  sweep    take out the policy routing that a killed nfdnsd left, which\n"
    "           does no harm; not while one runs\n";

static void
show(const struct diag *diag, FILE *out)
{
	for (size_t i = 0; i < diag->kept; i++)
		fprintf(out, "%s%s\n", diag->entries[i].level == DIAG_WARNING ?
		    "warning: " : "", diag->entries[i].text);
	if (diag_dropped(diag) > 0)
		fprintf(out, "... and %zu more\n", diag_dropped(diag));
}

static int
print(const struct ruleset *set)
{
	int rc = ruleset_print(set, stdout);

	if (rc == 0)
		return EXIT_OK;
	fprintf(stderr, "nfdns: cannot write the rules: %s\n", strerror(-rc));
	return EXIT_ERROR;
}

/* As rules_kernel_verify(); what keeps us from it is said. */
static int
compare(const struct ruleset *set, struct diag *differences)
{
	struct rules_kernel *kernel;
	int rc = rules_kernel_open(&kernel);

	if (rc != 0) {
		fprintf(stderr, "nfdns: rules: %s\n",
		    rules_kernel_open_error(rc));
		return -EIO;
	}
	rc = rules_kernel_verify(kernel, set, differences);
	rules_kernel_close(kernel);
	if (rc == 0 || rc == -ENOENT || rc == -ENOTUNIQ)
		return rc;
	if (rc == -EINTR)
		fputs("nfdns: rules: another program keeps changing the rules "
		    "of this kernel; try again\n", stderr);
	else
		fprintf(stderr, "nfdns: rules: cannot read the rules from the "
		    "kernel: %s\n", rules_kernel_open_error(rc));
	return -EIO;
}

/* The policy routing that TCP needs; as compare(). */
static int
compare_routes(const struct config *config, struct diag *differences)
{
	int rc = routes_verify(config, differences);

	if (rc == 0 || rc == -ENOTUNIQ)
		return rc;
	fprintf(stderr, "nfdns: rules: cannot read the routing rules from the "
	    "kernel: %s\n", strerror(-rc));
	return -EIO;
}

static int
verify(const struct config *config, const struct ruleset *set)
{
	struct diag differences = DIAG_INIT;
	int rc = compare(set, &differences);

	if (config->capture.tcp && (rc == 0 || rc == -ENOTUNIQ)) {
		int routing = compare_routes(config, &differences);

		rc = routing != 0 ? routing : rc;
	}
	show(&differences, stdout);
	diag_free(&differences);
	if (rc == 0)
		puts("table inet " RULES_TABLE " is in the kernel as wanted");
	return rc == 0 ? EXIT_OK : rc == -EIO ? EXIT_ERROR : EXIT_DEGRADED;
}

/* Asks for no configuration, which may be broken when the daemon has stopped. */
static int
absent(void)
{
	const struct ruleset nothing = { .rules = NULL };
	struct diag differences = DIAG_INIT;
	int rc = compare(&nothing, &differences);

	diag_free(&differences);
	if (rc == -EIO)
		return EXIT_ERROR;
	if (rc != -ENOENT)
		fputs("nfdns: rules: table inet " RULES_TABLE " is in the "
		    "kernel: if nfdnsd does not run, remove it with \"nft "
		    "delete table inet " RULES_TABLE "\"\n", stderr);
	return rc == -ENOENT ? EXIT_OK : EXIT_DEGRADED;
}

static int
sweep(void)
{
	int rc = routes_clean();

	if (rc == 0)
		return EXIT_OK;
	fprintf(stderr, "nfdns: rules sweep: cannot take out policy routing: "
	    "%s: run as root\n", strerror(-rc));
	return EXIT_ERROR;
}

int
cmd_rules(const struct config *config, int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "print";
	struct diag problems = DIAG_INIT;
	struct ruleset set;
	int rc;

	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0 ||
		    strcmp(argv[i], "-h") == 0) {
			fputs(usage, stdout);
			return EXIT_OK;
		}
	if (argc == 2 && strcmp(what, "absent") == 0)
		return absent();
	if (argc == 2 && strcmp(what, "sweep") == 0)
		return sweep();
	if (argc > 2 || (strcmp(what, "print") != 0 &&
	    strcmp(what, "verify") != 0)) {
		fprintf(stderr, "nfdns: rules: unknown argument \"%s\"\n%s",
		    argv[argc - 1], usage);
		return EXIT_USAGE;
	}
	rc = ruleset_build(&set, config, RULES_FULL, &problems);
	show(&problems, stderr);
	diag_free(&problems);
	if (rc == -ENOMEM)
		fputs("nfdns: rules: out of memory\n", stderr);
	if (rc != 0)
		return EXIT_ERROR;
	rc = strcmp(what, "print") == 0 ? print(&set) : verify(config, &set);
	ruleset_free(&set);
	return rc;
}
