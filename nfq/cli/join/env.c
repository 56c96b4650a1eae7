/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/join/plan.h"

#include <stdlib.h>
#include <string.h>

bool
env_add(struct env *env, const char *key, const char *value, unsigned int line,
    struct diag *diag)
{
	struct env_entry *grown, *entry;

	if (env->count == ENV_MAX_ENTRIES) {
		diag_add(diag, DIAG_ERROR, env->path, line,
		    "more than %d variables", ENV_MAX_ENTRIES);
		return false;
	}
	grown = realloc(env->entries, (env->count + 1) * sizeof(*grown));
	if (grown == NULL) {
		diag_add(diag, DIAG_ERROR, env->path, line, "out of memory");
		return false;
	}
	env->entries = grown;
	entry = &grown[env->count];
	*entry = (struct env_entry){ strdup(key), strdup(value), line };
	if (entry->key == NULL || entry->value == NULL) {
		free(entry->key);
		free(entry->value);
		diag_add(diag, DIAG_ERROR, env->path, line, "out of memory");
		return false;
	}
	env->count++;
	return true;
}

const struct env_entry *
env_find(const struct env *env, const char *key)
{
	for (size_t i = env->count; i-- > 0;)
		if (strcmp(env->entries[i].key, key) == 0)
			return &env->entries[i];
	return NULL;
}

void
env_free(struct env *env)
{
	for (size_t i = 0; i < env->count; i++) {
		free(env->entries[i].key);
		free(env->entries[i].value);
	}
	free(env->entries);
	*env = (struct env){ .path = NULL };
}
