/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nfdns-tls, for the worker: the process that speaks TLS with upstreams.  It is
 * started when a worker wants it, with the authorities of the generation, and ends
 * when the worker closes its channel.  A reload that changes the authorities starts
 * another.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nfq/process/child.h"
#include "nfq/supervisor/parts.h"
#include "nfq/tls/start.h"
#include "policy/log.h"
#include "resolver/fds.h"

#define START_MS	500	/* between two starts, at least */

static bool
has_content(int fd, const char *octets, size_t length)
{
	struct stat st;
	void *is;
	bool same;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size != (off_t)length)
		return false;
	is = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
	if (is == MAP_FAILED)
		return false;
	same = memcmp(is, octets, length) == 0;
	(void)munmap(is, length);
	return same;
}

/*
 * Those of the generation before go on while the same file is missing.  Without
 * any, no upstream is asked over TLS; the reader of the configuration says so.
 * A descriptor, -1 for none, or a negative errno.
 */
static int
without_authorities(const struct config *config, const struct supervisor *s)
{
	if (s->generation.authorities < 0)
		return -1;
	return strcmp(config->forward_ca, s->config->forward_ca) != 0 ?
	    -ENOENT : fcntl(s->generation.authorities, F_DUPFD_CLOEXEC, 0);
}

int
supervisor_open_authorities(const struct config *config,
    const struct supervisor *s, struct generation_files *generation)
{
	struct small_file file;
	int error, fd;

	if (!config_forwards_tls(config))
		return 0;
	error = ca_file_read(config->forward_ca, &file);
	if (error == -ENOENT)
		fd = without_authorities(config, s);
	else if (error < 0)
		return error;
	else if (has_content(s->generation.authorities, file.octets,
	    file.length))
		fd = fcntl(s->generation.authorities, F_DUPFD_CLOEXEC, 0);
	else
		fd = fds_sealed("nfdns-authorities", file.octets,
		    file.length);
	small_file_wipe(&file);
	generation->authorities = fd < 0 ? -1 : fd;
	return fd < -1 ? fd : 0;
}

static ino_t
inode_of(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* Its questions are asked again. */
static void
dismiss(struct supervisor_tls *tls)
{
	int status;

	if (tls->pid <= 0)
		return;
	(void)kill(tls->pid, SIGKILL);
	(void)child_reap(tls->pid, &status);
	tls->pid = 0;
}

/* Starts one.  Our end of its channel, or a negative errno. */
static int
start(struct supervisor *s)
{
	struct tls_start start = { .authorities = s->generation.authorities,
		.parent = getpid(), .uid = s->config->uid,
		.gid = s->config->gid };
	struct supervisor_tls *tls = &s->tls;
	int ends[2];
	pid_t pid;

	if (tls->program < 0)
		return tls->program;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	start.channel = ends[1];
	pid = tls_start(tls->program, &start);
	(void)close(ends[1]);
	if (pid < 0) {
		(void)close(ends[0]);
		return pid;
	}
	tls->pid = pid;
	tls->authorities = inode_of(s->generation.authorities);
	return ends[0];
}

void
supervisor_give_tls(struct supervisor *s, monotime_t now)
{
	const struct control_message order = { .kind = CONTROL_TLS };
	struct supervisor_tls *tls = &s->tls;
	int channel;

	if (s->generation.authorities < 0 || (monotime_is_set(tls->started) &&
	    monotime_ms_since(now, tls->started) < START_MS))
		return;			/* the worker asks again */
	dismiss(tls);
	tls->started = now;
	channel = start(s);
	if (channel < 0) {
		if (!tls->failed)
			log_error("nfdns-tls cannot be started: %s: upstreams "
			    "over TLS are not asked: is it installed beside "
			    "nfdnsd?", strerror(-channel));
		tls->failed = true;
		return;
	}
	tls->failed = false;
	/* If this fails, the worker is dying, and nfdns-tls ends, too. */
	(void)!control_send(s->worker.control, &order, &channel, 1);
	(void)close(channel);
}

void
supervisor_renew_tls(struct supervisor *s, monotime_t now)
{
	if (s->tls.pid <= 0 || s->generation.authorities < 0 ||
	    inode_of(s->generation.authorities) == s->tls.authorities)
		return;
	s->tls.started = MONOTIME_NEVER;
	supervisor_give_tls(s, now);
}

void
supervisor_tick_tls(struct supervisor *s)
{
	struct supervisor_tls *tls = &s->tls;
	char text[CHILD_TEXT];
	int status = 0;

	if (tls->pid <= 0 || waitpid(tls->pid, &status, WNOHANG) != tls->pid)
		return;
	tls->pid = 0;
	/* At the end of its worker it exits with 0. */
	if (status != 0)
		log_error("nfdns-tls ended with %s: its questions are asked "
		    "again", child_end_text(status, text));
}

void
supervisor_start_tls(struct supervisor *s)
{
	s->tls.program = tls_program_open();
}

void
supervisor_stop_tls(struct supervisor *s)
{
	dismiss(&s->tls);
	if (s->tls.program >= 0)
		(void)close(s->tls.program);
	s->tls.program = -1;
}
