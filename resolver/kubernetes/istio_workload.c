/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reader of WorkloadEntry and of the endpoints inside a ServiceEntry, which
 * have the same form; of pods, which a ServiceEntry may select; and of labels.
 */
#include <string.h>

#include "resolver/dns/name.h"
#include "resolver/kubernetes/istio_objects.h"
#include "resolver/kubernetes/kubernetes.h"

static uint32_t
count_members(json_t *object)
{
	uint32_t count = 0;
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
		count += json_is_string(value);
	return count;
}

/* Adds the object's members to labels, which have space for them. */
static int
read_members(struct kubernetes *k, json_t *object, uint32_t labels)
{
	struct istio_labels *l;
	struct istio_label label;
	const char *key;
	json_t *value;
	int error = 0;

	json_object_foreach(object, key, value) {
		if (error != 0 || !json_is_string(value))
			continue;
		error = objects_string(&k->objects, key, strlen(key),
		    &label.key);
		if (error == 0)
			error = objects_string(&k->objects,
			    json_string_value(value),
			    json_string_length(value), &label.value);
		l = OBJECT_AT(&k->objects, struct istio_labels, labels);
		if (error == 0)
			l->label[l->count++] = label;
	}
	return error;
}

int
istio_read_labels(struct kubernetes *k, json_t *object, json_t *others,
    uint32_t *labels)
{
	uint32_t count = count_members(object) + count_members(others);
	int error;

	*labels = 0;
	if (count == 0)
		return 0;
	error = arena_take(&k->objects.arena, sizeof(struct istio_labels) +
	    count * sizeof(struct istio_label), labels);
	if (error == 0)
		error = read_members(k, object, *labels);
	if (error == 0)
		error = read_members(k, others, *labels);
	return error;
}

/* The value of a key; 0 if there is none.  Of two, the first counts. */
static uint32_t
label_value(const struct objects *objects, uint32_t labels, uint32_t key)
{
	const struct istio_labels *l;

	if (labels == 0)
		return 0;
	l = OBJECT_AT(objects, const struct istio_labels, labels);
	for (uint32_t i = 0; i < l->count; i++) {
		if (l->label[i].key == key)
			return l->label[i].value;
	}
	return 0;
}

bool
istio_selects(const struct objects *objects, uint32_t selector,
    const struct istio_workload *workload)
{
	const struct istio_labels *wanted;

	if (selector == 0)
		return false;
	wanted = OBJECT_AT(objects, const struct istio_labels, selector);
	for (uint32_t i = 0; i < wanted->count; i++) {
		if (label_value(objects, workload->labels,
		    wanted->label[i].key) != wanted->label[i].value)
			return false;
	}
	return true;
}

/* Sets *string to a label about the location, unless it is set already. */
static int
read_topology(struct kubernetes *k, const json_t *own,
    const json_t *labels, const char *label, uint32_t *string)
{
	const char *text = json_string_value(json_object_get(own, label));

	if (text == NULL || text[0] == '\0')
		text = json_string_value(json_object_get(labels, label));
	if (*string != 0 || text == NULL || text[0] == '\0')
		return 0;
	return objects_string(&k->objects, text, strlen(text), string);
}

/* The status of one type in status.conditions; NULL if there is none. */
static const char *
condition_of(const json_t *object, const char *wanted)
{
	const json_t *list = json_object_get(json_object_get(object, "status"),
	    "conditions"), *condition;
	size_t i;

	json_array_foreach(list, i, condition) {
		const char *type = json_string_value(
		    json_object_get(condition, "type"));

		if (type != NULL && strcmp(type, wanted) == 0)
			return json_string_value(
			    json_object_get(condition, "status"));
	}
	return NULL;
}

/* Unhealthy only if the agent on the machine reports so. */
static bool
is_healthy(const json_t *object)
{
	const char *value = condition_of(object, "Healthy");

	return value == NULL || strcmp(value, "False") != 0;
}

/* Keeps a workload with its address and location. */
static int
keep(struct kubernetes *k, const struct kubernetes_item *item,
    json_t *own, json_t *labels, struct istio_workload *w,
    struct object_list *list)
{
	uint32_t handle;
	int error = objects_string(&k->objects, item->namespace,
	    strlen(item->namespace), &w->namespace);

	if (error == 0)
		error = istio_read_labels(k, own, labels, &w->labels);
	if (error == 0)
		error = read_topology(k, own, labels,
		    "topology.istio.io/network", &w->network);
	if (error == 0)
		error = arena_take(&k->objects.arena, sizeof(*w), &handle);
	if (error != 0)
		return error;
	*OBJECT_AT(&k->objects, struct istio_workload, handle) = *w;
	objects_append(&k->objects, list, handle);
	return 0;
}

/*
 * The address of a workload.  Returns its length, 0 if it has none.  Proxies
 * also take a name or a UNIX socket there; anything else gets a warning.
 */
static uint8_t
read_address(const struct kubernetes *k, const struct kubernetes_item *item,
    const json_t *spec, uint8_t octets[static 16])
{
	const json_t *node = json_object_get(spec, "address");
	const char *text = json_string_value(node);
	uint8_t length = kubernetes_address(text, octets);
	struct dns_name name;

	if (length != 0 || node == NULL || (text != NULL &&
	    (strncmp(text, "unix://", 7) == 0 ||
	    name_from_text(&name, text, strlen(text)) == 0)))
		return length;
	kubernetes_warn(k, item, "address \"%.*s\" is neither an address nor a"
	    " name: ignored", KUBERNETES_SHOWN,
	    text != NULL ? text : "(not a string)");
	return 0;
}

/* metadata is NULL for an endpoint of a ServiceEntry. */
static int
read_workload(struct kubernetes *k, const struct kubernetes_item *item,
    const json_t *spec, const json_t *metadata,
    struct object_list *list)
{
	json_t *own = json_object_get(metadata, "labels");
	json_t *labels = json_object_get(spec, "labels");
	const char *network = json_string_value(
	    json_object_get(spec, "network"));
	struct istio_workload w = { .source = k->source,
	    .healthy = metadata == NULL || is_healthy(item->value) };
	int error = 0;

	w.length = read_address(k, item, spec, w.octets);
	if (w.length == 0)
		return 0;
	if (network != NULL && network[0] != '\0')
		error = objects_string(&k->objects, network, strlen(network),
		    &w.network);
	return error != 0 ? error : keep(k, item, own, labels, &w, list);
}

int
istio_read_endpoints(struct kubernetes *k, const struct kubernetes_item *item,
    struct object_list *endpoints)
{
	const json_t *list = json_object_get(item->spec, "endpoints"), *spec;
	int error = 0;
	size_t i;

	json_array_foreach(list, i, spec)
		if (error == 0)
			error = read_workload(k, item, spec, NULL, endpoints);
	return error;
}

int
istio_read_workload_entry(struct kubernetes *k,
    const struct kubernetes_item *item)
{
	return read_workload(k, item, item->spec, item->metadata,
	    &k->workloads);
}

/* Whether the pod is ready: Istio selects no others. */
static bool
is_ready(const struct kubernetes_item *pod)
{
	const char *phase = json_string_value(json_object_get(
	    json_object_get(pod->value, "status"), "phase"));
	const char *ready = condition_of(pod->value, "Ready");

	return json_object_get(pod->metadata, "deletionTimestamp") == NULL &&
	    (phase == NULL || strcmp(phase, "Running") == 0) &&
	    (ready == NULL || strcmp(ready, "True") == 0);
}

int
istio_read_pod(struct kubernetes *k, const struct kubernetes_item *item)
{
	json_t *labels = json_object_get(item->metadata, "labels");
	const json_t *list = json_object_get(json_object_get(item->value,
	    "status"), "podIPs"), *ip;
	int error = 0;
	size_t i;

	if (!k->keeps_pods || count_members(labels) == 0 || !is_ready(item))
		return 0;
	json_array_foreach(list, i, ip) {
		struct istio_workload w = { .source = k->source,
		    .healthy = true, .pod = true };

		/* The pod's own reader warns about bad addresses. */
		w.length = kubernetes_address(json_string_value(
		    json_object_get(ip, "ip")), w.octets);
		if (w.length != 0 && error == 0)
			error = keep(k, item, labels, NULL, &w, &k->workloads);
	}
	return error;
}
