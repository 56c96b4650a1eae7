/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/handover/control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Room for the most descriptors that one message carries. */
union ancillary {
	char octets[CMSG_SPACE(sizeof(int) * CONTROL_MAX_FDS)];
	struct cmsghdr align;
};

int
control_send(int socket, const struct control_message *message, const int *fds,
    size_t count)
{
	struct control_message copy = *message;
	struct iovec iov = { &copy, sizeof(copy) };
	struct msghdr header = { .msg_iov = &iov, .msg_iovlen = 1 };
	union ancillary ancillary = { .octets = { 0 } };

	if (count > CONTROL_MAX_FDS)
		return -E2BIG;
	copy.fd_count = (uint32_t)count;
	if (count > 0) {
		struct cmsghdr *item = &ancillary.align;

		header.msg_control = ancillary.octets;
		header.msg_controllen = CMSG_SPACE(sizeof(int) * count);
		item->cmsg_level = SOL_SOCKET;
		item->cmsg_type = SCM_RIGHTS;
		item->cmsg_len = CMSG_LEN(sizeof(int) * count);
		memcpy(CMSG_DATA(item), fds, sizeof(int) * count);
	}
	/* The peer reads at once or is dead: a full socket is an error too. */
	if (sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return -errno;
	return 0;
}

/* Takes the descriptors out of the message, into fds.  Returns their number. */
static size_t
take_fds(struct msghdr *header, int *fds)
{
	size_t count = 0;

	for (struct cmsghdr *item = CMSG_FIRSTHDR(header); item != NULL;
	    item = CMSG_NXTHDR(header, item)) {
		if (item->cmsg_level != SOL_SOCKET ||
		    item->cmsg_type != SCM_RIGHTS)
			continue;
		/* The buffer has room for CONTROL_MAX_FDS: no more can come. */
		size_t n = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		memcpy(fds + count, CMSG_DATA(item), n * sizeof(int));
		count += n;
	}
	return count;
}

int
control_receive(int socket, struct control_message *message, int *fds)
{
	struct iovec iov = { message, sizeof(*message) };
	union ancillary ancillary;
	struct msghdr header = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = ancillary.octets,
		.msg_controllen = sizeof(ancillary.octets) };
	ssize_t length = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
	size_t count;

	if (length < 0)
		return -errno;
	if (length == 0)
		return -ECONNRESET;
	count = take_fds(&header, fds);
	if (length != (ssize_t)sizeof(*message) ||
	    (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 ||
	    message->kind >= CONTROL_KINDS || message->fd_count != count) {
		for (size_t i = 0; i < count; i++)
			(void)close(fds[i]);
		return -EPROTO;
	}
	message->text[CONTROL_TEXT - 1] = '\0';
	return 0;
}
