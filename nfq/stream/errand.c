/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions of a forward domain not all of whose upstreams are asked over plain TCP,
 * and those of a raw connection, whose relay stays with the nameserver; chains that end
 * in such a domain, too: the forwarding thread asks them (nfq/thread/errands.h), and the answers go to
 * the client in the order in which they come (RFC 7766 section 6.2.1.1).
 */
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

/* Owns chase if it is sent.  False: nobody has it asked. */
static bool
send_it(struct stream *s, struct stream_connection *c, const uint8_t *message,
    size_t length, struct stream_chase *chase)
{
	struct errand *errand = errand_new(message, length);
	const size_t octets = length +
	    (chase != NULL ? stream_chase_octets(chase) : 0);

	if (errand == NULL)
		return false;
	errand->of = c;
	errand->uid = c->sender.uid;
	errand->chain = chase;
	errand->chain_length = octets - length;
	set_nameserver(errand, c);
	LIST_INSERT_HEAD(&c->errands, errand, in_sender);
	if (!errands_send(&s->thread.threads->errands, errand)) {
		LIST_REMOVE(errand, in_sender);
		errand->chain = NULL;
		errand_free(errand);
		return false;
	}
	c->errand_count++;
	c->errand_octets += octets;
	return true;
}

enum stream_next
stream_errand_begin(struct stream *s, struct stream_connection *c,
    const uint8_t *message, size_t length)
{
	return send_it(s, c, message, length, NULL) ? STREAM_GO_ON :
	    stream_put_failure(s, c, message, length,
	        EDE_NO_REACHABLE_AUTHORITY);
}

enum stream_next
stream_errand_chase(struct stream *s, struct stream_connection *c,
    struct stream_chase *chase)
{
	uint8_t query[CHASE_QUESTION_MAX];
	const size_t length = stream_chase_question(chase,
	    stream_chase_id(chase), query);
	enum stream_next next;

	if (send_it(s, c, query, length, chase))
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

/* A relay that is busy with another target has no way for it now. */
static enum stream_next
pass(struct stream *s, struct stream_connection *c, const struct errand *errand)
{
	if (!stream_relay_may_ask(s, c, FORWARD_DOMAINS))
		return stream_put_failure(s, c, errand->octets, errand->length,
		    EDE_NO_REACHABLE_AUTHORITY);
	return stream_relay_question(s, c, FORWARD_DOMAINS, errand->octets,
	    errand->length, false);
}

enum stream_next
stream_errand_end(struct stream *s, struct stream_connection *c,
    struct errand *errand)
{
	const struct stream_judged judged = { .question = errand->octets,
		.question_length = errand->length,
		.answer = { errand->answer, errand->answer_length, 0 } };
	enum stream_next next;

	LIST_REMOVE(errand, in_sender);
	c->errand_count--;
	c->errand_octets -= octets_of(errand);
	if (errand->chain != NULL)
		next = end_chase(s, c, errand);
	else if (errand->end == ERRAND_ANSWERED && stream_deny(s, c, &judged, &next))
		;
	else if (errand->end == ERRAND_ANSWERED &&
	    stream_buffer_length(&c->out) < UNREAD_MAX)
		next = stream_put_message(s, c, errand->answer,
		    errand->answer_length);
	else if (errand->end == ERRAND_PASSED)
		next = pass(s, c, errand);
	else
		next = stream_put_failure(s, c, errand->octets, errand->length,
		    EDE_NO_REACHABLE_AUTHORITY);
	return next == STREAM_CLOSE ? STREAM_CLOSE : stream_flush(s, c);
}

void
stream_errands_forget(struct stream_connection *c)
{
	struct errand *errand;

	while ((errand = LIST_FIRST(&c->errands)) != NULL) {
		LIST_REMOVE(errand, in_sender);
		errand->of = NULL;
	}
}
