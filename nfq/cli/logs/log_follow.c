/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/logs/log_follow.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/cli/logs/log_opener.h"

#define LOOK_MS		200		/* how often there is a look for more */

int
log_follow_open(struct log_follow *log, const char *path, bool follow)
{
	const int fd = log_octets_open_file(path);

	*log = (struct log_follow)LOG_FOLLOW_INIT;
	if (fd < 0)
		return fd;
	if (follow && strcmp(path, "-") != 0) {
		log->opener = log_opener_start(path, fd);
		if (log->opener < 0) {
			(void)close(fd);
			return log->opener;
		}
	}
	log->source = log_octets_new(fd);
	return log->source != NULL ? 0 : -ENOMEM;
}

void
log_follow_close(struct log_follow *log)
{
	log_octets_free(log->source);
	if (log->opener >= 0)
		(void)close(log->opener);
	if (log->next >= 0)
		(void)close(log->next);
	*log = (struct log_follow)LOG_FOLLOW_INIT;
}

void
log_follow_begin(struct log_follow *log, uint8_t *octets)
{
	log->octets = octets;
	log_pieces_begin(&log->pieces, log->source, octets);
}

/* The file before has been read to its end. */
static bool
begin_next(struct log_follow *log)
{
	struct log_octets *source = log_octets_new(log->next);

	log->next = -1;
	if (source == NULL)
		return false;
	log_octets_free(log->source);
	log->source = source;
	log_pieces_begin(&log->pieces, source, log->octets);
	return true;
}

bool
log_follow_wait(struct log_follow *log, int out)
{
	struct pollfd wait[] = { { .fd = out }, { .fd = log->opener,
	    .events = POLLIN } };

	if (log->next >= 0)
		return begin_next(log);
	/* Without events only errors are told, as of a closed pipe. */
	(void)poll(wait, 2, LOOK_MS);
	if ((wait[0].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0)
		return false;
	if ((wait[1].revents & POLLIN) != 0)
		log->next = log_opener_take(log->opener);
	if ((wait[1].revents & (POLLHUP | POLLERR)) != 0 && log->next < 0) {
		(void)close(log->opener);	/* somebody ended the process */
		log->opener = -1;
	}
	/* What was written before the rotation comes first. */
	log_pieces_again(&log->pieces);
	return true;
}
