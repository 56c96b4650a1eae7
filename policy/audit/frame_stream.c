/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/format.h"

#include <sys/socket.h>
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "resolver/dns/wire.h"

#define FIELD_CONTENT_TYPE 1U
/* More than a record has; a length above it is that of no frame of ours. */
#define DATA_MAX	((size_t)1 << 20)

static const char content_type[] = "protobuf:dnstap.Dnstap";
#define TYPE_OCTETS	(sizeof(content_type) - 1)
#define READY_OCTETS	(2 * FRAME_LENGTH + 12 + TYPE_OCTETS)

static char *
put_u32(char *to, size_t value)
{
	wire_store_u32((uint8_t *)to, (uint32_t)value);
	return to + sizeof(uint32_t);
}

static uint32_t
get_u32(const uint8_t *octets)
{
	return (uint32_t)octets[0] << 24 | (uint32_t)octets[1] << 16 |
	    (uint32_t)octets[2] << 8 | octets[3];
}

char *
frame_put_control(char *to, enum frame_control type)
{
	to = put_u32(to, 0);
	if (type == FRAME_STOP)
		return put_u32(put_u32(to, sizeof(uint32_t)), type);
	to = put_u32(to, 3 * sizeof(uint32_t) + TYPE_OCTETS);
	to = put_u32(to, type);
	to = put_u32(to, FIELD_CONTENT_TYPE);
	to = put_u32(to, TYPE_OCTETS);
	memcpy(to, content_type, TYPE_OCTETS);
	return to + TYPE_OCTETS;
}

static bool
read_control(struct frame *frame, const uint8_t *octets, size_t length)
{
	uint32_t size;

	frame->control = true;
	if (length < 3 * FRAME_LENGTH)
		return true;
	size = get_u32(octets + FRAME_LENGTH);
	if (size < sizeof(uint32_t) || size > FRAME_CONTROL_MAX - 2 * FRAME_LENGTH)
		return false;
	frame->type = get_u32(octets + 2 * FRAME_LENGTH);
	frame->announced = 2 * FRAME_LENGTH + size;
	if (frame->announced <= length)
		frame->length = frame->announced;
	return true;
}

bool
frame_read(struct frame *frame, const uint8_t *octets, size_t length)
{
	uint32_t size;

	*frame = (struct frame){ .length = 0 };
	if (length < FRAME_LENGTH)
		return true;
	size = get_u32(octets);
	if (size == 0)
		return read_control(frame, octets, length);
	if (size > DATA_MAX)
		return false;
	frame->data = octets + FRAME_LENGTH;
	frame->data_length = size;
	frame->announced = FRAME_LENGTH + size;
	if (frame->announced <= length)
		frame->length = frame->announced;
	return true;
}

/* The fields of an ACCEPT: one of them must be our content type. */
static bool
accepts_us(const uint8_t *fields, size_t length)
{
	while (length >= 2 * sizeof(uint32_t)) {
		const uint32_t size = get_u32(fields + sizeof(uint32_t));

		length -= 2 * sizeof(uint32_t);
		if (size > length)
			return false;
		if (get_u32(fields) == FIELD_CONTENT_TYPE &&
		    size == TYPE_OCTETS && memcmp(fields + 2 *
		    sizeof(uint32_t), content_type, TYPE_OCTETS) == 0)
			return true;
		fields += 2 * sizeof(uint32_t) + size;
		length -= size;
	}
	return false;
}

static int
send_ready(struct frame_greeting *g, int socket)
{
	char ready[FRAME_CONTROL_MAX];
	const size_t length = (size_t)(frame_put_control(ready, FRAME_READY) -
	    ready);
	ssize_t n;

	assert(length == READY_OCTETS);
	n = send(socket, ready + g->sent, length - g->sent, MSG_DONTWAIT |
	    MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	g->sent += (size_t)n;
	return g->sent == length;
}

int
frame_greet(struct frame_greeting *g, int socket)
{
	struct frame frame;
	ssize_t n;

	if (g->sent < READY_OCTETS) {
		int done = send_ready(g, socket);

		if (done <= 0)
			return done;
	}
	n = recv(socket, g->octets + g->got, sizeof(g->octets) - g->got,
	    MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0)
		return -ECONNRESET;
	g->got += (size_t)n;
	if (!frame_read(&frame, g->octets, g->got))
		return -EPROTO;
	if (frame.length == 0)
		return g->got < sizeof(g->octets) ? 0 : -EPROTO;
	if (!frame.control || frame.type != FRAME_ACCEPT ||
	    !accepts_us(g->octets + 3 * FRAME_LENGTH,
	    frame.length - 3 * FRAME_LENGTH))
		return -EPROTO;
	return 1;
}
