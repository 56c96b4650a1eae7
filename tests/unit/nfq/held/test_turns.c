/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose question is asked next. */
#include "nfq/held/held.h"

#include <stdlib.h>

#include "tests/check.h"
#include "tests/image.h"

#define MANY	100

static struct turns t;
static struct held *held;

static void
begin(void)
{
	held = calloc(MANY + 2, sizeof(*held));
	MUST(held != NULL);
	turns_init(&t, 5);
	CHECK(turns_are_over(&t) && turns_take(&t) == NULL);
}

static void
add(unsigned int number, uid_t uid)
{
	held[number].held.uid = uid;
	turns_add(&t, &held[number]);
}

static long
next(void)
{
	struct held *h = turns_take(&t);

	return h == NULL ? -1 : h - held;
}

TEST(one_users_come_in_order)
{
	begin();
	for (unsigned int n = 0; n < MANY; n++)
		add(n, 1000);
	for (long n = 0; n < MANY; n++)
		CHECK(!turns_are_over(&t) && next() == n);
	CHECK(turns_are_over(&t) && next() == -1);
	free(held);
}

/* A flood of one: each other one waits for one question of it. */
TEST(users_take_turns)
{
	begin();
	for (unsigned int n = 0; n < MANY; n++)
		add(n, 1000);
	add(MANY, 1001);
	CHECK(next() == 0);
	CHECK(next() == MANY);
	CHECK(next() == 1);
	add(MANY, 1001);
	add(MANY + 1, 1001);
	CHECK(next() == 2 && next() == MANY && next() == 3 &&
	    next() == MANY + 1 && next() == 4 && next() == 5);
	free(held);
}
