/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making names of all objects, after the last one was read. */
#ifndef NFDNS_RESOLVER_KUBERNETES_NAMES_H
#define NFDNS_RESOLVER_KUBERNETES_NAMES_H

#include "resolver/kubernetes/kubernetes.h"

/*
 * Adds the names of services, endpoints and namespaces to k->builder.  A source
 * must be selected.  0, -ENOMEM or -E2BIG.
 */
int kubernetes_add_names(struct kubernetes *k)
    __attribute__((warn_unused_result));

/*
 * Adds the hosts of ServiceEntries; after kubernetes_add_names(), since a host
 * that is a name of Kubernetes is left to that.  Same returns.
 */
int istio_add_names(struct kubernetes *k) __attribute__((warn_unused_result));

#endif
