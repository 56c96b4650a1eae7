/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/thread/errands.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
errands_init(struct errands *e, struct waiting *waiting)
{
	(void)pthread_mutex_init(&e->lock, NULL);
	e->waiting = waiting;
	for (size_t i = 0; i < ERRAND_TURNS; i++)
		STAILQ_INIT(&e->turns[i].errands);
	STAILQ_INIT(&e->there);
	STAILQ_INIT(&e->back);
	e->runner = e->sender = -1;
}

struct errand *
errand_new(const uint8_t *octets, size_t length, const struct chase *chase)
{
	struct errand *errand = calloc(1, sizeof(*errand) + length +
	    (chase != NULL ? chase->length : 0));

	if (errand == NULL)
		return NULL;
	errand->length = length;
	memcpy(errand->octets, octets, length);
	if (chase != NULL) {
		memcpy(errand->octets + length, chase->chain, chase->length);
		errand->chase = *chase;
		errand->chase.chain = errand->octets + length;
	}
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

/* A long one counts as several: what a share limits is memory, too. */
static int32_t
weight_of(const struct errand *errand)
{
	return 1 + (int32_t)(errand_octets(errand) / ERRAND_OCTETS);
}

static void
count_out(struct errands *e, const struct errand *errand)
{
	waiting_errands(e->waiting, errand->uid, -weight_of(errand));
}

/* Nobody is there to take it back. */
static void
drop(struct errands *e, struct errand *errand)
{
	count_out(e, errand);
	errand_free(errand);
}

static struct errand *
take_next(struct errands *e)
{
	struct errand_turn *turn = STAILQ_FIRST(&e->there);
	struct errand *errand;

	if (turn == NULL)
		return NULL;
	STAILQ_REMOVE_HEAD(&e->there, link);
	errand = STAILQ_FIRST(&turn->errands);
	STAILQ_REMOVE_HEAD(&turn->errands, link);
	if (!STAILQ_EMPTY(&turn->errands))
		STAILQ_INSERT_TAIL(&e->there, turn, link);
	return errand;
}

static void
put_last(struct errands *e, struct errand *errand)
{
	struct errand_turn *turn = &e->turns[
	    waiting_place(e->waiting, errand->uid) % ERRAND_TURNS];

	if (STAILQ_EMPTY(&turn->errands))
		STAILQ_INSERT_TAIL(&e->there, turn, link);
	STAILQ_INSERT_TAIL(&turn->errands, errand, link);
}

/* It comes back, if somebody is there to take it. */
static void
put_back(struct errands *e, struct errand *errand)
{
	if (e->sender >= 0) {
		STAILQ_INSERT_TAIL(&e->back, errand, link);
		wake(e->sender);
	} else {
		drop(e, errand);
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
	struct errand *errand;

	(void)pthread_mutex_lock(&e->lock);
	e->runner = -1;
	while ((errand = take_next(e)) != NULL)
		put_back(e, errand);
	(void)pthread_mutex_unlock(&e->lock);
}

void
errands_sender_leaves(struct errands *e)
{
	struct errand *errand;

	(void)pthread_mutex_lock(&e->lock);
	e->sender = -1;
	while ((errand = take_next(e)) != NULL)
		drop(e, errand);
	while ((errand = STAILQ_FIRST(&e->back)) != NULL) {
		STAILQ_REMOVE_HEAD(&e->back, link);
		drop(e, errand);
	}
	(void)pthread_mutex_unlock(&e->lock);
}

bool
errands_send(struct errands *e, struct errand *errand)
{
	bool sent;

	errand->end = ERRAND_FAILED;
	(void)pthread_mutex_lock(&e->lock);
	sent = e->runner >= 0;
	if (sent) {
		waiting_errands(e->waiting, errand->uid, weight_of(errand));
		put_last(e, errand);
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
	errand = take_next(e);
	(void)pthread_mutex_unlock(&e->lock);
	return errand;
}

void
errands_return(struct errands *e, struct errand *errand)
{
	(void)pthread_mutex_lock(&e->lock);
	put_back(e, errand);
	(void)pthread_mutex_unlock(&e->lock);
}

void
errands_back(struct errands *e, struct errand_list *list)
{
	const struct errand *errand;

	(void)pthread_mutex_lock(&e->lock);
	STAILQ_CONCAT(list, &e->back);
	(void)pthread_mutex_unlock(&e->lock);
	STAILQ_FOREACH(errand, list, link)
		count_out(e, errand);
}
