/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server of xDS in clear text on a loopback port, for unit tests of the
 * client: one thread steps both.  It keeps what it was asked, and sends what it
 * is told.
 */
#ifndef NFDNS_TESTS_UNIT_FEED_SERVER_H
#define NFDNS_TESTS_UNIT_FEED_SERVER_H

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nghttp2/nghttp2.h>

#include "resolver/feed/xds_session.h"
#include "resolver/feed/http2.h"
#include "resolver/feed/protobuf_writer.h"
#include "resolver/sources/name_table.h"
#include "resolver/sources/protobuf.h"

#define PEERS		64
#define ASKED		16
#define TEXT		64

/* A DiscoveryRequest as it came. */
struct asked {
	char version[TEXT], nonce[TEXT], refusal[TEXT];
	bool has_node;
};

struct peer {
	int fd;				/* -1: closed */
	nghttp2_session *session;
	int32_t stream;
	struct grpc_reader reader;
	uint8_t *body;			/* to be sent */
	size_t body_length;
	struct asked asked[ASKED];
	unsigned int count;		/* of asked */
	unsigned int pings;
	bool cancelled;			/* the client reset the call */
	long sends, takes;		/* octets, then it resets; negative: all */
};

struct server {
	int listener;
	uint16_t port;
	struct peer peers[PEERS];
	unsigned int count;		/* of connections, ever */
	bool is_deaf;			/* accepts, and says nothing */
	bool hangs_up;			/* accepts, and closes */
	long sends, takes;		/* of the next connection's peer */
};

static void
server_copy(char out[TEXT], struct span span)
{
	(void)snprintf(out, TEXT, "%.*s", SPAN_SHOWN(span, TEXT - 1));
}

static void
server_take(struct peer *p, const uint8_t *octets, size_t length)
{
	struct protobuf m = protobuf_over(octets, length);
	struct asked *a = &p->asked[p->count < ASKED ? p->count : ASKED - 1];
	struct protobuf_field f;

	memset(a, 0, sizeof(*a));
	p->count++;
	while (protobuf_next(&m, &f)) {
		struct protobuf status;
		struct protobuf_field s;

		if (f.number == 1)
			server_copy(a->version, f.octets);
		else if (f.number == 5)
			server_copy(a->nonce, f.octets);
		else if (f.number == 2)
			a->has_node = true;
		if (f.number != 6)
			continue;
		status = protobuf_inside(f.octets);
		while (protobuf_next(&status, &s))
			if (s.number == 2)
				server_copy(a->refusal, s.octets);
	}
}

static int
server_on_data(nghttp2_session *session, uint8_t flags, int32_t stream,
    const uint8_t *octets, size_t length, void *arg)
{
	struct peer *p = arg;

	(void)session;
	(void)flags;
	(void)stream;
	while (length > 0) {
		size_t n;
		uint8_t *message;

		if (grpc_reader_put(&p->reader, &octets, &length) !=
		    GRPC_MESSAGE)
			break;
		message = grpc_reader_take(&p->reader, &n);
		server_take(p, message, n);
		free(message);
	}
	return 0;
}

static ssize_t
server_on_read(nghttp2_session *session, int32_t stream, uint8_t *out,
    size_t size, uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct peer *p = arg;
	size_t n = size < p->body_length ? size : p->body_length;

	(void)session;
	(void)stream;
	(void)flags;
	(void)source;
	if (n == 0)
		return NGHTTP2_ERR_DEFERRED;
	memcpy(out, p->body, n);
	p->body_length -= n;
	memmove(p->body, p->body + n, p->body_length);
	return (ssize_t)n;
}

static nghttp2_nv
server_field(const char *name, const char *value)
{
	return (nghttp2_nv){ (uint8_t *)(uintptr_t)name,
		(uint8_t *)(uintptr_t)value, strlen(name), strlen(value), 0 };
}

static int
server_on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	const nghttp2_nv fields[] = { server_field(":status", "200"),
		server_field("content-type", "application/grpc") };
	const nghttp2_data_provider provider = {
		.read_callback = server_on_read };
	struct peer *p = arg;

	if (frame->hd.type == NGHTTP2_HEADERS && p->stream == 0) {
		p->stream = frame->hd.stream_id;
		(void)nghttp2_submit_response(session, p->stream, fields, 2,
		    &provider);
	} else if (frame->hd.type == NGHTTP2_RST_STREAM) {
		p->cancelled = frame->rst_stream.error_code == NGHTTP2_CANCEL;
	} else if (frame->hd.type == NGHTTP2_PING) {
		p->pings += (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0;
	}
	return 0;
}

static void
server_accept(struct server *s)
{
	const int on = 1;
	int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	nghttp2_session_callbacks *callbacks;
	struct peer *p = &s->peers[s->count % PEERS];

	if (fd < 0)
		return;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	s->count++;
	memset(p, 0, sizeof(*p));
	p->fd = fd;
	p->reader.limit = 1 << 20;
	p->sends = s->sends;
	p->takes = s->takes;
	s->sends = s->takes = -1;
	if (s->hangs_up) {
		(void)close(fd);
		p->fd = -1;
	}
	if (s->is_deaf || s->hangs_up)
		return;
	(void)nghttp2_session_callbacks_new(&callbacks);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks,
	    server_on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks,
	    server_on_frame);
	(void)nghttp2_session_server_new(&p->session, callbacks, p);
	nghttp2_session_callbacks_del(callbacks);
	(void)nghttp2_submit_settings(p->session, 0, NULL, 0);
}

static void
server_hang_up(struct peer *p)
{
	if (p->fd >= 0)
		(void)close(p->fd);
	p->fd = -1;
	nghttp2_session_del(p->session);
	p->session = NULL;
	grpc_reader_free(&p->reader);
	free(p->body);
	p->body = NULL;
	p->body_length = 0;
}

/* Without a FIN, which is how a connection dies. */
static void
server_break(struct peer *p)
{
	const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };

	(void)setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &at_once,
	    sizeof(at_once));
	server_hang_up(p);
}

/* At most so many octets as are left: false if they are not enough. */
static bool
server_limit(long *left, ssize_t *n)
{
	const bool enough = *left < 0 || *n <= *left;

	if (!enough)
		*n = *left;
	if (*left >= 0)
		*left -= *n;
	return enough;
}

static void
server_write(struct peer *p)
{
	const uint8_t *octets;
	ssize_t n;

	while (p->session != NULL &&
	    (n = nghttp2_session_mem_send(p->session, &octets)) > 0) {
		const bool enough = server_limit(&p->sends, &n);

		(void)!send(p->fd, octets, (size_t)n, MSG_NOSIGNAL);
		if (!enough)
			server_break(p);
	}
}

/* Accepts, reads and writes whatever there is. */
static void
server_step(struct server *s)
{
	uint8_t octets[65536];

	server_accept(s);
	for (unsigned int i = 0; i < s->count && i < PEERS; i++) {
		struct peer *p = &s->peers[i];
		ssize_t n;

		if (p->fd < 0 || p->session == NULL)
			continue;
		n = recv(p->fd, octets, sizeof(octets), MSG_DONTWAIT);
		if (n > 0 && !server_limit(&p->takes, &n)) {
			server_break(p);
			continue;
		}
		if (n > 0)
			(void)nghttp2_session_mem_recv(p->session, octets,
			    (size_t)n);
		server_write(p);
	}
}

static void
server_start(struct server *s)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t length = sizeof(address);

	memset(s, 0, sizeof(*s));
	s->sends = s->takes = -1;
	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
	    0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	(void)bind(s->listener, (struct sockaddr *)&address, sizeof(address));
	(void)listen(s->listener, 64);
	(void)getsockname(s->listener, (struct sockaddr *)&address, &length);
	s->port = ntohs(address.sin_port);
}

static void
server_stop(struct server *s)
{
	for (unsigned int i = 0; i < s->count && i < PEERS; i++)
		server_hang_up(&s->peers[i]);
	(void)close(s->listener);
}

/* Any octets of the call's body. */
static void
server_send(struct peer *p, const void *octets, size_t length)
{
	p->body = realloc(p->body, p->body_length + length);
	memcpy(p->body + p->body_length, octets, length);
	p->body_length += length;
	(void)nghttp2_session_resume_data(p->session, p->stream);
}

/*
 * A DiscoveryResponse with one resource: a NameTable of that one host; of text that
 * begins with "!", the text itself, which is none; of NULL, no resource.
 */
static void
server_push(struct peer *p, const char *version, const char *type,
    const char *inner, const char *host)
{
	struct protobuf_writer w = { 0 };
	uint8_t prefix[GRPC_PREFIX];
	char nonce[TEXT];
	size_t any = protobuf_begin(&w);

	if (host != NULL) {
		size_t table, entry;

		protobuf_write_string(&w, 1, inner);
		table = protobuf_begin(&w);
		entry = protobuf_begin(&w);
		protobuf_write_string(&w, *host == '!' ? 2 : 1, host);
		if (*host != '!') {
			protobuf_end(&w, 1, entry);
			protobuf_end(&w, 2, table);
		}
		protobuf_end(&w, 2, any);
	}
	(void)snprintf(nonce, sizeof(nonce), "nonce-%s", version);
	protobuf_write_string(&w, 1, version);
	protobuf_write_string(&w, 4, type);
	protobuf_write_string(&w, 5, nonce);
	grpc_prefix_write(prefix, (uint32_t)w.length);
	server_send(p, prefix, sizeof(prefix));
	server_send(p, w.octets, w.length);
	protobuf_writer_free(&w);
	server_write(p);
}

/* The host of a table that was pushed. */
static inline void
server_host(const struct feed_table *table, char out[TEXT])
{
	struct name_table_walk walk = name_table_walk_over(
	    table->parts->iov_base, table->length);
	struct name_table_entry entry;

	if (name_table_next(&walk, &entry))
		server_copy(out, entry.host);
}

/* The end of the call. */
static inline void
server_refuse(struct peer *p, const char *status, const char *message)
{
	const nghttp2_nv fields[] = { server_field("grpc-status", status),
		server_field("grpc-message", message) };

	(void)nghttp2_submit_headers(p->session, NGHTTP2_FLAG_END_STREAM,
	    p->stream, NULL, fields, 2, NULL);
	server_write(p);
}

static inline void
server_reset(struct peer *p, uint32_t error)
{
	(void)nghttp2_submit_rst_stream(p->session, NGHTTP2_FLAG_NONE,
	    p->stream, error);
	server_write(p);
}

static inline void
server_goaway(struct peer *p, uint32_t error, const char *text)
{
	(void)nghttp2_submit_goaway(p->session, 0, INT32_MAX, error,
	    (const uint8_t *)text, strlen(text));
	server_write(p);
}

#endif
