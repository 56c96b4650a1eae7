/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/pending.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfq/cli/message.h"
#include "resolver/sources/feed_file.h"

#define FILE_NAME_SIZE	(FEED_FILE_NAME_MAX + 16)

static void
use(int directory, const char *feed)
{
	char pending[FILE_NAME_SIZE], table[FILE_NAME_SIZE];
	struct stat st;

	(void)snprintf(pending, sizeof(pending), "%s" FEED_FILE_PENDING, feed);
	(void)snprintf(table, sizeof(table), "%s" FEED_FILE_TABLE, feed);
	if (fstatat(directory, pending, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	/* rename(2) follows neither of the two. */
	if (S_ISREG(st.st_mode) &&
	    renameat(directory, pending, directory, table) == 0)
		(void)printf("feed %s: the table that was held back is used\n",
		    feed);
	else
		cli_error("reload: the table that feed %s holds back cannot be "
		    "used: %s", feed, S_ISREG(st.st_mode) ? strerror(errno) :
		    "it is no regular file");
}

void
pending_use(const struct config *config)
{
	const struct mesh *mesh = &config->mesh;
	int directory = open(config->state_dir, O_RDONLY | O_DIRECTORY |
	    O_CLOEXEC);

	if (directory < 0)
		return;
	for (size_t i = 0; i < mesh->source_count; i++)
		if (mesh->sources[i].feed != NULL)
			use(directory, mesh->sources[i].feed);
	(void)close(directory);
}
