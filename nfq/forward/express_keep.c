/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/forward/express_keep.h"

#include "nfq/forward/cached_answer.h"
#include "nfq/forward/keep.h"

/* What is being stored just now is seen in one of the two, looked at in this order. */
static bool
is_there(const struct express_ask *ask, struct fresh_answers *fresh,
    monotime_t now, uint8_t found[static CACHE_MESSAGE_MAX])
{
	const struct forward_cache_settings *settings = &ask->settings->cache;
	const struct cache_key key = cached_key(&ask->interception->question);
	struct cache_entry entry;

	return fresh_answers_have(fresh, &key) || cache_find(ask->cache, now,
	    &key, settings->stale != STALE_OFF ? settings->stale_s : 0,
	    &entry, found);
}

bool
express_is_kept(const struct express_ask *ask)
{
	const struct message_options none = { .length = 0 };
	const struct interception *i = ask->interception;

	return ask->caches && ask->settings->domain[i->domain].cache &&
	    cached_is_common(&i->question, &none);
}

enum express_cached
express_cached(const struct express_ask *ask, struct fresh_answers *fresh,
    monotime_t now, uint8_t found[static CACHE_MESSAGE_MAX])
{
	if (!express_is_kept(ask))
		return EXPRESS_UNCACHED;
	/* In the moment of a reload it is not to be read. */
	return ask->cache == NULL || is_there(ask, fresh, now, found) ?
	    EXPRESS_THERE : EXPRESS_TO_KEEP;
}

/* Without memory the answer is not kept. */
static void
put(const struct express_keeper *k, const struct question *question,
    const struct keep *keep, const uint8_t *octets, size_t length)
{
	const struct cache_key key = cached_key(question);
	struct fresh_answer *answer = fresh_answer_new(&key, octets, length);

	if (answer == NULL)
		return;
	answer->generation = k->generation;
	answer->asked = k->asked;
	answer->received = k->received;
	answer->kind = keep->kind;
	answer->ttl_s = keep->ttl_s;
	fresh_answers_put(k->fresh, answer);
}

void
express_keep_reply(const struct express_keeper *k,
    const struct question *question, struct express_reply *reply)
{
	const struct keep_limits limits = { .cache = &k->settings->cache,
		.negative_max_s = k->settings->domain[k->domain].negative_max_s,
		.wall_s = k->wall_s };
	uint8_t octets[CACHE_MESSAGE_MAX];
	struct keep keep;
	size_t length;

	if (reply->message.count[QUESTIONS] != 1)
		return;
	reply->ttl.min = limits.cache->min_ttl_s;
	reply->ttl.max = limits.cache->max_ttl_s;
	if (!keep_reply(&keep, &reply->message, question, &limits))
		return;
	if (keep.kind != CACHE_POSITIVE)
		reply->ttl.soa_max = keep.ttl_s;
	length = keep_write(&keep, &reply->message, question, &limits, octets);
	if (length > 0)
		put(k, question, &keep, octets, length);
}
