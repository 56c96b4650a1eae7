/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drives rules/ from a test, without the daemon.  Owns the table as nfdnsd
 * does, until its input ends.  One order a line:
 *
 *   install canary|full FILE	-> "ok owner=0|1 native=0|1"
 *   counter			-> "ok PACKETS"
 *   remove			-> "ok"
 *   verify FILE		-> "ok"
 *   print FILE			-> the text, then "ok"
 *
 * or "error ERRNO", after lines "- TEXT" with what diag has to say.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "policy/config.h"
#include "rules/kernel.h"
#include "rules/ruleset.h"

static void
reply(int rc, struct diag *diag)
{
	for (size_t i = 0; i < diag->kept; i++)
		printf("- %s\n", diag->entries[i].text);
	if (rc != 0)
		printf("error %d\n", -rc);
	else
		puts("ok");
}

static int
with_rules(struct rules_kernel *kernel, const char *order, const char *file,
    enum rules_stage stage, struct diag *diag)
{
	struct rules_features features = { .owner = false };
	struct config *config = NULL;
	struct ruleset set;
	int rc = config_load(&config, file, diag);

	if (rc != 0)
		return rc;
	rc = ruleset_build(&set, config, stage, diag);
	if (rc != 0)
		goto out;
	if (strcmp(order, "print") == 0)
		rc = ruleset_print(&set, stdout);
	else if (strcmp(order, "verify") == 0)
		rc = rules_kernel_verify(kernel, &set, diag);
	else
		rc = rules_kernel_install(kernel, &set, &features, diag);
	if (rc == 0 && strcmp(order, "install") == 0)
		printf("ok owner=%d native=%d\n", features.owner,
		    features.native_queue);
	ruleset_free(&set);
out:
	config_free(config);
	return rc;
}

static void
obey(struct rules_kernel *kernel, const char *line)
{
	struct diag diag = DIAG_INIT;
	char order[16], stage[16], file[256];
	uint64_t packets = 0;
	int rc;

	if (sscanf(line, "install %15s %255s", stage, file) == 2) {
		rc = with_rules(kernel, "install", file,
		    strcmp(stage, "canary") == 0 ? RULES_CANARY : RULES_FULL,
		    &diag);
		if (rc != 0)
			reply(rc, &diag);
	} else if (sscanf(line, "%15s %255s", order, file) == 2) {
		reply(with_rules(kernel, order, file, RULES_FULL, &diag), &diag);
	} else if (strcmp(line, "counter\n") == 0) {
		rc = rules_kernel_counter(kernel, &packets);
		if (rc == 0)
			printf("ok %" PRIu64 "\n", packets);
		else
			reply(rc, &diag);
	} else {
		reply(rules_kernel_remove(kernel), &diag);
	}
	diag_free(&diag);
	fflush(stdout);
}

int
main(void)
{
	struct rules_kernel *kernel;
	char line[512];
	int rc = rules_kernel_open(&kernel);

	if (rc != 0) {
		printf("- %s\nerror %d\n", rules_kernel_open_error(rc), -rc);
		return 1;
	}
	while (fgets(line, sizeof(line), stdin) != NULL)
		obey(kernel, line);
	rules_kernel_close(kernel);
	return 0;
}
