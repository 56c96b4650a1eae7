/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster.env and mesh.yaml, as istioctl writes them and as it never would. */
#include "nfq/cli/join/plan.h"

#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

static struct env env;
static struct diag diag;

static void
reset(void)
{
	env_free(&env);
	diag_free(&diag);
	diag = (struct diag)DIAG_INIT;
	env.path = "FILE";
}

static void
read_env(const char *text)
{
	reset();
	cluster_env_read(&env, text, strlen(text), &diag);
}

static void
read_yaml(const char *text)
{
	reset();
	mesh_yaml_read(&env, text, strlen(text), &diag);
}

static bool
has(const char *key, const char *value)
{
	const struct env_entry *entry = env_find(&env, key);

	return entry != NULL && strcmp(entry->value, value) == 0;
}

static bool
says(const char *text)
{
	for (size_t i = 0; i < diag.kept; i++)
		if (strstr(diag.entries[i].text, text) != NULL)
			return true;
	for (size_t i = 0; i < diag.kept; i++)
		printf("  %s\n", diag.entries[i].text);
	return false;
}

TEST(variables)
{
	read_env("A='x y'\nB=plain-1.2:3,4/@%+_\n# C='1'\n\nD=''\n"
	    "E='{\"a\":\"b\"}'\nF='it'\"'\"'s'\nG=\nA='last'\n");
	CHECK(diag.errors == 0);
	CHECK(has("A", "last"));
	CHECK(has("B", "plain-1.2:3,4/@%+_"));
	CHECK(env_find(&env, "C") == NULL);
	CHECK(has("D", ""));
	CHECK(has("E", "{\"a\":\"b\"}"));
	CHECK(has("F", "it's"));
	CHECK(has("G", ""));
	CHECK(env_find(&env, "A")->line == 9);
	read_env("A='no end of line'");
	CHECK(diag.errors == 0 && has("A", "no end of line"));
}

TEST(bounds)
{
	char *text = malloc(ENV_MAX_VALUE + 100);
	char key[ENV_MAX_KEY + 5];
	size_t used = 0;

	memset(text, 'x', ENV_MAX_VALUE + 99);
	memcpy(text, "A=", 2);
	text[ENV_MAX_VALUE + 1] = '\0';
	read_env(text);
	CHECK(diag.errors == 0 && strlen(env_find(&env, "A")->value) ==
	    ENV_MAX_VALUE - 1);
	text[ENV_MAX_VALUE + 1] = 'x';
	text[ENV_MAX_VALUE + 2] = '\0';
	read_env(text);
	CHECK(says("A has a value that is too long"));
	for (int i = 0; i <= ENV_MAX_ENTRIES; i++)
		used += (size_t)snprintf(text + used, 20, "K%d=1\n", i);
	text[used] = '\0';
	read_env(text);
	CHECK(env.count == ENV_MAX_ENTRIES && says("more than 256 variables"));
	memset(key, 'k', sizeof(key));
	memcpy(key + ENV_MAX_KEY + 1, "=1", 3);
	read_env(key);
	CHECK(says("is not KEY"));
	read_env(key + 1);
	CHECK(diag.errors == 0);
	free(text);
}

TEST(mesh)
{
	read_yaml("defaultConfig:\n  discoveryAddress: istiod.x.svc:15012\n"
	    "  proxyMetadata:\n    A: one\n    B: \"true\"\n    C: true\n"
	    "    D: \"\"\n    E:\n    F: '{\"a\":\"b\"}'\n"
	    "  readinessProbe:\n    httpGet:\n      port: 8080\n");
	CHECK(diag.errors == 0);
	CHECK(has(MESH_YAML_SERVER, "istiod.x.svc:15012"));
	CHECK(has("A", "one") && has("B", "true") && has("C", "true"));
	CHECK(has("D", "") && has("E", "") && has("F", "{\"a\":\"b\"}"));
	read_yaml("defaultConfig:\n  proxyMetadata:\n    A: one\n");
	CHECK(diag.errors == 0 && env_find(&env, MESH_YAML_SERVER) == NULL);
	read_yaml("defaultConfig: {}\n");
	CHECK(diag.errors == 0 && env.count == 0);
}

int
main(void)
{
	test_run();
	reset();
	return test_summary();
}
