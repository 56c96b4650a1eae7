/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults for nfdnsd that no packet can cause in the real one, we hope.  The
 * linker puts these functions in the place of the real ones (--wrap), in a
 * program that is built for tests only.
 *
 *   poison-parse.*   crashes while the question is parsed
 *   poison-judge.*   crashes while it is decided, behind the others' parsing
 *   poison-stack.*   overflows the stack, so that no handler can run
 *   poison-hang.*    never comes to an end
 *   poison-reply.*   crashes while an upstream's reply to it is read
 *   NFDNS_NO_FORK    fork(2) fails as long as the file of this path exists
 *   NFDNS_NO_WORKER  and here every child ends at once
 *   NFDNS_NO_SENDERS  if it is set, senders of connections are forgotten
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/ask/message.h"
#include "nfq/handover/senders.h"
#include "policy/decide.h"
#include "resolver/dns/question.h"

void __real_question_parse(struct question *q, const uint8_t *message,
    size_t length);
void __wrap_question_parse(struct question *q, const uint8_t *message,
    size_t length);
enum message_fit __real_message_fit(struct message *message,
    const struct question *question, uint16_t id, const uint8_t *mask,
    const uint8_t *octets, size_t length);
enum message_fit __wrap_message_fit(struct message *message,
    const struct question *question, uint16_t id, const uint8_t *mask,
    const uint8_t *octets, size_t length);
struct decision __real_decide(const struct facts *facts);
struct decision __wrap_decide(const struct facts *facts);
void __real_senders_put(struct senders *senders,
    const struct sender_ends *ends, const struct sender *sender);
void __wrap_senders_put(struct senders *senders,
    const struct sender_ends *ends, const struct sender *sender);
pid_t __real_fork(void);
pid_t __wrap_fork(void);

static bool
begins_with(const struct question *q, const char *label)
{
	const size_t length = strlen(label);

	return q->form == QUESTION_PLAIN && q->name.octets[0] == length &&
	    memcmp(q->name.octets + 1, label, length) == 0;
}

static int overflow(volatile char *before);

/* What the compiler cannot see through, else it warns of the fault. */
static volatile uintptr_t nowhere = 8;
static int (*volatile deeper)(volatile char *) = overflow;

static void
crash(void)
{
	*(volatile int *)nowhere = 0;
}

static int
overflow(volatile char *before)
{
	volatile char more[65536];

	more[0] = *before;
	return deeper(more) + more[0];
}

void
__wrap_question_parse(struct question *q, const uint8_t *message, size_t length)
{
	__real_question_parse(q, message, length);
	if (begins_with(q, "poison-parse"))
		crash();
}

struct decision
__wrap_decide(const struct facts *facts)
{
	const struct question *q = facts->question;
	volatile bool forever = true;
	volatile char none = 0;

	if (begins_with(q, "poison-judge"))
		crash();
	if (begins_with(q, "poison-stack"))
		(void)overflow(&none);
	while (begins_with(q, "poison-hang") && forever)
		continue;
	return __real_decide(facts);
}

enum message_fit
__wrap_message_fit(struct message *message, const struct question *question,
    uint16_t id, const uint8_t *mask, const uint8_t *octets, size_t length)
{
	if (begins_with(question, "poison-reply"))
		crash();
	return __real_message_fit(message, question, id, mask, octets, length);
}

static bool
is_there(const char *variable)
{
	const char *path = getenv(variable);

	return path != NULL && access(path, F_OK) == 0;
}

pid_t
__wrap_fork(void)
{
	pid_t child;

	if (is_there("NFDNS_NO_FORK")) {
		errno = EAGAIN;
		return -1;
	}
	child = __real_fork();
	if (child == 0 && is_there("NFDNS_NO_WORKER"))
		_exit(1);
	return child;
}

/* As if others' connections had taken its place.  No file can be looked for here. */
void
__wrap_senders_put(struct senders *senders, const struct sender_ends *ends,
    const struct sender *sender)
{
	if (getenv("NFDNS_NO_SENDERS") == NULL)
		__real_senders_put(senders, ends, sender);
}
