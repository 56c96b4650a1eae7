/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A supervisor that reloads, by a clock of the test's own: reloads that arrive, that
 * are refused, and what is wished for meanwhile.  Files, compiler and status page are
 * real; the worker is the other end of a control socket; installing rules into the
 * kernel is only recorded.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nfq/supervisor/parts.h"
#include "policy/config/settings.h"
#include "policy/log.h"
#include "resolver/image/table.h"
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

static monotime_t
at(int64_t ms)
{
	return monotime_from_ms(START + ms);
}

static void write_file(const char *path, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
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
static void
configure(const char *mesh, const char *more)
{
	write_file(config_path, "run_dir = \"%s\";\nuser = \"65533\";\n"
	    "mesh = { search = [ \"example\" ]; %s tables = ( "
	    "{ format = \"hosts\"; path = \"%s\"; } ); };\n"
	    "%s\n", directory, mesh, table_path, more);
}

/* A table of so many names. */
static void
fill_table(unsigned int names)
{
	FILE *file = fopen(table_path, "we");

	CHECK(file != NULL);
	for (unsigned int i = 0; i < names; i++)
		(void)fprintf(file, "10.0.0.1 n%u.mesh\n", i);
	CHECK(fclose(file) == 0);
}

static unsigned int
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
static bool
open_directory(void)
{
	if (mkdtemp(directory) == NULL)
		return false;
	(void)snprintf(config_path, sizeof(config_path), "%s/conf", directory);
	(void)snprintf(table_path, sizeof(table_path), "%s/table", directory);
	(void)snprintf(audit_path, sizeof(audit_path), "%s/audit", directory);
	return true;
}

static void
remove_directory(void)
{
	(void)unlink(config_path);
	(void)unlink(table_path);
	CHECK(rmdir(directory) == 0);
}

/* A supervisor as the start leaves it, with a table of so many names. */
static void
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

static void
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
static void
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
static bool
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

static bool
sent_nothing(void)
{
	struct control_message order;
	int fds[CONTROL_MAX_FDS];

	return control_receive(worker, &order, fds) == -EAGAIN;
}

static void
answer(enum control_kind kind, uint64_t number)
{
	struct control_message message = { .kind = kind,
		.generation = number, .names = 7, .octets = 77 };

	(void)snprintf(message.text, sizeof(message.text), "so says the worker");
	reload_answered(&s, &message);
}

/* Whether the last reload ended so; a text that its first error has. */
static bool
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
static bool
all_is_as_before(void)
{
	return s.generation.number == 1 && s.generation.image >= 0 &&
	    s.config->log_level == LOG_LEVEL_INFO && sent_nothing() &&
	    fcntl(s.generation.settings, F_GETFD) >= 0;
}

/* Until the worker was sent the next generation, which is dropped. */
static void
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

/* As the kernel's may: behind the clock for a while after a second has begun. */
time_t
time(time_t *out)
{
	const time_t now = (time_t)realtime_s() - 1;

	if (out != NULL)
		*out = now;
	return now;
}

TEST(tables_that_are_the_same_change_nothing)
{
	begin(2);
	reload_begin(&s, RELOAD_TABLES);
	compile(0);
	CHECK(ended(NULL) && all_is_as_before() && s.watch == NULL);
	/* But a reload of everything always makes a generation. */
	go_to_swapping(RELOAD_ALL);
	answer(CONTROL_GENERATION_OK, 2);
	CHECK(ended(NULL) && s.generation.number == 2);
	fill_table(3);
	go_to_swapping(RELOAD_TABLES);
	answer(CONTROL_GENERATION_OK, 3);
	CHECK(ended(NULL) && s.generation.number == 3);
	end();
}

/* A push: whatever else has changed on the machine is not looked at. */
TEST(tables_alone_change_nothing_else)
{
	struct generation_files got = GENERATION_FILES_INIT;
	struct generation_files before;
	const struct config *config;
	char more[200];
	struct stat st;

	begin(1);
	(void)snprintf(more, sizeof(more), "audit = ( { path = \"%s\"; } );",
	    audit_path);
	configure("", more);
	go_to_swapping(RELOAD_ALL);
	answer(CONTROL_GENERATION_OK, 2);
	config = s.config;
	before = s.generation;
	kernel.installed = 0;
	CHECK(unlink(audit_path) == 0);
	configure("", "nonsense = 1;");
	fill_table(2);
	reload_begin(&s, RELOAD_TABLES);
	compile(0);
	CHECK(s.reload.phase == RELOAD_SWAPPING && sent_generation(&got));
	CHECK(got.number == 3 && got.image >= 0 && got.settings == -1 &&
	    got.cache == -1 && got.audit.count == 0);
	generation_files_close(&got);
	/* A worker that dies gets the same from the next. */
	reload_worker_replaced(&s, at(1));
	CHECK(sent_generation(&got) && got.settings == -1);
	generation_files_close(&got);
	answer(CONTROL_GENERATION_OK, 3);
	CHECK(ended(NULL) && s.generation.number == 3);
	CHECK(s.config == config && s.generation.settings == before.settings &&
	    s.generation.image != before.image && s.generation.audit.count == 1
	    && s.generation.audit.files[0].fd == before.audit.files[0].fd);
	CHECK(kernel.installed == 0);
	CHECK(stat(audit_path, &st) < 0);	/* not opened, so not created */
	CHECK(s.config->mesh.sources[0].changed != 0);
	end();
}

TEST(a_worker_that_is_gone_does_not_matter)
{
	begin(1);
	(void)close(worker);
	worker = -1;
	reload_begin(&s, RELOAD_ALL);
	compile(0);
	CHECK(s.reload.phase == RELOAD_SWAPPING && s.reload.tries == 1);
	end();
}

TEST(what_is_wished_for_meanwhile_follows)
{
	begin(1);
	reload_tick(&s, at(0));
	go_to_swapping(RELOAD_ALL);
	reload_tick(&s, at(0));
	reload_begin(&s, RELOAD_ALL);
	reload_begin(&s, RELOAD_TABLES);	/* the smaller is part of it */
	CHECK(s.reload.again == RELOAD_ALL);
	answer(CONTROL_GENERATION_OK, 2);
	CHECK(s.reload.phase == RELOAD_COMPILING &&
	    s.reload.wish == RELOAD_ALL && s.reload.again == RELOAD_NOTHING);
	reload_tick(&s, at(0));
	compile(0);
	answer(CONTROL_GENERATION_OK, 3);
	CHECK(s.generation.number == 3 && ended(NULL));
	end();
}

TEST(a_stop_ends_it_in_every_state)
{
	unsigned int files;

	begin(1);
	files = open_files();
	reload_cancel(&s);			/* idle: nothing to end */
	reload_begin(&s, RELOAD_ALL);
	reload_begin(&s, RELOAD_ALL);
	reload_cancel(&s);
	CHECK(ended("stopping") && open_files() == files);
	go_to_swapping(RELOAD_ALL);
	reload_cancel(&s);
	CHECK(ended("stopping") && open_files() == files);
	CHECK(all_is_as_before());
	end();
}

/* How many audit files the worker was sent alone; -1: none at all. */
static int
sent_audit_files(void)
{
	struct control_message order;
	struct audit_files files;
	int fds[CONTROL_MAX_FDS], count;

	if (control_receive(worker, &order, fds) != 0 ||
	    order.kind != CONTROL_AUDIT_FILES ||
	    audit_files_take(&files, &order, fds) < 0)
		return -1;
	count = (int)files.count;
	audit_files_close(&files);
	return count;
}

/* Somebody renames the audit's file; a reload has opened it before. */
TEST(renamed_audit_files_are_not_brought_back)
{
	struct generation_files got = GENERATION_FILES_INIT;
	char more[200], renamed[100];

	(void)snprintf(more, sizeof(more), "audit = ( { path = \"%s\"; } );",
	    audit_path);
	(void)snprintf(renamed, sizeof(renamed), "%s.1", audit_path);
	begin(1);
	configure("", more);
	go_to_swapping(RELOAD_ALL);
	answer(CONTROL_GENERATION_OK, 2);
	supervisor_reopen_audit_files(&s);	/* no reload: at once */
	CHECK(sent_audit_files() == 1 && sent_audit_files() == -1);
	reload_begin(&s, RELOAD_ALL);
	CHECK(rename(audit_path, renamed) == 0);
	supervisor_reopen_audit_files(&s);	/* at once, and at its end */
	CHECK(sent_audit_files() == 1 && access(audit_path, F_OK) == 0);
	compile(0);
	CHECK(sent_generation(&got));
	generation_files_close(&got);
	answer(CONTROL_GENERATION_OK, 3);
	CHECK(ended(NULL) && sent_audit_files() == 1);
	go_to_swapping(RELOAD_ALL);
	CHECK(unlink(audit_path) == 0);
	supervisor_reopen_audit_files(&s);	/* at its end only */
	CHECK(sent_nothing());
	answer(CONTROL_GENERATION_BAD, 4);
	CHECK(sent_audit_files() == 1 && access(audit_path, F_OK) == 0);
	/* If it cannot be opened, the old file stays in use. */
	CHECK(unlink(audit_path) == 0 && mkdir(audit_path, 0700) == 0);
	supervisor_reopen_audit_files(&s);
	CHECK(sent_nothing() && s.generation.audit.count == 1);
	CHECK(rmdir(audit_path) == 0 && unlink(renamed) == 0);
	end();
}

/* All stays as it was. */
TEST(a_worker_that_refuses_keeps_the_old_one)
{
	unsigned int files;

	begin(1);
	files = open_files();
	go_to_swapping(RELOAD_ALL);
	answer(CONTROL_GENERATION_BAD, 2);
	CHECK(ended("so says the worker") && all_is_as_before());
	CHECK(kernel.installed == 0 && open_files() == files);
	/* The number is free again. */
	go_to_swapping(RELOAD_ALL);
	CHECK(s.reload.generation.number == 2);
	answer(CONTROL_GENERATION_OK, 2);
	CHECK(ended(NULL) && s.reload_error[0] == '\0');
	end();
}

static const char *const bypass =
    "capture = { bypass = { users = [ 4711 ]; }; };";

TEST(rules_are_installed_and_undone)
{
	begin(1);
	configure("", bypass);
	go_to_swapping(RELOAD_ALL);
	CHECK(kernel.installed == 1 && kernel.last == &s.reload.set);
	answer(CONTROL_GENERATION_BAD, 2);
	CHECK(kernel.installed == 2 && kernel.last == &s.set);
	CHECK(ended("so says the worker") && all_is_as_before());
	/* And if even that cannot be done, it is logged. */
	go_to_swapping(RELOAD_ALL);
	kernel.error = -EPERM;
	answer(CONTROL_GENERATION_BAD, 2);
	CHECK(kernel.installed == 4 && ended("so says the worker"));
	/* A kernel that refuses: the worker hears nothing. */
	reload_begin(&s, RELOAD_ALL);
	compile(0);
	CHECK(ended("the kernel refuses") && all_is_as_before());
	CHECK(kernel.installed == 5);
	kernel.error = 0;
	go_to_swapping(RELOAD_ALL);
	answer(CONTROL_GENERATION_OK, 2);
	CHECK(ended(NULL) && kernel.installed == 6);
	end();
}

TEST(workers_that_die_are_asked_again)
{
	struct generation_files got = GENERATION_FILES_INIT;

	begin(1);
	configure("", bypass);
	reload_worker_replaced(&s, at(0));	/* no reload: nothing is sent */
	CHECK(sent_nothing());
	go_to_swapping(RELOAD_ALL);
	for (int i = 1; i < SWAP_TRIES; i++) {
		reload_worker_replaced(&s, at(i));
		CHECK(sent_generation(&got) && got.number == 2);
		generation_files_close(&got);
	}
	reload_worker_replaced(&s, at(SWAP_TRIES));
	CHECK(ended("5 workers in a row died") && all_is_as_before());
	CHECK(kernel.installed == 2 && kernel.last == &s.set);
	end();
}

/* A child that stands for the worker's process. */
static pid_t
sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			(void)pause();
	return pid;
}

TEST(a_worker_has_half_a_minute)
{
	struct generation_files got = GENERATION_FILES_INIT;
	int status = 0;

	begin(1);
	go_to_swapping(RELOAD_ALL);
	s.worker.pid = sleeper();
	reload_tick(&s, at(SWAP_MS - 1));
	CHECK(!s.worker.killed);
	reload_tick(&s, at(SWAP_MS));
	CHECK(s.worker.killed);
	CHECK(waitpid(s.worker.pid, &status, 0) == s.worker.pid &&
	    WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	reload_tick(&s, at(SWAP_MS + 1));	/* once is enough */
	/* The next one has a time of its own. */
	s.worker.killed = false;
	s.worker.pid = sleeper();
	reload_worker_replaced(&s, at(SWAP_MS + 2));
	CHECK(sent_generation(&got));
	generation_files_close(&got);
	reload_tick(&s, at(2 * SWAP_MS + 1));
	CHECK(!s.worker.killed);
	worker_process_kill(&s.worker);
	CHECK(waitpid(s.worker.pid, &status, 0) == s.worker.pid);
	s.worker.pid = 0;
	end();
}

int
main(void)
{
	if (!open_directory())
		return 1;
	test_run();
	remove_directory();
	return test_summary();
}
