/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/supervisor/quarantine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define SUFFIX	".pcap"

/* pcap-savefile(5), in the byte order of this machine. */
struct file_header {
	uint32_t magic;
	uint16_t major, minor;
	int32_t zone;
	uint32_t accuracy;
	uint32_t longest;
	uint32_t link_type;
};

struct packet_header {
	uint32_t seconds, nanoseconds;
	uint32_t captured, length;
};

#define MAGIC_NANOSECONDS	0xa1b23c4dU
#define LINKTYPE_RAW		101U	/* begins with the IP header */

/* The directory's descriptor, or a negative errno. */
static int
open_directory(const char *run_dir, char path[static PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%s/" QUARANTINE_DIR, run_dir);
	int fd;

	if (n < 0 || n >= PATH_MAX)
		return -ENAMETOOLONG;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

static int
is_ours(const struct dirent *entry)
{
	const size_t length = strlen(entry->d_name);

	return length > strlen(SUFFIX) &&
	    strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX) == 0;
}

/* Names begin with the time, so the oldest come first. */
static void
make_room(int directory)
{
	struct dirent **entries;
	int count = scandirat(directory, ".", &entries, is_ours, alphasort);

	for (int i = 0; i < count; i++) {
		if (count - i >= QUARANTINE_MAX)
			(void)unlinkat(directory, entries[i]->d_name, 0);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static int
write_file(int fd, const struct quarantine_packet *packet)
{
	struct file_header file = {
		.magic = MAGIC_NANOSECONDS,
		.major = 2,
		.minor = 4,
		.longest = UINT16_MAX,
		.link_type = LINKTYPE_RAW,
	};
	struct packet_header header = {
		.seconds = (uint32_t)packet->when.tv_sec,
		.nanoseconds = (uint32_t)packet->when.tv_nsec,
		.captured = (uint32_t)packet->length,
		.length = (uint32_t)packet->length,
	};
	struct iovec parts[] = {
		{ &file, sizeof(file) },
		{ &header, sizeof(header) },
		/* only read by writev(2) */
		{ (void *)(uintptr_t)packet->octets, packet->length },
	};
	const ssize_t whole = (ssize_t)(sizeof(file) + sizeof(header) +
	    packet->length);
	ssize_t written = writev(fd, parts, 3);

	if (written < 0)
		return -errno;
	return written == whole ? 0 : -ENOSPC;
}

int
quarantine_keep(const char *run_dir, const struct quarantine_packet *packet,
    char path[static PATH_MAX])
{
	const int directory = open_directory(run_dir, path);
	const char *name = path + strlen(path) + 1;
	size_t used = strlen(path);
	struct tm utc;
	int n, fd, error;

	if (directory < 0)
		return directory;
	make_room(directory);
	(void)gmtime_r(&packet->when.tv_sec, &utc);
	used += strftime(path + used, PATH_MAX - used, "/%Y%m%dT%H%M%S", &utc);
	n = snprintf(path + used, PATH_MAX - used, ".%09ldZ-queue%u-packet%u"
	    SUFFIX, packet->when.tv_nsec, packet->queue, packet->id);
	error = n < 0 || (size_t)n >= PATH_MAX - used ? -ENAMETOOLONG : 0;
	if (error == 0) {
		fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL |
		    O_CLOEXEC | O_NOFOLLOW, 0600);
		error = fd < 0 ? -errno : write_file(fd, packet);
		if (error < 0 && fd >= 0)
			(void)unlinkat(directory, name, 0);
		if (fd >= 0)
			(void)close(fd);
	}
	(void)close(directory);
	return error;
}
