/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/thread/express_board.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct express_board *
express_board_new(void)
{
	struct express_board *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return NULL;
	(void)pthread_mutex_init(&b->lock, NULL);
	STAILQ_INIT(&b->begun);
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
	free(b);
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
