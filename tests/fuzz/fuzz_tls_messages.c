/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as a message between the worker and nfdns-tls, of which each may have
 * been taken over.  Whatever parses is written as the same octets again, and the
 * texts in it are printable.
 */
#include <string.h>
#include <sys/socket.h>

#include "nfq/tls/message.h"
#include "tests/fuzz/fuzz.h"

static void
try_peer(const struct tls_message *m)
{
	uint8_t again[TLS_PEER_MAX];
	struct tls_peer peer;

	if (tls_peer_parse(&peer, m->body, m->length) < 0)
		return;
	check(peer.family == AF_INET || peer.family == AF_INET6);
	check(peer.port != 0 && strlen(peer.name) < sizeof(peer.name));
	check(tls_peer_write(&peer, again) == m->length);
	check(memcmp(again, m->body, m->length) == 0);
}

static void
try_text(const struct tls_message *m)
{
	char text[TLS_TEXT];

	(void)tls_text(text, m->body, m->length);
	check(strlen(text) == m->length);
	for (size_t i = 0; text[i] != '\0'; i++)
		check(text[i] >= ' ' && text[i] <= '~');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t header[TLS_HEADER];
	struct tls_message m;

	if (tls_message_parse(&m, data, size) < 0)
		return 0;
	check(m.length == size - TLS_HEADER && size < TLS_MESSAGE_MAX);
	tls_message_write(header, m.kind, m.status);
	check(memcmp(header, data, TLS_HEADER) == 0);
	if (m.kind == TLS_OPEN)
		try_peer(&m);
	if (m.kind == TLS_STATUS)
		try_text(&m);
	return 0;
}
