/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as what the kernel says to a question for a client's socket: it is
 * there only if a message with the question's number and room for its facts says so.
 */
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <string.h>

#include "nfq/forward/client_sockets.h"
#include "tests/fuzz/fuzz.h"

#define SEQUENCE	99

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t least = sizeof(struct nlmsghdr) +
	    sizeof(struct inet_diag_msg);
	uint8_t *octets = malloc(size + 1);	/* aligned, and no longer */
	uint32_t sequence;
	int error;

	if (octets == NULL)
		return 0;
	memcpy(octets, data, size);
	error = client_socket_reply(octets, size, SEQUENCE);
	check(error <= 0);
	if (error == 0) {
		check(size >= least);
		memcpy(&sequence, octets + 8, sizeof(sequence));
		check(sequence == SEQUENCE || sequence == 0);
	}
	free(octets);
	return 0;
}
