/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/sockets/channel.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "resolver/fds.h"

int
sockets_channel_send(int channel, const uint8_t *octets, size_t length, int fd)
{
	struct iovec iov = {
		.iov_base = (void *)(uintptr_t)octets,	/* only read */
		.iov_len = length,
	};
	struct msghdr header = { .msg_iov = &iov, .msg_iovlen = 1 };
	union fds_ancillary ancillary;

	fds_attach(&header, &ancillary, &fd, fd >= 0 ? 1 : 0);
	if (sendmsg(channel, &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return -errno;
	return 0;
}

int
sockets_channel_receive(int channel, struct sockets_received *received)
{
	struct iovec iov = { received->octets, sizeof(received->octets) };
	union fds_ancillary ancillary;
	struct msghdr header = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t length;
	size_t sockets;

	received->fd = -1;
	received->uid = (uid_t)-1;
	fds_expect(&header, &ancillary, 1);
	length = recvmsg(channel, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (length < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	received->length = (size_t)length;
	received->uid = fds_sender(&header);
	sockets = fds_take(&header, &received->fd, 1);
	if (sockets <= 1 && length > 0 &&
	    (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
		return 0;
	if (received->fd >= 0)
		(void)close(received->fd);
	received->fd = -1;
	return length == 0 ? -ECONNRESET : -EPROTO;
}
