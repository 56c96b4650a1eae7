/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/kubernetes/name_maker.h"

#include <string.h>

#include "resolver/dns/rr.h"

void
making_add(struct making *m, const struct dns_name *owner, uint16_t type,
    const void *rdata, size_t length, unsigned int line)
{
	int outcome;

	if (m->error != 0)
		return;
	outcome = builder_add(m->k->builder, owner, NAME_OWNED, type, m->ttl,
	    rdata, (uint16_t)length, line);
	if (outcome < 0)
		m->error = outcome;
}

void
making_add_address(struct making *m, const struct dns_name *owner,
    const uint8_t *octets, uint8_t length, unsigned int line)
{
	making_add(m, owner, length == 4 ? TYPE_A : TYPE_AAAA, octets, length,
	    line);
}

bool
making_label(struct dns_name *name, const char *prefix, const char *label,
    const struct dns_name *suffix)
{
	size_t n = strlen(prefix), length = n + strlen(label);

	if (length > NAME_MAX_LABEL ||
	    1 + length + suffix->length > NAME_MAX_OCTETS)
		return false;
	memmove(name->octets + 1 + length, suffix->octets, suffix->length);
	name->octets[0] = (uint8_t)length;
	memcpy(name->octets + 1, prefix, n);
	memcpy(name->octets + 1 + n, label, length - n);
	name->length = (uint8_t)(1 + length + suffix->length);
	name->labels = (uint8_t)(suffix->labels + 1);
	return true;
}

bool
making_service_name(const struct making *m, const struct object_service *s,
    struct dns_name *name)
{
	const struct object_namespace *n = OBJECT_AT(m->objects,
	    const struct object_namespace, s->namespace);

	return making_label(name, "", objects_text(m->objects, n->name),
	    s->imported ? &m->imports : &m->svc) &&
	    making_label(name, "", objects_text(m->objects, s->name), name);
}

uint32_t
making_endpoint(const struct making *m, const struct object_service *s,
    uint32_t handle)
{
	while (handle != 0) {
		const struct object_endpoint *e = OBJECT_AT(m->objects,
		    const struct object_endpoint, handle);

		if ((e->ready || s->publish_not_ready) &&
		    kubernetes_in_network(m->k, e->place) &&
		    !(e->legacy && s->has_slices))
			break;
		handle = e->next;
	}
	return handle;
}

bool
making_joins(const struct making *m, const struct object_endpoint *e)
{
	return m->k->text->mesh->multicluster_headless ||
	    kubernetes_in_cluster(m->k, e->place);
}

bool
kubernetes_exposes(const struct source_text *text, const char *namespace)
{
	const struct mesh_source *source = text->source;

	if (source == NULL || source->namespaces.count == 0)
		return true;
	for (size_t i = 0; i < source->namespaces.count; i++) {
		if (strcmp(source->namespaces.texts[i], namespace) == 0)
			return true;
	}
	return false;
}

/* "svc" below the domain of imports, if there is one. */
static bool
imports_domain(struct dns_name *name, const struct mesh_source *source)
{
	struct dns_name domain;

	if (source == NULL || source->clusterset == NULL ||
	    name_from_text(&domain, source->clusterset,
	    strlen(source->clusterset)) != 0)
		return false;
	name_lower(&domain);
	return making_label(name, "", "svc", &domain);
}

void
making_go(struct making *m, uint16_t place)
{
	const struct mesh_source *source;

	kubernetes_go(m->k, place);
	source = m->k->text->source;
	m->ttl = source_ttl(m->k->text);
	m->ignore_empty = source != NULL && source->ignore_empty;
	m->endpoint_pod_names = source != NULL && source->endpoint_pod_names;
	m->has_clusterset = imports_domain(&m->imports, source);
}

/* Whether names are made of a service's namespace. */
static bool
is_exposed(const struct making *m, const struct object_service *s)
{
	const struct object_namespace *n = OBJECT_AT(m->objects,
	    const struct object_namespace, s->namespace);

	return kubernetes_exposes(m->k->text,
	    objects_text(m->objects, n->name));
}

int
kubernetes_add_names(struct kubernetes *k)
{
	const struct object_service *s;
	struct making m = { .k = k, .objects = &k->objects };

	if (short_names_init(&m.short_names, k->text->mesh) != 0) {
		diag_add(k->diag, DIAG_ERROR, k->text->path, 0, "mesh.domain is"
		    " too long for services below it");
		return 0;
	}
	m.svc = m.short_names.services;
	for (uint32_t handle = k->objects.first_service; handle != 0 &&
	    m.error == 0; handle = s->next) {
		s = OBJECT_AT(&k->objects, const struct object_service,
		    handle);
		making_go(&m, s->place);
		if (is_exposed(&m, s))
			making_service(&m, s);
	}
	for (size_t i = 0; i < k->place_count && m.error == 0; i++) {
		making_go(&m, (uint16_t)i);
		making_domain(&m);
	}
	return m.error;
}
