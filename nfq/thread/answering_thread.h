/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all threads that answer questions share, whatever they read questions
 * from: the generation they answer from, the time of a batch, their counters
 * and audit records, and how they start and stop.
 *
 * A kind of thread embeds struct answering_thread as its first member.  A batch
 * is what the thread reads at once: the packets of one receive, or the events
 * of one epoll_wait(2).  In its thread, a kind calls
 *
 *	answering_begin(t, monotime_now());
 *	for each question: decide with t->generation, answer,
 *	    answering_count(t, decision, asker), answering_record(t, ...)
 *	answering_end(t);
 *
 * The main thread treats all kinds alike: answering_threads_begin(), _swap()
 * and _stop().
 */
#ifndef NFDNS_NFQ_THREAD_ANSWERING_THREAD_H
#define NFDNS_NFQ_THREAD_ANSWERING_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "policy/config/settings.h"
#include "policy/match/policy_gather.h"
#include "resolver/answer/settings.h"
#include "resolver/image/table.h"
#include "policy/audit/audit.h"
#include "policy/decide.h"
#include "policy/status/status.h"
#include "resolver/clock.h"
#include "resolver/dns/question.h"

/*
 * A generation as the answering threads use it: the table and the settings that
 * answers are made from.  A reload replaces it while the threads run, without a
 * lock.  A thread publishes the generation that it is about to use ("in_use"),
 * then checks that it is still the current one, and only then uses it.  The
 * main thread first stores the new current generation, then waits until no
 * thread publishes the old one.  A thread that waits for work publishes none,
 * so an idle thread delays no reload.
 */

struct cache;

struct generation {
	uint64_t number;		/* 0: no table was ever loaded */
	struct table *table;
	struct settings settings;
	struct cache *cache;		/* of forwarding; borrowed; NULL: none */
	struct rules *rules;		/* NULL: there are none */
	struct policy_source policy;	/* these; rates are borrowed, counters
					 * are owned and point elsewhere */
};

/*
 * Maps and checks a table image and reads the settings, both from sealed memory
 * files, which stay the caller's; settings -1: they are those of "before", which may
 * be NULL otherwise.  Returns NULL if either is invalid; *why is a
 * static text that says what is wrong.
 */
struct generation *generation_open(uint64_t number, int image, int settings,
    const struct generation *before, const char **why) __attribute__((warn_unused_result));

/* What answers of this generation are made from; borrows it. */
static inline struct answer_source
generation_source(const struct generation *generation)
{
	return answer_source(generation->table, &generation->settings.answers);
}

/* What questions are asked of the policy with; NULL: there are no rules. */
static inline const struct policy_source *
generation_policy(const struct generation *generation)
{
	return generation->rules != NULL ? &generation->policy : NULL;
}

/* No thread may use it any more.  NULL is allowed. */
void generation_close(struct generation *generation);

typedef _Atomic(const struct generation *) generation_place;

/* Sleeps for a moment, in a loop that waits for another thread. */
void generation_pause(void);

/* The answering threads of a worker. */
struct answering_threads {
	generation_place current;	/* that the next batches are answered from */
	struct audit *audit;		/* borrowed */
	struct status_worker *slots;	/* borrowed: of the status page */
	struct hitters_page *hitters;	/* the same; NULL: none */
	atomic_bool stopping;
	TAILQ_HEAD(, answering_thread) all;
	struct upstreams *upstreams;	/* borrowed: nfq/ask/upstream.h; NULL: none */
	_Atomic int main_wake;		/* eventfd of the thread that probes them; -1: none */
	atomic_bool wants_tls;		/* a thread has no channel to nfdns-tls */
};

struct answering_thread;

/* What a kind of thread does in its own way. */
struct answering_kind {
	/*
	 * The life of the thread: it answers until answering_is_stopping(),
	 * then whatever still waits, and returns.  A signal interrupts its
	 * system calls (EINTR) when it has to look whether it is stopping.
	 */
	void (*run)(struct answering_thread *thread);
	/* Frees the thread after run() has returned.  In the main thread. */
	void (*free)(struct answering_thread *thread);
};

/* One thread.  Only the thread itself uses the members of the second part. */
struct answering_thread {
	struct answering_threads *threads;
	const struct answering_kind *kind;
	generation_place in_use;	/* NULL between batches */
	atomic_bool done;		/* run() has returned */
	pthread_t id;
	pthread_barrier_t gate;		/* of this thread and the main thread */
	_Atomic int tls;		/* a fresh channel to nfdns-tls; -1: none */
	TAILQ_ENTRY(answering_thread) link;

	unsigned int number;		/* of its slot and of its audit ring */
	struct status_worker *slot;
	struct audit *audit;
	const struct generation *generation;	/* of this batch; NULL: none */
	monotime_t now;			/* when this batch was read */
	uint64_t received_ns;		/* the same as realtime_ns(); 0: no
					 * records are kept */
	uint32_t rotation;		/* of the addresses in the next answer */
	bool recorded;			/* a record of this batch waits */
	uint64_t received_before;	/* the slot's, at the batch's begin */
	struct hitters_bank *hitters;	/* of this batch; NULL: nobody watches */
};

/*
 * No threads yet.  All is borrowed: the generation until it is swapped, audit
 * and slots until answering_threads_stop().
 */
void answering_threads_init(struct answering_threads *threads,
    const struct generation *generation, struct audit *audit,
    struct status_worker *slots);

/* Lets all threads run.  Call once, after the last answering_thread_start(). */
void answering_threads_begin(struct answering_threads *threads);

/*
 * Has every batch from now on answered from "next".  Returns when no thread
 * uses the generation before it any more: its owner may free it then.
 */
void answering_threads_swap(struct answering_threads *threads,
    const struct generation *next);

/* Gives each thread a copy of a channel to nfdns-tls, which is closed. */
void answering_threads_give_tls(struct answering_threads *threads, int channel);

/*
 * Tells all threads to answer what waits and to end, waits until they have, and
 * frees them.  Only after answering_threads_begin().
 */
void answering_threads_stop(struct answering_threads *threads);

/*
 * Fills in the shared part of a thread whose memory is zero: "number" is that
 * of its slot on the status page and of its audit ring.  No thread runs yet.
 */
void answering_thread_init(struct answering_thread *thread,
    struct answering_threads *threads, unsigned int number);

/*
 * Starts the thread, which waits for answering_threads_begin(), and returns
 * when it does: a sandbox may then forbid the system calls of a thread's start.
 * From then on answering_threads_stop() frees it.  0 or a negative errno.
 */
int answering_thread_start(struct answering_thread *thread,
    const struct answering_kind *kind) __attribute__((warn_unused_result));

/* The rest is called by the thread itself. */

static inline bool
answering_is_stopping(const struct answering_thread *thread)
{
	return atomic_load_explicit(&thread->threads->stopping,
	    memory_order_relaxed);
}

/* A batch was read at "now": the supervisor sees that the thread is busy. */
void answering_begin(struct answering_thread *thread, monotime_t now);

/* The batch is answered: its generation is given back, its records written. */
void answering_end(struct answering_thread *thread);

/*
 * Counts one.  Each counter has one writer, so no read-modify-write is needed.
 */
static inline void
answering_count_up(_Atomic uint64_t *counter)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter,
	    memory_order_relaxed) + 1, memory_order_relaxed);
}

/*
 * Part of a long batch is done: the supervisor sees that the thread does not hang
 * (nfq/supervisor/worker_process.h).
 */
static inline void
answering_go_on(struct answering_thread *thread)
{
	answering_count_up(&thread->slot->batches);
}

/* Counts a response code, in the slot's refusals or forwarded_rcodes. */
static inline void
answering_count_rcode(_Atomic uint64_t rcodes[static STATUS_RCODES],
    uint16_t rcode)
{
	answering_count_up(&rcodes[rcode < STATUS_RCODES ? rcode :
	    STATUS_RCODES - 1]);
}

/* Counts questions that took so long until their answer; ns below 0: none. */
void answering_count_spent(struct answering_thread *thread, int64_t ns,
    uint64_t questions);

/*
 * Counts what a question is about, and for "nfdns top" its name and who asks; of
 * one that is not PLAIN, no type and no name.
 */
static inline void
answering_count_asked(struct answering_thread *thread,
    const struct question *question, const struct asker *asker)
{
	const enum status_type type = question->form == QUESTION_PLAIN ?
	    status_type_of(question->type) : ASKED_OTHER;

	answering_count_up(&thread->slot->asked[asker->family == AF_INET ?
	    ASKED_IPV4 : ASKED_IPV6][type]);
	if (thread->hitters != NULL)
		hitters_question(thread->hitters,
		    thread->threads->hitters->secret, question, asker);
}

/* The interface with that index, where questions of containers are counted. */
struct status_interface *answering_interface(struct answering_thread *thread,
    uint32_t device);

/* Counts a question and what was decided about it. */
static inline void
answering_count(struct answering_thread *thread,
    const struct decision *decision, const struct asker *asker)
{
	struct status_worker *slot = thread->slot;

	answering_count_up(&slot->received);
	answering_count_up(&slot->verdicts[decision->verdict]);
	answering_count_up(&slot->reasons[decision->reason]);
	if (decision->reason == REASON_MALFORMED)
		answering_count_up(&slot->malformed);
	if (decision->verdict == VERDICT_REFUSE)
		answering_count_rcode(slot->refusals, decision->rcode);
	if (asker->device != 0)
		answering_count_up(&answering_interface(thread, asker->device)->
		    verdicts[decision->verdict]);
}

/* Whether anybody wants a record of such a decision. */
static inline bool
answering_is_recorded(const struct answering_thread *thread,
    const struct decision *decision)
{
	return audit_wants(thread->audit, decision->verdict) ||
	    (decide_is_forwarded(decision->reason) &&
	    audit_wants(thread->audit, VERDICT_FORWARD));
}

/* The same, with what the policy says. */
static inline bool
answering_is_noted(const struct answering_thread *thread,
    const struct decision *decision, const struct policy_note *note)
{
	return !note->is_not_logged &&
	    (answering_is_recorded(thread, decision) ||
	    (note->is_logged && audit_wants_any(thread->audit)));
}

/* What a record says of the policy.  Borrows the note. */
static inline void
answering_set_note(struct audit_record *record, const struct policy_note *note)
{
	record->rule = note->rule.text;
	record->rule_length = note->rule.length;
	record->observer = note->observer.text;
	record->observer_length = note->observer.length;
	record->judged = note->judged;
	record->judged_length = note->judged_length;
	record->would = (uint8_t)note->would;
	record->asked = note->is_logged;
}

/*
 * Records a decision about a question that was read at received_ns (as in
 * struct answering_thread), and came by that device (struct asker).  The caller
 * has filled in *record but for the decision, the generation and the times.
 * The octets are copied.
 */
static inline void
answering_record(struct answering_thread *thread,
    const struct decision *decision, uint64_t received_ns,
    uint32_t device, struct audit_record *record)
{
	const uint64_t now = realtime_ns();
	const uint64_t spent = received_ns != 0 && now > received_ns ?
	    now - received_ns : 0;

	record->time_ns = now;
	record->spent_ns = spent < UINT32_MAX ? (uint32_t)spent : UINT32_MAX;
	record->generation = thread->generation->number;
	record->verdict = decision->verdict;
	record->reason = decision->reason;
	record->rcode = decision->rcode;
	record->interface = device == 0 ? NULL :
	    answering_interface(thread, device)->name;
	/* First: a number that is used twice could not be told apart. */
	answering_count_up(&thread->slot->recorded);
	(void)audit_put(thread->audit, thread->number, record);
	thread->recorded = true;
}

#endif
