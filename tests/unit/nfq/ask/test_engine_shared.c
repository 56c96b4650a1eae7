/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An engine that shares upstreams and cache with another, which probes. */
#include <errno.h>

#include "tests/engine.h"

static struct upstreams shared;
static engine_domain_counters counted[FORWARD_DOMAINS];
static unsigned int wanted;		/* probes */

static void
host_probe(void *arg)
{
	(void)arg;
	wanted++;
}

/* As start(), but another engine probes. */
static void
start_other(void)
{
	struct engine_host other = host;

	memset(&shared, 0, sizeof(shared));
	memset(counted, 0, sizeof(counted));
	wanted = 0;
	t.shared = &shared;
	start();
	engine_free(t.engine);
	other.probe = host_probe;
	t.engine = engine_new(&other, &t.settings, t.cache, &shared, t.now);
	CHECK(t.engine != NULL);
	engine_count_in(t.engine, counted);
}

TEST(it_tells_that_one_is_to_be_probed)
{
	prepare();
	start_other();
	ask(0, 'a');
	engine_error(t.engine, t.now, t.last, ECONNREFUSED);
	CHECK(wanted == 1 && shared.upstream[0].lost == 1);
	CHECK(monotime_is_set(shared.upstream[0].probe_at));
	reply(t.last, true);
	CHECK(t.fate[0] == ANSWERED && t.sends == 2);
	/* Nothing is due for this engine, and it sends no probe. */
	wait_ms(60000);
	CHECK(t.sends == 2 && !monotime_is_set(engine_next(t.engine)));
	/* What the other one learns counts. */
	upstream_replied(&shared.upstream[0], t.now, 1000);
	ask(1, 'b');
	CHECK(t.sent[t.last].port == 1);
	finish();
}

/* That another engine keeps answers for. */
TEST(it_keeps_answers_of_its_own_settings_alone)
{
	prepare();
	start_other();
	cache_set_generation(t.cache, 7);
	engine_use_cache(t.engine, t.cache, 7);
	ask(0, 'a');
	/* A reload that this engine has not seen, and one that it has. */
	cache_set_generation(t.cache, 8);
	reply(t.last, true);
	ask(1, 'a');
	CHECK(t.fate[1] == ASKED && t.sends == 2);
	engine_reload(t.engine, t.now, &t.settings, t.cache);
	engine_use_cache(t.engine, t.cache, 8);
	reply(t.last, true);		/* it was asked for by those before */
	CHECK(t.fate[1] == ANSWERED);
	ask(2, 'a');
	CHECK(t.fate[2] == ASKED && t.sends == 3);
	reply(t.last, true);
	ask(3, 'a');
	CHECK(t.fate[3] == ANSWERED && t.sends == 3);
	/* In the moment of a reload there is none, and nothing is kept. */
	engine_use_cache(t.engine, NULL, 9);
	ask(4, 'a');
	CHECK(t.fate[4] == ASKED && t.sends == 4);
	reply(t.last, true);
	finish();
}

/* The other one removes what a reload changes. */
TEST(a_reload_flushes_nothing)
{
	prepare();
	start_other();
	ask(0, 'a');
	reply(t.last, true);
	t.settings.upstreams = 1;
	t.settings.domain[0].upstreams = 1;
	engine_reload(t.engine, t.now, &t.settings, t.cache);
	ask(1, 'a');
	CHECK(t.fate[1] == ANSWERED && t.sends == 1);
	finish();
}

TEST(it_counts_where_it_is_told)
{
	prepare();
	start_other();
	ask(0, 'a');
	ask(1, 'b');
	CHECK(counted[0][DOMAIN_QUESTIONS] == 2);
	CHECK(counted[0][DOMAIN_WAITING] == 2);
	reply(t.last, true);
	CHECK(counted[0][DOMAIN_WAITING] == 1);
	CHECK(counted[0][DOMAIN_ANSWERED] == 1);
	/* What is counted stays, and who waits is counted for the new place. */
	t.settings.domain[1] = t.settings.domain[0];
	t.settings.domain[0].name[0] = 1;
	t.settings.domain[0].name[1] = 'z';
	t.settings.domains = 2;
	engine_reload(t.engine, t.now, &t.settings, t.cache);
	CHECK(counted[0][DOMAIN_QUESTIONS] == 2);
	CHECK(counted[0][DOMAIN_WAITING] == 0);
	CHECK(counted[1][DOMAIN_WAITING] == 1);
	finish();
}
