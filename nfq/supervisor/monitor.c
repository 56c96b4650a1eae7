/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Once a tick: the numbers that only the kernel knows go to the status page, a
 * canary flies every few seconds, and the service manager's watchdog is
 * answered only if the last one came home.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/process/notify.h"
#include "nfq/queue/queue.h"
#include "nfq/process/diag_print.h"
#include "nfq/supervisor/parts.h"
#include "policy/log.h"
#include "resolver/dns/name.h"

#define TICK_MS		1000
#define CANARY_EVERY_MS	5000
#define CANARY_WAIT_MS	2000
#define VERIFY_EVERY_MS	10000

/* Columns of /proc/net/netfilter/nfnetlink_queue (nfqnl seq_show()). */
enum { COLUMN_NUMBER = 0, COLUMN_DROPPED = 5,
	COLUMN_USER_DROPPED = 6, COLUMNS = 7 };

/* What the kernel says about our queues. */
struct queue_numbers {
	uint64_t dropped;		/* packets of all, since they were bound */
};

void
monitor_start(struct supervisor *s)
{
	struct monitor *h = &s->monitor;
	const int64_t now = supervisor_now_ms();

	h->canary.fd = -1;
	h->watchdog_ms = (int64_t)(notify_watchdog_usec() / 1000);
	h->tick_ms = TICK_MS;
	/* Twice within its patience, and a canary before each. */
	if (h->watchdog_ms > 0 && h->watchdog_ms / 4 < h->tick_ms)
		h->tick_ms = h->watchdog_ms / 4 > 0 ? h->watchdog_ms / 4 : 1;
	h->answered_ms = now;		/* the start had its canary */
	h->next_canary_ms = now + h->tick_ms;
	h->next_verify_ms = now + VERIFY_EVERY_MS;
	(void)resolv_conf_read(&h->resolv_conf, RESOLV_CONF_PATH);
}

/*
 * What the sockets tell, for a supervisor that is not root and may not read the
 * kernel's list: what a full socket dropped.
 */
static void
ask_sockets(const struct supervisor *s, struct queue_numbers *numbers)
{
	for (size_t i = 0; i < s->queue_count; i++) {
		uint32_t octets, drops;

		if (queue_backlog(s->queues[i], &octets, &drops) == 0)
			numbers->dropped += drops;
	}
}

/* All zero if the kernel does not say. */
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
	if (numbers->dropped > 0)
		atomic_store(&page->queue_dropped, numbers->dropped);
}

static void
canary_home(struct supervisor *s, int error)
{
	struct monitor *h = &s->monitor;

	canary_close(&h->canary);
	if (error == 0) {
		h->answered_ms = supervisor_now_ms();
		if (h->unanswered)
			log_notice("the canary question is answered again");
	} else if (!h->unanswered) {
		log_error("the canary question is not answered: %s",
		    strerror(-error));
	}
	if (h->unanswered != (error != 0)) {
		h->unanswered = error != 0;
		supervisor_show_state(s);
	}
}

void
monitor_canary_ready(struct supervisor *s)
{
	int error = canary_receive(&s->monitor.canary);

	if (error != -EAGAIN)
		canary_home(s, error);
}

static void
send_canary(struct supervisor *s, int64_t now)
{
	struct monitor *h = &s->monitor;
	int error;

	h->next_canary_ms = now + (h->watchdog_ms > 0 &&
	    h->watchdog_ms / 4 < CANARY_EVERY_MS ? h->watchdog_ms / 4 :
	    CANARY_EVERY_MS);
	h->canary_sent_ms = now;
	error = canary_send(&h->canary, s->config, &s->canary_sockets);
	if (error < 0)
		canary_home(s, error);
}

static void
fly_canary(struct supervisor *s, int64_t now)
{
	struct monitor *h = &s->monitor;

	if (h->canary.fd < 0) {
		if (now >= h->next_canary_ms)
			send_canary(s, now);
	} else if (now - h->canary_sent_ms >= CANARY_WAIT_MS) {
		canary_home(s, -ETIMEDOUT);
	}
}

/*
 * One that is still under way was the last worker's: it may have been let go on
 * to the nameserver, and says nothing of this worker.
 */
void
monitor_worker_ready(struct supervisor *s)
{
	canary_close(&s->monitor.canary);
	send_canary(s, supervisor_now_ms());
}

static void
answer_watchdog(struct supervisor *s, int64_t now)
{
	struct monitor *h = &s->monitor;

	if (h->watchdog_ms == 0 || now < h->next_watchdog_ms ||
	    now - h->answered_ms >= h->watchdog_ms)
		return;
	h->next_watchdog_ms = now + h->watchdog_ms / 2 - h->tick_ms;
	(void)notify("WATCHDOG=1");
}

/* The table without the owner flag can be flushed by any other program. */
static void
check_rules(struct supervisor *s)
{
	struct monitor *h = &s->monitor;
	struct diag diag = DIAG_INIT;
	int error = rules_kernel_verify(s->kernel, &s->set, &diag);

	if (error == -ENOENT) {
		diag_free(&diag);
		error = zone_install(s, s->set.zone != 0, &diag);
		if (error == 0)
			log_warning("table inet nfdns was gone: somebody "
			    "flushed the rules; put in again");
		else
			diag_log(&diag);
	} else if (error == -ENOTUNIQ && !h->differs) {
		log_warning("somebody changed table inet nfdns: nfdns rules "
		    "verify tells how, a restart puts it right");
	}
	h->differs = error == -ENOTUNIQ;
	diag_free(&diag);
	monitor_streams(s, supervisor_now_ms(), false);
	supervisor_watch_routes(s);
}

static bool
same_search(const struct dns_name *a, size_t a_count, const struct dns_name *b,
    size_t b_count)
{
	if (a_count != b_count)
		return false;
	for (size_t i = 0; i < a_count; i++)
		if (!name_equal(&a[i], &b[i]))
			return false;
	return true;
}

/* The search list is compiled into the table, unless the config has one. */
void
monitor_resolv_conf(struct supervisor *s)
{
	struct resolv_conf now, *before = &s->monitor.resolv_conf;
	const struct mesh *mesh = &s->config->mesh;
	bool is_ours, same;

	if (resolv_conf_read(&now, RESOLV_CONF_PATH) < 0)
		return;			/* being replaced: the next tick sees it */
	is_ours = same_search(mesh->search, mesh->search_count,
	    before->search, before->search_count);
	same = same_search(now.search, now.search_count,
	    before->search, before->search_count);
	*before = now;
	if (is_ours && !same) {
		log_notice("the search list of %s changed: reloading",
		    RESOLV_CONF_PATH);
		reload_begin(s, RELOAD_TABLES);
	}
}

void
monitor_tick(struct supervisor *s)
{
	const int64_t now = supervisor_now_ms();
	struct queue_numbers numbers;

	if (now < s->monitor.next_tick_ms)
		return;
	s->monitor.next_tick_ms = now + s->monitor.tick_ms;
	read_queues(s, &numbers);
	reload_tick(s);
	show_counters(s, &numbers);
	monitor_streams(s, now, true);
	fly_canary(s, now);
	answer_watchdog(s, now);
	if (s->watch == NULL)
		monitor_resolv_conf(s);
	if (now >= s->monitor.next_verify_ms) {
		s->monitor.next_verify_ms = now + VERIFY_EVERY_MS;
		check_rules(s);
	}
}
