/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/process/exit_code.h"

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
	struct stat st = { .st_mtime = 0 };
	ssize_t n = -1;
	/* Feeds write into that directory, too: what they put there is not ours. */
	const int fd = open(path_of(config, path), O_RDONLY | O_CLOEXEC |
	    O_NOFOLLOW | O_NONBLOCK);

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_uid == 0 || st.st_uid == geteuid()))
		n = read(fd, why, START_ERROR_TEXT - 1);
	why[n > 0 ? n : 0] = '\0';
	why[strcspn(why, "\n")] = '\0';
	if (fd >= 0)
		(void)close(fd);
	return st.st_mtime;
}
