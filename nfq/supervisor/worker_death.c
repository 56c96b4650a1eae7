/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/supervisor/worker_death.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "nfq/process/child.h"
#include "nfq/process/exit_code.h"
#include "nfq/worker/worker.h"
#include "policy/log.h"

#define TALK_MS		1000	/* in this time at most... */
#define TALK_LINES	5	/* ...so many lines about deaths */

enum status_death
worker_death_cause(const struct worker_process *k, int wait_status)
{
	if (k->hangs != LIFE_MOVES)
		return STATUS_DEATH_HANG;
	if (!WIFSIGNALED(wait_status) || k->killed)
		return STATUS_DEATH_FAILED;
	return WTERMSIG(wait_status) == SIGKILL ? STATUS_DEATH_KILLED :
	    STATUS_DEATH_CRASH;
}

enum queue_fate
worker_death_fate(const struct worker_process *k, enum status_death cause,
    enum life_next next)
{
	/* No packet stops a process. */
	if (next != LIFE_OVER && cause != STATUS_DEATH_CRASH &&
	    (cause != STATUS_DEATH_HANG || k->hangs == LIFE_STOPPED))
		return QUEUE_REPEAT;
	return policy_could_deny(&k->config->policy) ? QUEUE_DROP : QUEUE_PASS;
}

bool
worker_death_distrusts(struct worker_process *k, int wait_status,
    monotime_t now)
{
	const monotime_t before = k->crashed;

	/* SIGKILL is what people, the OOM killer and the supervisor send. */
	if (!WIFSIGNALED(wait_status) || WTERMSIG(wait_status) == SIGKILL)
		return false;
	k->crashed = now;
	return WTERMSIG(wait_status) == SIGSYS || (monotime_is_set(before) &&
	    monotime_ms_since(now, before) < WORKER_TERM_MS);
}

const char *
worker_death_text(int status)
{
	if (!WIFEXITED(status))
		return "";
	switch (WEXITSTATUS(status)) {
	case WORKER_NO_PRIVILEGE:
		return ": the kernel refuses its verdicts (CAP_NET_ADMIN)";
	case WORKER_BAD_IMAGE:
		return ": it cannot use the table image";
	default:
		return "";
	}
}

void
worker_death_tell(struct worker_process *k, int status, enum queue_fate fate,
    enum life_next next)
{
	static const char *const fates[] = {
		[QUEUE_REPEAT] = "are answered by the next one",
		[QUEUE_PASS] = "pass", [QUEUE_DROP] = "are dropped",
	};
	char text[CHILD_TEXT];

	if (k->talk.said >= TALK_LINES) {
		k->talk.unsaid++;
		return;
	}
	k->talk.said++;
	log_warning("the worker %s %s%s: the packets that it held %s", k->hangs != LIFE_MOVES ?
	    "hung, ended with" : "ended with", child_end_text(status, text),
	    worker_death_text(status), fates[fate]);
	if (next == LIFE_LATER)
		log_error("%d workers have crashed within a minute: the next one "
		    "starts in %d s, and questions wait for it: please report "
		    "the bug", LIFE_CRASHES, LIFE_PAUSE_MS / 1000);
}

void
worker_death_tell_unsaid(struct worker_process *k, monotime_t now)
{
	if (monotime_ms_since(now, k->talk.begun) < TALK_MS)
		return;
	if (k->talk.unsaid > 0)
		log_warning("%u more workers ended within a second",
		    k->talk.unsaid);
	k->talk.begun = now;
	k->talk.said = k->talk.unsaid = 0;
}
