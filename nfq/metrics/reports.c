/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/metrics/reports.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TRIES	1000

/* Another description of the file, which only reads.  Or a negative errno. */
static int
reopen(int fd)
{
	char path[32];
	int again;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	return again < 0 ? -errno : again;
}

int
metrics_reports_new(struct metrics_reports **reports, int *fd)
{
	const int file = memfd_create("nfdns-metrics", MFD_CLOEXEC |
	    MFD_ALLOW_SEALING);
	void *base = MAP_FAILED;
	int error = 0;

	if (file < 0)
		return -errno;
	/* The reader must not meet the end of the file. */
	if (ftruncate(file, sizeof(**reports)) < 0 || fcntl(file, F_ADD_SEALS,
	    F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		error = -errno;
	if (error == 0)
		base = mmap(NULL, sizeof(**reports), PROT_READ | PROT_WRITE,
		    MAP_SHARED, file, 0);
	if (error == 0 && base == MAP_FAILED)
		error = -errno;
	*fd = error == 0 ? reopen(file) : error;
	(void)close(file);
	if (*fd >= 0) {
		*reports = base;
		return 0;
	}
	if (base != MAP_FAILED)
		(void)munmap(base, sizeof(**reports));
	return *fd;
}

int
metrics_reports_map(const struct metrics_reports **reports, int fd)
{
	const void *base = mmap(NULL, sizeof(**reports), PROT_READ, MAP_SHARED,
	    fd, 0);

	if (base == MAP_FAILED)
		return -errno;
	*reports = base;
	return 0;
}

void
metrics_reports_free(const struct metrics_reports *reports)
{
	if (reports != NULL)
		(void)munmap((void *)(uintptr_t)reports, sizeof(*reports));
}

void
metrics_reports_write(struct metrics_reports *reports, const char *text,
    size_t length)
{
	if (length > METRICS_REPORTS_MAX)
		length = 0;
	atomic_fetch_add(&reports->sequence, 1);
	atomic_thread_fence(memory_order_seq_cst);
	memcpy(reports->text, text, length);
	atomic_store(&reports->length, (uint32_t)length);
	atomic_fetch_add(&reports->sequence, 1);
}

void
metrics_reports_read(const struct metrics_reports *reports,
    char text[static METRICS_REPORTS_MAX + 1])
{
	for (int i = 0; i < TRIES; i++) {
		const uint32_t before = atomic_load(&reports->sequence);
		size_t length = atomic_load(&reports->length);

		if (length > METRICS_REPORTS_MAX)
			length = 0;
		memcpy(text, reports->text, length);
		text[length] = '\0';
		atomic_thread_fence(memory_order_seq_cst);
		if ((before & 1) == 0 &&
		    atomic_load(&reports->sequence) == before)
			return;
	}
	text[0] = '\0';
}
