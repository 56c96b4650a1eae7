/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/ask/engine_state.h"

#include <string.h>

#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

#define CHAIN_MAX	16	/* CNAMEs */
#define STEPS_MAX	8192	/* labels and pointers read for one reply */
#define SOA_FIXED	20	/* octets of a SOA behind its names */

enum chain_end { CHAIN_FOUND, CHAIN_OPEN, CHAIN_WRONG };

static bool
read_name(const struct message *m, size_t at, size_t end,
    struct dns_name *name, unsigned int *steps)
{
	struct wire_reader r = wire_reader_over(m->octets, m->length);

	r.pos += at;
	if (!name_read_compressed(name, &r, m->octets + end, steps))
		return false;
	name_lower(name);
	return true;
}

/*
 * Looks for the record that is asked for, or a CNAME, of a name among the
 * answers.  FOUND; OPEN and *name is the CNAME's target; WRONG: neither.
 */
static enum chain_end
chain_step(const struct message *m, uint16_t type, struct dns_name *name,
    bool *alias, unsigned int *steps)
{
	struct message_record record;
	struct dns_name owner, target = { 0 };

	*alias = false;
	for (size_t at = m->end[QUESTIONS]; at < m->end[ANSWERS]; ) {
		message_record(m, &at, &record);
		if (!read_name(m, record.owner, m->end[ANSWERS], &owner, steps))
			return CHAIN_WRONG;
		if (!name_equal(&owner, name))
			continue;
		if (record.type == type || type == TYPE_ANY)
			return CHAIN_FOUND;
		if (record.type != TYPE_CNAME)
			continue;
		if (*alias || !read_name(m, record.data,
		    record.data + record.rdlength, &target, steps))
			return CHAIN_WRONG;
		*alias = true;
	}
	if (*alias)
		*name = target;
	return CHAIN_OPEN;
}

/* Where the chain of CNAMEs from the question leads. */
static enum chain_end
follow_chain(const struct message *m, const struct question *q,
    bool *aliased)
{
	unsigned int steps = STEPS_MAX;
	struct dns_name name = q->name;

	*aliased = false;
	for (int i = 0; i <= CHAIN_MAX; i++) {
		bool alias;
		enum chain_end end = chain_step(m, q->type, &name, &alias,
		    &steps);

		if (end != CHAIN_OPEN)
			return end;
		if (!alias)
			return m->count[ANSWERS] > 0 && !*aliased ?
			    CHAIN_WRONG : CHAIN_OPEN;
		*aliased = true;
	}
	return CHAIN_WRONG;
}

/* The negative TTL of the authority's SOA (RFC 2308 section 5), or false. */
static bool
negative_ttl(const struct message *m, uint32_t *ttl)
{
	struct message_record record;

	for (size_t at = m->end[ANSWERS]; at < m->end[AUTHORITY]; ) {
		struct wire_reader r;

		message_record(m, &at, &record);
		if (record.type != TYPE_SOA || record.rdlength < SOA_FIXED + 2)
			continue;
		r = wire_reader_over(m->octets + record.data +
		    record.rdlength - 4, 4);
		*ttl = wire_read_u32(&r);
		if (record.ttl < *ttl)
			*ttl = record.ttl;
		if (*ttl > INT32_MAX)
			*ttl = 0;
		return true;
	}
	return false;
}

/* RFC 4034 section 3.1.5: the expiration, a number of the serial's kind. */
static bool
is_expired(const struct message *m, const struct message_record *record,
    uint32_t wall_s)
{
	struct wire_reader r = wire_reader_over(m->octets + record->data,
	    record->rdlength);

	wire_skip(&r, 8);
	return record->type == TYPE_RRSIG && wall_s != 0 &&
	    (int32_t)(wire_read_u32(&r) - wall_s) < 0;
}

/* The least TTL of all records; false: one that forbids to keep it. */
static bool
least_ttl(const struct message *m, uint32_t wall_s, uint32_t *least)
{
	struct message_record record;

	*least = INT32_MAX;
	for (size_t at = m->end[QUESTIONS]; at < m->end[ADDITIONAL]; ) {
		uint32_t ttl;

		message_record(m, &at, &record);
		if (is_expired(m, &record, wall_s))
			return false;
		ttl = record.ttl > INT32_MAX ? 0 : record.ttl;
		if (ttl < *least)
			*least = ttl;
	}
	return true;
}

/* RFC 7871 section 7.1.3: a scope above 0 is not for everybody. */
static bool
has_scope(const struct message *m)
{
	struct message_option option;
	size_t offset = 0;

	while (message_option(m, &offset, &option))
		if (option.code == OPTION_SUBNET &&
		    (option.length < 4 || option.octets[3] != 0))
			return true;
	return false;
}

static bool
keep_denial(struct keep *keep, const struct message *m, uint16_t type,
    bool aliased, const struct keep_limits *limits, uint32_t ttl)
{
	uint32_t soa;

	if (!limits->cache->negative || !negative_ttl(m, &soa))
		return false;
	if (soa < ttl)
		ttl = soa;
	/*
	 * A chain's denial is of its end, and says nothing of the first name.  That
	 * of a rare type is kept for the type: with 65,536 types, asked at once, a
	 * forger would have as many guesses at the name.
	 */
	keep->kind = m->rcode == RCODE_NXDOMAIN && !aliased &&
	    (type == TYPE_A || type == TYPE_AAAA) ? CACHE_NXDOMAIN :
	    CACHE_NODATA;
	keep->ttl_s = ttl < limits->negative_max_s ? ttl :
	    limits->negative_max_s;
	return keep->ttl_s > 0;
}

bool
keep_reply(struct keep *keep, const struct message *m,
    const struct question *q, const struct keep_limits *limits)
{
	const struct forward_cache_settings *cache = limits->cache;
	enum chain_end end;
	uint32_t ttl;
	bool aliased;

	if ((m->flags & DNS_FLAG_TC) != 0 || q->class != CLASS_IN ||
	    m->count[QUESTIONS] != 1 || has_scope(m) ||
	    (m->rcode != RCODE_NOERROR && m->rcode != RCODE_NXDOMAIN) ||
	    !least_ttl(m, limits->wall_s, &ttl))
		return false;
	end = follow_chain(m, q, &aliased);
	if (end == CHAIN_WRONG)
		return false;
	if (ttl < cache->min_ttl_s)
		ttl = cache->min_ttl_s;
	if (ttl > cache->max_ttl_s)
		ttl = cache->max_ttl_s;
	if (end == CHAIN_OPEN)
		return keep_denial(keep, m, q->type, aliased, limits, ttl);
	*keep = (struct keep){ CACHE_POSITIVE, ttl };
	return ttl > 0 && m->rcode == RCODE_NOERROR;
}

void
keep_ede(uint8_t message[static DNS_HEADER], uint16_t ede)
{
	wire_store_u16(message, ede);
}

uint16_t
kept_ede(const struct message *m)
{
	return m->id;
}

size_t
keep_write(const struct keep *keep, const struct message *m,
    const struct question *q, const struct keep_limits *limits,
    uint8_t out[static CACHE_MESSAGE_MAX])
{
	uint8_t wire[NAME_MAX_OCTETS + 4];
	struct question own = { .wire = wire,
		.wire_length = q->name.length + 4U };
	struct client_message how = { .question = &own, .stream = true,
		.ad = true, .cached = true,
		.ttl = { limits->cache->min_ttl_s, limits->cache->max_ttl_s,
		    keep->ttl_s, 0 } };
	size_t length;

	if (m->end[ADDITIONAL] > CACHE_MESSAGE_MAX)
		return 0;
	memcpy(wire, q->name.octets, q->name.length);
	wire_store_u16(wire + q->name.length, q->type);
	wire_store_u16(wire + q->name.length + 2, q->class);
	length = client_message_write(&how, m, out, CACHE_MESSAGE_MAX);
	if (length > 0)
		keep_ede(out, message_ede(m));
	return length;
}
