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
#include <unistd.h>

#include "nfq/process/child.h"
#include "nfq/process/compiler.h"
#include "nfq/process/sandbox.h"
#include "policy/config/policy_codec.h"
#include "policy/match/rules.h"
#include "resolver/compile/compile.h"
#include "resolver/compile/mesh_codec.h"

/* What ps(1) shows: 15 octets at most. */
#define PROCESS_NAME "nfdns-compiler"
/* The only argument; the number of the job's file follows it. */
#define JOB_OPTION "--compiler-job="
#define JOB_PATH_MAX ((size_t)1 << 16)

/* The job as the compiler reads it. */
struct received {
	struct compiler_job job;
	struct mesh mesh;
	struct policy policy;
	int *sources;
	int *sets;
	char *config;
};

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
		write_line(channel, diag->entries[i].level == DIAG_ERROR ?
		    'E' : 'W', diag->entries[i].text);
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

/* A list without files is NULL, which fwrite(3) must not get (C11, 7.1.4). */
static void
write_files(const int *files, size_t count, FILE *file)
{
	if (count > 0)
		(void)fwrite(files, sizeof(*files), count, file);
}

int
compiler_job_write(const struct compiler_job *job)
{
	/* Without pointers: they would reveal the parent's address space. */
	const struct compiler_job plain = { .image = job->image,
		.channel = job->channel, .parent = job->parent,
		.uid = job->uid, .gid = job->gid, .unloaded = job->unloaded };
	const size_t path = strlen(job->config) + 1;
	int fd = memfd_create("nfdns-job", MFD_CLOEXEC), copy = -1, error;
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (file == NULL) {
		error = -errno;
		if (fd >= 0)
			(void)close(fd);
		return error;
	}
	(void)fwrite(&plain, sizeof(plain), 1, file);
	error = mesh_codec_write(job->mesh, file);
	if (error == 0)
		error = policy_codec_write(job->policy, file);
	write_files(job->sources, job->mesh->source_count, file);
	write_files(job->sets, job->policy->set_count, file);
	(void)fwrite(&path, sizeof(path), 1, file);
	(void)fwrite(job->config, 1, path, file);
	if (error == 0 && (fflush(file) != 0 ||
	    (copy = fcntl(fd, F_DUPFD_CLOEXEC, 0)) < 0))
		error = -errno;
	if (fclose(file) != 0 && error == 0)
		error = -errno;
	if (error == 0)
		return copy;
	if (copy >= 0)
		(void)close(copy);
	return error;
}

/* Room for a path, and the path. */
static int
read_path(char **path, FILE *file)
{
	size_t size;

	if (fread(&size, sizeof(size), 1, file) != 1 || size > JOB_PATH_MAX)
		return -EPROTO;
	*path = calloc(size + 1, 1);
	if (*path == NULL)
		return -ENOMEM;
	return fread(*path, 1, size, file) == size ? 0 : -EPROTO;
}

/* As many descriptors as there are sources or sets. */
static int
read_files(int **files, size_t count, FILE *file)
{
	*files = calloc(count + 1, sizeof(**files));
	if (*files == NULL)
		return -ENOMEM;
	return fread(*files, sizeof(**files), count, file) == count ? 0 :
	    -EPROTO;
}

/* Reads what compiler_job_write() wrote. */
static int
read_job(struct received *r, FILE *file)
{
	int error;

	rewind(file);		/* its writer stands at the end */
	if (fread(&r->job, sizeof(r->job), 1, file) != 1)
		return -EPROTO;
	error = mesh_codec_read(&r->mesh, file);
	if (error < 0)
		return error;
	error = policy_codec_read(&r->policy, file);
	if (error == 0)
		error = read_files(&r->sources, r->mesh.source_count, file);
	if (error == 0)
		error = read_files(&r->sets, r->policy.set_count, file);
	if (error == 0)
		error = read_path(&r->config, file);
	r->job.mesh = &r->mesh;
	r->job.sources = r->sources;
	r->job.policy = &r->policy;
	r->job.sets = r->sets;
	r->job.config = r->config;
	return error;
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
	return 0;
}

/* Only the job's files stay open in the executed program. */
static int
pass_on(const struct compiler_job *job, int job_fd, int program, int *keep)
{
	size_t kept = 0;
	int error;

	for (size_t i = 0; i < job->mesh->source_count; i++)
		keep[kept++] = job->sources[i];
	for (size_t i = 0; i < job->policy->set_count; i++)
		keep[kept++] = job->sets[i];
	keep[kept++] = job->image;
	keep[kept++] = job->channel;
	keep[kept++] = job_fd;
	for (size_t i = 0; i < kept; i++)
		if (keep[i] >= 0 && fcntl(keep[i], F_SETFD, 0) < 0)
			return -errno;
	keep[kept++] = program;		/* close-on-exec */
	error = leave_terminal(keep, kept);
	/* The parent takes SIGXFSZ to mean that the table is too large. */
	(void)signal(SIGXFSZ, SIG_DFL);
	return error < 0 ? error : child_isolate(keep, kept);
}

_Noreturn void
compiler_become(const struct compiler_job *job, int job_fd, int program,
    int *keep)
{
	char name[] = PROCESS_NAME, option[sizeof(JOB_OPTION) + 16];
	char *arguments[] = { name, option, NULL };
	int error;

	(void)snprintf(option, sizeof(option), JOB_OPTION "%d", job_fd);
	if ((error = pass_on(job, job_fd, program, keep)) == 0 &&
	    (error = sandbox_clear_ambient()) == 0) {
		(void)fexecve(program, arguments, environ);
		error = -errno;
	}
	_exit(refuse(job->channel, "be executed (/proc/self/exe)", error));
}

/* Both, even if the rules have errors: all errors are reported at once. */
static int
compile_all(const struct compiler_job *job, struct diag *diag)
{
	struct image_span policy = { .size = 0 };
	uint8_t *octets = NULL;
	int rules = rules_build(job->policy, job->config, job->sets, diag,
	    &octets, &policy.size);
	int error;

	policy.octets = octets;
	error = job->unloaded ? compile_unloaded(job->mesh, &policy,
	    job->image) : compile_confined(job->mesh, job->sources,
	    &job->channel, &policy, job->image, diag);
	free(octets);
	return error < 0 ? error : rules;
}

/* Gives up its privileges and compiles.  Returns the exit status. */
static int
run(const struct compiler_job *job)
{
	static struct diag diag = DIAG_INIT;	/* too large for a small stack */
	int error;

	if ((error = sandbox_compiler_privileges(job->uid, job->gid)) < 0 ||
	    (error = child_die_with(job->parent)) < 0 ||
	    (error = sandbox_compiler_seccomp()) < 0)
		return refuse(job->channel, "give up its privileges", error);
	error = compile_all(job, &diag);
	write_diag(job->channel, &diag);
	if (error == -ENOMEM)
		return COMPILER_NO_MEMORY;
	return error < 0 || diag.errors > 0 ? COMPILER_REFUSED : COMPILER_DONE;
}

void
compiler_enter(int argc, char **argv)
{
	struct received r = { .job = { .channel = STDERR_FILENO } };
	const size_t skip = strlen(JOB_OPTION);
	FILE *file;
	int error;

	if (argc != 2 || strncmp(argv[1], JOB_OPTION, skip) != 0)
		return;
	/* fexecve(2) names the process after the descriptor's number. */
	(void)prctl(PR_SET_NAME, PROCESS_NAME, 0, 0, 0);
	file = fdopen((int)strtol(argv[1] + skip, NULL, 10), "r");
	error = file == NULL ? -errno : read_job(&r, file);
	if (file != NULL)
		(void)fclose(file);
	_exit(error < 0 ? refuse(r.job.channel, "read what to do", error) :
	    run(&r.job));
}
