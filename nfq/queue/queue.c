/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/queue/queue.h"

#include <assert.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "nfq/queue/message.h"

/* Headers and attributes of a verdict with mark, without the payload. */
#define VERDICT_ROOM	64

/* After how many datagrams that came alone another such is expected... */
#define ALONE_FEW	8
/* ...and how often to look for more all the same. */
#define ALONE_LOOK	8

/* Large members first, so that none of them needs padding. */
struct queue_reader {
	_Alignas(64) uint8_t send[QUEUE_SEND_SIZE];
	struct mmsghdr messages[QUEUE_BATCH];
	struct iovec vectors[QUEUE_BATCH];
	queue_buffer *received;		/* QUEUE_BATCH of them */
	uint64_t gaps;
	uint64_t verdict_errors;
	size_t send_used;		/* what is collected */

	int fd;
	unsigned int alone;		/* datagrams that came so, in a row */
	uint32_t last_id;
	int pending_error;		/* for the next queue_receive() */
	uint32_t pass_id;		/* "passes" up to this one */
	int send_error;			/* first error of this batch */
	uint16_t number;
	bool any_id;			/* last_id means something */
	bool passes;			/* a batch ACCEPT is due */
};

int
queue_reader_new(struct queue_reader **reader, int fd, uint16_t number,
    queue_buffer received[static QUEUE_BATCH])
{
	struct queue_reader *r;
	size_t i;

	r = aligned_alloc(64, sizeof(*r));
	if (r == NULL)
		return -ENOMEM;
	memset(r, 0, sizeof(*r));
	r->fd = fd;
	r->number = number;
	r->received = received;
	for (i = 0; i < QUEUE_BATCH; i++) {
		r->vectors[i].iov_base = received[i];
		r->vectors[i].iov_len = QUEUE_RECEIVE_SIZE;
		r->messages[i].msg_hdr.msg_iov = &r->vectors[i];
		r->messages[i].msg_hdr.msg_iovlen = 1;
	}
	*reader = r;
	return 0;
}

void
queue_reader_free(struct queue_reader *reader)
{
	free(reader);
}

static void
count_id(struct queue_reader *reader, uint32_t id)
{
	uint32_t step = id - reader->last_id;

	/* Ids only grow; a step back would be another queue's number. */
	if (reader->any_id && step - 1 < INT32_MAX)
		reader->gaps += step - 1;
	reader->last_id = id;
	reader->any_id = true;
}

static void
count_error(struct queue_reader *reader, int error)
{
	if (error == -EPERM)
		reader->pending_error = error;
	if (error != 0)
		reader->verdict_errors++;
}

/* Adds the packets of one datagram behind the first "count"; their number. */
static size_t
take_datagram(struct queue_reader *reader, const uint8_t *octets, size_t left,
    struct queue_packet packets[static QUEUE_BATCH], size_t count)
{
	const struct nlmsghdr *nlh;
	size_t length;

	/* The kernel puts one packet in a datagram, so "count" has room. */
	while (count < QUEUE_BATCH &&
	    (nlh = queue_message_next(&octets, &left, &length)) != NULL) {
		if (nlh->nlmsg_type == NLMSG_ERROR) {
			count_error(reader, queue_message_error(nlh, length));
		} else if (nlh->nlmsg_type == QUEUE_TYPE_PACKET &&
		    queue_message_packet(nlh, length, &packets[count])) {
			count_id(reader, packets[count].id);
			count++;
		}
	}
	return count;
}

/*
 * Where packets come one by one, recvmmsg()'s arrays and its search for a
 * second one are a good part of what a question costs, so recv() takes them;
 * now and then recvmmsg() looks whether they have begun to come together.
 */
static bool
expects_one(const struct queue_reader *reader)
{
	return reader->alone >= ALONE_FEW && reader->alone % ALONE_LOOK != 0;
}

/* The number of datagrams, which are at most one, or -1 with errno. */
static int
receive_one(struct queue_reader *reader, int flags)
{
	ssize_t n = recv(reader->fd, reader->received[0], QUEUE_RECEIVE_SIZE,
	    (flags & MSG_DONTWAIT) | MSG_TRUNC);

	if (n < 0)
		return -1;
	reader->messages[0].msg_len = (unsigned int)n;
	return 1;
}

static int
receive_datagrams(struct queue_reader *reader, int flags)
{
	const bool one = expects_one(reader);
	int n = one ? receive_one(reader, flags) :
	    recvmmsg(reader->fd, reader->messages, QUEUE_BATCH, flags, NULL);

	if (n == 1)
		reader->alone++;
	else if (n > 1)
		reader->alone = 0;
	return n;
}

static int
receive(struct queue_reader *reader, int flags,
    struct queue_packet packets[static QUEUE_BATCH])
{
	size_t count = 0, length;
	int error, i, n;

	if (reader->pending_error == 0) {
		n = receive_datagrams(reader, flags);
		if (n < 0)
			return -errno;
		for (i = 0; i < n; i++) {
			length = reader->messages[i].msg_len;
			if (length > QUEUE_RECEIVE_SIZE)
				length = QUEUE_RECEIVE_SIZE;
			count = take_datagram(reader, reader->received[i],
			    length, packets, count);
		}
	}
	/* Packets that came before an error get their verdicts first. */
	if (count > 0 || reader->pending_error == 0)
		return (int)count;
	error = reader->pending_error;
	reader->pending_error = 0;
	return error;
}

int
queue_receive(struct queue_reader *reader,
    struct queue_packet packets[static QUEUE_BATCH])
{
	return receive(reader, MSG_WAITFORONE, packets);
}

int
queue_receive_now(struct queue_reader *reader,
    struct queue_packet packets[static QUEUE_BATCH])
{
	return receive(reader, MSG_DONTWAIT, packets);
}

uint64_t
queue_gaps(const struct queue_reader *reader)
{
	return reader->gaps;
}

uint64_t
queue_verdict_errors(const struct queue_reader *reader)
{
	return reader->verdict_errors;
}

uint32_t
queue_last_id(const struct queue_reader *reader)
{
	return reader->last_id;
}

/*
 * After an error nothing more of this batch is sent: the batch ACCEPT would
 * pass packets whose missing verdicts answer or drop them.
 */
static void
flush(struct queue_reader *reader)
{
	if (reader->send_used > 0 && reader->send_error == 0)
		reader->send_error = queue_message_send(reader->fd,
		    reader->send, reader->send_used);
	reader->send_used = 0;
}

/*
 * Where the next message goes.  What is collected is sent early if that needs
 * the room: these are single verdicts, which come before the batch's anyway.
 */
static uint8_t *
reserve(struct queue_reader *reader, size_t payload)
{
	if (QUEUE_SEND_SIZE - reader->send_used < VERDICT_ROOM + payload)
		flush(reader);
	return reader->send + reader->send_used;
}

void
queue_pass(struct queue_reader *reader, uint32_t id)
{
	if (!reader->passes || (int32_t)(id - reader->pass_id) > 0)
		reader->pass_id = id;
	reader->passes = true;
}

static void
put_verdict(struct queue_reader *reader, uint32_t id, int verdict)
{
	struct nlmsghdr *nlh;

	nlh = queue_message_verdict(reserve(reader, 0), NFQNL_MSG_VERDICT,
	    reader->number, id, verdict);
	reader->send_used += nlh->nlmsg_len;
}

void
queue_drop(struct queue_reader *reader, uint32_t id)
{
	put_verdict(reader, id, NF_DROP);
}

void
queue_release_one(struct queue_reader *reader, uint32_t id)
{
	put_verdict(reader, id, NF_ACCEPT);
}

void
queue_mark(struct queue_reader *reader, uint32_t id, uint32_t mark)
{
	struct nlmsghdr *nlh;

	nlh = queue_message_verdict(reserve(reader, 0), NFQNL_MSG_VERDICT,
	    reader->number, id, NF_ACCEPT);
	queue_message_add_mark(nlh, mark);
	reader->send_used += nlh->nlmsg_len;
}

void
queue_reply(struct queue_reader *reader, uint32_t id, uint32_t mark,
    const uint8_t *packet, size_t length)
{
	struct nlmsghdr *nlh;

	assert(length <= QUEUE_REPLY_MAX);
	nlh = queue_message_verdict(reserve(reader, length), NFQNL_MSG_VERDICT,
	    reader->number, id, NF_ACCEPT);
	queue_message_add_mark(nlh, mark);
	queue_message_add_packet(nlh, packet, length);
	reader->send_used += nlh->nlmsg_len;
}

int
queue_send(struct queue_reader *reader)
{
	struct nlmsghdr *nlh;
	int error;

	if (reader->passes) {
		nlh = queue_message_verdict(reserve(reader, 0),
		    NFQNL_MSG_VERDICT_BATCH, reader->number,
		    reader->pass_id, NF_ACCEPT);
		reader->send_used += nlh->nlmsg_len;
	}
	flush(reader);
	error = reader->send_error;
	reader->send_error = 0;
	reader->passes = false;
	return error;
}
