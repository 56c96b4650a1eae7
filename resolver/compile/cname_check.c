/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/compile/cname_check.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

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
