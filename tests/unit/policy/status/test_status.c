/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/status/status.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/json.h"

/* A copy as a command gets it. */
static bool
copy(const struct status_page *page, struct status_page *seen)
{
	const int fd = status_copy(page);
	const int error = fd >= 0 ? status_open(seen, fd) : fd;

	if (fd >= 0)
		(void)close(fd);
	return error == 0;
}

TEST(what_the_daemon_writes_others_read)
{
	struct status_page page, seen;
	int fd;

	CHECK(status_create(&page, 3) == 0);
	CHECK(page.worker_slots == 3);
	CHECK(atomic_load(&page.supervisor->pid) == getpid());
	/* The parts have different writers: no page of memory has both. */
	CHECK((uintptr_t)page.workers % 4096 == 0);
	CHECK((uintptr_t)&page.workers[1] % 64 == 0);

	atomic_store(&page.workers[2].received, 42);
	CHECK(copy(&page, &seen));
	CHECK(seen.worker_slots == 3 && seen.size == page.size);
	atomic_store(&page.workers[2].received, 43);
	CHECK(atomic_load(&seen.workers[2].received) == 42);
	status_close(&seen);
	status_close(&seen);
	/* Who has the copy cannot change it for others. */
	fd = status_copy(&page);
	CHECK(fd >= 0 && pwrite(fd, "x", 1, 0) < 0 && ftruncate(fd, 0) < 0);
	(void)close(fd);
	status_close(&page);
	CHECK(page.supervisor == NULL && page.workers == NULL);
}

TEST(a_worker_keeps_its_own_part_only)
{
	struct status_page page;
	pid_t child;
	int status;

	CHECK(status_create(&page, 1) == 0);
	child = fork();
	if (child == 0) {
		const volatile char *theirs = (void *)page.supervisor;

		status_forget_supervisor(&page);
		atomic_store(&page.workers[0].received, 7);
		if (page.supervisor != NULL || page.hitters.fd >= 0)
			_exit(1);
		signal(SIGSEGV, SIG_DFL);
		_exit(*theirs);
	}
	CHECK(waitpid(child, &status, 0) == child);
	/* A sanitizer turns the signal into an exit of its own. */
	CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) > 1);
	CHECK(atomic_load(&page.workers[0].received) == 7);
	status_close(&page);
}

/* What opening a file of those octets says. */
static int
open_octets(const void *octets, size_t length)
{
	const int fd = memfd_create("test", MFD_CLOEXEC);
	struct status_page seen;
	int error;

	CHECK(fd >= 0 && write(fd, octets, length) == (ssize_t)length);
	error = status_open(&seen, fd);
	CHECK(error == 0 || seen.supervisor == NULL);
	status_close(&seen);
	(void)close(fd);
	return error;
}

TEST(nothing_in_the_file_is_believed)
{
	struct status_page page, seen;
	struct status_supervisor *s;
	static uint8_t octets[1 << 18];
	size_t size;
	int ends[2];

	CHECK(status_create(&page, 2) == 0);
	size = page.size;
	memcpy(octets, page.supervisor, size);
	status_close(&page);
	s = (void *)octets;

	CHECK(open_octets("", 0) == -EPROTO);
	CHECK(open_octets(octets, 100) == -EPROTO);
	CHECK(open_octets(octets, size - 1) == -EPROTO);
	CHECK(open_octets(octets, size + 4096) == -EPROTO);
	CHECK(open_octets(octets, size) == 0);
	s->workers = 0;
	CHECK(open_octets(octets, size) == -EPROTO);
	s->workers = UINT32_MAX;
	CHECK(open_octets(octets, size) == -EPROTO);
	s->workers = 64;
	CHECK(open_octets(octets, size) == -EPROTO);
	s->workers = 2;
	s->layout++;
	CHECK(open_octets(octets, size) == -EPROTO);
	s->layout--;
	atomic_store(&s->magic, 1);
	CHECK(open_octets(octets, size) == -EPROTO);
	srandom(4);
	for (int i = 0; i < 500; i++) {
		for (size_t j = 0; j < 4096; j++)
			octets[j] = (uint8_t)random();
		CHECK(open_octets(octets, (size_t)random() % sizeof(octets))
		    == -EPROTO);
	}
	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	CHECK(status_open(&seen, ends[0]) == -EPROTO);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

/* A worker that somebody took over writes anything where forwarding shows. */
TEST(what_forwarding_shows_is_not_believed)
{
	struct status_forwarding *shown;
	struct status_page page;
	char *text = NULL;
	size_t size = 0;
	FILE *out;
	const struct config config = { .path = (char[]){ "\033[2Jx" } };

	CHECK(status_create(&page, 1) == 0);
	srandom(5);
	for (int i = 0; i < 20; i++) {
		for (size_t j = 0; j < sizeof(*page.forwarding); j++)
			((uint8_t *)page.forwarding)[j] = (uint8_t)random();
		if (i > 0)	/* once: a writer that died halfway */
			atomic_fetch_and(&page.forwarding->sequence, ~1U);
		else
			atomic_fetch_or(&page.forwarding->sequence, 1);
		shown = forward_status_read(page.forwarding);
		CHECK(shown != NULL && shown->upstreams <= FORWARD_UPSTREAMS);
		free(shown);
		for (int form = STATUS_SUMMARY; form <= STATUS_ALL; form++) {
			out = open_memstream(&text, &size);
			CHECK(out != NULL && status_print(&page,
			    form == STATUS_SUMMARY ? &config : NULL,
			    (enum status_form)form, out) == 0);
			CHECK(fclose(out) == 0);
			for (size_t j = 0; j < size; j++)
				CHECK(text[j] == '\n' ||
				    (text[j] >= 0x20 && text[j] <= 0x7e));
			free(text);
		}
	}
	status_close(&page);
}

TEST(counters_are_sums)
{
	struct status_page page;
	struct status_counters sum;

	CHECK(status_create(&page, 3) == 0);	/* one is not in use */
	for (int i = 0; i < 2; i++) {
		struct status_worker *slot = &page.workers[i];

		atomic_store(&slot->thread, 1);
		atomic_store(&slot->received, 21);
		atomic_store(&slot->verdicts[VERDICT_PASS], 1);
		atomic_store(&slot->verdicts[VERDICT_ANSWER], 2);
		atomic_store(&slot->verdicts[VERDICT_NODATA], 3);
		atomic_store(&slot->verdicts[VERDICT_NXDOMAIN], 4);
		atomic_store(&slot->verdicts[VERDICT_REFUSE], 5);
		atomic_store(&slot->verdicts[VERDICT_DROP], 6);
		atomic_store(&slot->malformed, 1);
		atomic_store(&slot->reasons[REASON_SEARCH], 9);
		atomic_store(&slot->id_gaps, 8);
		atomic_store(&slot->table_generation, 5U + (unsigned int)i);
	}
	atomic_store(&page.supervisor->rule_packets, 50);
	status_counters(&page, &sum);
	CHECK(sum.received == 42 && sum.passed == 2 && sum.answered == 18);
	CHECK(sum.refused == 10 && sum.dropped == 12 && sum.malformed == 2);
	CHECK(sum.reasons[REASON_SEARCH] == 18);
	CHECK(sum.unseen == 8);
	CHECK(sum.queue_dropped == 16);
	CHECK(sum.oldest_generation == 5);
	/* The kernel's own count, when it is the larger one. */
	atomic_store(&page.supervisor->queue_dropped, 100);
	/* The rules' counter is read now and then: it may be behind. */
	atomic_store(&page.supervisor->rule_packets, 40);
	status_counters(&page, &sum);
	CHECK(sum.unseen == 0 && sum.queue_dropped == 100);
	status_close(&page);
}

static char *
printed(const struct status_page *page, bool json)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	CHECK(status_print(page, NULL, json ? STATUS_JSON : STATUS_ALL,
	    out) == 0);
	fclose(out);
	return text;
}

static const json_t *
printed_json(const struct status_page *page)
{
	char *text = printed(page, true);
	const json_t *root = json_read(text, strlen(text));

	CHECK(root != NULL);
	CHECK(strchr(text, '\n') == text + strlen(text) - 1);
	free(text);
	return root;
}

TEST(json_has_the_keys_that_are_promised)
{
	static const struct {
		const char *path;
		json_type type;
	} promised[] = {
		{ "pid", JSON_INTEGER }, { "worker_pid", JSON_INTEGER },
		{ "table.generation", JSON_INTEGER },
		{ "table.names", JSON_INTEGER },
		{ "counters.received", JSON_INTEGER },
		{ "counters.answered", JSON_INTEGER },
		{ "counters.passed", JSON_INTEGER },
		{ "counters.refused", JSON_INTEGER },
		{ "counters.dropped", JSON_INTEGER },
		{ "counters.malformed", JSON_INTEGER },
		{ "queue.mode", JSON_STRING },
		{ "queue.unseen", JSON_INTEGER },
		{ "queue.dropped", JSON_INTEGER },
		{ "queue.over_user_rate", JSON_INTEGER },
		{ "worker.restarts", JSON_INTEGER },
		{ "reload.ok", JSON_TRUE },
		{ "reload.error", JSON_STRING },
		{ "reasons.not-mesh", JSON_INTEGER },
		{ "ready", JSON_FALSE },
		{ "state", JSON_STRING },
	};
	struct status_page page;
	const json_t *root;

	CHECK(status_create(&page, 1) == 0);
	root = printed_json(&page);
	for (size_t i = 0; i < sizeof(promised) / sizeof(promised[0]); i++)
		CHECK(is(root, promised[i].path, promised[i].type));
	CHECK(is_number(root, "pid", getpid()));

	atomic_store(&page.supervisor->table_names, 12);
	atomic_store(&page.supervisor->queue_mode, STATUS_QUEUE_XT);
	status_set_state(&page, STATUS_READY, NULL);
	root = printed_json(&page);
	CHECK(is(root, "ready", JSON_TRUE));
	CHECK(is_number(root, "table.names", 12));
	CHECK(is_text(root, "queue.mode", "xt"));

	status_set_state(&page, STATUS_DEGRADED, "no table");
	root = printed_json(&page);
	CHECK(is(root, "ready", JSON_TRUE));
	CHECK(is_text(root, "state", "degraded"));
	CHECK(is_text(root, "degraded", "no table"));
	status_close(&page);
}

TEST(any_values_can_be_printed)
{
	struct status_page page;
	const json_t *root;
	long long received;
	char *text;

	CHECK(status_create(&page, 2) == 0);
	memset(page.workers, 0xff, 2 * sizeof(*page.workers));
	memset(page.supervisor->reload_error, 0xff, STATUS_TEXT);
	memset(page.supervisor->degraded, '\n', STATUS_TEXT);
	atomic_store(&page.supervisor->state, 99);
	atomic_store(&page.supervisor->queue_mode, UINT32_MAX);
	atomic_store(&page.supervisor->pid, -5);
	root = printed_json(&page);
	CHECK(is_text(root, "queue.mode", "unknown"));
	CHECK(json_tree_integer(at(root, "counters.received"), 0, LLONG_MAX,
	    &received));
	/* One line stays one line. */
	text = printed(&page, false);
	CHECK(strstr(text, "\n\n") == NULL && strstr(text, "\\x0a") != NULL);
	free(text);
	status_close(&page);
}

