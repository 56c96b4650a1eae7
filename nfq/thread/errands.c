/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/thread/errands.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
errands_init(struct errands *e)
{
	(void)pthread_mutex_init(&e->lock, NULL);
	STAILQ_INIT(&e->there);
	STAILQ_INIT(&e->back);
	STAILQ_INIT(&e->lost);
	e->waiting = e->lost_count = 0;
	e->runner = e->sender = -1;
}

struct errand *
errand_new(const uint8_t *octets, size_t length)
{
	struct errand *errand = calloc(1, sizeof(*errand) + length);

	if (errand == NULL)
		return NULL;
	errand->length = length;
	memcpy(errand->octets, octets, length);
	return errand;
}

void
errand_free(struct errand *errand)
{
	if (errand == NULL)
		return;
	free(errand->answer);
	free(errand);
}

/* An eventfd that is full wakes its thread as well. */
static void
wake(int fd)
{
	const uint64_t one = 1;

	if (fd >= 0)
		(void)!write(fd, &one, sizeof(one));
}

static void
free_all(struct errand_list *list)
{
	struct errand *errand;

	while ((errand = STAILQ_FIRST(list)) != NULL) {
		STAILQ_REMOVE_HEAD(list, link);
		errand_free(errand);
	}
}

void
errands_run_by(struct errands *e, int fd)
{
	(void)pthread_mutex_lock(&e->lock);
	e->runner = fd;
	(void)pthread_mutex_unlock(&e->lock);
}

void
errands_sent_by(struct errands *e, int fd)
{
	(void)pthread_mutex_lock(&e->lock);
	e->sender = fd;
	(void)pthread_mutex_unlock(&e->lock);
}

void
errands_runner_leaves(struct errands *e)
{
	struct lost_question *lost;

	(void)pthread_mutex_lock(&e->lock);
	e->runner = -1;
	e->waiting = 0;
	if (e->sender < 0)
		free_all(&e->there);
	STAILQ_CONCAT(&e->back, &e->there);
	wake(e->sender);
	while ((lost = STAILQ_FIRST(&e->lost)) != NULL) {
		STAILQ_REMOVE_HEAD(&e->lost, link);
		free(lost);
	}
	e->lost_count = 0;
	(void)pthread_mutex_unlock(&e->lock);
}

void
errands_sender_leaves(struct errands *e)
{
	(void)pthread_mutex_lock(&e->lock);
	e->sender = -1;
	e->waiting = 0;
	free_all(&e->there);
	free_all(&e->back);
	(void)pthread_mutex_unlock(&e->lock);
}

bool
errands_can_be_run(struct errands *e)
{
	bool can;

	(void)pthread_mutex_lock(&e->lock);
	can = e->runner >= 0;
	(void)pthread_mutex_unlock(&e->lock);
	return can;
}

bool
errands_send(struct errands *e, struct errand *errand)
{
	bool sent;

	errand->end = ERRAND_FAILED;
	(void)pthread_mutex_lock(&e->lock);
	sent = e->runner >= 0 && e->waiting < ERRANDS_MAX;
	if (sent) {
		STAILQ_INSERT_TAIL(&e->there, errand, link);
		e->waiting++;
		wake(e->runner);
	}
	(void)pthread_mutex_unlock(&e->lock);
	return sent;
}

struct errand *
errands_next(struct errands *e)
{
	struct errand *errand;

	(void)pthread_mutex_lock(&e->lock);
	errand = STAILQ_FIRST(&e->there);
	if (errand != NULL) {
		STAILQ_REMOVE_HEAD(&e->there, link);
		e->waiting--;
	}
	(void)pthread_mutex_unlock(&e->lock);
	return errand;
}

void
errands_return(struct errands *e, struct errand *errand)
{
	(void)pthread_mutex_lock(&e->lock);
	if (e->sender >= 0) {
		STAILQ_INSERT_TAIL(&e->back, errand, link);
		wake(e->sender);
		errand = NULL;
	}
	(void)pthread_mutex_unlock(&e->lock);
	errand_free(errand);
}

bool
errands_lose(struct errands *e, const struct queue_packet *packet)
{
	struct lost_question *lost = malloc(sizeof(*lost) + packet->length);
	bool taken;

	if (lost == NULL)
		return false;
	lost->packet = *packet;
	lost->packet.octets = lost->octets;
	memcpy(lost->octets, packet->octets, packet->length);
	(void)pthread_mutex_lock(&e->lock);
	taken = e->runner >= 0 && e->lost_count < ERRANDS_MAX;
	if (taken) {
		STAILQ_INSERT_TAIL(&e->lost, lost, link);
		e->lost_count++;
		wake(e->runner);
	}
	(void)pthread_mutex_unlock(&e->lock);
	if (!taken)
		free(lost);
	return taken;
}

struct lost_question *
errands_next_lost(struct errands *e)
{
	struct lost_question *lost;

	(void)pthread_mutex_lock(&e->lock);
	lost = STAILQ_FIRST(&e->lost);
	if (lost != NULL) {
		STAILQ_REMOVE_HEAD(&e->lost, link);
		e->lost_count--;
	}
	(void)pthread_mutex_unlock(&e->lock);
	return lost;
}

struct errand *
errands_back(struct errands *e)
{
	struct errand *errand;

	(void)pthread_mutex_lock(&e->lock);
	errand = STAILQ_FIRST(&e->back);
	if (errand != NULL)
		STAILQ_REMOVE_HEAD(&e->back, link);
	(void)pthread_mutex_unlock(&e->lock);
	return errand;
}
