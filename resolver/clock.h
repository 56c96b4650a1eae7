/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two clocks.  Monotonic time has a type of its own, so that it is not mixed
 * with the time of day or with a duration.  Code that keeps a state takes "now"
 * as a parameter: only event loops read the clock, and tests set the time.
 */
#ifndef NFDNS_RESOLVER_CLOCK_H
#define NFDNS_RESOLVER_CLOCK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* A moment of CLOCK_MONOTONIC.  All zero means "never". */
typedef struct {
	int64_t ns;
} monotime_t;

#define MONOTIME_NEVER	((monotime_t){ 0 })

static inline monotime_t
monotime_now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (monotime_t){ (int64_t)t.tv_sec * 1000000000 + t.tv_nsec };
}

/*
 * A moment of CLOCK_BOOTTIME, for what must grow old in a suspended machine too.
 * It is not compared with one of the other clock.
 */
static inline monotime_t
monotime_boot(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_BOOTTIME, &t);
	return (monotime_t){ (int64_t)t.tv_sec * 1000000000 + t.tv_nsec };
}

/* A moment by its milliseconds, for tests and for what was stored as such. */
static inline monotime_t
monotime_from_ms(int64_t ms)
{
	return (monotime_t){ ms * 1000000 };
}

static inline int64_t
monotime_to_ms(monotime_t t)
{
	return t.ns / 1000000;
}

static inline bool
monotime_is_set(monotime_t t)
{
	return t.ns != 0;
}

static inline monotime_t
monotime_add_ms(monotime_t t, int64_t ms)
{
	return (monotime_t){ t.ns + ms * 1000000 };
}

/* Milliseconds from "since" to "now"; negative if now is earlier. */
static inline int64_t
monotime_ms_since(monotime_t now, monotime_t since)
{
	return (now.ns - since.ns) / 1000000;
}

/* Whether now is at or after the deadline. */
static inline bool
monotime_is_past(monotime_t now, monotime_t deadline)
{
	return now.ns >= deadline.ns;
}

/* The same of a deadline that may be never. */
static inline bool
monotime_is_due(monotime_t now, monotime_t deadline)
{
	return monotime_is_set(deadline) && monotime_is_past(now, deadline);
}

/* The earlier of two moments; one that is never does not count. */
static inline monotime_t
monotime_first(monotime_t a, monotime_t b)
{
	return !monotime_is_set(a) || (monotime_is_set(b) && b.ns < a.ns) ?
	    b : a;
}

/*
 * The timeout for poll(2) until the deadline: milliseconds, rounded up so that
 * the deadline has passed when poll() times out; 0 if it has passed already.
 */
static inline int
monotime_poll_timeout(monotime_t now, monotime_t deadline)
{
	int64_t left = (deadline.ns - now.ns + 999999) / 1000000;

	return left <= 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

/* The time of day, in nanoseconds since 1970 (CLOCK_REALTIME). */
static inline uint64_t
realtime_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * The same in whole seconds.  When a second begins, time(3) may be behind for a
 * tick (lib/vdso/gettimeofday.c reads the seconds of the last one), so the two
 * must not be compared.
 */
static inline int64_t
realtime_s(void)
{
	return (int64_t)(realtime_ns() / 1000000000);
}

#endif
