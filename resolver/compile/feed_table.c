/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/compile/feed_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolver/compile/source_files.h"
#include "resolver/sources/feed_file.h"
#include "resolver/sources/source_file.h"
#include "resolver/kubernetes/kubernetes.h"

static const struct source_format formats[] = {
	{ .name = "nds", .ending = ".json", .read = source_nds_read },
	{ .name = "nds-proto", .ending = "", .read = source_nds_proto_read },
	{ .name = "hosts", .ending = "", .read = source_hosts_read },
	{ .name = "zone", .read = source_zone_read, .includes = true },
	{ .name = "kubernetes", .ending = ".json",
	  .read = source_kubernetes_read, .begin = source_kubernetes_begin,
	  .add = source_kubernetes_add, .end = source_kubernetes_end },
	{ .name = "feed", .kept = true },
};

const struct source_format *
formats_find(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	}
	return NULL;
}

const char *
formats_names(void)
{
	return "nds, nds-proto, hosts, zone, kubernetes, feed";
}

static void
refuse(const char *path, const char *why, struct diag *diag)
{
	diag_add(diag, DIAG_ERROR, path, 0, "is not a table of a feed: %s: "
	    "nfdns-feed replaces it with the next table that it receives", why);
}

/* No link, and no waiting for the writer of a fifo. */
static int
open_file(const struct mesh_source *source, struct diag *diag)
{
	int fd = open(source->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC |
	    O_NOCTTY | O_NOFOLLOW);
	int error = fd < 0 ? -errno : 0;

	if (error == -ENOENT)
		diag_add(diag, DIAG_WARNING, source->path, 0, "is not there: "
		    "feed %s waits for its first table", source->feed);
	else if (error == -ELOOP)
		refuse(source->path, "it is a symbolic link", diag);
	else if (error < 0)
		source_file_refuse(source->path, error, "mesh.tables", diag);
	if (error == 0 && !source_file_check(source->path, fd, diag)) {
		(void)close(fd);
		return -EINVAL;
	}
	return error < 0 ? error : fd;
}

int
feed_table_open(struct mesh_source *source, struct diag *diag)
{
	int fd = open_file(source, diag);
	struct feed_header header;
	const char *why;

	if (fd < 0)
		return fd;
	if (feed_file_peek(&header, fd, &why) < 0) {
		refuse(source->path, why, diag);
		(void)close(fd);
		return -EINVAL;
	}
	return fd;
}

/* The format of the table in an open file; NULL after an error. */
static const struct source_format *
format_of(const struct mesh_source *source, int fd, struct diag *diag)
{
	const struct source_format *format;
	struct feed_header header;
	const char *why;

	if (feed_file_peek(&header, fd, &why) < 0) {
		refuse(source->path, why, diag);
		return NULL;
	}
	/* Of no other format a file may be: not of one that includes files. */
	format = strcmp(header.format, "nds-proto") == 0 ||
	    strcmp(header.format, "kubernetes") == 0 ?
	    formats_find(header.format) : NULL;
	if (format == NULL)
		refuse(source->path, "its format is not known", diag);
	return format;
}

int
feed_table_formats(struct mesh **copy, const struct mesh *mesh, const int *fds,
    struct diag *diag)
{
	struct mesh *made = malloc(sizeof(*made));
	struct mesh_source *sources = calloc(mesh->source_count + 1,
	    sizeof(*sources));
	size_t errors = diag->errors;

	*copy = NULL;
	if (made == NULL || sources == NULL) {
		free(made);
		free(sources);
		return -ENOMEM;
	}
	*made = *mesh;
	made->sources = sources;
	for (size_t i = 0; i < mesh->source_count; i++) {
		sources[i] = mesh->sources[i];
		if (sources[i].format->kept && fds[i] >= 0)
			sources[i].format = format_of(&sources[i], fds[i],
			    diag);
	}
	*copy = made;
	if (diag->errors == errors)
		return 0;
	feed_table_formats_free(made);
	*copy = NULL;
	return -EINVAL;
}

void
feed_table_formats_free(struct mesh *copy)
{
	if (copy != NULL)
		free(copy->sources);
	free(copy);
}

bool
feed_table_enter(struct source_text *text, struct diag *diag)
{
	struct feed_header header;
	const char *why;
	const char *table = feed_file_check(&header, text->data, text->length,
	    &text->length, &why);

	if (table == NULL) {
		refuse(text->path, why, diag);
		return false;
	}
	text->data = table;
	return true;
}
