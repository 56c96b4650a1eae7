/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reader of the format "kubernetes": objects of Kubernetes and of Istio.  The
 * functions are the members of struct source_format of the same name.
 */
#ifndef NFDNS_RESOLVER_KUBERNETES_READER_H
#define NFDNS_RESOLVER_KUBERNETES_READER_H

#include <stdbool.h>

#include "resolver/sources/source_format.h"

int source_kubernetes_read(const struct source_text *text, struct builder *b,
    struct diag *diag) __attribute__((warn_unused_result));
struct source_set *source_kubernetes_begin(struct builder *b,
    struct diag *diag);
int source_kubernetes_add(struct source_set *set,
    const struct source_text *text) __attribute__((warn_unused_result));
int source_kubernetes_end(struct source_set *set, bool make_names);

#endif
