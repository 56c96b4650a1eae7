/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers of Namespace, Service and ServiceImport. */
#include <string.h>

#include "resolver/dns/name.h"
#include "resolver/kubernetes/kubernetes.h"

int
kubernetes_read_namespace(struct kubernetes *k,
    const struct kubernetes_item *item)
{
	uint32_t namespace;

	return kubernetes_namespace(k, item, item->name, &namespace);
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
		kubernetes_warn(k, item, "\"%.*s\" is not a valid address:"
		    " ignored", KUBERNETES_SHOWN,
		    text != NULL ? text : "(not a string)");
		return 0;
	}
	if (family != NULL &&
	    strcmp(family, length == 4 ? "IPv4" : "IPv6") != 0) {
		kubernetes_warn(k, item, "address %s is none of family"
		    " %.*s: ignored", text, KUBERNETES_SHOWN, family);
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
	const json_t *list = json_object_get(item->spec, "clusterIPs"), *ip;
	const json_t *families = json_object_get(item->spec, "ipFamilies");
	const char *text = json_string_value(json_object_get(item->spec,
	    "clusterIP"));
	int error = 0;
	size_t i;

	if (json_array_size(list) == 0 && text != NULL && text[0] != '\0')
		return add_cluster_ip(k, item, service, text, NULL);
	json_array_foreach(list, i, ip)
		if (error == 0)
			error = add_cluster_ip(k, item, service,
			    json_string_value(ip), json_string_value(
			    json_array_get(families, i)));
	return error;
}

static int
read_external_name(struct kubernetes *k, const struct kubernetes_item *item,
    uint32_t service)
{
	const char *text =
	    json_string_value(json_object_get(item->spec, "externalName"));
	struct dns_name name;
	uint8_t octets[16];
	uint32_t handle;
	int error;

	if (text == NULL || name_from_text(&name, text, strlen(text)) != 0 ||
	    name.labels == 0 || kubernetes_address(text, octets) != 0) {
		kubernetes_warn(k, item, "externalName \"%.*s\" is not a valid domain"
		    " name: ignored", KUBERNETES_SHOWN,
		    text != NULL ? text : "");
		return 0;
	}
	error = objects_string(&k->objects, text, strlen(text), &handle);
	if (error == 0)
		OBJECT_AT(&k->objects, struct object_service,
		    service)->external_name = handle;
	return error;
}

/* A service whose address is "None" is headless. */
static enum service_kind
service_kind(const json_t *spec)
{
	const char *type = json_string_value(json_object_get(spec, "type"));
	const char *ip = json_string_value(json_object_get(spec, "clusterIP"));

	if (ip == NULL)
		ip = json_string_value(json_array_get(
		    json_object_get(spec, "clusterIPs"), 0));
	if (type != NULL && strcmp(type, "ExternalName") == 0)
		return SERVICE_EXTERNAL_NAME;
	return ip != NULL && strcmp(ip, "None") == 0 ? SERVICE_HEADLESS :
	    SERVICE_CLUSTER_IP;
}

/*
 * Whether a service that was read before stays: the first one of a name wins,
 * unless only the current source is of this machine's cluster.
 */
static bool
is_taken(const struct kubernetes *k, const struct object_service *s)
{
	return s->kind != SERVICE_ABSENT &&
	    (kubernetes_in_cluster(k, s->source) ||
	    !kubernetes_in_cluster(k, k->source));
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
	    json_object_get(item->spec, "ports"), &ports);
	if (error != 0)
		return error;
	s = OBJECT_AT(&k->objects, struct object_service, service);
	s->kind = (uint8_t)kind;
	s->line = item->line;
	s->source = k->source;
	s->ports = ports;
	s->external_name = 0;
	s->first_address = s->last_address = 0;
	s->publish_not_ready = json_is_true(json_object_get(item->spec,
	    "publishNotReadyAddresses"));
	if (kind == SERVICE_CLUSTER_IP)
		return read_cluster_ips(k, item, service);
	if (kind == SERVICE_EXTERNAL_NAME)
		return read_external_name(k, item, service);
	return 0;
}

/* A ServiceImport: a service of a cluster set (KEP-1645). */
int
kubernetes_read_import(struct kubernetes *k,
    const struct kubernetes_item *item)
{
	const char *type =
	    json_string_value(json_object_get(item->spec, "type"));
	const json_t *list = json_object_get(item->spec, "ips"), *ip;
	struct object_service *s;
	uint32_t service, ports;
	size_t i;
	int error = kubernetes_service(k, item, item->name, true, &service);

	if (error != 0 || service == 0)
		return error;
	error = kubernetes_read_ports(k, item,
	    json_object_get(item->spec, "ports"), &ports);
	if (error != 0)
		return error;
	s = OBJECT_AT(&k->objects, struct object_service, service);
	s->kind = type != NULL && strcmp(type, "Headless") == 0 ?
	    SERVICE_HEADLESS : SERVICE_CLUSTER_IP;
	s->line = item->line;
	s->source = k->source;
	s->ports = ports;
	json_array_foreach(list, i, ip)
		if (error == 0)
			error = add_cluster_ip(k, item, service,
			    json_string_value(ip), NULL);
	return error;
}
