/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nfdns-tls speaks TLS with upstreams for the worker, which has CAP_NET_ADMIN
 * and the queues: certificates and records of strangers are read in a process
 * that has nothing.  It gets connected sockets, each with a stream whose octets
 * it copies, over one channel (message.h), opens no file and no socket, and
 * ends when the channel does.  A worker or a reload gets another one.
 *
 * This room holds nfdns-tls and its messages for the other side.  It does not know
 * that what it copies is DNS.
 */
#ifndef NFDNS_NFQ_TLS_SERVER_H
#define NFDNS_NFQ_TLS_SERVER_H

#include "nfq/tls/message.h"

/*
 * Serves the channel until the other side closes it: then 0.  Else a negative
 * errno: -EPROTO, the other side sent what it never should.
 */
int tls_server_run(int channel, struct tls_context *context);

#endif
