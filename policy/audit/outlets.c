/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/outlets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolver/clock.h"

int
audit_outlets_init(struct audit_outlets *o)
{
	memset(o, 0, sizeof(*o));
	o->run = realtime_ns();
	o->all = calloc(AUDIT_MAX_FILES, sizeof(*o->all));
	o->buffers = malloc(AUDIT_MAX_FILES * AUDIT_BUFFER_SIZE);
	if (o->all == NULL || o->buffers == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < AUDIT_MAX_FILES; i++)
		o->all[i].buffer = o->buffers + i * AUDIT_BUFFER_SIZE;
	return 0;
}

void
audit_outlets_clear(struct audit_outlets *o)
{
	free(o->all);
	free(o->buffers);
}

static struct audit_state
state_of(const struct audit_outlets *o)
{
	return (struct audit_state){ .time_ns = realtime_ns(), .run = o->run,
		.unread = atomic_load(&o->unread) };
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
	outlet->number = 0;
	outlet->loss = (struct audit_loss){ .count = 0 };
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

/* What it has of user and client. */
static struct audit_record
without_client(const struct audit_record *record)
{
	struct audit_record less = *record;

	less.is_private = true;
	less.uid = (uid_t)-1;
	less.gid = (gid_t)-1;
	memset(less.client, 0, sizeof(less.client));
	less.client_port = 0;
	return less;
}

static size_t
write_record(struct audit_outlet *outlet, const struct audit_record *record,
    char *to)
{
	struct audit_record less;

	if (outlet->file.sink.is_private == 0)
		return outlet->format->record(outlet->state, record, to);
	less = without_client(record);
	return outlet->format->record(outlet->state, &less, to);
}

static void
lose(struct audit_outlets *o, struct audit_outlet *outlet)
{
	outlet->lost++;
	audit_outlet_lose(outlet, 1);
	atomic_fetch_add_explicit(&o->lost, 1, memory_order_relaxed);
}

void
audit_outlets_put(struct audit_outlets *o, struct audit_record *record)
{
	for (size_t i = 0; i < o->count; i++) {
		struct audit_outlet *outlet = o->outlet[i];
		char *to;

		if (!audit_sink_takes(&outlet->file.sink, record))
			continue;
		to = audit_outlet_begin(outlet);
		if (to == NULL) {
			lose(o, outlet);
			continue;
		}
		record->number = outlet->number + 1;
		audit_outlet_end(outlet, write_record(outlet, record, to));
	}
}

void
audit_outlets_lose(struct audit_outlets *o, uint64_t count)
{
	for (size_t i = 0; i < o->count; i++)
		audit_outlet_lose(o->outlet[i], count);
}

bool
audit_outlets_have_room(const struct audit_outlets *o)
{
	bool any = o->count == 0;

	for (size_t i = 0; i < o->count; i++)
		any |= audit_outlet_has_room(o->outlet[i]) ||
		    audit_outlet_is_full(o->outlet[i]);
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
		if (outlet->loss.count == 0 &&
		    outlet->unread == atomic_load(&o->unread))
			continue;
		state = state_of(o);
		if (audit_outlet_tell(outlet, &state))
			audit_outlet_flush(outlet);
	}
}
