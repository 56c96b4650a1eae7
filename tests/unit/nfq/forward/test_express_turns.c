/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose question is asked next. */
#include "nfq/forward/express_turns.h"

#include <stdlib.h>

#include "tests/check.h"

#define MANY	500

static struct express_turns *t;
static struct express_attempt *a;

static void
begin(void)
{
	t = calloc(1, sizeof(*t));
	a = calloc(2 * MANY, sizeof(*a));
	if (t == NULL || a == NULL)
		abort();
	express_turns_init(t, 5);
	CHECK(express_turns_next(t) == NULL);
}

static void
end(void)
{
	free(t);
	free(a);
}

/* The number of the next one, which waits no more. */
static long
next(void)
{
	struct express_attempt *one = express_turns_next(t);

	if (one == NULL)
		return -1;
	express_turns_remove(t, one);
	return one - a;
}

/* Users whose turns are not the same. */
static uid_t
user(unsigned int number)
{
	struct express_turn *seen[8] = { NULL };
	uid_t uid = 1000;

	for (unsigned int n = 0; n <= number; uid++) {
		bool known = false;

		express_turns_add(t, &a[2 * MANY - 1], uid);
		for (unsigned int i = 0; i < n; i++)
			known |= seen[i] == a[2 * MANY - 1].turn;
		if (!known)
			seen[n++] = a[2 * MANY - 1].turn;
		express_turns_remove(t, &a[2 * MANY - 1]);
	}
	return uid - 1;
}

static void
one_users_come_in_order(void)
{
	begin();
	for (int n = 0; n < MANY; n++)
		express_turns_add(t, &a[n], 1000);
	for (int n = 0; n < MANY; n++)
		CHECK(next() == n);
	CHECK(next() == -1);
	end();
}

static void
users_take_turns(void)
{
	uid_t other, third;

	begin();
	other = user(1);
	third = user(2);
	for (int n = 0; n < MANY; n++)
		express_turns_add(t, &a[n], user(0));
	CHECK(next() == 0 && next() == 1);
	express_turns_add(t, &a[MANY], other);
	express_turns_add(t, &a[MANY + 1], other);
	express_turns_add(t, &a[MANY + 2], third);
	CHECK(next() == 2 && next() == MANY && next() == MANY + 2);
	CHECK(next() == 3 && next() == MANY + 1);
	for (int n = 4; n < MANY; n++)
		CHECK(next() == n);
	CHECK(next() == -1);
	end();
}

/* What ends before it was asked leaves its turn wherever it stands there. */
static void
any_may_go(void)
{
	uid_t other;

	begin();
	other = user(1);
	for (int n = 0; n < 4; n++)
		express_turns_add(t, &a[n], n < 3 ? user(0) : other);
	express_turns_remove(t, &a[1]);
	CHECK(next() == 3 && next() == 0 && next() == 2 && next() == -1);
	end();
}

static void
who_waits_for_the_same_does_not_wait_longer(void)
{
	uid_t other;

	begin();
	other = user(1);
	for (int n = 0; n < MANY; n++)
		express_turns_add(t, &a[n], user(0));
	express_turns_join(t, &a[MANY - 1], other);
	CHECK(next() == 0 && next() == MANY - 1 && next() == 1);
	/* The user's own, and the next one of its turn, stay where they are. */
	express_turns_join(t, &a[MANY - 2], user(0));
	express_turns_join(t, &a[2], other);
	CHECK(next() == 2);
	/* Behind those that the other has waiting, if they are fewer. */
	express_turns_add(t, &a[MANY], other);
	express_turns_join(t, &a[MANY - 2], other);
	CHECK(next() == 3 && next() == MANY && next() == 4 &&
	    next() == MANY - 2 && next() == 5);
	for (int n = 6; n < MANY - 2; n++)
		CHECK(next() == n);
	CHECK(next() == -1);
	end();
}

static void
who_has_more_waiting_does_not_take_it(void)
{
	uid_t other;

	begin();
	other = user(1);
	for (int n = 0; n < 3; n++)
		express_turns_add(t, &a[n], user(0));
	for (int n = 3; n < 6; n++)
		express_turns_add(t, &a[n], other);
	express_turns_join(t, &a[2], other);
	CHECK(next() == 0 && next() == 3 && next() == 1 && next() == 4);
	CHECK(next() == 2 && next() == 5 && next() == -1);
	end();
}

int
main(void)
{
	TEST(one_users_come_in_order);
	TEST(users_take_turns);
	TEST(any_may_go);
	TEST(who_waits_for_the_same_does_not_wait_longer);
	TEST(who_has_more_waiting_does_not_take_it);
	return test_summary();
}
