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
#define VERSION		2

/* Address families in messages. */
enum { WIRE_IPV4 = 4, WIRE_IPV6 = 6 };

#define PEER_FIXED	20		/* octets of a peer before its name */

void
tls_message_write(uint8_t header[static TLS_HEADER], enum tls_kind kind,
    enum tls_status status)
{
	header[0] = VERSION;
	header[1] = (uint8_t)kind;
	header[2] = (uint8_t)status;
	header[3] = 0;
}

int
tls_message_parse(struct tls_message *m, const uint8_t *octets, size_t length)
{
	struct wire_reader r = wire_reader_over(octets, length);
	const uint8_t version = wire_read_u8(&r), kind = wire_read_u8(&r);
	const uint8_t status = wire_read_u8(&r), zero = wire_read_u8(&r);
	const uint8_t statuses = kind == TLS_STATUS ? TLS_STATUSES : 1;

	if (r.failed || version != VERSION || kind >= TLS_KINDS || zero != 0 ||
	    status >= statuses)
		return -EPROTO;
	m->kind = kind;
	m->status = status;
	m->body = octets + TLS_HEADER;
	m->length = length - TLS_HEADER;
	return m->length < (kind == TLS_STATUS ? TLS_TEXT :
	    TLS_PEER_MAX) ? 0 : -EPROTO;
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
    const void *body, size_t length, const int *fds)
{
	/* Both are only read. */
	struct iovec parts[2] = {
		{ (void *)(uintptr_t)header, TLS_HEADER },
		{ (void *)(uintptr_t)body, length },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	union fds_ancillary ancillary;

	fds_attach(&message, &ancillary, fds, fds != NULL ? TLS_FDS : 0);
	if (sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return errno == EINTR || errno == ENOBUFS ? -EAGAIN : -errno;
	return 0;
}

void
tls_channel_discard(int fds[static TLS_FDS])
{
	for (size_t i = 0; i < TLS_FDS; i++) {
		if (fds[i] >= 0)
			(void)close(fds[i]);
		fds[i] = -1;
	}
}

ssize_t
tls_channel_receive(int channel, uint8_t octets[static TLS_MESSAGE_MAX],
    int fds[static TLS_FDS])
{
	struct iovec part = { octets, TLS_MESSAGE_MAX };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	union fds_ancillary ancillary;
	ssize_t length;
	size_t count;

	for (size_t i = 0; i < TLS_FDS; i++)
		fds[i] = -1;
	fds_expect(&message, &ancillary, TLS_FDS);
	length = recvmsg(channel, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (length < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	count = fds_take(&message, fds, TLS_FDS);
	if (length > 0 && (count == 0 || count == TLS_FDS) &&
	    (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
		return length;
	tls_channel_discard(fds);
	return length == 0 ? -ECONNRESET : -EPROTO;
}
