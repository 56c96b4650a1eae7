/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions whose clients may have given up before the answer is there. */
#include "nfq/forward/thread_state.h"

#include <errno.h>
#include <string.h>

#include "policy/log.h"

/*
 * The shortest time-out of a C library's resolver: resolv.conf(5) has whole seconds,
 * 1 at least, and 5 unless it says otherwise.  An answer before that costs nothing.
 */
#define LATE_MS		1000

/* lo has this number in each network namespace: drivers/net/loopback.c. */
#define LOOPBACK	1

void
thread_late_init(struct forward_thread *f, int known_socket)
{
	const int error = client_sockets_open(&f->clients, known_socket,
	    monotime_boot());

	if (error < 0)
		log_info("forwarding: the kernel does not say which clients still "
		    "wait: %s: a nameserver gets an ICMP error for each late "
		    "answer whose client is gone", error == -ENOENT ?
		    "it has no module udp_diag (modprobe udp_diag)" :
		    strerror(-error));
}

/*
 * By lo go the packets to this machine's own addresses.  Their sockets may be bound to
 * another device, which is not known here, and errors do not leave the machine.
 */
static bool
is_late(const struct forward_thread *f, const struct held *h)
{
	return monotime_ms_since(f->boot, h->client.since) >= LATE_MS &&
	    h->held.device > LOOPBACK;
}

bool
thread_late_is_abandoned(struct forward_thread *f, const struct held *h)
{
	struct client_socket socket;
	monotime_t begun;
	bool gone;

	if (!is_late(f, h) || !client_sockets_may_ask(&f->clients, f->boot))
		return false;
	socket = client_socket_of(&h->held.packet, h->held.device);
	begun = monotime_now();
	gone = client_sockets_is_gone(&f->clients, &socket, f->boot);
	client_sockets_spend(&f->clients, monotime_now().ns - begun.ns);
	return gone;
}
