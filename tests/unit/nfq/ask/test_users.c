/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many questions each user has. */
#include "nfq/ask/users.h"

#include <stdbool.h>
#include <stdlib.h>

#include "tests/check.h"

#define STEPS	100000
#define UIDS	3000

static struct users u = { .seed = 7 };
static uint32_t model[UIDS];

/* As many users as there may be questions, in any order. */
TEST(each_user_has_his_own)
{
	uid_t of[USERS_MAX];
	uint32_t count = 0, wrong = 0;

	srand(1);
	for (int step = 0; step < STEPS; step++) {
		const bool add = count == 0 || (count < USERS_MAX &&
		    rand() % (step % 4000 < 2000 ? 8 : 2) != 0);
		const uid_t looked_at = (uid_t)rand() % UIDS;

		if (add) {
			of[count] = (uid_t)rand() % UIDS;
			model[of[count]]++;
			users_add(&u, of[count++]);
		} else {
			const uint32_t which = (uint32_t)rand() % count;

			model[of[which]]--;
			users_end(&u, of[which]);
			of[which] = of[--count];
		}
		wrong += users_questions(&u, looked_at) != model[looked_at];
	}
	CHECK(wrong == 0);
	while (count > 0)
		users_end(&u, of[--count]);
	for (uid_t uid = 0; uid < UIDS; uid++)
		wrong += users_questions(&u, uid);
	CHECK(wrong == 0);
}
