/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/logs/log_pieces.h"

#include <errno.h>
#include <string.h>

#include "policy/audit/frame_stream.h"

#define FORMAT_OCTETS	4U		/* audit_reader_format() needs them */

void
log_pieces_begin(struct log_pieces *pieces, struct log_octets *source,
    uint8_t *octets)
{
	*pieces = (struct log_pieces){ .source = source,
		.format = AUDIT_FORMATS, .octets = octets };
}

int
log_pieces_begin_at(struct log_pieces *pieces, struct log_octets *source,
    uint8_t *octets, enum audit_format_number format, uint64_t offset)
{
	const int error = log_octets_seek(source, offset);

	if (error == 0)
		*pieces = (struct log_pieces){ .source = source,
			.format = format, .octets = octets, .offset = offset,
			.again = offset };
	return error;
}

/* Reads behind what is there; as log_octets_read(). */
static ssize_t
fill(struct log_pieces *p)
{
	ssize_t n;

	memmove(p->octets, p->octets + p->begin, p->end - p->begin);
	p->end -= p->begin;
	p->begin = 0;
	n = log_octets_read(p->source, p->octets + p->end,
	    LOG_PIECES_OCTETS - p->end);
	p->end += n > 0 ? (size_t)n : 0;
	return n;
}

/* The line after the piece that was given out last. */
static uint64_t
next_line(const struct log_pieces *p)
{
	const uint8_t *at = p->octets + p->begin, *const end = at + p->taken;
	uint64_t line = p->line;

	while (line > 0 && at < end &&
	    (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		line++;
		at++;
	}
	return line;
}

static void
take(struct log_pieces *p)
{
	p->line = next_line(p);
	p->begin += p->taken;
	p->offset += p->taken;
	p->taken = 0;
}

/* LOG_PIECE when the format is known. */
static enum log_next
find_format(struct log_pieces *p)
{
	while (p->end - p->begin < FORMAT_OCTETS) {
		const ssize_t n = fill(p);

		if (n < 0)
			return LOG_DAMAGED;
		if (n == 0)
			return LOG_END;
	}
	p->format = audit_reader_format(p->octets + p->begin,
	    p->end - p->begin);
	p->line = p->format == AUDIT_JSON;
	return p->format == AUDIT_FORMATS ? LOG_NONE : LOG_PIECE;
}

/* Octets that no piece begins with. */
static void
give_foreign(struct log_pieces *p, struct audit_reading *reading)
{
	reading->kind = AUDIT_PIECE_FOREIGN;
	reading->length = audit_reader_skip(p->format, p->octets + p->begin,
	    p->end - p->begin);
}

static enum log_next
find_piece(struct log_pieces *p, struct audit_reading *reading)
{
	for (;;) {
		const size_t length = p->end - p->begin;
		const enum audit_read read = audit_reader_next(reading,
		    p->format, p->octets + p->begin, length);
		ssize_t n;

		if (read == AUDIT_READ_PIECE)
			return LOG_PIECE;
		if (read != AUDIT_READ_MORE || length >= AUDIT_PIECE_MAX) {
			give_foreign(p, reading);
			return LOG_PIECE;
		}
		n = fill(p);
		if (n <= 0)
			return n < 0 ? LOG_DAMAGED : LOG_END;
	}
}

enum log_next
log_pieces_next(struct log_pieces *p, struct audit_reading *reading)
{
	enum log_next next = LOG_PIECE;

	take(p);
	if (p->format == AUDIT_FORMATS)
		next = find_format(p);
	if (next == LOG_PIECE)
		next = find_piece(p, reading);
	if (next == LOG_PIECE) {
		p->taken = reading->length;
		p->again = p->offset;
		if (!log_pieces_is_stop(p, reading))
			p->again += reading->length;
	}
	return next;
}

size_t
log_pieces_rest(const struct log_pieces *p)
{
	return p->end - p->begin - p->taken;
}

void
log_pieces_again(struct log_pieces *p)
{
	const uint64_t line = next_line(p);
	const int error = log_pieces_begin_at(p, p->source, p->octets,
	    p->format, p->again);

	if (error == 0)
		p->line = line;
	if (error == -ERANGE && log_octets_rewind(p->source))
		log_pieces_begin(p, p->source, p->octets);
}

bool
log_pieces_is_stop(const struct log_pieces *p,
    const struct audit_reading *reading)
{
	struct frame frame;

	return p->format == AUDIT_DNSTAP &&
	    reading->kind == AUDIT_PIECE_FOREIGN &&
	    frame_read(&frame, p->octets + p->begin, reading->length) &&
	    frame.length == reading->length && frame.control &&
	    frame.type == FRAME_STOP;
}
