/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/handover/generation_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

static int ends[2];

static bool
is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static bool
same_file(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino;
}

/* With so many audit files, every other one for passes, too. */
static struct generation_files
make(size_t audits)
{
	struct generation_files g = { .number = 42, .image = dup(ends[0]),
		.settings = dup(ends[1]), .cache = audits == 1 ? dup(ends[0]) :
		-1, .authorities = -1, .audit.count = audits };
	int pipes[2];

	for (size_t i = 0; i < audits; i++) {
		CHECK(pipe(pipes) == 0);
		close(pipes[0]);
		g.audit.files[i] = (struct audit_file){ .fd = pipes[1],
			.sink.verdicts = i % 2 + 1 };
	}
	return g;
}

TEST(a_generation_arrives_whole)
{
	const size_t counts[] = { 0, 1, AUDIT_MAX_FILES };

	for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); n++) {
		struct generation_files sent = make(counts[n]);
		struct generation_files got = GENERATION_FILES_INIT;
		struct control_message message;
		int fds[CONTROL_MAX_FDS];

		CHECK(generation_files_send(ends[0], &sent) == 0);
		CHECK(control_receive(ends[1], &message, fds) == 0);
		CHECK(message.kind == CONTROL_GENERATION);
		CHECK(generation_files_take(&got, &message, fds) == 0);
		CHECK(got.number == 42 && same_file(got.image, sent.image));
		CHECK(same_file(got.settings, sent.settings));
		CHECK(counts[n] == 1 ? same_file(got.cache, sent.cache) :
		    got.cache == -1);
		CHECK(got.audit.count == counts[n]);
		for (size_t i = 0; i < got.audit.count; i++)
			CHECK(same_file(got.audit.files[i].fd,
			    sent.audit.files[i].fd) &&
			    got.audit.files[i].sink.verdicts == i % 2 + 1);
		generation_files_close(&sent);
		generation_files_close(&got);
		CHECK(got.image == -1 && got.settings == -1 &&
		    got.cache == -1 &&
		    got.audit.count == 0);
		generation_files_close(&got);
	}
}

TEST(half_a_generation_is_refused)
{
	struct generation_files g = GENERATION_FILES_INIT;
	const struct control_message order = { .kind = CONTROL_GENERATION };
	struct control_message message;
	int fds[CONTROL_MAX_FDS], file = open("/dev/null", O_RDONLY);

	for (size_t count = 0; count < 2; count++) {
		CHECK(control_send(ends[0], &order, &file, count) == 0);
		CHECK(control_receive(ends[1], &message, fds) == 0);
		CHECK(generation_files_take(&g, &message, fds) == -EPROTO);
		CHECK(count == 0 || !is_open(fds[0]));
		CHECK(g.image == -1 && g.settings == -1);
	}
	close(file);
}

TEST(a_table_arrives_alone)
{
	struct generation_files sent = { .number = 43, .settings = -1,
		.image = open("/dev/null", O_RDONLY) };
	struct generation_files got = GENERATION_FILES_INIT;
	struct control_message message;
	int fds[CONTROL_MAX_FDS];

	CHECK(generation_files_send(ends[0], &sent) == 0);
	CHECK(control_receive(ends[1], &message, fds) == 0);
	CHECK(message.kind == CONTROL_TABLE && message.fd_count == 1);
	CHECK(generation_files_take(&got, &message, fds) == 0);
	CHECK(got.number == 43 && same_file(got.image, sent.image));
	CHECK(got.settings == -1 && got.cache == -1 && got.audit.count == 0);
	generation_files_close(&got);
	/* With anything else it is none. */
	CHECK(control_send(ends[0], &message, (int[]){ sent.image, sent.image },
	    2) == 0);
	CHECK(control_receive(ends[1], &message, fds) == 0);
	CHECK(generation_files_take(&got, &message, fds) == -EPROTO);
	CHECK(!is_open(fds[0]) && !is_open(fds[1]) && got.image == -1);
	(void)close(sent.image);
}

TEST(fresh_audit_files_arrive)
{
	struct generation_files sent = make(3);
	struct control_message message;
	struct audit_files got;
	int fds[CONTROL_MAX_FDS], many[CONTROL_MAX_FDS];

	CHECK(audit_files_send(ends[0], &sent.audit) == 0);
	CHECK(control_receive(ends[1], &message, fds) == 0);
	CHECK(message.kind == CONTROL_AUDIT_FILES);
	CHECK(audit_files_take(&got, &message, fds) == 0);
	CHECK(got.count == 3 && got.files[1].sink.verdicts == 2 &&
	    got.files[2].sink.verdicts == 1);
	CHECK(same_file(got.files[2].fd, sent.audit.files[2].fd));
	audit_files_close(&got);
	/* More than there may be. */
	for (size_t i = 0; i < CONTROL_MAX_FDS; i++)
		many[i] = sent.image;
	CHECK(control_send(ends[0], &message, many, CONTROL_MAX_FDS) == 0);
	CHECK(control_receive(ends[1], &message, fds) == 0);
	CHECK(audit_files_take(&got, &message, fds) == -EPROTO);
	CHECK(!is_open(fds[0]) && !is_open(fds[CONTROL_MAX_FDS - 1]));
	/* A format of another version. */
	sent.audit.files[2].sink.format = AUDIT_FORMATS;
	CHECK(audit_files_send(ends[0], &sent.audit) == 0);
	CHECK(control_receive(ends[1], &message, fds) == 0);
	CHECK(audit_files_take(&got, &message, fds) == -EPROTO);
	CHECK(!is_open(fds[0]) && !is_open(fds[3]));
	/* Files without sinks, and sinks that anybody can change. */
	message.sinks = 0;
	CHECK(control_send(ends[0], &message, many, 2) == 0);
	CHECK(control_receive(ends[1], &message, fds) == 0);
	CHECK(audit_files_take(&got, &message, fds) == -EPROTO);
	message.sinks = message.opened = 1;
	CHECK(control_send(ends[0], &message, many, 2) == 0);
	CHECK(control_receive(ends[1], &message, fds) == 0);
	CHECK(audit_files_take(&got, &message, fds) == -EPROTO);
	/* One is not open. */
	sent.audit.files[2].sink.format = AUDIT_JSON;
	close(sent.audit.files[1].fd);
	sent.audit.files[1].fd = -1;
	CHECK(audit_files_send(ends[0], &sent.audit) == 0);
	CHECK(control_receive(ends[1], &message, fds) == 0);
	CHECK(audit_files_take(&got, &message, fds) == 0);
	CHECK(got.count == 3 && got.files[1].fd == -1);
	CHECK(same_file(got.files[2].fd, sent.audit.files[2].fd));
	audit_files_close(&got);
	generation_files_close(&sent);
}

int
main(void)
{
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) ==
	    0);
	return test_run();
}
