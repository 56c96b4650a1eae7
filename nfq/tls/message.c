/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/tls/message.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "resolver/dns/wire.h"
#include "resolver/fds.h"

/* The first octet of every message; the two programs must be of one build. */
#define VERSION		1

/* Address families in messages. */
enum { WIRE_IPV4 = 4, WIRE_IPV6 = 6 };

#define PEER_FIXED	20		/* octets of a peer before its name */

void
tls_message_write(uint8_t header[static TLS_HEADER], enum tls_kind kind,
    uint32_t connection, uint8_t detail)
{
	header[0] = VERSION;
	header[1] = (uint8_t)kind;
	header[2] = detail;
	header[3] = 0;
	wire_store_u16(header + 4, (uint16_t)(connection >> 16));
	wire_store_u16(header + 6, (uint16_t)connection);
}

/* Whether a message of that kind may have such a detail and body. */
static bool
is_sound(const struct tls_message *m)
{
	switch (m->kind) {
	case TLS_ASK:
	case TLS_ANSWER:
		return m->detail == 0 && m->length >= TLS_DNS_LEAST;
	case TLS_OPEN:
		return m->detail == 0 && m->length >= PEER_FIXED &&
		    m->length <= TLS_PEER_MAX;
	case TLS_CLOSE:
		return m->detail == 0 && m->length == 0;
	case TLS_OPENED:
		return m->detail <= 1 && m->length == 0;
	default:
		return m->detail < TLS_ENDS && m->length < TLS_TEXT;
	}
}

int
tls_message_parse(struct tls_message *m, const uint8_t *octets, size_t length)
{
	struct wire_reader r = wire_reader_over(octets, length);
	const uint8_t version = wire_read_u8(&r), kind = wire_read_u8(&r);
	uint8_t zero;

	m->detail = wire_read_u8(&r);
	zero = wire_read_u8(&r);
	m->connection = wire_read_u32(&r);
	if (r.failed || version != VERSION || kind >= TLS_KINDS || zero != 0)
		return -EPROTO;
	m->kind = kind;
	m->body = octets + TLS_HEADER;
	m->length = length - TLS_HEADER;
	return m->length <= TLS_BODY_MAX && is_sound(m) ? 0 : -EPROTO;
}

size_t
tls_peer_write(const struct tls_peer *peer, uint8_t octets[static TLS_PEER_MAX])
{
	const size_t name = strlen(peer->name);

	octets[0] = peer->family == AF_INET ? WIRE_IPV4 : WIRE_IPV6;
	octets[1] = 0;
	wire_store_u16(octets + 2, peer->port);
	memcpy(octets + 4, peer->address, sizeof(peer->address));
	memcpy(octets + PEER_FIXED, peer->name, name);
	return PEER_FIXED + name;
}

int
tls_peer_parse(struct tls_peer *peer, const uint8_t *octets, size_t length)
{
	struct wire_reader r = wire_reader_over(octets, length);
	const uint8_t family = wire_read_u8(&r), zero = wire_read_u8(&r);
	const uint8_t *address, *name;
	size_t left;

	memset(peer, 0, sizeof(*peer));
	peer->port = wire_read_u16(&r);
	address = wire_read_octets(&r, sizeof(peer->address));
	left = wire_left(&r);
	name = wire_read_octets(&r, left);
	if (r.failed || address == NULL || zero != 0 || peer->port == 0 ||
	    (family != WIRE_IPV4 && family != WIRE_IPV6) ||
	    left >= sizeof(peer->name) ||
	    (left > 0 && memchr(name, '\0', left) != NULL))
		return -EPROTO;
	peer->family = family == WIRE_IPV4 ? AF_INET : AF_INET6;
	memcpy(peer->address, address, sizeof(peer->address));
	if (left > 0)
		memcpy(peer->name, name, left);
	return 0;
}

const char *
tls_text(char text[static TLS_TEXT], const uint8_t *octets, size_t length)
{
	if (length >= TLS_TEXT)
		length = TLS_TEXT - 1;
	for (size_t i = 0; i < length; i++)
		text[i] = octets[i] >= ' ' && octets[i] <= '~' ?
		    (char)octets[i] : '?';
	text[length] = '\0';
	return text;
}

int
tls_channel_send(int channel, const uint8_t header[static TLS_HEADER],
    const void *body, size_t length, int fd)
{
	/* Both are only read. */
	struct iovec parts[2] = {
		{ (void *)(uintptr_t)header, TLS_HEADER },
		{ (void *)(uintptr_t)body, length },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	union fds_ancillary ancillary;

	fds_attach(&message, &ancillary, &fd, fd >= 0 ? 1 : 0);
	if (sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return errno == EINTR || errno == ENOBUFS ? -EAGAIN : -errno;
	return 0;
}

ssize_t
tls_channel_receive(int channel, uint8_t octets[static TLS_MESSAGE_MAX],
    int *fd)
{
	struct iovec part = { octets, TLS_MESSAGE_MAX };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	union fds_ancillary ancillary;
	ssize_t length;
	size_t count;

	*fd = -1;
	fds_expect(&message, &ancillary, 1);
	length = recvmsg(channel, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (length < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	count = fds_take(&message, fd, 1);
	if (length > 0 && count <= 1 &&
	    (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
		return length;
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
	return length == 0 ? -ECONNRESET : -EPROTO;
}
