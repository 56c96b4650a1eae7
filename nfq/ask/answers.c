/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "nfq/ask/engine_state.h"
#include "nfq/ask/cached_answer.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

bool
reply_is_lame(const struct message *m)
{
	struct message_record record;
	bool referral = false;

	if (m->rcode != RCODE_NOERROR || m->count[ANSWERS] > 0 ||
	    (m->flags & (DNS_FLAG_AA | DNS_FLAG_RA)) != 0)
		return false;
	for (size_t at = m->end[ANSWERS]; at < m->end[AUTHORITY]; ) {
		message_record(m, &at, &record);
		if (record.type == TYPE_SOA)
			return false;
		referral |= record.type == TYPE_NS;
	}
	return referral;
}

bool
reply_is_failure(const struct forward_attempt_settings *settings,
    const struct message *m)
{
	if (m->rcode > DNS_RCODE_MASK)
		return true;
	if ((settings->failure_rcodes >> m->rcode & 1) != 0 ||
	    reply_is_lame(m))
		return true;
	return settings->failure_nodata && m->rcode == RCODE_NOERROR &&
	    m->count[ANSWERS] == 0 && (m->flags & DNS_FLAG_TC) == 0;
}

#define EDE_OCTETS	6	/* an option with the code alone */
#define RDLENGTH_AT	9	/* in an OPT */

/* The chain alone, in e->out: all else of it does not fit. */
static size_t
chain_truncated(struct engine *e, const struct chase *chase, size_t limit)
{
	size_t length = chase->length <= limit ? chase->length : DNS_HEADER;
	uint16_t flags;

	memcpy(e->out, chase->chain, length);
	flags = wire_load_u16(e->out + 2) | DNS_FLAG_TC;
	wire_store_u16(e->out + 2, flags);
	if (length == DNS_HEADER)
		memset(e->out + 4, 0, DNS_HEADER - 4);
	return length;
}

/*
 * What fits of a chain with its end, in e->out, without TC; the OPT stands behind
 * all records.
 */
static size_t
cut_chain(struct engine *e, const struct chase *chase, size_t length,
    size_t limit)
{
	struct message m;
	uint16_t flags = wire_load_u16(e->out + 2);

	wire_store_u16(e->out + 2, (uint16_t)(flags & ~DNS_FLAG_TC));
	if (length <= limit || !message_read(&m, e->out, length))
		return length;
	message_cut(&m, limit - chase->opt);
	memmove(e->out + m.end[ANSWERS], e->out + length - chase->opt,
	    chase->opt);
	wire_store_u16(e->out + 6, m.count[ANSWERS]);
	wire_store_u16(e->out + 8, 0);
	wire_store_u16(e->out + 10, chase->opt > 0);
	return m.end[ANSWERS] + chase->opt;
}

/* Says in the OPT of a chain in e->out why it has no other end. */
static size_t
add_error(struct engine *e, struct engine_client *client, uint16_t ede,
    size_t length, size_t limit)
{
	uint8_t *end = e->out + length;

	if (client->chase->opt == 0 || ede == EDE_NONE ||
	    length + EDE_OCTETS > limit)
		return length;
	wire_store_u16(end, OPTION_EDE);
	wire_store_u16(end + 2, 2);
	wire_store_u16(end + 4, ede);
	client->options = (uint16_t)(client->options + EDE_OCTETS);
	wire_store_u16(end - (client->chase->opt - RDLENGTH_AT),
	    client->options);
	return length + EDE_OCTETS;
}

/* The chain, and what was said of its end; in e->out. */
static size_t
write_chase(struct engine *e, struct engine_client *client,
    const struct client_message *how, const struct answer_given *given)
{
	const struct chase *chase = client->chase;
	struct client_message whole = *how;
	size_t limit = client_message_limit(&client->question, client->stream,
	    sizeof(e->out));
	uint16_t ede = how->ede;
	const bool cut = how->cut && !client->stream;
	size_t length;
	int error = -ENODATA;

	whole.question = client->asked;
	whole.stream = true;
	whole.options = NULL;
	if (given->message != NULL) {
		struct message end = *given->message;

		if (cut && end.end[ADDITIONAL] > CLIENT_UDP_MAX)
			message_cut(&end, CLIENT_UDP_MAX);
		length = client_message_write(&whole, &end, e->whole,
		    sizeof(e->whole));
		/* Over a stream, nothing is larger: it has no room beside OPT. */
		error = client->stream && (wire_load_u16(e->whole + 2) &
		    DNS_FLAG_TC) != 0 ? -EMSGSIZE : chase_join(chase,
		    e->whole, length, e->out, cut ? sizeof(e->out) : limit,
		    &length);
	}
	if (!cut && (chase->length > limit ||
	    (error == -EMSGSIZE && !client->stream)))
		return chain_truncated(e, chase, limit);
	if (error != 0)
		length = chase_fail(chase, e->out);
	if (cut)
		length = cut_chain(e, chase, length, limit);
	if (error != 0 && ede == EDE_NONE)
		ede = EDE_NETWORK_ERROR;
	client->options = chase->opt > 0 ?
	    (uint16_t)(chase->opt - chase_opt(true, 0)) : 0;
	return add_error(e, client, ede, length, limit);
}

void
answer_client(struct engine *e, struct engine_client *client,
    const struct answer_given *given)
{
	const struct client_message how = {
		.question = &client->question, .stream = client->stream,
		.ad = e->settings.attempts.pass_ad,
		.cut = e->settings.cut, .cached = given->cached,
		.ede = given->ede, .ttl = given->ttl,
		.options = &client->options,
	};
	size_t length;

	client->options = 0;
	if (client->chase != NULL)
		length = write_chase(e, client, &how, given);
	else if (given->message != NULL)
		length = client_message_write(&how, given->message, e->out,
		    sizeof(e->out));
	else
		length = client_message_error(&how, given->rcode, e->out,
		    sizeof(e->out));
	client_release(e, client);
	e->host.answer(e->host.arg, client, e->out, length);
}

void
answer_full(struct engine *e, struct engine_client *client,
    const struct forward_domain *domain)
{
	const struct answer_given given = { .ede = EDE_NETWORK_ERROR,
		.rcode = domain != NULL ? RCODE_REFUSED : RCODE_SERVFAIL };

	e->stats.refused++;
	domain_count(e, client->domain, DOMAIN_REFUSED, 1);
	answer_client(e, client, &given);
}

bool
answer_find(struct engine *e, monotime_t now, const struct question *asked,
    struct cache_entry *entry)
{
	const struct forward_cache_settings *cache = &e->settings.cache;
	const struct cache_key key = cached_key(asked);

	return e->cache != NULL && cache_find(e->cache, now, &key,
	    cache->stale != STALE_OFF ? cache->stale_s : 0, entry, e->found);
}

/* The message found, as what a client is given of it. */
static bool
found_given(struct engine *e, monotime_t now, const struct cache_entry *entry,
    struct message *m, struct answer_given *given)
{
	int64_t age = monotime_ms_since(now, entry->stored) / 1000;
	bool stale = monotime_is_past(now, entry->expires);
	uint32_t most = stale ? e->settings.cache.stale_ttl_s : UINT32_MAX;

	*given = (struct answer_given){ .message = m, .cached = true,
		.ttl = { .max = most, .soa_max = most,
		    .age = stale || age < 0 ? 0 : (uint32_t)age } };
	if (!message_read(m, e->found, entry->length))
		return false;
	given->ede = stale ? EDE_STALE : kept_ede(m);
	return true;
}

void
answer_found(struct engine *e, monotime_t now, struct engine_client *client,
    const struct cache_entry *entry)
{
	const bool stale = monotime_is_past(now, entry->expires);
	struct answer_given given;
	struct message m;

	if (!found_given(e, now, entry, &m, &given))
		given = (struct answer_given){ .rcode = RCODE_SERVFAIL };
	e->stats.stale += stale;
	e->stats.hits += !stale;
	domain_count(e, client->domain, stale ? DOMAIN_STALE : DOMAIN_HITS, 1);
	answer_client(e, client, &given);
}

static void
give_all(struct engine *e, struct pending *p, const struct answer_given *given,
    uint64_t *count, enum status_domain_count counter)
{
	struct engine_client *client;

	while ((client = TAILQ_FIRST(&p->clients)) != NULL) {
		(*count)++;
		domain_count(e, client->domain, counter, 1);
		answer_client(e, client, given);
	}
}

static void
keep_it(struct engine *e, monotime_t now, const struct pending *p,
    const struct message *m, struct message_ttl *ttl)
{
	const struct keep_limits limits = { .cache = &e->settings.cache,
		.negative_max_s = pending_domain(e, p)->negative_max_s,
		.wall_s = e->host.wall(e->host.arg) };
	const struct fresh_reply reply = { .question = &p->asked,
		.message = m, .asked = p->begun, .received = now,
		.generation = p->generation };

	cached_keep(e->cache, &limits, &reply, ttl);
}

void
answer_reply(struct engine *e, monotime_t now, struct pending *p,
    const struct message *m, uint16_t ede)
{
	struct answer_given given = { .message = m, .ede = ede,
		.ttl = { .max = UINT32_MAX, .soa_max = UINT32_MAX } };

	if (p->kept && e->cache != NULL)
		keep_it(e, now, p, m, &given.ttl);
	give_all(e, p, &given, &e->stats.answered,
	    DOMAIN_ANSWERED);
}

bool
answer_stale(struct engine *e, monotime_t now, struct pending *p)
{
	struct engine_client *client;
	struct cache_entry entry;

	if (!p->kept || !answer_find(e, now, &p->asked, &entry) ||
	    !monotime_is_past(now, entry.expires))
		return false;
	while ((client = TAILQ_FIRST(&p->clients)) != NULL)
		answer_found(e, now, client, &entry);
	return true;
}

void
answer_retry_later(struct engine *e, monotime_t now,
    const struct cache_entry *entry)
{
	const struct forward_cache_settings *cache = &e->settings.cache;
	uint32_t wait = entry->retry_s == 0 ? cache->stale_retry_s :
	    entry->retry_s * 2;

	if (wait > cache->stale_retry_max_s)
		wait = cache->stale_retry_max_s;
	if (wait > 0)
		cache_retry(e->cache, entry,
		    monotime_add_ms(now, (int64_t)wait * 1000), wait);
}

void
answer_keep_failure(struct engine *e, monotime_t now, const struct pending *p,
    uint16_t rcode, uint16_t ede)
{
	struct cache_answer answer = { .key = cached_key(&p->asked),
		.kind = CACHE_FAILURE, .ttl_s = e->settings.cache.failure_s,
		.message = e->found };
	uint8_t wire[NAME_MAX_OCTETS + 4];
	struct question q = { .wire = wire,
		.wire_length = p->asked.name.length + 4U };
	const struct client_message how = { .question = &q, .stream = true };

	if (!p->kept || e->cache == NULL || rcode > DNS_RCODE_MASK)
		return;
	memcpy(wire, p->asked.name.octets, p->asked.name.length);
	wire_store_u16(wire + p->asked.name.length, p->asked.type);
	wire_store_u16(wire + p->asked.name.length + 2, p->asked.class);
	answer.length = client_message_error(&how, rcode, e->found,
	    sizeof(e->found));
	keep_ede(e->found, ede);
	answer.generation = p->generation;
	cache_store(e->cache, now, &answer);
}

void
answer_failure(struct engine *e, struct pending *p, uint16_t rcode,
    uint16_t ede)
{
	const struct answer_given given = { .rcode = rcode, .ede = ede };

	give_all(e, p, &given, &e->stats.failed, DOMAIN_FAILED);
}
