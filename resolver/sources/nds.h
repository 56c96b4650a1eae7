/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an entry of Istio's NameTable means, whichever form it came in: the
 * host, the shorter names of a service, the alternate hosts.
 */
#ifndef NFDNS_RESOLVER_SOURCES_NDS_H
#define NFDNS_RESOLVER_SOURCES_NDS_H

#include <stddef.h>

#include "resolver/image/builder.h"
#include "resolver/text/diag.h"
#include "resolver/sources/source_text.h"
#include "resolver/image/short_names.h"

/* How much of a hostile text a message shows. */
#define NDS_SHOWN 100

/* Texts of an entry; NULL stands for one that is no text. */
struct nds_texts {
	const char *const *texts;
	size_t count;
};

/* Borrows everything.  What is absent is "". */
struct nds_entry {
	const char *host;
	unsigned int line;		/* 0: unknown */
	struct nds_texts ips;
	const char *registry;
	const char *shortname;
	const char *namespace;
	struct nds_texts alternates;	/* further hosts */
};

struct nds {
	const struct source_text *text;
	struct builder *builder;
	struct diag *diag;
	struct short_names short_names;
	int error;			/* of the builder, sticky */
};

/* 0, or -ENAMETOOLONG with an error in diag.  Borrows all. */
int nds_init(struct nds *nds, const struct source_text *text,
    struct builder *b, struct diag *diag) __attribute__((warn_unused_result));

/*
 * Adds the names of one entry.  One that cannot be used is left out with a
 * warning, and its name passes.
 */
void nds_add(struct nds *nds, const struct nds_entry *entry);

#endif
