/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/process/compress.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "nfq/process/child.h"
#include "nfq/process/sandbox.h"

#define CHUNK	65536U
#define GZIP	(15 + 16)		/* deflateInit2(): window, format */
#define LEVEL	6
#define MEMORY	8

static bool
write_all(int fd, const uint8_t *octets, size_t length)
{
	while (length > 0) {
		ssize_t n = write(fd, octets, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		octets += n;
		length -= (size_t)n;
	}
	return true;
}

/* Compresses what the stream has, and writes it. */
static bool
deflate_all(z_stream *stream, int out, int flush)
{
	uint8_t made[CHUNK];

	do {
		stream->next_out = made;
		stream->avail_out = CHUNK;
		if (deflate(stream, flush) == Z_STREAM_ERROR ||
		    !write_all(out, made, CHUNK - stream->avail_out))
			return false;
	} while (stream->avail_out == 0);
	return true;
}

static bool
compress_file(int in, int out)
{
	z_stream stream = { .zalloc = Z_NULL };
	uint8_t read_octets[CHUNK];
	bool well = lseek(in, 0, SEEK_SET) == 0;
	ssize_t n = 1;

	if (deflateInit2(&stream, LEVEL, Z_DEFLATED, GZIP, MEMORY,
	    Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	while (well && n > 0) {
		n = read(in, read_octets, CHUNK);
		if (n < 0 && errno == EINTR) {
			n = 1;
			continue;
		}
		stream.next_in = read_octets;
		stream.avail_in = n > 0 ? (unsigned int)n : 0;
		well = n >= 0 && deflate_all(&stream, out,
		    n == 0 ? Z_FINISH : Z_NO_FLUSH);
	}
	(void)deflateEnd(&stream);
	return well;
}

pid_t
compress_start(int in, int out, uid_t uid, gid_t gid)
{
	const pid_t parent = getpid();
	int keep[] = { in, out };
	pid_t pid = fork();

	if (pid != 0)
		return pid < 0 ? -errno : pid;
	/* What it may do is what a compiler may: read and write what is open. */
	if (child_isolate(keep, sizeof(keep) / sizeof(keep[0])) < 0 ||
	    sandbox_compiler_privileges(uid, gid) < 0 || child_die_with(parent) < 0 ||
	    sandbox_compiler_seccomp() < 0)
		_exit(1);
	_exit(compress_file(in, out) ? 0 : 1);
}
