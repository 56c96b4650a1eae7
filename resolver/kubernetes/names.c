/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the names of Kubernetes objects: DNS-based service discovery, version
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
 * Services, and endpoints with a hostname, also get the shorter names by which
 * a pod reaches them.  A headless service has the endpoints of other clusters
 * too; if both have a hostname, it is that of this machine's cluster.
 *
 * Services, and endpoints with a hostname, get reverse names (in-addr.arpa,
 * ip6.arpa).  Only ready endpoints count, unless the service publishes all.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "resolver/kubernetes/kubernetes.h"
#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

static void
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

/*
 * Adds a record or an address of 4 or 16 octets, which the mesh owns, with the
 * source's TTL; line is where its object stands.  Errors: m->error.
 */
static void
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

/* "SERVICE.NAMESPACE.svc..."; false if that is too long. */
static bool
name_maker_service_name(const struct name_maker *m,
    const struct object_service *s, struct dns_name *name)
{
	const struct object_namespace *n = OBJECT_AT(m->objects,
	    const struct object_namespace, s->namespace);

	return name_maker_label(name, "", objects_text(m->objects, n->name),
	    s->imported ? &m->imports : &m->svc) &&
	    name_maker_label(name, "", objects_text(m->objects, s->name), name);
}

/*
 * The first endpoint of the service that counts, from that handle on; 0 at the
 * end.  It must be ready, unless the service publishes all, be in this
 * machine's network, and not come from Endpoints if there are EndpointSlices.
 */
static uint32_t
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

#define SRV_HEAD	6	/* priority, weight, port: RFC 2782 */
#define WEIGHT_SUM	100	/* what the weights of one name add up to */
#define PORT_NAMES_MAX	256	/* of one service */

/* How many SRV records have one name. */
struct port_name {
	uint32_t name, protocol;
	uint32_t count;
};

/* One service while its names are made. */
struct service_ctx {
	struct name_maker *m;
	const struct objects *objects;
	const struct object_service *s;
	struct dns_name name;
	uint32_t records;		/* SRV records of its own name */
	struct port_name ports[PORT_NAMES_MAX];
	size_t port_count;
};

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

/*
 * Adds the names of the domain itself, of the namespaces, and of pods whose
 * address is a label, by the options of the selected source.  Errors: m->error.
 */
static void
domain_add_names(struct name_maker *m)
{
	const struct dns_name *domain = &m->k->text->mesh->domain;
	struct dns_name pod;
	const struct object_service *s;
	struct dns_name name;

	add_version(m, domain);
	for (uint32_t handle = m->objects->first_service; handle != 0;
	    handle = s->next) {
		s = OBJECT_AT(m->objects, const struct object_service, handle);
		if (s->source != m->k->source || !is_dns_service(m, s) ||
		    !name_maker_service_name(m, s, &name))
			continue;
		name_maker_add(m, domain, TYPE_NS, name.octets, name.length,
		    s->line);
		add_dns_addresses(m, s, &name);
	}
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

static void
add_pointer(struct service_ctx *c, const uint8_t *octets, uint8_t length,
    const struct dns_name *target, unsigned int line)
{
	struct dns_name owner;

	reverse_name(&owner, octets, length);
	name_maker_add(c->m, &owner, TYPE_PTR, target->octets, target->length,
	    line);
}

static void
add_srv(struct service_ctx *c, const struct dns_name *owner, uint32_t records,
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
	name_maker_add(c->m, owner, TYPE_SRV, rdata,
	    SRV_HEAD + (size_t)target->length, line);
}

/* "_PORT._PROTOCOL.SERVICE"; false if there is no such name, or too long. */
static bool
port_owner(const struct service_ctx *c, struct dns_name *owner, uint32_t name,
    uint32_t protocol)
{
	return name != 0 && protocol != 0 &&
	    name_maker_label(owner, "_", objects_text(c->objects, protocol),
	    &c->name) &&
	    name_maker_label(owner, "_", objects_text(c->objects, name), owner);
}

static const struct object_ports *
ports_at(const struct service_ctx *c, uint32_t ports)
{
	static const struct object_ports none;

	return ports != 0 ? OBJECT_AT(c->objects, const struct object_ports,
	    ports) : &none;
}

/* The count of SRV records of that name; NULL if there are too many names. */
static struct port_name *
port_name(struct service_ctx *c, const struct object_port *port)
{
	struct port_name *at = c->ports, *end = at + c->port_count;

	for (; at < end; at++) {
		if (at->name == port->name && at->protocol == port->protocol)
			return at;
	}
	if (c->port_count == PORT_NAMES_MAX)
		return NULL;
	c->port_count++;
	*at = (struct port_name){ port->name, port->protocol, 0 };
	return at;
}

/*
 * Counts the SRV records of each name, since the weights depend on it.  An
 * address without ports counts as one record of the service's own name.
 */
static void
count_ports(struct service_ctx *c, const struct object_ports *ports,
    uint32_t addresses)
{
	c->records += (ports->count > 0 ? ports->count : 1) * addresses;
	for (uint32_t i = 0; i < ports->count; i++) {
		struct port_name *at = port_name(c, &ports->port[i]);

		if (at != NULL)
			at->count += addresses;
	}
}

/* The SRV records with that target, of the service and of each port. */
static void
add_ports(struct service_ctx *c, const struct object_ports *ports,
    const struct dns_name *target, unsigned int line)
{
	struct dns_name owner;

	for (uint32_t i = 0; i < ports->count; i++) {
		const struct object_port *port = &ports->port[i];
		const struct port_name *at = port_name(c, port);

		if (port->number == 0 || at == NULL)
			continue;
		add_srv(c, &c->name, c->records, port->number, target, line);
		if (port_owner(c, &owner, port->name, port->protocol))
			add_srv(c, &owner, at->count, port->number, target,
			    line);
	}
}

/* ENDPOINT.SERVICE, or ENDPOINT.CLUSTER.SERVICE of an import. */
static bool
endpoint_name(const struct service_ctx *c, const struct object_endpoint *e,
    struct dns_name *name)
{
	char text[INET6_ADDRSTRLEN];
	const char *label = text;

	*name = c->name;
	if (e->cluster != 0 && !name_maker_label(name, "",
	    objects_text(c->objects, e->cluster), name))
		return false;
	kubernetes_dashed(text, e->octets, e->length);
	if (e->hostname != 0)
		label = objects_text(c->objects, e->hostname);
	return name_maker_label(name, "", label, name);
}

static void
warn(const struct service_ctx *c, unsigned int line, const char *kind,
    const char *text)
{
	const struct object_namespace *n = OBJECT_AT(c->objects,
	    const struct object_namespace, c->s->namespace);
	const struct kubernetes_item item = {
		.kind = kind,
		.namespace = objects_text(c->objects, n->name),
		.name = objects_text(c->objects, c->s->name),
		.line = line,
	};

	kubernetes_warn(c->m->k, &item, "%s", text);
}

/* Short names of the service, or of its endpoint with that hostname. */
static void
add_short_names(struct service_ctx *c, uint32_t hostname,
    const struct dns_name *owner, unsigned int line)
{
	const struct object_namespace *n = OBJECT_AT(c->objects,
	    const struct object_namespace, c->s->namespace);
	struct dns_name root, name, space, found[SHORT_NAMES_MAX];
	bool too_long;
	size_t count;

	if (c->s->imported || name_from_text(&root, "", 0) != 0 ||
	    !name_maker_label(&name, "", objects_text(c->objects, c->s->name),
	    &root) || (hostname != 0 && !name_maker_label(&name, "",
	    objects_text(c->objects, hostname), &name)) ||
	    !name_maker_label(&space, "", objects_text(c->objects, n->name),
	    &root))
		return;
	count = short_names_of(&c->m->short_names, &name, &space, found,
	    &too_long);
	for (size_t i = 0; i < count && c->m->error == 0; i++) {
		int outcome = builder_alias(c->m->k->builder, owner, &found[i],
		    NAME_OWNED | NAME_SHORT, line);

		/* Without an endpoint, the owner has no records. */
		if (outcome < 0 && outcome != -ENOENT)
			c->m->error = outcome;
	}
}

/* Notes the hostnames of this cluster's endpoints. */
static void
note_hostnames(struct service_ctx *c)
{
	const struct object_endpoint *e;
	uint32_t handle = c->s->first_endpoint;

	if (c->m->k->source_count < 2)
		return;
	while ((handle = name_maker_endpoint(c->m, c->s, handle)) != 0) {
		e = OBJECT_AT(c->objects, const struct object_endpoint,
		    handle);
		if (e->hostname != 0 &&
		    kubernetes_in_cluster(c->m->k, e->source))
			OBJECT_AT(c->objects, struct object_string,
			    e->hostname)->service = c->s->first_endpoint;
		handle = e->next;
	}
}

/* Whether this cluster has an endpoint of the same hostname. */
static bool
is_outdone(const struct service_ctx *c, const struct object_endpoint *e)
{
	return e->hostname != 0 &&
	    !kubernetes_in_cluster(c->m->k, e->source) &&
	    OBJECT_AT(c->objects, const struct object_string,
	    e->hostname)->service == c->s->first_endpoint;
}

static void
add_endpoint(struct service_ctx *c, const struct object_endpoint *e)
{
	struct dns_name name;

	if (!endpoint_name(c, e, &name)) {
		warn(c, e->line, "endpoint of Service", "its name would be"
		    " over 255 octets long: ignored");
		return;
	}
	if (c->s->kind == SERVICE_HEADLESS) {
		name_maker_add_address(c->m, &c->name, e->octets, e->length,
		    c->s->line);
		add_ports(c, ports_at(c, e->ports), &name, e->line);
	}
	if (c->s->kind != SERVICE_ABSENT && !is_outdone(c, e)) {
		name_maker_add_address(c->m, &name, e->octets, e->length,
		    e->line);
		if (e->hostname != 0)
			add_short_names(c, e->hostname, &name, e->line);
	}
	/* A reverse name leads into the cluster, not the cluster set. */
	if (e->hostname != 0 && !c->s->imported)
		add_pointer(c, e->octets, e->length, &name, e->line);
}

static void
add_endpoints(struct service_ctx *c)
{
	uint32_t handle = c->s->first_endpoint;
	const struct object_endpoint *e;

	note_hostnames(c);
	while (c->m->error == 0 &&
	    (handle = name_maker_endpoint(c->m, c->s, handle)) != 0) {
		e = OBJECT_AT(c->objects, const struct object_endpoint,
		    handle);
		add_endpoint(c, e);
		handle = e->next;
	}
}

static void
add_headless(struct service_ctx *c)
{
	uint32_t handle = c->s->first_endpoint;
	const struct object_endpoint *e;

	while ((handle = name_maker_endpoint(c->m, c->s, handle)) != 0) {
		e = OBJECT_AT(c->objects, const struct object_endpoint,
		    handle);
		count_ports(c, ports_at(c, e->ports), 1);
		handle = e->next;
	}
	add_endpoints(c);
}

static void
add_cluster_ip(struct service_ctx *c)
{
	const struct object_ports *ports = ports_at(c, c->s->ports);
	uint32_t addresses = 0, handle;
	const struct object_address *a;

	for (handle = c->s->first_address; handle != 0; handle = a->next) {
		a = OBJECT_AT(c->objects, const struct object_address, handle);
		name_maker_add_address(c->m, &c->name, a->octets, a->length,
		    c->s->line);
		if (!c->s->imported)
			add_pointer(c, a->octets, a->length, &c->name,
			    c->s->line);
		addresses++;
	}
	if (addresses > 0) {
		count_ports(c, ports, addresses);
		add_ports(c, ports, &c->name, c->s->line);
	}
	add_endpoints(c);
}

static void
add_external_name(struct service_ctx *c)
{
	const char *text = objects_text(c->objects, c->s->external_name);
	struct dns_name target;

	if (c->s->external_name == 0 ||
	    name_from_text(&target, text, strlen(text)) != 0)
		return;		/* its reader has warned */
	name_lower(&target);
	name_maker_add(c->m, &c->name, TYPE_CNAME, target.octets, target.length,
	    c->s->line);
}

/* Adds all names of one service, of its ports and its endpoints. */
static void
add_service(struct name_maker *m, const struct object_service *s)
{
	struct service_ctx ctx, *c = &ctx;

	ctx.m = m;
	ctx.objects = m->objects;
	ctx.s = s;
	ctx.records = 0;
	ctx.port_count = 0;
	if (!name_maker_service_name(m, s, &ctx.name)) {
		warn(c, s->line, "Service", "its name would be over 255 octets"
		    " long: ignored");
		return;
	}
	switch ((enum service_kind)s->kind) {
	case SERVICE_CLUSTER_IP:
		add_cluster_ip(c);
		break;
	case SERVICE_HEADLESS:
		add_headless(c);
		break;
	case SERVICE_EXTERNAL_NAME:
		add_external_name(c);
		break;
	case SERVICE_ABSENT:
		warn(c, s->line, "Service", "has endpoints but is not among"
		    " the objects: it gets only their reverse names");
		add_endpoints(c);
		break;
	}
	if (c->m->error == 0 && s->kind != SERVICE_ABSENT)
		add_short_names(c, 0, &c->name, s->line);
}

/* Selects a source: its text, and the TTL for it. */
static void
select_source(struct name_maker *m, uint16_t number)
{
	kubernetes_select(m->k, number);
	m->ttl = source_ttl(m->k->text);
}

/* Whether services of that namespace get names. */
static bool
is_exposed(const struct name_maker *m, const struct object_service *s)
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
	struct name_maker m = { .k = k, .objects = &k->objects };

	if (short_names_init(&m.short_names, k->text->mesh) != 0) {
		diag_add(k->diag, DIAG_ERROR, k->text->path, 0, "mesh.domain is"
		    " too long for services below it");
		return 0;
	}
	m.svc = m.short_names.services;
	if (name_from_text(&m.clusterset, CLUSTERSET, strlen(CLUSTERSET)) != 0 ||
	    !name_maker_label(&m.imports, "", "svc", &m.clusterset))
		return -EINVAL;		/* it never is */
	for (uint32_t handle = k->objects.first_service; handle != 0 &&
	    m.error == 0; handle = s->next) {
		s = OBJECT_AT(&k->objects, const struct object_service,
		    handle);
		m.has_imports |= s->imported;
		select_source(&m, s->source);
		if (is_exposed(&m, s))
			add_service(&m, s);
	}
	for (size_t i = 0; i < k->source_count && m.error == 0; i++) {
		select_source(&m, (uint16_t)i);
		domain_add_names(&m);
	}
	return m.error;
}
