/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/kubernetes/kubernetes.h"

#include <string.h>

#include "resolver/dns/rr.h"

void
name_maker_add(struct name_maker *m, const struct dns_name *owner,
    uint16_t type, const void *rdata, size_t length, unsigned int line)
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
name_maker_add_address(struct name_maker *m, const struct dns_name *owner,
    const uint8_t *octets, uint8_t length, unsigned int line)
{
	name_maker_add(m, owner, length == 4 ? TYPE_A : TYPE_AAAA, octets,
	    length, line);
}

bool
name_maker_label(struct dns_name *name, const char *prefix, const char *label,
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
name_maker_service_name(const struct name_maker *m,
    const struct object_service *s, struct dns_name *name)
{
	const struct object_namespace *n = OBJECT_AT(m->objects,
	    const struct object_namespace, s->namespace);

	return name_maker_label(name, "", objects_text(m->objects, n->name),
	    s->imported ? &m->imports : &m->svc) &&
	    name_maker_label(name, "", objects_text(m->objects, s->name), name);
}

uint32_t
name_maker_endpoint(const struct name_maker *m, const struct object_service *s,
    uint32_t handle)
{
	while (handle != 0) {
		const struct object_endpoint *e = OBJECT_AT(m->objects,
		    const struct object_endpoint, handle);

		if ((e->ready || s->publish_not_ready) &&
		    kubernetes_in_network(m->k, e->source) &&
		    !(e->legacy && s->has_slices))
			break;
		handle = e->next;
	}
	return handle;
}
