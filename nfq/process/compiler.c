/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parent side; compiler_process.c has the child's.
 *
 * The child sends lines through a socket.  "E TEXT", "W TEXT" and "N TEXT" are
 * an error, a warning and a note.  "D done": the image is written, and the parent
 * need not wait for the child's end.  "I NUMBER NAME" asks for a file that the child
 * may not open itself (resolver/sources/include.h); the parent sends it back.
 * The parent trusts none of it: it cuts, counts and escapes lines like any other
 * input.
 */
#include "nfq/process/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nfq/process/child.h"
#include "nfq/process/compiler_process.h"
#include "resolver/compile/compile.h"
#include "resolver/sources/include.h"
#include "resolver/sources/source_format.h"
#include "resolver/compile/source_files.h"
#include "resolver/sources/source_file.h"

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

/* From here on no process can change the image, not even the compiler. */
static int
seal_image(int fd)
{
	return fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK |
	    F_SEAL_GROW | F_SEAL_SEAL) < 0 ? -errno : 0;
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

static void
take_octets(struct compiler *c, const char *octets, size_t length,
    struct diag *diag)
{
	for (size_t i = 0; i < length; i++) {
		if (octets[i] == '\n')
			take_line(c, diag);
		else if (c->fill < sizeof(c->line) - 1)
			c->line[c->fill++] = octets[i];
	}
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
	take_octets(c, octets, (size_t)n, diag);
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
	if (error == 0 && (error = seal_image(c->image)) < 0)
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
		error = seal_image(fd);
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
