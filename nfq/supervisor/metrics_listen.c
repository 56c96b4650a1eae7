/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/supervisor/metrics_listen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "nfq/sockets/client.h"
#include "nfq/sockets/open.h"

#define BACKLOG		1024	/* a scraper waits behind so many, at most */
#define ANSWER_MS	200	/* the supervisor waits; else it tries later */

bool
metrics_listen_wanted(const struct config_listen *of)
{
	return of->path != NULL || of->family != 0;
}

bool
metrics_listen_same(const struct config_listen *a,
    const struct config_listen *b)
{
	if (a->path == NULL || b->path == NULL)
		return a->path == b->path && a->family == b->family &&
		    a->port == b->port;
	return strcmp(a->path, b->path) == 0;
}

const char *
metrics_listen_text(const struct config_listen *of,
    char buf[static METRICS_LISTEN_TEXT])
{
	if (of->path != NULL)
		(void)snprintf(buf, METRICS_LISTEN_TEXT, "unix:%s", of->path);
	else
		(void)snprintf(buf, METRICS_LISTEN_TEXT, "%s:%u",
		    of->family == AF_INET ? "127.0.0.1" : "[::1]", of->port);
	return buf;
}

/* Whether a process listens at the path. */
static bool
is_answered(const struct sockaddr_un *address)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0);
	bool refused;

	if (fd < 0)
		return true;		/* cannot be determined */
	refused = connect(fd, (const struct sockaddr *)address,
	    sizeof(*address)) < 0 && errno == ECONNREFUSED;
	(void)close(fd);
	return !refused;
}

/* Removes what a daemon that was killed has left.  0 or a negative errno. */
static int
clear_path(const struct sockaddr_un *address)
{
	struct stat st;

	if (lstat(address->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return -EEXIST;
	if (is_answered(address))
		return -EADDRINUSE;
	return unlink(address->sun_path) < 0 ? -errno : 0;
}

static int
open_unix(struct metrics_listen *listen, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st = { .st_ino = 0 };
	int fd, error;
	mode_t mask;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path));
	error = clear_path(&address);
	if (error < 0)
		return error;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	mask = umask(0111);		/* the supervisor has one thread */
	error = bind(fd, (const struct sockaddr *)&address, sizeof(address)) <
	    0 ? -errno : 0;
	(void)umask(mask);
	if (error == 0 && lstat(path, &st) < 0)
		error = -errno;
	if (error < 0) {
		(void)close(fd);
		return error;
	}
	listen->device = st.st_dev;
	listen->inode = st.st_ino;
	return fd;
}

static int
open_ip(const struct config_listen *of, const char *sockets, uid_t uid)
{
	struct sockets_request request = { .kind = SOCKETS_LISTENER,
		.family = of->family, .port = of->port };
	int channel, fd;

	if (of->family == AF_INET)
		memcpy(request.address, (const uint8_t[]){ 127, 0, 0, 1 }, 4);
	else
		request.address[15] = 1;
	if (sockets == NULL)
		return sockets_open(&request, 0);
	channel = sockets_connect(sockets);
	if (channel < 0)
		return channel;
	fd = sockets_ask(channel, uid, &request, ANSWER_MS);
	sockets_leave(channel);
	return fd;
}

int
metrics_listen_open(struct metrics_listen *l, const struct config_listen *of,
    const char *sockets, uid_t uid)
{
	int error = 0;

	*l = (struct metrics_listen){ .fd = -1, .of = *of };
	if (of->path != NULL) {
		l->of.path = strdup(of->path);
		if (l->of.path == NULL)
			return -ENOMEM;
		l->fd = open_unix(l, of->path);
	} else {
		l->fd = open_ip(of, sockets, uid);
	}
	if (l->fd < 0)
		error = l->fd;
	else if (listen(l->fd, BACKLOG) < 0)
		error = -errno;
	if (error < 0)
		metrics_listen_close(l);
	return error;
}

void
metrics_listen_close(struct metrics_listen *l)
{
	struct stat st;

	if (l->fd >= 0) {
		(void)close(l->fd);
		if (l->of.path != NULL && lstat(l->of.path, &st) == 0 &&
		    st.st_dev == l->device && st.st_ino == l->inode)
			(void)unlink(l->of.path);
	}
	free(l->of.path);
	*l = (struct metrics_listen)METRICS_LISTEN_INIT;
}
