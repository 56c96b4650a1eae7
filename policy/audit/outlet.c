/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/outlet.h"

#include <sys/stat.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

bool
audit_outlet_is_empty(const struct audit_outlet *outlet)
{
	return outlet->begin == outlet->end;
}

bool
audit_outlet_has_room(const struct audit_outlet *outlet)
{
	return AUDIT_BUFFER_SIZE - (outlet->end - outlet->begin) >=
	    AUDIT_JSON_MAX + AUDIT_JSON_LOST_MAX;
}

char *
audit_outlet_begin(struct audit_outlet *outlet)
{
	size_t used;

	if (!audit_outlet_has_room(outlet) && !outlet->stuck)
		audit_outlet_flush(outlet);
	used = outlet->end - outlet->begin;
	if (AUDIT_BUFFER_SIZE - used < AUDIT_JSON_MAX) {
		outlet->lost++;
		return NULL;
	}
	if (AUDIT_BUFFER_SIZE - outlet->end < AUDIT_JSON_MAX) {
		memmove(outlet->buffer, outlet->buffer + outlet->begin, used);
		outlet->begin = 0;
		outlet->end = used;
	}
	return outlet->buffer + outlet->end;
}

void
audit_outlet_end(struct audit_outlet *outlet, size_t length)
{
	outlet->end += length;
}

void
audit_outlet_flush(struct audit_outlet *outlet)
{
	const char *text, *newline;
	ssize_t n = 0;

	while (outlet->begin < outlet->end) {
		text = outlet->buffer + outlet->begin;
		n = write(outlet->file.fd, text, outlet->end - outlet->begin);
		if (n < 0 && errno == EINTR)
			continue;
		/*
		 * A full disk (ENOSPC) or pipe (EAGAIN), or something worse:
		 * it may pass, so it is tried again later.
		 */
		outlet->stuck = n <= 0;
		if (outlet->stuck)
			return;
		newline = memrchr(text, '\n', (size_t)n);
		outlet->cut = newline != NULL ?
		    (size_t)(text + n - newline - 1) : outlet->cut + (size_t)n;
		outlet->begin += (size_t)n;
	}
	outlet->begin = 0;
	outlet->end = 0;
}

bool
audit_outlet_tell(struct audit_outlet *outlet, uint64_t ring_lost,
    uint64_t time_ns)
{
	uint64_t count = ring_lost - outlet->ring_lost + outlet->lost -
	    outlet->told;

	if (count == 0 || !audit_outlet_has_room(outlet))
		return false;
	audit_outlet_end(outlet, audit_json_lost(time_ns, count,
	    audit_outlet_begin(outlet), AUDIT_JSON_LOST_MAX));
	outlet->told = outlet->lost;
	outlet->ring_lost = ring_lost;
	return true;
}

/* No record has this unquoted in it: quotes in names are escaped. */
static bool
tells_a_loss(const char *line, size_t length)
{
	static const char mark[] = "\"event\":\"lost\"";

	return memmem(line, length, mark, sizeof(mark) - 1) != NULL;
}

/*
 * Takes the beginning of a line back out of a file, which needs no room; in
 * a pipe, ends the line.
 */
static void
mend_cut_line(struct audit_outlet *outlet)
{
	struct stat st;
	ssize_t ignored;

	if (fstat(outlet->file.fd, &st) < 0)
		return;
	if (!S_ISREG(st.st_mode))
		ignored = write(outlet->file.fd, "\n", 1);
	else if (st.st_size >= (off_t)outlet->cut)
		ignored =
		    ftruncate(outlet->file.fd, st.st_size - (off_t)outlet->cut);
	else
		ignored = 0;
	(void)ignored;
	outlet->cut = 0;
}

void
audit_outlet_close(struct audit_outlet *outlet)
{
	const char *line, *end, *newline;

	audit_outlet_flush(outlet);
	line = outlet->buffer + outlet->begin;
	end = outlet->buffer + outlet->end;
	for (; line < end; line = newline + 1) {
		newline = memchr(line, '\n', (size_t)(end - line));
		if (newline == NULL)
			break;
		outlet->lost += !tells_a_loss(line, (size_t)(newline - line));
	}
	if (outlet->cut > 0)
		mend_cut_line(outlet);
	outlet->begin = 0;
	outlet->end = 0;
	close(outlet->file.fd);
	outlet->file.fd = -1;
}
