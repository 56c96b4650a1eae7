/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/compile/compile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/image/builder.h"
#include "resolver/compile/feed_table.h"
#include "resolver/sources/source_format.h"
#include "resolver/sources/source_file.h"
#include "resolver/image/lookup.h"
#include "resolver/dns/rr.h"
#include "resolver/image/table.h"

/* Signatures and NSEC belong beside a CNAME: RFC 4034 section 2.5 and 4. */
static bool
may_stand_beside(uint16_t type)
{
	return type == TYPE_RRSIG || type == TYPE_NSEC;
}

static bool
has_other_data(const struct table *table, uint32_t node)
{
	struct rrset rrset;

	for (size_t i = 0; table_rrset_at(table, node, i, &rrset); i++) {
		if (rrset.type != TYPE_CNAME && !may_stand_beside(rrset.type))
			return true;
	}
	return false;
}

/* What is wrong with the CNAMEs from node on; NULL if nothing is. */
static const char *
chain_fault(const struct table *table, uint32_t node,
    const struct rrset *first)
{
	uint32_t seen[LOOKUP_MAX_CHAIN + 1];
	struct rrset cname = *first;
	struct dns_name target;
	size_t count = 0;

	if (first->count > 1)
		return "has several CNAMEs";
	if (has_other_data(table, node))
		return "has a CNAME beside other records";
	do {
		if (count > LOOKUP_MAX_CHAIN - 1)
			return "has a CNAME that leads through too many"
			    " others (16 are followed)";
		seen[count++] = node;
		node = lookup_follow(table, &cname, &target);
		for (size_t i = 0; i < count; i++) {
			if (node == seen[i])
				return "has a CNAME that leads in a circle";
		}
	} while (node != 0 && table_rrset(table, node, TYPE_CNAME, &cname));
	return NULL;
}

static void
warn(const struct table *table, uint32_t node, const struct dns_name *name,
    const char *fault, struct diag *diag)
{
	char path[PATH_MAX], text[NAME_TEXT_SIZE];
	unsigned int source, line;
	const char *octets;
	size_t length;

	table_origin(table, node, &source, &line);
	octets = table_source(table, source, &length);
	(void)snprintf(path, sizeof(path), "%.*s", (int)length,
	    octets != NULL ? octets : "");
	diag_add(diag, DIAG_WARNING, path[0] != '\0' ? path : NULL, line,
	    "%s %s: ignored", name_to_text(name->octets, text), fault);
}

static int
drop_from(struct builder *b, const struct table *table, struct diag *diag)
{
	struct dns_name name;
	size_t cursor = 0;
	int dropped = 0;
	uint32_t node;
	uint8_t flags;

	while (table_next(table, &cursor, &name, &node, &flags)) {
		const char *fault = NULL;
		struct rrset cname;

		if (table_rrset(table, node, TYPE_CNAME, &cname))
			fault = chain_fault(table, node, &cname);
		if (fault == NULL)
			continue;
		warn(table, node, &name, fault, diag);
		builder_drop(b, &name, TYPE_CNAME);
		if (dropped < INT_MAX)
			dropped++;
	}
	return dropped;
}

int
cname_check_drop_faulty(struct builder *b, int image_fd, struct diag *diag)
{
	struct table *table;
	const char *why;
	int outcome;

	if (!builder_has(b, TYPE_CNAME))
		return 0;
	outcome = table_open_draft(&table, image_fd, &why);
	if (outcome < 0)
		return outcome;
	outcome = drop_from(b, table, diag);
	table_close(table);
	return outcome;
}

/* "PATH:LINE", or "PATH" if the line is not known. */
static const char *
place_text(const char *path, unsigned int line, char text[static PATH_MAX])
{
	(void)snprintf(text, PATH_MAX, line != 0 ? "%s:%u" : "%s", path, line);
	return text;
}

/* Warns about names that earlier sources define, up to a limit. */
static void
report_shadowed(const struct builder *b, const struct mesh_source *source,
    struct diag *diag)
{
	size_t count = builder_shadowed(b);

	for (size_t i = 0; i < count && i < BUILDER_SHADOWS_KEPT; i++) {
		char name[NAME_TEXT_SIZE], place[PATH_MAX];
		struct builder_shadow shadow;

		builder_shadow(b, i, &shadow);
		diag_add(diag, DIAG_WARNING, shadow.path, shadow.line,
		    "%s is ignored: %s defines it", name_to_text(
		    shadow.name.octets, name), place_text(shadow.winner_path,
		    shadow.winner_line, place));
	}
	if (count > BUILDER_SHADOWS_KEPT)
		diag_add(diag, DIAG_WARNING, source->path, 0, "%zu more names"
		    " are ignored: earlier tables define them",
		    count - BUILDER_SHADOWS_KEPT);
}

/* Sources while they are compiled. */
struct compiling {
	const struct mesh *given;
	struct mesh *mesh;		/* the formats of feeds' tables known */
	const int *fds;			/* -1: not there */
	const int *broker;
	struct builder *b;
	struct diag *diag;
};

/* The nth source's text and its data, to be freed; NULL after an error. */
static char *
read_text(const struct compiling *c, size_t i, struct source_text *text)
{
	const struct mesh_source *source = &c->mesh->sources[i];
	char *data;

	*text = (struct source_text){
		.path = source->path,
		.mesh = c->mesh,
		.source = source,
		.broker = c->broker,
		.number = (unsigned int)i,
		.file = (unsigned int)i,
	};
	data = source_file_read(source->path, c->fds[i], &text->length,
	    c->diag);
	text->data = data;
	if (data != NULL)
		builder_allow(c->b, text->length);
	if (data != NULL && c->given->sources[i].format->kept &&
	    !feed_table_enter(text, c->diag)) {
		free(data);
		data = NULL;
	}
	return data;
}

/* Whether the nth source is there and of that format. */
static bool
is_of(const struct compiling *c, size_t i, const struct source_format *format)
{
	return c->fds[i] >= 0 && c->mesh->sources[i].format == format;
}

/* Reads all sources of the nth one's format, which are read together. */
static int
add_set(const struct compiling *c, size_t i)
{
	const struct source_format *format = c->mesh->sources[i].format;
	struct source_set *set = format->begin(c->b, c->diag);
	size_t errors = c->diag->errors;
	struct source_text text;
	char *data;
	int error = 0;

	if (set == NULL)
		return -ENOMEM;
	for (; i < c->mesh->source_count && error == 0; i++) {
		if (!is_of(c, i, format))
			continue;
		data = read_text(c, i, &text);
		if (data != NULL)
			error = format->add(set, &text);
		free(data);
	}
	if (error == 0)
		return format->end(set, c->diag->errors == errors);
	(void)format->end(set, false);
	return error;
}

static int
add_one(const struct compiling *c, size_t i)
{
	struct source_text text;
	char *data = read_text(c, i, &text);
	int error = 0;

	if (data != NULL)
		error = text.source->format->read(&text, c->b, c->diag);
	free(data);
	return error;
}

/* Whether the source was read together with an earlier one. */
static bool
is_read(const struct compiling *c, size_t i)
{
	const struct source_format *format = c->mesh->sources[i].format;

	for (size_t before = 0; format->begin != NULL && before < i; before++) {
		if (is_of(c, before, format))
			return true;
	}
	return false;
}

static void
report_error(const struct compiling *c, const struct mesh_source *source,
    int error)
{
	char name[NAME_TEXT_SIZE];

	if (error == -EFBIG && builder_last_name(c->b, name))
		diag_add(c->diag, DIAG_ERROR, source->path, 0, "the table would "
		    "exceed 64 times its sources and 64 MiB: the last name is "
		    "%s: remove what makes so many names or records of so "
		    "little text", name);
	else
		diag_add(c->diag, DIAG_ERROR, source->path, 0, "%s",
		    error == -E2BIG ? "the table would exceed 4 GiB: remove"
		    " names" : error == -ENOMEM ? "not enough memory for its"
		    " names" : strerror(-error));
}

/* Returns 0 even after errors in diag, so that all sources are read. */
static int
add_source(const struct compiling *c, size_t i)
{
	const struct mesh_source *source = &c->mesh->sources[i];
	int error;

	if (c->fds[i] < 0 || is_read(c, i))
		return 0;
	builder_source(c->b, (unsigned int)i);
	error = source->format->begin != NULL ? add_set(c, i) : add_one(c, i);
	if (error == 0)
		report_shadowed(c->b, source, c->diag);
	else
		report_error(c, source, error);
	return error;
}

/* Writes the image, and again if faulty CNAMEs were dropped. */
static int
write_image(struct builder *b, int image_fd, struct diag *diag)
{
	int error = builder_write(b, image_fd), faults;

	if (error != 0)
		return error;
	faults = cname_check_drop_faulty(b, image_fd, diag);
	return faults > 0 ? builder_write(b, image_fd) : faults;
}

int
compile(const struct mesh *mesh, const int *sources, int image_fd,
    struct diag *diag)
{
	return compile_confined(mesh, sources, NULL, NULL, image_fd, diag);
}

/* Reads all sources and writes the image. */
static int
run(const struct compiling *c, int image_fd)
{
	size_t errors = c->diag->errors;
	size_t there = 0;
	int error = 0;
	char name[NAME_TEXT_SIZE];
	size_t count;

	for (size_t i = 0; i < c->mesh->source_count && error == 0; i++) {
		there += c->fds[i] >= 0;
		error = add_source(c, i);
	}
	if (error == 0 && c->diag->errors > errors)
		error = -EINVAL;
	if (error != 0)
		return error;
	/* Feeds that have brought nothing yet are no table without names. */
	if (there == 0 && c->mesh->source_count > 0)
		builder_set_unloaded(c->b);
	/* An answer has no room for more than a few thousand records. */
	count = builder_crowded(c->b, name);
	if (count > 0)
		diag_add(c->diag, DIAG_WARNING, NULL, 0, "%s has more than %d "
		    "records of a type: %zu records of it and of names like it "
		    "are left out", name, BUILDER_RECORDS_MAX, count);
	error = write_image(c->b, image_fd, c->diag);
	if (error != 0)
		diag_add(c->diag, DIAG_ERROR, NULL, 0, "cannot write the table"
		    " image: %s", strerror(-error));
	return error;
}

int
compile_confined(const struct mesh *mesh, const int *sources,
    const int *broker, const struct image_policy *policy, int image_fd,
    struct diag *diag)
{
	struct compiling c = { .given = mesh, .fds = sources, .broker = broker,
		.diag = diag };
	int error = feed_table_formats(&c.mesh, mesh, sources, diag);

	if (error == 0 && (c.b = builder_new(c.mesh)) == NULL)
		error = -ENOMEM;
	if (error == 0 && policy != NULL)
		builder_set_policy(c.b, policy);
	if (error == 0)
		error = run(&c, image_fd);
	builder_free(c.b);
	feed_table_formats_free(c.mesh);
	return error;
}

int
compile_unloaded(const struct mesh *mesh, const struct image_policy *policy,
    int image_fd)
{
	struct builder *b = builder_new(mesh);
	int error;

	if (b == NULL)
		return -ENOMEM;
	builder_set_unloaded(b);
	if (policy != NULL)
		builder_set_policy(b, policy);
	error = builder_write(b, image_fd);
	builder_free(b);
	return error;
}
