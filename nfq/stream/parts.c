/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/stream/parts.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "resolver/dns/wire.h"

bool
stream_frame_next(struct stream_input *input, const uint8_t **message,
    size_t *length)
{
	size_t announced;

	if (input->left < STREAM_PREFIX)
		return false;
	announced = (size_t)input->octets[0] << 8 | input->octets[1];
	if (input->left - STREAM_PREFIX < announced)
		return false;
	*message = input->octets + STREAM_PREFIX;
	*length = announced;
	input->octets += STREAM_PREFIX + announced;
	input->left -= STREAM_PREFIX + announced;
	return true;
}

void
stream_frame_put(uint8_t prefix[static STREAM_PREFIX], size_t length)
{
	assert(length <= STREAM_MESSAGE_MAX);
	wire_store_u16(prefix, (uint16_t)length);
}

int
stream_buffer_put(struct stream_buffer *b, const uint8_t *octets, size_t length)
{
	size_t waiting = stream_buffer_length(b);
	uint8_t *grown;

	if (length == 0)
		return 0;
	if (b->start > 0)
		memmove(b->octets, b->octets + b->start, waiting);
	b->start = 0;
	b->end = waiting;
	grown = realloc(b->octets, waiting + length);
	if (grown == NULL)
		return -ENOMEM;
	memcpy(grown + waiting, octets, length);
	b->octets = grown;
	b->end = waiting + length;
	return 0;
}

void
stream_buffer_take(struct stream_buffer *b, size_t length)
{
	assert(length <= stream_buffer_length(b));
	b->start += length;
	if (b->start == b->end)
		stream_buffer_clear(b);
}

void
stream_buffer_clear(struct stream_buffer *b)
{
	free(b->octets);
	*b = (struct stream_buffer){ .octets = NULL };
}

void
stream_count(struct stream *s, enum status_stream counter)
{
	answering_count_up(&s->thread.slot->stream[counter]);
}

void
stream_watch(struct stream *s, struct stream_end *end, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = end };
	int operation = events == 0 ? EPOLL_CTL_DEL :
	    end->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;

	if (events == end->events)
		return;
	/* An end without interest is not registered: a hang-up would spin. */
	if (epoll_ctl(s->epoll, operation, end->fd, &event) == 0)
		end->events = events;
}

void
stream_close_end(struct stream *s, struct stream_end *end)
{
	if (end->fd < 0)
		return;
	stream_watch(s, end, 0);
	(void)close(end->fd);
	end->fd = -1;
}

/* The interface by which a container's came; 0: it is the machine's own. */
static uint32_t
came_by(const struct stream_connection *c)
{
	return c->sender.guest ? c->sender.device : 0;
}

void
stream_record(struct stream *s, const struct stream_connection *c,
    const struct stream_record *record)
{
	struct audit_record r = {
		.uid = c->sender.uid,
		.gid = c->sender.gid,
		.stream = true,
		.family = (uint8_t)c->peer.any.sa_family,
		.question_length = (uint16_t)record->question_length,
		.answer_length = (uint16_t)record->answer_length,
		.question = record->question,
		.answer = record->answer,
	};

	if (!answering_is_noted(&s->thread, record->decision, &record->note))
		return;
	answering_set_note(&r, &record->note);
	(void)sockets_address_split(&c->peer, r.client, &r.client_port);
	(void)sockets_address_split(&c->name, r.server, &r.server_port);
	answering_record(&s->thread, record->decision, record->received_ns,
	    came_by(c), &r);
}

struct asker
stream_asker(const struct stream *s, const struct stream_connection *c)
{
	const bool v4 = c->peer.any.sa_family == AF_INET;

	return (struct asker){
		.now = s->thread.now,
		.uid = c->sender.uid,
		.gid = c->sender.gid,
		.device = came_by(c),
		.family = (uint8_t)c->peer.any.sa_family,
		.protocol = IPPROTO_TCP,
		.port = ntohs(v4 ? c->peer.v4.sin_port : c->peer.v6.sin6_port),
		.address = v4 ? (const uint8_t *)&c->peer.v4.sin_addr :
		    c->peer.v6.sin6_addr.s6_addr,
		.nameserver = v4 ? (const uint8_t *)&c->name.v4.sin_addr :
		    c->name.v6.sin6_addr.s6_addr,
	};
}
