/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The readers of single objects, one for each kind. */
#ifndef NFDNS_RESOLVER_KUBERNETES_READERS_H
#define NFDNS_RESOLVER_KUBERNETES_READERS_H

#include "resolver/kubernetes/kubernetes.h"

/*
 * A reader keeps what names need in k->objects, or adds names that depend on
 * no other object.  A fault in the object is a warning.  Returns 0, or -ENOMEM
 * or -E2BIG.
 */
typedef int kubernetes_read_item(struct kubernetes *k,
    const struct kubernetes_item *item);

kubernetes_read_item kubernetes_read_namespace, kubernetes_read_service,
    kubernetes_read_slice, kubernetes_read_endpoints, kubernetes_read_pod,
    kubernetes_read_import, istio_read_service_entry,
    istio_read_workload_entry, istio_read_pod;

#endif
