/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/forward/rescue.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/address.h"

#define IPV4_OCTETS	20
#define IPV6_OCTETS	40

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
	return sendto(fd, packet, length, MSG_DONTWAIT, &to.any, size) < 0 ?
	    -errno : 0;
}
