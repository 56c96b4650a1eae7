/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/sockets/message.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "resolver/dns/message.h"
#include "resolver/dns/wire.h"

/* The first octet of every message; nfdnsd and nfdns-sockets must agree. */
#define VERSION		2

#define FIRST_FREE_PORT	1024	/* ports below it need CAP_NET_BIND_SERVICE */
#define LARGEST_ERROR	4095	/* the kernel's MAX_ERRNO */

/* Address families in messages. */
enum { WIRE_NONE = 0, WIRE_IPV4 = 4, WIRE_IPV6 = 6 };

enum { FLAG_SOURCE = 1, ALL_FLAGS = FLAG_SOURCE };

static void
store_u32(uint8_t *octets, uint32_t value)
{
	wire_store_u16(octets, (uint16_t)(value >> 16));
	wire_store_u16(octets + 2, (uint16_t)value);
}

void
sockets_request_write(const struct sockets_request *request,
    uint8_t octets[static SOCKETS_REQUEST_LENGTH])
{
	memset(octets, 0, SOCKETS_REQUEST_LENGTH);
	octets[0] = VERSION;
	octets[1] = (uint8_t)request->kind;
	octets[2] = request->family == AF_INET ? WIRE_IPV4 :
	    request->family == AF_INET6 ? WIRE_IPV6 : WIRE_NONE;
	octets[3] = request->has_source ? FLAG_SOURCE : 0;
	wire_store_u16(octets + 4, request->port);
	store_u32(octets + 8, request->scope_id);
	memcpy(octets + 12, request->address, sizeof(request->address));
	memcpy(octets + 28, request->source, sizeof(request->source));
	store_u32(octets + 44, request->device);
}

/* Whether every field that the request does not use is zero. */
static bool
is_plain(const struct sockets_request *request)
{
	static const uint8_t zeros[16];
	const bool has_address = request->kind != SOCKETS_DATAGRAM &&
	    request->kind != SOCKETS_RESTRICT;
	const size_t length = request->family == AF_INET ? 4 : 16;
	const size_t used = has_address ? length : 0;
	const size_t source = request->has_source ? length : 0;

	if ((request->kind == SOCKETS_RESTRICT) != (request->family == 0))
		return false;
	if (!has_address && request->port != 0)
		return false;
	if (request->scope_id != 0 && (!has_address ||
	    request->kind == SOCKETS_LISTENER || request->family != AF_INET6))
		return false;
	if (request->has_source ? request->kind != SOCKETS_CONNECTION :
	    request->device != 0)
		return false;
	return memcmp(request->address + used, zeros, 16 - used) == 0 &&
	    memcmp(request->source + source, zeros, 16 - source) == 0;
}

int
sockets_request_parse(
    struct sockets_request *request, const uint8_t *octets, size_t length)
{
	struct wire_reader r = wire_reader_over(octets, length);
	const uint8_t version = wire_read_u8(&r), kind = wire_read_u8(&r);
	const uint8_t family = wire_read_u8(&r), flags = wire_read_u8(&r);
	uint16_t zero;
	const uint8_t *address, *source;

	memset(request, 0, sizeof(*request));
	request->port = wire_read_u16(&r);
	zero = wire_read_u16(&r);
	request->scope_id = wire_read_u32(&r);
	address = wire_read_octets(&r, sizeof(request->address));
	source = wire_read_octets(&r, sizeof(request->source));
	request->device = wire_read_u32(&r);
	if (address == NULL || source == NULL || r.failed ||
	    wire_left(&r) != 0 || version != VERSION ||
	    kind >= SOCKETS_KINDS || (flags & ~ALL_FLAGS) != 0 || zero != 0 ||
	    (family != WIRE_NONE && family != WIRE_IPV4 && family != WIRE_IPV6))
		return -EPROTO;
	memcpy(request->address, address, sizeof(request->address));
	memcpy(request->source, source, sizeof(request->source));
	request->has_source = (flags & FLAG_SOURCE) != 0;
	request->kind = kind;
	request->family = family == WIRE_IPV4 ? AF_INET :
	    family == WIRE_IPV6 ? AF_INET6 : 0;
	return is_plain(request) ? 0 : -EPROTO;
}

static bool
is_loopback(const struct sockets_request *request)
{
	static const uint8_t v4[16] = { 127, 0, 0, 1 };
	static const uint8_t v6[16] = { [15] = 1 };

	return memcmp(request->address, request->family == AF_INET ? v4 : v6,
	    sizeof(request->address)) == 0;
}

static bool
is_upstream(const struct sockets_request *request,
    const struct sockets_rights *rights)
{
	for (size_t i = 0; i < rights->upstream_count; i++) {
		const struct sockets_request *u = &rights->upstreams[i];

		if (u->family == request->family && u->port == request->port &&
		    u->scope_id == request->scope_id && memcmp(u->address,
		    request->address, sizeof(u->address)) == 0)
			return true;
	}
	return false;
}

int
sockets_request_permit(const struct sockets_request *request,
    const struct sockets_rights *rights)
{
	switch (request->kind) {
	case SOCKETS_CONNECTION:
	case SOCKETS_ASKING:
		return request->port == DNS_PORT ||
		    is_upstream(request, rights) ? 0 : -EPERM;
	case SOCKETS_DATAGRAM:
		return rights->restricted ? -EPERM : 0;
	case SOCKETS_UPSTREAM:
		return !rights->restricted &&
		    rights->upstream_count < SOCKETS_UPSTREAMS ? 0 : -EPERM;
	case SOCKETS_LISTENER:
		return !rights->restricted && is_loopback(request) &&
		    (request->port >= FIRST_FREE_PORT ||
		    request->port == 0) ? 0 : -EPERM;
	default:
		return request->kind == SOCKETS_RESTRICT ? 0 : -EPERM;
	}
}

void
sockets_answer_write(int error, uint8_t octets[static SOCKETS_ANSWER_LENGTH])
{
	memset(octets, 0, SOCKETS_ANSWER_LENGTH);
	octets[0] = VERSION;
	wire_store_u16(octets + 6, (uint16_t)error);
}

int
sockets_answer_parse(int *error, const uint8_t *octets, size_t length)
{
	struct wire_reader r = wire_reader_over(octets, length);
	const uint32_t version = wire_read_u32(&r);
	const uint32_t value = wire_read_u32(&r);

	if (r.failed || wire_left(&r) != 0 ||
	    version != (uint32_t)VERSION << 24 || value > LARGEST_ERROR)
		return -EPROTO;
	*error = (int)value;
	return 0;
}
