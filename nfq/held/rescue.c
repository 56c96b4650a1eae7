/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/held/rescue.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/queue/queue_packet.h"
#include "nfq/sockets/address.h"

#define IPV4_OCTETS	20
#define IPV6_OCTETS	40
#define UDP_OCTETS	8
#define DNS_PORT	53
#define PREFIX		8
/* With its own headers it must still be copied whole to the queue's reader. */
#define CARRIED_MAX	(QUEUE_COPY - IPV6_OCTETS - UDP_OCTETS - PREFIX)

/* As the header of a DNS message, this would be a response of opcode 15. */
static const uint8_t prefix[PREFIX] = "\xff\xff\xff\xff" "nfds";

static const uint8_t own_address[FORWARD_RAWS][16] = {
	{ 127, 0, 0, 1 }, { [15] = 1 },
};

/* IPPROTO_RAW only sends, and headers are included: raw(7). */
int
rescue_open(int family, uint32_t mark)
{
	const int fd = socket(family, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    IPPROTO_RAW);
	int error;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) == 0)
		return fd;
	error = -errno;
	(void)close(fd);
	return error;
}

int
rescue_carry(int fd, uint32_t mark)
{
	const int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) < 0)
		return -errno;
	return 0;
}

static bool
is_raw(int fd)
{
	socklen_t size = sizeof(int);
	int type = 0;

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
	    type == SOCK_RAW;
}

/* To this machine itself: what the datagram carries has its own addresses. */
static int
send_carried(int fd, int which, const uint8_t *packet, size_t length)
{
	struct iovec parts[] = {
		{ .iov_base = (void *)(uintptr_t)prefix, .iov_len = PREFIX },
		{ .iov_base = (void *)(uintptr_t)packet, .iov_len = length },
	};
	union sockets_address to;
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2,
		.msg_name = &to };

	if (length > CARRIED_MAX)
		return -EMSGSIZE;
	message.msg_namelen = sockets_address_make(&to, which == 0 ? AF_INET :
	    AF_INET6, own_address[which], DNS_PORT, 0);
	return sendmsg(fd, &message, MSG_DONTWAIT) < 0 ? -errno : 0;
}

static bool
is_udp4(const uint8_t *packet, size_t length)
{
	const size_t header = (size_t)(packet[0] & 15) * 4;

	return length >= IPV4_OCTETS && packet[0] >> 4 == 4 &&
	    header >= IPV4_OCTETS && length >= header + UDP_OCTETS &&
	    (size_t)(packet[2] << 8 | packet[3]) == length &&
	    packet[9] == IPPROTO_UDP;
}

static bool
is_udp6(const uint8_t *packet, size_t length)
{
	return length >= IPV6_OCTETS + UDP_OCTETS && packet[0] >> 4 == 6 &&
	    (size_t)(packet[4] << 8 | packet[5]) == length - IPV6_OCTETS &&
	    packet[6] == IPPROTO_UDP;
}

bool
rescue_carried(struct rescue_packet *packet, int family, const uint8_t *payload,
    size_t length)
{
	if (length <= PREFIX || length > PREFIX + CARRIED_MAX ||
	    memcmp(payload, prefix, PREFIX) != 0)
		return false;
	packet->octets = payload + PREFIX;
	packet->length = length - PREFIX;
	return family == AF_INET ? is_udp4(packet->octets, packet->length) :
	    is_udp6(packet->octets, packet->length);
}

int
rescue_send(const int raw[static FORWARD_RAWS], const uint8_t *packet,
    size_t length, uint32_t scope_id)
{
	uint8_t octets[16] = { 0 };
	union sockets_address to;
	socklen_t size;
	int fd;

	if (length >= IPV4_OCTETS && packet[0] >> 4 == 4) {
		fd = raw[0];
		memcpy(octets, packet + 16, 4);
		size = sockets_address_make(&to, AF_INET, octets, 0, 0);
	} else if (length >= IPV6_OCTETS && packet[0] >> 4 == 6) {
		fd = raw[1];
		memcpy(octets, packet + 24, 16);
		size = sockets_address_make(&to, AF_INET6, octets, 0, scope_id);
	} else
		return -EINVAL;
	if (fd < 0)
		return -ENOTSOCK;
	if (!is_raw(fd))
		return send_carried(fd, fd == raw[0] ? 0 : 1, packet, length);
	return sendto(fd, packet, length, MSG_DONTWAIT, &to.any, size) < 0 ?
	    -errno : 0;
}
