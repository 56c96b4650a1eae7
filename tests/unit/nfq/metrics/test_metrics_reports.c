/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/metrics/reports.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/check.h"

static struct metrics_reports *writer;
static const struct metrics_reports *reader;
static char text[METRICS_REPORTS_MAX + 1];
static char big[METRICS_REPORTS_MAX + 1];
static int fd;

static void
what_is_written_is_read(void)
{
	CHECK(metrics_reports_new(&writer, &fd) == 0);
	CHECK(metrics_reports_map(&reader, fd) == 0);
	metrics_reports_read(reader, text);
	CHECK(text[0] == '\0');
	metrics_reports_write(writer, "one\n", 4);
	metrics_reports_read(reader, text);
	CHECK(strcmp(text, "one\n") == 0);
	memset(big, 'x', sizeof(big));
	metrics_reports_write(writer, big, METRICS_REPORTS_MAX);
	metrics_reports_read(reader, text);
	CHECK(strlen(text) == METRICS_REPORTS_MAX);
	metrics_reports_write(writer, big, METRICS_REPORTS_MAX + 1);
	metrics_reports_read(reader, text);
	CHECK(text[0] == '\0');
}

static void
a_reader_cannot_write(void)
{
	CHECK((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY);
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) ==
	    MAP_FAILED);
	CHECK(ftruncate(fd, 0) < 0);
}

static void
a_writer_that_died_halfway_stops_nobody(void)
{
	metrics_reports_write(writer, "two\n", 4);
	atomic_fetch_add(&writer->sequence, 1);
	metrics_reports_read(reader, text);
	CHECK(text[0] == '\0');
	atomic_fetch_add(&writer->sequence, 1);
	atomic_store(&writer->length, UINT32_MAX);
	metrics_reports_read(reader, text);
	CHECK(text[0] == '\0');
	metrics_reports_free(reader);
	metrics_reports_free(writer);
	(void)close(fd);
}

int
main(void)
{
	TEST(what_is_written_is_read);
	TEST(a_reader_cannot_write);
	TEST(a_writer_that_died_halfway_stops_nobody);
	return test_summary();
}
