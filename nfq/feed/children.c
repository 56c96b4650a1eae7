/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/feed/children.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nfq/process/child.h"
#include "policy/log.h"

#define SEEN_MS		60000		/* for after a reboot: as old it may be */
#define REPORT_MS	1000		/* a status file is not written more often */

static void
free_child(struct feed_child *c)
{
	if (c->stop >= 0)
		(void)close(c->stop);
	if (c->page != NULL)
		(void)munmap(c->page, sizeof(*c->page));
}

static int
add_child(struct children *children, const struct feed_config *feed)
{
	struct feed_child *grown = reallocarray(children->list,
	    children->count + 1, sizeof(*grown)), *c;

	if (grown == NULL)
		return -ENOMEM;
	children->list = grown;
	c = &grown[children->count];
	*c = (struct feed_child){ .feed = feed, .stop = -1,
		.delay_ms = CHILDREN_RESTART_MS };
	(void)snprintf(c->name, sizeof(c->name), "%s", feed->name);
	c->page = mmap(NULL, sizeof(*c->page), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->page == MAP_FAILED)
		return -ENOMEM;
	c->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->stop < 0) {
		const int error = -errno;

		free_child(c);
		return error;
	}
	children->count++;
	/* Of a process before this one: the table's age goes on. */
	(void)!feed_status_read(&c->report, children->config->run_dir, c->name);
	return 0;
}

/* Whether a feed of that name is wanted. */
static bool
is_wanted(const struct children *children, const char *name)
{
	for (size_t i = 0; i < children->config->feed_count; i++)
		if (strcmp(children->config->feeds[i].name, name) == 0)
			return true;
	return false;
}

static void
remove_child(struct children *children, struct feed_child *c)
{
	if (!is_wanted(children, c->name))
		feed_status_remove(children->config->run_dir, c->name);
	free_child(c);
	*c = children->list[--children->count];
}

/* Those that are not wanted and whose process has ended before that. */
static void
remove_idle(struct children *children)
{
	for (size_t i = children->count; i-- > 0;)
		if (children->list[i].feed == NULL &&
		    children->list[i].pid == 0)
			remove_child(children, &children->list[i]);
}

static void
ask_to_end(struct feed_child *c, monotime_t now)
{
	const uint64_t one = 1;

	c->feed = NULL;
	if (c->pid == 0 || c->stopping)
		return;
	(void)!write(c->stop, &one, sizeof(one));
	c->stopping = true;
	c->next = monotime_add_ms(now, CHILDREN_STOP_MS);
}

/* The feed of the new configuration that says the same as the child's. */
static const struct feed_config *
find_same(const struct feeds_config *config, const struct feed_child *c)
{
	for (size_t i = 0; c->feed != NULL && i < config->feed_count; i++)
		if (feed_config_same(&config->feeds[i], c->feed))
			return &config->feeds[i];
	return NULL;
}

static bool
has_child(const struct children *children, const struct feed_config *feed)
{
	for (size_t i = 0; i < children->count; i++)
		if (children->list[i].feed == feed)
			return true;
	return false;
}

int
children_want(struct children *children, const struct feeds_config *config,
    bool all, monotime_t now)
{
	int error = 0;

	for (size_t i = 0; i < children->count; i++) {
		struct feed_child *c = &children->list[i];
		const struct feed_config *same = all ? NULL :
		    find_same(config, c);

		if (same != NULL)
			c->feed = same;
		else
			ask_to_end(c, now);
	}
	children->config = config;
	remove_idle(children);
	for (size_t i = 0; i < config->feed_count && error == 0; i++)
		if (!has_child(children, &config->feeds[i]))
			error = add_child(children, &config->feeds[i]);
	return error;
}

/* Whether a process that is to end still has the files of that name. */
static bool
is_taken(const struct children *children, const char *name)
{
	for (size_t i = 0; i < children->count; i++)
		if (children->list[i].pid != 0 &&
		    strcmp(children->list[i].name, name) == 0)
			return true;
	return false;
}

static void
start_child(const struct children *children, struct feed_child *c,
    monotime_t now)
{
	const pid_t parent = getpid();
	const pid_t pid = fork();

	if (pid == 0)
		feed_child_become(children->config, c->feed, c->page, c->stop,
		    parent);
	if (pid < 0) {
		log_error("feed %s: cannot start its process: %s", c->name,
		    strerror(errno));
		c->next = monotime_add_ms(now, CHILDREN_RESTART_MAX_MS);
		return;
	}
	c->pid = pid;
	c->started = c->heard = now;
	atomic_store(&c->page->changed, true);
}

/* One that hangs, or was stopped, is not there; it can only be killed. */
static void
listen(struct feed_child *c, bool was_away, monotime_t now)
{
	const unsigned int ticks = atomic_load(&c->page->ticks);

	if (ticks != c->ticks || was_away)
		c->heard = now;
	c->ticks = ticks;
	if (c->pid == 0 || c->stopping ||
	    monotime_ms_since(now, c->heard) < CHILDREN_HUNG_MS)
		return;
	log_error("feed %s: its process has given no sign of life for %d s: it "
	    "is killed, and another one starts", c->name,
	    CHILDREN_HUNG_MS / 1000);
	(void)kill(c->pid, SIGKILL);
	/* Until it is gone, which a disk that hangs may delay. */
	c->heard = now;
}

void
children_tick(struct children *children, monotime_t now)
{
	const bool was_away = monotime_is_set(children->ticked) &&
	    monotime_ms_since(now, children->ticked) > CHILDREN_AWAY_MS;

	children->ticked = now;
	for (size_t i = 0; i < children->count; i++)
		listen(&children->list[i], was_away, now);
	for (size_t i = 0; i < children->count; i++) {
		struct feed_child *c = &children->list[i];

		if (!monotime_is_past(now, c->next))
			continue;
		if (c->stopping)
			(void)kill(c->pid, SIGKILL);
		else if (c->pid == 0 && c->feed != NULL &&
		    !is_taken(children, c->name))
			start_child(children, c, now);
	}
}

static void
note_death(struct feed_child *c, int wait_status, monotime_t now)
{
	char text[CHILD_TEXT];

	if (monotime_ms_since(now, c->started) >= CHILDREN_STEADY_MS)
		c->delay_ms = CHILDREN_RESTART_MS;
	log_error("feed %s: its process has ended (%s): the next one starts in "
	    "%d s; the table stays in use", c->name,
	    child_end_text(wait_status, text), c->delay_ms / 1000);
	c->next = monotime_add_ms(now, c->delay_ms);
	c->delay_ms = c->delay_ms * 2 < CHILDREN_RESTART_MAX_MS ?
	    c->delay_ms * 2 : CHILDREN_RESTART_MAX_MS;
	c->report.restarts++;
	c->page->status.connected = false;
	c->page->status.since = (int64_t)time(NULL);
	atomic_store(&c->page->changed, true);
}

void
children_ended(struct children *children, pid_t pid, int wait_status,
    monotime_t now)
{
	for (size_t i = 0; i < children->count; i++) {
		struct feed_child *c = &children->list[i];

		if (c->pid != pid)
			continue;
		c->pid = 0;
		if (c->feed == NULL)
			remove_child(children, c);
		else
			note_death(c, wait_status, now);
		return;
	}
}

/* /run is gone after a reboot, but a table is not older for that. */
static void
keep_seen(struct feed_child *c, const char *state_dir, monotime_t now)
{
	if (!c->report.status.connected || (monotime_is_set(c->seen) &&
	    monotime_ms_since(now, c->seen) < SEEN_MS))
		return;
	c->seen = now;
	/* What cannot be kept there is said with the table. */
	(void)!feed_status_seen(state_dir, c->name, c->report.current);
}

/* "now": seconds of the same clock that the child's times are of. */
static void
fill_report(struct feed_child *c, int64_t now, monotime_t monotime)
{
	struct feed_report *r = &c->report;

	r->status = c->page->status;
	r->kept = c->page->kept;
	(void)snprintf(r->type, sizeof(r->type), "%s",
	    feed_config_type_name(c->feed->type));
	r->written = now;
	r->running = c->pid != 0;
	if (r->running && monotime_ms_since(monotime, c->heard) >=
	    CHILDREN_SILENT_MS)
		r->running = r->status.connected = false;
	if (r->status.connected && r->status.last_life > r->current)
		r->current = r->status.last_life;
	/* The time of day was set back: what lies ahead would never be old. */
	if (r->current > now)
		r->current = now;
}

void
children_report(struct children *children, monotime_t now)
{
	for (size_t i = 0; i < children->count; i++) {
		struct feed_child *c = &children->list[i];
		const int64_t age = monotime_ms_since(now, c->written);
		int error;

		if (c->feed == NULL || (age < REPORT_MS &&
		    monotime_is_set(c->written)))
			continue;
		if (!atomic_exchange(&c->page->changed, false) &&
		    age < (int64_t)FEED_STATUS_BEAT_S * 1000)
			continue;
		fill_report(c, (int64_t)time(NULL), now);
		error = feed_status_write(&c->report,
		    children->config->run_dir, c->name);
		if (error < 0 && monotime_is_set(c->written))
			log_debug("feed %s: cannot write its status file: %s",
			    c->name, strerror(-error));
		else if (error < 0)
			log_warning("feed %s: cannot write its status file in "
			    "run_dir \"%s\": %s: make it writable for the user "
			    "of nfdns-feed", c->name,
			    children->config->run_dir, strerror(-error));
		c->written = now;
		keep_seen(c, children->config->state_dir, now);
	}
}

int
children_timeout(const struct children *children, monotime_t now)
{
	int least = REPORT_MS;

	for (size_t i = 0; i < children->count; i++) {
		const struct feed_child *c = &children->list[i];
		int left = monotime_poll_timeout(now, c->next);

		if ((c->stopping || c->pid == 0) && left < least && left > 0)
			least = left;
	}
	return least;
}

void
children_stop(struct children *children)
{
	const monotime_t end = monotime_add_ms(monotime_now(),
	    CHILDREN_STOP_MS);

	for (size_t i = 0; i < children->count; i++)
		ask_to_end(&children->list[i], monotime_now());
	for (size_t i = 0; i < children->count; i++) {
		struct feed_child *c = &children->list[i];
		int status;

		while (c->pid != 0 && waitpid(c->pid, &status, WNOHANG) == 0 &&
		    !monotime_is_past(monotime_now(), end))
			(void)nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
		if (c->pid != 0) {
			(void)kill(c->pid, SIGKILL);
			(void)child_reap(c->pid, &status);
		}
		free_child(c);
	}
	free(children->list);
	children->list = NULL;
	children->count = 0;
}
