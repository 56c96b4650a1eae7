/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/sockets/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Room for a socket and for credentials. */
union ancillary {
	char octets[CMSG_SPACE(sizeof(int)) +
	    CMSG_SPACE(sizeof(struct ucred))];
	struct cmsghdr align;
};

int
sockets_channel_send(int channel, const uint8_t *octets, size_t length, int fd)
{
	struct iovec iov = {
		.iov_base = (void *)(uintptr_t)octets,	/* only read */
		.iov_len = length,
	};
	struct msghdr header = { .msg_iov = &iov, .msg_iovlen = 1 };
	union ancillary ancillary = { .octets = { 0 } };

	if (fd >= 0) {
		struct cmsghdr *item = &ancillary.align;

		header.msg_control = ancillary.octets;
		header.msg_controllen = CMSG_SPACE(sizeof(fd));
		item->cmsg_level = SOL_SOCKET;
		item->cmsg_type = SCM_RIGHTS;
		item->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(item), &fd, sizeof(fd));
	}
	if (sendmsg(channel, &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return -errno;
	return 0;
}

/* Takes over the first socket and closes others.  How many there were. */
static size_t
take_sockets(const struct cmsghdr *item, struct sockets_received *received)
{
	size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < count; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(item) + i * sizeof(fd), sizeof(fd));
		if (received->fd < 0)
			received->fd = fd;
		else
			(void)close(fd);
	}
	return count;
}

/* Returns how many sockets there are. */
static size_t
take_ancillary(struct msghdr *header, struct sockets_received *received)
{
	size_t sockets = 0;

	for (struct cmsghdr *item = CMSG_FIRSTHDR(header); item != NULL;
	    item = CMSG_NXTHDR(header, item)) {
		struct ucred sender;

		if (item->cmsg_level != SOL_SOCKET)
			continue;
		if (item->cmsg_type == SCM_RIGHTS) {
			sockets += take_sockets(item, received);
		} else if (item->cmsg_type == SCM_CREDENTIALS &&
		    item->cmsg_len == CMSG_LEN(sizeof(sender))) {
			memcpy(&sender, CMSG_DATA(item), sizeof(sender));
			received->uid = sender.uid;
		}
	}
	return sockets;
}

int
sockets_channel_receive(int channel, struct sockets_received *received)
{
	struct iovec iov = { received->octets, sizeof(received->octets) };
	union ancillary ancillary;
	struct msghdr header = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = ancillary.octets,
		.msg_controllen = sizeof(ancillary.octets) };
	ssize_t length = recvmsg(channel, &header,
	    MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	size_t sockets;

	received->fd = -1;
	received->uid = (uid_t)-1;
	if (length < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	received->length = (size_t)length;
	sockets = take_ancillary(&header, received);
	if (sockets <= 1 && length > 0 &&
	    (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
		return 0;
	if (received->fd >= 0)
		(void)close(received->fd);
	received->fd = -1;
	return length == 0 ? -ECONNRESET : -EPROTO;
}
