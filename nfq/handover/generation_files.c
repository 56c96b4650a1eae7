/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/handover/generation_files.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

/*
 * The order of the descriptors in a CONTROL_GENERATION; behind them the cache, if
 * there is one, and the audit files.
 */
enum { IMAGE, SETTINGS, OTHERS };

_Static_assert(OTHERS + 1 + AUDIT_MAX_FILES <= CONTROL_MAX_FDS,
    "a message has room for a whole generation");

void
audit_files_close(struct audit_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		(void)close(files->files[i].fd);
	files->count = 0;
}

void
generation_files_close(struct generation_files *g)
{
	if (g->image >= 0)
		(void)close(g->image);
	if (g->settings >= 0)
		(void)close(g->settings);
	if (g->cache >= 0)
		(void)close(g->cache);
	g->image = g->settings = g->cache = -1;
	audit_files_close(&g->audit);
}

/* Adds the files to a message from fds[0] on. */
static void
put_audit_files(struct control_message *message, int *fds,
    const struct audit_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		fds[i] = files->files[i].fd;
		message->passes[i] = files->files[i].passes;
		message->formats[i] = files->files[i].format;
	}
}

static void
take_audit_files(struct audit_files *files,
    const struct control_message *message, const int *fds, size_t count)
{
	files->count = count;
	for (size_t i = 0; i < count; i++)
		files->files[i] = (struct audit_file){ .fd = fds[i],
			.passes = message->passes[i] != 0,
			.format = message->formats[i] };
}

int
generation_files_send(int socket, const struct generation_files *g)
{
	struct control_message message = { .kind = CONTROL_GENERATION,
		.generation = g->number, .caches = g->cache >= 0 ? 1 : 0 };
	const size_t audit = OTHERS + message.caches;
	int fds[CONTROL_MAX_FDS];

	fds[IMAGE] = g->image;
	fds[SETTINGS] = g->settings;
	if (g->cache >= 0)
		fds[OTHERS] = g->cache;
	put_audit_files(&message, fds + audit, &g->audit);
	return control_send(socket, &message, fds, audit + g->audit.count);
}

int
audit_files_send(int socket, const struct audit_files *files)
{
	struct control_message message = { .kind = CONTROL_AUDIT_FILES };
	int fds[CONTROL_MAX_FDS];

	put_audit_files(&message, fds, files);
	return control_send(socket, &message, fds, files->count);
}

/* Whether the message has so many files at least, and audit files behind. */
static bool
is_sound(const struct control_message *message, uint32_t at_least)
{
	if (message->fd_count < at_least ||
	    message->fd_count - at_least > AUDIT_MAX_FILES)
		return false;
	for (uint32_t i = 0; i < message->fd_count - at_least; i++)
		if (message->formats[i] >= AUDIT_FORMATS)
			return false;
	return true;
}

static int
refuse(const struct control_message *message, const int *fds)
{
	for (uint32_t i = 0; i < message->fd_count; i++)
		(void)close(fds[i]);
	return -EPROTO;
}

int
generation_files_take(struct generation_files *g,
    const struct control_message *message, const int *fds)
{
	const uint32_t audit = OTHERS + (message->caches != 0);

	if (message->caches > 1 || !is_sound(message, audit))
		return refuse(message, fds);
	g->number = message->generation;
	g->image = fds[IMAGE];
	g->settings = fds[SETTINGS];
	g->cache = message->caches == 1 ? fds[OTHERS] : -1;
	take_audit_files(&g->audit, message, fds + audit,
	    message->fd_count - audit);
	return 0;
}

int
audit_files_take(struct audit_files *files,
    const struct control_message *message, const int *fds)
{
	if (!is_sound(message, 0))
		return refuse(message, fds);
	take_audit_files(files, message, fds, message->fd_count);
	return 0;
}
