/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of ServiceEntries, as Istio's name table has them
 * (pkg/dns/server/name_table.go), for each host:
 *
 *   1. a host that is also a name of Kubernetes is left to that;
 *   2. an entry of another cluster counts only if this machine's cluster has
 *      no entry for the host;
 *   3. the addresses are spec.addresses, if there are any, without prefixes;
 *   4. else, with resolution NONE, those of its endpoints and of the workloads
 *      that it selects, as far as they are in this machine's network;
 *   5. else an allocated address: the one that istiod has written into
 *      status.addresses, or the one that it would compute; none for a wildcard.
 *
 * Addresses of entries with the same host are joined, the oldest entry's first.
 * A host in several namespaces gets an allocated address for each of them.
 * These names overlay public ones: no NAME_OWNED.
 */
#include "resolver/kubernetes/kubernetes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/dns/rr.h"
#include "resolver/kubernetes/istio_address.h"
#include "resolver/kubernetes/istio_objects.h"

/*
 * What entries with the same host share: of all namespaces, or of one
 * namespace, where istiod takes them for one service.
 */
struct known_host {
	uint32_t namespace;		/* strings; 0: any */
	uint32_t text;
	bool own;			/* any: this machine sees its cluster's */
	bool allocated;			/* one: */
	struct istio_address address;
};

/* All entries while their names are made. */
struct naming {
	struct kubernetes *k;
	struct objects *objects;
	uint32_t *order;		/* entries, the oldest first */
	struct build_index hosts;	/* struct known_host */
	struct istio_addresses taken;
	/* The current entry. */
	const struct istio_entry *e;
	int error;			/* sticky */
};

static const struct istio_entry *
entry_at(const struct naming *n, size_t i)
{
	return OBJECT_AT(n->objects, const struct istio_entry, n->order[i]);
}

static void
warn(const struct naming *n, const char *text)
{
	const struct kubernetes_item item = {
		.kind = "ServiceEntry",
		.namespace = objects_text(n->objects, n->e->namespace),
		.name = objects_text(n->objects, n->e->name),
		.line = n->e->line,
	};

	kubernetes_warn(n->k, &item, "%s", text);
}

/*
 * The oldest first, so that a new entry changes no other's address.  An entry
 * without a time of creation is the youngest.
 */
static int
compare_entries(const void *a, const void *b, void *objects)
{
	const struct istio_entry *x = OBJECT_AT((struct objects *)objects,
	    const struct istio_entry, *(const uint32_t *)a);
	const struct istio_entry *y = OBJECT_AT((struct objects *)objects,
	    const struct istio_entry, *(const uint32_t *)b);
	int order;

	if ((x->created == 0) != (y->created == 0))
		return x->created == 0 ? 1 : -1;
	/* RFC 3339 in UTC sorts as text. */
	order = strcmp(objects_text(objects, x->created),
	    objects_text(objects, y->created));
	if (order == 0)
		order = strcmp(objects_text(objects, x->namespace),
		    objects_text(objects, y->namespace));
	if (order == 0)
		order = strcmp(objects_text(objects, x->name),
		    objects_text(objects, y->name));
	return order != 0 ? order : (int)x->source - (int)y->source;
}

static int
sort_entries(struct naming *n)
{
	size_t count = 0;

	n->order = calloc(n->k->entry_count, sizeof(*n->order));
	if (n->order == NULL)
		return -ENOMEM;
	for (uint32_t handle = n->k->entries.first; handle != 0; handle =
	    OBJECT_AT(n->objects, struct istio_entry, handle)->next)
		n->order[count++] = handle;
	qsort_r(n->order, count, sizeof(*n->order), compare_entries,
	    n->objects);
	return 0;
}

static uint32_t
host_tag(uint32_t namespace, uint32_t text)
{
	return (text * 2654435761U) ^ (namespace * 2246822519U);
}

/* NULL if it is not there. */
static struct known_host *
find_host(const struct naming *n, uint32_t namespace, uint32_t text)
{
	size_t step = 0;
	uint32_t handle;

	while ((handle = build_index_next(&n->hosts,
	    host_tag(namespace, text), &step)) != 0) {
		struct known_host *h = OBJECT_AT(n->objects,
		    struct known_host, handle);

		if (h->text == text && h->namespace == namespace)
			return h;
	}
	return NULL;
}

/* The host, added if absent, which moves the arena; NULL after an error. */
static struct known_host *
get_host(struct naming *n, uint32_t namespace, uint32_t text)
{
	struct known_host *h = find_host(n, namespace, text);
	uint32_t handle;

	if (h != NULL)
		return h;
	n->error = build_index_reserve(&n->hosts);
	if (n->error == 0)
		n->error = arena_take(&n->objects->arena, sizeof(*h), &handle);
	if (n->error != 0)
		return NULL;
	build_index_place(&n->hosts, host_tag(namespace, text), handle);
	h = OBJECT_AT(n->objects, struct known_host, handle);
	h->namespace = namespace;
	h->text = text;
	return h;
}

static void
reserve(struct naming *n, const struct object_list *list)
{
	const struct object_address *a;

	for (uint32_t handle = list->first; handle != 0; handle = a->next) {
		a = OBJECT_AT(n->objects, const struct object_address, handle);
		istio_address_reserve(&n->taken, a->octets, a->length);
	}
}

/* Not those of pods: they change, and allocated addresses must not. */
static void
reserve_workloads(struct naming *n, const struct object_list *list)
{
	const struct istio_workload *w;

	for (uint32_t handle = list->first; handle != 0; handle = w->next) {
		w = OBJECT_AT(n->objects, const struct istio_workload, handle);
		if (!w->pod)
			istio_address_reserve(&n->taken, w->octets, w->length);
	}
}

/* Only entries that this machine sees hide those of other clusters. */
static void
note_host(struct naming *n, const struct istio_host *host)
{
	struct known_host *known = get_host(n, 0, host->text);

	reserve(n, &host->status);
	if (known != NULL && n->e->visible &&
	    kubernetes_in_cluster(n->k, n->e->source))
		known->own = true;
}

static bool
is_wildcard(const char *host)
{
	return host[0] == '*' && host[1] == '.';
}

/* Allocates an address to the host, if it needs one. */
static void
allocate_host(struct naming *n, const struct istio_host *host)
{
	const struct istio_entry *e = n->e;
	struct known_host *known;

	if (e->passthrough || e->has_addresses || !e->auto_allocate ||
	    host->status.first != 0 ||
	    is_wildcard(objects_text(n->objects, host->text)))
		return;
	known = get_host(n, e->namespace, host->text);
	if (known == NULL || known->allocated)
		return;
	if (istio_address_take(&n->taken, objects_text(n->objects,
	    e->namespace), objects_text(n->objects, host->text),
	    &known->address) == 0)
		known->allocated = true;
	else
		warn(n, "no address is left for it in 240.240.0.0/16: its name"
		    " passes");
}

static void
add(struct naming *n, const struct dns_name *name, const uint8_t *octets,
    uint8_t length)
{
	int outcome;

	if (n->error != 0)
		return;
	outcome = builder_add(n->k->builder, name, 0,
	    length == 4 ? TYPE_A : TYPE_AAAA, source_ttl(n->k->text), octets,
	    length, n->e->line);
	if (outcome < 0)
		n->error = outcome;
}

static void
add_allocated(struct naming *n, const struct dns_name *name,
    const uint8_t *octets, uint8_t length)
{
	int outcome;

	if (n->error != 0)
		return;
	outcome = builder_add_allocated(n->k->builder, name,
	    source_ttl(n->k->text), octets, length, n->e->line);
	if (outcome < 0)
		n->error = outcome;
}

static void
add_list(struct naming *n, const struct dns_name *name,
    const struct object_list *list, bool allocated)
{
	const struct object_address *a;

	for (uint32_t handle = list->first; handle != 0; handle = a->next) {
		a = OBJECT_AT(n->objects, const struct object_address, handle);
		if (allocated)
			add_allocated(n, name, a->octets, a->length);
		else
			add(n, name, a->octets, a->length);
	}
}

/* Whether this machine would be told of the workload. */
static bool
is_near(const struct kubernetes *k, const struct istio_workload *w)
{
	bool network = w->network != 0 ? k->network == 0 ||
	    w->network == k->network : kubernetes_in_network(k, w->source);

	return w->healthy && network;
}

static void
add_endpoints(struct naming *n, const struct dns_name *name)
{
	const struct istio_workload *w;
	uint32_t handle;

	for (handle = n->e->endpoints.first; handle != 0; handle = w->next) {
		w = OBJECT_AT(n->objects, const struct istio_workload, handle);
		if (is_near(n->k, w))
			add(n, name, w->octets, w->length);
	}
	if (n->e->selector == 0)
		return;
	for (handle = n->k->workloads.first; handle != 0; handle = w->next) {
		w = OBJECT_AT(n->objects, const struct istio_workload, handle);
		if (w->namespace == n->e->namespace && is_near(n->k, w) &&
		    istio_selects(n->objects, n->e->selector, w))
			add(n, name, w->octets, w->length);
	}
}

static void
add_auto(struct naming *n, const struct istio_host *host,
    const struct dns_name *name)
{
	const struct known_host *known;

	if (!n->e->auto_allocate)
		return;
	add_list(n, name, &host->status, true);
	known = find_host(n, n->e->namespace, host->text);
	if (known != NULL && host->status.first == 0 && known->allocated) {
		add_allocated(n, name, known->address.v4, 4);
		add_allocated(n, name, known->address.v6, 16);
	}
}

static void
add_host(struct naming *n, const struct istio_host *host)
{
	const struct known_host *known = find_host(n, 0, host->text);
	const char *text = objects_text(n->objects, host->text);
	struct dns_name name;

	if (!n->e->visible || known == NULL || (known->own &&
	    !kubernetes_in_cluster(n->k, n->e->source)) ||
	    name_from_text(&name, text, strlen(text)) != 0 ||
	    builder_owned(n->k->builder, &name))
		return;
	if (n->e->has_addresses)
		add_list(n, &name, &n->e->addresses, false);
	else if (n->e->passthrough)
		add_endpoints(n, &name);
	else
		add_auto(n, host, &name);
}

/* Calls act() for every host of every entry, the oldest entry first. */
static void
each_host(struct naming *n,
    void (*act)(struct naming *n, const struct istio_host *host))
{
	for (size_t i = 0; i < n->k->entry_count && n->error == 0; i++) {
		/* Copies: act() may move the arena. */
		const struct istio_entry e = *entry_at(n, i);
		struct istio_host host;
		uint32_t handle;

		n->e = &e;
		kubernetes_select(n->k, e.source);
		for (handle = e.hosts.first; handle != 0 && n->error == 0;
		    handle = host.next) {
			host = *OBJECT_AT(n->objects, struct istio_host,
			    handle);
			act(n, &host);
		}
		n->e = NULL;
	}
}

int
istio_add_names(struct kubernetes *k)
{
	struct naming n = { .k = k, .objects = &k->objects };
	const struct object_service *s;

	if (k->entry_count == 0)
		return 0;
	n.error = sort_entries(&n);
	/*
	 * All addresses of objects are taken, visible from here or not, so that
	 * they are not allocated; as istiod's own controller does.
	 */
	for (size_t i = 0; i < n.k->entry_count; i++) {
		reserve(&n, &entry_at(&n, i)->addresses);
		reserve_workloads(&n, &entry_at(&n, i)->endpoints);
	}
	reserve_workloads(&n, &n.k->workloads);
	for (uint32_t handle = n.objects->first_service; handle != 0;
	    handle = s->next) {
		s = OBJECT_AT(n.objects, const struct object_service, handle);
		reserve(&n, &(struct object_list){ s->first_address, 0 });
	}
	each_host(&n, note_host);
	each_host(&n, allocate_host);
	each_host(&n, add_host);
	free(n.order);
	free(n.hosts.slots);
	return n.error;
}
