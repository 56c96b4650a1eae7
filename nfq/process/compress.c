/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/process/compress.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

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

/* 0 at the end of the file, -1 if it cannot be read. */
static ssize_t
read_some(int fd, uint8_t to[static CHUNK])
{
	ssize_t n;

	do
		n = read(fd, to, CHUNK);
	while (n < 0 && errno == EINTR);
	return n;
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
to_gzip(int in, int out)
{
	z_stream stream = { .zalloc = Z_NULL };
	uint8_t read_octets[CHUNK];
	bool well = true;
	ssize_t n = 1;

	if (deflateInit2(&stream, LEVEL, Z_DEFLATED, GZIP, MEMORY,
	    Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	while (well && n > 0) {
		n = read_some(in, read_octets);
		stream.next_in = read_octets;
		stream.avail_in = n > 0 ? (unsigned int)n : 0;
		well = n >= 0 && deflate_all(&stream, out,
		    n == 0 ? Z_FINISH : Z_NO_FLUSH);
	}
	(void)deflateEnd(&stream);
	return well;
}

/* The same with zstd. */
static bool
compress_all(ZSTD_CCtx *context, int out, ZSTD_inBuffer *from,
    ZSTD_EndDirective end)
{
	uint8_t made[CHUNK];
	size_t left;

	do {
		ZSTD_outBuffer to = { made, sizeof(made), 0 };

		left = ZSTD_compressStream2(context, &to, from, end);
		if (ZSTD_isError(left) || !write_all(out, made, to.pos))
			return false;
	} while (end == ZSTD_e_end ? left > 0 : from->pos < from->size);
	return true;
}

static bool
to_zstd(int in, int out)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	uint8_t read_octets[CHUNK];
	bool well = context != NULL && !ZSTD_isError(ZSTD_CCtx_setParameter(
	    context, ZSTD_c_checksumFlag, 1));
	ssize_t n = 1;

	while (well && n > 0) {
		ZSTD_inBuffer from = { read_octets, 0, 0 };

		n = read_some(in, read_octets);
		from.size = n > 0 ? (size_t)n : 0;
		well = n >= 0 && compress_all(context, out, &from,
		    n == 0 ? ZSTD_e_end : ZSTD_e_continue);
	}
	(void)ZSTD_freeCCtx(context);
	return well;
}

static bool
compress_file(enum compress_format format, int in, int out)
{
	if (lseek(in, 0, SEEK_SET) != 0)
		return false;
	/* The file that it was made from is removed then. */
	return (format == COMPRESS_TO_ZSTD ? to_zstd(in, out) :
	    to_gzip(in, out)) && fdatasync(out) == 0;
}

pid_t
compress_start(enum compress_format format, int in, int out, uid_t uid,
    gid_t gid)
{
	const pid_t parent = getpid();
	int keep[] = { in, out };
	pid_t pid = fork();

	if (pid != 0)
		return pid < 0 ? -errno : pid;
	/* What it may do is what a compiler may: read and write what is open. */
	if (child_isolate(keep, sizeof(keep) / sizeof(keep[0])) < 0 ||
	    sandbox_compiler_privileges(uid, gid) < 0 ||
	    child_die_with(parent) < 0 || sandbox_compiler_limits(0) < 0 ||
	    sandbox_compiler_seccomp() < 0)
		_exit(1);
	_exit(compress_file(format, in, out) ? 0 : 1);
}
