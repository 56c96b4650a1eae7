/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/forward/fresh_answers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

STAILQ_HEAD(fresh_answer_list, fresh_answer);

struct fresh_answers {
	pthread_mutex_t lock;		/* of: */
	struct fresh_answer_list list;	/* the oldest first */
	_Atomic unsigned int count;
};

struct fresh_answers *
fresh_answers_new(void)
{
	struct fresh_answers *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return NULL;
	(void)pthread_mutex_init(&f->lock, NULL);
	STAILQ_INIT(&f->list);
	return f;
}

void
fresh_answers_free(struct fresh_answers *f)
{
	if (f == NULL)
		return;
	while (fresh_answers_first(f) != NULL)
		fresh_answers_remove_first(f);
	(void)pthread_mutex_destroy(&f->lock);
	free(f);
}

struct fresh_answer *
fresh_answer_new(const struct cache_key *key, const uint8_t *octets,
    size_t length)
{
	struct fresh_answer *a = malloc(sizeof(*a) + length);

	if (a == NULL)
		return NULL;
	*a = (struct fresh_answer){ .key = *key, .name = *key->name,
		.length = length };
	a->key.name = &a->name;
	memcpy(a->octets, octets, length);
	return a;
}

void
fresh_answers_put(struct fresh_answers *f, struct fresh_answer *a)
{
	(void)pthread_mutex_lock(&f->lock);
	STAILQ_INSERT_TAIL(&f->list, a, link);
	f->count++;
	(void)pthread_mutex_unlock(&f->lock);
}

static bool
is_same(const struct cache_key *a, const struct cache_key *b)
{
	return a->type == b->type && a->dnssec_ok == b->dnssec_ok &&
	    a->checking_disabled == b->checking_disabled &&
	    name_equal(a->name, b->name);
}

bool
fresh_answers_have(struct fresh_answers *f, const struct cache_key *key)
{
	const unsigned int count = atomic_load(&f->count);
	const struct fresh_answer *a = NULL;

	if (count == 0 || count >= FRESH_MANY)
		return count > 0;
	(void)pthread_mutex_lock(&f->lock);
	STAILQ_FOREACH(a, &f->list, link)
		if (is_same(&a->key, key))
			break;
	(void)pthread_mutex_unlock(&f->lock);
	return a != NULL;
}

const struct fresh_answer *
fresh_answers_first(struct fresh_answers *f)
{
	const struct fresh_answer *first;

	if (atomic_load(&f->count) == 0)
		return NULL;
	(void)pthread_mutex_lock(&f->lock);
	first = STAILQ_FIRST(&f->list);
	(void)pthread_mutex_unlock(&f->lock);
	return first;
}

void
fresh_answers_remove_first(struct fresh_answers *f)
{
	struct fresh_answer *first;

	(void)pthread_mutex_lock(&f->lock);
	first = STAILQ_FIRST(&f->list);
	STAILQ_REMOVE_HEAD(&f->list, link);
	f->count--;
	(void)pthread_mutex_unlock(&f->lock);
	free(first);
}
