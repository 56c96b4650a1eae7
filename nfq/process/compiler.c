/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A forked child, which has given up all but the files, compiles.
 *
 * It sends lines through a socket.  "E TEXT", "W TEXT" and "N TEXT" are
 * an error, a warning and a note.  "D done": the image is written, and the parent
 * need not wait for the child's end.  "I NUMBER NAME" asks for a file that the child
 * may not open itself (resolver/sources/source_file.h); the parent sends it back.
 * The parent trusts none of it: it cuts, counts and escapes lines like any other
 * input.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nfq/process/child.h"
#include "nfq/process/compiler.h"
#include "nfq/process/sandbox.h"
#include "policy/config/policy.h"
#include "policy/match/rules.h"
#include "resolver/compile/compile.h"
#include "resolver/compile/source_files.h"
#include "resolver/fds.h"
#include "resolver/image/builder.h"
#include "resolver/image/mesh.h"
#include "resolver/sources/source_file.h"
#include "resolver/sources/source_format.h"
#include "resolver/text/diag.h"

/* The files that a policy names: zones of policies and lists of names. */

#define RULES_FILE_MAX	((size_t)256 << 20)	/* octets */

/* What is compiled; borrows all. */
struct rules_files_job {
	const struct policy *policy;
	const char *path;		/* of the configuration, for messages */
	const int *fds;			/* open, one for each of policy->sets; -1: none,
					 * and policy_unloaded says what that means */
	bool leave_out;			/* those with errors, and say nothing of them */
	const int *broker;		/* for what zones include: source_file.h; */
	unsigned int first;		/* the number of the first file there */
};

static char *
read_file(const char *path, int fd, size_t *length, struct diag *diag)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && (uint64_t)st.st_size > RULES_FILE_MAX) {
		diag_add(diag, DIAG_ERROR, path, 0, "has %llu MiB, the limit is "
		    "%zu MiB: split it", (unsigned long long)st.st_size >> 20,
		    RULES_FILE_MAX >> 20);
		return NULL;
	}
	return source_file_read(path, fd, length, diag);
}

/* Adds all of another diag and empties that. */
static void
join(struct diag *diag, struct diag *from)
{
	for (size_t i = 0; i < from->kept; i++)
		if (from->entries[i].text != NULL)
			diag_add_text(diag, from->entries[i].level,
			    from->entries[i].text);
	if (diag_dropped(from) > 0)
		diag_add(diag, from->errors == 0 ? DIAG_WARNING : DIAG_ERROR,
		    NULL, 0, "and %zu more like these", diag_dropped(from));
	diag_free(from);
}

/* Takes out the files that have errors.  Whether any was in. */
static bool
leave_out(const struct policy *policy, struct rules_file *files)
{
	bool any = false;

	for (size_t i = 0; i < policy->set_count; i++) {
		if (files[i].diag->errors > 0) {
			any |= files[i].text.data != NULL;
			files[i].text.data = NULL;
			files[i].names = 0;
		}
		diag_free(files[i].diag);
	}
	return any;
}

static int
build(const struct rules_files_job *job, struct rules_file *files,
    struct diag *diag, uint8_t **octets, size_t *size)
{
	bool again = true;
	int error = 0;

	while (again) {
		struct diag attempt = DIAG_INIT;

		error = rules_build(job->policy, job->path, files, &attempt,
		    octets, size);
		again = job->leave_out && leave_out(job->policy, files);
		if (!again)
			join(diag, &attempt);
		diag_free(&attempt);
	}
	return error == -EBADMSG ? -EINVAL : error;
}

/*
 * Reads the files and makes the policy's rules.  section->octets is from malloc(3),
 * and the caller's; NULL if the policy has no rules.  section->names is how many
 * names the files have.  0, -EINVAL with errors in diag, or -ENOMEM.
 */
static int
rules_files_build(const struct rules_files_job *job, struct diag *diag,
    struct image_policy *section)
{
	const size_t count = job->policy->set_count;
	struct rules_file *files = calloc(count + 1, sizeof(*files));
	struct diag *diags = calloc(count + 1, sizeof(*diags));
	char **texts = calloc(count + 1, sizeof(*texts));
	uint8_t *octets = NULL;
	size_t unread = 0;
	int error;

	*section = (struct image_policy){ .size = 0 };
	if (files == NULL || diags == NULL || texts == NULL) {
		error = -ENOMEM;
		goto out;
	}
	for (unsigned int i = 0; i < count; i++) {
		const char *path = job->policy->sets[i].path;

		files[i].text = (struct source_text){ .path = path,
			.broker = job->broker, .number = job->first + i };
		files[i].diag = &diags[i];
		if (job->fds[i] >= 0)
			files[i].text.data = texts[i] = read_file(path,
			    job->fds[i], &files[i].text.length, &diags[i]);
		unread += texts[i] == NULL && diags[i].errors > 0;
	}
	error = build(job, files, diag, &octets, &section->size);
	for (size_t i = 0; i < count; i++) {
		section->names += files[i].names;
		join(diag, &diags[i]);
	}
	if (error == 0 && unread > 0 && !job->leave_out)
		error = -EINVAL;
	section->octets = octets;
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
out:
	free(files);
	free(diags);
	free(texts);
	return error;
}

/* The child: the job that it has, and its whole life. */

/* The compiler's exit status: what compile() returned. */
enum { COMPILER_DONE = 0, COMPILER_REFUSED = 1, COMPILER_NO_MEMORY = 2,
	COMPILER_NO_SANDBOX = 3 };

/* Octets of a line from child to parent, line end included. */
#define COMPILER_LINE	1024

/* The work; files are descriptors. */
struct compiler_job {
	const struct mesh *mesh;
	const int *sources;	/* open; one for each of mesh->sources; -1: none */
	const struct policy *policy;
	const int *lists;	/* open; one for each of policy->sets; -1: none */
	bool leave_out;		/* those of them that have errors */
	const char *config;	/* path, for messages */
	bool unloaded;		/* the image is to stand for no table */
	int image;		/* to write to */
	int channel;
};

/* Whose child the compiler is, and its user if the parent is root. */
struct compiler_owner {
	pid_t parent;
	uid_t uid;
	gid_t gid;
};

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
	for (size_t i = 0; i < diag.kept; i++)
		write_line(job->channel, "EWN"[diag.entries[i].level],
		    diag.entries[i].text);
	if (diag_dropped(&diag) > 0) {
		char text[64];

		(void)snprintf(text, sizeof(text), "and %zu more like these",
		    diag_dropped(&diag));
		write_line(job->channel, diag.errors > 0 ? 'E' : 'W', text);
	}
	if (error == -ENOMEM)
		return COMPILER_NO_MEMORY;
	if (error < 0 || diag.errors > 0)
		return COMPILER_REFUSED;
	/* The kernel takes a while to free the memory of a large table. */
	write_line(job->channel, 'D', "done");
	return COMPILER_DONE;
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

/*
 * Call in the child after fork(): turns this process into a compiler, which has the
 * job's files and no other, shares no memory, and has no privilege; compiles, and
 * ends.  What goes wrong is written to the channel.
 */
static _Noreturn void
compiler_become(const struct compiler_owner *owner,
    const struct compiler_job *job)
{
	int error;
	int fd;

	(void)prctl(PR_SET_NAME, PROCESS_NAME, 0, 0, 0);
	/* The parent takes SIGXFSZ to mean that the table is too large. */
	(void)signal(SIGXFSZ, SIG_DFL);
	/* When memory ends, the daemon goes on with the table that it has. */
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!write(fd, "1000", 4);
		(void)close(fd);
	}
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

/* The parent's side. */

#define MAX_LINES	((size_t)DIAG_MAX_KEPT + 1)
#define MAX_SECONDS	300	/* by the clock */
#define POLL_MS		1000

struct compiler {
	pid_t pid;
	struct source_files files;
	const struct policy *policy;	/* the caller's */
	enum compiler_lists which;
	int *lists;		/* one for each of policy->sets; -1: none */
	bool unloaded;		/* the image is to stand for no table */
	int channel;		/* our end, non-blocking */
	int image;
	time_t deadline;	/* CLOCK_MONOTONIC */
	bool overdue;
	bool done;		/* says the child */
	size_t lines;
	unsigned int includes;
	size_t fill;
	char line[COMPILER_LINE];
};

static time_t
monotonic_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static int
make_image(void)
{
	int fd = memfd_create("nfdns-table", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return fd < 0 ? -errno : fd;
}

/* Ends the child first: nobody writes into the image from then on. */
static void
compiler_free(struct compiler *c)
{
	int status;

	if (c->pid > 0) {
		(void)kill(c->pid, SIGKILL);
		(void)child_reap(c->pid, &status);
	}
	if (c->channel >= 0)
		(void)close(c->channel);
	if (c->image >= 0)
		(void)close(c->image);
	source_files_close(&c->files);
	for (size_t i = 0; c->lists != NULL && i < c->policy->set_count; i++)
		if (c->lists[i] >= 0)
			(void)close(c->lists[i]);
	free(c->lists);
	free(c);
}

/* The channel, and the child at the other end. */
static int
fork_child(struct compiler *c, const struct config *config,
    struct compiler_job *job)
{
	const struct compiler_owner owner = { .parent = getpid(),
		.uid = config->uid, .gid = config->gid };
	int ends[2], error = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	c->channel = ends[0];
	job->channel = ends[1];
	c->pid = fork();
	if (c->pid == 0)
		compiler_become(&owner, job);
	if (c->pid < 0)
		error = -errno;
	(void)close(ends[1]);
	if (error == 0 && fcntl(c->channel, F_SETFL, O_NONBLOCK) < 0)
		error = -errno;
	return error;
}

/* 0, or a negative errno with an error in diag. */
static int
start(struct compiler *c, const struct config *config, struct diag *diag)
{
	struct compiler_job job = { .mesh = &c->files.mesh,
		.sources = c->files.fds, .policy = c->policy, .lists = c->lists,
		.leave_out = c->which != COMPILER_LISTS_ALL,
		.config = config->path, .unloaded = c->unloaded };
	int error = c->image = make_image();

	job.image = c->image;
	if (error >= 0)
		error = fork_child(c, config, &job);
	if (error < 0)
		diag_add(diag, DIAG_ERROR, NULL, 0, "cannot start the compiler "
		    "process: %s", strerror(-error));
	return error;
}

static int
open_tables(struct compiler *c, const struct config *config, struct diag *diag)
{
	struct mesh none = config->mesh;

	none.source_count = 0;
	return source_files_open(&c->files, c->unloaded ? &none :
	    &config->mesh, diag);
}

/* A descriptor, or a negative errno with an error in diag. */
static int
open_list(const char *path, struct diag *diag)
{
	const int fd = source_file_open(AT_FDCWD, path);

	if (fd < 0)
		source_file_refuse(path, fd, "policy", diag);
	else if (!source_file_check(path, fd, diag)) {
		(void)close(fd);
		return -EINVAL;
	}
	return fd;
}

static int
open_lists(struct compiler *c, struct diag *diag)
{
	const size_t count = c->policy->set_count;
	struct diag said = DIAG_INIT;	/* before, when all were wanted */
	int error = 0;

	c->lists = calloc(count + 1, sizeof(*c->lists));
	if (c->lists == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		int fd = c->which == COMPILER_LISTS_NONE ? -1 :
		    open_list(c->policy->sets[i].path,
		    c->which == COMPILER_LISTS_ALL ? diag : &said);

		if (fd < 0 && c->which == COMPILER_LISTS_ALL)
			error = -EINVAL;
		c->lists[i] = fd < 0 ? -1 : fd;
	}
	diag_free(&said);
	return error;
}

/* All of them, so that all errors are told at once. */
static int
open_files(struct compiler *c, const struct config *config, struct diag *diag)
{
	const int tables = open_tables(c, config, diag);
	const int lists = open_lists(c, diag);

	return tables < 0 ? tables : lists;
}

static struct compiler *
make_compiler(const struct config *config, enum compiler_lists which)
{
	struct compiler *c = calloc(1, sizeof(*c));

	if (c != NULL) {
		c->channel = c->image = -1;
		c->policy = &config->policy;
		c->which = which;
	}
	return c;
}

static int
start_job(struct compiler **compiler, const struct config *config,
    enum compiler_lists which, bool unloaded, struct diag *diag)
{
	struct compiler *c = make_compiler(config, which);
	int error;

	*compiler = NULL;
	if (c == NULL) {
		diag_add(diag, DIAG_ERROR, NULL, 0, "out of memory");
		return -ENOMEM;
	}
	c->unloaded = unloaded;
	error = open_files(c, config, diag);
	if (error == 0) {
		c->deadline = monotonic_seconds() + MAX_SECONDS;
		error = start(c, config, diag);
	}
	if (error < 0) {
		compiler_free(c);
		return error;
	}
	*compiler = c;
	return 0;
}

int
compiler_start(struct compiler **compiler, const struct config *config,
    enum compiler_lists which, struct diag *diag)
{
	return start_job(compiler, config, which, false, diag);
}

int
compiler_fd(const struct compiler *c)
{
	return c->channel;
}

/* Kills a child that breaks the protocol: it may run an attacker's code. */
static void
end_child(struct compiler *c)
{
	(void)kill(c->pid, SIGKILL);
}

/* The file of that number, if it may include others: the policy's come last. */
static const char *
including(const struct compiler *c, unsigned long number)
{
	const struct mesh *mesh = &c->files.mesh;

	if (number < mesh->source_count)
		return mesh->sources[number].format->includes ?
		    mesh->sources[number].path : NULL;
	number -= mesh->source_count;
	return number < c->policy->set_count &&
	    c->policy->sets[number].zone != 0 ? c->policy->sets[number].path :
	    NULL;
}

/* Answers "NUMBER NAME", only for a zone file of the config. */
static int
serve(const struct compiler *c, const char *request)
{
	char *end;
	const unsigned long number = strtoul(request, &end, 10);
	const char *path = end == request || *end != ' ' ? NULL :
	    including(c, number);

	return path == NULL ? -EPROTO :
	    include_serve(c->channel, path, end + 1);
}

static void
take_line(struct compiler *c, struct diag *diag)
{
	c->line[c->fill] = '\0';
	if (c->line[0] == 'I' && c->fill > 2) {
		if (++c->includes > INCLUDE_MAX_FILES ||
		    serve(c, c->line + 2) < 0)
			end_child(c);
	} else if (c->line[0] == 'D') {
		c->done = true;
	} else if (++c->lines <= MAX_LINES && c->fill > 2)
		diag_add(diag, c->line[0] == 'W' ? DIAG_WARNING :
		    c->line[0] == 'N' ? DIAG_NOTE : DIAG_ERROR, NULL, 0, "%s",
		    c->line + 2);
	c->fill = 0;
}

bool
compiler_read(struct compiler *c, struct diag *diag)
{
	char octets[4096];
	ssize_t n = read(c->channel, octets, sizeof(octets));

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	for (size_t i = 0; i < (size_t)n; i++) {
		if (octets[i] == '\n')
			take_line(c, diag);
		else if (c->fill < sizeof(c->line) - 1)
			c->line[c->fill++] = octets[i];
	}
	/* More lines than any compiler sends. */
	if (c->lines > 2 * MAX_LINES) {
		end_child(c);
		return false;
	}
	return !c->done;
}

void
compiler_check_time(struct compiler *c)
{
	if (!c->overdue && monotonic_seconds() >= c->deadline) {
		c->overdue = true;
		(void)kill(c->pid, SIGKILL);
	}
}

/* Why a signal killed the child, and what to do about it. */
static const char *
signal_advice(const struct compiler *c, int number)
{
	if (c->overdue)
		return "it took more than 5 minutes: is a source on a file "
		    "system that does not answer?";
	switch (number) {
	case SIGXCPU:
		return "it took more than 120 s: make the tables smaller";
	case SIGBUS:
		return "a source file shrank while it was read: replace "
		    "sources by renaming, not by writing into them";
	case SIGXFSZ:
		return "the table would be larger than 4 GiB: make the "
		    "tables smaller";
	case SIGKILL:
		return "another process killed it, or the kernel as memory ran out";
	case SIGSYS:
		return "it tried what its sandbox forbids: report this with "
		    "the source that does it";
	default:
		return "report this with the source that does it";
	}
}

/* From the child's end: 0, or a negative errno with an error in diag. */
static int
outcome_of(const struct compiler *c, int status, struct diag *diag)
{
	char text[CHILD_TEXT];

	if (WIFEXITED(status) && WEXITSTATUS(status) == COMPILER_DONE)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == COMPILER_NO_MEMORY) {
		diag_add(diag, DIAG_ERROR, NULL, 0, "the compiler process ran "
		    "out of memory (it may use 4 GiB): make the tables smaller");
		return -ENOMEM;
	}
	if (WIFSIGNALED(status)) {
		diag_add(diag, DIAG_ERROR, NULL, 0, "the compiler process was "
		    "ended by %s: %s", child_end_text(status, text),
		    signal_advice(c, WTERMSIG(status)));
		return -ECANCELED;
	}
	if (diag->errors == 0)
		diag_add(diag, DIAG_ERROR, NULL, 0, "the compiler process "
		    "ended with %s and without a message",
		    child_end_text(status, text));
	return -EINVAL;
}

int
compiler_image(struct compiler *c, struct diag *diag)
{
	int status = 0, image = -1, error = 0;

	if (!c->done) {
		error = child_reap(c->pid, &status);
		c->pid = 0;
		if (error == 0)
			error = outcome_of(c, status, diag);
	}
	if (error == 0 && (error = fds_seal(c->image)) < 0)
		diag_add(diag, DIAG_ERROR, NULL, 0,
		    "cannot seal the table image: %s", strerror(-error));
	if (error == 0) {
		image = c->image;
		c->image = -1;
	}
	return error < 0 ? error : image;
}

int
compiler_finish(struct compiler *c, struct diag *diag)
{
	const int image = compiler_image(c, diag);

	compiler_free(c);
	return image;
}

void
compiler_cancel(struct compiler *c)
{
	if (c != NULL)
		compiler_free(c);
}

static int
run_job(const struct config *config, enum compiler_lists which, bool unloaded,
    struct diag *diag)
{
	struct compiler *c = NULL;
	int error = start_job(&c, config, which, unloaded, diag);

	if (error < 0)
		return error;
	for (;;) {
		struct pollfd wait = { .fd = c->channel, .events = POLLIN };

		if (poll(&wait, 1, POLL_MS) > 0 && !compiler_read(c, diag))
			break;
		compiler_check_time(c);
	}
	return compiler_finish(c, diag);
}

int
compiler_run(const struct config *config, struct diag *diag)
{
	return run_job(config, COMPILER_LISTS_ALL, false, diag);
}

/* Without rules there is nothing to be read. */
static int
unloaded_image(const struct config *config)
{
	int fd = make_image(), error;

	if (fd < 0)
		return fd;
	error = compile_unloaded(&config->mesh, NULL, fd);
	if (error == 0)
		error = fds_seal(fd);
	if (error < 0) {
		(void)close(fd);
		return error;
	}
	return fd;
}

int
compiler_unloaded(const struct config *config, enum compiler_lists which,
    struct diag *diag)
{
	return config->policy.rule_count > 0 ?
	    run_job(config, which, true, diag) : unloaded_image(config);
}
