/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/handover/batch_window.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <xxhash.h>

static size_t
size_for(unsigned int queues)
{
	return sizeof(struct batch_window) +
	    queues * sizeof(struct window_queue);
}

int
window_new(struct batch_window **window, unsigned int queues)
{
	void *memory = mmap(NULL, size_for(queues), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	*window = memory;
	return 0;
}

void
window_free(struct batch_window *window, unsigned int queues)
{
	(void)munmap(window, size_for(queues));
}

void
window_clear(struct batch_window *window, unsigned int queues)
{
	atomic_store(&window->fault, WINDOW_NO_FAULT);
	for (unsigned int i = 0; i < queues; i++) {
		atomic_store(&window->queues[i].current, 0);
		window->queues[i].source.family = 0;
	}
}

struct window_source
window_source_of(uint32_t family, uint32_t port, const uint8_t *address)
{
	struct window_source source = { .family = family, .port = port };

	memcpy(source.address, address, family == AF_INET ? 4 : 16);
	return source;
}

bool
window_read_source(const struct window_queue *queue, struct window_source *out)
{
	*out = queue->source;
	return out->family == AF_INET || out->family == AF_INET6;
}

uint32_t
window_source_key(const struct window_source *source)
{
	return (uint32_t)XXH3_64bits(source, sizeof(*source));
}

bool
window_read(const struct window_queue *queue, struct window_packet *out)
{
	const uint32_t current = atomic_load(&queue->current);
	const uint8_t *begin = queue->received[0];
	struct queue_packet packet;
	size_t at;

	if (current == 0 || current > QUEUE_BATCH)
		return false;
	/* One copy, then checked: a worker that lives could change it. */
	packet = queue->packets[current - 1];
	out->id = packet.id;
	out->uid = packet.uid;
	out->length = 0;
	at = (size_t)((uintptr_t)packet.octets - (uintptr_t)begin);
	if (packet.octets != NULL && at < sizeof(queue->received) &&
	    packet.length <= sizeof(out->octets) &&
	    packet.length <= sizeof(queue->received) - at) {
		out->length = packet.length;
		memcpy(out->octets, begin + at, packet.length);
	}
	return true;
}
