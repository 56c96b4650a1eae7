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
/* The only argument; the channel's number and the owner follow it. */
#define OPTION "--compiler="
#define JOB_PATH_MAX ((size_t)1 << 16)

/* The job as the compiler reads it. */
struct received {
	int channel;
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

/* The job as a memory file.  An fd or a negative errno. */
static int
write_job(const struct compiler_job *job)
{
	/* Without pointers: they would reveal the parent's address space. */
	const struct compiler_job plain = { .unloaded = job->unloaded };
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

/* As many messages as it takes; each says how many files are still to come. */
static int
send_files(int channel, const int *files, size_t count)
{
	for (size_t left = count, n; left > 0; left -= n) {
		struct iovec part = { &left, sizeof(left) };
		struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
		union fds_ancillary ancillary;

		n = left < FDS_MAX ? left : FDS_MAX;
		fds_attach(&message, &ancillary, files + count - left, n);
		if (sendmsg(channel, &message, MSG_NOSIGNAL) < 0)
			return -errno;
	}
	return 0;
}

/* Puts an open file into the list; the compiler takes them in this order. */
static void
list_file(int *files, size_t *count, int file)
{
	if (file >= 0)
		files[(*count)++] = file;
}

int
compiler_job_send(const struct compiler_job *job)
{
	const size_t sources = job->mesh->source_count;
	const size_t sets = job->policy->set_count;
	int *files = calloc(2 + sources + 2 * sets, sizeof(*files));
	const int job_fd = write_job(job);
	int error = files == NULL ? -ENOMEM : job_fd < 0 ? job_fd : 0;
	size_t count = 0;

	if (error == 0) {
		list_file(files, &count, job_fd);
		list_file(files, &count, job->image);
		for (size_t i = 0; i < sources; i++)
			list_file(files, &count, job->sources[i]);
		for (size_t i = 0; i < sets; i++) {
			list_file(files, &count, job->inputs[i].file);
			list_file(files, &count, job->inputs[i].kept);
		}
		error = send_files(job->channel, files, count);
	}
	if (job_fd >= 0)
		(void)close(job_fd);
	free(files);
	return error;
}

/* One message; fds has room for FDS_MAX.  How many came, or a negative errno. */
static ssize_t
receive_some(int channel, int *fds, size_t *left)
{
	struct iovec part = { left, sizeof(*left) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	union fds_ancillary ancillary;
	ssize_t n;

	fds_expect(&message, &ancillary, FDS_MAX);
	do
		n = recvmsg(channel, &message, 0);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		_exit(COMPILER_DONE);	/* the parent has no job for it */
	if (n < 0)
		return -errno;
	if (n != (ssize_t)sizeof(*left))
		return -EPROTO;
	return (ssize_t)fds_take(&message, fds, FDS_MAX);
}

/* The files of the job, *count of them; or NULL and *error. */
static int *
receive_files(int channel, size_t *count, int *error)
{
	int fds[FDS_MAX], *files = NULL, *more;
	size_t left;
	ssize_t n;

	*count = 0;
	do {
		n = receive_some(channel, fds, &left);
		more = n <= 0 ? NULL : reallocarray(files,
		    *count + (size_t)n, sizeof(*files));
		if (more == NULL) {
			*error = n < 0 ? (int)n : n == 0 ? -EMFILE : -ENOMEM;
			free(files);
			return NULL;
		}
		files = more;
		memcpy(files + *count, fds, (size_t)n * sizeof(*fds));
		*count += (size_t)n;
	} while (left > (size_t)n);
	return files;
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

/* The descriptors in the job are the parent's: each becomes the one that came. */
static int
take_files(struct received *r, const int *files, size_t count)
{
	size_t next = 1;	/* behind the job's own */
	int *places[2];

	r->job.image = next < count ? files[next++] : -1;
	for (size_t i = 0; i < r->mesh.source_count; i++)
		if (r->sources[i] >= 0)
			r->sources[i] = next < count ? files[next++] : -1;
	for (size_t i = 0; i < r->policy.set_count; i++) {
		places[0] = &r->inputs[i].file;
		places[1] = &r->inputs[i].kept;
		for (size_t k = 0; k < 2; k++)
			if (*places[k] >= 0)
				*places[k] = next < count ? files[next++] : -1;
	}
	return next == count ? 0 : -EPROTO;
}

/* Reads what write_job() wrote. */
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
	r->job.channel = r->channel;
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

/* Only the channel stays open in the executed program. */
static int
pass_on(int channel, int program)
{
	int keep[] = { channel, program };	/* close-on-exec */
	const size_t kept = sizeof(keep) / sizeof(keep[0]);
	int error;

	if (fcntl(channel, F_SETFD, 0) < 0)
		return -errno;
	error = leave_terminal(keep, kept);
	/* The parent takes SIGXFSZ to mean that the table is too large. */
	(void)signal(SIGXFSZ, SIG_DFL);
	return error < 0 ? error : child_isolate(keep, kept);
}

_Noreturn void
compiler_become(const struct compiler_owner *owner, int channel, int program)
{
	char name[] = PROCESS_NAME, option[sizeof(OPTION) + 64];
	char *arguments[] = { name, option, NULL };
	int error;

	(void)snprintf(option, sizeof(option), OPTION "%d,%d,%u,%u", channel,
	    (int)owner->parent, (unsigned int)owner->uid,
	    (unsigned int)owner->gid);
	if ((error = pass_on(channel, program)) == 0 &&
	    (error = sandbox_clear_ambient()) == 0) {
		(void)fexecve(program, arguments, environ);
		error = -errno;
	}
	_exit(refuse(channel, "be executed (/proc/self/exe)", error));
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

/* Waits for the job, and reads it. */
static int
take_job(struct received *r)
{
	int *files, error;
	size_t count;
	FILE *file;

	files = receive_files(r->channel, &count, &error);
	if (files == NULL)
		return error;
	file = fdopen(files[0], "r");
	error = file == NULL ? -errno : read_job(r, file);
	if (error == 0)
		error = take_files(r, files, count);
	if (file != NULL)
		(void)fclose(file);
	free(files);
	return error;
}

/* What compiler_become() has written behind OPTION. */
static bool
read_option(const char *text, int *channel, struct compiler_owner *owner)
{
	unsigned long numbers[4];
	char *end;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		numbers[i] = strtoul(text, &end, 10);
		if (end == text)
			return false;
		text = *end == ',' ? end + 1 : end;
	}
	*channel = (int)numbers[0];
	*owner = (struct compiler_owner){ .parent = (pid_t)numbers[1],
		.uid = (uid_t)numbers[2], .gid = (gid_t)numbers[3] };
	return *text == '\0';
}

void
compiler_enter(int argc, char **argv)
{
	struct received r = { .channel = STDERR_FILENO };
	struct compiler_owner owner;
	int error;

	if (argc != 2 || strncmp(argv[1], OPTION, strlen(OPTION)) != 0)
		return;
	/* fexecve(2) names the process after the descriptor's number. */
	(void)prctl(PR_SET_NAME, PROCESS_NAME, 0, 0, 0);
	go_first();
	if (!read_option(argv[1] + strlen(OPTION), &r.channel, &owner))
		_exit(refuse(r.channel, "read what to do", -EPROTO));
	/* What can be done before the job is here is done. */
	if ((error = sandbox_compiler_privileges(owner.uid,
	    owner.gid)) < 0 || (error = child_die_with(owner.parent)) < 0)
		_exit(refuse(r.channel, "give up its privileges", error));
	error = take_job(&r);
	_exit(error < 0 ? refuse(r.channel, "read what to do", error) :
	    run(&r.job));
}
