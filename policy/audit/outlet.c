/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/outlet.h"

#include <sys/stat.h>
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NOTE	0x80000000U	/* a piece that is not a record */

static_assert((AUDIT_OUTLET_PIECES & (AUDIT_OUTLET_PIECES - 1)) == 0,
    "positions wrap with the unsigned type");

static uint32_t *
size_at(struct audit_outlet *outlet, unsigned int index)
{
	return &outlet->sizes[(outlet->first + index) %
	    AUDIT_OUTLET_PIECES];
}

/* Notes that the next "length" octets of the buffer are a piece. */
static void
put_piece(struct audit_outlet *outlet, size_t length, uint32_t note)
{
	assert(length > 0 && outlet->count < AUDIT_OUTLET_PIECES);
	*size_at(outlet, outlet->count++) = (uint32_t)length | note;
	outlet->end += length;
}

void
audit_outlet_open(struct audit_outlet *outlet, const struct audit_file *file,
    const struct audit_format *format, char *buffer)
{
	assert(format->record_max + 2 * format->note_max <= AUDIT_BUFFER_SIZE);
	outlet->file = *file;
	outlet->format = format;
	outlet->buffer = buffer;
	outlet->begin = outlet->end = 0;
	outlet->first = outlet->count = 0;
	outlet->cut = 0;
	outlet->stuck = false;
	outlet->file_records = outlet->file_lost = 0;
	memset(outlet->state, 0, sizeof(outlet->state));
	if (format->begin != NULL)
		put_piece(outlet, format->begin(outlet->state, buffer), NOTE);
}

bool
audit_outlet_is_empty(const struct audit_outlet *outlet)
{
	return outlet->begin == outlet->end;
}

bool
audit_outlet_has_room(const struct audit_outlet *outlet)
{
	return AUDIT_BUFFER_SIZE - (outlet->end - outlet->begin) >=
	    outlet->format->record_max + outlet->format->note_max &&
	    outlet->count + 2 <= AUDIT_OUTLET_PIECES;
}

char *
audit_outlet_begin(struct audit_outlet *outlet)
{
	const size_t need = outlet->format->record_max;
	size_t used;

	if (!audit_outlet_has_room(outlet) && !outlet->stuck)
		audit_outlet_flush(outlet);
	used = outlet->end - outlet->begin;
	if (AUDIT_BUFFER_SIZE - used < need ||
	    outlet->count == AUDIT_OUTLET_PIECES) {
		outlet->lost++;
		return NULL;
	}
	if (AUDIT_BUFFER_SIZE - outlet->end < need) {
		memmove(outlet->buffer, outlet->buffer + outlet->begin, used);
		outlet->begin = 0;
		outlet->end = used;
	}
	return outlet->buffer + outlet->end;
}

void
audit_outlet_end(struct audit_outlet *outlet, size_t length)
{
	put_piece(outlet, length, 0);
	outlet->file_records++;
}

/* The file took the first n octets. */
static void
take_written(struct audit_outlet *outlet, size_t n)
{
	outlet->begin += n;
	outlet->cut += n;
	while (outlet->count > 0) {
		const size_t size = *size_at(outlet, 0) & ~NOTE;

		if (outlet->cut < size)
			break;
		outlet->cut -= size;
		outlet->first++;
		outlet->count--;
	}
}

void
audit_outlet_flush(struct audit_outlet *outlet)
{
	ssize_t n = 0;

	while (outlet->begin < outlet->end) {
		n = write(outlet->file.fd, outlet->buffer + outlet->begin,
		    outlet->end - outlet->begin);
		if (n < 0 && errno == EINTR)
			continue;
		/*
		 * A full disk (ENOSPC), a full pipe (EAGAIN) or another error:
		 * it may be temporary, so try again later.
		 */
		outlet->stuck = n <= 0;
		if (outlet->stuck)
			return;
		take_written(outlet, (size_t)n);
	}
	outlet->begin = 0;
	outlet->end = 0;
}

static struct audit_note
note_of(const struct audit_outlet *outlet, uint64_t time_ns, uint64_t lost_now)
{
	return (struct audit_note){
		.time_ns = time_ns,
		.lost_now = lost_now,
		.lost = outlet->file_lost,
		.records = outlet->file_records,
	};
}

bool
audit_outlet_tell(struct audit_outlet *outlet, uint64_t ring_lost,
    uint64_t time_ns)
{
	uint64_t count = ring_lost - outlet->ring_lost + outlet->lost -
	    outlet->told;
	struct audit_note note;

	if (count == 0 || !audit_outlet_has_room(outlet))
		return false;
	outlet->file_lost += count;
	note = note_of(outlet, time_ns, count);
	put_piece(outlet, outlet->format->loss(outlet->state, &note,
	    audit_outlet_begin(outlet)), NOTE);
	outlet->told = outlet->lost;
	outlet->ring_lost = ring_lost;
	return true;
}

/*
 * Removes the beginning of a record from a file, which works on a full disk; in
 * a pipe, ends the record with the format's cut_end.
 */
static void
mend_cut(struct audit_outlet *outlet)
{
	const char *cut_end = outlet->format->cut_end;
	ssize_t ignored = 0;
	struct stat st;

	if (fstat(outlet->file.fd, &st) < 0)
		return;
	if (!S_ISREG(st.st_mode)) {
		if (cut_end != NULL)
			ignored = write(outlet->file.fd, cut_end,
			    strlen(cut_end));
	} else if (st.st_size >= (off_t)outlet->cut)
		ignored =
		    ftruncate(outlet->file.fd, st.st_size - (off_t)outlet->cut);
	(void)ignored;
}

/* Writes the format's last octets, if everything before them was written. */
static void
write_end(struct audit_outlet *outlet, uint64_t time_ns)
{
	const struct audit_note note = note_of(outlet, time_ns, 0);

	if (outlet->format->end == NULL || !audit_outlet_is_empty(outlet))
		return;
	put_piece(outlet, outlet->format->end(outlet->state, &note,
	    outlet->buffer), NOTE);
	audit_outlet_flush(outlet);
}

void
audit_outlet_close(struct audit_outlet *outlet, uint64_t time_ns)
{
	audit_outlet_flush(outlet);
	write_end(outlet, time_ns);
	for (unsigned int i = 0; i < outlet->count; i++)
		outlet->lost += (*size_at(outlet, i) & NOTE) == 0;
	if (outlet->cut > 0)
		mend_cut(outlet);
	outlet->begin = 0;
	outlet->end = 0;
	outlet->first = outlet->count = 0;
	outlet->cut = 0;
	close(outlet->file.fd);
	outlet->file.fd = -1;
}
