/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as what the kernel says to a question for a client's socket: it is
 * there only if a message with the question's number and room for its facts says so.
 */
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <string.h>

#include "nfq/held/client_sockets.h"
#include "tests/fuzz/fuzz.h"

#define SEQUENCE	99

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t least = sizeof(struct nlmsghdr) +
	    sizeof(struct inet_diag_msg);
	const int error = client_socket_reply(data, size, SEQUENCE);
	uint32_t sequence;

	check(error <= 0);
	if (error == 0 || error == -ENOENT) {
		check(error < 0 || size >= least);
		memcpy(&sequence, data + 8, sizeof(sequence));
		check(sequence == SEQUENCE);
	}
	return 0;
}
