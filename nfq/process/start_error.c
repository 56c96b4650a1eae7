/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/process/start_error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolver/replace.h"

static const char *
path_of(const struct config *config, char path[static PATH_MAX])
{
	(void)snprintf(path, PATH_MAX, "%s/start.error", config->state_dir);
	return path;
}

void
start_error_write(const struct config *config, const char *why)
{
	struct replace file;
	char path[PATH_MAX];
	FILE *out;

	(void)path_of(config, path);
	if (why == NULL) {
		(void)unlink(path);
		return;
	}
	if (replace_begin(&file, AT_FDCWD, path, 0644) < 0)
		return;
	out = replace_stream(&file);
	(void)!replace_end(&file, REPLACE_QUICKLY, out != NULL &&
	    fprintf(out, "%s\n", why) > 0 ? 0 : -EIO);
}

int64_t
start_error_read(const struct config *config,
    char why[static START_ERROR_TEXT])
{
	char path[PATH_MAX];
	FILE *file = fopen(path_of(config, path), "re");
	struct stat st = { .st_mtime = 0 };

	why[0] = '\0';
	if (file == NULL)
		return 0;
	if (fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode) &&
	    fgets(why, START_ERROR_TEXT, file) != NULL)
		why[strcspn(why, "\n")] = '\0';
	(void)fclose(file);
	return st.st_mtime;
}
