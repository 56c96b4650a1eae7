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
read_head(struct endpoint_group *g, const struct json_node *endpoint,
    struct endpoint_head *head)
{
	const char *hostname =
	    json_tree_string(json_tree_member(endpoint, "hostname"));
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
is_ready(const struct json_node *endpoint)
{
	return !json_tree_is(json_tree_member(json_tree_member(endpoint,
	    "conditions"), "ready"), JSON_KIND_FALSE);
}

static int
read_slice_endpoint(struct endpoint_group *g, const struct json_node *endpoint)
{
	const struct json_node *address = json_tree_items(
	    json_tree_member(endpoint, "addresses"));
	struct endpoint_head head;
	int error = read_head(g, endpoint, &head);

	head.ready = is_ready(endpoint);
	for (; error == 0 && address != NULL; address = address->next)
		error = add_address(g, &head, json_tree_string(address));
	return error;
}

/* The slice's type of address; false if it has no IP addresses. */
static bool
read_address_type(struct endpoint_group *g)
{
	const char *type = json_tree_string(json_tree_member(g->item->value,
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
	const struct json_node *labels =
	    json_tree_member(g->item->metadata, "labels");
	const char *name = json_tree_string(
	    json_tree_member(labels, of_import));
	bool imported = name != NULL;
	const char *cluster;
	int error = 0;

	if (!imported)
		name = json_tree_string(json_tree_member(labels, of_service));
	if (name == NULL) {
		kubernetes_warn(g->k, g->item, "has no label %s: ignored",
		    of_service);
		return 0;
	}
	cluster = json_tree_string(json_tree_member(labels,
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
	const struct json_node *endpoint = json_tree_items(
	    json_tree_member(item->value, "endpoints"));
	int error;

	if (!read_address_type(&g))
		return 0;
	error = find_service(&g);
	if (error != 0 || g.service == 0)
		return error;
	mention(&g);
	if (endpoint == NULL)
		return 0;
	error = kubernetes_read_ports(k, item,
	    json_tree_member(item->value, "ports"), &g.ports);
	for (; error == 0 && endpoint != NULL; endpoint = endpoint->next)
		error = read_slice_endpoint(&g, endpoint);
	return error;
}

/* Reads the ready addresses of a subset, or the others. */
static int
read_subset_addresses(struct endpoint_group *g, const struct json_node *array,
    bool ready)
{
	const struct json_node *address = json_tree_items(array);
	struct endpoint_head head;
	int error = 0;

	for (; error == 0 && address != NULL; address = address->next) {
		error = read_head(g, address, &head);
		head.ready = ready;
		if (error == 0)
			error = add_address(g, &head, json_tree_string(
			    json_tree_member(address, "ip")));
	}
	return error;
}

int
kubernetes_read_endpoints(struct kubernetes *k,
    const struct kubernetes_item *item)
{
	struct endpoint_group g = { .k = k, .item = item, .legacy = true };
	const struct json_node *subset = json_tree_items(
	    json_tree_member(item->value, "subsets"));
	int error = kubernetes_service(k, item, item->name, false, &g.service);

	if (error != 0 || g.service == 0)
		return error;
	if (subset != NULL)
		mention(&g);
	for (; error == 0 && subset != NULL; subset = subset->next) {
		error = kubernetes_read_ports(k, item,
		    json_tree_member(subset, "ports"), &g.ports);
		if (error == 0)
			error = read_subset_addresses(&g,
			    json_tree_member(subset, "addresses"), true);
		if (error == 0)
			error = read_subset_addresses(&g, json_tree_member(
			    subset, "notReadyAddresses"), false);
	}
	return error;
}
