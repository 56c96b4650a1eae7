/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When the image in use is written to state_dir/last.image. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nfq/supervisor/parts.h"
#include "policy/log.h"

/* From the start of one write to that of the next: a large image is 100 MB. */
#define EVERY_MS	60000
#define STOP_MS		2000	/* that the end of the daemon waits for one */

static void
begin(struct supervisor *s, monotime_t now)
{
	struct kept_image *k = &s->kept;

	k->next = monotime_add_ms(now, EVERY_MS);
	k->pid = last_image_write(s->config, s->generation.image);
	if (k->pid > 0)
		k->wanted = false;
}

/* A process that wrote has ended. */
static void
ended(struct supervisor *s, int status)
{
	struct kept_image *k = &s->kept;
	const int error = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
	const bool had = k->problem[0] != '\0';

	k->pid = 0;
	k->wanted |= error != 0;
	if (error == 0)
		k->problem[0] = '\0';
	else
		(void)snprintf(k->problem, sizeof(k->problem), "%s/" LAST_IMAGE
		    " cannot be written: %s: without it a start whose tables or "
		    "lists are broken has nothing to use: mend that, or name "
		    "another state_dir", s->config->state_dir, strerror(error));
	if (had == (error != 0))
		return;
	if (error != 0)
		log_warning("%s", k->problem);
	else
		log_notice("%s/" LAST_IMAGE " can be written again",
		    s->config->state_dir);
	supervisor_show_state(s);
}

void
keep_image(struct supervisor *s)
{
	s->kept.wanted = true;
}

void
keep_image_tick(struct supervisor *s, monotime_t now)
{
	struct kept_image *k = &s->kept;
	int status;

	if (k->pid > 0 && waitpid(k->pid, &status, WNOHANG) == k->pid)
		ended(s, status);
	if (k->pid <= 0 && k->wanted && monotime_is_past(now, k->next))
		begin(s, now);
}

/* Waits until nobody writes.  False: the disk takes too long, or does not answer. */
static bool
wait_for_end(struct kept_image *k)
{
	struct pollfd wait = { .events = POLLIN };
	int status, ready;

	if (k->pid <= 0)
		return true;
	wait.fd = pidfd_open(k->pid, 0);
	ready = wait.fd < 0 ? 0 : poll(&wait, 1, STOP_MS);
	if (wait.fd >= 0)
		(void)close(wait.fd);
	if (ready != 1)
		(void)kill(k->pid, SIGKILL);
	(void)waitpid(k->pid, &status, WNOHANG);
	k->pid = 0;
	return ready == 1;
}

void
keep_image_stop(struct supervisor *s)
{
	struct kept_image *k = &s->kept;
	bool done = wait_for_end(k);

	if (done && k->wanted) {
		begin(s, monotime_now());
		done = wait_for_end(k);
	}
	if (!done)
		log_warning("%s/" LAST_IMAGE " is not written: the disk takes "
		    "more than %d s", s->config->state_dir, STOP_MS / 1000);
}
