/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer thread works in rounds.  In each it formats all records that the
 * rings hold at the round's beginning into the outlets' buffers, and writes the
 * buffers.  After a round with records it rests for a moment, so that records
 * come in bunches; a ring that fills meanwhile ends the rest.  After a round
 * without records it sleeps until a ring's thread wakes it.  So a ring's thread
 * makes a system call only for the first record after a quiet time, and for each
 * quarter of its ring that it fills within a rest.
 */
#include "policy/audit/audit.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "policy/audit/outlet.h"
#include "policy/audit/ring.h"
#include "resolver/clock.h"

/*
 * All outlets of the audit: which of them takes a record, and what each has
 * lost.  The writer alone uses them.
 */

struct audit_outlets {
	struct audit_outlet *all;	/* AUDIT_MAX_FILES */
	char *buffers;			/* as many */
	struct audit_outlet *outlet[AUDIT_MAX_FILES];	/* those in use */
	size_t count;
	uint64_t run;			/* when the worker began */
	_Atomic uint64_t lost;		/* by the outlets so far */
	_Atomic uint64_t unread;	/* audit_set_unread() */
};

/*
 * A round costs two changes of context, which take the CPU from the threads that
 * answer: at 20,000 records a second, half of what a record costs.
 */
#define REST_NS		10000000L
#define RETRY_NS	20000000L	/* after a file that took no more */
#define SWITCH_TIMEOUT_NS 1000000000L
#define STOP_GRACE_MS	1000

/* What the writer does; the value of a futex. */
enum writer_state {
	WRITER_BUSY,
	WRITER_RESTS,		/* orders wake it, and a ring that fills */
	WRITER_RETRIES,		/* only orders wake it */
	WRITER_SLEEPS,		/* orders and records wake it */
};

struct audit {
	_Alignas(64) _Atomic uint32_t state;	/* enum writer_state */
	_Atomic uint32_t wants;		/* AUDIT_VERDICT() of each */
	unsigned int ring_count;
	/* Orders, as below. */
	bool stop;
	bool ended;			/* the writer uses none of this any more */
	struct audit_ring *rings;
	pthread_t thread;

	/* Used by the writer alone. */
	struct audit_outlets outlets;
	uint64_t rings_lost;		/* that the outlets know of */

	/* Orders. */
	pthread_mutex_t mutex;
	pthread_cond_t done;
	struct audit_file next[AUDIT_MAX_FILES];
	size_t next_count;
	uint64_t ordered, carried_out; /* changes of files */
	struct timespec stop_until;	/* CLOCK_MONOTONIC */
};

/* Allocates all memory.  0 or -errno. */
static int
audit_outlets_init(struct audit_outlets *o)
{
	memset(o, 0, sizeof(*o));
	o->run = realtime_ns();
	o->all = calloc(AUDIT_MAX_FILES, sizeof(*o->all));
	o->buffers = malloc(AUDIT_MAX_FILES * AUDIT_BUFFER_SIZE);
	if (o->all == NULL || o->buffers == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < AUDIT_MAX_FILES; i++)
		o->all[i].buffer = o->buffers + i * AUDIT_BUFFER_SIZE;
	return 0;
}

static struct audit_state
state_of(const struct audit_outlets *o)
{
	return (struct audit_state){ .time_ns = realtime_ns(), .run = o->run,
		.unread = atomic_load(&o->unread) };
}

static void
close_outlet(struct audit_outlets *o, struct audit_outlet *outlet)
{
	const struct audit_state state = state_of(o);
	const uint64_t lost = outlet->lost;

	audit_outlet_close(outlet, &state);
	atomic_fetch_add_explicit(&o->lost, outlet->lost - lost,
	    memory_order_relaxed);
}

/* The outlet of that sink, taken out of "old"; NULL: there is none. */
static struct audit_outlet *
take_old(struct audit_outlet **old, size_t count, const struct audit_sink *sink)
{
	for (size_t i = 0; i < count; i++) {
		struct audit_outlet *outlet = old[i];

		if (outlet == NULL || outlet->file.sink.id != sink->id ||
		    outlet->file.sink.format != sink->format)
			continue;
		old[i] = NULL;
		return outlet;
	}
	return NULL;
}

/* One that is not in use, without a memory. */
static struct audit_outlet *
take_free(struct audit_outlets *o)
{
	struct audit_outlet *outlet = o->all;

	while (outlet->in_use)
		outlet++;
	outlet->number = 0;
	outlet->loss = (struct audit_loss){ .count = 0 };
	outlet->unread = atomic_load(&o->unread);
	return outlet;
}

/* The sink's outlet goes on with the file. */
static void
go_on(struct audit_outlets *o, struct audit_outlet *outlet,
    const struct audit_file *file)
{
	const struct audit_state state = state_of(o);
	const bool same = audit_outlet_is_of(outlet, file->fd);

	if (same)
		(void)close(file->fd);
	if (same || file->fd < 0 || audit_outlet_connect(outlet, file->fd)) {
		outlet->file.sink = file->sink;
		return;
	}
	close_outlet(o, outlet);
	audit_outlet_open(outlet, file, outlet->format, &state);
}

/*
 * Has these outlets from now on.  One with the id of one before it goes on with
 * that one's numbers, and reports the losses that it had not reported; if the file
 * is the same, or fd is -1, it goes on as if nothing had happened.
 */
static void
audit_outlets_switch(struct audit_outlets *o, const struct audit_file *files,
    size_t count)
{
	struct audit_outlet *old[AUDIT_MAX_FILES] = { NULL };
	struct audit_outlet *kept[AUDIT_MAX_FILES] = { NULL };

	for (size_t i = 0; i < o->count; i++)
		old[i] = o->outlet[i];
	for (size_t i = 0; i < count; i++)
		kept[i] = take_old(old, o->count, &files[i].sink);
	for (size_t i = 0; i < o->count; i++)
		if (old[i] != NULL) {
			close_outlet(o, old[i]);
			old[i]->in_use = false;
		}
	o->count = count;
	for (size_t i = 0; i < count; i++) {
		const struct audit_state state = state_of(o);

		if (kept[i] != NULL)
			go_on(o, kept[i], &files[i]);
		else {
			kept[i] = take_free(o);
			audit_outlet_open(kept[i], &files[i],
			    audit_formats[files[i].sink.format], &state);
			kept[i]->in_use = true;
		}
		o->outlet[i] = kept[i];
	}
}

static size_t
write_record(struct audit_outlet *outlet, const struct audit_record *record,
    char *to)
{
	struct audit_record less;

	if (outlet->file.sink.is_private == 0)
		return outlet->format->record(outlet->state, record, to);
	/* Without user and client. */
	less = *record;
	less.is_private = true;
	less.uid = (uid_t)-1;
	less.gid = (gid_t)-1;
	memset(less.client, 0, sizeof(less.client));
	less.client_port = 0;
	return outlet->format->record(outlet->state, &less, to);
}

static void
lose(struct audit_outlets *o, struct audit_outlet *outlet)
{
	outlet->lost++;
	audit_outlet_lose(outlet, 1);
	atomic_fetch_add_explicit(&o->lost, 1, memory_order_relaxed);
}

/* Writes the record to each outlet that takes it; its number is written over. */
static void
audit_outlets_put(struct audit_outlets *o, struct audit_record *record)
{
	for (size_t i = 0; i < o->count; i++) {
		struct audit_outlet *outlet = o->outlet[i];
		char *to;

		if (!audit_sink_takes(&outlet->file.sink, record))
			continue;
		to = audit_outlet_begin(outlet);
		if (to == NULL) {
			lose(o, outlet);
			continue;
		}
		record->number = outlet->number + 1;
		audit_outlet_end(outlet, write_record(outlet, record, to));
	}
}

/* Records that never came to be put. */
static void
audit_outlets_lose(struct audit_outlets *o, uint64_t count)
{
	for (size_t i = 0; i < o->count; i++)
		audit_outlet_lose(o->outlet[i], count);
}

/*
 * Whether a record may be put: one of them has room for it, or is full for good, or
 * there is none.
 */
static bool
audit_outlets_have_room(const struct audit_outlets *o)
{
	bool any = o->count == 0;

	for (size_t i = 0; i < o->count; i++)
		any |= audit_outlet_has_room(o->outlet[i]) ||
		    audit_outlet_is_full(o->outlet[i]);
	return any;
}

static bool
audit_outlets_are_empty(const struct audit_outlets *o)
{
	for (size_t i = 0; i < o->count; i++)
		if (!audit_outlet_is_empty(o->outlet[i]))
			return false;
	return true;
}

/* Writes the buffers; reports losses where a note of them fits. */
static void
audit_outlets_flush(struct audit_outlets *o)
{
	for (size_t i = 0; i < o->count; i++) {
		struct audit_outlet *outlet = o->outlet[i];
		struct audit_state state;

		audit_outlet_flush(outlet);
		if (outlet->loss.count == 0 &&
		    outlet->unread == atomic_load(&o->unread))
			continue;
		state = state_of(o);
		if (audit_outlet_tell(outlet, &state))
			audit_outlet_flush(outlet);
	}
}

static void
futex_wait(_Atomic uint32_t *word, uint32_t value, const struct timespec *limit)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, limit, NULL, 0);
}

static void
wake_writer(struct audit *a)
{
	if (atomic_exchange(&a->state, WRITER_BUSY) != WRITER_BUSY)
		syscall(SYS_futex, &a->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL,
		    0);
}

static uint64_t
rings_lost(const struct audit *a)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < a->ring_count; i++)
		sum += atomic_load_explicit(&a->rings[i].lost,
		    memory_order_relaxed);
	return sum;
}

static struct timespec
monotonic_in(int64_t ns)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	ns += t.tv_nsec;
	t.tv_sec += ns / 1000000000;
	t.tv_nsec = ns % 1000000000;
	return t;
}

static bool
is_past(const struct timespec *t)
{
	struct timespec now = monotonic_in(0);

	return now.tv_sec > t->tv_sec ||
	    (now.tv_sec == t->tv_sec && now.tv_nsec >= t->tv_nsec);
}

/*
 * True if it took all records that the ring held at the beginning.  If no outlet
 * has room, records stay in the ring.
 */
static bool
drain_ring(struct audit *a, unsigned int number, bool *any)
{
	struct audit_ring *ring = &a->rings[number];
	uint64_t end = audit_ring_end(ring);
	uint64_t cursor = atomic_load_explicit(&ring->tail,
	    memory_order_relaxed);
	struct audit_record record;

	while (cursor != end) {
		if (!audit_outlets_have_room(&a->outlets)) {
			audit_outlets_flush(&a->outlets);
			if (!audit_outlets_have_room(&a->outlets))
				return false;
		}
		if (audit_ring_next(ring, &cursor, end, &record))
			audit_outlets_put(&a->outlets, &record);
		audit_ring_release(ring, cursor);
		*any = true;
	}
	return true;
}

/* What had no room in a ring takes numbers, as what has none in an outlet. */
static void
take_losses(struct audit *a)
{
	const uint64_t lost = rings_lost(a);

	if (lost > a->rings_lost)
		audit_outlets_lose(&a->outlets, lost - a->rings_lost);
	a->rings_lost = lost;
}

/* One round.  True if there was at least one record. */
static bool
drain(struct audit *a)
{
	bool any = false;

	for (unsigned int i = 0; i < a->ring_count; i++)
		if (!drain_ring(a, i, &any))
			break;
	take_losses(a);
	audit_outlets_flush(&a->outlets);
	return any;
}

static bool
rings_empty(const struct audit *a)
{
	for (unsigned int i = 0; i < a->ring_count; i++)
		if (audit_ring_end(&a->rings[i]) != atomic_load_explicit(
		    &a->rings[i].tail, memory_order_relaxed))
			return false;
	return true;
}

/* Call with the mutex held. */
static void
switch_outlets(struct audit *a)
{
	audit_outlets_switch(&a->outlets, a->next, a->next_count);
	a->next_count = 0;
	a->carried_out = a->ordered;
	pthread_cond_broadcast(&a->done);
}

/* A copy of the orders. */
struct orders {
	bool switch_now;
	bool stop;
	bool stop_now;
};

static struct orders
read_orders(struct audit *a)
{
	struct orders orders;

	pthread_mutex_lock(&a->mutex);
	orders.switch_now = a->ordered != a->carried_out;
	orders.stop = a->stop;
	orders.stop_now = a->stop && is_past(&a->stop_until);
	pthread_mutex_unlock(&a->mutex);
	return orders;
}

/*
 * Rests or sleeps, unless an order or a record came in between.  The writer
 * sets its state and then looks for records; another thread puts a record and
 * then looks at the state.  So one of the two sees the other.
 */
static void
pause_writer(struct audit *a, enum writer_state state, long ns)
{
	struct timespec limit = { 0, ns };
	struct orders orders;

	atomic_store(&a->state, state);
	atomic_thread_fence(memory_order_seq_cst);
	orders = read_orders(a);
	if (!orders.switch_now && (state != WRITER_SLEEPS ||
	    (!orders.stop && rings_empty(a))))
		futex_wait(&a->state, state, ns > 0 ? &limit : NULL);
	atomic_store(&a->state, WRITER_BUSY);
}

static void *
write_records(void *argument)
{
	struct audit *a = argument;

	for (;;) {
		/* First: so this round has all records from before the order. */
		struct orders orders = read_orders(a);
		bool any = drain(a);

		if (orders.switch_now) {
			pthread_mutex_lock(&a->mutex);
			switch_outlets(a);
			pthread_mutex_unlock(&a->mutex);
			continue;
		}
		if (orders.stop_now || (orders.stop && rings_empty(a) &&
		    audit_outlets_are_empty(&a->outlets)))
			break;
		if (!audit_outlets_are_empty(&a->outlets))
			pause_writer(a, WRITER_RETRIES, RETRY_NS);
		else if (any || orders.stop)
			pause_writer(a, WRITER_RESTS, REST_NS);
		else
			pause_writer(a, WRITER_SLEEPS, 0);
	}
	audit_outlets_switch(&a->outlets, NULL, 0);
	pthread_mutex_lock(&a->mutex);
	a->ended = true;
	pthread_cond_broadcast(&a->done);
	pthread_mutex_unlock(&a->mutex);
	return NULL;
}

static void
free_audit(struct audit *a)
{
	for (unsigned int i = 0; a->rings != NULL && i < a->ring_count; i++)
		audit_ring_clear(&a->rings[i]);
	free(a->rings);
	free(a->outlets.all);
	free(a->outlets.buffers);
	pthread_cond_destroy(&a->done);
	pthread_mutex_destroy(&a->mutex);
	free(a);
}

int
audit_start(struct audit **audit, unsigned int rings)
{
	struct audit *a = aligned_alloc(64, sizeof(*a));
	int error = -ENOMEM;
	sigset_t all, before;

	*audit = NULL;
	assert(rings <= AUDIT_MAX_RINGS);
	if (a == NULL)
		return -ENOMEM;
	memset(a, 0, sizeof(*a));
	pthread_mutex_init(&a->mutex, NULL);
	pthread_cond_init(&a->done, NULL);
	/* All memory is allocated now: the sandbox comes later. */
	a->rings = aligned_alloc(64, rings * sizeof(*a->rings));
	if (a->rings == NULL)
		goto out;
	error = audit_outlets_init(&a->outlets);
	if (error < 0)
		goto out;
	for (; a->ring_count < rings; a->ring_count++) {
		error = audit_ring_init(&a->rings[a->ring_count]);
		if (error < 0)
			goto out;
	}
	/* The writer takes no signals: a closed pipe is EPIPE. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&a->thread, NULL, write_records, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	error = -error;
	if (error == 0)
		*audit = a;
out:
	if (error < 0)
		free_audit(a);
	return error;
}

void
audit_set_files(struct audit *a, const struct audit_file *files, size_t count)
{
	struct timespec limit = monotonic_in(SWITCH_TIMEOUT_NS);
	uint32_t wants = 0;
	uint64_t mine;

	pthread_mutex_lock(&a->mutex);
	/* Files that the writer has not taken yet. */
	for (size_t i = 0; a->ordered != a->carried_out && i < a->next_count;
	    i++)
		if (a->next[i].fd >= 0)
			(void)close(a->next[i].fd);
	a->next_count = 0;
	for (size_t i = 0; i < count; i++) {
		int flags = fcntl(files[i].fd, F_GETFL);

		assert(i < AUDIT_MAX_FILES);
		if (flags >= 0)
			(void)fcntl(files[i].fd, F_SETFL, flags | O_NONBLOCK);
		assert(files[i].sink.format < AUDIT_FORMATS);
		a->next[a->next_count++] = files[i];
		wants |= files[i].sink.verdicts;
	}
	atomic_store_explicit(&a->wants, wants, memory_order_relaxed);
	mine = ++a->ordered;
	wake_writer(a);
	while (a->carried_out < mine && pthread_cond_clockwait(&a->done,
	    &a->mutex, CLOCK_MONOTONIC, &limit) == 0)
		continue;
	pthread_mutex_unlock(&a->mutex);
}

bool
audit_wants(const struct audit *a, enum verdict verdict)
{
	uint32_t wants = atomic_load_explicit(&a->wants, memory_order_relaxed);

	return (wants & AUDIT_VERDICT(verdict)) != 0;
}

bool
audit_wants_any(const struct audit *a)
{
	return atomic_load_explicit(&a->wants, memory_order_relaxed) != 0;
}

bool
audit_put(struct audit *a, unsigned int ring, const struct audit_record *record)
{
	return audit_ring_put(&a->rings[ring], record);
}

void
audit_wake(struct audit *a, unsigned int ring)
{
	enum writer_state state;

	/* See pause_writer(). */
	atomic_thread_fence(memory_order_seq_cst);
	state = atomic_load_explicit(&a->state, memory_order_relaxed);
	if (state == WRITER_SLEEPS || (state == WRITER_RESTS &&
	    audit_ring_is_filling(&a->rings[ring])))
		wake_writer(a);
}

void
audit_set_unread(struct audit *a, uint64_t unread)
{
	if (unread <= atomic_load(&a->outlets.unread))
		return;
	atomic_store(&a->outlets.unread, unread);
	wake_writer(a);
}

uint64_t
audit_lost(const struct audit *a)
{
	return rings_lost(a) + atomic_load_explicit(&a->outlets.lost,
	    memory_order_relaxed);
}

void
audit_stop(struct audit *a, int timeout_ms)
{
	struct timespec limit;
	bool ended;

	if (a == NULL)
		return;
	pthread_mutex_lock(&a->mutex);
	a->stop = true;
	a->stop_until = monotonic_in((int64_t)timeout_ms * 1000000);
	wake_writer(a);
	limit = monotonic_in(((int64_t)timeout_ms + STOP_GRACE_MS) * 1000000);
	while (!a->ended && pthread_cond_clockwait(&a->done, &a->mutex,
	    CLOCK_MONOTONIC, &limit) == 0)
		continue;
	ended = a->ended;
	pthread_mutex_unlock(&a->mutex);
	/* A writer that hangs in a dead disk's write(2) keeps its memory. */
	if (!ended)
		return;
	(void)pthread_join(a->thread, NULL);
	free_audit(a);
}
