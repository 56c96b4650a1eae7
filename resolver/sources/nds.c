/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/sources/nds.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "resolver/dns/rr.h"

/* An entry while it is added. */
struct adding {
	struct nds *nds;
	const struct nds_entry *entry;
	const struct nds_names *names;
	uint8_t flags;
	bool shadowed;			/* the host itself may have no records of ours */
};

#define SHOWN_HOST(a) SPAN_SHOWN((a)->entry->host, NDS_SHOWN)

#define WARN(a, ...) diag_add((a)->nds->diag, DIAG_WARNING, \
	(a)->nds->text->path, (a)->entry->line, __VA_ARGS__)

static const char *
name_fault(int error)
{
	return error == -ENAMETOOLONG ?
	    "has a label over 63 or is over 255 octets long" :
	    "is not a valid domain name";
}

/* Notes an error of the builder.  Returns the outcome unchanged. */
static int
note(struct nds *nds, int outcome)
{
	if (outcome < 0 && nds->error == 0)
		nds->error = outcome;
	return outcome;
}

/* Adds one address to name.  False if text is no address. */
static bool
add_address(struct adding *a, const struct dns_name *name, struct span text)
{
	char terminated[INET6_ADDRSTRLEN];
	uint8_t octets[16];
	uint16_t type = TYPE_A, length = 4;
	int outcome;

	if (text.text == NULL || text.length >= sizeof(terminated) ||
	    memchr(text.text, '\0', text.length) != NULL)
		return false;
	memcpy(terminated, text.text, text.length);
	terminated[text.length] = '\0';
	if (inet_pton(AF_INET, terminated, octets) != 1) {
		if (inet_pton(AF_INET6, terminated, octets) != 1)
			return false;
		type = TYPE_AAAA;
		length = 16;
	}
	outcome = note(a->nds, builder_add(a->nds->builder, name, a->flags,
	    type, source_ttl(a->nds->text), octets, length, a->entry->line));
	a->shadowed |= outcome >= BUILDER_SHADOWED;
	return true;
}

static void
warn_of_address(const struct adding *a, struct span text)
{
	if (text.text == NULL)
		text = span_of("(not a string)");
	WARN(a, "%.*s: \"%.*s\" is neither an IPv4 nor an IPv6 address: ignored",
	    SHOWN_HOST(a), SPAN_SHOWN(text, NDS_SHOWN));
}

/* Gives name the entry's addresses.  Returns how many were valid. */
static size_t
add_addresses(struct adding *a, const struct dns_name *name, bool warn)
{
	const struct nds_texts *ips = &a->entry->ips;
	size_t valid = 0;

	for (size_t i = 0; i < ips->count && a->nds->error == 0; i++) {
		struct span text = ips->texts[i];

		if (add_address(a, name, text))
			valid++;
		else if (warn)
			warn_of_address(a, text);
	}
	return valid;
}

static void
add_alias(struct adding *a, const struct dns_name *alias)
{
	if (alias->labels == 0 || name_equal(alias, &a->names->host))
		return;
	/* Records of the host would be the earlier source's. */
	if (a->shadowed)
		(void)add_addresses(a, alias, false);
	else
		(void)note(a->nds, builder_alias(a->nds->builder,
		    &a->names->host, alias, a->flags, a->entry->line));
}

/* Reads a name; false, with a warning, if text is no name. */
static bool
read_name(const struct adding *a, const char *what, struct span text,
    struct dns_name *name)
{
	int error = name_from_text(name, text.text, text.length);

	if (error != 0) {
		WARN(a, "%.*s: %s \"%.*s\" %s: ignored", SHOWN_HOST(a), what,
		    SPAN_SHOWN(text, NDS_SHOWN), name_fault(error));
		return false;
	}
	name_lower(name);
	return true;
}

/* The short names of the entry, where all of its texts are names. */
static bool
short_names_of_entry(const struct nds *nds, const struct nds_entry *entry,
    struct nds_names *names)
{
	struct dns_name name, space;
	bool too_long;

	if (name_from_text(&name, entry->shortname.text,
	    entry->shortname.length) != 0 || name_from_text(&space,
	    entry->namespace.text, entry->namespace.length) != 0)
		return false;
	name_lower(&name);
	name_lower(&space);
	names->count = short_names_of(&nds->short_names, &name, &space,
	    names->shorts, &too_long);
	return !too_long;
}

/* Says what is wrong with a text that gives the entry fewer short names. */
static void
warn_of_short_names(const struct adding *a)
{
	struct dns_name ignored;

	if (read_name(a, "shortname", a->entry->shortname, &ignored) &&
	    read_name(a, "namespace", a->entry->namespace, &ignored))
		WARN(a, "%.*s: shortname and namespace make a name over 255"
		    " octets: ignored", SHOWN_HOST(a));
}

static void
add_alternates(struct adding *a)
{
	const struct nds_texts *hosts = &a->entry->alternates;
	struct dns_name name;

	for (size_t i = 0; i < hosts->count && a->nds->error == 0; i++) {
		struct span text = hosts->texts[i];

		if (text.text == NULL)
			WARN(a, "%.*s: alternate host is not a string: ignored",
			    SHOWN_HOST(a));
		else if (read_name(a, "alternate host", text, &name))
			add_alias(a, &name);
	}
}

int
nds_init(struct nds *nds, const struct source_text *text, struct builder *b,
    struct diag *diag)
{
	int error;

	*nds = (struct nds){ .text = text, .builder = b, .diag = diag };
	error = short_names_init(&nds->short_names, text->mesh);
	if (error != 0)
		diag_add(diag, DIAG_ERROR, text->path, 0, "mesh.domain is too"
		    " long for services below it");
	return error;
}

/* What happens to questions for an ignored name, in words. */
static const char *
outcome_without(const struct mesh *mesh, const struct dns_name *name)
{
	const struct mesh_zone *zone = mesh_zone_of(mesh, name);

	return zone != NULL && zone->unknown == ZONE_NXDOMAIN ?
	    "so it does not exist (NXDOMAIN, as mesh.zones says)" :
	    "questions for it pass";
}

void
nds_prepare(const struct nds *nds, const struct nds_entry *entry,
    struct nds_names *names)
{
	names->error = name_from_text(&names->host, entry->host.text,
	    entry->host.length);
	names->kubernetes = span_equal(entry->registry,
	    span_of("Kubernetes"));
	names->plain = true;
	names->count = 0;
	if (names->error != 0)
		return;
	name_lower(&names->host);
	builder_prefetch(nds->builder, &names->host);
	if (!names->kubernetes ||
	    !short_names_apply(&nds->short_names, &names->host))
		return;
	names->plain = short_names_of_entry(nds, entry, names);
	for (size_t i = 0; i < names->count; i++)
		builder_prefetch(nds->builder, &names->shorts[i]);
}

void
nds_add_prepared(struct nds *nds, const struct nds_entry *entry,
    const struct nds_names *names)
{
	const struct dns_name *host = &names->host;
	struct dns_name ignored;
	struct adding a = { .nds = nds, .entry = entry, .names = names,
		.flags = names->kubernetes ? NAME_OWNED : 0 };

	if (names->error != 0) {
		(void)read_name(&a, "host", entry->host, &ignored);
		return;
	}
	if (host->labels == 0) {
		WARN(&a, "an entry has an empty host: ignored");
		return;
	}
	if (add_addresses(&a, host, true) == 0) {
		if (nds->error == 0)
			WARN(&a, "%.*s has no valid address: ignored, %s",
			    SHOWN_HOST(&a),
			    outcome_without(nds->text->mesh, host));
		return;
	}
	if (!names->kubernetes || !short_names_apply(&nds->short_names, host))
		return;
	for (size_t i = 0; i < names->count; i++)
		add_alias(&a, &names->shorts[i]);
	if (!names->plain)
		warn_of_short_names(&a);
	add_alternates(&a);
}

void
nds_add(struct nds *nds, const struct nds_entry *entry)
{
	struct nds_names names;

	nds_prepare(nds, entry, &names);
	nds_add_prepared(nds, entry, &names);
}
