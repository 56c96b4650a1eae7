/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Outlets with a format that is no text: newlines anywhere in its records, and
 * octets at the beginning and the end of a file.
 */
#include "policy/audit/outlet.h"

#include <sys/resource.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"

/* A piece: its octets, what it is, four of a number, newlines up to the end. */
#define RECORD_SIZE	100U
#define NOTE_SIZE	9U

static size_t
put(char *buf, uint8_t size, char kind, uint32_t number)
{
	memset(buf, '\n', size);
	buf[0] = (char)size;
	buf[1] = kind;
	memcpy(buf + 2, &number, sizeof(number));
	return size;
}

static struct audit_note end_note;	/* of the file closed last */

static size_t
binary_record(void *state, const struct audit_record *record, char *buf)
{
	CHECK(*(char *)state == 1);
	return put(buf, RECORD_SIZE, 'R', record->packet_id);
}

static size_t
binary_note(void *state, const struct audit_note *note, char *buf)
{
	static const char kinds[] = { 'B', 'L', 'E' };

	if (note->kind == AUDIT_CLOSE)
		return 0;
	CHECK(note->time_ns == 76 + (uint64_t)note->kind);
	CHECK(*(char *)state == (note->kind != AUDIT_BEGIN));
	CHECK(note->lost >= note->lost_now);
	*(char *)state = 1;
	if (note->kind == AUDIT_END)
		end_note = *note;
	return put(buf, NOTE_SIZE, kinds[note->kind], (uint32_t)note->lost_now);
}

static const struct audit_format binary = {
	.name = "binary", .record_max = RECORD_SIZE, .note_max = NOTE_SIZE,
	.record = binary_record, .note = binary_note,
};

static const struct audit_state beginning = { .time_ns = 76 },
    middle = { .time_ns = 77 }, ending = { .time_ns = 78 };

static char buffer[AUDIT_BUFFER_SIZE];
static struct audit_outlet outlet;

static void
open_outlet(int fd, bool fresh)
{
	const struct audit_file file = { .fd = fd };

	if (fresh)
		memset(&outlet, 0, sizeof(outlet));
	outlet.buffer = buffer;
	CHECK(fd >= 0);
	audit_outlet_open(&outlet, &file, &binary, &beginning);
}

/* Whether there was room. */
static bool
record(uint32_t number)
{
	const struct audit_record r = { .packet_id = number };
	char *to = audit_outlet_begin(&outlet);

	if (to == NULL)
		return false;
	audit_outlet_end(&outlet, binary.record(outlet.state, &r, to));
	return true;
}

struct content {
	char kinds[64];			/* of the first pieces */
	uint32_t records, told;
	size_t left;			/* octets behind the last whole piece */
	bool disorder;
};

static struct content
content_of(const char *octets, size_t length)
{
	struct content c = { .kinds = "" };
	uint32_t number, next = 0;
	size_t n = 0;

	while (length > 0 && length >= (uint8_t)octets[0]) {
		memcpy(&number, octets + 2, sizeof(number));
		if (n < sizeof(c.kinds) - 1)
			c.kinds[n++] = octets[1];
		if (octets[1] == 'R') {
			c.disorder |= number < next;
			next = number + 1;
			c.records++;
		} else if (octets[1] == 'L')
			c.told += number;
		length -= (uint8_t)octets[0];
		octets += (uint8_t)octets[0];
	}
	c.left = length;
	return c;
}

static struct content
content_of_file(const char *path)
{
	static char octets[4 << 20];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = read(fd, octets, sizeof(octets));

	CHECK(fd >= 0 && length >= 0);
	close(fd);
	return content_of(octets, length > 0 ? (size_t)length : 0);
}

static char path[] = "/tmp/nfdns-outlet-XXXXXX";

static int
empty_file(void)
{
	return open(path, O_WRONLY | O_APPEND | O_TRUNC | O_CREAT | O_CLOEXEC,
	    0600);
}

TEST(pieces_come_in_order)
{
	struct content c;

	open_outlet(empty_file(), true);
	CHECK(record(1) && record(2));
	audit_outlet_lose(&outlet, 5);
	CHECK(audit_outlet_tell(&outlet, &middle));
	CHECK(!audit_outlet_tell(&outlet, &middle));
	CHECK(record(3));
	audit_outlet_close(&outlet, &ending);
	CHECK(outlet.lost == 0);
	c = content_of_file(path);
	CHECK(strcmp(c.kinds, "BRRLRE") == 0 && c.told == 5 && c.left == 0);
	CHECK(end_note.records == 3 && end_note.lost == 5 && end_note.next == 9);
	/* The next file begins as the first did. */
	open_outlet(open(path, O_WRONLY | O_APPEND | O_CLOEXEC), false);
	CHECK(record(4));
	audit_outlet_close(&outlet, &ending);
	c = content_of_file(path);
	CHECK(strcmp(c.kinds, "BRRLREBRE") == 0);
	/* Each opening counts anew. */
	CHECK(end_note.records == 1 && end_note.lost == 0 && end_note.next == 10);
}

TEST(many_small_records_are_all_written)
{
	struct content c;

	open_outlet(empty_file(), true);
	for (uint32_t i = 0; i < 3 * AUDIT_OUTLET_PIECES; i++)
		CHECK(record(i));
	audit_outlet_close(&outlet, &ending);
	c = content_of_file(path);
	CHECK(c.records == 3 * AUDIT_OUTLET_PIECES && c.left == 0 &&
	    !c.disorder && outlet.lost == 0);
}

static void
limit_files(rlim_t octets)
{
	const struct rlimit limit = { octets, RLIM_INFINITY };

	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/* Wherever the disk is full: whole pieces stay, each lost record is counted. */
TEST(a_full_disk_leaves_whole_records)
{
	for (rlim_t size = 0; size < 3 * RECORD_SIZE; size += 7) {
		struct content c;

		open_outlet(empty_file(), true);
		limit_files(size);
		for (uint32_t i = 0; i < 5; i++)
			CHECK(record(i));
		audit_outlet_flush(&outlet);
		audit_outlet_lose(&outlet, 1);
		CHECK(audit_outlet_tell(&outlet, &middle));
		audit_outlet_close(&outlet, &ending);
		limit_files(RLIM_INFINITY);
		c = content_of_file(path);
		CHECK(c.left == 0 && !c.disorder);
		CHECK(c.records + outlet.lost == 5);
		CHECK(c.told == 0 && strchr(c.kinds, 'E') == NULL);
		/* What the file did not take is reported by the next. */
		CHECK(outlet.loss.count == outlet.lost + 1);
		CHECK(outlet.loss.to == 6 && outlet.number == 6);
	}
}

/* Nobody reads: what does not fit is counted, the rest comes out whole. */
TEST(a_full_pipe_is_written_on_where_it_stopped)
{
	static char octets[AUDIT_BUFFER_SIZE + (1 << 17)];
	size_t length = 0;
	uint32_t refused = 0;
	struct content c;
	int fds[2];

	CHECK(pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0);
	open_outlet(fds[1], true);
	for (uint32_t i = 0; i < 4 * AUDIT_OUTLET_PIECES; i++)
		refused += !record(i);
	CHECK(refused > 0 && outlet.stuck);
	CHECK(!audit_outlet_has_room(&outlet));
	for (;;) {
		ssize_t n = read(fds[0], octets + length,
		    sizeof(octets) - length > 1001 ? 1001 :
		    sizeof(octets) - length);

		if (n <= 0)
			break;
		length += (size_t)n;
		audit_outlet_flush(&outlet);
	}
	CHECK(audit_outlet_is_empty(&outlet) && outlet.count == 0);
	c = content_of(octets, length);
	CHECK(c.records == 4 * AUDIT_OUTLET_PIECES - refused);
	CHECK(c.left == 0 && !c.disorder);
	audit_outlet_close(&outlet, &ending);
	close(fds[0]);
}

TEST(names_of_formats_are_those_of_the_rows)
{
	for (size_t i = 0; i < AUDIT_FORMATS; i++) {
		const struct audit_format *format = audit_formats[i];

		CHECK(strcmp(format->name, audit_format_names[i]) == 0);
		CHECK(format->record != NULL && format->note != NULL);
		CHECK(format->record_max + 2 * format->note_max <=
		    AUDIT_BUFFER_SIZE);
	}
	CHECK(audit_format_names[AUDIT_FORMATS] == NULL);
}

int
main(void)
{
	int fd = mkstemp(path);

	close(fd);
	(void)signal(SIGXFSZ, SIG_IGN);
	test_run();
	unlink(path);
	return test_summary();
}
