/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as cluster.env: variables or errors, one a line. */
#include <string.h>

#include "nfq/cli/join/env.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct env env = { .path = "cluster.env" };
	struct diag diag = DIAG_INIT;

	cluster_env_read(&env, (const char *)data, size, &diag);
	check(env.count <= ENV_MAX_ENTRIES);
	for (size_t i = 0; i < env.count; i++) {
		check(strlen(env.entries[i].value) < ENV_MAX_VALUE);
		check(strpbrk(env.entries[i].value, "\n\033") == NULL);
		check(env_find(&env, env.entries[i].key) >= &env.entries[i]);
	}
	for (size_t i = 0; i < diag.kept; i++)
		check(strchr(diag.entries[i].text, '\n') == NULL);
	env_free(&env);
	diag_free(&diag);
	return 0;
}
