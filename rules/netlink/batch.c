/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <libnftnl/common.h>

#include "rules/netlink/netlink.h"

void
batch_fail(struct batch *batch, int error)
{
	if (batch->error == 0)
		batch->error = error;
}

/* Room for one more message and its part. */
static bool
make_room(struct batch *batch)
{
	if (batch->error != 0)
		return false;
	if (batch->room - batch->used < BATCH_MESSAGE_MAX) {
		size_t room = 2 * batch->room + 2 * BATCH_MESSAGE_MAX;
		char *buffer = realloc(batch->buffer, room);

		if (buffer == NULL)
			goto fail;
		batch->buffer = buffer;
		batch->room = room;
	}
	if (batch->count == batch->parts_room) {
		size_t room = 2 * batch->parts_room + 64;
		struct batch_part *parts = reallocarray(batch->parts, room,
		    sizeof(*parts));

		if (parts == NULL)
			goto fail;
		batch->parts = parts;
		batch->parts_room = room;
	}
	return true;
fail:
	batch->error = -ENOMEM;
	return false;
}

/* NFNL_MSG_BATCH_BEGIN or _END. */
static void
add_frame(struct batch *batch, uint16_t type)
{
	struct nlmsghdr *message;
	struct nfgenmsg *header;

	if (!make_room(batch))
		return;
	message = mnl_nlmsg_put_header(batch->buffer + batch->used);
	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_REQUEST;
	message->nlmsg_seq = batch->first + (uint32_t)batch->count;
	header = mnl_nlmsg_put_extra_header(message, sizeof(*header));
	header->nfgen_family = AF_UNSPEC;
	header->version = NFNETLINK_V0;
	header->res_id = htons(NFNL_SUBSYS_NFTABLES);
	batch->parts[batch->count++] =
	    (struct batch_part){ .subject = BATCH_FRAME };
	batch_end_message(batch, message);
}

void
batch_begin(struct batch *batch, const struct netlink *netlink)
{
	*batch = (struct batch){ .first = netlink->sequence + 1,
		.family = NFPROTO_INET };
	add_frame(batch, NFNL_MSG_BATCH_BEGIN);
}

void
batch_free(struct batch *batch)
{
	free(batch->buffer);
	free(batch->parts);
	*batch = (struct batch){ .error = -EINVAL };
}

struct nlmsghdr *
batch_message(struct batch *batch, uint16_t type, uint16_t flags,
    struct batch_part part)
{
	struct nlmsghdr *message;

	if (!make_room(batch))
		return NULL;
	message = nftnl_nlmsg_build_hdr(batch->buffer + batch->used, type,
	    batch->family, flags, batch->first + (uint32_t)batch->count);
	batch->parts[batch->count++] = part;
	return message;
}

void
batch_end_message(struct batch *batch, const struct nlmsghdr *message)
{
	batch->used += NLMSG_ALIGN(message->nlmsg_len);
}

/*
 * The kernel takes a transaction from one single datagram, and refuses one
 * that is larger than the send buffer (netlink_sendmsg()).
 */
static int
send_all(const struct batch *batch, const struct netlink *netlink)
{
	int fd = mnl_socket_get_fd(netlink->socket);
	int size = batch->used < INT_MAX / 4 ? (int)batch->used + 4096 : INT_MAX;
	int now = 0;
	socklen_t length = sizeof(now);

	if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &now, &length) == 0 &&
	    now < size)
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size,
		    sizeof(size));
	if (mnl_socket_sendto(netlink->socket, batch->buffer, batch->used) < 0)
		return -errno;
	return 0;
}

struct outcome {
	uint32_t last;		/* sequence number of the last message proper */
	bool done;		/* it was acknowledged */
	uint32_t refused;	/* the first that was refused, and why */
	int error;
};

static void
take_outcome(const char *buffer, size_t length, const struct batch *batch,
    struct outcome *outcome)
{
	const struct nlmsghdr *message = (const void *)buffer;
	int left = (int)length;

	for (; mnl_nlmsg_ok(message, left);
	    message = mnl_nlmsg_next(message, &left)) {
		const struct nlmsgerr *error = mnl_nlmsg_get_payload(message);

		if (message->nlmsg_type != NLMSG_ERROR ||
		    mnl_nlmsg_get_payload_len(message) < sizeof(*error) ||
		    message->nlmsg_seq - batch->first >= batch->count)
			continue;
		if (error->error == 0) {
			outcome->done |= message->nlmsg_seq == outcome->last;
		} else if (outcome->error == 0 ||
		    message->nlmsg_seq - batch->first <
		    outcome->refused - batch->first) {
			outcome->refused = message->nlmsg_seq;
			outcome->error = error->error;
		}
	}
}

/*
 * The kernel works while we send: when that returns, every answer is there.
 * After a refused message it goes on to find further errors, most of which
 * only follow from the first.
 */
static void
receive_all(const struct batch *batch, const struct netlink *netlink,
    struct outcome *outcome)
{
	_Alignas(struct nlmsghdr) char buffer[MNL_SOCKET_BUFFER_SIZE];
	int fd = mnl_socket_get_fd(netlink->socket);

	for (;;) {
		ssize_t length = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);

		if (length >= 0)
			take_outcome(buffer, (size_t)length, batch, outcome);
		else if (errno != EINTR && errno != ENOBUFS)
			return;
	}
}

int
batch_send(struct batch *batch, struct netlink *netlink,
    struct batch_part *failed)
{
	struct outcome outcome = { .done = false };
	struct nlmsghdr *last;
	size_t last_start = batch->used;
	int rc;

	*failed = (struct batch_part){ .subject = BATCH_FRAME };
	add_frame(batch, NFNL_MSG_BATCH_END);
	if (batch->error != 0)
		return batch->error;
	/*
	 * Only the last message proper asks for an acknowledgement: errors
	 * come unasked, and many answers could overflow the receive buffer.
	 */
	for (size_t at = 0; at < last_start; ) {
		last = (void *)(batch->buffer + at);
		at += NLMSG_ALIGN(last->nlmsg_len);
		if (at == last_start) {
			last->nlmsg_flags |= NLM_F_ACK;
			outcome.last = last->nlmsg_seq;
		}
	}
	netlink->sequence = batch->first + (uint32_t)batch->count;
	rc = send_all(batch, netlink);
	if (rc != 0)
		return rc;
	receive_all(batch, netlink, &outcome);
	if (outcome.error != 0)
		*failed = batch->parts[outcome.refused - batch->first];
	else if (!outcome.done)
		outcome.error = -EIO;
	return outcome.error;
}
