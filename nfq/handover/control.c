/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/handover/control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "resolver/fds.h"

_Static_assert(CONTROL_MAX_FDS <= FDS_MAX, "files in a message");

int
control_send(int socket, const struct control_message *message, const int *fds,
    size_t count)
{
	struct control_message copy = *message;
	struct iovec iov = { &copy, sizeof(copy) };
	struct msghdr header = { .msg_iov = &iov, .msg_iovlen = 1 };
	union fds_ancillary ancillary;

	if (count > CONTROL_MAX_FDS)
		return -E2BIG;
	copy.fd_count = (uint32_t)count;
	fds_attach(&header, &ancillary, fds, count);
	/* The peer reads at once or is dead: a full socket is an error too. */
	if (sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return -errno;
	return 0;
}

int
control_receive(int socket, struct control_message *message, int *fds)
{
	struct iovec iov = { message, sizeof(*message) };
	union fds_ancillary ancillary;
	struct msghdr header = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t length;
	size_t count;
	int error;

	fds_expect(&header, &ancillary, CONTROL_MAX_FDS);
	length = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
	if (length < 0)
		return -errno;
	if (length == 0)
		return -ECONNRESET;
	count = fds_take(&header, fds, CONTROL_MAX_FDS);
	if (length != (ssize_t)sizeof(*message) ||
	    (header.msg_flags & MSG_TRUNC) != 0 || message->kind >=
	    CONTROL_KINDS || message->name_length > FLUSH_OCTETS)
		error = -EPROTO;
	else if ((header.msg_flags & MSG_CTRUNC) != 0)
		error = -EMFILE;
	else
		error = message->fd_count == count ? 0 : -EPROTO;
	if (error < 0) {
		for (size_t i = 0; i < count && i < CONTROL_MAX_FDS; i++)
			(void)close(fds[i]);
		return error;
	}
	message->text[CONTROL_TEXT - 1] = '\0';
	return 0;
}

size_t
flush_write(const struct flush *flush, uint8_t out[static FLUSH_OCTETS])
{
	out[0] = flush->below;
	memcpy(out + 1, flush->name.octets, flush->name.length);
	return 1U + flush->name.length;
}

int
flush_parse(struct flush *flush, const uint8_t *octets, size_t length)
{
	if (length < 2 || octets[0] > 1 ||
	    name_read_lower(&flush->name, octets + 1, length - 1) != 0 ||
	    flush->name.length != length - 1)
		return -EPROTO;
	flush->below = octets[0] == 1;
	return 0;
}
