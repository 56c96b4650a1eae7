/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The monitor, every concern of it, by a clock of the test's own.  The kernel's
 * rules and queues, the canary's sockets and resolv.conf are the test's; the
 * service manager's socket is real.
 */
#include "nfq/supervisor/monitor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "nfq/queue/queue.h"
#include "nfq/supervisor/parts.h"
#include "policy/log.h"
#include "resolver/dns/name.h"
#include "tests/check.h"

#define START		1000000		/* milliseconds */
#define TICK_MS		1000
#define CANARY_MS	5000		/* between canaries */
#define ROOM		1000		/* in a set of TCP connections */

static struct config config;
static struct status_supervisor page;
static struct status_worker worker;
static struct supervisor s;
static struct resolv_conf resolv_conf;
static int resolv_error;

/* What the kernel and the nameserver do, and what they were asked. */
static struct {
	int send_error, answer;		/* of canaries; -EAGAIN: none yet */
	bool answers;			/* each canary, in tick() */
	unsigned int sent, closed;
	int verify, install;		/* errors */
	enum rules_state state;
	unsigned int verified, installed, routes;
	int counter_error, streams_error;
	uint64_t passed;		/* streams that found no room */
	uint32_t streams;
	unsigned int counted;		/* streams, not cheaply */
	const char *proc;		/* nfnetlink_queue; NULL: not readable */
	int backlog_error;
	unsigned int shown;		/* states */
} world;

int
canary_send(struct canary *c, const struct config *cfg)
{
	CHECK(c->fd < 0 && cfg == &config);
	world.sent++;
	if (world.send_error == 0)
		c->fd = 1000;
	return world.send_error;
}

int
canary_receive(struct canary *c)
{
	CHECK(c->fd == 1000);
	return world.answer;
}

void
canary_close(struct canary *c)
{
	world.closed += c->fd >= 0;
	c->fd = -1;
}

int
rules_kernel_verify(struct rules_kernel *kernel, enum rules_state *state,
    struct diag *diag)
{
	CHECK(kernel == NULL);
	world.verified++;
	*state = world.state;
	if (world.state != RULES_EQUAL)
		diag_add(diag, DIAG_ERROR, NULL, 0, "as the test wants it");
	return world.verify;
}

int
zone_install(struct supervisor *of, bool change, struct diag *diag)
{
	CHECK(of == &s && diag->errors == 0);
	(void)change;
	world.installed++;
	return world.install;
}

int
rules_kernel_counters(struct rules_kernel *kernel,
    uint64_t packets[static RULES_COUNTERS])
{
	CHECK(kernel == NULL);
	for (size_t i = 0; i < RULES_COUNTERS; i++)
		packets[i] = 0;
	packets[COUNTER_QUESTIONS] = 42;
	packets[COUNTER_STREAMS_FULL] = world.passed;
	return world.counter_error;
}

int
rules_kernel_streams(struct rules_kernel *kernel, bool cheap,
    uint32_t counts[static 2])
{
	CHECK(kernel == NULL);
	world.counted += !cheap;
	counts[0] = 1;
	counts[1] = world.streams;
	return world.streams_error;
}

int
queue_backlog(int fd, uint32_t *octets, uint32_t *drops)
{
	*octets = (uint32_t)(fd - 5) * 832 * 7;
	*drops = (uint32_t)fd;
	return world.backlog_error;
}

void
supervisor_show_state(struct supervisor *of)
{
	CHECK(of == &s);
	world.shown++;
}

void
supervisor_retry_listeners(struct supervisor *of)
{
	CHECK(of == &s);
}

void
supervisor_look_at_cgroups(struct supervisor *of)
{
	CHECK(of == &s);
}

void
supervisor_watch_routes(struct supervisor *of)
{
	CHECK(of == &s);
	world.routes++;
}

int
resolv_conf_read(struct resolv_conf *conf, const char *path)
{
	CHECK(strcmp(path, RESOLV_CONF_PATH) == 0);
	*conf = resolv_conf;
	return resolv_error;
}

/* Only the monitor opens files in this program. */
FILE *
fopen(const char *path, const char *mode)
{
	CHECK(strcmp(path, "/proc/net/netfilter/nfnetlink_queue") == 0);
	CHECK(mode[0] == 'r');
	return world.proc != NULL ? fmemopen((void *)(uintptr_t)world.proc,
	    strlen(world.proc), "r") : NULL;
}

static monotime_t
at(int64_t ms)
{
	return monotime_from_ms(START + ms);
}

static void
begin(void)
{
	memset(&world, 0, sizeof(world));
	memset(&page, 0, sizeof(page));
	memset(&s, 0, sizeof(s));
	memset(&resolv_conf, 0, sizeof(resolv_conf));
	memset(&config, 0, sizeof(config));
	resolv_error = 0;
	world.answer = -EAGAIN;
	config.queue.number = 5300;
	s.config = &config;
	s.status.supervisor = &page;
	s.status.workers = &worker;
	s.set.streams_max = ROOM;
	monitor_start(&s, at(0));
}

static void
answer(int error, int64_t ms)
{
	world.answer = error;
	monitor_canary_ready(&s, at(ms));
	world.answer = -EAGAIN;
}

/* Ticks every LIFE_LOOK_MS, as the loop does; the wishes of all of them. */
static unsigned int
tick(int64_t from, int64_t to)
{
	unsigned int wishes = 0;

	from = (from + LIFE_LOOK_MS - 1) / LIFE_LOOK_MS * LIFE_LOOK_MS;
	for (int64_t ms = from; ms < to; ms += LIFE_LOOK_MS) {
		wishes += monitor_tick(&s, at(ms)) != RELOAD_NOTHING;
		if (world.answers && s.monitor.canary.canary.fd >= 0)
			answer(0, ms);
	}
	return wishes;
}

TEST(a_canary_every_five_seconds)
{
	begin();
	(void)tick(0, TICK_MS);
	CHECK(world.sent == 0);		/* the start had one */
	for (unsigned int n = 1; n < 10; n++) {
		const int64_t ms = TICK_MS + (n - 1) * CANARY_MS;

		(void)tick(ms, ms + 1);
		CHECK(world.sent == n);
		answer(-EAGAIN, ms + 1);
		CHECK(world.closed == n - 1);
		answer(0, ms + 2);
		CHECK(world.closed == n);
		(void)tick(ms + LIFE_LOOK_MS, ms + CANARY_MS);
		CHECK(world.sent == n && world.closed == n);
	}
	CHECK(world.shown == 0 && !s.monitor.canary.unanswered);
}

TEST(an_unanswered_canary_shows_until_one_is_answered)
{
	begin();
	(void)tick(0, TICK_MS + 2000);
	CHECK(world.sent == 1 && world.closed == 0 && world.shown == 0);
	(void)tick(TICK_MS + 2000, TICK_MS + 2001);
	CHECK(world.closed == 1 && world.shown == 1);
	CHECK(s.monitor.canary.unanswered);
	/* The next one too: nothing new. */
	(void)tick(TICK_MS + 2001, 10000);
	CHECK(world.sent == 2 && world.closed == 2 && world.shown == 1);
	(void)tick(10000, 12000);
	CHECK(world.sent == 3);
	answer(0, 12000);
	CHECK(world.shown == 2 && !s.monitor.canary.unanswered);
	CHECK(monotime_ms_since(s.monitor.canary.answered, at(0)) == 12000);
}

TEST(a_canary_that_others_answer_or_refuse_is_unanswered)
{
	begin();
	(void)tick(0, TICK_MS + 1);
	answer(-EPROTO, TICK_MS + 1);
	CHECK(world.closed == 1 && world.shown == 1);
	CHECK(s.monitor.canary.unanswered);
	/* Nothing is under way: its descriptor was readable all the same. */
	answer(0, TICK_MS + 2);
	CHECK(s.monitor.canary.unanswered);
	world.send_error = -EPERM;
	(void)tick(TICK_MS + 2, 7000);
	CHECK(world.sent == 2 && world.closed == 1 && world.shown == 1);
	CHECK(monotime_ms_since(s.monitor.canary.answered, at(0)) == 0);
}

TEST(a_new_worker_is_asked_at_once)
{
	begin();
	(void)tick(0, TICK_MS + 1);
	CHECK(world.sent == 1);
	monitor_worker_ready(&s, at(1500));
	CHECK(world.sent == 2 && world.closed == 1);
	answer(0, 1600);
	(void)tick(1600, 1500 + CANARY_MS);
	CHECK(world.sent == 2);
	(void)tick(1500 + CANARY_MS, 1500 + CANARY_MS + TICK_MS);
	CHECK(world.sent == 3);
	monitor_stop(&s);
	monitor_stop(&s);
	CHECK(world.closed == 3 && s.monitor.canary.canary.fd < 0);
}

/* How many times the service manager was answered since it was last asked. */
static unsigned int
watchdog_answers(int manager)
{
	char text[64] = "";
	unsigned int count = 0;

	while (recv(manager, text, sizeof(text) - 1, MSG_DONTWAIT) > 0) {
		CHECK(strcmp(text, "WATCHDOG=1") == 0);
		count++;
	}
	return count;
}

static int
service_manager(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(address);
	char name[128];
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	/* A name of the kernel's choice, five octets behind a zero one. */
	CHECK(bind(fd, (const struct sockaddr *)&address,
	    sizeof(address.sun_family)) == 0);
	CHECK(getsockname(fd, (struct sockaddr *)&address, &size) == 0);
	(void)snprintf(name, sizeof(name), "@%.*s", (int)(size -
	    sizeof(address.sun_family) - 1), address.sun_path + 1);
	(void)setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

TEST(the_watchdog_is_answered_while_canaries_are)
{
	const int manager = service_manager();
	const int64_t ms = 40000;

	(void)setenv("WATCHDOG_USEC", "8000000", 1);
	begin();
	CHECK(s.monitor.watchdog.patience_ms == 8000);
	CHECK(s.monitor.canary.interval_ms == 2000);
	world.answers = true;
	(void)tick(0, ms);
	CHECK(watchdog_answers(manager) >= ms / 4000);
	world.answers = false;
	(void)tick(ms, ms + 8000);
	CHECK(watchdog_answers(manager) <= 3);
	(void)tick(ms + 8000, ms + 40000);
	CHECK(watchdog_answers(manager) == 0);
	monitor_worker_ready(&s, at(ms + 40000));
	answer(0, ms + 40000);
	(void)tick(ms + 40000, ms + 41000);
	CHECK(watchdog_answers(manager) == 1);
	(void)close(manager);
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("WATCHDOG_USEC");
}

TEST(the_tick_suits_the_watchdog)
{
	begin();
	CHECK(s.monitor.tick_ms == TICK_MS && s.monitor.watchdog.patience_ms == 0);
	(void)setenv("WATCHDOG_USEC", "2000000", 1);
	begin();
	CHECK(s.monitor.tick_ms == 500);
	(void)setenv("WATCHDOG_USEC", "2000", 1);
	begin();
	CHECK(s.monitor.tick_ms == 1);
	(void)setenv("WATCHDOG_USEC", "18446744073709551615", 1);
	begin();
	CHECK(s.monitor.tick_ms == TICK_MS);
	CHECK(s.monitor.watchdog.patience_ms == INT32_MAX);
	(void)unsetenv("WATCHDOG_USEC");
}

TEST(rules_are_verified_every_ten_seconds)
{
	begin();
	(void)tick(0, MONITOR_RULES_MS);
	CHECK(world.verified == 0 && world.routes == 0);
	(void)tick(MONITOR_RULES_MS, 3 * MONITOR_RULES_MS + 1);
	CHECK(world.verified == 3 && world.routes == 3);
	CHECK(world.installed == 0 && !s.monitor.rules.differs);
}

TEST(rules_that_are_gone_are_installed_again)
{
	begin();
	world.state = RULES_ABSENT;
	(void)tick(0, MONITOR_RULES_MS + 1);
	CHECK(world.installed == 1);
	world.install = -EPERM;			/* in vain: again next time */
	(void)tick(MONITOR_RULES_MS + 1, 3 * MONITOR_RULES_MS + 1);
	CHECK(world.installed == 3 && !s.monitor.rules.differs);
}

TEST(rules_that_differ_are_left_alone)
{
	begin();
	world.state = RULES_DIFFER;
	(void)tick(0, 2 * MONITOR_RULES_MS + 1);
	CHECK(world.verified == 2 && s.monitor.rules.differs);
	world.verify = -EINTR;			/* not known */
	(void)tick(2 * MONITOR_RULES_MS + 1, 3 * MONITOR_RULES_MS + 1);
	CHECK(world.installed == 0 && !s.monitor.rules.differs);
}

TEST(a_full_set_of_connections_shows)
{
	begin();
	config.capture.tcp = world.answers = true;
	world.streams = ROOM * 9 / 10 - 1;
	(void)tick(0, TICK_MS);
	CHECK(!s.monitor.streams.full && world.shown == 0);
	CHECK(atomic_load(&page.streams_max) == ROOM);
	CHECK(atomic_load(&page.streams[1]) == world.streams);
	world.streams++;
	(void)tick(TICK_MS, 3 * TICK_MS);
	CHECK(s.monitor.streams.full && world.shown == 1);
	world.streams = 0;
	(void)tick(3 * TICK_MS, 4 * TICK_MS);
	CHECK(!s.monitor.streams.full && world.shown == 2);
}

/* A set may have room again when it is looked at. */
TEST(connections_without_room_show_for_five_seconds)
{
	begin();
	config.capture.tcp = world.answers = true;
	world.passed = 1;
	(void)tick(0, 5 * TICK_MS);
	CHECK(s.monitor.streams.full && world.shown == 1);
	CHECK(atomic_load(&page.streams_passed) == 1);
	(void)tick(5 * TICK_MS, 6 * TICK_MS);
	CHECK(!s.monitor.streams.full && world.shown == 2);
}

TEST(streams_are_counted_only_if_that_is_cheap)
{
	begin();
	config.capture.tcp = world.answers = true;
	world.streams = 7;
	world.streams_error = -EOPNOTSUPP;
	(void)tick(0, MONITOR_RULES_MS);
	CHECK(world.counted == 0 && atomic_load(&page.streams[1]) == 0);
	world.streams_error = 0;
	(void)tick(MONITOR_RULES_MS, MONITOR_RULES_MS + 1);
	CHECK(world.counted == 1 && atomic_load(&page.streams[1]) == 7);
	begin();				/* without TCP */
	world.streams = ROOM;
	(void)tick(0, MONITOR_RULES_MS + 1);
	CHECK(world.counted == 0 && !s.monitor.streams.full);
}

static void
set_search(struct resolv_conf *conf, const char *name)
{
	conf->search_count = 1;
	CHECK(name_from_text(&conf->search[0], name, strlen(name)) == 0);
}

TEST(another_search_list_wants_a_reload)
{
	begin();
	set_search(&resolv_conf, "a.example");
	config.mesh.search[0] = resolv_conf.search[0];
	config.mesh.search_count = 1;
	monitor_start(&s, at(0));
	CHECK(monitor_resolv_conf(&s) == RELOAD_NOTHING);
	set_search(&resolv_conf, "b.example");
	resolv_error = -ENOENT;			/* being replaced */
	CHECK(monitor_resolv_conf(&s) == RELOAD_NOTHING);
	resolv_error = 0;
	CHECK(monitor_resolv_conf(&s) == RELOAD_MACHINE);
	/* The reload takes it; if that fails, it is not tried again. */
	CHECK(monitor_resolv_conf(&s) == RELOAD_NOTHING);
	config.mesh.search[0] = resolv_conf.search[0];
	resolv_conf.search_count = 0;
	CHECK(monitor_resolv_conf(&s) == RELOAD_MACHINE);
}

TEST(a_search_list_of_the_config_stays)
{
	begin();
	CHECK(name_from_text(&config.mesh.search[0], "own.example", 11) == 0);
	config.mesh.search_count = 1;
	set_search(&resolv_conf, "a.example");
	CHECK(monitor_resolv_conf(&s) == RELOAD_NOTHING);
}

/* Forwarding may ask the nameservers of resolv.conf. */
TEST(other_nameservers_want_a_reload_where_they_are_used)
{
	begin();
	resolv_conf.server_count = 1;
	resolv_conf.servers[0].family = AF_INET;
	monitor_start(&s, at(0));
	resolv_conf.servers[0].address[3] = 1;
	CHECK(monitor_resolv_conf(&s) == RELOAD_NOTHING);
	config.machine_upstreams = true;
	CHECK(monitor_resolv_conf(&s) == RELOAD_NOTHING);
	resolv_conf.servers[0].address[3] = 2;
	CHECK(monitor_resolv_conf(&s) == RELOAD_MACHINE);
	resolv_conf.servers[0].address[15] = 1;	/* not of IPv4 */
	CHECK(monitor_resolv_conf(&s) == RELOAD_NOTHING);
	resolv_conf.server_count = 2;
	CHECK(monitor_resolv_conf(&s) == RELOAD_MACHINE);
}

TEST(counters_are_the_kernels)
{
	begin();
	s.queue_count = 2;
	world.passed = 3;
	world.proc =
	    " 5299  1 0 2 8192  9  9  77  1\n"		/* another program's */
	    " 5300  1 4 2 8192  1  2  77  1\n"
	    " 5301  1 0 2 8192 10 20  77  1\n"
	    " 5302  1 0 2 8192  9  9  77  1\n";
	(void)tick(0, 1);
	CHECK(atomic_load(&page.queue_dropped) == 33);
	CHECK(atomic_load(&page.rule_packets) == 42);
	CHECK(atomic_load(&page.streams_passed) == 3);
	CHECK(atomic_load(&page.queue_waiting[0]) == 4);
	CHECK(atomic_load(&page.queue_waiting[1]) == 0);
	/* What is not known stays what it was. */
	world.counter_error = -EINTR;
	world.passed = 4;
	world.proc = "\n";
	(void)tick(TICK_MS, TICK_MS + 1);
	CHECK(atomic_load(&page.queue_dropped) == 33);
	CHECK(atomic_load(&page.streams_passed) == 3);
}

TEST(sockets_tell_who_is_not_root)
{
	begin();
	s.queue_count = 2;
	s.queues[0] = 5;			/* drops, in this program */
	s.queues[1] = 6;
	(void)tick(0, 1);
	CHECK(atomic_load(&page.queue_dropped) == 11);
	CHECK(atomic_load(&page.queue_waiting[0]) == 0);
	CHECK(atomic_load(&page.queue_waiting[1]) == 7);
	world.backlog_error = -EOPNOTSUPP;
	s.queues[0] = 50;
	(void)tick(TICK_MS, TICK_MS + 1);
	CHECK(atomic_load(&page.queue_dropped) == 11);
	CHECK(atomic_load(&page.queue_waiting[1]) == 0);
}

int
main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	(void)unsetenv("WATCHDOG_USEC");
	(void)unsetenv("WATCHDOG_PID");
	(void)unsetenv("NOTIFY_SOCKET");
	return test_run();
}
