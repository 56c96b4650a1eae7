/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as a datagram that may carry a packet: what is given back to the
 * kernel is the whole UDP packet that stands in it, of the datagram's family.
 */
#include <sys/socket.h>

#include "nfq/held/rescue.h"
#include "nfq/queue/queue_packet.h"
#include "tests/fuzz/fuzz.h"

static void
try_family(int family, const uint8_t *data, size_t size)
{
	struct rescue_packet packet;

	if (!rescue_carried(&packet, family, data, size))
		return;
	check(packet.octets > data);
	check(packet.octets + packet.length == data + size);
	check(packet.length >= 28 && packet.length <= QUEUE_COPY);
	check(packet.octets[0] >> 4 == (family == AF_INET ? 4 : 6));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_family(AF_INET, data, size);
	try_family(AF_INET6, data, size);
	return 0;
}
