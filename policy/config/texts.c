/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that a configuration is read from. */
#include <sys/stat.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/config/file.h"

#define SUFFIX	".conf"

int
config_texts_add(struct config_text **texts, size_t *count,
    const char *path, const char *text, size_t length, struct diag *diag)
{
	struct config_text *grown = reallocarray(*texts, *count + 1,
	    sizeof(*grown)), *added;

	if (grown != NULL) {
		*texts = grown;
		added = &grown[*count];
		*added = (struct config_text){ strdup(path),
			config_file_absolute(path), malloc(length + 1), length };
		(*count)++;
		if (added->text != NULL) {
			memcpy(added->text, text, length);
			added->text[length] = '\0';
		}
		if (added->path != NULL && added->absolute != NULL &&
		    added->text != NULL)
			return 0;
	}
	diag_add(diag, DIAG_ERROR, path, 0, "cannot be read: %s",
	    strerror(errno));
	return -ENOMEM;
}

int
config_texts_read(struct config_text **texts, size_t *count,
    const char *path, struct diag *diag)
{
	size_t length = 0;
	char *text = config_file_read(path, &length, diag);
	const int error = text == NULL ? -EINVAL :
	    config_texts_add(texts, count, path, text, length, diag);

	free(text);
	return error;
}

static int
is_conf(const struct dirent *entry)
{
	const size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > sizeof(SUFFIX) - 1 &&
	    strcmp(entry->d_name + length - (sizeof(SUFFIX) - 1), SUFFIX) == 0;
}

/* Who can write there says what nfdnsd does. */
static bool
is_safe(const char *path, struct diag *diag)
{
	struct stat st;

	if (stat(path, &st) < 0) {
		diag_add(diag, DIAG_ERROR, path, 0, "cannot be read: %s",
		    strerror(errno));
		return false;
	}
	if ((st.st_uid == 0 || st.st_uid == geteuid()) &&
	    (st.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return true;
	diag_add(diag, DIAG_ERROR, path, 0, "other users may write it, and it "
	    "is read with the configuration: make it root's (chown root, chmod "
	    "go-w)");
	return false;
}

static int
add_file(struct config_text **texts, size_t *count, const char *directory,
    const char *name, struct diag *diag)
{
	char *path = NULL;
	int error = asprintf(&path, "%s/%s", directory, name) < 0 ? -ENOMEM : 0;

	if (error < 0)
		return error;
	error = is_safe(path, diag) ? config_texts_read(texts, count, path,
	    diag) : -EINVAL;
	free(path);
	return error;
}

int
config_texts_read_beside(struct config_text **texts, size_t *count,
    const char *path, const char *name, struct diag *diag)
{
	const char *slash = strrchr(path, '/');
	struct dirent **entries = NULL;
	char *directory = NULL;
	int found = -1, error = asprintf(&directory, "%.*s%s", slash != NULL ?
	    (int)(slash - path) + 1 : 0, path, name) < 0 ? -ENOMEM : 0;

	if (error == 0 && access(directory, F_OK) == 0) {
		found = is_safe(directory, diag) ? scandir(directory, &entries,
		    is_conf, alphasort) : -1;
		if (found < 0 && diag->errors == 0)
			diag_add(diag, DIAG_ERROR, directory, 0, "cannot be "
			    "read: %s", strerror(errno));
		error = found < 0 ? -EINVAL : 0;
	}
	for (int i = 0; i < found; i++) {
		const int one = add_file(texts, count, directory,
		    entries[i]->d_name, diag);

		error = error == 0 ? one : error;
		free(entries[i]);
	}
	free(entries);
	free(directory);
	return error;
}

bool
config_text_sets(const struct config_text *text, const char *option)
{
	config_t tree;
	bool sets;

	config_init(&tree);
	sets = config_read_string(&tree, text->text) == CONFIG_TRUE &&
	    config_lookup(&tree, option) != NULL;
	config_destroy(&tree);
	return sets;
}

void
config_texts_free(struct config_text *texts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(texts[i].path);
		free(texts[i].absolute);
		free(texts[i].text);
	}
	free(texts);
}
