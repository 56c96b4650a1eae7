/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as a request to nfdns-sockets and as an answer from it.  Whatever
 * parses is written as the same octets again, and only the requests of
 * nfq/sockets/message.h are permitted.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/sockets/message.h"
#include "tests/fuzz/fuzz.h"

static void
require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "not true: %s\n", what);
	abort();
}

static void
try_permit(const struct sockets_request *request)
{
	static const struct sockets_rights all, few = { .restricted = true };
	const bool free = sockets_request_permit(request, &all) == 0;
	const bool restricted = sockets_request_permit(request, &few) == 0;

	require(free || !restricted, "restricting permits nothing new");
	if (request->kind == SOCKETS_CONNECTION ||
	    request->kind == SOCKETS_ASKING)
		require(free == (request->port == 53) && restricted == free,
		    "connections go to port 53");
	else if (request->kind != SOCKETS_RESTRICT)
		require(!restricted, "nothing else than connections");
	if (request->kind == SOCKETS_LISTENER && free)
		require(request->port >= 1024 && (request->address[0] == 127 ||
		    request->address[15] == 1), "listeners are local");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t again[SOCKETS_REQUEST_LENGTH];
	struct sockets_request request;
	int error;

	if (sockets_request_parse(&request, data, size) == 0) {
		require(size == sizeof(again), "a request has one length");
		sockets_request_write(&request, again);
		require(memcmp(again, data, size) == 0, "one way to write it");
		try_permit(&request);
	}
	if (sockets_answer_parse(&error, data, size) == 0) {
		require(size == SOCKETS_ANSWER_LENGTH && error >= 0,
		    "an answer has one length");
		sockets_answer_write(error, again);
		require(memcmp(again, data, size) == 0, "one way to write it");
	}
	return 0;
}
