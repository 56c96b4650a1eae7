/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two kinds of answering thread side by side, which get their questions through
 * pipes: an octet is a question, and what the thread made of it comes back.
 */
#include "nfq/thread/answering_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/image.h"

#define THREADS		3
#define HOLD		'h'		/* a batch that waits for the test */

struct thread {
	struct answering_thread thread;
	int pipe[2], answers[2];	/* the thread's ends: pipe[0], answers[1] */
	unsigned int ran;		/* times that run() was called */
};

static struct status_worker slots[THREADS];
static struct generation first = { .number = 4 }, second = { .number = 5 };
static struct answering_threads threads;
static struct thread *made[THREADS];
static struct audit *audit;
static unsigned int freed;

static const struct decision answered = { .verdict = VERDICT_ANSWER,
	.reason = REASON_WILDCARD, .rcode = 3 };

/* The generation's number is the answer. */
static void
answer(struct thread *t, uint8_t question)
{
	uint8_t number;

	answering_begin(&t->thread, monotime_from_ms(question));
	CHECK(atomic_load(&t->thread.slot->busy) == 1);
	number = (uint8_t)t->thread.generation->number;
	(void)!write(t->answers[1], &number, 1);
	while (question == HOLD && read(t->pipe[0], &question, 1) < 0)
		;
	CHECK(t->thread.generation->number == number);
	answering_count(&t->thread, &answered, &(struct asker){ .device = 0 });
	answering_end(&t->thread);
}

/* Blocks in read(2), of which nothing but a signal has it look up. */
static void
run(struct answering_thread *thread)
{
	struct thread *t = (struct thread *)thread;
	uint8_t question;

	t->ran++;
	while (!answering_is_stopping(thread))
		if (read(t->pipe[0], &question, 1) == 1)
			answer(t, question);
	MUST(fcntl(t->pipe[0], F_SETFL, O_NONBLOCK) == 0);
	while (read(t->pipe[0], &question, 1) == 1)
		answer(t, question);
}

static void
close_thread(struct thread *t)
{
	for (int i = 0; i < 2; i++) {
		(void)close(t->pipe[i]);
		(void)close(t->answers[i]);
	}
	free(t);
	freed++;
}

static void
free_one(struct answering_thread *thread)
{
	close_thread((struct thread *)thread);
}

/* The other kind waits for nothing, and has its own way to be freed. */
static void
run_busily(struct answering_thread *thread)
{
	do
		answer((struct thread *)thread, 'x');
	while (!answering_is_stopping(thread));
}

static void
free_busy(struct answering_thread *thread)
{
	CHECK(atomic_load(&thread->slot->batches) > 0);
	close_thread((struct thread *)thread);
}

static const struct answering_kind waiting = { run, free_one };
static const struct answering_kind busy = { run_busily, free_busy };

static struct thread *
new_thread(unsigned int number)
{
	struct thread *t = calloc(1, sizeof(*t));

	MUST(t != NULL && pipe2(t->pipe, O_CLOEXEC) == 0);
	MUST(pipe2(t->answers, O_CLOEXEC | O_NONBLOCK) == 0);
	answering_thread_init(&t->thread, &threads, number);
	return t;
}

static void
begin(const struct answering_kind *last)
{
	memset(slots, 0, sizeof(slots));
	atomic_store(&slots[0].busy, 1);	/* of a worker that died */
	freed = 0;
	MUST(audit_start(&audit, THREADS) == 0);
	answering_threads_init(&threads, &first, audit, slots);
	for (unsigned int n = 0; n < THREADS; n++) {
		made[n] = new_thread(n);
		MUST(answering_thread_start(&made[n]->thread,
		    n == THREADS - 1 ? last : &waiting) == 0);
	}
	CHECK(atomic_load(&slots[0].busy) == 0);
}

static void
end(void)
{
	answering_threads_stop(&threads);
	audit_stop(audit, 1000);
	CHECK(freed == THREADS && TAILQ_EMPTY(&threads.all));
}

static void
ask(unsigned int n, uint8_t question)
{
	MUST(write(made[n]->pipe[1], &question, 1) == 1);
}

/* The generation that the next answer is from. */
static uint8_t
receive(unsigned int n)
{
	uint8_t octet = 0;

	MUST(fcntl(made[n]->answers[0], F_SETFL, 0) == 0);
	MUST(read(made[n]->answers[0], &octet, 1) == 1);
	return octet;
}

/* They are up, but run() is not called before the word is given. */
TEST(threads_begin_together)
{
	begin(&waiting);
	for (unsigned int n = 0; n < THREADS; n++) {
		ask(n, 'a');
		CHECK(made[n]->ran == 0);
		CHECK(atomic_load(&slots[n].table_generation) == 4);
	}
	answering_threads_begin(&threads);
	for (unsigned int n = 0; n < THREADS; n++)
		CHECK(receive(n) == 4 && made[n]->ran == 1);
	end();
}

/* A thread that waits for a question ends, too, and first answers what waits. */
TEST(what_waits_is_answered_before_the_end)
{
	begin(&busy);
	ask(0, 'a');
	ask(0, 'b');
	ask(1, 'c');
	answering_threads_begin(&threads);
	end();
	CHECK(atomic_load(&slots[0].received) == 2);
	CHECK(atomic_load(&slots[1].received) == 1);
	for (unsigned int n = 0; n < THREADS; n++)
		CHECK(atomic_load(&slots[n].busy) == 0);
}

static atomic_bool swapped;

static void *
swap(void *argument)
{
	(void)argument;
	answering_threads_swap(&threads, &second);
	atomic_store(&swapped, true);
	return NULL;
}

/* One that has a batch in hand keeps its generation; idle ones delay nobody. */
TEST(a_batch_is_answered_from_one_generation)
{
	pthread_t thread;

	atomic_store(&swapped, false);
	begin(&waiting);
	answering_threads_begin(&threads);
	ask(1, HOLD);
	CHECK(receive(1) == 4);
	MUST(pthread_create(&thread, NULL, swap, NULL) == 0);
	while (atomic_load(&slots[0].table_generation) != 5)
		generation_pause();
	/* New batches are of the new one, while the old one is in use. */
	ask(0, 'a');
	CHECK(receive(0) == 5);
	CHECK(!atomic_load(&swapped));
	CHECK(atomic_load(&slots[1].table_generation) == 4);
	ask(1, 'a');			/* it goes on */
	MUST(pthread_join(thread, NULL) == 0);
	ask(1, 'b');
	CHECK(receive(1) == 5);
	for (unsigned int n = 0; n < THREADS; n++)
		CHECK(atomic_load(&slots[n].table_generation) == 5);
	end();
}

TEST(decisions_are_counted)
{
	const struct decision malformed = { .verdict = VERDICT_PASS,
		.reason = REASON_MALFORMED };
	struct status_worker *slot = &slots[0];

	begin(&waiting);
	answering_threads_begin(&threads);
	ask(0, 'a');
	(void)receive(0);
	answering_threads_stop(&threads);
	CHECK(atomic_load(&slot->received) == 1);
	CHECK(atomic_load(&slot->verdicts[VERDICT_ANSWER]) == 1);
	CHECK(atomic_load(&slot->reasons[REASON_WILDCARD]) == 1);
	CHECK(atomic_load(&slot->malformed) == 0);
	CHECK(atomic_load(&slot->batches) == 1);
	answering_count(&(struct answering_thread){ .slot = slot }, &malformed,
	    &(struct asker){ .device = 0 });
	CHECK(atomic_load(&slot->received) == 2);
	CHECK(atomic_load(&slot->verdicts[VERDICT_PASS]) == 1);
	CHECK(atomic_load(&slot->malformed) == 1);
	audit_stop(audit, 1000);
}

TEST(containers_are_counted_by_the_name_of_the_interface)
{
	const struct decision passed = { .verdict = VERDICT_PASS };
	struct answering_thread t = { .slot = &slots[1] };
	struct status_interfaces *all = &slots[1].interfaces;

	answering_count(&t, &passed, &(struct asker){ .device = 1 });
	CHECK(strcmp(all->of[0].name, "lo") == 0 && all->devices[0] == 1);
	/* As if it had had another index before. */
	atomic_store(&all->devices[0], 1000000);
	answering_count(&t, &passed, &(struct asker){ .device = 1 });
	CHECK(all->of[0].verdicts[VERDICT_PASS] == 2 && all->devices[0] == 1);
	CHECK(all->devices[1] == 0);

	/* Without a name, or without room. */
	answering_count(&t, &passed, &(struct asker){ .device = 1000000 });
	for (size_t i = 0; i < STATUS_INTERFACES - 1; i++) {
		(void)snprintf(all->of[i].name, IF_NAMESIZE, "i%zu", i);
		atomic_store(&all->devices[i], 1000001 + (uint32_t)i);
	}
	answering_count(&t, &passed, &(struct asker){ .device = 1 });
	CHECK(all->of[STATUS_INTERFACES - 1].verdicts[VERDICT_PASS] == 2);
}

/* The file's next line, which the writer has been woken for. */
static const char *
read_line(int fd)
{
	static char line[4096];
	size_t length = 0;

	while (length < sizeof(line) - 1 &&
	    read(fd, line + length, 1) == 1 && line[length] != '\n')
		length++;
	line[length] = '\0';
	return line;
}

/* A record needs no more than its question: the batch has the rest. */
TEST(decisions_are_recorded)
{
	static const uint8_t question[] = "\0\7\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1";
	struct answering_thread t = { .recorded = false };
	struct audit_record r = { .family = AF_INET, .client_port = 77,
		.question = question, .question_length = sizeof(question) - 1,
		.answer = question, .answer_length = sizeof(question) - 1 };
	int pipe[2];
	const char *line;

	MUST(pipe2(pipe, O_CLOEXEC) == 0);
	MUST(audit_start(&audit, 1) == 0);
	answering_threads_init(&threads, &second, audit, slots);
	answering_thread_init(&t, &threads, 0);
	answering_begin(&t, monotime_from_ms(7));
	CHECK(!answering_is_recorded(&t, &answered) && t.received_ns == 0);
	answering_end(&t);
	audit_set_files(audit, &(struct audit_file){ .fd = pipe[1],
	    .sink.verdicts = AUDIT_VERDICTS_USUAL }, 1);
	CHECK(strstr(read_line(pipe[0]), "begin") != NULL);
	answering_begin(&t, monotime_from_ms(8));
	CHECK(answering_is_recorded(&t, &answered) && t.received_ns != 0);
	CHECK(!answering_is_recorded(&t, &(struct decision){
	    .verdict = VERDICT_PASS }));
	/* Read before anybody wanted records: no time is made up. */
	answering_record(&t, &answered, 0, 0, &r);
	CHECK(r.spent_ns == 0 && r.generation == 5 && r.time_ns != 0);
	/* Longer ago than a record can say. */
	answering_record(&t, &answered, 1, 0, &r);
	CHECK(r.spent_ns == UINT32_MAX);
	answering_record(&t, &answered, t.received_ns, 0, &r);
	CHECK(r.spent_ns == r.time_ns - t.received_ns);
	answering_end(&t);
	CHECK(t.generation == NULL && !t.recorded);
	for (int i = 0; i < 3; i++) {
		line = read_line(pipe[0]);
		CHECK(strstr(line, "\"answer\"") != NULL);
		CHECK(strstr(line, "NXDOMAIN") != NULL);
		CHECK(strstr(line, "77") != NULL);
	}
	audit_stop(audit, 1000);
	(void)close(pipe[0]);
}
