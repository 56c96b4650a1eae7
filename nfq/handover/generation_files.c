/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/handover/generation_files.h"

#include <sys/stat.h>
#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "resolver/fds.h"

/*
 * The order of the descriptors in a CONTROL_GENERATION; behind them the cache, if
 * there is one, and what a CONTROL_AUDIT_FILES has: a sealed memory file with
 * the sinks, and the audit files in their order.
 */
enum { IMAGE, SETTINGS, OTHERS };

_Static_assert(OTHERS + 2 + AUDIT_MAX_FILES <= CONTROL_MAX_FDS,
    "a message has room for a whole generation");

void
audit_files_close(struct audit_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		if (files->files[i].fd >= 0)
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
	if (g->authorities >= 0)
		(void)close(g->authorities);
	g->image = g->settings = g->cache = g->authorities = -1;
	audit_files_close(&g->audit);
}

/*
 * Puts the descriptor of the sinks, which the caller closes (fds[0], if there
 * are sinks), and those of the files from fds[0] on.  How many, or a negative
 * errno.
 */
static int
put_audit_files(struct control_message *message, int *fds,
    const struct audit_files *files)
{
	struct audit_sink sinks[AUDIT_MAX_FILES];
	int count = 1;

	message->sinks = (uint32_t)files->count;
	if (files->count == 0)
		return 0;
	for (size_t i = 0; i < files->count; i++)
		sinks[i] = files->files[i].sink;
	fds[0] = fds_sealed("nfdns-sinks", sinks,
	    files->count * sizeof(sinks[0]));
	if (fds[0] < 0)
		return fds[0];
	for (size_t i = 0; i < files->count; i++)
		if (files->files[i].fd >= 0) {
			message->opened |= 1U << i;
			fds[count++] = files->files[i].fd;
		}
	return count;
}

static bool
read_sinks(struct audit_files *files, int memory)
{
	struct stat st;

	if (!fds_is_sealed(memory) || fstat(memory, &st) < 0 ||
	    st.st_size != (off_t)(files->count * sizeof(struct audit_sink)) ||
	    lseek(memory, 0, SEEK_SET) != 0)
		return false;
	for (size_t i = 0; i < files->count; i++) {
		struct audit_sink *sink = &files->files[i].sink;

		if (read(memory, sink, sizeof(*sink)) !=
		    (ssize_t)sizeof(*sink) || !audit_sink_is_sound(sink))
			return false;
	}
	return true;
}

/*
 * Takes the files from the message's descriptor "at" on.  False, and nothing is
 * taken, if they are not what they should be.
 */
static bool
take_audit_files(struct audit_files *files,
    const struct control_message *message, const int *fds, uint32_t at)
{
	uint32_t next = at + 1;

	files->count = 0;
	if (message->sinks == 0)
		return message->fd_count == at;
	if (message->sinks > AUDIT_MAX_FILES ||
	    message->opened >> message->sinks != 0 || message->fd_count !=
	    at + 1 + (uint32_t)__builtin_popcount(message->opened))
		return false;
	files->count = message->sinks;
	for (size_t i = 0; i < files->count; i++)
		files->files[i].fd = (message->opened >> i & 1) != 0 ?
		    fds[next++] : -1;
	if (!read_sinks(files, fds[at])) {
		files->count = 0;
		return false;
	}
	(void)close(fds[at]);
	return true;
}

int
generation_files_send(int socket, const struct generation_files *g)
{
	struct control_message message = { .kind = CONTROL_GENERATION,
		.generation = g->number, .caches = g->cache >= 0 ? 1 : 0 };
	const size_t audit = OTHERS + message.caches;
	int fds[CONTROL_MAX_FDS], error, count;

	if (g->settings < 0) {
		message.kind = CONTROL_TABLE;
		return control_send(socket, &message, &g->image, 1);
	}
	count = put_audit_files(&message, fds + audit, &g->audit);
	if (count < 0)
		return count;
	fds[IMAGE] = g->image;
	fds[SETTINGS] = g->settings;
	if (g->cache >= 0)
		fds[OTHERS] = g->cache;
	error = control_send(socket, &message, fds, audit + (size_t)count);
	if (count > 0)
		(void)close(fds[audit]);
	return error;
}

int
audit_files_send(int socket, const struct audit_files *files)
{
	struct control_message message = { .kind = CONTROL_AUDIT_FILES };
	int fds[CONTROL_MAX_FDS] = { -1 }, error;
	const int count = put_audit_files(&message, fds, files);

	if (count < 0)
		return count;
	error = control_send(socket, &message, fds, (size_t)count);
	if (count > 0)
		(void)close(fds[0]);
	return error;
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

	if (message->kind == CONTROL_TABLE) {
		if (message->fd_count != 1)
			return refuse(message, fds);
		g->number = message->generation;
		g->image = fds[IMAGE];
		g->settings = g->cache = g->authorities = -1;
		g->audit.count = 0;
		return 0;
	}
	if (message->caches > 1 || message->fd_count < audit ||
	    !take_audit_files(&g->audit, message, fds, audit))
		return refuse(message, fds);
	g->number = message->generation;
	g->image = fds[IMAGE];
	g->settings = fds[SETTINGS];
	g->cache = message->caches == 1 ? fds[OTHERS] : -1;
	g->authorities = -1;
	return 0;
}

int
audit_files_take(struct audit_files *files,
    const struct control_message *message, const int *fds)
{
	return take_audit_files(files, message, fds, 0) ? 0 :
	    refuse(message, fds);
}
