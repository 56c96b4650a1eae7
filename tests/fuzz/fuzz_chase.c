/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as what a nameserver says of a chain's target: what can be joined
 * keeps to its size and to the chain, and can be joined once more.
 */
#include <errno.h>
#include <string.h>

#include "resolver/answer/chase.h"
#include "resolver/dns/rr.h"
#include "tests/fuzz/fuzz.h"

/* w.test CNAME f.example, and an OPT. */
static const uint8_t chain[] = "ID\205\200\0\1\0\1\0\0\0\1"
    "\1w\4test\0\0\1\0\1"
    "\300\14\0\5\0\1\0\0\0\36\0\13\1f\7example\0"
    "\0\0\51\4\320\0\0\0\0\0\0";

static void
try_join(const struct chase *chase, const uint8_t *data, size_t size,
    size_t room)
{
	uint8_t *out = malloc(room), *again = malloc(65535 + 128);
	size_t length = 0, other = 0;
	int error;

	check(out != NULL && again != NULL);
	error = chase_join(chase, data, size, out, room, &length);
	check(error == 0 || error == -EBADMSG || error == -EMSGSIZE);
	if (error == 0) {
		check(length >= chase->length && length <= room);
		check(memcmp(out + 12, chase->chain + 12,
		    chase->length - 12 - chase->opt) == 0);
		error = chase_join(chase, out, length, again, 65535 + 128,
		    &other);
		check(error == 0 || error == -EMSGSIZE);
	}
	free(out);
	free(again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chase chase = { .chain = chain, .length = sizeof(chain) - 1,
		.target = 36, .opt = 11 };
	struct question asked = { .type = TYPE_A };
	uint8_t question[CHASE_QUESTION_MAX];
	uint8_t failure[sizeof(chain)];

	check(chase_question(&chase, &asked, 0x4944, question) <=
	    sizeof(question));
	check(chase_fail(&chase, failure) == chase.length);
	try_join(&chase, data, size, 65535);
	try_join(&chase, data, size, 256);
	memcpy(failure, chain, sizeof(chain));
	failure[11] = 0;
	chase = (struct chase){ .chain = failure, .length = chase.length - 11,
		.target = 36 };
	try_join(&chase, data, size, 65535);
	return 0;
}
