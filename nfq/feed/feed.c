/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/feed/feed.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nfq/feed/children.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "nfq/process/notify.h"
#include "nfq/process/sandbox.h"
#include "policy/log.h"

struct feed_parent {
	struct feeds_config *config;
	const char *path;
	struct children children;
	int signals;
	bool stop;
	int code;			/* to end with */
};

static int
open_signals(void)
{
	sigset_t ours;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)sigemptyset(&ours);
	(void)sigaddset(&ours, SIGTERM);
	(void)sigaddset(&ours, SIGINT);
	(void)sigaddset(&ours, SIGHUP);
	(void)sigaddset(&ours, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &ours, NULL) < 0)
		return -1;
	return signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* A file with an error changes nothing. */
static void
reload(struct feed_parent *p, monotime_t now)
{
	struct diag diag = DIAG_INIT;
	struct feeds_config *next, *before = p->config;
	int error = feed_config_load(&next, p->path, &diag);

	diag_log(&diag);
	diag_free(&diag);
	if (error < 0) {
		log_error("%s is not used: everything stays as it was",
		    p->path);
		return;
	}
	p->config = next;
	log_change_level(next->log_level);
	error = children_want(&p->children, next,
	    strcmp(next->state_dir, before->state_dir) != 0 ||
	    strcmp(next->run_dir, before->run_dir) != 0, now);
	feed_config_free(before);
	if (error < 0)
		log_error("not every feed can be started: %s",
		    strerror(-error));
	else
		log_notice("%s is in force", p->path);
}

static void
take_deaths(struct feed_parent *p, monotime_t now)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		children_ended(&p->children, pid, status, now);
}

static void
take_signals(struct feed_parent *p, monotime_t now)
{
	struct signalfd_siginfo info;

	while (read(p->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			take_deaths(p, now);
		else if (info.ssi_signo == SIGHUP)
			reload(p, now);
		else
			p->stop = true;
	}
}

static void
loop_once(struct feed_parent *p)
{
	struct pollfd wait = { .fd = p->signals, .events = POLLIN };
	monotime_t now = monotime_now();

	children_tick(&p->children, now);
	children_report(&p->children, now);
	if (poll(&wait, 1, children_timeout(&p->children, now)) > 0)
		take_signals(p, monotime_now());
}

static int
start(struct feed_parent *p)
{
	int error = sandbox_feed_parent();

	if (error == -EPERM)
		log_error("this needs no privilege and refuses to run with "
		    "any: start nfdns-feed.service, or run it as user "
		    "nfdns-feed, without capabilities");
	else if (error < 0)
		log_error("cannot give up privileges: %s", strerror(-error));
	if (error < 0)
		return EXIT_ERROR;
	(void)mkdir(p->config->run_dir, 0755);
	p->signals = open_signals();
	if (p->signals < 0)
		error = -errno;
	else
		error = children_want(&p->children, p->config, false,
		    monotime_now());
	if (error < 0)
		log_error("cannot start: %s", strerror(-error));
	return error < 0 ? EXIT_ERROR : EXIT_OK;
}

int
feed_run(struct feeds_config *config, const char *path)
{
	struct feed_parent p = { .config = config, .path = path, .signals = -1,
		.children = { .config = config } };

	p.code = start(&p);
	p.stop = p.code != EXIT_OK;
	if (!p.stop)
		(void)notify("READY=1");
	while (!p.stop)
		loop_once(&p);
	(void)notify("STOPPING=1");
	children_stop(&p.children);
	if (p.signals >= 0)
		(void)close(p.signals);
	feed_config_free(p.config);
	return p.code;
}
