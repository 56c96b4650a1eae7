/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/progress.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* The only progress line; shared by the thread that shows it and its starter. */
static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	const char *what;
	bool started, stop;
} progress = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wake = PTHREAD_COND_INITIALIZER,
};

/* Without stdio: the main thread may fork(2) while its lock is held. */
static void
show(const char *text, int length)
{
	if (length > 0)
		(void)!write(STDERR_FILENO, text, (size_t)length);
}

static void *
run(void *unused)
{
	struct timespec next;
	unsigned int seconds = 0;

	(void)unused;
	(void)clock_gettime(CLOCK_REALTIME, &next);
	(void)pthread_mutex_lock(&progress.lock);
	while (!progress.stop) {
		char text[200];

		next.tv_sec++;
		while (!progress.stop && pthread_cond_timedwait(&progress.wake,
		    &progress.lock, &next) == 0)
			continue;
		if (progress.stop)
			break;
		show(text, snprintf(text, sizeof(text), "\rnfdns: %.100s: %u s",
		    progress.what, ++seconds));
	}
	if (seconds > 0)
		show("\r\033[K", 4);	/* ECMA-48: erase to the end of the line */
	(void)pthread_mutex_unlock(&progress.lock);
	return NULL;
}

void
progress_start(const char *what)
{
	if (!isatty(STDERR_FILENO))
		return;
	progress.what = what;
	progress.stop = false;
	progress.started = pthread_create(&progress.thread, NULL, run,
	    NULL) == 0;
}

void
progress_stop(void)
{
	if (!progress.started)
		return;
	(void)pthread_mutex_lock(&progress.lock);
	progress.stop = true;
	(void)pthread_cond_signal(&progress.wake);
	(void)pthread_mutex_unlock(&progress.lock);
	(void)pthread_join(progress.thread, NULL);
	progress.started = false;
}
