/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A record's messages, of the frames that dnstap.c writes. */
#include "policy/audit/frame_stream.h"
#include "policy/audit/proto_field.h"
#include "nfq/cli/logs/read_back.h"

#include <string.h>
#include <sys/socket.h>

/* dnstap.proto, message Dnstap: */
enum { EXTRA = 3, MESSAGE = 14 };
/* Message: */
enum {
	MESSAGE_TYPE = 1, FAMILY, PROTOCOL, QUERY_ADDRESS, RESPONSE_ADDRESS,
	QUERY_PORT, RESPONSE_PORT, QUERY_SECOND, QUERY_NANO, QUERY_MESSAGE,
	RESPONSE_SECOND = 12, RESPONSE_NANO, RESPONSE_MESSAGE
};
enum { INET6 = 2, TCP = 2 };
enum { CLIENT_QUERY = 5, CLIENT_RESPONSE = 6 };

#define SECOND	UINT64_C(1000000000)

/* The times of a message. */
struct times {
	uint64_t asked_ns, answered_ns;
};

static void
take_number(struct audit_record *r, struct times *times,
    const struct proto_field *field)
{
	switch (field->number) {
	case FAMILY:
		r->family = field->value == INET6 ? AF_INET6 : AF_INET;
		break;
	case PROTOCOL:
		r->stream = field->value == TCP;
		break;
	case QUERY_PORT:
		r->client_port = (uint16_t)field->value;
		break;
	case RESPONSE_PORT:
		r->server_port = (uint16_t)field->value;
		break;
	case QUERY_SECOND:
		times->asked_ns += field->value * SECOND;
		break;
	case QUERY_NANO:
		times->asked_ns += field->value;
		break;
	case RESPONSE_SECOND:
		times->answered_ns += field->value * SECOND;
		break;
	case RESPONSE_NANO:
		times->answered_ns += field->value;
		break;
	default:
		break;
	}
}

static void
take_address(uint8_t to[static 16], const struct proto_field *field)
{
	if (field->length <= 16)
		memcpy(to, field->octets, field->length);
}

static void
take_octets(struct audit_read_back *back, const struct proto_field *field)
{
	struct audit_record *r = &back->record;

	if (field->number == QUERY_ADDRESS)
		take_address(r->client, field);
	else if (field->number == RESPONSE_ADDRESS)
		take_address(r->server, field);
	else if (field->number == QUERY_MESSAGE) {
		r->question_length = 0;
		audit_read_back_message(back, false, field->octets,
		    field->length);
	} else if (field->number == RESPONSE_MESSAGE) {
		r->answer_length = 0;
		audit_read_back_message(back, true, field->octets,
		    field->length);
	}
}

/* Its type, 0 if it cannot be read. */
static uint64_t
take_message(struct audit_read_back *back, uint64_t *asked_ns,
    const uint8_t *at, size_t length)
{
	const uint8_t *end = at + length;
	struct times times = { 0, 0 };
	struct proto_field field;
	uint64_t type = 0;

	while (at < end) {
		if (!proto_field_next(&field, &at, end))
			return 0;
		if (field.octets != NULL)
			take_octets(back, &field);
		else if (field.number == MESSAGE_TYPE)
			type = field.value;
		else
			take_number(&back->record, &times, &field);
	}
	*asked_ns = times.asked_ns;
	if (type == CLIENT_RESPONSE)
		back->record.time_ns = times.answered_ns;
	return type;
}

/* Whether it is a question's message. */
static bool
take_frame(struct audit_read_back *back, uint64_t *asked_ns, size_t *text,
    const uint8_t *octets, const struct frame *frame)
{
	const uint8_t *at = frame->data, *end = at + frame->data_length;
	struct proto_field field;
	bool asked = false;

	while (at < end && proto_field_next(&field, &at, end)) {
		if (field.octets == NULL)
			continue;
		if (field.number == EXTRA)
			*text = (size_t)(field.octets - octets);
		else if (field.number == MESSAGE)
			asked |= take_message(back, asked_ns, field.octets,
			    field.length) == CLIENT_QUERY;
	}
	return asked;
}

bool
audit_read_dnstap(struct audit_read_back *back, uint64_t *asked_ns,
    size_t *text, const struct audit_reading *reading, const uint8_t *octets)
{
	bool asked = false;
	struct frame frame;

	for (size_t at = 0; at < reading->length; at += frame.length) {
		if (!frame_read(&frame, octets + at, reading->length - at) ||
		    frame.length == 0)
			return false;
		if (!frame.control)
			asked |= take_frame(back, asked_ns, text, octets,
			    &frame);
	}
	return asked && *text != 0 && (back->record.family == AF_INET ||
	    back->record.family == AF_INET6);
}
