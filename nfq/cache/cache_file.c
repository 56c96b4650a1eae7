/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cache/cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "nfq/cache/cache_memory.h"
#include "nfq/cache/cache_state.h"
#include "resolver/fds.h"
#include "resolver/replace.h"

#define FILE_MAGIC	UINT64_C(0x6e66646e73636631)	/* "nfdnscf1" */
#define PIECE		65536

struct file_header {
	uint64_t magic;
	uint64_t octets;		/* of the memory, behind the header */
	int64_t wall, boot;		/* ns, of both clocks, when it was written */
	XXH128_canonical_t settings;	/* hashes: of struct forward_settings, */
	XXH128_canonical_t memory;	/* and of the memory */
};

static struct file_header
header_of(const struct forward_settings *settings)
{
	struct file_header h = { .magic = FILE_MAGIC,
		.octets = cache_octets(settings->cache.size),
		.wall = (int64_t)realtime_ns(), .boot = monotime_boot().ns };

	XXH128_canonicalFromHash(&h.settings,
	    XXH3_128bits(settings, sizeof(*settings)));
	return h;
}

/* Copies so many octets between the files' places, and hashes them. */
static int
copy(int from, int to, uint64_t octets, XXH128_canonical_t *hash)
{
	XXH3_state_t *state = XXH3_createState();
	uint8_t piece[PIECE];
	int error = state == NULL ? -ENOMEM : 0;

	if (error == 0)
		(void)XXH3_128bits_reset(state);
	while (error == 0 && octets > 0) {
		const ssize_t n = read(from, piece,
		    octets < PIECE ? (size_t)octets : PIECE);

		if (n <= 0) {
			error = n < 0 ? -errno : -EPROTO;
			break;
		}
		(void)XXH3_128bits_update(state, piece, (size_t)n);
		error = fds_write_all(to, &(struct iovec){ piece, (size_t)n }, 1);
		octets -= (uint64_t)n;
	}
	if (error == 0)
		XXH128_canonicalFromHash(hash, XXH3_128bits_digest(state));
	(void)XXH3_freeState(state);
	return error;
}

static int
save_to(int file, int fd, const struct forward_settings *settings)
{
	struct file_header h = header_of(settings);
	int error;

	if (!cache_memory_fits(fd, settings->cache.size))
		return -EINVAL;
	if (lseek(fd, 0, SEEK_SET) < 0 ||
	    lseek(file, (off_t)sizeof(h), SEEK_SET) < 0)
		return -errno;
	error = copy(fd, file, h.octets, &h.memory);
	if (error == 0 && pwrite(file, &h, sizeof(h), 0) != sizeof(h))
		error = -EIO;
	return error;
}

int
cache_file_save(int fd, const struct forward_settings *settings,
    const char *path)
{
	struct replace file;
	int error = replace_begin(&file, AT_FDCWD, path, 0600);

	if (error < 0)
		return error;
	/* The hash shows what a crash of the machine cut off. */
	return replace_end(&file, REPLACE_QUICKLY,
	    save_to(file.fd, fd, settings));
}

/* Only root and we may have written it. */
static int
check_owner(int file, uint64_t octets)
{
	struct stat st;

	if (fstat(file, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
	    (st.st_uid != 0 && st.st_uid != geteuid()))
		return -EPERM;
	return (uint64_t)st.st_size ==
	    octets + sizeof(struct file_header) ? 0 : -ESTALE;
}

/*
 * The boot clock may have begun again since: times of the memory are moved by the
 * difference of both clocks' differences.
 */
static int
set_times(int memory, const struct file_header *then,
    const struct file_header *now, uint64_t generation)
{
	struct cache_header header;
	int64_t before, after;

	if (then->wall > now->wall)
		return -ESTALE;
	if (__builtin_sub_overflow(then->wall, then->boot, &before) ||
	    __builtin_sub_overflow(now->wall, now->boot, &after))
		return -EPROTO;
	if (pread(memory, &header, sizeof(header), 0) != sizeof(header) ||
	    __builtin_sub_overflow(before, after, &header.shift))
		return -EPROTO;
	atomic_store(&header.generation, generation);
	return pwrite(memory, &header, sizeof(header), 0) == sizeof(header) ?
	    0 : -EIO;
}

static int
load_to(int memory, int file, const struct forward_settings *settings,
    uint64_t generation)
{
	const struct file_header now = header_of(settings);
	struct file_header then;
	XXH128_canonical_t hash;
	int error = check_owner(file, now.octets);

	if (error < 0)
		return error;
	if (read(file, &then, sizeof(then)) != sizeof(then))
		return -EPROTO;
	if (then.magic != now.magic || then.octets != now.octets ||
	    memcmp(&then.settings, &now.settings, sizeof(hash)) != 0)
		return -ESTALE;
	error = copy(file, memory, now.octets, &hash);
	if (error == 0 && memcmp(&hash, &then.memory, sizeof(hash)) != 0)
		error = -EPROTO;
	return error < 0 ? error : set_times(memory, &then, &now, generation);
}

int
cache_file_load(const char *path, const struct forward_settings *settings,
    uint64_t generation)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int memory, error = file < 0 ? -errno : 0;

	if (error < 0) {
		(void)unlink(path);
		return error;
	}
	memory = cache_memory_new(settings->cache.size);
	error = memory < 0 ? memory : load_to(memory, file, settings,
	    generation);
	(void)close(file);
	(void)unlink(path);
	if (error == 0)
		return memory;
	if (memory >= 0)
		(void)close(memory);
	return error;
}
