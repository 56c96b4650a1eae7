/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/ask/cached_answer.h"

#include "resolver/dns/rr.h"

#define PREFETCH_MIN_NS	1000000000	/* a last tenth is a second at least */

bool
cached_prefetch_due(const struct forward_cache_settings *settings,
    monotime_t now, const struct cache_entry *entry)
{
	int64_t ttl = entry->expires.ns - entry->stored.ns;
	int64_t last = ttl / 100 * settings->prefetch;

	if (settings->prefetch == 0 || entry->prefetched ||
	    entry->kind == CACHE_FAILURE ||
	    entry->hits < settings->prefetch_hits)
		return false;
	if (last < PREFETCH_MIN_NS)
		last = PREFETCH_MIN_NS;
	return entry->expires.ns - now.ns <= last;
}

bool
cached_is_common(const struct question *q,
    const struct message_options *options)
{
	return q->form == QUESTION_PLAIN && (q->flags & DNS_FLAG_RD) != 0 &&
	    q->type != TYPE_AXFR && q->type != TYPE_IXFR &&
	    options->length == 0;
}

struct cache_key
cached_key(const struct question *q)
{
	return (struct cache_key){ .name = &q->name, .type = q->type,
		.dnssec_ok = q->edns.dnssec_ok,
		.checking_disabled = (q->flags & DNS_FLAG_CD) != 0 };
}

size_t
cached_answer(struct cache *cache, const struct forward_settings *settings,
    monotime_t now, struct cached_ask *ask, uint8_t *out, size_t size)
{
	const struct question *q = ask->question;
	const struct cache_key key = cached_key(q);
	struct client_message how = { .question = q, .cached = true,
		.ad = settings->attempts.pass_ad, .cut = settings->cut,
		.ttl = { 0, UINT32_MAX, UINT32_MAX, 0 } };
	uint8_t found[CACHE_MESSAGE_MAX];
	struct message_options options = { .length = 0 };
	struct cache_entry entry;
	struct message m;

	if (!settings->domain[ask->domain].cache)
		return 0;
	if (q->edns.present) {
		if (!message_read(&m, ask->message, ask->length))
			return 0;
		message_options(&options, &m);
	}
	if (!cached_is_common(q, &options))
		return 0;
	ask->absent = !cache_find(cache, now, &key,
	    settings->cache.stale != STALE_OFF ? settings->cache.stale_s : 0,
	    &entry, found);
	if (ask->absent || monotime_is_past(now, entry.expires) ||
	    cached_prefetch_due(&settings->cache, now, &entry) ||
	    !message_read(&m, found, entry.length))
		return 0;
	how.ede = kept_ede(&m);
	how.ttl.age = (uint32_t)(monotime_ms_since(now, entry.stored) / 1000);
	cache_count(cache, &entry);
	return client_message_write(&how, &m, out, size);
}

void
cached_keep(struct cache *cache, const struct keep_limits *limits,
    const struct fresh_reply *reply, struct message_ttl *ttl)
{
	const struct message *m = reply->message;
	uint8_t octets[CACHE_MESSAGE_MAX];
	struct cache_answer answer = { .key = cached_key(reply->question),
		.message = octets, .asked = reply->asked,
		.generation = reply->generation };
	struct keep keep;

	if (m->count[QUESTIONS] != 1)
		return;
	ttl->min = limits->cache->min_ttl_s;
	ttl->max = limits->cache->max_ttl_s;
	if (!keep_reply(&keep, m, reply->question, limits))
		return;
	if (keep.kind != CACHE_POSITIVE)
		ttl->soa_max = keep.ttl_s;
	answer.kind = keep.kind;
	answer.ttl_s = keep.ttl_s;
	answer.length = keep_write(&keep, m, reply->question, limits, octets);
	cache_store(cache, reply->received, &answer);
}
