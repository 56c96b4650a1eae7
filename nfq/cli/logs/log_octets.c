/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/logs/log_octets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#define CHUNK	((size_t)1 << 16)
#define MAGIC	((size_t)4)		/* octets that tell how it is packed */
#define GZIP	(15 + 16)		/* inflateInit2(): window, format */

enum packing { UNKNOWN, PLAIN, PACKED_GZIP, PACKED_ZSTD };

struct log_octets {
	int fd;
	bool regular;
	enum packing packing;
	bool within;			/* a compressed stream has not ended */
	bool more;			/* and may have more without input */
	z_stream gzip;
	ZSTD_DStream *zstd;
	size_t begin, end;		/* of what was read and not used */
	uint8_t raw[CHUNK];
};

int
log_octets_open_file(const char *path)
{
	/* A named pipe would wait for its writer. */
	const bool input = strcmp(path, "-") == 0;
	const int fd = input ? dup(STDIN_FILENO) : open(path,
	    O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;
	int error = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0)
		error = -errno;
	else if (S_ISDIR(status.st_mode))
		error = -EISDIR;
	else if (!input && !S_ISREG(status.st_mode))
		error = -EINVAL;
	if (error < 0)
		(void)close(fd);
	return error < 0 ? error : fd;
}

struct log_octets *
log_octets_new(int fd)
{
	struct log_octets *source = calloc(1, sizeof(*source));
	struct stat status;

	if (source == NULL) {
		(void)close(fd);
		return NULL;
	}
	source->fd = fd;
	source->regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
	return source;
}

static void
end_unpacking(struct log_octets *source)
{
	if (source->packing == PACKED_GZIP)
		(void)inflateEnd(&source->gzip);
	(void)ZSTD_freeDStream(source->zstd);
	source->zstd = NULL;
	source->packing = UNKNOWN;
	source->within = source->more = false;
}

void
log_octets_free(struct log_octets *source)
{
	if (source == NULL)
		return;
	end_unpacking(source);
	(void)close(source->fd);
	free(source);
}

static ssize_t
read_file(int fd, uint8_t *to, size_t size)
{
	ssize_t n;

	do
		n = read(fd, to, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Reads behind what is there. */
static ssize_t
fill(struct log_octets *s)
{
	ssize_t n;

	if (s->begin == s->end)
		s->begin = s->end = 0;
	n = read_file(s->fd, s->raw + s->end, CHUNK - s->end);
	s->end += n > 0 ? (size_t)n : 0;
	return n;
}

static int
begin_unpacking(struct log_octets *s)
{
	static const uint8_t zstd[MAGIC] = { 0x28, 0xb5, 0x2f, 0xfd };

	if (s->end >= MAGIC && memcmp(s->raw, zstd, MAGIC) == 0) {
		s->zstd = ZSTD_createDStream();
		if (s->zstd == NULL)
			return -ENOMEM;
		s->packing = PACKED_ZSTD;
	} else if (s->raw[0] == 0x1f && s->raw[1] == 0x8b) {
		if (inflateInit2(&s->gzip, GZIP) != Z_OK)
			return -ENOMEM;
		s->packing = PACKED_GZIP;
	} else
		s->packing = PLAIN;
	return 0;
}

/* 1 when it is known how the file is packed; 0: it is too short for that. */
static int
look(struct log_octets *s)
{
	int error;

	while (s->end < MAGIC) {
		const ssize_t n = fill(s);

		if (n < 0)
			return (int)n;
		if (n == 0)
			break;
	}
	/* One that is written may be begun. */
	if (s->end == 0 || (s->regular && s->end < MAGIC))
		return 0;
	error = begin_unpacking(s);
	return error < 0 ? error : 1;
}

static ssize_t
read_plain(struct log_octets *s, uint8_t *to, size_t size)
{
	const size_t have = s->end - s->begin;

	if (have == 0)
		return read_file(s->fd, to, size);
	if (size > have)
		size = have;
	memcpy(to, s->raw + s->begin, size);
	s->begin += size;
	return (ssize_t)size;
}

/* One step; how many octets came, or -EBADMSG. */
static ssize_t
inflate_some(struct log_octets *s, uint8_t *to, size_t size)
{
	z_stream *z = &s->gzip;
	int code;

	/* Files in this format may be concatenated (RFC 1952 section 2.2). */
	if (!s->within && inflateReset(z) != Z_OK)
		return -EBADMSG;
	s->within = true;
	z->next_in = s->raw + s->begin;
	z->avail_in = (unsigned int)(s->end - s->begin);
	z->next_out = to;
	z->avail_out = size < CHUNK ? (unsigned int)size : CHUNK;
	size = z->avail_out;
	code = inflate(z, Z_NO_FLUSH);
	s->begin = s->end - z->avail_in;
	s->more = z->avail_out == 0;
	if (code == Z_STREAM_END)
		s->within = s->more = false;
	else if (code != Z_OK && code != Z_BUF_ERROR)
		return -EBADMSG;
	return (ssize_t)(size - z->avail_out);
}

static ssize_t
decompress_some(struct log_octets *s, uint8_t *to, size_t size)
{
	ZSTD_inBuffer in = { s->raw, s->end, s->begin };
	ZSTD_outBuffer out = { to, size, 0 };
	/* It begins the next frame by itself. */
	const size_t left = ZSTD_decompressStream(s->zstd, &out, &in);

	if (ZSTD_isError(left))
		return -EBADMSG;
	s->begin = in.pos;
	s->within = left != 0;
	s->more = out.pos == out.size;
	return (ssize_t)out.pos;
}

ssize_t
log_octets_read(struct log_octets *s, uint8_t *to, size_t size)
{
	if (s->packing == UNKNOWN) {
		const int known = look(s);

		if (known <= 0)
			return known;
	}
	if (s->packing == PLAIN)
		return read_plain(s, to, size);
	for (;;) {
		ssize_t n = 1;

		if (s->begin == s->end && !s->more)
			n = fill(s);
		if (n <= 0)
			return n;
		n = s->packing == PACKED_GZIP ? inflate_some(s, to, size) :
		    decompress_some(s, to, size);
		if (n != 0)
			return n;
	}
}

bool
log_octets_is_cut(const struct log_octets *s)
{
	return s->within;
}

bool
log_octets_rewind(struct log_octets *s)
{
	if (!s->regular || lseek(s->fd, 0, SEEK_SET) < 0)
		return false;
	end_unpacking(s);
	s->begin = s->end = 0;
	return true;
}

int
log_octets_seek(struct log_octets *s, uint64_t offset)
{
	struct stat status;

	if (!s->regular || s->packing > PLAIN)
		return -ESPIPE;
	if (fstat(s->fd, &status) < 0)
		return -errno;
	if ((uint64_t)status.st_size < offset)
		return -ERANGE;
	if (lseek(s->fd, (off_t)offset, SEEK_SET) < 0)
		return -errno;
	/* How it is packed is seen at the beginning of a file only. */
	s->packing = offset > 0 ? PLAIN : UNKNOWN;
	s->begin = s->end = 0;
	return 0;
}

off_t
log_octets_whole(const struct log_octets *s, off_t (*whole)(int fd, off_t size))
{
	struct stat status;

	if (fstat(s->fd, &status) < 0)
		return -errno;
	return s->regular && status.st_size > 0 ?
	    whole(s->fd, status.st_size) : 0;
}
