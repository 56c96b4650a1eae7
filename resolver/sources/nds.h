/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds the names of an entry of Istio's NameTable, in JSON or in binary form:
 * the host, the short names of a service, the alternate hosts.
 */
#ifndef NFDNS_RESOLVER_SOURCES_NDS_H
#define NFDNS_RESOLVER_SOURCES_NDS_H

#include <stddef.h>

#include "resolver/image/builder.h"
#include "resolver/text/diag.h"
#include "resolver/text/span.h"
#include "resolver/sources/source_format.h"
#include "resolver/image/mesh.h"

/* How much of a hostile text a message shows. */
#define NDS_SHOWN 100

/* Texts of an entry; one with text NULL stands for a value that is no text. */
struct nds_texts {
	const struct span *texts;
	size_t count;
};

/* Borrows everything.  Absent texts are empty. */
struct nds_entry {
	struct span host;
	unsigned int line;		/* 0: unknown */
	struct nds_texts ips;
	struct span registry;
	struct span shortname;
	struct span namespace;
	struct nds_texts alternates;	/* further hosts */
};

struct nds {
	const struct source_text *text;
	struct builder *builder;
	struct diag *diag;
	struct short_names short_names;
	int error;			/* of the builder, sticky */
};

/* Borrows all.  Returns 0, or -ENAMETOOLONG with an error in diag. */
int nds_init(struct nds *nds, const struct source_text *text,
    struct builder *b, struct diag *diag) __attribute__((warn_unused_result));

/* The names of an entry; a value that borrows nothing. */
struct nds_names {
	struct dns_name host;
	int error;			/* of reading it */
	bool kubernetes;
	bool plain;			/* shorts are all of its short names */
	size_t count;
	struct dns_name shorts[SHORT_NAMES_MAX];
};

/*
 * Reads the names of an entry, of which addresses and alternate hosts do not
 * matter yet, and has the builder's memory for them fetched.  A reader that has
 * many entries prepares a dozen, then adds them.
 */
void nds_prepare(const struct nds *nds, const struct nds_entry *entry,
    struct nds_names *names);

/*
 * Adds the names of one entry; nds_prepare() has read them.  An entry that
 * cannot be used is ignored with a warning; questions for its name pass.
 * Errors: nds->error.
 */
void nds_add_prepared(struct nds *nds, const struct nds_entry *entry,
    const struct nds_names *names);

/* Both at once. */
void nds_add(struct nds *nds, const struct nds_entry *entry);

#endif
