/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/outlets.h"

#include <sys/random.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/clock.h"

int
audit_outlets_init(struct audit_outlets *o, unsigned int threads)
{
	memset(o, 0, sizeof(*o));
	o->threads = threads;
	o->run = realtime_ns();
	o->outlet = calloc(AUDIT_MAX_FILES, sizeof(*o->outlet));
	o->buffers = malloc(AUDIT_MAX_FILES * AUDIT_BUFFER_SIZE);
	o->losses = calloc((size_t)AUDIT_MAX_FILES * threads,
	    sizeof(*o->losses));
	if (o->outlet == NULL || o->buffers == NULL || o->losses == NULL)
		return -ENOMEM;
	if (getrandom(o->secret, sizeof(o->secret), 0) !=
	    (ssize_t)sizeof(o->secret))
		return -EIO;
	for (size_t i = 0; i < AUDIT_MAX_FILES; i++) {
		o->outlet[i].buffer = o->buffers + i * AUDIT_BUFFER_SIZE;
		o->outlet[i].losses = o->losses + i * threads;
		o->outlet[i].threads = threads;
	}
	return 0;
}

void
audit_outlets_clear(struct audit_outlets *o)
{
	free(o->outlet);
	free(o->buffers);
	free(o->losses);
}

static struct audit_state
state_of(const struct audit_outlets *o)
{
	return (struct audit_state){ .time_ns = realtime_ns(), .run = o->run,
		.next = o->next };
}

/* What is kept of an outlet while its place may be given to another. */
struct memory {
	uint64_t id;
	struct audit_seal seal;
	struct audit_pace pace;
};

/* Losses stay in their place as long as the sink does, else they go with it. */
static void
take_over(struct audit_outlet *outlet, size_t place, uint64_t id,
    const struct memory *before, size_t count)
{
	const struct memory *same = NULL;

	for (size_t i = 0; i < count && same == NULL; i++)
		if (before[i].id == id)
			same = &before[i];
	memset(&outlet->seal, 0, sizeof(outlet->seal));
	memset(&outlet->pace, 0, sizeof(outlet->pace));
	if (same != NULL) {
		outlet->seal = same->seal;
		outlet->pace = same->pace;
	}
	if (place >= count || before[place].id != id) {
		memset(outlet->losses, 0,
		    outlet->threads * sizeof(*outlet->losses));
		outlet->untold = 0;
	}
}

void
audit_outlets_switch(struct audit_outlets *o, const struct audit_file *files,
    size_t count)
{
	struct audit_state state = state_of(o);
	struct memory before[AUDIT_MAX_FILES];
	const size_t old = o->count;

	for (size_t i = 0; i < old; i++) {
		struct audit_outlet *outlet = &o->outlet[i];
		const uint64_t lost = outlet->lost;

		audit_outlet_close(outlet, &state);
		atomic_fetch_add_explicit(&o->lost, outlet->lost - lost,
		    memory_order_relaxed);
		before[i] = (struct memory){ outlet->file.sink.id,
			outlet->seal, outlet->pace };
	}
	for (size_t i = 0; i < count; i++) {
		take_over(&o->outlet[i], i, files[i].sink.id, before, old);
		audit_outlet_open(&o->outlet[i], &files[i],
		    audit_formats[files[i].sink.format], &state);
	}
	o->count = count;
}

/* What was made for a format's first outlet, for the others. */
struct made {
	const char *text;
	size_t length, seal;
};

static void
put(struct audit_outlet *outlet, const struct audit_record *record,
    struct made *made, char *to)
{
	if (made->text == NULL)
		made->length = outlet->format->record(outlet->state, record, to,
		    &made->seal);
	else
		memcpy(to, made->text, made->length);
	made->text = to;
	audit_outlet_end(outlet, record, made->length, made->seal);
}

void
audit_outlets_put(struct audit_outlets *o, const struct audit_record *record)
{
	struct made made[AUDIT_FORMATS] = { { .text = NULL } };
	struct audit_asked asked = { .read = false };

	audit_outlets_expect(o, record->thread, record->number);
	o->next[record->thread] = record->number + 1;
	for (size_t i = 0; i < o->count; i++) {
		struct audit_outlet *outlet = &o->outlet[i];
		const struct audit_sink *sink = &outlet->file.sink;
		char *to;

		if (!audit_sink_takes(sink, &outlet->pace, record, &asked,
		    sink->key.present ? sink->key.octets : o->secret)) {
			outlet->file_skipped++;
			continue;
		}
		to = audit_outlet_begin(outlet);
		if (to != NULL) {
			put(outlet, record, &made[sink->format], to);
			continue;
		}
		outlet->lost++;
		audit_outlet_lose(outlet, record->thread, record->number,
		    record->number);
		atomic_fetch_add_explicit(&o->lost, 1, memory_order_relaxed);
	}
}

void
audit_outlets_expect(struct audit_outlets *o, unsigned int thread,
    uint64_t number)
{
	const uint64_t expected = o->next[thread];

	if (number <= expected)
		return;
	for (size_t i = 0; i < o->count; i++)
		audit_outlet_lose(&o->outlet[i], thread, expected, number - 1);
	o->next[thread] = number;
}

bool
audit_outlets_have_room(const struct audit_outlets *o)
{
	for (size_t i = 0; i < o->count; i++)
		if (audit_outlet_has_room(&o->outlet[i]))
			return true;
	return o->count == 0;
}

bool
audit_outlets_are_empty(const struct audit_outlets *o)
{
	for (size_t i = 0; i < o->count; i++)
		if (!audit_outlet_is_empty(&o->outlet[i]))
			return false;
	return true;
}

void
audit_outlets_flush(struct audit_outlets *o)
{
	for (size_t i = 0; i < o->count; i++) {
		struct audit_outlet *outlet = &o->outlet[i];
		struct audit_state state;

		audit_outlet_flush(outlet);
		if (outlet->untold == 0)
			continue;
		state = state_of(o);
		if (audit_outlet_tell(outlet, &state))
			audit_outlet_flush(outlet);
	}
}
