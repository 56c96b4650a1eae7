/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The forwarding thread and the questions that queue threads ask: express.h. */
#include "nfq/forward/thread_state.h"

#include <unistd.h>

#include "nfq/ask/message.h"

_Static_assert(BEGUN_REPLY_MAX == MESSAGE_UDP_SIZE,
    "what servers are asked for at most can be handed over");

#define LOST_MS		5000	/* no packet is that long on its way */
#define STOCK_OF_FEW	4	/* sockets for a queue thread, unless ... */
#define MANY_SENT	32	/* so many questions are asked a second */

uint64_t
thread_express_sum(const struct forward_thread *f, size_t counter)
{
	uint64_t sum = 0;

	for (unsigned int q = 0; q < f->page.queues; q++)
		sum += atomic_load_explicit(
		    &f->page.slots[q].forward[counter], memory_order_relaxed);
	return sum;
}

static void
count_sent(struct forward_thread *f)
{
	const uint64_t sent = thread_express_sum(f, FORWARD_ATTEMPTS);

	if (sent != f->sent)
		f->asked_at = f->boot;
	f->sent_lately += sent - f->sent;
	f->sent = sent;
}

/* Upstreams that sockets are laid ready for. */
struct wanted {
	unsigned int count;
	int upstream[EXPRESS_STOCK];
};

static void
want(struct wanted *wanted, int upstream)
{
	for (unsigned int i = 0; i < wanted->count; i++)
		if (wanted->upstream[i] == upstream)
			return;
	if (upstream >= 0 && wanted->count < EXPRESS_STOCK)
		wanted->upstream[wanted->count++] = upstream;
}

static void
clear(struct express_board *board, unsigned int queue, unsigned int place)
{
	const int fd = express_board_clear(board, queue, place);

	if (fd >= 0)
		(void)close(fd);
}

/* A port that is open for long can be found: what is not used is closed. */
static bool
is_old(const struct forward_thread *f, monotime_t since)
{
	return monotime_ms_since(f->boot, since) >= UPSTREAM_SOCKETS_AHEAD_MS;
}

static void
lay(struct forward_thread *f, unsigned int queue, unsigned int place,
    int upstream)
{
	struct express_board *board = f->thread.threads->express;
	monotime_t *laid = &f->laid[queue][place];
	int fd;

	if (is_old(f, *laid) || !express_board_holds(board, queue, place,
	    f->generation, upstream))
		clear(board, queue, place);
	else
		return;
	if (upstream < 0)
		return;
	fd = upstream_sockets_ahead(&f->sockets,
	    &engine_settings(f->engine)->upstream[upstream]);
	if (fd >= 0 && !express_board_lay(board, queue, place, f->generation,
	    (unsigned int)upstream, fd))
		(void)close(fd);
	*laid = f->boot;
}

static unsigned int
stock_of(struct forward_thread *f)
{
	const bool many = f->sent_lately > MANY_SENT;

	if (is_old(f, f->sent_since)) {
		f->many_sent = many;
		f->sent_lately = 0;
		f->sent_since = f->boot;
	}
	return many || f->many_sent ? EXPRESS_STOCK : STOCK_OF_FEW;
}

/*
 * Nothing lies ready where nothing was forwarded for a while; the next round looks at
 * the latest when what is laid now is old.
 */
static void
lay_all(struct forward_thread *f, const struct wanted *wanted)
{
	const bool idle = wanted->count == 0 || is_old(f, f->asked_at);
	const unsigned int stock = idle ? 0 : stock_of(f);

	for (unsigned int q = 0; q < f->page.queues; q++)
		for (unsigned int n = 0; n < EXPRESS_STOCK; n++)
			if (idle)
				clear(f->thread.threads->express, q, n);
			else
				lay(f, q, n, n >= stock ? -1 :
				    wanted->upstream[n % wanted->count]);
	f->lay_at = idle ? MONOTIME_NEVER : monotime_add_ms(f->boot,
	    UPSTREAM_SOCKETS_AHEAD_MS);
}

void
thread_express_tick(struct forward_thread *f)
{
	const struct forward_settings *settings = engine_settings(f->engine);
	struct wanted wanted = { 0 };

	count_sent(f);
	express_board_age(f->thread.threads->express,
	    monotime_add_ms(f->boot, -LOST_MS));
	if (!f->sockets.helper)
		return;
	for (uint32_t i = 0; i < settings->domains; i++)
		want(&wanted, upstream_simple(settings, i,
		    engine_upstream(f->engine, 0), f->boot));
	lay_all(f, &wanted);
}

struct begun_question *
thread_express_take(struct forward_thread *f, const struct queue_packet *p)
{
	struct begun_question *begun = express_board_take(
	    f->thread.threads->express, p->octets, p->length);

	f->asked_at = f->boot;
	/* Its upstream is one of other settings. */
	if (begun != NULL && begun->generation != f->generation) {
		begun_free(begun);
		return NULL;
	}
	return begun;
}

/* Should it end the worker, its packet is the one in hand. */
static void
take_reply(struct forward_thread *f, uint32_t attempt,
    const struct forward_upstream *from, const struct begun_question *begun)
{
	const struct window_source source = window_source_of(from->family,
	    from->port, from->address);

	window_begin_reply(f->window, &source);
	engine_reply(f->engine, f->boot, attempt,
	    begun->octets + begun->length, begun->reply_length);
	window_end_reply(f->window);
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
	error = upstream_sockets_adopt(&f->sockets, attempt, &f->asking, to,
	    begun->fd);
	begun->fd = -1;
	if (error < 0)		/* that is not the server's fault */
		engine_unsent(f->engine, f->boot, attempt, -error);
	else if (begun->reply_length > 0)
		take_reply(f, attempt, to, begun);
}
