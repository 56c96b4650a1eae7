/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a call ended.  The order of what counts (grpc.io,
 * http-grpc-status-mapping.md): an answer that is not gRPC has its HTTP status
 * mapped, whatever else it says; in one that is, grpc-status wins over the HTTP
 * status.
 */
#include "resolver/feed/http2.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "resolver/feed/text.h"
#include "resolver/text/printable.h"

const char *
grpc_status_name(unsigned int status)
{
	static const char *const names[] = { "OK", "Canceled", "Unknown",
		"InvalidArgument", "DeadlineExceeded", "NotFound",
		"AlreadyExists", "PermissionDenied", "ResourceExhausted",
		"FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented",
		"Internal", "Unavailable", "DataLoss", "Unauthenticated" };

	return status < sizeof(names) / sizeof(*names) ? names[status] :
	    "status";
}

bool
grpc_status_is_lasting(unsigned int status)
{
	return status == GRPC_INVALID_ARGUMENT ||
	    status == GRPC_PERMISSION_DENIED ||
	    status == GRPC_UNAUTHENTICATED;
}

/* "application/grpc", with "+proto" or a parameter behind it. */
static bool
is_grpc_type(const char *value, size_t length)
{
	static const char type[] = "application/grpc";
	const size_t n = sizeof(type) - 1;

	return length >= n && strncasecmp(value, type, n) == 0 &&
	    (length == n || value[n] == '+' || value[n] == ';');
}

static bool
is_name(const char *wanted, const void *name, size_t length)
{
	return strlen(wanted) == length && memcmp(wanted, name, length) == 0;
}

void
grpc_reply_header(struct grpc_reply *reply, const void *name,
    size_t name_length, const void *value, size_t length)
{
	if (is_name(":status", name, name_length)) {
		reply->http_status = feed_text_number(value, length, 0);
	} else if (is_name("content-type", name, name_length)) {
		reply->is_grpc = is_grpc_type(value, length);
	} else if (is_name("grpc-status", name, name_length)) {
		reply->has_status = true;
		reply->status = feed_text_number(value, length, GRPC_UNKNOWN);
	} else if (is_name("grpc-message", name, name_length)) {
		char decoded[FEED_TEXT];

		/* grpc-message is percent-encoded. */
		(void)printable_text(reply->message, FEED_TEXT, decoded,
		    feed_text_decode(decoded, sizeof(decoded), value, length));
	}
}

void
grpc_reply_body(struct grpc_reply *reply, const void *octets, size_t length)
{
	size_t room = sizeof(reply->body) - reply->body_length;

	if (length > room)
		length = room;
	if (length > 0)
		memcpy(reply->body + reply->body_length, octets, length);
	reply->body_length += length;
}

static unsigned int
status_of_http(unsigned int http_status)
{
	switch (http_status) {
	case 400:
		return GRPC_INTERNAL;
	case 401:
		return GRPC_UNAUTHENTICATED;
	case 403:
		return GRPC_PERMISSION_DENIED;
	case 404:
		return GRPC_UNIMPLEMENTED;
	case 429:
	case 502:
	case 503:
	case 504:
		return GRPC_UNAVAILABLE;
	default:
		return GRPC_UNKNOWN;
	}
}

/* An answer of a proxy or of a web server. */
static unsigned int
not_grpc(const struct grpc_reply *reply, char why[static FEED_TEXT])
{
	const unsigned int status = status_of_http(reply->http_status);
	char body[96];

	(void)printable_text(body, sizeof(body), reply->body, reply->body_length);
	(void)snprintf(why, FEED_TEXT,
	    "%s (%u): the answer is HTTP %u and not gRPC%s%s%s",
	    grpc_status_name(status), status, reply->http_status,
	    *body != '\0' ? ": \"" : "", body, *body != '\0' ? "\"" : "");
	return status;
}

unsigned int
grpc_reply_status(const struct grpc_reply *reply, char why[static FEED_TEXT])
{
	unsigned int status;

	if (!reply->is_grpc)
		return not_grpc(reply, why);
	if (!reply->has_status) {
		status = reply->http_status != 200 ?
		    status_of_http(reply->http_status) : GRPC_UNKNOWN;
		(void)snprintf(why, FEED_TEXT,
		    "%s (%u): HTTP %u without grpc-status",
		    grpc_status_name(status), status, reply->http_status);
		return status;
	}
	(void)snprintf(why, FEED_TEXT, "%s (%u)%s%.200s",
	    grpc_status_name(reply->status), reply->status,
	    *reply->message != '\0' ? ": " : "", reply->message);
	return reply->status;
}

unsigned int
grpc_status_of_reset(uint32_t error_code)
{
	switch (error_code) {
	case 7:				/* REFUSED_STREAM */
		return GRPC_UNAVAILABLE;
	case 8:				/* CANCEL */
		return GRPC_CANCELLED;
	case 11:			/* ENHANCE_YOUR_CALM */
		return GRPC_RESOURCE_EXHAUSTED;
	case 12:			/* INADEQUATE_SECURITY */
		return GRPC_PERMISSION_DENIED;
	case 5:				/* STREAM_CLOSED: no mapping */
		return GRPC_UNKNOWN;
	default:
		return error_code <= 10 ? GRPC_INTERNAL : GRPC_UNKNOWN;
	}
}
