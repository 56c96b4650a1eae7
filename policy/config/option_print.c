/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of options as the text of a file with every default. */
#include "policy/config/setting.h"

#include <string.h>

static void
indent(FILE *out, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		fputc('\t', out);
}

static size_t
depth_of(const char *path, size_t length)
{
	size_t depth = 0;

	for (size_t i = 0; i < length; i++)
		depth += path[i] == '.';
	return depth;
}

/*
 * Length of the groups part of a path: "capture.bypass." of
 * "capture.bypass.users", "mesh." of "mesh.tables[].format".
 */
static size_t
groups_length(const char *path)
{
	const char *end = strstr(path, "[]");
	size_t length = end != NULL ? (size_t)(end - path) : strlen(path);

	while (length > 0 && path[length - 1] != '.')
		length--;
	return length;
}

/* Closes the groups of "before" that "path" is not in and opens its own. */
static void
change_groups(FILE *out, const char *before, const char *path)
{
	size_t old = groups_length(before), new = groups_length(path);
	size_t same = 0;

	for (size_t i = 0; i < old && i < new && before[i] == path[i]; i++)
		if (path[i] == '.')
			same = i + 1;
	for (size_t d = depth_of(before, old); d > depth_of(path, same); d--) {
		indent(out, d - 1);
		fputs("};\n", out);
	}
	while (same < new) {
		size_t end = same + strcspn(path + same, ".");

		fputc('\n', out);
		indent(out, depth_of(path, same));
		fprintf(out, "%.*s = {\n", (int)(end - same), path + same);
		same = end + 1;
	}
}

void
config_option_print(const struct config_option *options, size_t count,
    FILE *out)
{
	const char *before = "";
	char buf[CONFIG_TEXT_SIZE];

	for (size_t i = 0; i < count; i++) {
		const struct config_option *o = &options[i];
		size_t groups = groups_length(o->path);
		size_t depth = depth_of(o->path, groups);
		bool member = strstr(o->path, "[]") != NULL;

		change_groups(out, before, o->path);
		before = o->path;
		indent(out, depth);
		if (member)
			fprintf(out, "# %s: ", o->path + groups);
		else
			fputs("# ", out);
		fprintf(out, "%s\n", o->about);
		if (!o->about_allows) {
			indent(out, depth);
			fprintf(out, "# (%s%s)\n", o->list ? "a list: " : "",
			    config_option_expected(o, buf));
		}
		if (!o->reload && !o->worker) {
			indent(out, depth);
			fputs("# (a change needs a restart)\n", out);
		}
		indent(out, depth);
		if (o->fallback == NULL)
			fputs(o->required ? "# It must be given.\n" :
			    "# It need not be given.\n", out);
		else
			fprintf(out, "%s%s = %s;\n", member ? "# " : "",
			    o->path + groups, o->fallback);
	}
	change_groups(out, before, "");
}
