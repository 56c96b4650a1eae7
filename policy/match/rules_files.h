/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that a policy names: zones of policies and lists of names. */
#ifndef NFDNS_POLICY_MATCH_RULES_FILES_H
#define NFDNS_POLICY_MATCH_RULES_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/config/policy.h"
#include "resolver/image/builder.h"
#include "resolver/text/diag.h"

#define RULES_FILE_MAX	((size_t)256 << 20)	/* octets */

/* What is compiled; borrows all. */
struct rules_files_job {
	const struct policy *policy;
	const char *path;		/* of the configuration, for messages */
	const int *fds;			/* open, one for each of policy->sets; -1: none,
					 * and policy_unloaded says what that means */
	bool leave_out;			/* those with errors, and say nothing of them */
	const int *broker;		/* for what zones include: source_text.h; */
	unsigned int first;		/* the number of the first file there */
};

/*
 * Reads the files and makes the policy's rules.  section->octets is from malloc(3),
 * and the caller's; NULL if the policy has no rules.  section->names is how many
 * names the files have.  0, -EINVAL with errors in diag, or -ENOMEM.
 */
int rules_files_build(const struct rules_files_job *job, struct diag *diag,
    struct image_policy *section) __attribute__((warn_unused_result));

#endif
