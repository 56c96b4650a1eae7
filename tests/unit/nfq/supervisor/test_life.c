/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The worker's life, by a clock of the test's own: life.c. */
#include "nfq/supervisor/worker_process.h"

#include "tests/check.h"

#define START 1000000

/* The test counts in milliseconds. */
static monotime_t
at(int64_t ms)
{
	return monotime_from_ms(ms);
}

static struct worker_life life;

static enum life_sign sign;

/*
 * Looks at slot 0 every LIFE_LOOK_MS from *now on; when it was stuck, or 0.
 * Meanwhile the process gets this share of a CPU.
 */
static int64_t
watch_share(int64_t *now, int64_t until, const struct life_signs *signs,
    int percent)
{
	for (; *now < until; *now += LIFE_LOOK_MS) {
		struct life_signs s = *signs;

		s.cpu_ms = *now * percent / 100;
		sign = life_check(&life, 0, &s, life_look(&life, at(*now)),
		    LIFE_HANG_MS);
		if (sign != LIFE_MOVES)
			return *now;
	}
	return 0;
}

static int64_t
watch(int64_t *now, int64_t until, const struct life_signs *signs)
{
	return watch_share(now, until, signs, 100);
}

static void
begin(bool ready)
{
	life_begin(&life, at(START));
	if (ready)
		life_ready(&life);
}

TEST(a_hang_is_noticed_in_300_ms)
{
	struct life_signs signs = { .batches = 7, .has_work = true };
	int64_t now = START, stuck, last;

	begin(true);
	CHECK(watch(&now, START + 200, &signs) == 0);
	signs.batches = 8;
	last = now;
	stuck = watch(&now, START + 5000, &signs);
	CHECK(stuck - last >= LIFE_HANG_MS);
	CHECK(stuck - last + LIFE_LOOK_MS <= 300);
	CHECK(sign == LIFE_LOOPS);
}

/* No packet is to blame when somebody stops the process. */
TEST(a_stopped_worker_is_noticed_as_soon)
{
	const struct life_signs signs = { .has_work = true, .stopped = true };
	int64_t now = START;

	begin(true);
	CHECK(watch_share(&now, START + 1000, &signs, 0) + LIFE_LOOK_MS <=
	    START + 300);
	CHECK(sign == LIFE_STOPPED);
}

/* Other programs use the CPU: not the worker's fault, nor any packet's. */
TEST(a_worker_without_the_cpu_has_time)
{
	const struct life_signs signs = { .has_work = true };
	int64_t now = START;

	begin(true);
	CHECK(watch_share(&now, START + LIFE_BLOCKED_MS, &signs, 2) == 0);
	CHECK(watch_share(&now, START + LIFE_BLOCKED_MS + 1, &signs, 2) != 0);
	CHECK(sign == LIFE_BLOCKED);
	/* With a small share of it, a loop is a loop all the same. */
	now = START;
	begin(true);
	CHECK(watch_share(&now, START + 1000, &signs, 20) >= START + 250);
	CHECK(sign == LIFE_LOOPS);
}

/*
 * A virtual machine without its host's CPUs for a moment: the time is charged to
 * the worker, which has done nothing wrong and goes on.
 */
TEST(a_machine_that_stood_still_blames_no_packet)
{
	struct life_signs signs = { .has_work = true };
	int64_t now = START;

	begin(true);
	for (; signs.batches < 10; signs.batches++) {
		CHECK(watch(&now, now + 2 * LIFE_LOOK_MS, &signs) == 0);
		now += LIFE_HANG_MS + 2 * LIFE_LOOK_MS;
		CHECK(watch(&now, now + 1, &signs) == 0);
	}
	/* One that loops is found all the same, however slow the machine is. */
	for (int n = 0; n < 4 && sign == LIFE_MOVES; n++) {
		now += LIFE_HANG_MS;
		(void)watch(&now, now + 1, &signs);
	}
	CHECK(sign == LIFE_LOOPS);
}

TEST(an_idle_worker_is_none)
{
	const struct life_signs signs = { .batches = 7, .has_work = false };
	int64_t now = START;

	begin(true);
	CHECK(watch(&now, START + 60000, &signs) == 0);
}

TEST(slow_progress_is_progress)
{
	struct life_signs signs = { .has_work = true };
	int64_t now = START;

	begin(true);
	for (; signs.batches < 100; signs.batches++)
		CHECK(watch(&now, now + LIFE_HANG_MS, &signs) == 0);
}

/* Who slept himself knows nothing of the others' sleep. */
TEST(a_supervisor_that_was_away_begins_anew)
{
	const struct life_signs signs = { .has_work = true };
	int64_t now = START;

	begin(true);
	CHECK(watch(&now, now + LIFE_HANG_MS - LIFE_LOOK_MS, &signs) == 0);
	now += 3000;
	CHECK(watch(&now, now + LIFE_HANG_MS, &signs) == 0);
	CHECK(watch(&now, now + 2 * LIFE_LOOK_MS, &signs) != 0);
}

TEST(a_worker_has_time_to_begin)
{
	const struct life_signs signs = { .has_work = true };
	int64_t now = START;

	begin(false);
	CHECK(watch(&now, START + LIFE_READY_MS, &signs) == 0);
	CHECK(!life_is_late(&life, at(START + LIFE_READY_MS - 1)));
	CHECK(life_is_late(&life, at(START + LIFE_READY_MS)));
	life_ready(&life);
	CHECK(!life_is_late(&life, at(START + 2 * LIFE_READY_MS)));
}

TEST(a_fork_that_fails_is_tried_for_ten_seconds)
{
	begin(true);
	for (int64_t ms = 0; ms < LIFE_START_MS; ms += LIFE_LOOK_MS)
		CHECK(!life_start_failed(&life, at(START + ms)));
	CHECK(life_start_failed(&life, at(START + LIFE_START_MS)));
	life_begin(&life, at(START + LIFE_START_MS));
	CHECK(!life_start_failed(&life, at(START + LIFE_START_MS + 1)));
}

/* One more worker that lives for ms and ends so. */
static enum life_next
one_more(bool ready, int64_t ms, enum status_death cause, bool exited)
{
	begin(ready);
	return life_end(&life, cause, exited, at(START + ms));
}

TEST(kills_from_elsewhere_end_nothing)
{
	life = (struct worker_life){ .ready = false };
	for (int n = 0; n < 1000; n++)
		CHECK(one_more(true, 1, STATUS_DEATH_KILLED, false) ==
		    LIFE_ANOTHER);
}

TEST(five_crashes_in_a_minute_make_a_pause)
{
	int64_t now = START;

	life = (struct worker_life){ .ready = false };
	for (int n = 0; n < 1000; n++, now += LIFE_CRASHES_MS / LIFE_CRASHES) {
		life_begin(&life, at(now));
		life_ready(&life);
		CHECK(life_end(&life, n % 2 != 0 ? STATUS_DEATH_CRASH :
		    STATUS_DEATH_HANG, false, at(now + 1)) ==
		    (n < LIFE_CRASHES - 1 ? LIFE_ANOTHER : LIFE_LATER));
		CHECK(life_may_start(&life, at(now + 1)) ==
		    (n < LIFE_CRASHES - 1));
		CHECK(life_may_start(&life, at(now + 1 + LIFE_PAUSE_MS)));
	}
	/* Fewer than that make none. */
	for (int n = 0; n < 100; n++) {
		now += LIFE_CRASHES_MS / (LIFE_CRASHES - 1);
		life_begin(&life, at(now));
		life_ready(&life);
		CHECK(life_end(&life, STATUS_DEATH_CRASH, false, at(now)) ==
		    LIFE_ANOTHER || n < LIFE_CRASHES);
	}
}

TEST(ten_that_cannot_begin_are_the_end)
{
	for (int ready = 0; ready < 2; ready++) {
		life = (struct worker_life){ .ready = false };
		for (int n = 1; n < LIFE_FAILURES; n++)
			CHECK(one_more(ready, 10, STATUS_DEATH_FAILED, true) !=
			    LIFE_OVER);
		CHECK(one_more(ready, 10, STATUS_DEATH_FAILED, true) ==
		    LIFE_OVER);
	}
	/* Rest between them, or work, is another matter. */
	life = (struct worker_life){ .ready = false };
	for (int n = 0; n < 100; n++)
		CHECK(one_more(true, 6000, STATUS_DEATH_FAILED, true) !=
		    LIFE_OVER);
}
