/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The forwarding thread and the questions that queue threads ask: express.h. */
#include "nfq/forward/thread_state.h"

#include "nfq/ask/message.h"

_Static_assert(BEGUN_REPLY_MAX == MESSAGE_UDP_SIZE,
    "what servers are asked for at most can be handed over");

#define LOST_MS		5000	/* no packet is that long on its way */

uint64_t
thread_express_sum(const struct forward_thread *f, size_t counter)
{
	uint64_t sum = 0;

	for (unsigned int q = 0; q < f->page.queues; q++)
		sum += atomic_load_explicit(
		    &f->page.slots[q].forward[counter], memory_order_relaxed);
	return sum;
}

void
thread_express_tick(struct forward_thread *f)
{
	express_board_age(f->thread.threads->express,
	    monotime_add_ms(f->boot, -LOST_MS));
}

struct begun_question *
thread_express_take(struct forward_thread *f, const struct queue_packet *p)
{
	struct begun_question *begun = express_board_take(
	    f->thread.threads->express, p->octets, p->length);

	/* Its upstream is one of other settings. */
	if (begun != NULL && begun->generation != f->generation) {
		begun_free(begun);
		return NULL;
	}
	return begun;
}

void
thread_express_resume(struct forward_thread *f, struct engine_client *client,
    struct begun_question *begun)
{
	const struct engine_begun sent = { .upstream = begun->upstream,
		.id = begun->id, .replied = begun->reply_length > 0,
		.sent = begun->sent };
	const uint32_t attempt = engine_resume(f->engine, f->boot, client,
	    &sent);
	const struct forward_upstream *to;
	int error;

	if (attempt == ENGINE_NO_ATTEMPT)
		return;
	if (begun->error != 0) {
		engine_error(f->engine, f->boot, attempt, begun->error);
		return;
	}
	to = &engine_settings(f->engine)->upstream[begun->upstream];
	error = upstream_sockets_adopt(&f->sockets, attempt, to, begun->fd);
	begun->fd = -1;
	if (error < 0)		/* that is not the server's fault */
		engine_unsent(f->engine, f->boot, attempt, -error);
	else if (begun->reply_length > 0)
		engine_reply(f->engine, f->boot, attempt,
		    begun->octets + begun->length, begun->reply_length);
}
