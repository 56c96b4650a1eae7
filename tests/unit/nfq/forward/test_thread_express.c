/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the forwarding thread makes of the counts of queue threads. */
#include "nfq/forward/thread_state.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/engine.h"
#include "tests/image.h"

#define GENERATION	7
#define QUEUES		2

static struct forward_thread *f;
static struct answering_threads threads;

/* One domain without a cache; both of its servers are unknown. */
static void
begin(void)
{
	prepare();
	t.settings.domain[0].cache = 0;
	start();
	f = calloc(1, sizeof(*f));
	threads.express = express_board_new();
	if (f == NULL || threads.express == NULL)
		abort();
	f->thread.threads = &threads;
	f->engine = t.engine;
	f->generation = GENERATION;
	f->page.queues = QUEUES;
	f->boot = t.now;
}

static void
end(void)
{
	express_board_free(threads.express);
	free(f);
	finish();
}

static void
count(_Atomic uint64_t *counter)
{
	atomic_fetch_add(counter, 1);
}

/* A queue's thread has a reply to a question that it asked by these settings. */
static void
count_reply(unsigned int queue, uint32_t upstream, uint64_t generation,
    int64_t us)
{
	struct express_counts *counts = &threads.express->counts[queue];

	count(&counts->upstream[upstream].sent);
	atomic_store(&counts->upstream[upstream].last,
	    express_board_reply(generation, us));
	count(&counts->upstream[upstream].replies);
	count(&counts->answered[0]);
	count(&counts->changes);
}

/* As a reload does; the first server is another one now. */
static void
reload(void)
{
	thread_express_count(f);
	t.settings.upstream[0].port = 3;
	engine_reload(t.engine, t.now, &t.settings, t.cache);
	f->generation++;
}

static void
replies_tell_how_fast_a_server_is(void)
{
	begin();
	thread_express_count(f);
	CHECK(engine_upstream(t.engine, 0)->srtt_us == 0);
	count_reply(0, 0, GENERATION, 4000);
	thread_express_count(f);
	CHECK(engine_upstream(t.engine, 0)->srtt_us == 4000);
	count_reply(QUEUES - 1, 0, GENERATION, 12000);
	thread_express_count(f);
	CHECK(engine_upstream(t.engine, 0)->srtt_us == 5000);
	CHECK(engine_upstream(t.engine, 0)->sent == 2 &&
	    engine_upstream(t.engine, 0)->replies == 2);
	CHECK(engine_upstream(t.engine, 1)->srtt_us == 0);
	CHECK(engine_domain(t.engine, 0)[DOMAIN_ANSWERED] == 2);
	/* What was seen is not seen again. */
	count(&threads.express->counts[0].changes);
	thread_express_count(f);
	CHECK(engine_upstream(t.engine, 0)->srtt_us == 5000 &&
	    engine_upstream(t.engine, 0)->replies == 2);
	end();
}

/* Queue threads end with the old settings one after the other. */
static void
late_replies_say_nothing_of_a_new_server(void)
{
	begin();
	count_reply(0, 0, GENERATION, 4000);
	reload();
	CHECK(engine_upstream(t.engine, 0)->srtt_us == 0);
	engine_upstream(t.engine, 0)->lost = 3;
	for (unsigned int n = 0; n < QUEUES; n++) {
		count_reply(n, 0, GENERATION, 4000);
		thread_express_count(f);
	}
	CHECK(engine_upstream(t.engine, 0)->srtt_us == 0 &&
	    engine_upstream(t.engine, 0)->lost == 3);
	CHECK(engine_offer(t.engine, t.now, 0) != 0);
	/* One of them asks by the new ones, the other does not yet. */
	engine_upstream(t.engine, 1)->srtt_us = 9000;
	count_reply(1, 1, GENERATION + 1, 1000);
	count_reply(0, 1, GENERATION, 1000);
	count_reply(0, 0, GENERATION, 1000);
	thread_express_count(f);
	CHECK(engine_upstream(t.engine, 1)->srtt_us == 8000);
	CHECK(engine_upstream(t.engine, 0)->srtt_us == 0);
	/* They count, so that no answer is missing. */
	CHECK(engine_domain(t.engine, 0)[DOMAIN_ANSWERED] == 6);
	count_reply(0, 0, GENERATION + 1, 2000);
	thread_express_count(f);
	CHECK(engine_upstream(t.engine, 0)->srtt_us == 2000 &&
	    engine_upstream(t.engine, 0)->lost == 0);
	end();
}

/* No memory for it, or no room in the epoll: the server has nothing to do with that. */
static void
a_socket_that_cannot_be_taken_over_says_nothing(void)
{
	struct begun_question *begun;

	begin();
	upstream_sockets_init(&f->sockets, epoll_create1(EPOLL_CLOEXEC), 0);
	begun = begun_new((const uint8_t *)"", 1, NULL, 0);
	if (begun == NULL)
		abort();
	begun->id = 1;
	begun->sent = t.now;
	begun->fd = memfd_create("no-socket", MFD_CLOEXEC);
	t.sent[0].open = true;			/* by a queue thread */
	thread_express_resume(f, client_of(0, 'a', 0, NULL), begun);
	CHECK(begun->fd == -1);
	CHECK(engine_upstream(t.engine, 0)->lost == 0);
	CHECK(t.fate[0] == ASKED && t.sends == 1);
	begun_free(begun);
	upstream_sockets_close(&f->sockets);
	(void)close(f->sockets.epoll);
	end();
}

int
main(void)
{
	TEST(a_socket_that_cannot_be_taken_over_says_nothing);
	TEST(replies_tell_how_fast_a_server_is);
	TEST(late_replies_say_nothing_of_a_new_server);
	return test_summary();
}
