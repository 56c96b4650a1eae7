/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/outlet.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

static_assert((AUDIT_OUTLET_PIECES & (AUDIT_OUTLET_PIECES - 1)) == 0,
    "positions wrap with the unsigned type");

static struct audit_piece *
piece_at(struct audit_outlet *outlet, unsigned int index)
{
	return &outlet->pieces[(outlet->first + index) % AUDIT_OUTLET_PIECES];
}

/* The next octets of the buffer are a piece. */
static void
put_piece(struct audit_outlet *outlet, struct audit_piece piece)
{
	assert(piece.size > 0 && outlet->count < AUDIT_OUTLET_PIECES);
	*piece_at(outlet, outlet->count++) = piece;
	outlet->end += piece.size;
}

static void
put_note(struct audit_outlet *outlet, const struct audit_note *note)
{
	const size_t length = outlet->format->note(outlet->state, note,
	    outlet->buffer + outlet->end);

	if (length > 0)
		put_piece(outlet, (struct audit_piece){
		    .size = (uint32_t)length, .note = true,
		    .loss = { note->lost_now, note->from, note->to } });
}

static struct audit_note
note_of(const struct audit_outlet *outlet, enum audit_note_kind kind,
    const struct audit_state *state)
{
	return (struct audit_note){
		.kind = kind,
		.time_ns = state->time_ns,
		.run = state->run,
		.lost = outlet->file_lost,
		.records = outlet->file_records,
		.next = outlet->number + 1,
	};
}

/* Only a socket's peer has to be greeted. */
static void
use_file(struct audit_outlet *outlet)
{
	struct stat st;

	memset(&outlet->greeting, 0, sizeof(outlet->greeting));
	outlet->dead = false;
	outlet->greeted = !outlet->format->greets || (outlet->file.fd >= 0 &&
	    fstat(outlet->file.fd, &st) == 0 && !S_ISSOCK(st.st_mode));
}

void
audit_outlet_open(struct audit_outlet *outlet, const struct audit_file *file,
    const struct audit_format *format, const struct audit_state *state)
{
	struct audit_note note;
	struct stat st;

	assert(format->record_max + 2 * format->note_max <= AUDIT_BUFFER_SIZE);
	outlet->file = *file;
	outlet->format = format;
	outlet->begin = outlet->end = 0;
	outlet->first = outlet->count = 0;
	outlet->cut = 0;
	outlet->stuck = false;
	outlet->file_records = outlet->file_lost = 0;
	memset(outlet->state, 0, sizeof(outlet->state));
	use_file(outlet);
	outlet->is_file = file->fd >= 0 && fstat(file->fd, &st) == 0 &&
	    S_ISREG(st.st_mode);
	outlet->size = outlet->is_file ? (uint64_t)st.st_size : 0;
	note = note_of(outlet, AUDIT_BEGIN, state);
	note.appended = outlet->size > 0;
	put_note(outlet, &note);
}

bool
audit_outlet_is_of(const struct audit_outlet *outlet, int fd)
{
	struct stat ours, other;

	return outlet->file.fd >= 0 && fd >= 0 &&
	    fstat(outlet->file.fd, &ours) == 0 && fstat(fd, &other) == 0 &&
	    ours.st_dev == other.st_dev && ours.st_ino == other.st_ino;
}

bool
audit_outlet_connect(struct audit_outlet *outlet, int fd)
{
	if (outlet->file.fd >= 0 || fd < 0)
		return false;
	outlet->file.fd = fd;
	outlet->stuck = false;
	use_file(outlet);
	return true;
}

bool
audit_outlet_is_empty(const struct audit_outlet *outlet)
{
	return outlet->begin == outlet->end;
}

bool
audit_outlet_is_full(const struct audit_outlet *outlet)
{
	return outlet->is_file && outlet->file.sink.max_size != 0 &&
	    outlet->size + outlet->end - outlet->begin >=
	    (uint64_t)outlet->file.sink.max_size << 20;
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
	if (AUDIT_BUFFER_SIZE - used < need || audit_outlet_is_full(outlet) ||
	    outlet->count == AUDIT_OUTLET_PIECES)
		return NULL;
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
	const uint64_t number = ++outlet->number;

	put_piece(outlet, (struct audit_piece){ .size = (uint32_t)length,
	    .loss = { 1, number, number } });
	outlet->file_records++;
}

static void
add_loss(struct audit_outlet *outlet, const struct audit_loss *more)
{
	struct audit_loss *loss = &outlet->loss;

	if (loss->count == 0 || more->from < loss->from)
		loss->from = more->from;
	if (loss->count == 0 || more->to > loss->to)
		loss->to = more->to;
	loss->count += more->count;
}

void
audit_outlet_lose(struct audit_outlet *outlet, uint64_t count)
{
	const struct audit_loss more = { count, outlet->number + 1,
		outlet->number + count };

	outlet->number += count;
	add_loss(outlet, &more);
}

/* The file took the first n octets. */
static void
take_written(struct audit_outlet *outlet, size_t n)
{
	outlet->begin += n;
	outlet->cut += n;
	outlet->size += n;
	while (outlet->count > 0) {
		const size_t size = piece_at(outlet, 0)->size;

		if (outlet->cut < size)
			break;
		outlet->cut -= size;
		outlet->first++;
		outlet->count--;
	}
}

/* Whether a peer that has to be greeted takes frames. */
static bool
greet(struct audit_outlet *outlet)
{
	int said;

	if (outlet->greeted)
		return true;
	said = outlet->dead ? 0 : frame_greet(&outlet->greeting,
	    outlet->file.fd);
	outlet->greeted = said > 0;
	outlet->dead |= said < 0;
	return outlet->greeted;
}

void
audit_outlet_flush(struct audit_outlet *outlet)
{
	ssize_t n = 0;
	struct stat st;

	while (outlet->begin < outlet->end) {
		if (outlet->file.fd < 0 || !greet(outlet)) {
			outlet->stuck = true;
			return;
		}
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
	/* Somebody may have cut it. */
	if (audit_outlet_is_full(outlet) && fstat(outlet->file.fd, &st) == 0)
		outlet->size = (uint64_t)st.st_size;
}

bool
audit_outlet_tell(struct audit_outlet *outlet, const struct audit_state *state)
{
	bool any = false;

	if (state->unread > outlet->unread && audit_outlet_has_room(outlet) &&
	    audit_outlet_begin(outlet) != NULL) {
		struct audit_note note = note_of(outlet, AUDIT_UNREAD, state);

		note.unread = state->unread - outlet->unread;
		outlet->unread = state->unread;
		put_note(outlet, &note);
		any = true;
	}
	if (outlet->loss.count > 0 && audit_outlet_has_room(outlet) &&
	    audit_outlet_begin(outlet) != NULL) {
		struct audit_note note = note_of(outlet, AUDIT_LOST, state);

		outlet->file_lost += outlet->loss.count;
		note.lost = outlet->file_lost;
		note.lost_now = outlet->loss.count;
		note.from = outlet->loss.from;
		note.to = outlet->loss.to;
		put_note(outlet, &note);
		outlet->loss.count = 0;
		any = true;
	}
	return any;
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
write_end(struct audit_outlet *outlet, const struct audit_state *state)
{
	struct audit_note note = note_of(outlet, AUDIT_END, state);

	if (!audit_outlet_is_empty(outlet))
		return;
	put_note(outlet, &note);
	note.kind = AUDIT_CLOSE;
	put_note(outlet, &note);
	audit_outlet_flush(outlet);
}

void
audit_outlet_close(struct audit_outlet *outlet, const struct audit_state *state)
{
	audit_outlet_flush(outlet);
	write_end(outlet, state);
	/* Records that the file has not taken are lost. */
	for (unsigned int i = 0; i < outlet->count; i++) {
		const struct audit_piece *piece = piece_at(outlet, i);

		outlet->lost += !piece->note;
		if (piece->loss.count > 0)
			add_loss(outlet, &piece->loss);
	}
	if (outlet->cut > 0)
		mend_cut(outlet);
	outlet->begin = 0;
	outlet->end = 0;
	outlet->first = outlet->count = 0;
	outlet->cut = 0;
	if (outlet->file.fd >= 0)
		(void)close(outlet->file.fd);
	outlet->file.fd = -1;
}
