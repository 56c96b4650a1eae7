/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/xds.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "resolver/feed/xds_session.h"

#define SLEPT_NS	5000000000	/* that CLOCK_MONOTONIC did not count */

/* Time that the machine was suspended since it started. */
static int64_t
suspended_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec - monotime_now().ns;
}

/* One wait; false: poll(2) does not work. */
static bool
wait_and_step(struct xds_session *session, struct pollfd *fds, int64_t *slept)
{
	monotime_t now = monotime_now();
	size_t count = xds_session_poll(session, fds + 1, now);
	int timeout = monotime_poll_timeout(now,
	    xds_session_deadline(session, now));

	if (poll(fds, (nfds_t)(count + 1), timeout) < 0 && errno != EINTR)
		return false;
	now = monotime_now();
	if (suspended_ns() - *slept > SLEPT_NS) {
		*slept = suspended_ns();
		xds_session_suspect(session, now);
	}
	if (fds[0].revents == 0)
		xds_session_step(session, fds + 1, now);
	return true;
}

static int
run(const struct feed_config *config, const struct feed_host *host)
{
	struct pollfd fds[1 + XDS_FDS];
	struct xds_session session;
	int64_t slept = suspended_ns();
	uint64_t seed;
	int error = 0;

	/* OpenSSL writes without MSG_NOSIGNAL. */
	(void)signal(SIGPIPE, SIG_IGN);
	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		return -EIO;
	memset(fds, 0, sizeof(fds));
	fds[0] = (struct pollfd){ host->stop_fd, POLLIN, 0 };
	xds_session_init(&session, config, host, seed, monotime_now());
	while (fds[0].revents == 0 && error == 0)
		error = wait_and_step(&session, fds, &slept) ? 0 : -errno;
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
