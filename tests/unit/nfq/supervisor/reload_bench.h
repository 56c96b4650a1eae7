/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A supervisor that reloads, by a clock of the test's own.  Files, compiler and
 * status page are real; the worker is the other end of a control socket;
 * installing rules into the kernel is only recorded.
 */
#ifndef NFDNS_TESTS_UNIT_NFQ_SUPERVISOR_RELOAD_BENCH_H
#define NFDNS_TESTS_UNIT_NFQ_SUPERVISOR_RELOAD_BENCH_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nfq/supervisor/parts.h"
#include "policy/log.h"
#include "tests/check.h"

#define START		1000000		/* milliseconds */
#define SWAP_MS		30000
#define SWAP_TRIES	5
#define LOSS_MS		300000

static char directory[] = "/tmp/nfdns-reload-XXXXXX";
static char config_path[80], table_path[80], audit_path[80];
static struct supervisor s;
static int worker;			/* its end of the control socket */

/* What the kernel was told, and what it says. */
static struct {
	int error;
	unsigned int installed;
	const struct ruleset *last;
	unsigned int replaced;		/* the worker, by another one, */
	int no_worker;			/* which does not start, at the first try */
} kernel;

int
rules_kernel_install(struct rules_kernel *k, const struct ruleset *set,
    struct rules_features *features, struct diag *diag)
{
	CHECK(k == NULL && features == &s.features);
	kernel.installed++;
	kernel.last = set;
	if (kernel.error < 0)
		diag_add(diag, DIAG_ERROR, NULL, 0, "the kernel refuses");
	return kernel.error;
}

/* Nobody asks at the control socket. */
int
rules_kernel_verify(struct rules_kernel *k, enum rules_state *state,
    struct diag *diag)
{
	(void)k;
	(void)state;
	(void)diag;
	return -EPERM;
}

const char *
rules_kernel_open_error(int error)
{
	return strerror(-error);
}

int
supervisor_replace_worker(struct supervisor *of, const struct config *before,
    struct diag *diag)
{
	CHECK(of == &s && before != s.config && s.worker.config == s.config);
	if (kernel.replaced++ > 0 || kernel.no_worker == 0)
		return 0;
	diag_add(diag, DIAG_ERROR, NULL, 0, "no worker starts");
	return kernel.no_worker;
}

static inline monotime_t
at(int64_t ms)
{
	return monotime_from_ms(START + ms);
}

static inline void write_file(const char *path, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline void
write_file(const char *path, const char *format, ...)
{
	FILE *file = fopen(path, "we");
	va_list arguments;

	CHECK(file != NULL);
	va_start(arguments, format);
	(void)vfprintf(file, format, arguments);
	va_end(arguments);
	CHECK(fclose(file) == 0);
}

/* The configuration with something more in "mesh" and behind it. */
static inline void
configure(const char *mesh, const char *more)
{
	write_file(config_path, "run_dir = \"%s\";\nuser = \"65533\";\n"
	    "mesh = { search = [ \"example\" ]; %s tables = ( "
	    "{ format = \"hosts\"; path = \"%s\"; } ); };\n"
	    "%s\n", directory, mesh, table_path, more);
}

/* A table of so many names. */
static inline void
fill_table(unsigned int names)
{
	FILE *file = fopen(table_path, "we");

	CHECK(file != NULL);
	for (unsigned int i = 0; i < names; i++)
		(void)fprintf(file, "10.0.0.1 n%u.mesh\n", i);
	CHECK(fclose(file) == 0);
}

static inline unsigned int
open_files(void)
{
	DIR *files = opendir("/proc/self/fd");
	unsigned int count = 0;

	CHECK(files != NULL);
	while (readdir(files) != NULL)
		count++;
	(void)closedir(files);
	return count;
}

/* Before the first test, and after the last.  False: there is no directory. */
static inline bool
open_directory(void)
{
	if (mkdtemp(directory) == NULL)
		return false;
	(void)snprintf(config_path, sizeof(config_path), "%s/conf", directory);
	(void)snprintf(table_path, sizeof(table_path), "%s/table", directory);
	(void)snprintf(audit_path, sizeof(audit_path), "%s/audit", directory);
	return true;
}

static inline void
remove_directory(void)
{
	(void)unlink(config_path);
	(void)unlink(table_path);
	CHECK(rmdir(directory) == 0);
}

/* A supervisor as the start leaves it, with a table of so many names. */
static inline void
begin(unsigned int names)
{
	struct diag diag = DIAG_INIT;
	int ends[2];

	memset(&s, 0, sizeof(s));
	memset(&kernel, 0, sizeof(kernel));
	clients_init(&s.clients);
	s.generation = s.reload.generation =
	    (struct generation_files)GENERATION_FILES_INIT;
	s.worker = (struct worker_process)WORKER_PROCESS_INIT;
	configure("", "");
	fill_table(names);
	CHECK(config_load(&s.config, config_path, &diag) == 0);
	CHECK(ruleset_build(&s.set, s.config, RULES_FULL, &diag) == 0);
	s.generation.number = 1;
	s.generation.image = compiler_run(s.config, &diag);
	CHECK(s.generation.image >= 0);
	CHECK(supervisor_open_settings(s.config, &s, &s.generation,
	    &diag) == 0);
	CHECK(status_create(&s.status, 1) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK |
	    SOCK_CLOEXEC, 0, ends) == 0);
	s.worker.control = ends[0];
	worker = ends[1];
	diag_free(&diag);
}

static inline void
end(void)
{
	reload_cancel(&s);
	CHECK(s.reload.phase == RELOAD_IDLE);
	watch_close(s.watch);
	generation_files_close(&s.generation);
	ruleset_free(&s.set);
	status_close(&s.status);
	config_free(s.config);
	if (s.worker.control >= 0)
		(void)close(s.worker.control);
	if (worker >= 0)
		(void)close(worker);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

/* Until the compiler is done. */
static inline void
compile(int64_t ms)
{
	while (s.reload.phase == RELOAD_COMPILING) {
		struct pollfd wait = {
			.fd = compiler_fd(s.reload.compiler),
			.events = POLLIN,
		};

		CHECK(poll(&wait, 1, 20000) == 1);
		reload_compiler_ready(&s, at(ms));
	}
}

/* Takes what the worker was sent; true if it is a generation. */
static inline bool
sent_generation(struct generation_files *got)
{
	struct control_message order;
	int fds[CONTROL_MAX_FDS];

	if (control_receive(worker, &order, fds) != 0)
		return false;
	CHECK(order.kind == (s.reload.wish == RELOAD_TABLES ? CONTROL_TABLE :
	    CONTROL_GENERATION));
	return generation_files_take(got, &order, fds) == 0;
}

static inline bool
sent_nothing(void)
{
	struct control_message order;
	int fds[CONTROL_MAX_FDS];

	return control_receive(worker, &order, fds) == -EAGAIN;
}

static inline void
answer(enum control_kind kind, uint64_t number)
{
	struct control_message message = { .kind = kind,
		.generation = number, .names = 7, .octets = 77 };

	(void)snprintf(message.text, sizeof(message.text), "so says the worker");
	reload_answered(&s, &message);
}

/* Whether the last reload ended so; a text that its first error has. */
static inline bool
ended(const char *error)
{
	char text[STATUS_TEXT];
	bool ok;

	status_reload_error(&s.status, &ok, text);
	if (s.reload.phase != RELOAD_IDLE || ok != (error == NULL) ||
	    (error != NULL && strstr(text, error) == NULL)) {
		printf("phase %d, ok %d, error \"%s\"\n", s.reload.phase, ok,
		    text);
		return false;
	}
	return true;
}

/* Whether nothing has changed, and the worker was told nothing more. */
static inline bool
all_is_as_before(void)
{
	return s.generation.number == 1 && s.generation.image >= 0 &&
	    s.config->log_level == LOG_LEVEL_INFO && sent_nothing() &&
	    fcntl(s.generation.settings, F_GETFD) >= 0;
}

/* Until the worker was sent the next generation, which is dropped. */
static inline void
go_to_swapping(enum reload_wish wish)
{
	struct generation_files got = GENERATION_FILES_INIT;

	reload_begin(&s, wish);
	CHECK(s.reload.phase == RELOAD_COMPILING);
	compile(0);
	CHECK(s.reload.phase == RELOAD_SWAPPING);
	CHECK(sent_generation(&got));
	generation_files_close(&got);
}

#endif
