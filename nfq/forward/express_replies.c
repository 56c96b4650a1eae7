/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/forward/express_state.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "nfq/ask/cached_answer.h"
#include "nfq/ask/reply.h"

#define DOUBT_MS	1000

static int
time_left(const struct express *x)
{
	const struct express_attempt *first = TAILQ_FIRST(&x->sent);

	return first == NULL || express_turns_next(&x->turns) != NULL ? 0 :
	    monotime_poll_timeout(x->boot, monotime_add_ms(first->sent,
	    EXPRESS_WAIT_MS));
}

size_t
express_wait(struct express *x, bool *queued,
    struct express_attempt *ready[static EXPRESS_BATCH])
{
	struct epoll_event events[EXPRESS_BATCH];
	int n = epoll_wait(x->epoll, events, EXPRESS_BATCH, time_left(x));
	size_t count = 0;

	/* Behind so many sockets the queue may be waiting, too. */
	*queued = n == EXPRESS_BATCH;
	x->boot = monotime_boot();
	for (int i = 0; i < n; i++) {
		struct express_socket *from = events[i].data.ptr;

		if (from == NULL)
			*queued = true;
		else if (from->attempt != NULL)
			ready[count++] = from->attempt;
		else		/* a straggler */
			express_sockets_close(&x->sockets, from);
	}
	if (n < EXPRESS_BATCH)
		express_sockets_are_empty(&x->sockets);
	return count;
}

struct express_attempt *
express_first(struct express *x)
{
	struct express_attempt *a = TAILQ_FIRST(&x->sent);

	return a != NULL ? a : express_turns_next(&x->turns);
}

struct express_attempt *
express_late(struct express *x)
{
	struct express_attempt *first = TAILQ_FIRST(&x->sent);

	return first != NULL && monotime_is_past(x->boot,
	    monotime_add_ms(first->sent, EXPRESS_WAIT_MS)) ? first : NULL;
}

bool
express_receive(struct express *x, struct express_attempt *a,
    const struct forward_settings *settings, struct express_reply *reply)
{
	const struct question *asked =
	    &STAILQ_FIRST(&a->questions)->question;
	const ssize_t n = recv(a->socket->fd, x->datagram, sizeof(x->datagram),
	    MSG_DONTWAIT);
	enum message_fit fit;

	*reply = (struct express_reply){ .octets = x->datagram,
		.ttl = { .max = UINT32_MAX, .soa_max = UINT32_MAX } };
	if (n < 0) {
		reply->error = errno;
		return errno != EAGAIN && errno != EINTR;
	}
	reply->length = (size_t)n;
	fit = message_fit(&reply->message, asked, a->id, NULL, x->datagram,
	    (size_t)n);
	if (fit == FIT_OTHER)
		x->doubted[a->upstream] = monotime_add_ms(x->boot, DOUBT_MS);
	reply->is_answer = fit == FIT_ANSWER &&
	    reply_is_answer(&settings->attempts, &reply->message);
	return true;
}

void
express_keep(const struct express *x, const struct express_attempt *a,
    struct cache *cache, const struct forward_settings *settings,
    uint64_t generation, struct express_reply *reply)
{
	const struct fresh_reply fresh = {
		.question = &STAILQ_FIRST(&a->questions)->question,
		.message = &reply->message, .asked = a->sent,
		.received = x->boot, .generation = generation };
	struct keep_limits limits = { .cache = &settings->cache,
		.wall_s = (uint32_t)realtime_s() };

	/* After a reload its domain may have another place, or be gone. */
	if (!a->kept || a->generation != generation)
		return;
	limits.negative_max_s = settings->domain[a->domain].negative_max_s;
	cached_keep(cache, &limits, &fresh, &reply->ttl);
}

size_t
express_answer(const struct forward_settings *settings,
    const struct express_question *q, const struct express_reply *reply,
    uint8_t packet[static QUEUE_REPLY_MAX], struct express_answer *answer)
{
	const struct client_message how = {
		.question = &q->question, .ad = settings->attempts.pass_ad,
		.ttl = reply->ttl,
	};
	uint8_t *octets = packet + packet_reply_offset(&q->held.packet);

	answer->octets = octets;
	answer->length = client_message_write(&how, &reply->message, octets,
	    CLIENT_UDP_MAX);
	return packet_reply(&q->held.packet, packet, answer->length);
}
