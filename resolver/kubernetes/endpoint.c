/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers of EndpointSlice, and of Endpoints, the older form of it. */
#include <string.h>

#include "resolver/kubernetes/kubernetes.h"

/* What all endpoints of a slice, or of a subset of Endpoints, share. */
struct endpoint_group {
	struct kubernetes *k;
	const struct kubernetes_item *item;
	uint32_t service;
	uint32_t ports;
	uint32_t cluster;
	uint8_t length;		/* of each address; 0: either */
	bool legacy;
};

/* One endpoint without its address. */
struct endpoint_head {
	uint32_t hostname;
	bool ready;
};

static int
read_head(struct endpoint_group *g, const json_t *endpoint,
    struct endpoint_head *head)
{
	const char *hostname =
	    json_string_value(json_object_get(endpoint, "hostname"));
	int error = 0;

	*head = (struct endpoint_head){ .ready = true };
	if (hostname != NULL && hostname[0] != '\0') {
		error = kubernetes_label(g->k, hostname, &head->hostname);
		if (error == 0 && head->hostname == 0)
			kubernetes_warn(g->k, g->item, "hostname \"%.*s\" is"
			    " not a valid label of 1 to 63 octets without a dot: named"
			    " by its address", KUBERNETES_SHOWN, hostname);
	}
	return error;
}

static int
add_address(struct endpoint_group *g, const struct endpoint_head *head,
    const char *text)
{
	struct objects *objects = &g->k->objects;
	struct object_endpoint *endpoint;
	uint8_t octets[16], length = kubernetes_address(text, octets);
	uint32_t handle;
	int error;

	if (length == 0 || (g->length != 0 && length != g->length)) {
		kubernetes_warn(g->k, g->item, "\"%.*s\" is not a valid %s address:"
		    " ignored", KUBERNETES_SHOWN,
		    text != NULL ? text : "(not a string)",
		    g->length == 4 ? "IPv4" : g->length == 16 ? "IPv6" : "IP");
		return 0;
	}
	error = objects_add_endpoint(objects, g->service, &handle);
	if (error != 0)
		return error;
	endpoint = OBJECT_AT(objects, struct object_endpoint, handle);
	endpoint->line = g->item->line;
	endpoint->source = g->k->source;
	endpoint->hostname = head->hostname;
	endpoint->cluster = g->cluster;
	endpoint->ports = g->ports;
	endpoint->ready = head->ready;
	endpoint->legacy = g->legacy;
	endpoint->length = length;
	memcpy(endpoint->octets, octets, length);
	return 0;
}

/* Unknown is ready: the API of EndpointConditions. */
static bool
is_ready(const json_t *endpoint)
{
	return !json_is_false(json_object_get(json_object_get(endpoint,
	    "conditions"), "ready"));
}

static int
read_slice_endpoint(struct endpoint_group *g, const json_t *endpoint)
{
	const json_t *list = json_object_get(endpoint, "addresses"), *address;
	struct endpoint_head head;
	int error = read_head(g, endpoint, &head);
	size_t i;

	head.ready = is_ready(endpoint);
	json_array_foreach(list, i, address)
		if (error == 0)
			error = add_address(g, &head,
			    json_string_value(address));
	return error;
}

/* The slice's type of address; false if it has no IP addresses. */
static bool
read_address_type(struct endpoint_group *g)
{
	const char *type = json_string_value(json_object_get(g->item->value,
	    "addressType"));

	if (type != NULL && strcmp(type, "IPv4") == 0)
		g->length = 4;
	else if (type != NULL && strcmp(type, "IPv6") == 0)
		g->length = 16;
	else
		kubernetes_warn(g->k, g->item, "addressType is \"%.*s\","
		    " expected IPv4 or IPv6: ignored", KUBERNETES_SHOWN,
		    type != NULL ? type : "");
	return g->length != 0;
}

/* The service of a slice, which a label names; 0 without the label. */
static int
find_service(struct endpoint_group *g)
{
	static const char of_import[] =
	    "multicluster.kubernetes.io/service-name";
	static const char of_service[] = "kubernetes.io/service-name";
	const json_t *labels = json_object_get(g->item->metadata, "labels");
	const char *name = json_string_value(
	    json_object_get(labels, of_import));
	bool imported = name != NULL;
	const char *cluster;
	int error = 0;

	if (!imported)
		name = json_string_value(json_object_get(labels, of_service));
	if (name == NULL) {
		kubernetes_warn(g->k, g->item, "has no label %s: ignored",
		    of_service);
		return 0;
	}
	cluster = json_string_value(json_object_get(labels,
	    "multicluster.kubernetes.io/source-cluster"));
	if (imported && cluster != NULL)
		error = kubernetes_label(g->k, cluster, &g->cluster);
	return error != 0 ? error : kubernetes_service(g->k, g->item, name,
	    imported, &g->service);
}

/* Where the service is mentioned first, for messages about it. */
static void
mention(struct endpoint_group *g)
{
	struct object_service *s = OBJECT_AT(&g->k->objects,
	    struct object_service, g->service);

	if (s->line == 0) {
		s->line = g->item->line;
		s->source = g->k->source;
	}
	if (!g->legacy)
		s->has_slices = true;
}

int
kubernetes_read_slice(struct kubernetes *k, const struct kubernetes_item *item)
{
	struct endpoint_group g = { .k = k, .item = item };
	const json_t *list = json_object_get(item->value, "endpoints");
	const json_t *endpoint;
	size_t i;
	int error;

	if (!read_address_type(&g))
		return 0;
	error = find_service(&g);
	if (error != 0 || g.service == 0)
		return error;
	mention(&g);
	if (json_array_size(list) == 0)
		return 0;
	error = kubernetes_read_ports(k, item,
	    json_object_get(item->value, "ports"), &g.ports);
	json_array_foreach(list, i, endpoint)
		if (error == 0)
			error = read_slice_endpoint(&g, endpoint);
	return error;
}

/* Reads the ready addresses of a subset, or the others. */
static int
read_subset_addresses(struct endpoint_group *g, const json_t *array,
    bool ready)
{
	const json_t *address;
	struct endpoint_head head;
	int error = 0;
	size_t i;

	json_array_foreach(array, i, address) {
		if (error == 0)
			error = read_head(g, address, &head);
		head.ready = ready;
		if (error == 0)
			error = add_address(g, &head, json_string_value(
			    json_object_get(address, "ip")));
	}
	return error;
}

int
kubernetes_read_endpoints(struct kubernetes *k,
    const struct kubernetes_item *item)
{
	struct endpoint_group g = { .k = k, .item = item, .legacy = true };
	const json_t *list = json_object_get(item->value, "subsets"), *subset;
	size_t i;
	int error = kubernetes_service(k, item, item->name, false, &g.service);

	if (error != 0 || g.service == 0)
		return error;
	if (json_array_size(list) > 0)
		mention(&g);
	json_array_foreach(list, i, subset) {
		if (error == 0)
			error = kubernetes_read_ports(k, item,
			    json_object_get(subset, "ports"), &g.ports);
		if (error == 0)
			error = read_subset_addresses(&g,
			    json_object_get(subset, "addresses"), true);
		if (error == 0)
			error = read_subset_addresses(&g, json_object_get(
			    subset, "notReadyAddresses"), false);
	}
	return error;
}
