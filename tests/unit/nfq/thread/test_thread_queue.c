/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue of an answering thread.  The test takes the part of queue.h. */
#include "nfq/thread/thread_queue.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nfq/process/child.h"
#include "nfq/process/exit_code.h"
#include "tests/check.h"

#define FD	7
#define NUMBER	5301

static struct status_worker slot;
static struct thread_queue queue;

/* What the kernel's queue does next. */
static struct {
	int receive, send;
	uint32_t last_id;
	uint64_t gaps, errors;
} kernel;

int
queue_reader_new(struct queue_reader **reader, int fd, uint16_t number,
    queue_buffer buffers[static QUEUE_BATCH])
{
	CHECK(fd == FD && number == NUMBER && buffers == queue.received);
	*reader = NULL;
	return 0;
}

void
queue_reader_free(struct queue_reader *reader)
{
	CHECK(reader == NULL);
}

int
queue_receive(struct queue_reader *reader,
    struct queue_packet into[static QUEUE_BATCH])
{
	CHECK(reader == NULL && into == queue.packets);
	return kernel.receive;
}

int
queue_receive_now(struct queue_reader *reader,
    struct queue_packet into[static QUEUE_BATCH])
{
	return queue_receive(reader, into);
}

uint64_t
queue_gaps(const struct queue_reader *reader)
{
	CHECK(reader == NULL);
	return kernel.gaps;
}

uint64_t
queue_verdict_errors(const struct queue_reader *reader)
{
	CHECK(reader == NULL);
	return kernel.errors;
}

uint32_t
queue_last_id(const struct queue_reader *reader)
{
	CHECK(reader == NULL);
	return kernel.last_id;
}

int
queue_send(struct queue_reader *reader)
{
	CHECK(reader == NULL);
	return kernel.send;
}

static void
begin(void)
{
	memset(&kernel, 0, sizeof(kernel));
	memset(&slot, 0, sizeof(slot));
	atomic_store(&slot.id_gaps, 100);
	atomic_store(&slot.verdict_errors, 10);
	CHECK(thread_queue_open(&queue, FD, NUMBER, &slot) == 0);
}

TEST(packets_are_received)
{
	begin();
	kernel.receive = 3;
	kernel.last_id = 44;
	CHECK(thread_queue_receive(&queue) == 3);
	CHECK(atomic_load(&slot.last_id) == 44);
	kernel.receive = 1;
	kernel.last_id = 45;
	CHECK(thread_queue_receive_now(&queue) == 1);
	CHECK(atomic_load(&slot.last_id) == 45);
	thread_queue_close(&queue);
}

/* After these, a thread reads on. */
TEST(no_packets_are_no_error)
{
	static const int nothing[] = { 0, -EINTR, -ENOBUFS };

	begin();
	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++) {
		kernel.receive = nothing[i];
		CHECK(thread_queue_receive(&queue) == 0);
		CHECK(thread_queue_receive_now(&queue) == 0);
	}
	kernel.receive = -EAGAIN;
	CHECK(thread_queue_receive(&queue) == 0);
	CHECK(thread_queue_receive_now(&queue) == -EAGAIN);
	CHECK(atomic_load(&slot.last_id) == 0);
	thread_queue_close(&queue);
}

/* A new worker's counts go on from those of the worker before. */
TEST(counters_go_on)
{
	begin();
	kernel.gaps = 2;
	kernel.errors = 1;
	thread_queue_send(&queue);
	CHECK(atomic_load(&slot.id_gaps) == 102);
	CHECK(atomic_load(&slot.verdict_errors) == 11);
	kernel.gaps = 5;
	thread_queue_send(&queue);
	CHECK(atomic_load(&slot.id_gaps) == 105);
	thread_queue_close(&queue);
}

/* The exit status of a process that receives and sends. */
static int
exit_of_process(void)
{
	const pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		(void)close(STDERR_FILENO);
		(void)thread_queue_receive(&queue);
		thread_queue_send(&queue);
		_exit(WORKER_DONE);
	}
	CHECK(child_reap(pid, &status) == 0 && WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(a_thread_that_cannot_go_on_ends_the_process)
{
	begin();
	CHECK(exit_of_process() == WORKER_DONE);
	kernel.receive = -EPERM;
	CHECK(exit_of_process() == WORKER_NO_PRIVILEGE);
	kernel.receive = -EBADF;
	CHECK(exit_of_process() == WORKER_FAILED);
	kernel.receive = 1;
	kernel.send = -EMSGSIZE;
	CHECK(exit_of_process() == WORKER_FAILED);
	thread_queue_close(&queue);
}
