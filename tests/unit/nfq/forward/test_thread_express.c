/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the forwarding thread takes over from queue threads. */
#include "nfq/forward/thread_state.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/engine.h"
#include "tests/image.h"

#define GENERATION	7

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
	f->boot = t.now;
}

static void
end(void)
{
	express_board_free(threads.express);
	free(f);
	finish();
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
	return test_summary();
}
