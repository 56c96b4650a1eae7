/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers of Namespace, Service and ServiceImport. */
#include <arpa/inet.h>
#include <string.h>

#include "resolver/kubernetes/kubernetes.h"
#include "resolver/dns/name.h"

int
kubernetes_label(struct kubernetes *k, const char *text, uint32_t *label)
{
	size_t length = strlen(text);
	char lower[NAME_MAX_LABEL];

	*label = 0;
	if (length == 0 || length > NAME_MAX_LABEL ||
	    memchr(text, '.', length) != NULL)
		return 0;
	for (size_t i = 0; i < length; i++)
		lower[i] = text[i] >= 'A' && text[i] <= 'Z' ?
		    (char)(text[i] - 'A' + 'a') : text[i];
	return objects_string(&k->objects, lower, length, label);
}

uint8_t
kubernetes_address(const char *text, uint8_t octets[static 16])
{
	if (text != NULL && inet_pton(AF_INET, text, octets) == 1)
		return 4;
	if (text != NULL && inet_pton(AF_INET6, text, octets) == 1)
		return 16;
	return 0;
}

/* The namespace of an item; 0, with a warning, if its name is no label. */
int
kubernetes_namespace(struct kubernetes *k, const struct kubernetes_item *item,
    const char *name, uint32_t *namespace)
{
	uint32_t label;
	int error = kubernetes_label(k, name, &label);

	*namespace = 0;
	if (error != 0)
		return error;
	if (label == 0) {
		kubernetes_warn(k, item, "namespace \"%.*s\" is no label of"
		    " 1 to 63 octets without a dot: left out",
		    KUBERNETES_SHOWN, name);
		return 0;
	}
	return objects_namespace(&k->objects, label, namespace);
}

int
kubernetes_service(struct kubernetes *k, const struct kubernetes_item *item,
    const char *name, bool imported, uint32_t *service)
{
	uint32_t namespace, label;
	int error = kubernetes_namespace(k, item, item->namespace, &namespace);

	*service = 0;
	if (error != 0 || namespace == 0)
		return error;
	error = kubernetes_label(k, name, &label);
	if (error != 0)
		return error;
	if (label == 0) {
		kubernetes_warn(k, item, "service name \"%.*s\" is no label of"
		    " 1 to 63 octets without a dot: left out",
		    KUBERNETES_SHOWN, name);
		return 0;
	}
	return objects_service(&k->objects, namespace, label, imported,
	    service);
}

int
kubernetes_read_namespace(struct kubernetes *k,
    const struct kubernetes_item *item)
{
	uint32_t namespace;

	return kubernetes_namespace(k, item, item->name, &namespace);
}

/* How a port's protocol is written in names: "_tcp". */
static int
read_protocol(struct kubernetes *k, const struct json_node *port,
    uint32_t *protocol)
{
	const char *text =
	    json_tree_string(json_tree_member(port, "protocol"));

	return kubernetes_label(k, text != NULL ? text : "TCP", protocol);
}

int
kubernetes_read_ports(struct kubernetes *k, const struct kubernetes_item *item,
    const struct json_node *array, uint32_t *ports)
{
	const struct json_node *port, *first = json_tree_items(array);
	struct object_port read;
	uint32_t count = 0, i = 0;
	int error;

	for (port = first; port != NULL; port = port->next)
		count++;
	error = objects_add_ports(&k->objects, count, ports);
	for (port = first; error == 0 && port != NULL; port = port->next) {
		const char *name =
		    json_tree_string(json_tree_member(port, "name"));
		long long number = 0;

		read = (struct object_port){ .name = 0 };
		if (json_tree_integer(json_tree_member(port, "port"), 1,
		    UINT16_MAX, &number))
			read.number = (uint32_t)number;
		error = read_protocol(k, port, &read.protocol);
		if (error == 0 && name != NULL && name[0] != '\0') {
			error = kubernetes_label(k, name, &read.name);
			/* An underscore goes in front of it. */
			if (read.name == 0 || strlen(name) == NAME_MAX_LABEL) {
				read.name = 0;
				kubernetes_warn(k, item, "port name \"%.*s\""
				    " makes no label: no SRV record of that"
				    " name", KUBERNETES_SHOWN, name);
			}
		}
		OBJECT_AT(&k->objects, struct object_ports, *ports)->port[i++] =
		    read;
	}
	return error;
}

/* One of clusterIPs; family is "IPv4", "IPv6" or NULL for unknown. */
static int
add_cluster_ip(struct kubernetes *k, const struct kubernetes_item *item,
    uint32_t service, const char *text, const char *family)
{
	struct object_address *address;
	uint8_t octets[16], length = kubernetes_address(text, octets);
	uint32_t handle;
	int error;

	if (length == 0) {
		kubernetes_warn(k, item, "\"%.*s\" is no address: left"
		    " out", KUBERNETES_SHOWN,
		    text != NULL ? text : "(not a string)");
		return 0;
	}
	if (family != NULL &&
	    strcmp(family, length == 4 ? "IPv4" : "IPv6") != 0) {
		kubernetes_warn(k, item, "address %s is none of family"
		    " %.*s: left out", text, KUBERNETES_SHOWN, family);
		return 0;
	}
	error = objects_add_address(&k->objects, service, &handle);
	if (error != 0)
		return error;
	address = OBJECT_AT(&k->objects, struct object_address, handle);
	address->length = length;
	memcpy(address->octets, octets, length);
	return 0;
}

/* All of clusterIPs, or clusterIP where an old API server knew only that. */
static int
read_cluster_ips(struct kubernetes *k, const struct kubernetes_item *item,
    uint32_t service)
{
	const struct json_node *one = json_tree_member(item->spec, "clusterIP");
	const struct json_node *ip = json_tree_items(
	    json_tree_member(item->spec, "clusterIPs"));
	const struct json_node *family = json_tree_items(
	    json_tree_member(item->spec, "ipFamilies"));
	const char *text = json_tree_string(one);
	int error = 0;

	if (ip == NULL && text != NULL && text[0] != '\0')
		return add_cluster_ip(k, item, service, text, NULL);
	for (; ip != NULL && error == 0; ip = ip->next) {
		error = add_cluster_ip(k, item, service,
		    json_tree_string(ip), json_tree_string(family));
		family = family != NULL ? family->next : NULL;
	}
	return error;
}

static int
read_external_name(struct kubernetes *k, const struct kubernetes_item *item,
    uint32_t service)
{
	const char *text =
	    json_tree_string(json_tree_member(item->spec, "externalName"));
	struct dns_name name;
	uint8_t octets[16];
	uint32_t handle;
	int error;

	if (text == NULL || name_from_text(&name, text, strlen(text)) != 0 ||
	    name.labels == 0 || kubernetes_address(text, octets) != 0) {
		kubernetes_warn(k, item, "externalName \"%.*s\" is no domain"
		    " name: left out", KUBERNETES_SHOWN,
		    text != NULL ? text : "");
		return 0;
	}
	error = objects_string(&k->objects, text, strlen(text), &handle);
	if (error == 0)
		OBJECT_AT(&k->objects, struct object_service,
		    service)->external_name = handle;
	return error;
}

/* Headless is who has "None" for an address. */
static enum service_kind
service_kind(const struct json_node *spec)
{
	const char *type = json_tree_string(json_tree_member(spec, "type"));
	const char *ip = json_tree_string(json_tree_member(spec, "clusterIP"));

	if (ip == NULL)
		ip = json_tree_string(json_tree_items(
		    json_tree_member(spec, "clusterIPs")));
	if (type != NULL && strcmp(type, "ExternalName") == 0)
		return SERVICE_EXTERNAL_NAME;
	return ip != NULL && strcmp(ip, "None") == 0 ? SERVICE_HEADLESS :
	    SERVICE_CLUSTER_IP;
}

/*
 * Whether another cluster's service of that name stays: the first one, unless
 * this is of the machine's own cluster and that is not.
 */
static bool
is_taken(const struct kubernetes *k, const struct object_service *s)
{
	return s->kind != SERVICE_ABSENT &&
	    (kubernetes_in_cluster(k, s->place) ||
	    !kubernetes_in_cluster(k, k->place));
}

int
kubernetes_read_service(struct kubernetes *k,
    const struct kubernetes_item *item)
{
	enum service_kind kind = service_kind(item->spec);
	struct object_service *s;
	uint32_t service, ports;
	int error = kubernetes_service(k, item, item->name, false, &service);

	if (error != 0 || service == 0 || is_taken(k,
	    OBJECT_AT(&k->objects, struct object_service, service)))
		return error;
	error = kubernetes_read_ports(k, item,
	    json_tree_member(item->spec, "ports"), &ports);
	if (error != 0)
		return error;
	s = OBJECT_AT(&k->objects, struct object_service, service);
	s->kind = (uint8_t)kind;
	s->line = item->line;
	s->place = k->place;
	s->ports = ports;
	s->external_name = 0;
	s->first_address = s->last_address = 0;
	s->publish_not_ready = json_tree_is(json_tree_member(item->spec,
	    "publishNotReadyAddresses"), JSON_KIND_TRUE);
	if (kind == SERVICE_CLUSTER_IP)
		return read_cluster_ips(k, item, service);
	if (kind == SERVICE_EXTERNAL_NAME)
		return read_external_name(k, item, service);
	return 0;
}

/* A service that a set of clusters shares: KEP-1645. */
int
kubernetes_read_import(struct kubernetes *k,
    const struct kubernetes_item *item)
{
	const char *type =
	    json_tree_string(json_tree_member(item->spec, "type"));
	const struct json_node *ip = json_tree_items(
	    json_tree_member(item->spec, "ips"));
	struct object_service *s;
	uint32_t service, ports;
	int error = kubernetes_service(k, item, item->name, true, &service);

	if (error != 0 || service == 0)
		return error;
	error = kubernetes_read_ports(k, item,
	    json_tree_member(item->spec, "ports"), &ports);
	if (error != 0)
		return error;
	s = OBJECT_AT(&k->objects, struct object_service, service);
	s->kind = type != NULL && strcmp(type, "Headless") == 0 ?
	    SERVICE_HEADLESS : SERVICE_CLUSTER_IP;
	s->line = item->line;
	s->place = k->place;
	s->ports = ports;
	for (; ip != NULL && error == 0; ip = ip->next)
		error = add_cluster_ip(k, item, service, json_tree_string(ip),
		    NULL);
	return error;
}
