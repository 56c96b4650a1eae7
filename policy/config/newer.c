/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/config.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/config/file.h"
#include "resolver/sources/source_format.h"

static int
add(struct config_newer *newer, const char *path, const char *behind)
{
	char **files = reallocarray(newer->files, newer->count + 1,
	    sizeof(*files));

	if (files == NULL)
		return -ENOMEM;
	newer->files = files;
	if (asprintf(&files[newer->count], "%s%s", path, behind) < 0)
		return -ENOMEM;
	newer->count++;
	return 0;
}

static const struct config_text *
text_of(const struct config_text *texts, size_t count, const char *absolute)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(texts[i].absolute, absolute) == 0)
			return &texts[i];
	return NULL;
}

/* What cannot be read now is gone, for whoever reloads. */
static int
compare_texts(struct config_newer *newer, const struct config *config)
{
	struct diag diag = DIAG_INIT;
	struct config_text *texts = NULL;
	size_t count = 0;
	int error = 0;

	(void)!config_texts_read(&texts, &count, config->path, &diag);
	(void)!config_texts_read_beside(&texts, &count, config->path, "conf.d",
	    &diag);
	for (size_t i = 0; i < count && error == 0; i++) {
		const struct config_text *before = text_of(config->texts,
		    config->text_count, texts[i].absolute);

		if (before == NULL || before->length != texts[i].length ||
		    memcmp(before->text, texts[i].text, before->length) != 0)
			error = add(newer, texts[i].path, "");
	}
	for (size_t i = 0; i < config->text_count && error == 0; i++)
		if (text_of(texts, count, config->texts[i].absolute) == NULL)
			error = add(newer, config->texts[i].path, " (gone)");
	config_texts_free(texts, count);
	diag_free(&diag);
	return error;
}

/* When the newest file in it changed that the format reads. */
static int64_t
newest_in(const char *path, const char *ending)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	int64_t newest = 0;
	struct stat st;

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		const size_t length = strlen(entry->d_name);
		const size_t tail = strlen(ending);

		if (entry->d_name[0] != '.' && length > tail &&
		    entry->d_name[length - 1] != '~' &&
		    strcmp(entry->d_name + length - tail, ending) == 0 &&
		    fstatat(dirfd(directory), entry->d_name, &st, 0) == 0 &&
		    S_ISREG(st.st_mode) && st.st_mtime > newest)
			newest = st.st_mtime;
	}
	if (directory != NULL)
		(void)closedir(directory);
	return newest;
}

static int
compare_source(struct config_newer *newer, const struct mesh_source *source)
{
	int64_t changed;
	struct stat st;

	if (source->format->kept)
		return 0;
	if (stat(source->path, &st) < 0)
		return source->left_out ? 0 : add(newer, source->path,
		    " (gone)");
	changed = S_ISDIR(st.st_mode) && source->format->ending != NULL ?
	    newest_in(source->path, source->format->ending) : st.st_mtime;
	return changed == source->changed ? 0 : add(newer, source->path, "");
}

int
config_newer(struct config_newer *newer, const struct config *config,
    int64_t loaded)
{
	const struct policy *policy = &config->policy;
	int error;
	struct stat st;

	*newer = (struct config_newer){ NULL, 0 };
	error = compare_texts(newer, config);
	for (size_t i = 0; i < config->mesh.source_count && error == 0; i++)
		error = compare_source(newer, &config->mesh.sources[i]);
	for (size_t i = 0; i < policy->set_count && error == 0; i++)
		if (stat(policy->sets[i].path, &st) == 0 &&
		    st.st_mtime > loaded)
			error = add(newer, policy->sets[i].path, "");
	return error;
}

void
config_newer_free(struct config_newer *newer)
{
	for (size_t i = 0; i < newer->count; i++)
		free(newer->files[i]);
	free(newer->files);
	*newer = (struct config_newer){ NULL, 0 };
}
