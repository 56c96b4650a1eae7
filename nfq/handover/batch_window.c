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

static struct window_owner
owner_of(const struct queue_packet *packet)
{
	const XXH128_hash_t hash = XXH3_128bits(packet->octets,
	    packet->length);

	return (struct window_owner){ { hash.low64, hash.high64 },
		packet->uid, packet->gid };
}

/*
 * A buffer has the last message that was read into it, also if the worker died
 * before it had looked at it.
 */
static void
keep_owner(struct batch_window *window, const queue_buffer received)
{
	struct queue_packet packet;

	if (!queue_read_again(received, &packet) || packet.octets == NULL)
		return;
	/* If its owner was not known, an older worker's may be kept already. */
	if (packet.uid != (uid_t)-1)
		window->owners[window->next++ % WINDOW_OWNERS] =
		    owner_of(&packet);
}

void
window_forget(struct batch_window *window, unsigned int queues)
{
	memset(window, 0, size_for(queues));
}

void
window_keep_owners(struct batch_window *window, unsigned int queues)
{
	for (unsigned int i = 0; i < queues; i++)
		for (unsigned int n = 0; n < QUEUE_BATCH; n++)
			keep_owner(window, window->queues[i].received[n]);
}

bool
window_find_owner(const struct batch_window *window,
    struct queue_packet *packet)
{
	struct window_owner wanted;

	if (packet->octets == NULL)
		return false;
	wanted = owner_of(packet);
	/* The newest first: a port may have had another user. */
	for (uint32_t n = 1; n <= WINDOW_OWNERS; n++) {
		const struct window_owner *owner =
		    &window->owners[(window->next - n) % WINDOW_OWNERS];

		if (memcmp(owner->packet, wanted.packet,
		    sizeof(wanted.packet)) == 0) {
			packet->uid = owner->uid;
			packet->gid = owner->gid;
			return true;
		}
	}
	return false;
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
