/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as a DiscoveryResponse: what is found lies within them, and what
 * an answer echoes of it comes back from the wire as it was.
 */
#include <string.h>

#include "resolver/feed/xds_session.h"
#include "resolver/sources/protobuf.h"
#include "tests/fuzz/fuzz.h"

static void
check_within(struct span span, const uint8_t *data, size_t size)
{
	const char *begin = (const char *)data;

	check(span.length == 0 || (span.text >= begin &&
	    span.text + span.length <= begin + size));
}

/* The nonce and version of the answer, which is field 5 and 1. */
static void
check_answer(const struct discovery_response *response)
{
	const struct discovery_request request = {
		.version = response->version, .nonce = response->nonce,
		.refusal = "why" };
	struct protobuf_writer w = { 0 };
	struct protobuf p;
	struct protobuf_field f;
	unsigned int fields = 0;

	discovery_request_write(&w, &request);
	check(!w.failed || response->version.length +
	    response->nonce.length > 1 << 20);
	p = protobuf_over(w.octets, w.length);
	while (!w.failed && protobuf_next(&p, &f)) {
		fields++;
		check(f.number != 1 || span_equal(f.octets, response->version));
		check(f.number != 5 || span_equal(f.octets, response->nonce));
	}
	check(!p.failed && (w.failed || (fields >= 2 && fields <= 4)));
	protobuf_writer_free(&w);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct discovery_response response;

	if (discovery_response_read(data, size, &response) != 0)
		return 0;
	check_within(response.version, data, size);
	check_within(response.type, data, size);
	check_within(response.nonce, data, size);
	check_within(response.table, data, size);
	check(response.tables > 0 || response.table.length == 0);
	check(response.tables + response.others + response.broken <= size);
	check_answer(&response);
	return 0;
}
