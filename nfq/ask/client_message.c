/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The question section of the message and of the client are of equal length, so
 * what follows it is copied as it stands, compressed names and all; only TTLs
 * are written anew.  What is left out is left out at the end.
 */
#include "nfq/ask/engine_state.h"

#include <string.h>

#include "resolver/dns/wire.h"

#define UDP_MIN		512	/* RFC 1035 section 4.2.1 */
#define EDNS_DO		0x8000
#define OPT_OCTETS	11
#define EDE_OCTETS	6	/* an option with the code alone */

size_t
client_message_limit(const struct question *question, bool stream, size_t size)
{
	const struct edns *edns = &question->edns;
	size_t limit = !edns->present || edns->udp_size < UDP_MIN ? UDP_MIN :
	    edns->udp_size < CLIENT_UDP_MAX ? edns->udp_size : CLIENT_UDP_MAX;

	return stream || limit > size ? size : limit;
}

/* The flags, but for TC.  RA: we do what was asked, whatever a server says. */
static uint16_t
flags_of(const struct client_message *how, uint16_t given)
{
	uint16_t asked = how->question->flags;
	uint16_t kept = (uint16_t)((how->cached ? 0 : DNS_FLAG_AA) |
	    (how->ad ? DNS_FLAG_AD : 0) | DNS_RCODE_MASK);

	return (uint16_t)(DNS_FLAG_QR | DNS_FLAG_RA | (given & kept) |
	    (asked & (DNS_FLAG_RD | DNS_FLAG_CD)));
}

static bool
has_ede(const struct message_options *options)
{
	struct message m = { .options = options->octets,
		.options_length = options->length };
	struct message_option option;
	size_t offset = 0;

	while (message_option(&m, &offset, &option))
		if (option.code == OPTION_EDE)
			return true;
	return false;
}

/* Octets of the OPT's options; with too many of them none are handed on. */
static size_t
choose_options(const struct client_message *how, const struct message *m,
    struct message_options *options, bool *ede)
{
	options->length = 0;
	if (m->edns)
		message_options(options, m);
	*ede = how->ede != EDE_NONE && !has_ede(options);
	return options->length + (*ede ? EDE_OCTETS : 0);
}

static void
write_opt(struct wire_writer *w, const struct client_message *how,
    const struct message *m, uint16_t rcode)
{
	struct message_options options;
	bool ede;
	size_t length = choose_options(how, m, &options, &ede);

	if (length > (size_t)(w->end - w->pos) - OPT_OCTETS)
		length = options.length = ede = 0;
	wire_write_u8(w, 0);
	wire_write_u16(w, TYPE_OPT);
	wire_write_u16(w, MESSAGE_UDP_SIZE);
	wire_write_u16(w, (uint16_t)(rcode >> 4 << 8));
	wire_write_u16(w, how->question->edns.dnssec_ok ? EDNS_DO : 0);
	wire_write_u16(w, (uint16_t)length);
	if (how->options != NULL)
		*how->options = (uint16_t)length;
	wire_write_octets(w, options.octets, options.length);
	if (ede) {
		wire_write_u16(w, OPTION_EDE);
		wire_write_u16(w, 2);
		wire_write_u16(w, how->ede);
	}
}

static uint32_t
ttl_of(const struct message_ttl *ttl, const struct message_record *record,
    bool authority)
{
	/* RFC 2181 section 8: the top bit is no number's. */
	uint32_t t = record->ttl > INT32_MAX ? 0 : record->ttl;

	if (t < ttl->min)
		t = ttl->min;
	if (t > ttl->max)
		t = ttl->max;
	if (authority && record->type == TYPE_SOA && t > ttl->soa_max)
		t = ttl->soa_max;
	return t > ttl->age ? t - ttl->age : 0;
}

/* Writes TTLs of the records in out, which stand where the message has them. */
static void
set_ttls(const struct message_ttl *ttl, const struct message *m, size_t end,
    uint8_t *out)
{
	struct message_record record;

	for (size_t at = m->end[QUESTIONS]; at < end; ) {
		bool authority = at >= m->end[ANSWERS] &&
		    at < m->end[AUTHORITY];

		message_record(m, &at, &record);
		wire_store_u32(out + record.ttl_at,
		    ttl_of(ttl, &record, authority));
	}
}

/*
 * How many sections fit: all, without the additional, without the authority too
 * (of a positive answer, RFC 2181 section 9), or none and TC.
 */
static enum message_section
sections_that_fit(const struct client_message *how, const struct message *m,
    size_t limit)
{
	bool proof = how->question->edns.dnssec_ok;

	if (m->end[ADDITIONAL] <= limit)
		return ADDITIONAL;
	if (m->end[AUTHORITY] <= limit)
		return AUTHORITY;
	if (m->count[ANSWERS] > 0 && !proof && m->end[ANSWERS] <= limit)
		return ANSWERS;
	return QUESTIONS;
}

static size_t
write_all(const struct client_message *how, const struct message *m,
    uint16_t flags, uint16_t rcode, uint8_t *out, size_t size)
{
	const struct question *q = how->question;
	size_t limit = client_message_limit(q, how->stream, size);
	size_t opt = q->edns.present ? OPT_OCTETS : 0;
	enum message_section last = QUESTIONS;
	struct wire_writer w = wire_writer_over(out, limit);

	/* A message without a question has no records either: message_fit(). */
	if (m->count[QUESTIONS] == 1) {
		last = sections_that_fit(how, m, limit - opt);
		if (last == QUESTIONS && m->end[ADDITIONAL] >
		    m->end[QUESTIONS])
			flags |= DNS_FLAG_TC;
	}
	wire_write_u16(&w, q->id);
	wire_write_u16(&w, flags);
	wire_write_u16(&w, q->wire_length > 0);
	for (int i = ANSWERS; i < ADDITIONAL; i++)
		wire_write_u16(&w, last >= (unsigned int)i ?
		    m->count[i] : 0);
	wire_write_u16(&w, (uint16_t)((last == ADDITIONAL ?
	    m->count[ADDITIONAL] : 0) + q->edns.present));
	wire_write_octets(&w, q->wire, q->wire_length);
	if (last > QUESTIONS) {
		wire_write_octets(&w, m->octets + m->end[QUESTIONS],
		    m->end[last] - m->end[QUESTIONS]);
		set_ttls(&how->ttl, m, m->end[last], out);
	}
	if (q->edns.present)
		write_opt(&w, how, m, rcode);
	return wire_written(&w);
}

size_t
client_message_error(const struct client_message *how, uint16_t rcode,
    uint8_t *out, size_t size)
{
	const struct message none = { 0 };
	uint16_t flags = flags_of(how, rcode & DNS_RCODE_MASK);

	return write_all(how, &none, flags, rcode, out, size);
}

/* What fits of a message that does not fit, without TC. */
static size_t
write_part(const struct client_message *how, const struct message *m,
    uint8_t *out, size_t size)
{
	const size_t opt = how->question->edns.present ? OPT_OCTETS : 0;
	const size_t limit = client_message_limit(how->question, false, size);
	struct message part = *m;

	if (m->count[QUESTIONS] == 1 && sections_that_fit(how, m, limit - opt) ==
	    QUESTIONS)
		message_cut(&part, limit - opt);
	if (part.count[ANSWERS] == 0 && m->count[ANSWERS] > 0)
		return client_message_error(how, RCODE_SERVFAIL, out, size);
	return write_all(how, &part, flags_of(how, m->flags), m->rcode, out,
	    size);
}

size_t
client_message_write(const struct client_message *how,
    const struct message *m, uint8_t *out, size_t size)
{
	const uint16_t cut = m->flags & DNS_FLAG_TC;

	/* Of a server that is asked over UDP alone: nobody has more. */
	if (cut != 0 && m->count[ANSWERS] == 0 && (how->stream || how->cut))
		return client_message_error(how, RCODE_SERVFAIL, out, size);
	if (how->cut && !how->stream)
		return write_part(how, m, out, size);
	return write_all(how, m, (uint16_t)(flags_of(how, m->flags) | cut),
	    m->rcode, out, size);
}
