/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any octets as mesh.yaml: variables or errors, one a line. */
#include <string.h>

#include "nfq/cli/join/env.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct env env = { .path = "mesh.yaml" };
	struct diag diag = DIAG_INIT;

	mesh_yaml_read(&env, (const char *)data, size, &diag);
	check(env.count <= ENV_MAX_ENTRIES);
	for (size_t i = 0; i < env.count; i++) {
		check(strlen(env.entries[i].key) <= ENV_MAX_KEY);
		check(strlen(env.entries[i].value) < ENV_MAX_VALUE);
	}
	for (size_t i = 0; i < diag.kept; i++)
		check(strchr(diag.entries[i].text, '\n') == NULL);
	env_free(&env);
	diag_free(&diag);
	return 0;
}
