/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A link's way through an HTTP proxy (RFC 9110, section 9.3.6). */
#include "resolver/feed/link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "resolver/feed/text.h"

static int
send_request(struct link *l, char why[static FEED_TEXT])
{
	struct link_tunnel *t = l->tunnel;
	const ssize_t n = transport_write(&l->transport, t->octets, t->length,
	    why);

	if (n < 0)
		return (int)n;
	/* It is the first segment of the connection: all of it, or nothing. */
	if ((size_t)n < t->length) {
		(void)snprintf(why, FEED_TEXT, "the proxy takes nothing");
		return -ECONNABORTED;
	}
	explicit_bzero(t->octets, t->length);
	t->sent = true;
	t->length = 0;
	return -EAGAIN;
}

/* "HTTP/1.1 200 ..." is all that counts. */
static int
judge(const struct link_tunnel *t, char why[static FEED_TEXT])
{
	const char *end = memchr(t->octets, '\r', t->length);
	char line[120];

	if (t->length > 12 && memcmp(t->octets, "HTTP/1.", 7) == 0 &&
	    t->octets[8] == ' ' && t->octets[9] == '2')
		return 0;
	feed_text_clean(line, sizeof(line), t->octets,
	    end != NULL ? (size_t)(end - t->octets) : t->length);
	(void)snprintf(why, FEED_TEXT, "the proxy makes no tunnel: \"%s\"",
	    line);
	return -ECONNABORTED;
}

/* Nothing comes behind the header before the server is spoken to. */
int
link_tunnel_step(struct link *l, char why[static FEED_TEXT])
{
	struct link_tunnel *t = l->tunnel;
	ssize_t n;

	if (!t->sent)
		return send_request(l, why);
	n = transport_read(&l->transport, t->octets + t->length,
	    sizeof(t->octets) - t->length, why);
	if (n < 0)
		return (int)n;
	t->length += (size_t)n;
	if (t->length >= 4 &&
	    memmem(t->octets, t->length, "\r\n\r\n", 4) != NULL)
		return judge(t, why);
	if (n > 0 && t->length < sizeof(t->octets))
		return -EAGAIN;
	(void)snprintf(why, FEED_TEXT, n == 0 ? "the proxy closed the connection"
	    : "the proxy's answer has no end");
	return -ECONNABORTED;
}
