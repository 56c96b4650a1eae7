/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/xds_session.h"

#include <errno.h>
#include <string.h>

#include "resolver/feed/http2.h"
#include "resolver/sources/protobuf.h"

enum { REQUEST_VERSION = 1, REQUEST_NODE = 2, REQUEST_TYPE = 4,
	REQUEST_NONCE = 5, REQUEST_ERROR = 6 };
enum { STATUS_CODE = 1, STATUS_MESSAGE = 2 };
enum { RESPONSE_VERSION = 1, RESPONSE_RESOURCES = 2, RESPONSE_TYPE = 4,
	RESPONSE_NONCE = 5 };
enum { ANY_TYPE = 1, ANY_VALUE = 2 };

static void
write_span(struct protobuf_writer *w, uint32_t field, struct span span)
{
	if (span.length > 0)
		protobuf_write_octets(w, field, span.text, span.length);
}

void
discovery_request_write(struct protobuf_writer *writer,
    const struct discovery_request *request)
{
	size_t error;

	write_span(writer, REQUEST_VERSION, request->version);
	if (request->node != NULL)
		node_write(writer, REQUEST_NODE, request->node,
		    request->machine);
	protobuf_write_string(writer, REQUEST_TYPE, DISCOVERY_NAME_TABLE);
	write_span(writer, REQUEST_NONCE, request->nonce);
	if (request->refusal == NULL)
		return;
	error = protobuf_begin(writer);
	protobuf_write_varint(writer, STATUS_CODE, GRPC_INTERNAL);
	protobuf_write_string(writer, STATUS_MESSAGE, request->refusal);
	protobuf_end(writer, REQUEST_ERROR, error);
}

static void
read_resource(struct span any, struct discovery_response *response)
{
	struct protobuf p = protobuf_inside(any);
	struct span type = span_of(""), value = span_of("");
	struct protobuf_field f;

	while (protobuf_next(&p, &f)) {
		if (f.type != PROTOBUF_OCTETS)
			continue;
		if (f.number == ANY_TYPE)
			type = f.octets;
		else if (f.number == ANY_VALUE)
			value = f.octets;
	}
	if (p.failed) {
		response->broken++;
	} else if (!span_equal(type, span_of(DISCOVERY_NAME_TABLE))) {
		response->others++;
	} else {
		response->tables++;
		response->table = value;
	}
}

int
discovery_response_read(const void *octets, size_t length,
    struct discovery_response *response)
{
	struct protobuf p = protobuf_over(octets, length);
	struct protobuf_field f;

	*response = (struct discovery_response){ .version = span_of(""),
		.type = span_of(""), .nonce = span_of(""),
		.table = span_of("") };
	while (protobuf_next(&p, &f)) {
		if (f.type != PROTOBUF_OCTETS)
			continue;
		if (f.number == RESPONSE_VERSION)
			response->version = f.octets;
		else if (f.number == RESPONSE_TYPE)
			response->type = f.octets;
		else if (f.number == RESPONSE_NONCE)
			response->nonce = f.octets;
		else if (f.number == RESPONSE_RESOURCES)
			read_resource(f.octets, response);
	}
	return p.failed ? -EBADMSG : 0;
}
