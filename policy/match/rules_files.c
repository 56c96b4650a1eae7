/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/match/rules_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/match/rules.h"
#include "resolver/sources/source_file.h"

static char *
read_file(const char *path, int fd, size_t *length, struct diag *diag)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && (uint64_t)st.st_size > RULES_FILE_MAX) {
		diag_add(diag, DIAG_ERROR, path, 0, "has %llu MiB, the limit is "
		    "%zu MiB: split it", (unsigned long long)st.st_size >> 20,
		    RULES_FILE_MAX >> 20);
		return NULL;
	}
	return source_file_read(path, fd, length, diag);
}

/* Adds all of another diag and empties that. */
static void
join(struct diag *diag, struct diag *from)
{
	for (size_t i = 0; i < from->kept; i++)
		if (from->entries[i].text != NULL)
			diag_add_text(diag, from->entries[i].level,
			    from->entries[i].text);
	if (diag_dropped(from) > 0)
		diag_add(diag, from->errors == 0 ? DIAG_WARNING : DIAG_ERROR,
		    NULL, 0, "and %zu more like these", diag_dropped(from));
	diag_free(from);
}

/* Takes out the files that have errors.  Whether any was in. */
static bool
leave_out(const struct policy *policy, struct rules_file *files)
{
	bool any = false;

	for (size_t i = 0; i < policy->set_count; i++) {
		if (files[i].diag->errors > 0) {
			any |= files[i].text.data != NULL;
			files[i].text.data = NULL;
			files[i].names = 0;
		}
		diag_free(files[i].diag);
	}
	return any;
}

static int
build(const struct rules_files_job *job, struct rules_file *files,
    struct diag *diag, uint8_t **octets, size_t *size)
{
	bool again = true;
	int error = 0;

	while (again) {
		struct diag attempt = DIAG_INIT;

		error = rules_build(job->policy, job->path, files, &attempt,
		    octets, size);
		again = job->leave_out && leave_out(job->policy, files);
		if (!again)
			join(diag, &attempt);
		diag_free(&attempt);
	}
	return error == -EBADMSG ? -EINVAL : error;
}

int
rules_files_build(const struct rules_files_job *job, struct diag *diag,
    struct image_policy *section)
{
	const size_t count = job->policy->set_count;
	struct rules_file *files = calloc(count + 1, sizeof(*files));
	struct diag *diags = calloc(count + 1, sizeof(*diags));
	char **texts = calloc(count + 1, sizeof(*texts));
	uint8_t *octets = NULL;
	size_t unread = 0;
	int error = files == NULL || diags == NULL || texts == NULL ? -ENOMEM : 0;

	*section = (struct image_policy){ .size = 0 };
	for (unsigned int i = 0; i < count && error == 0; i++) {
		const char *path = job->policy->sets[i].path;

		files[i].text = (struct source_text){ .path = path,
			.broker = job->broker, .number = job->first + i };
		files[i].diag = &diags[i];
		if (job->fds[i] >= 0)
			files[i].text.data = texts[i] = read_file(path,
			    job->fds[i], &files[i].text.length, &diags[i]);
		unread += texts[i] == NULL && diags[i].errors > 0;
	}
	if (error == 0)
		error = build(job, files, diag, &octets, &section->size);
	for (size_t i = 0; i < count && files != NULL && diags != NULL; i++) {
		section->names += files[i].names;
		join(diag, &diags[i]);
	}
	if (error == 0 && unread > 0 && !job->leave_out)
		error = -EINVAL;
	section->octets = octets;
	for (size_t i = 0; i < count && texts != NULL; i++)
		free(texts[i]);
	free(files);
	free(diags);
	free(texts);
	return error;
}
