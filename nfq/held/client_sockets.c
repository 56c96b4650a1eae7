/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/held/client_sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include <libmnl/libmnl.h>

#include "nfq/packet/packet.h"
#include "nfq/sockets/address.h"

#define PERIOD_MS	1000
/* One socket's facts, without attributes of ours: 124 octets of Linux 6.18. */
#define REPLY_SIZE	4096
/* Answers to earlier questions that may stand before ours. */
#define REPLIES		16

struct request {
	struct nlmsghdr header;
	struct inet_diag_req_v2 diag;
};

_Static_assert(sizeof(struct request) == CLIENT_SOCKET_REQUEST,
    "a request has the length that the header says");

struct client_socket
client_socket_of(const struct packet *packet, uint32_t device)
{
	const size_t octets = packet->family == AF_INET ? 4 : 16;
	struct client_socket s = {
		.family = packet->family,
		.client_port = packet->source_port,
		.server_port = packet->destination_port,
		.device = device,
	};

	memcpy(s.client, packet->source, octets);
	memcpy(s.server, packet->destination, octets);
	return s;
}

/*
 * The kernel takes "src" for the source of a packet to the socket: it says "src
 * and dst are swapped for historical reasons".
 */
void
client_socket_request(const struct client_socket *s, uint32_t sequence,
    uint8_t octets[static CLIENT_SOCKET_REQUEST])
{
	struct request r = {
		.header = {
			.nlmsg_len = sizeof(r),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST,
			.nlmsg_seq = sequence,
		},
		.diag = {
			.sdiag_family = s->family,
			.sdiag_protocol = IPPROTO_UDP,
			.idiag_states = UINT32_MAX,
			.id = {
				.idiag_sport = htons(s->server_port),
				.idiag_dport = htons(s->client_port),
				.idiag_if = s->device,
				.idiag_cookie = { INET_DIAG_NOCOOKIE,
				    INET_DIAG_NOCOOKIE },
			},
		},
	};

	memcpy(r.diag.id.idiag_src, s->server, sizeof(s->server));
	memcpy(r.diag.id.idiag_dst, s->client, sizeof(s->client));
	memcpy(octets, &r, sizeof(r));
}

/*
 * One message, and all of it: the kernel puts each into a datagram of its own.  Not
 * mnl_cb_run(), which takes lengths from 2^31 on for negative ones and goes back.
 */
int
client_socket_reply(const uint8_t *octets, size_t length, uint32_t sequence)
{
	struct nlmsghdr header;
	int error;

	if (length < sizeof(header))
		return -EBADMSG;
	memcpy(&header, octets, sizeof(header));
	if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > length)
		return -EBADMSG;
	if (header.nlmsg_seq != sequence)
		return -EPROTO;
	length = header.nlmsg_len - sizeof(header);
	if (header.nlmsg_type == SOCK_DIAG_BY_FAMILY)
		return length >= sizeof(struct inet_diag_msg) ? 0 : -EBADMSG;
	if (header.nlmsg_type != NLMSG_ERROR || length < sizeof(error))
		return -EBADMSG;
	memcpy(&error, octets + sizeof(header), sizeof(error));
	return error < 0 ? error : -EBADMSG;
}

/* As client_socket_reply(). */
static int
ask(struct client_sockets *all, const struct client_socket *s)
{
	uint8_t octets[REPLY_SIZE];
	ssize_t length;
	int error = -EPROTO;

	client_socket_request(s, ++all->sequence, octets);
	if (mnl_socket_sendto(all->netlink, octets, CLIENT_SOCKET_REQUEST) < 0)
		return -errno;
	/* The kernel has answered when that returns. */
	for (int i = 0; i < REPLIES && error == -EPROTO; i++) {
		length = mnl_socket_recvfrom(all->netlink, octets,
		    sizeof(octets));
		if (length < 0)
			return -errno;
		error = client_socket_reply(octets, (size_t)length,
		    all->sequence);
	}
	return error;
}

/*
 * A module that is not there is looked for each time by a program that the kernel
 * starts (sock_load_diag_module()): it is not asked again.
 */
static int
look_for_known(struct client_sockets *all, monotime_t now)
{
	const int error = ask(all, &all->known);

	if (error == 0)
		all->found = now;
	else
		client_sockets_close(all);
	return error;
}

static int
read_known(struct client_socket *s, int fd)
{
	union sockets_address own, other;
	socklen_t size = sizeof(own);

	if (fd < 0)
		return fd;
	if (getsockname(fd, &own.any, &size) < 0)
		return -errno;
	size = sizeof(other);
	if (getpeername(fd, &other.any, &size) < 0)
		return -errno;
	*s = (struct client_socket){ .family = (uint8_t)own.any.sa_family };
	(void)sockets_address_split(&own, s->client, &s->client_port);
	(void)sockets_address_split(&other, s->server, &s->server_port);
	return 0;
}

/*
 * Connecting to the kernel (port 0) keeps every other process from sending to the
 * socket: netlink_getsockbyportid().
 */
static int
open_netlink(struct client_sockets *all)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	all->netlink = mnl_socket_open2(NETLINK_SOCK_DIAG,
	    SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (all->netlink == NULL)
		return -errno;
	return connect(mnl_socket_get_fd(all->netlink),
	    (const struct sockaddr *)&kernel, sizeof(kernel)) < 0 ? -errno : 0;
}

int
client_sockets_open(struct client_sockets *all, int known, monotime_t now)
{
	int error;

	*all = (struct client_sockets){ .netlink = NULL };
	error = read_known(&all->known, known);
	if (error == 0)
		error = open_netlink(all);
	if (error == 0)
		error = look_for_known(all, now);
	if (error < 0)
		client_sockets_close(all);
	return error;
}

void
client_sockets_close(struct client_sockets *all)
{
	if (all->netlink != NULL)
		(void)mnl_socket_close(all->netlink);
	all->netlink = NULL;
}

bool
client_sockets_is_gone(struct client_sockets *all,
    const struct client_socket *s, monotime_t now)
{
	if (all->netlink == NULL || ask(all, s) != -ENOENT)
		return false;
	return monotime_ms_since(now, all->found) < CLIENT_SOCKETS_KNOWN_MS ||
	    look_for_known(all, now) == 0;
}

bool
client_sockets_may_ask(struct client_sockets *all, monotime_t now)
{
	if (!monotime_is_set(all->period) ||
	    monotime_ms_since(now, all->period) >= PERIOD_MS) {
		all->period = now;
		all->spent_ns = 0;
	}
	return all->netlink != NULL &&
	    all->spent_ns < CLIENT_SOCKETS_SPEND_NS;
}

void
client_sockets_spend(struct client_sockets *all, int64_t ns)
{
	all->spent_ns += ns;
}
