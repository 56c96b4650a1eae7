/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/tls/message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/check.h"

static uint8_t octets[TLS_MESSAGE_MAX];

static int
parse(enum tls_kind kind, enum tls_status status, size_t length)
{
	struct tls_message m;
	int error;

	tls_message_write(octets, kind, status);
	error = tls_message_parse(&m, octets, TLS_HEADER + length);
	if (error == 0)
		CHECK(m.kind == kind && m.status == status &&
		    m.length == length && m.body == octets + TLS_HEADER);
	return error;
}

TEST(only_what_a_side_writes_is_taken)
{
	CHECK(parse(TLS_OPEN, 0, TLS_PEER_MAX - 1) == 0);
	CHECK(parse(TLS_OPEN, 0, TLS_PEER_MAX) == -EPROTO);
	CHECK(parse(TLS_OPEN, 1, 20) == -EPROTO);
	CHECK(parse(TLS_STATUS, TLS_RESUMED, 0) == 0);
	CHECK(parse(TLS_STATUS, TLS_FULL, TLS_TEXT - 1) == 0);
	CHECK(parse(TLS_STATUS, TLS_STATUSES, 0) == -EPROTO);
	CHECK(parse(TLS_STATUS, TLS_FULL, TLS_TEXT) == -EPROTO);
	CHECK(parse(TLS_KINDS, 0, 12) == -EPROTO);
	tls_message_write(octets, TLS_STATUS, 0);
	octets[0]++;			/* another version */
	CHECK(tls_message_parse(&(struct tls_message){ .kind = TLS_OPEN },
	    octets, TLS_HEADER) == -EPROTO);
	CHECK(tls_message_parse(&(struct tls_message){ .kind = TLS_OPEN },
	    octets, TLS_HEADER - 1) == -EPROTO);
}

TEST(a_peer_comes_back)
{
	struct tls_peer peer = { .family = AF_INET6, .address = { 0x20, 1 },
		.port = 853, .name = "dns.example" }, got;
	uint8_t body[TLS_PEER_MAX];
	size_t length = tls_peer_write(&peer, body);

	CHECK(tls_peer_parse(&got, body, length) == 0);
	CHECK(got.family == AF_INET6 && got.port == 853 &&
	    memcmp(got.address, peer.address, 16) == 0 &&
	    strcmp(got.name, peer.name) == 0);
	CHECK(tls_peer_parse(&got, body, 20) == 0 && got.name[0] == '\0');
	CHECK(tls_peer_parse(&got, body, 19) == -EPROTO);
	body[length - 3] = '\0';	/* a name that OpenSSL would read as shorter */
	CHECK(tls_peer_parse(&got, body, length) == -EPROTO);
	body[0] = 5;
	CHECK(tls_peer_parse(&got, body, 20) == -EPROTO);
}

TEST(two_descriptors_go_with_their_message)
{
	uint8_t header[TLS_HEADER];
	int ends[2], fds[TLS_FDS];

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
	tls_message_write(header, TLS_OPEN, 0);
	CHECK(tls_channel_send(ends[0], header, "body", 4, ends) == 0);
	CHECK(tls_channel_receive(ends[1], octets, fds) == TLS_HEADER + 4);
	for (size_t i = 0; i < TLS_FDS; i++)
		CHECK(fds[i] >= 0 && (fcntl(fds[i], F_GETFD) & FD_CLOEXEC) != 0);
	CHECK(memcmp(octets + TLS_HEADER, "body", 4) == 0);
	tls_channel_discard(fds);
	CHECK(tls_channel_receive(ends[1], octets, fds) == -EAGAIN &&
	    fds[0] == -1 && fds[1] == -1);
	CHECK(tls_channel_send(ends[0], header, "", 0, NULL) == 0);
	CHECK(tls_channel_receive(ends[1], octets, fds) == TLS_HEADER &&
	    fds[0] == -1);
	(void)close(ends[0]);
	CHECK(tls_channel_receive(ends[1], octets, fds) == -ECONNRESET);
	CHECK(tls_channel_send(ends[1], header, "", 0, NULL) == -EPIPE);
	(void)close(ends[1]);
}

TEST(texts_of_strangers_are_made_printable)
{
	char text[TLS_TEXT];
	uint8_t all[300];

	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (uint8_t)i;
	CHECK(strlen(tls_text(text, all, sizeof(all))) == TLS_TEXT - 1);
	for (size_t i = 0; text[i] != '\0'; i++)
		CHECK(text[i] >= ' ' && text[i] <= '~');
	CHECK(strcmp(tls_text(text, (const uint8_t *)"a\nb", 3), "a?b") == 0);
}
