/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names that belong to no service. */
#ifndef NFDNS_RESOLVER_KUBERNETES_DOMAIN_H
#define NFDNS_RESOLVER_KUBERNETES_DOMAIN_H

#include "resolver/kubernetes/name_maker.h"

/*
 * Adds the names of the domain itself, of the namespaces, and of pods whose
 * address is a label, by the options of the selected source.  Errors: m->error.
 */
void domain_add_names(struct name_maker *m);

#endif
