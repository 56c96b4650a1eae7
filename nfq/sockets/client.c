/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/sockets/client.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "nfq/sockets/channel.h"
#include "nfq/sockets/received.h"
#include "resolver/clock.h"

int
sockets_connect(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const int on = 1;
	int fd, error = 0;

	if (strlen(path) >= sizeof(to.sun_path))
		return -ENAMETOOLONG;
	memcpy(to.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		error = -errno;
	if (error == 0)
		return fd;
	(void)close(fd);
	return error;
}

/* The kernel would close what is in it, too, which may take long: received.h. */
void
sockets_leave(int channel)
{
	struct sockets_received received;
	int error;

	(void)shutdown(channel, SHUT_RDWR);	/* no more comes */
	do {
		error = sockets_channel_receive(channel, &received);
		if (error == 0 && received.fd >= 0)
			sockets_discard(received.fd);
	} while (error == 0 || error == -EPROTO || error == -EMFILE);
	(void)close(channel);
}

int
sockets_connect_restricted(const char *path,
    const struct sockets_request *upstreams, size_t count)
{
	const struct sockets_request restriction = {.kind = SOCKETS_RESTRICT};
	int fd = sockets_connect(path), error = 0;

	if (fd < 0)
		return fd;
	for (size_t i = 0; i < count && error == 0; i++)
		error = sockets_request(fd, &upstreams[i]);
	if (error == 0)
		error = sockets_request(fd, &restriction);
	if (error == 0)
		return fd;
	sockets_leave(fd);
	return error;
}

int
sockets_request(int channel, const struct sockets_request *request)
{
	uint8_t octets[SOCKETS_REQUEST_LENGTH];

	sockets_request_write(request, octets);
	return sockets_channel_send(channel, octets, sizeof(octets), -1);
}

/* Checks an answer; *fd as in sockets_answer(). */
static int
understand(const struct sockets_received *received, uid_t uid, int *fd)
{
	int error;

	if (received->uid != uid)
		return -EPERM;
	if (sockets_answer_parse(&error, received->octets, received->length) <
		0 ||
	    (error == 0) != (received->fd >= 0))
		return -EPROTO;
	*fd = error == 0 ? received->fd : -error;
	return 0;
}

int
sockets_answer(int channel, uid_t uid, const struct sockets_request *asked,
    int *fd)
{
	struct sockets_received received;
	int error = sockets_channel_receive(channel, &received);

	*fd = -1;
	/* That answer is lost, but no other. */
	if (error == -EMFILE && received.uid == uid) {
		*fd = -EMFILE;
		return 0;
	}
	if (error != 0)
		return error;
	error = understand(&received, uid, fd);
	if (error == 0 && *fd >= 0 && asked != NULL)
		error = sockets_check(*fd, asked);
	if (received.fd >= 0 && (error < 0 || asked == NULL)) {
		sockets_discard(received.fd);
		*fd = -1;
	}
	return error;
}

const char *
sockets_why_left(int error)
{
	return error == -EPROTO ? "it sent what was not asked for" :
	    strerror(-error);
}

int
sockets_ask(int channel, uid_t uid, const struct sockets_request *request,
    int timeout_ms)
{
	const monotime_t deadline = monotime_add_ms(monotime_now(), timeout_ms);
	int fd, error = sockets_request(channel, request);

	if (error < 0)
		return error;
	for (;;) {
		struct pollfd wait = { .fd = channel, .events = POLLIN };
		const int left = monotime_poll_timeout(monotime_now(),
		    deadline);

		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(&wait, 1, left) <= 0)
			continue;
		error = sockets_answer(channel, uid, request, &fd);
		if (error == 0)
			return fd;
		if (error != -EAGAIN)
			return error;
	}
}
