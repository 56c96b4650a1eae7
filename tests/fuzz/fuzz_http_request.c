/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as a request, whole and in parts: what has an answer once has the
 * same one with any octets behind it, and has none before its header ends.
 */
#include "nfq/cli/http_request.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *octets = (const char *)data;
	struct http_request request, again;
	enum http_status status, before = HTTP_MORE;

	if (size > HTTP_REQUEST_MAX)
		size = HTTP_REQUEST_MAX;
	status = http_request_read(octets, size, &request);
	check(status != HTTP_TIMEOUT && status != HTTP_UNAVAILABLE);
	check((status == HTTP_TOO_LARGE) <= (size == HTTP_REQUEST_MAX));
	check(status != HTTP_METHOD || !request.head);
	for (size_t i = 0; i < size && i < 512 && before == HTTP_MORE; i++) {
		before = http_request_read(octets, i, &again);
		check(before == HTTP_MORE || (before == status &&
		    again.head == request.head && again.index == request.index));
	}
	return 0;
}
