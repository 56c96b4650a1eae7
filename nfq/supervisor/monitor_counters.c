/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters that only the kernel has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/queue/queue.h"
#include "nfq/supervisor/parts.h"

/* Columns of /proc/net/netfilter/nfnetlink_queue (nfqnl seq_show()). */
enum { COLUMN_NUMBER = 0, COLUMN_WAITING = 2, COLUMN_DROPPED = 5,
	COLUMN_USER_DROPPED = 6, COLUMNS = 7 };

/* The kernel's counters of our queues. */
struct queue_numbers {
	uint64_t dropped;		/* packets of all, since they were bound */
	uint32_t waiting[CONFIG_MAX_WORKERS + 1];	/* of each, without verdict */
};

/*
 * From the sockets: packets that a full socket dropped, and about how many are
 * unread.  A supervisor that is not root may not read the kernel's list.
 */
static void
ask_sockets(const struct supervisor *s, struct queue_numbers *numbers)
{
	for (size_t i = 0; i < s->queue_count; i++) {
		uint32_t octets, drops;

		if (queue_backlog(s->queues[i], &octets, &drops) < 0)
			continue;
		numbers->dropped += drops;
		numbers->waiting[i] = queue_packets_of(octets);
	}
}

/* All zero if they cannot be read. */
static void
read_queues(const struct supervisor *s, struct queue_numbers *numbers)
{
	FILE *file = fopen("/proc/net/netfilter/nfnetlink_queue", "re");
	char line[256];

	memset(numbers, 0, sizeof(*numbers));
	if (file == NULL) {
		ask_sockets(s, numbers);
		return;
	}
	while (fgets(line, sizeof(line), file) != NULL) {
		uint64_t column[COLUMNS] = { 0 };
		uint64_t n;
		char *p = line;

		for (size_t i = 0; i < COLUMNS; i++)
			column[i] = strtoull(p, &p, 10);
		n = column[COLUMN_NUMBER] - s->config->queue.number;
		if (n >= s->queue_count)
			continue;	/* another program's */
		numbers->waiting[n] = (uint32_t)column[COLUMN_WAITING];
		numbers->dropped += column[COLUMN_DROPPED] +
		    column[COLUMN_USER_DROPPED];
	}
	(void)fclose(file);
}

static void
show_counters(struct supervisor *s, const struct queue_numbers *numbers)
{
	struct status_supervisor *page = s->status.supervisor;
	uint64_t packets[RULES_COUNTERS];

	if (rules_kernel_counters(s->kernel, packets) == 0) {
		atomic_store(&page->rule_packets, packets[COUNTER_QUESTIONS]);
		atomic_store(&page->surplus, packets[COUNTER_SURPLUS]);
		atomic_store(&page->streams_passed,
		    packets[COUNTER_STREAMS_FULL]);
	}
	for (size_t i = 0; i < s->queue_count; i++)
		atomic_store(&page->queue_waiting[i], numbers->waiting[i]);
	if (numbers->dropped > 0)
		atomic_store(&page->queue_dropped, numbers->dropped);
}

void
monitor_counters_tick(struct supervisor *s)
{
	struct queue_numbers numbers;

	read_queues(s, &numbers);
	show_counters(s, &numbers);
}
