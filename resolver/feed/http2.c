/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/http2.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <nghttp2/nghttp2.h>

#include "resolver/feed/text.h"
#include "resolver/text/printable.h"

struct message {
	STAILQ_ENTRY(message) next;
	uint8_t *octets;
	size_t length;
};
STAILQ_HEAD(messages, message);

struct http2 {
	nghttp2_session *session;
	int32_t stream;			/* 0: none yet */
	struct http2_state state;
	/* From the peer. */
	struct http2_reader get;	/* body NULL: a gRPC call */
	unsigned int http_status;
	unsigned int retry_after;	/* seconds */
	bool headed;			/* get.head() was called */
	struct grpc_reader reader;
	struct grpc_reply reply;
	struct messages messages;
	uint8_t *waiting;		/* DATA behind what has no room */
	size_t waiting_length;
	size_t header_octets;		/* of this block */
	unsigned int idle_frames;
	bool interim;			/* this block is a 1xx answer */
	bool reset;			/* by the peer */
	/* To the peer. */
	uint8_t *unsent;		/* framed messages */
	size_t unsent_length;
	bool last;			/* nothing follows them */
	const uint8_t *output;		/* nghttp2's, until it is asked again */
	size_t output_length;
};

/* The first reason is the one that counts. */
static void __attribute__((format(printf, 4, 5)))
end_call(struct http2 *h, enum feed_cause cause, unsigned int status,
    const char *format, ...)
{
	va_list args;

	if (h->state.ended)
		return;
	h->state.ended = true;
	h->state.cause = cause;
	h->state.status = status;
	va_start(args, format);
	(void)vsnprintf(h->state.why, sizeof(h->state.why), format, args);
	va_end(args);
}

/* The answer has ended as it should: with a status. */
static void
end_by_status(struct http2 *h)
{
	char why[FEED_TEXT];
	unsigned int status = grpc_reply_status(&h->reply, why);

	if (grpc_reader_is_inside(&h->reader))
		end_call(h, FEED_CAUSE_RESET, status,
		    "the server ended the call within a message: %.180s", why);
	else if (status == GRPC_OK)
		end_call(h, FEED_CAUSE_RESET, status,
		    "the server ended the call");
	else
		end_call(h, FEED_CAUSE_STATUS, status, "%s", why);
}

static int
on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame,
    void *arg)
{
	struct http2 *h = arg;

	(void)session;
	if (frame->hd.stream_id == h->stream) {
		h->header_octets = 0;
		h->interim = false;
	}
	return 0;
}

/* A header field of the answer to a GET; trailers say nothing to us. */
static void
take_field(struct http2 *h, const uint8_t *name, size_t name_length,
    const uint8_t *value, size_t length)
{
	if (h->headed)
		return;
	if (name_length == 7 && memcmp(name, ":status", 7) == 0)
		h->http_status = feed_text_number(value, length, 0);
	else if (name_length == 11 && memcmp(name, "retry-after", 11) == 0)
		h->retry_after = feed_text_number(value, length, 0);
}

static int
on_header(nghttp2_session *session, const nghttp2_frame *frame,
    const uint8_t *name, size_t name_length, const uint8_t *value,
    size_t length, uint8_t flags, void *arg)
{
	struct http2 *h = arg;

	(void)session;
	(void)flags;
	if (frame->hd.stream_id != h->stream || h->state.ended)
		return 0;
	/* 32 octets of overhead each: RFC 9113, section 6.5.2. */
	h->header_octets += name_length + length + 32;
	if (h->header_octets > HTTP2_HEADERS_MOST) {
		end_call(h, FEED_CAUSE_PROTOCOL, GRPC_INTERNAL,
		    "the server's header fields have more than %zu octets",
		    HTTP2_HEADERS_MOST);
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	}
	if (name_length == 7 && memcmp(name, ":status", 7) == 0 &&
	    length == 3 && value[0] == '1')
		h->interim = true;
	if (h->interim)
		return 0;
	if (h->get.body != NULL)
		take_field(h, name, name_length, value, length);
	else
		grpc_reply_header(&h->reply, name, name_length, value, length);
	return 0;
}

static bool
keep_message(struct http2 *h)
{
	struct message *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return false;
	m->octets = grpc_reader_take(&h->reader, &m->length);
	if (m->octets == NULL) {
		free(m);
		return false;
	}
	STAILQ_INSERT_TAIL(&h->messages, m, next);
	h->reader.held += m->length;
	h->idle_frames = 0;
	return true;
}

static void
end_by_framing(struct http2 *h, enum grpc_read read)
{
	if (read == GRPC_COMPRESSED)
		end_call(h, FEED_CAUSE_PROTOCOL, GRPC_INTERNAL,
		    "the server sent a compressed message, which nfdns never "
		    "asks for");
	else if (read == GRPC_TOO_LONG)
		end_call(h, FEED_CAUSE_CONTENT, GRPC_RESOURCE_EXHAUSTED,
		    "the server announced a message over the limit of %llu "
		    "octets: raise \"limit\" in feed.conf if the mesh is that "
		    "large", (unsigned long long)h->reader.limit);
	else
		end_call(h, FEED_CAUSE_CONTENT, GRPC_RESOURCE_EXHAUSTED,
		    "no memory for a message of the server");
	http2_cancel(h);
}

/* Takes messages out of the octets: how many were taken. */
static size_t
take_messages(struct http2 *h, const uint8_t *octets, size_t length)
{
	const size_t whole = length;
	enum grpc_read read = GRPC_MORE;

	while (length > 0 && (read == GRPC_MORE || read == GRPC_MESSAGE)) {
		read = grpc_reader_put(&h->reader, &octets, &length);
		if (read == GRPC_MESSAGE && !keep_message(h))
			read = GRPC_NO_MEMORY;
	}
	if (read == GRPC_WAIT)
		return whole - length;
	if (read != GRPC_MESSAGE && read != GRPC_MORE)
		end_by_framing(h, read);
	return whole;
}

/* They are not consumed: the peer sends a window of them at most. */
static bool
keep_waiting(struct http2 *h, const uint8_t *octets, size_t length)
{
	uint8_t *waiting = realloc(h->waiting, h->waiting_length + length);

	if (waiting == NULL)
		return false;
	memcpy(waiting + h->waiting_length, octets, length);
	h->waiting = waiting;
	h->waiting_length += length;
	return true;
}

static void
take_body(struct http2 *h, const uint8_t *octets, size_t length)
{
	h->idle_frames = 0;
	if (h->get.body(h->get.arg, octets, length))
		return;
	end_call(h, FEED_CAUSE_CONTENT, GRPC_UNKNOWN,
	    "the rest of the answer is not wanted");
	http2_cancel(h);
}

static int
on_data(nghttp2_session *session, uint8_t flags, int32_t stream,
    const uint8_t *octets, size_t length, void *arg)
{
	struct http2 *h = arg;
	size_t taken = length;

	(void)flags;
	if (stream == h->stream && !h->state.ended && h->get.body != NULL)
		take_body(h, octets, length);
	else if (stream == h->stream && !h->state.ended && !h->reply.is_grpc)
		grpc_reply_body(&h->reply, octets, length);
	else if (stream == h->stream && !h->state.ended)
		taken = h->waiting_length > 0 ? 0 :
		    take_messages(h, octets, length);
	if (taken < length && !keep_waiting(h, octets + taken, length - taken))
		end_by_framing(h, GRPC_NO_MEMORY);
	/* An error says that there is no such stream any more. */
	(void)nghttp2_session_consume(session, stream, taken);
	return 0;
}

void
http2_hold(struct http2 *http2, uint64_t octets)
{
	uint8_t *waiting = http2->waiting;
	const size_t length = http2->waiting_length;
	size_t taken;

	http2->reader.held = octets;
	if (length == 0 || grpc_reader_waits(&http2->reader))
		return;
	taken = http2->state.ended ? length :
	    take_messages(http2, waiting, length);
	(void)nghttp2_session_consume(http2->session, http2->stream, taken);
	http2->waiting_length = length - taken;
	if (taken < length) {
		memmove(waiting, waiting + taken, length - taken);
	} else {
		free(waiting);
		http2->waiting = NULL;
	}
}

static void
take_goaway(struct http2 *h, const nghttp2_goaway *goaway)
{
	static const char pings[] = "too_many_pings";
	char text[64];

	h->state.going = true;
	if (goaway->error_code == NGHTTP2_NO_ERROR)
		return;
	(void)printable_text(text, sizeof(text), goaway->opaque_data,
	    goaway->opaque_data_len);
	h->state.too_many_pings =
	    goaway->error_code == NGHTTP2_ENHANCE_YOUR_CALM &&
	    strncmp(text, pings, sizeof(pings) - 1) == 0;
	end_call(h, FEED_CAUSE_PROTOCOL, GRPC_UNAVAILABLE,
	    "the server ended the connection: %s%s%s",
	    nghttp2_http2_strerror(goaway->error_code),
	    *text != '\0' ? ", " : "", text);
}

static void
take_reset(struct http2 *h, uint32_t error_code)
{
	unsigned int status = grpc_status_of_reset(error_code);

	h->reset = true;
	end_call(h, FEED_CAUSE_RESET, status,
	    "the server reset the call: %s (HTTP/2 error %u)",
	    grpc_status_name(status), error_code);
}

/* The peer has ended its half.  Ours is of no use any more. */
static void
take_end(struct http2 *h, const nghttp2_frame *frame)
{
	bool first = !h->state.ended;

	if (h->get.body != NULL) {
		h->state.whole = first;
		h->stream = 0;
		return;
	}
	if (frame->hd.type == NGHTTP2_HEADERS || !h->reply.is_grpc)
		end_by_status(h);
	else
		end_call(h, FEED_CAUSE_PROTOCOL, GRPC_UNKNOWN,
		    "the server ended the call without a status");
	if (first)
		http2_cancel(h);
}

/* Frames that carry nothing cost work all the same. */
static void
count_frame(struct http2 *h, const nghttp2_frame *frame)
{
	if (frame->hd.type == NGHTTP2_DATA && frame->hd.length > 0)
		return;
	if (++h->idle_frames <= HTTP2_IDLE_FRAMES)
		return;
	end_call(h, FEED_CAUSE_PROTOCOL, GRPC_INTERNAL,
	    "the server sends frames without content");
	(void)nghttp2_session_terminate_session(h->session,
	    NGHTTP2_ENHANCE_YOUR_CALM);
}

static void
take_head(struct http2 *h)
{
	if (h->get.body == NULL || h->interim || h->headed || h->state.ended)
		return;
	h->headed = true;
	h->get.head(h->get.arg, h->http_status, h->retry_after);
}

static int
on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	struct http2 *h = arg;

	(void)session;
	count_frame(h, frame);
	if (frame->hd.type == NGHTTP2_SETTINGS)
		h->state.settled |= (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0;
	else if (frame->hd.type == NGHTTP2_GOAWAY)
		take_goaway(h, &frame->goaway);
	if (h->stream == 0 || frame->hd.stream_id != h->stream)
		return 0;
	if (frame->hd.type == NGHTTP2_HEADERS)
		take_head(h);
	if (frame->hd.type == NGHTTP2_RST_STREAM)
		take_reset(h, frame->rst_stream.error_code);
	else if ((frame->hd.type == NGHTTP2_HEADERS ||
	    frame->hd.type == NGHTTP2_DATA) &&
	    (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
		take_end(h, frame);
	return 0;
}

/*
 * When nghttp2 gives up a connection whose peer breaks the protocol, the GOAWAY
 * that it sends is all that tells.
 */
static int
on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	(void)session;
	if (frame->hd.type == NGHTTP2_GOAWAY)
		end_call(arg, FEED_CAUSE_PROTOCOL, GRPC_INTERNAL,
		    "the server breaks the rules of HTTP/2: %s",
		    nghttp2_http2_strerror(frame->goaway.error_code));
	return 0;
}

static int
on_stream_close(nghttp2_session *session, int32_t stream, uint32_t error_code,
    void *arg)
{
	struct http2 *h = arg;

	(void)session;
	if (stream != h->stream)
		return 0;
	if (error_code == NGHTTP2_REFUSED_STREAM)
		end_call(h, FEED_CAUSE_RESET, GRPC_UNAVAILABLE,
		    "the server did not take the call");
	else
		end_call(h, FEED_CAUSE_PROTOCOL, GRPC_INTERNAL,
		    "the server breaks the rules of HTTP/2: %s",
		    nghttp2_http2_strerror(error_code));
	return 0;
}

static ssize_t
on_read(nghttp2_session *session, int32_t stream, uint8_t *out, size_t size,
    uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct http2 *h = arg;
	size_t n = size < h->unsent_length ? size : h->unsent_length;

	(void)session;
	(void)stream;
	(void)source;
	if (n == 0 && !h->last)
		return NGHTTP2_ERR_DEFERRED;
	if (n > 0)
		memcpy(out, h->unsent, n);
	h->unsent_length -= n;
	if (h->unsent_length > 0)
		memmove(h->unsent, h->unsent + n, h->unsent_length);
	else if (h->last)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)n;
}

static int
set_callbacks(nghttp2_session_callbacks **callbacks)
{
	int error = nghttp2_session_callbacks_new(callbacks);

	if (error != 0)
		return error;
	nghttp2_session_callbacks_set_on_begin_headers_callback(*callbacks,
	    on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(*callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(*callbacks,
	    on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(*callbacks,
	    on_frame);
	nghttp2_session_callbacks_set_on_frame_send_callback(*callbacks,
	    on_sent);
	nghttp2_session_callbacks_set_on_stream_close_callback(*callbacks,
	    on_stream_close);
	return 0;
}

static int
submit_settings(nghttp2_session *session)
{
	static const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
		{ NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, HTTP2_WINDOW },
		{ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HTTP2_HEADERS_MOST },
	};
	int error = nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE,
	    settings, sizeof(settings) / sizeof(*settings));

	/* SETTINGS say nothing of the connection's own window. */
	return error != 0 ? error : nghttp2_session_set_local_window_size(
	    session, NGHTTP2_FLAG_NONE, 0, HTTP2_WINDOW);
}

struct http2 *
http2_new(uint64_t limit)
{
	nghttp2_session_callbacks *callbacks = NULL;
	nghttp2_option *option = NULL;
	struct http2 *h = calloc(1, sizeof(*h));
	int error;

	if (h == NULL)
		return NULL;
	STAILQ_INIT(&h->messages);
	h->reader.limit = limit;
	error = set_callbacks(&callbacks);
	if (error == 0)
		error = nghttp2_option_new(&option);
	if (error == 0) {
		/* What waits for room is not to be followed by more. */
		nghttp2_option_set_no_auto_window_update(option, 1);
		error = nghttp2_session_client_new2(&h->session, callbacks, h,
		    option);
	}
	nghttp2_option_del(option);
	nghttp2_session_callbacks_del(callbacks);
	if (error == 0)
		error = submit_settings(h->session);
	if (error != 0) {
		http2_free(h);
		return NULL;
	}
	return h;
}

void
http2_free(struct http2 *http2)
{
	uint8_t *octets;
	size_t length;

	if (http2 == NULL)
		return;
	nghttp2_session_del(http2->session);
	while ((octets = http2_message(http2, &length)) != NULL)
		free(octets);
	grpc_reader_free(&http2->reader);
	free(http2->waiting);
	free(http2->unsent);
	free(http2);
}

static nghttp2_nv
field(const char *name, const char *value)
{
	/* nghttp2 copies both, and writes to neither. */
	return (nghttp2_nv){ (uint8_t *)(uintptr_t)name,
		(uint8_t *)(uintptr_t)value, strlen(name), strlen(value),
		NGHTTP2_NV_FLAG_NONE };
}

/* "octets": what is sent behind it; NULL: nothing, it is a GET. */
static int
open_stream(struct http2 *http2, const struct http2_request *request,
    const nghttp2_data_provider *octets)
{
	nghttp2_nv *fields;
	size_t n = 0;
	int32_t stream;

	fields = calloc(6 + request->header_count, sizeof(*fields));
	if (fields == NULL)
		return -ENOMEM;
	fields[n++] = field(":method", octets != NULL ? "POST" : "GET");
	fields[n++] = field(":scheme", request->scheme);
	fields[n++] = field(":path", request->path);
	fields[n++] = field(":authority", request->authority);
	if (octets != NULL) {
		fields[n++] = field("content-type", "application/grpc");
		fields[n++] = field("te", "trailers");
	}
	for (size_t i = 0; i < request->header_count; i++)
		fields[n++] = field(request->headers[i].name,
		    request->headers[i].value);
	stream = nghttp2_submit_request(http2->session, NULL, fields, n,
	    octets, NULL);
	free(fields);
	if (stream < 0)
		return -ENOMEM;
	http2->stream = stream;
	return 0;
}

int
http2_call(struct http2 *http2, const struct http2_request *request)
{
	const nghttp2_data_provider provider = { .read_callback = on_read };

	return open_stream(http2, request, &provider);
}

int
http2_get(struct http2 *http2, const struct http2_request *request,
    const struct http2_reader *reader)
{
	http2->get = *reader;
	http2->headed = http2->state.whole = false;
	http2->http_status = http2->retry_after = 0;
	return open_stream(http2, request, NULL);
}

int
http2_send(struct http2 *http2, const void *octets, size_t length)
{
	uint8_t *unsent;
	size_t used = http2->unsent_length;

	if (length > HTTP2_UNSENT_MOST - GRPC_PREFIX)
		return -EMSGSIZE;
	if (used + GRPC_PREFIX + length > HTTP2_UNSENT_MOST)
		return -ENOBUFS;
	unsent = realloc(http2->unsent, used + GRPC_PREFIX + length);
	if (unsent == NULL)
		return -ENOMEM;
	grpc_prefix_write(unsent + used, (uint32_t)length);
	if (length > 0)
		memcpy(unsent + used + GRPC_PREFIX, octets, length);
	http2->unsent = unsent;
	http2->unsent_length = used + GRPC_PREFIX + length;
	/* An error says that reading was not deferred, or the stream's end. */
	(void)nghttp2_session_resume_data(http2->session, http2->stream);
	return 0;
}

void
http2_send_end(struct http2 *http2)
{
	http2->last = true;
	(void)nghttp2_session_resume_data(http2->session, http2->stream);
}

void
http2_ping(struct http2 *http2)
{
	(void)nghttp2_submit_ping(http2->session, NGHTTP2_FLAG_NONE, NULL);
}

void
http2_cancel(struct http2 *http2)
{
	if (http2->stream != 0)
		(void)nghttp2_submit_rst_stream(http2->session,
		    NGHTTP2_FLAG_NONE, http2->stream, NGHTTP2_CANCEL);
}

void
http2_receive(struct http2 *http2, const uint8_t *octets, size_t length)
{
	ssize_t n = nghttp2_session_mem_recv(http2->session, octets, length);

	if (n < 0)
		end_call(http2, FEED_CAUSE_PROTOCOL, GRPC_INTERNAL,
		    "the server breaks the rules of HTTP/2: %s",
		    nghttp2_strerror((int)n));
}

uint8_t *
http2_message(struct http2 *http2, size_t *length)
{
	struct message *m = STAILQ_FIRST(&http2->messages);
	uint8_t *octets;

	if (m == NULL)
		return NULL;
	STAILQ_REMOVE_HEAD(&http2->messages, next);
	octets = m->octets;
	*length = m->length;
	free(m);
	return octets;
}

size_t
http2_inside(const struct http2 *http2)
{
	return http2->reader.prefix_length + http2->reader.length;
}

size_t
http2_coming(const struct http2 *http2)
{
	return http2_waits(http2) ? 0 : http2->reader.announced;
}

bool
http2_waits(const struct http2 *http2)
{
	return grpc_reader_waits(&http2->reader);
}

bool
http2_output(struct http2 *http2, const uint8_t **octets, size_t *length)
{
	if (http2->output_length == 0) {
		ssize_t n = nghttp2_session_mem_send(http2->session,
		    &http2->output);

		if (n < 0)
			end_call(http2, FEED_CAUSE_PROTOCOL, GRPC_INTERNAL,
			    "HTTP/2: %s", nghttp2_strerror((int)n));
		http2->output_length = n > 0 ? (size_t)n : 0;
	}
	*octets = http2->output;
	*length = http2->output_length;
	return *length > 0;
}

void
http2_written(struct http2 *http2, size_t length)
{
	http2->output += length;
	http2->output_length -= length;
}

const struct http2_state *
http2_state(const struct http2 *http2)
{
	return &http2->state;
}
