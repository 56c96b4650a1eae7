/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/thread/thread_queue.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/process/exit_code.h"
#include "policy/log.h"

int
thread_queue_open(struct thread_queue *q, int fd, uint16_t number,
    struct status_worker *slot)
{
	int error;

	q->slot = slot;
	q->number = number;
	q->gaps_before = atomic_load(&slot->id_gaps);
	q->errors_before = atomic_load(&slot->verdict_errors);
	/* Pages that no packet needed take no memory. */
	q->received = aligned_alloc(64, QUEUE_BATCH * sizeof(*q->received));
	if (q->received == NULL)
		return -ENOMEM;
	error = queue_reader_new(&q->reader, fd, number, q->received);
	if (error < 0)
		thread_queue_close(q);
	return error;
}

void
thread_queue_close(struct thread_queue *q)
{
	queue_reader_free(q->reader);
	free(q->received);
	q->reader = NULL;
	q->received = NULL;
}

/* What came of a receive: packets, 0 or -EAGAIN. */
static int
check(const struct thread_queue *q, int result)
{
	if (result > 0) {
		/* For the supervisor, should we die or hang in this batch. */
		atomic_store_explicit(&q->slot->last_id,
		    queue_last_id(q->reader), memory_order_relaxed);
		return result;
	}
	switch (result) {
	case 0:
	case -EINTR:
	case -ENOBUFS:
		return 0;
	case -EAGAIN:
		return -EAGAIN;
	case -EPERM:
		log_error("the kernel refuses verdicts: CAP_NET_ADMIN is "
		    "missing: run as root or through systemd");
		_exit(WORKER_NO_PRIVILEGE);
	default:
		log_error("queue %u: cannot read packets: %s", q->number,
		    strerror(-result));
		_exit(WORKER_FAILED);
	}
}

int
thread_queue_receive(struct thread_queue *q)
{
	const int result = check(q, queue_receive(q->reader, q->packets));

	return result == -EAGAIN ? 0 : result;
}

int
thread_queue_receive_now(struct thread_queue *q)
{
	return check(q, queue_receive_now(q->reader, q->packets));
}

void
thread_queue_send(struct thread_queue *q)
{
	const int error = queue_send(q->reader);

	if (error < 0) {
		/* The packets still wait; our successor gets them again. */
		log_error("queue %u: cannot send verdicts: %s", q->number,
		    strerror(-error));
		_exit(WORKER_FAILED);
	}
	atomic_store_explicit(&q->slot->id_gaps,
	    q->gaps_before + queue_gaps(q->reader), memory_order_relaxed);
	atomic_store_explicit(&q->slot->verdict_errors,
	    q->errors_before + queue_verdict_errors(q->reader),
	    memory_order_relaxed);
}
