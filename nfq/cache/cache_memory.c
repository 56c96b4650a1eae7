/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cache/cache_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfq/cache/cache_state.h"

#define SEALS	(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

int
cache_memory_new(uint32_t entries)
{
	int fd = memfd_create("nfdns-cache", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int error;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)cache_octets(entries)) == 0 &&
	    fcntl(fd, F_ADD_SEALS, SEALS) == 0)
		return fd;
	error = -errno;
	(void)close(fd);
	return error;
}

bool
cache_memory_fits(int fd, uint32_t entries)
{
	const int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	return seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &st) == 0 &&
	    entries > 0 && entries <= CACHE_ENTRIES_MAX &&
	    st.st_size == (off_t)cache_octets(entries);
}

bool
cache_memory_is(const struct cache_memory *m, int fd)
{
	struct stat st;

	return m->cache != NULL && fstat(fd, &st) == 0 &&
	    st.st_dev == m->device && st.st_ino == m->inode;
}

/* Opens the cache in memory that is mapped. */
static int
open_cache(struct cache_memory *m, int fd, uint32_t entries)
{
	uint8_t secret[CACHE_SECRET];
	struct stat st;
	int error = 0;

	if (fstat(fd, &st) < 0 ||
	    getrandom(secret, sizeof(secret), 0) != sizeof(secret)) {
		error = -errno;
	} else {
		m->device = st.st_dev;
		m->inode = st.st_ino;
		m->cache = cache_open(m->octets, entries, secret);
		error = m->cache == NULL ? -ENOMEM : 0;
	}
	explicit_bzero(secret, sizeof(secret));
	if (error < 0)
		cache_memory_close(m);
	return error;
}

static int
map(struct cache_memory *m, int fd, int flags, uint32_t entries)
{
	void *octets = mmap(NULL, cache_octets(entries),
	    PROT_READ | PROT_WRITE, flags, fd, 0);

	if (octets == MAP_FAILED)
		return -errno;
	m->octets = octets;
	m->length = cache_octets(entries);
	return 0;
}

int
cache_memory_open(struct cache_memory *m, int fd, uint32_t entries)
{
	int error = -EINVAL;

	*m = (struct cache_memory){ .cache = NULL };
	if (cache_memory_fits(fd, entries))
		error = map(m, fd, MAP_SHARED, entries);
	return error < 0 ? error : open_cache(m, fd, entries);
}

static int
read_all(int fd, void *to, size_t length, off_t offset)
{
	uint8_t *at = to;

	while (length > 0) {
		const ssize_t n = pread(fd, at, length, offset);

		if (n <= 0)
			return n < 0 ? -errno : -EINVAL;
		at += n;
		offset += n;
		length -= (size_t)n;
	}
	return 0;
}

/*
 * Slots are compared with those in the file now: the blocks of one that has
 * changed since may be another message's.
 */
static int
leave_out_changed(struct cache_memory *m, int fd, uint32_t entries)
{
	const off_t offset = (off_t)cache_slots_offset(entries);
	struct cache_slot *slots =
	    (struct cache_slot *)((uint8_t *)m->octets + offset), now;
	int error = 0;

	for (uint32_t i = 1; i <= entries && error == 0; i++) {
		if (slots[i].taken == 0)
			continue;
		error = read_all(fd, &now, sizeof(now),
		    offset + (off_t)(i * sizeof(now)));
		if (error == 0 && now.sequence != slots[i].sequence)
			slots[i].taken = 0;
	}
	return error;
}

int
cache_memory_copy(struct cache_memory *m, int fd)
{
	struct cache_header header;
	int error = read_all(fd, &header, sizeof(header), 0);

	*m = (struct cache_memory){ .cache = NULL };
	if (error == 0 && !cache_memory_fits(fd, header.entries))
		error = -EINVAL;
	if (error == 0)
		error = map(m, -1, MAP_PRIVATE | MAP_ANONYMOUS,
		    header.entries);
	if (error < 0)
		return error;
	error = read_all(fd, m->octets, m->length, 0);
	if (error == 0)
		error = leave_out_changed(m, fd, header.entries);
	if (error == 0)
		return open_cache(m, fd, header.entries);
	cache_memory_close(m);
	return error;
}

void
cache_memory_close(struct cache_memory *m)
{
	cache_close(m->cache);
	if (m->octets != NULL)
		(void)munmap(m->octets, m->length);
	*m = (struct cache_memory){ .cache = NULL };
}
