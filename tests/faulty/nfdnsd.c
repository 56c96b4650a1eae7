/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults for nfdnsd that no packet can cause in the real one, we hope.  The
 * linker puts these functions in the place of the real ones (--wrap), in a
 * program that is built for tests only.
 *
 *   crash-parse.*    crashes while the question is parsed
 *   crash-decide.*   crashes while it is decided, behind the others' parsing
 *   hang.*           never comes to an end
 *   NFDNS_NO_FORK    fork(2) fails as long as the file of this path exists
 *   NFDNS_NO_WORKER  and here every child ends at once
 *   NFDNS_NO_SENDERS  if it is set, senders of connections are forgotten
 *   NFDNS_TRACKED    the rules remember so many connections (STREAM_TRACKED)
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/handover/senders.h"
#include "policy/decide.h"
#include "resolver/dns/question.h"
#include "rules/ruleset.h"

void __real_question_parse(struct question *q, const uint8_t *message,
    size_t length);
void __wrap_question_parse(struct question *q, const uint8_t *message,
    size_t length);
struct decision __real_decide(const struct facts *facts);
struct decision __wrap_decide(const struct facts *facts);
void __real_senders_put(struct senders *senders,
    const struct sender_ends *ends, const struct sender *sender);
void __wrap_senders_put(struct senders *senders,
    const struct sender_ends *ends, const struct sender *sender);
int __real_ruleset_build(struct ruleset *set, const struct config *config,
    enum rules_stage stage, struct diag *diag);
int __wrap_ruleset_build(struct ruleset *set, const struct config *config,
    enum rules_stage stage, struct diag *diag);
void __real_question_rules_add(struct ruleset *set, bool any_nameserver,
    bool paused);
void __wrap_question_rules_add(struct ruleset *set, bool any_nameserver,
    bool paused);
pid_t __real_fork(void);
pid_t __wrap_fork(void);

static bool
begins_with(const struct question *q, const char *label)
{
	const size_t length = strlen(label);

	return q->form == QUESTION_PLAIN && q->name.octets[0] == length &&
	    memcmp(q->name.octets + 1, label, length) == 0;
}

/* What the compiler cannot see through, else it warns of the fault. */
static volatile uintptr_t nowhere = 8;

static void
crash(void)
{
	*(volatile int *)nowhere = 0;
}

void
__wrap_question_parse(struct question *q, const uint8_t *message, size_t length)
{
	__real_question_parse(q, message, length);
	if (begins_with(q, "crash-parse"))
		crash();
}

struct decision
__wrap_decide(const struct facts *facts)
{
	const struct question *q = facts->question;
	volatile bool forever = true;

	if (begins_with(q, "crash-decide"))
		crash();
	while (begins_with(q, "hang") && forever)
		continue;
	return __real_decide(facts);
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

static void
change_places(struct ruleset *set)
{
	const char *tracked = getenv("NFDNS_TRACKED");

	if (tracked != NULL)
		set->streams_max = (uint32_t)strtoul(tracked, NULL, 10);
}

/* A user's share is a quarter of that. */
void
__wrap_question_rules_add(struct ruleset *set, bool any_nameserver, bool paused)
{
	change_places(set);
	__real_question_rules_add(set, any_nameserver, paused);
}

int
__wrap_ruleset_build(struct ruleset *set, const struct config *config,
    enum rules_stage stage, struct diag *diag)
{
	const int error = __real_ruleset_build(set, config, stage, diag);

	change_places(set);
	return error;
}
