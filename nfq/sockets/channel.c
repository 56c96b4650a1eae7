/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/sockets/channel.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/received.h"
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

/* What has come: 0 or a negative errno, as sockets_channel_receive(). */
static int
judge(ssize_t length, int flags, size_t descriptors, uid_t sender)
{
	/* An empty message has a sender, if SO_PASSCRED is on; the end has none. */
	if (length == 0 && descriptors == 0 && sender == (uid_t)-1)
		return -ECONNRESET;
	if (length == 0 || descriptors > 1 || (flags & MSG_TRUNC) != 0)
		return -EPROTO;
	return (flags & MSG_CTRUNC) != 0 ? -EMFILE : 0;
}

int
sockets_channel_receive(int channel, struct sockets_received *received)
{
	struct iovec iov = { received->octets, sizeof(received->octets) };
	union fds_ancillary ancillary;
	struct msghdr header = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t length;
	int fds[FDS_MAX], error;
	size_t count;

	received->fd = -1;
	received->uid = (uid_t)-1;
	/* Room for all, since the kernel closes those that it has no room for. */
	fds_expect(&header, &ancillary, FDS_MAX);
	length = recvmsg(channel, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (length < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	received->length = (size_t)length;
	received->uid = fds_sender(&header);
	count = fds_take(&header, fds, FDS_MAX);
	error = judge(length, header.msg_flags, count, received->uid);
	if (error == 0 && count == 1)
		received->fd = fds[0];
	for (size_t i = 0; i < count && error != 0; i++)
		sockets_discard(fds[i]);
	return error;
}
