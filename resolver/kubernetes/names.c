/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the objects to names: Kubernetes' DNS-based service discovery, version
 * 1.1.0, as CoreDNS's plugin "kubernetes" answers it.  Below the mesh's domain:
 *
 *   dns-version                       TXT "1.1.0"
 *   SERVICE.NS.svc                    the cluster's addresses; of a headless
 *                                     service its endpoints'; CNAME of an
 *                                     ExternalName; SRV of every port
 *   _PORT._PROTOCOL.SERVICE.NS.svc    SRV; of a headless service one for each
 *                                     endpoint
 *   ENDPOINT.SERVICE.NS.svc           the endpoint's address; ENDPOINT is its
 *                                     hostname or its address with dashes
 *
 * The service, and an endpoint with a hostname, also have the shorter names
 * that a pod would reach them by.  Other clusters' endpoints of a headless
 * service are joined to its own; a hostname that both have is the own one's.
 *
 * And in-addr.arpa and ip6.arpa: of the services, and of the endpoints that
 * have a hostname.  Endpoints count while they are ready, or all of them if
 * the service wants that.
 */
#include <assert.h>
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "resolver/image/dashed.h"
#include "resolver/kubernetes/name_maker.h"
#include "resolver/dns/reverse.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

#define SRV_HEAD	6	/* priority, weight, port: RFC 2782 */
#define WEIGHT_SUM	100	/* what the weights of one name add up to */
#define PORT_NAMES_MAX	256	/* of one service */

/* How many SRV records have one name. */
struct port_name {
	uint32_t name, protocol;
	uint32_t count;
};

/* The service whose turn it is. */
struct turn {
	struct making *m;
	const struct objects *objects;
	const struct object_service *s;
	struct dns_name name;
	uint32_t records;		/* SRV records at its own name */
	struct port_name ports[PORT_NAMES_MAX];
	size_t port_count;
};

static void
add_pointer(struct turn *t, const uint8_t *octets, uint8_t length,
    const struct dns_name *target, unsigned int line)
{
	struct dns_name owner;

	reverse_name(&owner, octets, length);
	making_add(t->m, &owner, TYPE_PTR, target->octets, target->length,
	    line);
}

static void
add_srv(struct turn *t, const struct dns_name *owner, uint32_t records,
    uint32_t port, const struct dns_name *target, unsigned int line)
{
	uint8_t rdata[SRV_HEAD + NAME_MAX_OCTETS];
	uint32_t weight;

	assert(records > 0);
	weight = WEIGHT_SUM / records;
	wire_store_u16(rdata, 0);
	wire_store_u16(rdata + 2, weight > 0 ? (uint16_t)weight : 1);
	wire_store_u16(rdata + 4, (uint16_t)port);
	memcpy(rdata + SRV_HEAD, target->octets, target->length);
	making_add(t->m, owner, TYPE_SRV, rdata,
	    SRV_HEAD + (size_t)target->length, line);
}

/* "_PORT._PROTOCOL.SERVICE"; false if the port has no name or it is too long. */
static bool
port_owner(const struct turn *t, struct dns_name *owner, uint32_t name,
    uint32_t protocol)
{
	return name != 0 && protocol != 0 &&
	    making_label(owner, "_", objects_text(t->objects, protocol),
	    &t->name) &&
	    making_label(owner, "_", objects_text(t->objects, name), owner);
}

static const struct object_ports *
ports_at(const struct turn *t, uint32_t ports)
{
	static const struct object_ports none;

	return ports != 0 ? OBJECT_AT(t->objects, const struct object_ports,
	    ports) : &none;
}

/* The count of SRV records of that name; NULL if there are too many names. */
static struct port_name *
port_name(struct turn *t, const struct object_port *port)
{
	struct port_name *at = t->ports, *end = at + t->port_count;

	for (; at < end; at++) {
		if (at->name == port->name && at->protocol == port->protocol)
			return at;
	}
	if (t->port_count == PORT_NAMES_MAX)
		return NULL;
	t->port_count++;
	*at = (struct port_name){ port->name, port->protocol, 0 };
	return at;
}

/*
 * Counts what will be at each name, since the weights depend on it: an address
 * with no port at all is one of those that share the service's own name.
 */
static void
count_ports(struct turn *t, const struct object_ports *ports,
    uint32_t addresses)
{
	t->records += (ports->count > 0 ? ports->count : 1) * addresses;
	for (uint32_t i = 0; i < ports->count; i++) {
		struct port_name *at = port_name(t, &ports->port[i]);

		if (at != NULL)
			at->count += addresses;
	}
}

/* The SRV records that lead to target: of the service and of each port. */
static void
add_ports(struct turn *t, const struct object_ports *ports,
    const struct dns_name *target, unsigned int line)
{
	struct dns_name owner;

	for (uint32_t i = 0; i < ports->count; i++) {
		const struct object_port *port = &ports->port[i];
		const struct port_name *at = port_name(t, port);

		if (port->number == 0 || at == NULL)
			continue;
		add_srv(t, &t->name, t->records, port->number, target, line);
		if (port_owner(t, &owner, port->name, port->protocol))
			add_srv(t, &owner, at->count, port->number, target,
			    line);
	}
}

/* ENDPOINT.SERVICE, or ENDPOINT.CLUSTER.SERVICE of an import. */
static bool
endpoint_name(const struct turn *t, const struct object_endpoint *e,
    struct dns_name *name)
{
	char text[INET6_ADDRSTRLEN];
	const char *label = text;

	*name = t->name;
	if (e->cluster != 0 && !making_label(name, "",
	    objects_text(t->objects, e->cluster), name))
		return false;
	dashed_from_address(text, e->octets, e->length);
	if (e->hostname != 0)
		label = objects_text(t->objects, e->hostname);
	else if (t->m->endpoint_pod_names && e->pod != 0)
		label = objects_text(t->objects, e->pod);
	return making_label(name, "", label, name);
}

static void
warn(const struct turn *t, unsigned int line, const char *kind,
    const char *text)
{
	const struct object_namespace *n = OBJECT_AT(t->objects,
	    const struct object_namespace, t->s->namespace);
	const struct kubernetes_item item = {
		.kind = kind,
		.namespace = objects_text(t->objects, n->name),
		.name = objects_text(t->objects, t->s->name),
		.line = line,
	};

	kubernetes_warn(t->m->k, &item, "%s", text);
}

/* Shorter names of what has records at t->name, or at hostname below it. */
static void
add_short_names(struct turn *t, uint32_t hostname, const struct dns_name *owner,
    unsigned int line)
{
	const struct object_namespace *n = OBJECT_AT(t->objects,
	    const struct object_namespace, t->s->namespace);
	struct dns_name root, name, space, found[SHORT_NAMES_MAX];
	bool too_long;
	size_t count;

	if (t->s->imported || name_from_text(&root, "", 0) != 0 ||
	    !making_label(&name, "", objects_text(t->objects, t->s->name),
	    &root) || (hostname != 0 && !making_label(&name, "",
	    objects_text(t->objects, hostname), &name)) ||
	    !making_label(&space, "", objects_text(t->objects, n->name),
	    &root))
		return;
	count = short_names_of(&t->m->short_names, &name, &space, found,
	    &too_long);
	for (size_t i = 0; i < count && t->m->error == 0; i++) {
		int outcome = builder_alias(t->m->k->builder, owner, &found[i],
		    NAME_OWNED | NAME_SHORT, line);

		/* A service without an endpoint has none either. */
		if (outcome < 0 && outcome != -ENOENT)
			t->m->error = outcome;
	}
}

/* Notes the hostnames of this cluster's endpoints. */
static void
note_hostnames(struct turn *t)
{
	const struct object_endpoint *e;
	uint32_t handle = t->s->first_endpoint;

	if (t->m->k->place_count < 2)
		return;
	while ((handle = making_endpoint(t->m, t->s, handle)) != 0) {
		e = OBJECT_AT(t->objects, const struct object_endpoint,
		    handle);
		if (e->hostname != 0 &&
		    kubernetes_in_cluster(t->m->k, e->place))
			OBJECT_AT(t->objects, struct object_string,
			    e->hostname)->service = t->s->first_endpoint;
		handle = e->next;
	}
}

/* Whether this cluster has an endpoint of the same hostname. */
static bool
is_outdone(const struct turn *t, const struct object_endpoint *e)
{
	return e->hostname != 0 &&
	    !kubernetes_in_cluster(t->m->k, e->place) &&
	    OBJECT_AT(t->objects, const struct object_string,
	    e->hostname)->service == t->s->first_endpoint;
}

static void
add_endpoint(struct turn *t, const struct object_endpoint *e)
{
	struct dns_name name;

	if (!endpoint_name(t, e, &name)) {
		warn(t, e->line, "endpoint of Service", "its name would be"
		    " over 255 octets long: left out");
		return;
	}
	if (t->s->kind == SERVICE_HEADLESS && making_joins(t->m, e)) {
		making_add_address(t->m, &t->name, e->octets, e->length,
		    t->s->line);
		add_ports(t, ports_at(t, e->ports), &name, e->line);
	}
	if (t->s->kind != SERVICE_ABSENT && !is_outdone(t, e)) {
		making_add_address(t->m, &name, e->octets, e->length, e->line);
		if (e->hostname != 0)
			add_short_names(t, e->hostname, &name, e->line);
	}
	/* An address is the cluster's, not the cluster set's. */
	if (e->hostname != 0 && !t->s->imported)
		add_pointer(t, e->octets, e->length, &name, e->line);
}

static void
add_endpoints(struct turn *t)
{
	uint32_t handle = t->s->first_endpoint;
	const struct object_endpoint *e;

	note_hostnames(t);
	while (t->m->error == 0 &&
	    (handle = making_endpoint(t->m, t->s, handle)) != 0) {
		e = OBJECT_AT(t->objects, const struct object_endpoint,
		    handle);
		add_endpoint(t, e);
		handle = e->next;
	}
}

static void
add_headless(struct turn *t)
{
	uint32_t handle = t->s->first_endpoint;
	const struct object_endpoint *e;

	while ((handle = making_endpoint(t->m, t->s, handle)) != 0) {
		e = OBJECT_AT(t->objects, const struct object_endpoint,
		    handle);
		if (making_joins(t->m, e))
			count_ports(t, ports_at(t, e->ports), 1);
		handle = e->next;
	}
	add_endpoints(t);
}

static void
add_cluster_ip(struct turn *t)
{
	const struct object_ports *ports = ports_at(t, t->s->ports);
	uint32_t addresses = 0, handle;
	const struct object_address *a;

	if (t->m->ignore_empty &&
	    making_endpoint(t->m, t->s, t->s->first_endpoint) == 0)
		return;
	for (handle = t->s->first_address; handle != 0; handle = a->next) {
		a = OBJECT_AT(t->objects, const struct object_address, handle);
		making_add_address(t->m, &t->name, a->octets, a->length,
		    t->s->line);
		if (!t->s->imported)
			add_pointer(t, a->octets, a->length, &t->name,
			    t->s->line);
		addresses++;
	}
	if (addresses > 0) {
		count_ports(t, ports, addresses);
		add_ports(t, ports, &t->name, t->s->line);
	}
	add_endpoints(t);
}

static void
add_external_name(struct turn *t)
{
	const char *text = objects_text(t->objects, t->s->external_name);
	struct dns_name target;

	if (t->s->external_name == 0 ||
	    name_from_text(&target, text, strlen(text)) != 0)
		return;		/* its reader has said so */
	name_lower(&target);
	making_add(t->m, &t->name, TYPE_CNAME, target.octets, target.length,
	    t->s->line);
}

void
making_service(struct making *m, const struct object_service *s)
{
	struct turn turn, *t = &turn;

	turn.m = m;
	turn.objects = m->objects;
	turn.s = s;
	turn.records = 0;
	turn.port_count = 0;
	if (s->imported && !m->has_clusterset)
		return;
	if (!making_service_name(m, s, &turn.name)) {
		warn(t, s->line, "Service", "its name would be over 255 octets"
		    " long: left out");
		return;
	}
	switch ((enum service_kind)s->kind) {
	case SERVICE_CLUSTER_IP:
		add_cluster_ip(t);
		break;
	case SERVICE_HEADLESS:
		add_headless(t);
		break;
	case SERVICE_EXTERNAL_NAME:
		add_external_name(t);
		break;
	case SERVICE_ABSENT:
		warn(t, s->line, "Service", "has endpoints but is not among"
		    " the objects: only their reverse names are made");
		add_endpoints(t);
		break;
	}
	if (t->m->error == 0 && s->kind != SERVICE_ABSENT)
		add_short_names(t, 0, &t->name, s->line);
}
