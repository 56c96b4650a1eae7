/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that belong to no service:
 *
 *   DOMAIN                NS: the cluster's DNS service
 *   dns-version.DOMAIN    TXT "1.1.0"
 *   svc, NS.svc, ...      exist, even if nothing lies below them
 */
#include "resolver/kubernetes/domain.h"

#include <string.h>

#include "resolver/dns/rr.h"

#define DNS_VERSION	"1.1.0"
#define DNS_VERSION_TTL	28800	/* the specification's example */

static void
add_empty(struct name_maker *m, const struct dns_name *name)
{
	if (m->error == 0)
		m->error = builder_add_empty(m->k->builder, name);
}

static void
add_version(struct name_maker *m, const struct dns_name *domain)
{
	static const char text[] = "\5" DNS_VERSION;
	struct dns_name name;
	uint32_t ttl = m->ttl;

	if (!name_maker_label(&name, "", "dns-version", domain))
		return;
	m->ttl = DNS_VERSION_TTL;
	name_maker_add(m, &name, TYPE_TXT, text, sizeof(text) - 1, 0);
	m->ttl = ttl;
}

/* A namespace exists even if it is empty. */
static void
add_namespace(struct name_maker *m, const char *namespace,
    const struct dns_name *pod, enum mesh_pods pods)
{
	struct dns_name name;

	if (name_maker_label(&name, "", namespace, &m->svc))
		add_empty(m, &name);
	if (m->has_imports && name_maker_label(&name, "", namespace,
	    &m->imports))
		add_empty(m, &name);
	if (pods == PODS_DISABLED ||
	    !name_maker_label(&name, "", namespace, pod))
		return;
	add_empty(m, &name);
}

static void
add_namespaces(struct name_maker *m, const struct dns_name *pod)
{
	const struct mesh_source *source = m->k->text->source;
	enum mesh_pods pods = source != NULL ? source->pods : PODS_DISABLED;
	const struct object_namespace *n;

	for (uint32_t handle = m->objects->first_namespace; handle != 0;
	    handle = n->next) {
		const char *text;

		n = OBJECT_AT(m->objects, const struct object_namespace,
		    handle);
		text = objects_text(m->objects, n->name);
		if (kubernetes_exposes(m->k->text, text))
			add_namespace(m, text, pod, pods);
	}
}

static bool
is_dns_service(const struct name_maker *m, const struct object_service *s)
{
	const struct object_namespace *n = OBJECT_AT(m->objects,
	    const struct object_namespace, s->namespace);

	return !s->imported && (s->kind == SERVICE_CLUSTER_IP ||
	    s->kind == SERVICE_HEADLESS) &&
	    strcmp(objects_text(m->objects, s->name), "kube-dns") == 0 &&
	    strcmp(objects_text(m->objects, n->name), "kube-system") == 0;
}

/* The addresses of the DNS service: its namespace may have no names. */
static void
add_dns_addresses(struct name_maker *m, const struct object_service *s,
    const struct dns_name *name)
{
	const struct object_address *a;
	const struct object_endpoint *e;
	uint32_t handle;

	for (handle = s->first_address; handle != 0; handle = a->next) {
		a = OBJECT_AT(m->objects, const struct object_address, handle);
		name_maker_add_address(m, name, a->octets, a->length, s->line);
	}
	if (s->kind != SERVICE_HEADLESS)
		return;
	handle = s->first_endpoint;
	while ((handle = name_maker_endpoint(m, s, handle)) != 0) {
		e = OBJECT_AT(m->objects, const struct object_endpoint,
		    handle);
		name_maker_add_address(m, name, e->octets, e->length, s->line);
		handle = e->next;
	}
}

static void
add_nameservers(struct name_maker *m, const struct dns_name *domain)
{
	const struct object_service *s;
	struct dns_name name;

	for (uint32_t handle = m->objects->first_service; handle != 0;
	    handle = s->next) {
		s = OBJECT_AT(m->objects, const struct object_service, handle);
		if (s->source != m->k->source ||
		    !is_dns_service(m, s) ||
		    !name_maker_service_name(m, s, &name))
			continue;
		name_maker_add(m, domain, TYPE_NS, name.octets, name.length,
		    s->line);
		add_dns_addresses(m, s, &name);
	}
}

void
domain_add_names(struct name_maker *m)
{
	const struct dns_name *domain = &m->k->text->mesh->domain;
	struct dns_name pod;

	add_version(m, domain);
	add_nameservers(m, domain);
	add_empty(m, &m->svc);
	if (m->has_imports) {
		add_version(m, &m->clusterset);
		add_empty(m, &m->imports);
	}
	if (name_maker_label(&pod, "", "pod", domain)) {
		add_empty(m, &pod);
		add_namespaces(m, &pod);
	}
}
