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
 * and in-addr.arpa and ip6.arpa: of the services, and of the endpoints that
 * have a hostname.  Endpoints count while they are ready, or all of them if
 * the service wants that.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "resolver/kubernetes.h"
#include "resolver/reverse.h"
#include "resolver/rr.h"
#include "resolver/wire.h"

#define DNS_VERSION	"1.1.0"
#define DNS_VERSION_TTL	28800	/* the specification's example */
#define SRV_HEAD	6	/* priority, weight, port: RFC 2782 */
#define WEIGHT_SUM	100	/* what the weights of one name add up to */
#define CURRENT_NAMES	256	/* distinct port names of one service */

/* How many SRV records have one name. */
struct port_name {
	uint32_t name, protocol;
	uint32_t count;
};

/* The names of all objects while they are made. */
struct making {
	struct kubernetes *k;
	struct objects *objects;
	uint32_t ttl;
	bool ignore_empty;
	bool endpoint_pod_names;
	int error;			/* sticky */
	struct dns_name svc;		/* "svc", the mesh's domain */
	/* The service whose turn it is. */
	const struct object_service *s;
	struct dns_name name;
	uint32_t records;		/* SRV records at its own name */
	struct port_name ports[CURRENT_NAMES];
	size_t port_count;
};

static void
add(struct making *m, const struct dns_name *owner, uint16_t type,
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

static void
add_address(struct making *m, const struct dns_name *owner,
    const uint8_t *octets, uint8_t length, unsigned int line)
{
	add(m, owner, length == 4 ? TYPE_A : TYPE_AAAA, octets, length, line);
}

static void
add_pointer(struct making *m, const uint8_t *octets, uint8_t length,
    const struct dns_name *target, unsigned int line)
{
	struct dns_name owner;

	reverse_name(&owner, octets, length);
	add(m, &owner, TYPE_PTR, target->octets, target->length, line);
}

static void
add_srv(struct making *m, const struct dns_name *owner, uint32_t records,
    uint32_t port, const struct dns_name *target, unsigned int line)
{
	uint8_t rdata[SRV_HEAD + NAME_MAX_OCTETS];
	uint32_t weight = WEIGHT_SUM / records;

	wire_store_u16(rdata, 0);
	wire_store_u16(rdata + 2, weight > 0 ? (uint16_t)weight : 1);
	wire_store_u16(rdata + 4, (uint16_t)port);
	memcpy(rdata + SRV_HEAD, target->octets, target->length);
	add(m, owner, TYPE_SRV, rdata, SRV_HEAD + (size_t)target->length,
	    line);
}

/* name = prefix, label, suffix; prefix is "_" or "". */
static bool
put_label(struct dns_name *name, const char *prefix, const char *label,
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

/* "_PORT._PROTOCOL.SERVICE"; false if the port has no name or it is too long. */
static bool
port_owner(const struct making *m, struct dns_name *owner, uint32_t name,
    uint32_t protocol)
{
	return name != 0 && protocol != 0 &&
	    put_label(owner, "_", objects_text(m->objects, protocol),
	    &m->name) &&
	    put_label(owner, "_", objects_text(m->objects, name), owner);
}

static const struct object_ports *
ports_at(const struct making *m, uint32_t ports)
{
	static const struct object_ports none;

	return ports != 0 ? OBJECT_AT(m->objects, const struct object_ports,
	    ports) : &none;
}

/* The count of SRV records of that name; NULL if there are too many names. */
static struct port_name *
port_name(struct making *m, const struct object_port *port)
{
	struct port_name *at = m->ports, *end = at + m->port_count;

	for (; at < end; at++) {
		if (at->name == port->name && at->protocol == port->protocol)
			return at;
	}
	if (m->port_count == CURRENT_NAMES)
		return NULL;
	m->port_count++;
	*at = (struct port_name){ port->name, port->protocol, 0 };
	return at;
}

/*
 * Counts what will be at each name, since the weights depend on it: an address
 * with no port at all is one of those that share the service's own name.
 */
static void
count_ports(struct making *m, const struct object_ports *ports,
    uint32_t addresses)
{
	m->records += (ports->count > 0 ? ports->count : 1) * addresses;
	for (uint32_t i = 0; i < ports->count; i++) {
		struct port_name *at = port_name(m, &ports->port[i]);

		if (at != NULL)
			at->count += addresses;
	}
}

/* The SRV records that lead to target: of the service and of each port. */
static void
add_ports(struct making *m, const struct object_ports *ports,
    const struct dns_name *target, unsigned int line)
{
	struct dns_name owner;

	for (uint32_t i = 0; i < ports->count; i++) {
		const struct object_port *port = &ports->port[i];
		const struct port_name *at = port_name(m, port);

		if (port->number == 0 || at == NULL)
			continue;
		add_srv(m, &m->name, m->records, port->number, target, line);
		if (port_owner(m, &owner, port->name, port->protocol))
			add_srv(m, &owner, at->count, port->number, target,
			    line);
	}
}

/* The next endpoint that counts, from "handle" on; 0 at the end. */
static uint32_t
next_endpoint(const struct making *m, uint32_t handle)
{
	while (handle != 0) {
		const struct object_endpoint *e = OBJECT_AT(m->objects,
		    const struct object_endpoint, handle);

		if ((e->ready || m->s->publish_not_ready) &&
		    !(e->legacy && m->s->has_slices))
			break;
		handle = e->next;
	}
	return handle;
}

/* "1-2-3-4" or "fd00--1", as CoreDNS and kube-dns write it. */
static void
dashed(char text[static INET6_ADDRSTRLEN], const struct object_endpoint *e)
{
	(void)inet_ntop(e->length == 4 ? AF_INET : AF_INET6, e->octets, text,
	    INET6_ADDRSTRLEN);
	for (; *text != '\0'; text++) {
		if (*text == '.' || *text == ':')
			*text = '-';
	}
}

/* ENDPOINT.SERVICE, or ENDPOINT.CLUSTER.SERVICE of an import. */
static bool
endpoint_name(const struct making *m, const struct object_endpoint *e,
    struct dns_name *name)
{
	char text[INET6_ADDRSTRLEN];
	const char *label = text;

	*name = m->name;
	if (e->cluster != 0 && !put_label(name, "",
	    objects_text(m->objects, e->cluster), name))
		return false;
	dashed(text, e);
	if (e->hostname != 0)
		label = objects_text(m->objects, e->hostname);
	else if (m->endpoint_pod_names && e->pod != 0)
		label = objects_text(m->objects, e->pod);
	return put_label(name, "", label, name);
}

static void
warn(const struct making *m, unsigned int line, const char *kind,
    const char *text)
{
	const struct object_namespace *n = OBJECT_AT(m->objects,
	    const struct object_namespace, m->s->namespace);
	const struct kubernetes_item item = {
		.kind = kind,
		.namespace = objects_text(m->objects, n->name),
		.name = objects_text(m->objects, m->s->name),
		.line = line,
	};

	kubernetes_warn(m->k, &item, "%s", text);
}

static void
add_endpoint(struct making *m, const struct object_endpoint *e)
{
	bool exists = m->s->kind != SERVICE_ABSENT;
	struct dns_name name;

	if (!endpoint_name(m, e, &name)) {
		warn(m, e->line, "endpoint of Service", "its name would be"
		    " over 255 octets long: left out");
		return;
	}
	if (m->s->kind == SERVICE_HEADLESS) {
		add_address(m, &m->name, e->octets, e->length, m->s->line);
		add_ports(m, ports_at(m, e->ports), &name, e->line);
	}
	if (exists)
		add_address(m, &name, e->octets, e->length, e->line);
	if (e->hostname != 0)
		add_pointer(m, e->octets, e->length, &name, e->line);
}

static void
add_endpoints(struct making *m)
{
	uint32_t handle = m->s->first_endpoint;
	const struct object_endpoint *e;

	while (m->error == 0 && (handle = next_endpoint(m, handle)) != 0) {
		e = OBJECT_AT(m->objects, const struct object_endpoint,
		    handle);
		add_endpoint(m, e);
		handle = e->next;
	}
}

static void
add_headless(struct making *m)
{
	uint32_t handle = m->s->first_endpoint;
	const struct object_endpoint *e;

	while ((handle = next_endpoint(m, handle)) != 0) {
		e = OBJECT_AT(m->objects, const struct object_endpoint,
		    handle);
		count_ports(m, ports_at(m, e->ports), 1);
		handle = e->next;
	}
	add_endpoints(m);
}

static void
add_cluster_ip(struct making *m)
{
	const struct object_ports *ports = ports_at(m, m->s->ports);
	uint32_t addresses = 0, handle;
	const struct object_address *a;

	if (m->ignore_empty && next_endpoint(m, m->s->first_endpoint) == 0)
		return;
	for (handle = m->s->first_address; handle != 0; handle = a->next) {
		a = OBJECT_AT(m->objects, const struct object_address, handle);
		add_address(m, &m->name, a->octets, a->length, m->s->line);
		add_pointer(m, a->octets, a->length, &m->name, m->s->line);
		addresses++;
	}
	if (addresses > 0) {
		count_ports(m, ports, addresses);
		add_ports(m, ports, &m->name, m->s->line);
	}
	add_endpoints(m);
}

static void
add_external_name(struct making *m)
{
	const char *text = objects_text(m->objects, m->s->external_name);
	struct dns_name target;

	if (m->s->external_name == 0 ||
	    name_from_text(&target, text, strlen(text)) != 0)
		return;		/* its reader has said so */
	name_lower(&target);
	add(m, &m->name, TYPE_CNAME, target.octets, target.length,
	    m->s->line);
}

static void
add_service(struct making *m, const struct object_service *s)
{
	const struct object_namespace *n = OBJECT_AT(m->objects,
	    const struct object_namespace, s->namespace);

	m->s = s;
	m->records = 0;
	m->port_count = 0;
	if (!n->exposed)
		return;
	if (!put_label(&m->name, "", objects_text(m->objects, n->name),
	    &m->svc) || !put_label(&m->name, "",
	    objects_text(m->objects, s->name), &m->name)) {
		warn(m, s->line, "Service", "its name would be over 255 octets"
		    " long: left out");
		return;
	}
	switch ((enum service_kind)s->kind) {
	case SERVICE_CLUSTER_IP:
		add_cluster_ip(m);
		break;
	case SERVICE_HEADLESS:
		add_headless(m);
		break;
	case SERVICE_EXTERNAL_NAME:
		add_external_name(m);
		break;
	case SERVICE_ABSENT:
		warn(m, s->line, "Service", "has endpoints but is not among"
		    " the objects: only their reverse names are made");
		add_endpoints(m);
		break;
	}
}

/* Whether a source's names of that namespace are to be in the table. */
static bool
exposes(const struct mesh_source *source, const char *name)
{
	if (source == NULL || source->namespaces.count == 0)
		return true;
	for (size_t i = 0; i < source->namespaces.count; i++) {
		if (strcmp(source->namespaces.texts[i], name) == 0)
			return true;
	}
	return false;
}

static bool
is_exposed(const struct kubernetes *k, const char *name)
{
	for (size_t i = 0; i < k->place_count; i++) {
		if (exposes(k->places[i].text.source, name))
			return true;
	}
	return false;
}

static void
add_empty(struct making *m, const struct dns_name *name)
{
	if (m->error == 0)
		m->error = builder_add_empty(m->k->builder, name);
}

/* A namespace exists, whether services are in it or not. */
static void
add_namespaces(struct making *m)
{
	struct object_namespace *n;
	struct dns_name name;

	add_empty(m, &m->svc);
	for (uint32_t handle = m->objects->first_namespace; handle != 0;
	    handle = n->next) {
		n = OBJECT_AT(m->objects, struct object_namespace, handle);
		n->exposed = is_exposed(m->k,
		    objects_text(m->objects, n->name));
		if (n->exposed && put_label(&name, "",
		    objects_text(m->objects, n->name), &m->svc))
			add_empty(m, &name);
	}
}

static void
add_version(struct making *m, const struct dns_name *domain)
{
	static const char text[] = "\5" DNS_VERSION;
	struct dns_name name;
	uint32_t ttl = m->ttl;

	if (!put_label(&name, "", "dns-version", domain))
		return;
	m->ttl = DNS_VERSION_TTL;
	add(m, &name, TYPE_TXT, text, sizeof(text) - 1, 0);
	m->ttl = ttl;
}

/* From here on, what the source at that place says and how it is to be read. */
static void
go(struct making *m, uint16_t place)
{
	const struct mesh_source *source;

	kubernetes_go(m->k, place);
	source = m->k->text->source;
	m->ttl = source_ttl(m->k->text);
	m->ignore_empty = source != NULL && source->ignore_empty;
	m->endpoint_pod_names = source != NULL && source->endpoint_pod_names;
}

int
kubernetes_add_names(struct kubernetes *k)
{
	const struct dns_name *domain = &k->text->mesh->domain;
	const struct object_service *s;
	struct making m = { .k = k, .objects = &k->objects };

	if (!put_label(&m.svc, "", "svc", domain)) {
		diag_add(k->diag, DIAG_ERROR, k->text->path, 0, "mesh.domain is"
		    " too long for services below it");
		return 0;
	}
	go(&m, 0);
	add_version(&m, domain);
	add_namespaces(&m);
	for (uint32_t handle = k->objects.first_service; handle != 0 &&
	    m.error == 0; handle = s->next) {
		s = OBJECT_AT(&k->objects, const struct object_service,
		    handle);
		go(&m, s->place);
		add_service(&m, s);
	}
	return m.error;
}
