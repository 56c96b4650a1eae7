/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/feed.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "resolver/feed/link.h"
#include "resolver/feed/xds_session.h"

enum { FD_STOP, FDS_OWN };

/* One wait; false: poll(2) does not work. */
static bool
wait_and_step(struct xds_session *session, struct pollfd *fds)
{
	const struct feed_host *host = session->host;
	monotime_t now = monotime_now();
	size_t count;
	int timeout;

	host->tick(host->arg);
	count = xds_session_poll(session, fds + FDS_OWN, now);
	timeout = monotime_poll_timeout(now,
	    xds_session_deadline(session, now));
	if (timeout < 0 || timeout > FEED_TICK_MS)
		timeout = FEED_TICK_MS;
	if (poll(fds, (nfds_t)(count + FDS_OWN), timeout) < 0 && errno != EINTR)
		return false;
	now = monotime_now();
	if (fds[FD_STOP].revents == 0)
		xds_session_step(session, fds + FDS_OWN, now);
	return true;
}

static int
run(const struct feed_config *config, const struct feed_host *host)
{
	struct pollfd fds[FDS_OWN + XDS_FDS];
	struct xds_session session;
	uint64_t seed;
	int error = 0;

	/* OpenSSL writes without MSG_NOSIGNAL. */
	(void)signal(SIGPIPE, SIG_IGN);
	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		return -EIO;
	memset(fds, 0, sizeof(fds));
	fds[FD_STOP] = (struct pollfd){ host->stop_fd, POLLIN, 0 };
	xds_session_init(&session, config, host, seed, monotime_now());
	while (fds[FD_STOP].revents == 0 && error == 0)
		error = wait_and_step(&session, fds) ? 0 : -errno;
	xds_session_end(&session);
	return error;
}

int
xds_run(const struct feed_config *config, const struct feed_host *host)
{
	struct feed_config own = *config;
	char path[PATH_MAX];

	if (!config->ca)
		return run(config, host);
	if (snprintf(path, sizeof(path), "%s/%s.pair", host->state_dir,
	    config->name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	own.cert = own.key = path;
	return run(&own, host);
}
