/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sockets that nfdns-sockets has sent.  It may be faulty or taken over, so what it
 * sends may be any descriptor, of which it may keep a copy: a copy shares the
 * socket's options and its O_NONBLOCK, and keeps it in an epoll after it was closed
 * here (epoll(7)).  Calls therefore use MSG_DONTWAIT, and EPOLL_CTL_DEL comes before
 * close(2).
 *
 * If it was taken over, sockets that it has opened are as good as its own: its copy
 * can read, write and connect.  What is prevented here is that it does the process
 * harm, or that a fault has questions asked of the wrong server.
 */
#ifndef NFDNS_NFQ_SOCKETS_RECEIVED_H
#define NFDNS_NFQ_SOCKETS_RECEIVED_H

#include "nfq/sockets/message.h"

/*
 * 0 if it is what the request asks for, by its family, its protocol, and the address
 * that it is connected to (or, a listener, bound to); of a connection in progress
 * that can be told only later, by sockets_check_peer().  It is non-blocking then.
 * Else -EPROTO.
 */
int sockets_check(int fd, const struct sockets_request *request)
    __attribute__((warn_unused_result));

/*
 * 0 if it is connected to the request's address, -ENOTCONN if it is not connected,
 * or -EPROTO.
 */
int sockets_check_peer(int fd, const struct sockets_request *request)
    __attribute__((warn_unused_result));

/*
 * Closes a descriptor that came, without waiting: with SO_LINGER, which a copy can
 * set, close(2) of a TCP socket waits until its octets are received (tcp_close() in
 * net/ipv4/tcp.c), up to a time of that option's.  A TCP connection is reset.
 */
void sockets_discard(int fd);

/* The same, but what was sent still goes to the peer: a TCP connection is ended. */
void sockets_end(int fd);

#endif
