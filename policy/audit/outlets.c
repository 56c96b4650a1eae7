/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/outlets.h"

#include <sys/random.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/audit/privacy.h"
#include "resolver/clock.h"

int
audit_outlets_init(struct audit_outlets *o, unsigned int threads)
{
	memset(o, 0, sizeof(*o));
	o->threads = threads;
	o->run = realtime_ns();
	o->all = calloc(AUDIT_MAX_FILES, sizeof(*o->all));
	o->buffers = malloc(AUDIT_MAX_FILES * AUDIT_BUFFER_SIZE);
	o->losses = calloc((size_t)AUDIT_MAX_FILES * threads,
	    sizeof(*o->losses));
	if (o->all == NULL || o->buffers == NULL || o->losses == NULL)
		return -ENOMEM;
	if (getrandom(o->secret, sizeof(o->secret), 0) !=
	    (ssize_t)sizeof(o->secret))
		return -EIO;
	for (size_t i = 0; i < AUDIT_MAX_FILES; i++) {
		o->all[i].buffer = o->buffers + i * AUDIT_BUFFER_SIZE;
		o->all[i].losses = o->losses + i * threads;
		o->all[i].threads = threads;
	}
	return 0;
}

void
audit_outlets_clear(struct audit_outlets *o)
{
	free(o->all);
	free(o->buffers);
	free(o->losses);
}

static struct audit_state
state_of(const struct audit_outlets *o)
{
	return (struct audit_state){ .time_ns = realtime_ns(), .run = o->run,
		.next = o->next, .unread = atomic_load(&o->unread) };
}

static void
close_outlet(struct audit_outlets *o, struct audit_outlet *outlet)
{
	const struct audit_state state = state_of(o);
	const uint64_t lost = outlet->lost;

	audit_outlet_close(outlet, &state);
	atomic_fetch_add_explicit(&o->lost, outlet->lost - lost,
	    memory_order_relaxed);
}

/* The outlet of that sink, taken out of "old"; NULL: there is none. */
static struct audit_outlet *
take_old(struct audit_outlet **old, size_t count, const struct audit_sink *sink)
{
	for (size_t i = 0; i < count; i++) {
		struct audit_outlet *outlet = old[i];

		if (outlet == NULL || outlet->file.sink.id != sink->id ||
		    outlet->file.sink.format != sink->format)
			continue;
		old[i] = NULL;
		return outlet;
	}
	return NULL;
}

/* One that is not in use, without a memory. */
static struct audit_outlet *
take_free(struct audit_outlets *o)
{
	struct audit_outlet *outlet = o->all;

	while (outlet->in_use)
		outlet++;
	memset(&outlet->seal, 0, sizeof(outlet->seal));
	memset(&outlet->pace, 0, sizeof(outlet->pace));
	memset(outlet->losses, 0, outlet->threads * sizeof(*outlet->losses));
	outlet->untold = 0;
	outlet->unread = atomic_load(&o->unread);
	return outlet;
}

/* The sink's outlet goes on with the file. */
static void
go_on(struct audit_outlets *o, struct audit_outlet *outlet,
    const struct audit_file *file)
{
	const struct audit_state state = state_of(o);
	const bool same = audit_outlet_is_of(outlet, file->fd);

	if (same)
		(void)close(file->fd);
	if (same || file->fd < 0 || audit_outlet_connect(outlet, file->fd)) {
		outlet->file.sink = file->sink;
		return;
	}
	close_outlet(o, outlet);
	audit_outlet_open(outlet, file, outlet->format, &state);
}

void
audit_outlets_switch(struct audit_outlets *o, const struct audit_file *files,
    size_t count)
{
	struct audit_outlet *old[AUDIT_MAX_FILES] = { NULL };
	struct audit_outlet *kept[AUDIT_MAX_FILES] = { NULL };

	for (size_t i = 0; i < o->count; i++)
		old[i] = o->outlet[i];
	for (size_t i = 0; i < count; i++)
		kept[i] = take_old(old, o->count, &files[i].sink);
	for (size_t i = 0; i < o->count; i++)
		if (old[i] != NULL) {
			close_outlet(o, old[i]);
			old[i]->in_use = false;
		}
	o->count = count;
	for (size_t i = 0; i < count; i++) {
		const struct audit_state state = state_of(o);

		if (kept[i] != NULL)
			go_on(o, kept[i], &files[i]);
		else {
			kept[i] = take_free(o);
			audit_outlet_open(kept[i], &files[i],
			    audit_formats[files[i].sink.format], &state);
			kept[i]->in_use = true;
		}
		o->outlet[i] = kept[i];
	}
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
	struct private_record less;

	if (privacy_is_wanted(&outlet->file.sink)) {
		size_t seal, length;

		privacy_apply(&less, &outlet->file.sink, record);
		length = outlet->format->record(outlet->state, &less.record, to,
		    &seal);
		audit_outlet_end(outlet, record, length, seal);
		return;
	}
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
		struct audit_outlet *outlet = o->outlet[i];
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
		audit_outlet_lose(o->outlet[i], thread, expected, number - 1);
	o->next[thread] = number;
}

bool
audit_outlets_have_room(const struct audit_outlets *o)
{
	bool any = o->count == 0;

	for (size_t i = 0; i < o->count; i++) {
		const struct audit_outlet *outlet = o->outlet[i];
		const bool room = audit_outlet_has_room(outlet);

		if (!room && outlet->file.sink.strict != 0)
			return false;
		any |= room;
	}
	return any;
}

bool
audit_outlets_are_empty(const struct audit_outlets *o)
{
	for (size_t i = 0; i < o->count; i++)
		if (!audit_outlet_is_empty(o->outlet[i]))
			return false;
	return true;
}

void
audit_outlets_flush(struct audit_outlets *o)
{
	for (size_t i = 0; i < o->count; i++) {
		struct audit_outlet *outlet = o->outlet[i];
		struct audit_state state;

		audit_outlet_flush(outlet);
		if (outlet->untold == 0 &&
		    outlet->unread == atomic_load(&o->unread))
			continue;
		state = state_of(o);
		if (audit_outlet_tell(outlet, &state))
			audit_outlet_flush(outlet);
	}
}
