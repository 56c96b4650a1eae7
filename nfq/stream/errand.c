/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions of a forward domain not all of whose upstreams are asked over plain TCP,
 * and those of a raw connection, whose relay stays with the nameserver; chains that end
 * in such a domain, too: the forwarding thread asks them (nfq/thread/errands.h), and the answers go to
 * the client in the order in which they come (RFC 7766 section 6.2.1.1).
 */
#include <stdlib.h>
#include <sys/socket.h>

#include "nfq/stream/parts.h"

/*
 * Answers come whether the client reads or not, unlike those of a nameserver that
 * we read from: this is what one connection may have of them, beside one more.
 */
#define UNREAD_MAX	((size_t)4 * STREAM_FRAME_MAX)

bool
stream_is_errand(const struct stream *s, const struct stream_connection *c,
    uint32_t domain)
{
	return domain != FORWARD_DOMAINS &&
	    (c->raw || !stream_target_is_plain(s, domain)) &&
	    errands_can_be_run(&s->thread.threads->errands);
}

bool
stream_errands_are_full(const struct stream *s,
    const struct stream_connection *c)
{
	const struct forward_limits *limits =
	    &s->thread.generation->settings.forward.limits;

	return waiting_is_full(&s->thread.threads->waiting, c->sender.uid,
	    limits->user, limits->held);
}

bool
stream_errands_have_room(const struct stream *s,
    const struct stream_connection *c)
{
	return c->errand_count < s->limits.in_flight &&
	    c->errand_octets < s->limits.buffer;
}

static void
set_nameserver(struct errand *errand, const struct stream_connection *c)
{
	uint16_t port;

	errand->family = c->name.any.sa_family;
	(void)sockets_address_split(&c->name, errand->address, &port);
	if (errand->family == AF_INET6)
		errand->scope = c->name.v6.sin6_scope_id;
}

static size_t
octets_of(const struct errand *errand)
{
	return errand->length + errand->chain_length;
}

/* Owns chase and q->asked if it is sent.  False: nobody has it asked. */
static bool
send_it(struct stream *s, struct stream_connection *c,
    const struct stream_question *q, struct stream_chase *chase)
{
	struct errand *errand = errand_new(q->octets, q->length);
	const size_t octets = q->length +
	    (chase != NULL ? stream_chase_octets(chase) : 0);

	if (errand == NULL)
		return false;
	errand->of = c;
	errand->uid = c->sender.uid;
	errand->chain = chase;
	errand->chain_length = octets - q->length;
	errand->asked = q->asked;
	set_nameserver(errand, c);
	LIST_INSERT_HEAD(&c->errands, errand, in_sender);
	if (!errands_send(&s->thread.threads->errands, errand)) {
		LIST_REMOVE(errand, in_sender);
		errand->chain = errand->asked = NULL;
		errand_free(errand);
		return false;
	}
	c->errand_count++;
	c->errand_octets += octets;
	return true;
}

enum stream_next
stream_errand_begin(struct stream *s, struct stream_connection *c,
    const struct stream_question *q)
{
	enum stream_next next;

	if (send_it(s, c, q, NULL))
		return STREAM_GO_ON;
	next = stream_put_failure(s, c, q, EDE_NO_REACHABLE_AUTHORITY);
	free(q->asked);
	return next;
}

enum stream_next
stream_errand_chase(struct stream *s, struct stream_connection *c,
    struct stream_chase *chase)
{
	uint8_t query[CHASE_QUESTION_MAX];
	const struct stream_question q = { query, stream_chase_question(chase,
	    stream_chase_id(chase), query), NULL, false };
	enum stream_next next;

	if (send_it(s, c, &q, chase))
		return STREAM_GO_ON;
	next = stream_put_chase_failure(s, c, chase,
	    EDE_NO_REACHABLE_AUTHORITY);
	stream_chase_free(chase);
	return next;
}

/* An end that nobody has is SERVFAIL, as over UDP: no other has it. */
static enum stream_next
end_chase(struct stream *s, struct stream_connection *c,
    const struct errand *errand)
{
	return errand->end == ERRAND_ANSWERED &&
	    stream_buffer_length(&c->out) < UNREAD_MAX ?
	    stream_put_chase(s, c, errand->chain, errand->answer,
	        errand->answer_length) :
	    stream_put_chase_failure(s, c, errand->chain,
	        EDE_NO_REACHABLE_AUTHORITY);
}

static struct stream_question
question_of(const struct errand *errand)
{
	return (struct stream_question){ errand->octets, errand->length,
	    errand->asked, false };
}

/* A relay that is busy with another target has no way for it now. */
static enum stream_next
pass(struct stream *s, struct stream_connection *c, const struct errand *errand)
{
	struct stream_question q = question_of(errand);

	if (!stream_relay_may_ask(s, c, FORWARD_DOMAINS))
		return stream_put_failure(s, c, &q, EDE_NO_REACHABLE_AUTHORITY);
	stream_record_asked(s, c, &q, NULL, 0);
	q.asked = NULL;
	return stream_relay_question(s, c, FORWARD_DOMAINS, &q);
}

enum stream_next
stream_errand_end(struct stream *s, struct stream_connection *c,
    struct errand *errand)
{
	const struct stream_question q = question_of(errand);
	enum stream_next next;

	LIST_REMOVE(errand, in_sender);
	c->errand_count--;
	c->errand_octets -= octets_of(errand);
	if (errand->chain != NULL)
		next = end_chase(s, c, errand);
	else if (errand->end == ERRAND_ANSWERED &&
	    stream_buffer_length(&c->out) < UNREAD_MAX)
		next = stream_put_asked(s, c, &q, errand->answer,
		    errand->answer_length);
	else if (errand->end == ERRAND_PASSED)
		next = pass(s, c, errand);
	else
		next = stream_put_failure(s, c, &q, EDE_NO_REACHABLE_AUTHORITY);
	return next == STREAM_CLOSE ? STREAM_CLOSE : stream_flush(s, c);
}

void
stream_errands_forget(struct stream *s, struct stream_connection *c)
{
	struct errand *errand;

	while ((errand = LIST_FIRST(&c->errands)) != NULL) {
		const struct stream_question q = question_of(errand);

		stream_record_asked(s, c, &q, NULL, 0);
		LIST_REMOVE(errand, in_sender);
		errand->of = NULL;
	}
}
