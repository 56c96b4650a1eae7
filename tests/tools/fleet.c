/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet: what one istiod sees when it is away for a while and all of its
 * machines come back.  A simulation in steps of 10 ms; how long a machine waits
 * is computed by the feed's own back-off code.
 *
 *   fleet NAME=VALUE ...
 *
 * Names, units and defaults are in "parameters" below; tests/fleet/README.md
 * says where the values come from.  Prints one JSON object: totals, the seconds
 * until shares of the machines have their table, and a row for each interval.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/feed/backoff.h"

#define STEP_MS		10
#define WHEEL		16384		/* steps: longer than any delay */
#define NOBODY		UINT32_MAX
#define ROWS		600

enum parameter {
	MACHINES, OUTAGE_S, RATE, CORES, HANDSHAKE_US, PUSH_US, TABLE_OCTETS,
	HANDSHAKE_OCTETS, LINK_MBIT, CONNECT_MS, FIRST_TABLE_MS, REFUSE_MS,
	POLICY, LIMIT_S, SEED, PARAMETERS
};

enum policy {
	POLICY_OURS,			/* resolver/feed/backoff.c */
	POLICY_FIXED,			/* 10 ms, doubled to 15 s, no jitter */
	POLICY_SLOW,			/* 1 s by 1.6 to 120 s, +-20 % */
};

static struct {
	const char *name;
	int64_t value;
} parameters[PARAMETERS] = {
	[MACHINES] = { "machines", 1000 },
	[OUTAGE_S] = { "outage_s", 30 },
	[RATE] = { "rate", 100 },		/* new streams a second */
	[CORES] = { "cores", 8 },		/* of istiod */
	[HANDSHAKE_US] = { "handshake_us", 1000 },	/* of istiod's CPU */
	[PUSH_US] = { "push_us", 1000 },
	[TABLE_OCTETS] = { "table_octets", 1050000 },
	[HANDSHAKE_OCTETS] = { "handshake_octets", 6000 },
	[LINK_MBIT] = { "link_mbit", 10000 },
	[CONNECT_MS] = { "connect_ms", 5000 },	/* TLS deadline of the feed */
	[FIRST_TABLE_MS] = { "first_table_ms", 30000 },
	[REFUSE_MS] = { "refuse_ms", 1000 },	/* longest wait in the limiter */
	[POLICY] = { "policy", POLICY_OURS },
	[LIMIT_S] = { "limit_s", 20000 },	/* of simulated time */
	[SEED] = { "seed", 1 },
};

struct machine {
	struct backoff backoff;
	uint32_t next;			/* in the same step */
	uint16_t tries;
};

struct fleet {
	struct machine *machines;
	uint32_t wheel[WHEEL];		/* who tries in that step */
	uint64_t random;
	/* The server's three queues: when each is free again, microseconds. */
	int64_t cpu_free, limiter_free, link_free;
	uint64_t attempts, away, late, refused, starved, applied;
	uint64_t octets;
	uint64_t peak;			/* attempts in one second */
	struct row {
		uint64_t attempts, applied;
	} rows[ROWS];
	int64_t row_s;
	int64_t half_s, most_s, all_s;
};

static int64_t
get(enum parameter which)
{
	return parameters[which].value;
}

/* splitmix64: the same run for the same seed. */
static uint64_t
next_random(struct fleet *f)
{
	uint64_t z = f->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static int64_t
delay_ms(struct fleet *f, struct machine *m)
{
	int64_t delay;

	switch ((enum policy)get(POLICY)) {
	case POLICY_FIXED:
		delay = m->tries >= 11 ? 15000 : (int64_t)10 << m->tries;
		return delay < 15000 ? delay : 15000;
	case POLICY_SLOW:
		delay = 1000;
		for (int i = 0; i < m->tries && delay < 120000; i++)
			delay = delay * 8 / 5;
		delay = delay < 120000 ? delay : 120000;
		return delay * 4 / 5 + backoff_spread(delay * 2 / 5,
		    next_random(f));
	default:
		return backoff_next_ms(&m->backoff, next_random(f));
	}
}

/* The machine tries again "after" microseconds from now, and its delay. */
static void
try_later(struct fleet *f, uint32_t who, int64_t step, int64_t after_us)
{
	struct machine *m = &f->machines[who];
	const int64_t wait = after_us / 1000 + delay_ms(f, m);
	int64_t steps = wait / STEP_MS + 1;
	uint32_t *place;

	if (steps >= WHEEL)
		steps = WHEEL - 1;
	place = &f->wheel[(step + steps) % WHEEL];
	if (m->tries < UINT16_MAX)
		m->tries++;
	m->next = *place;
	*place = who;
}

static int64_t
later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/*
 * The server's side of an attempt at "now", in microseconds.  True, or what
 * the machine loses until it knows better.
 */
static bool
serve(struct fleet *f, int64_t now, int64_t *lost)
{
	const int64_t cpu = later(f->cpu_free, now);
	int64_t at;

	/* A full accept queue: the connection is not even begun. */
	if (cpu - now > get(CONNECT_MS) * 1000) {
		f->late++;
		*lost = get(CONNECT_MS) * 1000;
		return false;
	}
	f->cpu_free = cpu + get(HANDSHAKE_US) / get(CORES);
	f->octets += (uint64_t)get(HANDSHAKE_OCTETS);
	at = later(f->limiter_free, f->cpu_free);
	if (at - f->cpu_free > get(REFUSE_MS) * 1000) {
		f->refused++;
		*lost = f->cpu_free - now + get(REFUSE_MS) * 1000;
		return false;
	}
	f->limiter_free = at + 1000000 / get(RATE);
	f->cpu_free += get(PUSH_US) / get(CORES);
	at = later(f->link_free, at) + get(TABLE_OCTETS) * 8 / get(LINK_MBIT);
	if (at - now > get(FIRST_TABLE_MS) * 1000) {
		f->starved++;
		*lost = get(FIRST_TABLE_MS) * 1000;
		return false;
	}
	f->link_free = at;
	f->octets += (uint64_t)get(TABLE_OCTETS);
	return true;
}

static void
mark_shares(struct fleet *f, int64_t now_s)
{
	const uint64_t all = (uint64_t)get(MACHINES);

	if (f->half_s == 0 && f->applied * 2 >= all)
		f->half_s = now_s;
	if (f->most_s == 0 && f->applied * 100 >= all * 99)
		f->most_s = now_s;
	if (f->applied == all)
		f->all_s = now_s;
}

static void
attempt(struct fleet *f, uint32_t who, int64_t step)
{
	const int64_t now = step * STEP_MS * 1000;
	const int64_t row = now / 1000000 / f->row_s;
	int64_t lost = 0;

	f->attempts++;
	if (row < ROWS)
		f->rows[row].attempts++;
	if (now < get(OUTAGE_S) * 1000000) {
		f->away++;		/* refused at once */
	} else if (serve(f, now, &lost)) {
		f->applied++;
		if (row < ROWS)
			f->rows[row].applied++;
		return;
	}
	try_later(f, who, step, lost);
}

static void
run(struct fleet *f)
{
	const int64_t steps = get(LIMIT_S) * 1000 / STEP_MS;
	uint64_t before = 0;

	for (int64_t step = 0; step < steps; step++) {
		uint32_t who = f->wheel[step % WHEEL];

		f->wheel[step % WHEEL] = NOBODY;
		while (who != NOBODY) {
			const uint32_t next = f->machines[who].next;

			attempt(f, who, step);
			who = next;
		}
		if (step % (1000 / STEP_MS) != 0)
			continue;
		if (f->attempts - before > f->peak &&
		    step * STEP_MS > get(OUTAGE_S) * 1000)
			f->peak = f->attempts - before;
		before = f->attempts;
		mark_shares(f, step * STEP_MS / 1000 - get(OUTAGE_S));
		if (f->applied == (uint64_t)get(MACHINES))
			return;
	}
}

static void
print(const struct fleet *f)
{
	const char *between = "";

	(void)printf("{");
	for (int i = 0; i < PARAMETERS; i++)
		(void)printf("\"%s\": %" PRId64 ", ", parameters[i].name,
		    parameters[i].value);
	(void)printf("\"attempts\": %" PRIu64 ", \"while_away\": %" PRIu64
	    ", \"too_late\": %" PRIu64 ", \"refused\": %" PRIu64
	    ", \"starved\": %" PRIu64 ", \"applied\": %" PRIu64
	    ", \"octets\": %" PRIu64 ", \"peak\": %" PRIu64
	    ", \"half_s\": %" PRId64 ", \"most_s\": %" PRId64
	    ", \"all_s\": %" PRId64 ", \"row_s\": %" PRId64 ", \"rows\": [",
	    f->attempts, f->away, f->late, f->refused, f->starved, f->applied,
	    f->octets, f->peak, f->half_s, f->most_s, f->all_s, f->row_s);
	for (size_t i = 0; i < ROWS; i++) {
		(void)printf("%s[%" PRIu64 ", %" PRIu64 "]", between,
		    f->rows[i].attempts, f->rows[i].applied);
		between = ", ";
	}
	(void)printf("]}\n");
}

static bool
set(const char *argument)
{
	for (int i = 0; i < PARAMETERS; i++) {
		const size_t length = strlen(parameters[i].name);
		char *end;

		if (strncmp(argument, parameters[i].name, length) != 0 ||
		    argument[length] != '=')
			continue;
		parameters[i].value = strtoll(argument + length + 1, &end, 10);
		return *end == '\0' && end != argument + length + 1 &&
		    parameters[i].value >= 0 &&
		    parameters[i].value <= 1000000000000;
	}
	return false;
}

static bool
is_sound(void)
{
	static const enum parameter positive[] = { MACHINES, RATE, CORES,
		LINK_MBIT, LIMIT_S };

	for (size_t i = 0; i < sizeof(positive) / sizeof(positive[0]); i++) {
		if (get(positive[i]) == 0)
			return false;
	}
	return get(MACHINES) <= 10000000 && get(POLICY) <= POLICY_SLOW &&
	    get(RATE) <= 1000000 && get(LIMIT_S) <= 10000000;
}

int
main(int argc, char **argv)
{
	static struct fleet f;

	for (int i = 1; i < argc; i++) {
		if (!set(argv[i])) {
			(void)fprintf(stderr, "fleet: what is \"%s\"? "
			    "NAME=NUMBER is expected\n", argv[i]);
			return 2;
		}
	}
	if (!is_sound()) {
		(void)fputs("fleet: a value is out of its range\n", stderr);
		return 2;
	}
	f.machines = calloc((size_t)get(MACHINES), sizeof(*f.machines));
	if (f.machines == NULL) {
		perror("fleet");
		return 1;
	}
	f.random = (uint64_t)get(SEED);
	f.row_s = get(LIMIT_S) / ROWS + (get(LIMIT_S) % ROWS != 0);
	memset(f.wheel, 0xff, sizeof(f.wheel));		/* NOBODY */
	/* All lose their connection in the same moment. */
	for (uint32_t who = 0; who < get(MACHINES); who++)
		try_later(&f, who, 0, 0);
	run(&f);
	print(&f);
	free(f.machines);
	return 0;
}
