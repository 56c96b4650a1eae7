/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/thread/express_board.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UPSTREAM_BITS	8

_Static_assert(FORWARD_UPSTREAMS < 1 << UPSTREAM_BITS, "an index fits");

struct express_board *
express_board_new(void)
{
	struct express_board *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return NULL;
	(void)pthread_mutex_init(&b->lock, NULL);
	STAILQ_INIT(&b->begun);
	atomic_init(&b->wake, -1);
	return b;
}

static void
remove_first(struct express_board *b)
{
	struct begun_question *first = STAILQ_FIRST(&b->begun);

	STAILQ_REMOVE_HEAD(&b->begun, link);
	b->begun_count--;
	begun_free(first);
}

void
express_board_free(struct express_board *b)
{
	if (b == NULL)
		return;
	while (!STAILQ_EMPTY(&b->begun))
		remove_first(b);
	for (unsigned int q = 0; q < CONFIG_MAX_WORKERS; q++) {
		for (unsigned int n = 0; n < EXPRESS_STOCK; n++) {
			const int fd = express_board_clear(b, q, n);

			if (fd >= 0)
				(void)close(fd);
		}
	}
	free(b);
}

/* Sockets */

/*
 * What lies at a place: the generation's lower bits, 1 + the upstream, and 1 + the
 * descriptor; 0: nothing.
 */
static uint64_t
stock_of(uint64_t generation, unsigned int upstream, int fd)
{
	return (generation << UPSTREAM_BITS | (upstream + 1)) << 32 |
	    ((uint32_t)fd + 1);
}

static bool
is_stock_for(uint64_t stock, uint64_t generation, unsigned int upstream)
{
	return stock != 0 &&
	    stock >> 32 == stock_of(generation, upstream, 0) >> 32;
}

bool
express_board_lay(struct express_board *b, unsigned int queue,
    unsigned int place, uint64_t generation, unsigned int upstream, int fd)
{
	uint64_t nothing = 0;

	return atomic_compare_exchange_strong(&b->stock[queue][place],
	    &nothing, stock_of(generation, upstream, fd));
}

bool
express_board_holds(const struct express_board *b, unsigned int queue,
    unsigned int place, uint64_t generation, int upstream)
{
	const uint64_t stock = atomic_load(&b->stock[queue][place]);

	return upstream < 0 ? stock != 0 :
	    is_stock_for(stock, generation, (unsigned int)upstream);
}

int
express_board_clear(struct express_board *b, unsigned int queue,
    unsigned int place)
{
	return (int)(uint32_t)atomic_exchange(&b->stock[queue][place], 0) - 1;
}

static void
wake(const struct express_board *b)
{
	const uint64_t one = 1;
	const int fd = atomic_load(&b->wake);

	if (fd >= 0)
		(void)!write(fd, &one, sizeof(one));
}

/*
 * Half of all, a quarter, and so on: one upstream among several never has half of
 * all, and a thread that does not come at once is called again.
 */
static bool
is_few(unsigned int left)
{
	return left <= EXPRESS_STOCK / 2 && (left & (left - 1)) == 0;
}

int
express_board_socket(struct express_board *b, unsigned int queue,
    uint64_t generation, unsigned int upstream)
{
	unsigned int left = 0;
	int fd = -1;

	for (unsigned int n = 0; n < EXPRESS_STOCK; n++) {
		uint64_t stock = atomic_load(&b->stock[queue][n]);

		if (!is_stock_for(stock, generation, upstream))
			continue;
		if (fd >= 0)
			left++;
		else if (atomic_compare_exchange_strong(&b->stock[queue][n],
		    &stock, 0))
			fd = (int)(uint32_t)stock - 1;
	}
	if (fd >= 0 && is_few(left))
		wake(b);
	return fd;
}

struct begun_question *
begun_new(const uint8_t *packet, size_t length, const uint8_t *reply,
    size_t reply_length)
{
	struct begun_question *begun = reply_length > BEGUN_REPLY_MAX ? NULL :
	    calloc(1, sizeof(*begun) + length + reply_length);

	if (begun == NULL)
		return NULL;
	begun->fd = -1;
	begun->length = length;
	begun->reply_length = reply_length;
	memcpy(begun->octets, packet, length);
	if (reply_length > 0)
		memcpy(begun->octets + length, reply, reply_length);
	return begun;
}

void
begun_free(struct begun_question *begun)
{
	if (begun == NULL)
		return;
	if (begun->fd >= 0)
		(void)close(begun->fd);
	free(begun);
}

void
express_board_give(struct express_board *b, struct begun_question *begun)
{
	(void)pthread_mutex_lock(&b->lock);
	if (b->begun_count >= EXPRESS_BEGUN)
		remove_first(b);
	STAILQ_INSERT_TAIL(&b->begun, begun, link);
	b->begun_count++;
	(void)pthread_mutex_unlock(&b->lock);
}

struct begun_question *
express_board_take(struct express_board *b, const uint8_t *packet,
    size_t length)
{
	struct begun_question *begun;

	if (b->begun_count == 0)
		return NULL;
	(void)pthread_mutex_lock(&b->lock);
	STAILQ_FOREACH(begun, &b->begun, link)
		if (begun->length == length &&
		    memcmp(begun->octets, packet, length) == 0)
			break;
	if (begun != NULL) {
		STAILQ_REMOVE(&b->begun, begun, begun_question, link);
		b->begun_count--;
	}
	(void)pthread_mutex_unlock(&b->lock);
	return begun;
}

void
express_board_age(struct express_board *b, monotime_t before)
{
	struct begun_question *first;

	if (b->begun_count == 0)
		return;
	(void)pthread_mutex_lock(&b->lock);
	while ((first = STAILQ_FIRST(&b->begun)) != NULL &&
	    monotime_is_past(before, first->sent))
		remove_first(b);
	(void)pthread_mutex_unlock(&b->lock);
}
