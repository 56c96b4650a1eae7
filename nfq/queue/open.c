/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue's socket: set up, recovered, asked; read by queue.c. */
#include "nfq/queue/queue.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/netfilter.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <libmnl/libmnl.h>
#include <libnetfilter_queue/libnetfilter_queue.h>

#include "nfq/queue/message.h"

/* What a full socket is to take beyond its limit, octets: some 5,000 packets. */
#define ROOM		(4U << 20)
/* How often an answer that found no room is asked for... */
#define ASK_TRIES	5
/* ...and how much is read for each: more than any queue holds. */
#define READ_MAX	(2U << 20)

/*
 * The receive buffer fills before the queue does: what does not fit the socket
 * leaves a gap in the ids, a full queue leaves no trace.  The kernel doubles
 * the value.  The send buffer bounds one message, not what waits.
 */
static int
set_buffers(int fd, uint32_t maxlen)
{
	uint64_t wanted = (uint64_t)maxlen * QUEUE_PACKET_OCTETS / 100 * 85 / 2;
	int receive = wanted > INT_MAX / 2 ? INT_MAX / 2 : (int)wanted;
	int sending = (int)QUEUE_SEND_SIZE;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &receive,
	    sizeof(receive)) != 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive,
	    sizeof(receive)) != 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &sending,
	    sizeof(sending)) != 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &sending,
	    sizeof(sending)) != 0)
		return -errno;
	return 0;
}

/*
 * Connecting to the kernel (port 0) binds the socket, and keeps every other
 * process from sending to it: netlink_getsockbyportid().
 */
static int
set_up_socket(int fd, uint32_t maxlen)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	const int on = 1;

	if (connect(fd, (const struct sockaddr *)&kernel, sizeof(kernel)) != 0)
		return -errno;
	/* An overrun must not fail the next recv; ids and sk_drops tell it. */
	if (setsockopt(fd, SOL_NETLINK, NETLINK_NO_ENOBUFS, &on,
	    sizeof(on)) != 0 ||
	    setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on,
	    sizeof(on)) != 0)
		return -errno;
	return set_buffers(fd, maxlen);
}

/* What the socket holds and may hold, octets as the kernel counts them. */
static int
get_memory(int fd, uint32_t info[static SK_MEMINFO_VARS])
{
	socklen_t size = SK_MEMINFO_VARS * sizeof(info[0]);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &size) != 0)
		return -errno;
	return size < (SK_MEMINFO_DROPS + 1) * sizeof(info[0]) ? -EOPNOTSUPP : 0;
}

/* The kernel doubles what it is given here (sock_setsockopt()). */
static void
set_receive_buffer(int fd, uint32_t octets)
{
	const int half = octets > INT_MAX ? INT_MAX / 2 : (int)(octets / 2);

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &half, sizeof(half));
}

/*
 * A full socket takes no acknowledgement and no packet that is put back
 * (netlink_attachskb()): has it take some more.  Returns its limit before, 0 if
 * that is not known.
 */
static uint32_t
make_room(int fd)
{
	uint32_t info[SK_MEMINFO_VARS];

	if (get_memory(fd, info) != 0)
		return 0;
	if (info[SK_MEMINFO_RMEM_ALLOC] + ROOM > info[SK_MEMINFO_RCVBUF])
		set_receive_buffer(fd, info[SK_MEMINFO_RMEM_ALLOC] + ROOM);
	return info[SK_MEMINFO_RCVBUF];
}

/* A message to the kernel, and what was read on the way to its answer. */
struct request {
	uint32_t sequence;
	bool any;
	uint32_t last_id;		/* if any */
};

/*
 * Answers to a dead reader's verdicts and requests may wait in the socket, so
 * each request gets a new sequence number.
 */
static struct request
new_request(struct nlmsghdr *nlh)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	/* Verdicts have 0. */
	nlh->nlmsg_seq = ((uint32_t)now.tv_sec * 1000000000U +
	    (uint32_t)now.tv_nsec) | 1;
	nlh->nlmsg_flags |= NLM_F_ACK;
	return (struct request){ .sequence = nlh->nlmsg_seq };
}

/* Whether it is the answer to the request; if so, *error is what it says. */
static bool
take_answer(struct request *request, const uint8_t *octets, size_t left,
    int *error)
{
	struct queue_packet packet;
	const struct nlmsghdr *nlh;
	size_t length;

	while ((nlh = queue_message_next(&octets, &left, &length)) != NULL) {
		if (nlh->nlmsg_type == NLMSG_ERROR &&
		    nlh->nlmsg_seq == request->sequence) {
			*error = queue_message_error(nlh, length);
			return true;
		}
		if (nlh->nlmsg_type == QUEUE_TYPE_PACKET &&
		    queue_message_packet(nlh, length, &packet)) {
			request->last_id = packet.id;
			request->any = true;
		}
	}
	return false;
}

/*
 * Reads on to the answer, which is there when send() has returned, unless there
 * was no room for it: -ETIMEDOUT.
 */
static int
read_answer(int fd, struct request *request)
{
	_Alignas(8) uint8_t buf[QUEUE_RECEIVE_SIZE];
	int error = -ETIMEDOUT;
	ssize_t n;

	for (unsigned int i = 0; i < READ_MAX; i++) {
		n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (n < 0 && errno != EINTR && errno != ENOBUFS)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if (n > 0 && take_answer(request, buf, (size_t)n, &error))
			break;
	}
	return error;
}

/*
 * Sends it until the kernel has answered: 0 or a negative errno, -ETIMEDOUT if
 * it never did.  Packets that wait before the answer are read with it, and are
 * put back, else they would wait for a verdict for ever.
 */
static int
ask(int fd, uint16_t number, struct nlmsghdr *nlh)
{
	_Alignas(8) uint8_t buf[QUEUE_SMALL_MESSAGE];
	struct request request = new_request(nlh);
	const uint32_t limit = make_room(fd);
	int error = -ETIMEDOUT, back = 0;

	for (int i = 0; i < ASK_TRIES && error == -ETIMEDOUT; i++) {
		error = queue_message_send(fd, nlh, nlh->nlmsg_len);
		if (error == 0)
			error = read_answer(fd, &request);
	}
	if (request.any) {
		nlh = queue_message_verdict(buf, NFQNL_MSG_VERDICT_BATCH,
		    number, request.last_id, NF_REPEAT);
		back = queue_message_send(fd, buf, nlh->nlmsg_len);
	}
	if (limit > 0)
		set_receive_buffer(fd, limit);
	return error != 0 ? error : back;
}

/* BIND only if "bind": the kernel refuses it for a queue that we have. */
static int
configure(int fd, uint16_t number, uint32_t maxlen, bool fail_open, bool bind)
{
	_Alignas(8) uint8_t buf[QUEUE_SMALL_MESSAGE];
	uint32_t flags = NFQA_CFG_F_UID_GID;
	struct nlmsghdr *nlh;

	if (fail_open)
		flags |= NFQA_CFG_F_FAIL_OPEN;
	nlh = nfq_nlmsg_put((char *)buf, NFQNL_MSG_CONFIG, number);
	if (bind)
		nfq_nlmsg_cfg_put_cmd(nlh, AF_UNSPEC, NFQNL_CFG_CMD_BIND);
	nfq_nlmsg_cfg_put_params(nlh, NFQNL_COPY_PACKET, QUEUE_COPY);
	nfq_nlmsg_cfg_put_qmaxlen(nlh, maxlen);
	mnl_attr_put_u32(nlh, NFQA_CFG_FLAGS, htonl(flags));
	mnl_attr_put_u32(nlh, NFQA_CFG_MASK,
	    htonl(NFQA_CFG_F_UID_GID | NFQA_CFG_F_FAIL_OPEN));
	return ask(fd, number, nlh);
}

/* The queue's length alone; the kernel cannot refuse it to the owner. */
static int
set_length(int fd, uint16_t number, uint32_t maxlen)
{
	_Alignas(8) uint8_t buf[QUEUE_SMALL_MESSAGE];
	struct nlmsghdr *nlh;

	nlh = nfq_nlmsg_put((char *)buf, NFQNL_MSG_CONFIG, number);
	nfq_nlmsg_cfg_put_qmaxlen(nlh, maxlen);
	return queue_message_send(fd, buf, nlh->nlmsg_len);
}

int
queue_set_overload(int fd, uint16_t number, bool fail_open)
{
	_Alignas(8) uint8_t buf[QUEUE_SMALL_MESSAGE];
	struct nlmsghdr *nlh;

	nlh = nfq_nlmsg_put((char *)buf, NFQNL_MSG_CONFIG, number);
	mnl_attr_put_u32(nlh, NFQA_CFG_FLAGS,
	    htonl(fail_open ? NFQA_CFG_F_FAIL_OPEN : 0U));
	mnl_attr_put_u32(nlh, NFQA_CFG_MASK, htonl(NFQA_CFG_F_FAIL_OPEN));
	return queue_message_send(fd, buf, nlh->nlmsg_len);
}

/*
 * The kernel says EPERM for a missing capability and for a queue that another
 * socket has.  PF_BIND does nothing since 3.8 but needs the capability too,
 * and looks at no queue: nfqnl_recv_config().
 */
static bool
may_configure(int fd, uint16_t number)
{
	_Alignas(8) uint8_t buf[QUEUE_SMALL_MESSAGE];
	struct nlmsghdr *nlh;

	nlh = nfq_nlmsg_put((char *)buf, NFQNL_MSG_CONFIG, number);
	nfq_nlmsg_cfg_put_cmd(nlh, AF_INET, NFQNL_CFG_CMD_PF_BIND);
	return ask(fd, number, nlh) == 0;
}

int
queue_open(uint16_t number, uint32_t maxlen, bool fail_open)
{
	int error, fd;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
	if (fd < 0)
		return -errno;
	error = set_up_socket(fd, maxlen);
	if (error == 0)
		error = configure(fd, number, maxlen, fail_open, true);
	if (error == 0)
		return fd;
	if (error == -EPERM && may_configure(fd, number))
		error = -EBUSY;
	/* nfnetlink_rcv_msg(): the queue's subsystem is not there. */
	if (error == -EINVAL || error == -ECONNREFUSED)
		error = -EPROTONOSUPPORT;
	close(fd);
	return error;
}

/*
 * Finds the first packet that waits in the socket, and drops the answers to
 * verdicts before it.  *id stays as it is if none waits.  0 or a negative
 * errno.
 */
static int
peek_packet(int fd, uint32_t *id)
{
	_Alignas(8) uint8_t buf[QUEUE_RECEIVE_SIZE];
	struct queue_packet packet;
	const struct nlmsghdr *nlh;
	const uint8_t *octets;
	size_t left, length;
	ssize_t n;

	for (;;) {
		n = recv(fd, buf, sizeof(buf), MSG_PEEK | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		octets = buf;
		left = (size_t)n;
		nlh = queue_message_next(&octets, &left, &length);
		if (nlh != NULL && nlh->nlmsg_type == QUEUE_TYPE_PACKET &&
		    queue_message_packet(nlh, length, &packet)) {
			*id = packet.id;
			return 0;
		}
		if (recv(fd, buf, sizeof(buf), MSG_DONTWAIT) < 0 &&
		    errno != EINTR)
			return errno == EAGAIN ? 0 : -errno;
	}
}

static const int verdicts[] = {
	[QUEUE_REPEAT] = NF_REPEAT,
	[QUEUE_PASS] = NF_ACCEPT,
	[QUEUE_DROP] = NF_DROP,
};

int
queue_recover(int fd, uint16_t number, uint32_t last_id, enum queue_fate fate)
{
	_Alignas(8) uint8_t buf[QUEUE_SMALL_MESSAGE];
	struct nlmsghdr *nlh;
	uint32_t id, limit;
	int error;

	/*
	 * With nothing unread, all that is in the queue was read: everything
	 * up to an id far ahead, yet not so far that it would count as behind
	 * (ids compare modulo 2^32, nfq_id_after()).  A packet that slips in
	 * now is repeated once more, and the verdict on its first coming finds
	 * nothing (ENOENT).
	 */
	id = last_id + 0x40000000;
	error = peek_packet(fd, &id);
	if (error != 0)
		return error;
	nlh = queue_message_verdict(buf, NFQNL_MSG_VERDICT_BATCH, number,
	    id - 1, verdicts[fate]);
	limit = make_room(fd);
	error = queue_message_send(fd, buf, nlh->nlmsg_len);
	if (limit > 0)
		set_receive_buffer(fd, limit);
	return error;
}

int
queue_adopt(int fd, uint16_t number, uint32_t maxlen, bool fail_open)
{
	/* The packets that are put back may be more than maxlen. */
	int outcome = configure(fd, number, UINT32_MAX, fail_open, false);
	uint32_t id;
	int error;

	if (outcome != 0 && outcome != -ETIMEDOUT)
		return outcome;
	/*
	 * It is not known how far the dead daemon had read.  A verdict covers
	 * half of all ids before its own: two cover all.
	 */
	error = queue_recover(fd, number, 0, QUEUE_REPEAT);
	if (error == 0)
		error = queue_recover(fd, number, 0x80000000,
		    QUEUE_REPEAT);
	if (error == 0)
		error = set_length(fd, number, maxlen);
	if (error == 0)
		error = set_buffers(fd, maxlen);
	/* What the kernel says of verdicts on nothing is not the next reader's. */
	if (error == 0)
		error = peek_packet(fd, &id);
	return error != 0 ? error : outcome;
}

int
queue_backlog(int fd, uint32_t *octets, uint32_t *drops)
{
	uint32_t info[SK_MEMINFO_VARS];
	int error = get_memory(fd, info);

	if (error != 0)
		return error;
	*octets = info[SK_MEMINFO_RMEM_ALLOC];
	*drops = info[SK_MEMINFO_DROPS];
	return 0;
}
