/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the client of a late answer still has its socket.  If it has not, the
 * kernel answers our packet by an ICMP port unreachable, which goes out to the
 * nameserver that the client had addressed.
 *
 * The kernel is asked for the one UDP socket that the answer would get to:
 * sock_diag(7), udp_dump_one() in net/ipv4/udp_diag.c, which looks it up as it
 * does for a packet.  Sockets that are connected, bound to a device, of IPv6 with
 * an IPv4 address, or one of several at a port are found as their packets find
 * them.  A client that reads its answer by something else (raw(7), packet(7)) is
 * not seen.
 *
 * "There is none" is ENOENT, and so is "there is no module udp_diag"
 * (inet_diag_lock_handler() in net/ipv4/inet_diag.c).  So it is believed only while
 * a socket of our own is found; otherwise nothing is known of any client.
 */
#ifndef NFDNS_NFQ_HELD_CLIENT_SOCKETS_H
#define NFDNS_NFQ_HELD_CLIENT_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/clock.h"

struct mnl_socket;
struct packet;

/* A UDP socket, by what a packet to it has. */
struct client_socket {
	uint8_t family;			/* AF_INET, AF_INET6 */
	uint8_t client[16];		/* its own address: 4 octets for IPv4 */
	uint8_t server[16];		/* of the other end */
	uint16_t client_port, server_port;
	uint32_t device;		/* index of the interface; 0: none */
};

/* The socket that has sent a packet of UDP by that device. */
struct client_socket client_socket_of(const struct packet *packet,
    uint32_t device);

/* The messages */

#define CLIENT_SOCKET_REQUEST	72	/* octets */

/* Writes the question for that socket. */
void client_socket_request(const struct client_socket *socket,
    uint32_t sequence, uint8_t octets[static CLIENT_SOCKET_REQUEST]);

/*
 * Reads what the kernel says to the question with that number.  0: there is such a
 * socket; -ENOENT: none, or no module; -EPROTO: this is an answer to something else;
 * or another negative errno.
 */
int client_socket_reply(const uint8_t *octets, size_t length, uint32_t sequence)
    __attribute__((warn_unused_result));

/* Asking */

#define CLIENT_SOCKETS_KNOWN_MS	1000	/* how long our own, once found, counts */
/* Of each second, so much may be spent asking: above it, nothing is known. */
#define CLIENT_SOCKETS_SPEND_NS	((int64_t)100 * 1000000)

struct client_sockets {
	struct mnl_socket *netlink;	/* NULL: nothing is known of any client */
	uint32_t sequence;
	struct client_socket known;	/* our own */
	monotime_t found;		/* when that was found last */
	monotime_t period;		/* a second's begin, */
	int64_t spent_ns;		/* and what was spent since */
};

/*
 * Opens the socket to the kernel and looks for "known", a UDP socket that is
 * connected and stays open.  0, or a negative errno, and then nothing is known of any
 * client: -ENOENT, the kernel has no module udp_diag; or "known", the negative errno
 * with which it could not be opened.
 */
int client_sockets_open(struct client_sockets *all, int known, monotime_t now)
    __attribute__((warn_unused_result));
void client_sockets_close(struct client_sockets *all);

/*
 * Whether that socket is gone; false if that is not known.  Never waits for
 * others but the kernel, which takes some microseconds.
 */
bool client_sockets_is_gone(struct client_sockets *all,
    const struct client_socket *socket, monotime_t now);

/*
 * Other users of sock_diag can make the kernel take longer (they wait for each
 * other up to Linux 6.8).  Whether there is time left in this second; and that so
 * much of it was spent.
 */
bool client_sockets_may_ask(struct client_sockets *all, monotime_t now);
void client_sockets_spend(struct client_sockets *all, int64_t ns);

#endif
