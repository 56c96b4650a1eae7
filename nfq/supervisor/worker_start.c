/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The start of a worker; and at a reload, of another one with other queues, listeners
 * or zone, while questions wait.  What the worker before had read is put back into the
 * queues that stay; what waits in those that go is put back once the rules lead
 * elsewhere.  If base chains go (capture.tcp), the kernel drops what waits.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/process/child.h"
#include "nfq/process/exit_code.h"
#include "nfq/queue/queue.h"
#include "nfq/supervisor/parts.h"
#include "nfq/supervisor/worker_process.h"
#include "policy/log.h"

#define READY_MS	10000
#define READER_TEXT	60

/* "nfdnsd, pid 27097": who reads that queue, as far as the kernel tells. */
static const char *
reader_of(uint16_t number, char text[static READER_TEXT])
{
	FILE *queues = fopen("/proc/net/netfilter/nfnetlink_queue", "re");
	char line[160], path[40], name[40] = "";
	unsigned long pid = 0;
	FILE *file;

	/* A socket's port is its program's pid, if it is the first there. */
	while (queues != NULL && pid == 0 &&
	    fgets(line, sizeof(line), queues) != NULL) {
		char *rest = line;

		if (strtoul(line, &rest, 10) == number)
			pid = strtoul(rest, NULL, 10);
	}
	if (queues != NULL)
		(void)fclose(queues);
	(void)snprintf(path, sizeof(path), "/proc/%lu/comm", pid);
	file = pid != 0 ? fopen(path, "re") : NULL;
	if (file != NULL) {
		if (fgets(name, sizeof(name), file) != NULL)
			name[strcspn(name, "\n")] = '\0';
		(void)fclose(file);
	}
	if (name[0] != '\0')
		(void)snprintf(text, READER_TEXT, "%s, pid %lu", name, pid);
	else
		(void)snprintf(text, READER_TEXT, "another program");
	return text;
}

int
supervisor_open_queue(const struct supervisor *s, uint16_t number,
    struct diag *diag)
{
	int fd = queue_open(number, s->config->queue.maxlen, s->set.fail_open);
	char reader[READER_TEXT];

	if (fd == -EBUSY)
		diag_add(diag, DIAG_ERROR, NULL, 0, "queue %u is read by %s: "
		    "change queue.number, or stop it (see "
		    "/proc/net/netfilter/nfnetlink_queue)", number,
		    reader_of(number, reader));
	else if (fd == -EPERM)
		diag_add(diag, DIAG_ERROR, NULL, 0, "cannot open queue %u: needs "
		    "CAP_NET_ADMIN: run as root or through systemd", number);
	else if (fd == -EPROTONOSUPPORT)
		diag_add(diag, DIAG_ERROR, NULL, 0, "cannot open queue %u: this "
		    "kernel has no netfilter queues: load the module "
		    "nfnetlink_queue", number);
	else if (fd < 0)
		diag_add(diag, DIAG_ERROR, NULL, 0, "cannot open queue %u: %s",
		    number, strerror(-fd));
	return fd;
}

int
supervisor_start_worker(struct supervisor *s, int interrupt)
{
	struct worker_process *k = &s->worker;
	struct control_message ready;
	char text[CHILD_TEXT];
	int status = 0, error = worker_process_start(k, monotime_now());

	if (error == 0)
		error = worker_process_wait_ready(k, interrupt, READY_MS,
		    &ready, &status);
	if (error == 0) {
		atomic_store(&s->status.supervisor->worker_pid, (int32_t)k->pid);
		supervisor_note_table(s, &ready);
	} else if (error == -ECHILD)
		log_error("the worker ended with %s before it was ready%s",
		    child_end_text(status, text),
		    worker_death_text(status));
	else if (error != -EINTR)
		log_error("cannot start the worker: %s", strerror(-error));
	return error == 0 ? EXIT_OK : EXIT_ERROR;
}

/* Queues with consecutive numbers. */
struct queues {
	uint16_t number;
	size_t count;
	int fds[CONFIG_MAX_WORKERS];
};

static struct queues
queues_of(const struct supervisor *s)
{
	struct queues q = { .number = s->queue_number, .count = s->queue_count };

	memcpy(q.fds, s->queues, sizeof(q.fds));
	return q;
}

static void
use_queues(struct supervisor *s, const struct queues *q)
{
	memcpy(s->queues, q->fds, sizeof(q->fds));
	s->queue_count = q->count;
	s->queue_number = q->number;
	s->status.supervisor->queue_number = q->number;
	s->status.supervisor->queues = (uint32_t)q->count;
}

/* The one of that number, or -1. */
static int
find(const struct queues *q, uint16_t number)
{
	const size_t place = (size_t)number - q->number;

	return number >= q->number && place < q->count ? q->fds[place] : -1;
}

/* Closes those of "these" that are not among the others, and empties them before. */
static void
leave(const struct supervisor *s, const struct queues *these,
    const struct queues *others)
{
	char name[FDSTORE_NAME];

	for (size_t i = 0; i < these->count; i++) {
		const uint16_t number = (uint16_t)(these->number + i);

		if (find(others, number) >= 0)
			continue;
		if (queue_adopt(these->fds[i], number, s->config->queue.maxlen,
		    s->set.fail_open) < 0)
			log_warning("queue %u: packets that waited in it are lost",
			    number);
		fdstore_queue_name(name, number);
		fdstore_forget(name);
		(void)close(these->fds[i]);
	}
}

/* Those of the configuration, of which some are there.  0 or a negative errno. */
static int
take_queues(const struct supervisor *s, const struct queues *before,
    struct queues *now, struct diag *diag)
{
	char name[FDSTORE_NAME];
	int fd;

	*now = (struct queues){ .number = s->config->queue.number };
	while (now->count < s->config->queue.workers) {
		const uint16_t number = (uint16_t)(now->number + now->count);

		fd = find(before, number);
		if (fd >= 0) {
			/* The kernel may not confirm: it has them or keeps the old. */
			(void)!queue_adopt(fd, number, s->config->queue.maxlen,
			    s->set.fail_open);
		} else {
			fd = supervisor_open_queue(s, number, diag);
			if (fd < 0) {
				leave(s, now, before);
				return fd;
			}
			fdstore_queue_name(name, number);
			(void)!fdstore_keep(name, fd);
		}
		now->fds[now->count++] = fd;
	}
	return 0;
}

static int
begin(struct supervisor *s, const struct config *before, struct diag *diag)
{
	const struct control_message installed = { .kind = CONTROL_RULES };
	int error = supervisor_change_listeners(s, before, diag);

	if (error == 0 && supervisor_start_worker(s, -1) != EXIT_OK) {
		diag_add(diag, DIAG_ERROR, NULL, 0, "no worker starts with this "
		    "configuration: see the log before this");
		error = -EINVAL;
	}
	if (error == 0)
		error = zone_install(s, before->capture.zone !=
		    s->config->capture.zone, diag);
	if (error == 0)
		(void)!control_send(s->worker.control, &installed, NULL, 0);
	else
		worker_process_stop(&s->worker, SUPERVISOR_STOP_MS, true);
	return error;
}

int
supervisor_replace_worker(struct supervisor *s, const struct config *before,
    struct diag *diag)
{
	const struct queues old = queues_of(s);
	struct queues now;

	if (s->config->queue.workers + 2 > s->status.worker_slots) {
		diag_add(diag, DIAG_ERROR, NULL, 0, "queue.workers: %u are more "
		    "than the CPUs that this machine can have, which needs a "
		    "restart: choose fewer, or restart nfdnsd",
		    s->config->queue.workers);
		return -EINVAL;
	}
	if (take_queues(s, &old, &now, diag) < 0)
		return -EINVAL;
	use_queues(s, &now);
	if (begin(s, before, diag) < 0) {
		use_queues(s, &old);
		leave(s, &now, &old);
		return -EINVAL;
	}
	leave(s, &old, &now);
	monitor_worker_ready(s, monotime_now());
	clients_worker_ready(s);
	return 0;
}
