/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/process/compiler_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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
#include "policy/config/policy_codec.h"
#include "resolver/clock.h"
#include "resolver/compile/compile.h"
#include "resolver/compile/mesh_codec.h"
#include "resolver/fds.h"
#include "resolver/sources/include.h"

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
	struct rules_feed_input *inputs;
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
	if (job->policy->set_count > 0)
		(void)fwrite(job->inputs, sizeof(*job->inputs),
		    job->policy->set_count, file);
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

/* An array, of as many items as there are sources or sets. */
static int
read_items(void *items, size_t size, size_t count, FILE *file)
{
	void **array = items;

	*array = calloc(count + 1, size);
	if (*array == NULL)
		return -ENOMEM;
	return fread(*array, size, count, file) == count ? 0 : -EPROTO;
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
		error = read_items(&r->sources, sizeof(*r->sources),
		    r->mesh.source_count, file);
	if (error == 0)
		error = read_items(&r->inputs, sizeof(*r->inputs),
		    r->policy.set_count, file);
	if (error == 0)
		error = read_path(&r->config, file);
	r->job.mesh = &r->mesh;
	r->job.sources = r->sources;
	r->job.policy = &r->policy;
	r->job.inputs = r->inputs;
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
	for (size_t i = 0; i < job->policy->set_count; i++) {
		keep[kept++] = job->inputs[i].file;
		keep[kept++] = job->inputs[i].kept;
	}
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

/* Writes the text and its header to a file that the parent has given. */
static int
write_kept(int fd, const struct feed_header *header, const char *text)
{
	char head[FEED_FILE_HEADER_MAX];
	struct iovec parts[2] = {
		{ head, feed_file_header_write(header, head) },
		{ (void *)(uintptr_t)text, header->length },
	};
	const int error = fds_write_all(fd, parts, 2);

	return error < 0 ? error : fdatasync(fd) < 0 ? -errno : 0;
}

/*
 * Has the parent keep a file of rules that is good and another one than before.
 * If the first file that it gives has no room, it gives one in memory.
 */
static void
keep_text(int channel, unsigned int number, const struct rules_feed *feed,
    const char *path)
{
	struct feed_header header = { .format = RULES_FEED_FORMAT,
		.time = realtime_s(), .names = feed->names,
		.length = feed->length,
		.hash = feed_file_hash(feed->text, feed->length) };
	char line[COMPILER_LINE];
	int error = 0;

	(void)snprintf(header.source, sizeof(header.source), "%s", path);
	for (int tries = 0; tries < 2; tries++) {
		const int length = snprintf(line, sizeof(line), "K %u %d\n",
		    number, -error);
		const int fd = include_request(channel, line, (size_t)length);

		if (fd < 0)
			return;		/* the parent knows why */
		error = write_kept(fd, &header, feed->text);
		(void)close(fd);
		if (error == 0)
			return;
	}
}

static void
report_feed(int channel, unsigned int number, const struct rules_feed *feed)
{
	char text[COMPILER_LINE];

	(void)snprintf(text, sizeof(text), "%u %u %" PRIu64 " %" PRId64 " %016"
	    PRIx64 " %016" PRIx64 " %s", number, (unsigned int)feed->state,
	    feed->names, feed->time, feed->hash.high, feed->hash.low,
	    feed->why);
	write_line(channel, 'F', text);
}

/* The policy's section, in *octets, and what has become of its files. */
static int
compile_rules(const struct compiler_job *job, struct diag *diag,
    uint8_t **octets, size_t *size)
{
	const struct policy *policy = job->policy;
	const struct rules_feeds_job rules = { .policy = policy,
		.path = job->config, .inputs = job->inputs,
		.limit = job->mesh->shrink_limit, .broker = &job->channel,
		.first = (unsigned int)job->mesh->source_count };
	struct rules_feed *feeds = calloc(policy->set_count + 1,
	    sizeof(*feeds));
	int error = feeds == NULL ? -ENOMEM : rules_feeds_build(&rules, feeds,
	    diag, octets, size);

	for (unsigned int i = 0; i < policy->set_count && error == 0; i++) {
		report_feed(job->channel, i, &feeds[i]);
		if (feeds[i].text != NULL)
			keep_text(job->channel, i, &feeds[i],
			    policy->sets[i].path);
	}
	if (feeds != NULL)
		rules_feeds_clear(feeds, policy->set_count);
	free(feeds);
	return error;
}

/* Both, even if the rules have errors: all errors are reported at once. */
static int
compile_all(const struct compiler_job *job, struct diag *diag)
{
	struct image_span policy = { .size = 0 };
	uint8_t *octets = NULL;
	int rules = compile_rules(job, diag, &octets, &policy.size);
	int error;

	policy.octets = octets;
	error = job->unloaded ? compile_unloaded(job->mesh, &policy,
	    job->image) : compile_confined(job->mesh, job->sources,
	    &job->channel, &policy, job->image, diag);
	free(octets);
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
		if (job->inputs[i].file >= 0 &&
		    fstat(job->inputs[i].file, &st) == 0)
			octets += (uint64_t)st.st_size;
	return octets;
}

/* Gives up its privileges and compiles.  Returns the exit status. */
static int
run(const struct compiler_job *job)
{
	static struct diag diag = DIAG_INIT;	/* too large for a small stack */
	int error;

	if ((error = sandbox_compiler_privileges(job->uid, job->gid,
	    octets_of(job))) < 0 ||
	    (error = child_die_with(job->parent)) < 0 ||
	    (error = sandbox_compiler_seccomp()) < 0)
		return refuse(job->channel, "give up its privileges", error);
	error = compile_all(job, &diag);
	write_diag(job->channel, &diag);
	if (error == -ENOMEM)
		return COMPILER_NO_MEMORY;
	return error < 0 || diag.errors > 0 ? COMPILER_REFUSED : COMPILER_DONE;
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
	go_first();
	file = fdopen((int)strtol(argv[1] + skip, NULL, 10), "r");
	error = file == NULL ? -EPROTO : read_job(&r, file);
	if (file != NULL)
		(void)fclose(file);
	_exit(error < 0 ? refuse(r.job.channel, "read what to do", error) :
	    run(&r.job));
}
