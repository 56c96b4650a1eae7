/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/process/compiler_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfq/process/child.h"
#include "nfq/process/compiler.h"
#include "nfq/process/sandbox.h"
#include "policy/match/rules_files.h"
#include "resolver/compile/compile.h"

/* What ps(1) shows: 15 octets at most. */
#define PROCESS_NAME "nfdns-compiler"

static void
write_line(int channel, char letter, const char *text)
{
	char line[COMPILER_LINE];
	int length = snprintf(line, sizeof(line), "%c %s", letter, text);
	size_t left = (size_t)length < sizeof(line) ? (size_t)length :
	    sizeof(line) - 1;
	const char *p = line;

	line[left++] = '\n';	/* instead of the NUL */
	while (left > 0) {
		ssize_t n = write(channel, p, left);

		if (n < 0 && errno != EINTR)
			return;		/* the parent is gone: there is no reader */
		if (n > 0) {
			p += n;
			left -= (size_t)n;
		}
	}
}

static void
write_diag(int channel, const struct diag *diag)
{
	for (size_t i = 0; i < diag->kept; i++)
		write_line(channel, "EWN"[diag->entries[i].level],
		    diag->entries[i].text);
	if (diag_dropped(diag) > 0) {
		char text[64];

		(void)snprintf(text, sizeof(text), "and %zu more like these",
		    diag_dropped(diag));
		write_line(channel, diag->errors > 0 ? 'E' : 'W', text);
	}
}

/* Reports a process that cannot be set up; returns its exit status. */
static int
refuse(int channel, const char *what, int error)
{
	char text[COMPILER_LINE];

	(void)snprintf(text, sizeof(text), "the compiler process cannot %s: %s",
	    what, strerror(-error));
	write_line(channel, 'E', text);
	return COMPILER_NO_SANDBOX;
}

/*
 * Makes the standard files /dev/null: an attacker who takes over the compiler
 * could otherwise read and write root's terminal.  If the caller started
 * without standard files, a file of the job may have such a number; it stays.
 */
static int
leave_terminal(const int *keep, size_t count)
{
	const int null = open("/dev/null", O_RDWR);

	if (null < 0)
		return -errno;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		bool kept = false;

		for (size_t i = 0; i < count; i++)
			kept = kept || keep[i] == fd;
		if (!kept && dup2(null, fd) < 0)
			return -errno;
	}
	if (null > STDERR_FILENO)
		(void)close(null);
	return 0;
}

/* Both, even if the rules have errors: all errors are reported at once. */
static int
compile_all(const struct compiler_job *job, struct diag *diag)
{
	struct image_policy policy;
	const int rules = rules_files_build(&(struct rules_files_job){
		.policy = job->policy, .path = job->config, .fds = job->lists,
		.leave_out = job->leave_out, .broker = &job->channel,
		.first = (unsigned int)job->mesh->source_count }, diag, &policy);
	const int error = job->unloaded ? compile_unloaded(job->mesh, &policy,
	    job->image) : compile_confined(job->mesh, job->sources,
	    &job->channel, &policy, job->image, diag);
	free((void *)(uintptr_t)policy.octets);
	return error < 0 ? error : rules;
}

/* Octets of all files that it has from the start. */
static uint64_t
octets_of(const struct compiler_job *job)
{
	uint64_t octets = 0;
	struct stat st;

	for (size_t i = 0; i < job->mesh->source_count; i++)
		if (job->sources[i] >= 0 && fstat(job->sources[i], &st) == 0)
			octets += (uint64_t)st.st_size;
	for (size_t i = 0; i < job->policy->set_count; i++)
		if (job->lists[i] >= 0 && fstat(job->lists[i], &st) == 0)
			octets += (uint64_t)st.st_size;
	return octets;
}

/* Confines itself to the job's files and compiles.  Returns the exit status. */
static int
run(const struct compiler_job *job)
{
	static struct diag diag = DIAG_INIT;	/* too large for a small stack */
	int error;

	if ((error = sandbox_compiler_limits(octets_of(job))) < 0 ||
	    (error = sandbox_compiler_seccomp()) < 0)
		return refuse(job->channel, "confine itself", error);
	error = compile_all(job, &diag);
	write_diag(job->channel, &diag);
	if (error == -ENOMEM)
		return COMPILER_NO_MEMORY;
	if (error < 0 || diag.errors > 0)
		return COMPILER_REFUSED;
	/* The kernel takes a while to free the memory of a large table. */
	write_line(job->channel, 'D', "done");
	return COMPILER_DONE;
}

/* When memory ends, the daemon goes on with the table that it has. */
static void
go_first(void)
{
	const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, "1000", 4);
	(void)close(fd);
}

/* Only the job's files stay open. */
static int
keep_files(const struct compiler_job *job)
{
	const size_t sources = job->mesh->source_count;
	const size_t sets = job->policy->set_count;
	int *keep = calloc(2 + sources + sets, sizeof(*keep)), error;
	size_t count = 0;

	if (keep == NULL)
		return -ENOMEM;
	keep[count++] = job->channel;
	keep[count++] = job->image;
	for (size_t i = 0; i < sources; i++)
		keep[count++] = job->sources[i];
	for (size_t i = 0; i < sets; i++)
		keep[count++] = job->lists[i];
	error = child_isolate(keep, count);
	if (error == 0)
		error = leave_terminal(keep, count);
	free(keep);
	return error;
}

/*
 * Unmaps what it shares with its parent and the worker, so that it can change none of
 * their memory: the status page, and the table of senders.
 */
static int
leave_shared_memory(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[1024];

	if (maps == NULL)
		return -errno;
	/* "7f0c1000-7f0c3000 rw-s ..." */
	while (fgets(line, sizeof(line), maps) != NULL) {
		char *end;
		const unsigned long from = strtoul(line, &end, 16);
		const unsigned long to = strtoul(end + (*end == '-'), &end, 16);

		if (strncmp(end, " rw-s", 5) == 0)
			(void)munmap((void *)from, to - from);
	}
	(void)fclose(maps);
	return 0;
}

_Noreturn void
compiler_become(const struct compiler_owner *owner,
    const struct compiler_job *job)
{
	int error;

	(void)prctl(PR_SET_NAME, PROCESS_NAME, 0, 0, 0);
	/* The parent takes SIGXFSZ to mean that the table is too large. */
	(void)signal(SIGXFSZ, SIG_DFL);
	go_first();
	if ((error = keep_files(job)) < 0)
		_exit(refuse(job->channel, "close its parent's files", error));
	if ((error = leave_shared_memory()) < 0)
		_exit(refuse(job->channel, "read /proc/self/maps (is /proc "
		    "mounted?)", error));
	if ((error = sandbox_compiler_privileges(owner->uid,
	    owner->gid)) < 0 || (error = child_die_with(owner->parent)) < 0)
		_exit(refuse(job->channel, "give up its privileges", error));
	_exit(run(job));
}
