/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reader of Pod.  With pods = "verified" each running pod gets a name made of
 * its address, 10-1-2-3.NAMESPACE.pod.DOMAIN.  It depends on no other object,
 * so it is added at once.
 */
#include <string.h>

#include "resolver/dns/rr.h"
#include "resolver/kubernetes/kubernetes.h"

/* Whether the pod still has its address, by the same rules as CoreDNS. */
static bool
is_running(const struct kubernetes_item *item)
{
	static const char *const over[] = { "Succeeded", "Failed", "Unknown" };
	const char *phase = json_string_value(json_object_get(
	    json_object_get(item->value, "status"), "phase"));

	if (json_object_get(item->metadata, "deletionTimestamp") != NULL)
		return false;
	for (size_t i = 0; i < sizeof(over) / sizeof(over[0]); i++) {
		if (phase != NULL && strcmp(phase, over[i]) == 0)
			return false;
	}
	return true;
}

/* "NAMESPACE.pod.DOMAIN" */
static bool
pods_name(struct kubernetes *k, uint32_t namespace, struct dns_name *name)
{
	const struct object_namespace *n = OBJECT_AT(&k->objects,
	    const struct object_namespace, namespace);
	const char *text = objects_text(&k->objects, n->name);

	return kubernetes_exposes(k->text, text) &&
	    name_maker_label(name, "", "pod", &k->text->mesh->domain) &&
	    name_maker_label(name, "", text, name);
}

static int
add_address(struct kubernetes *k, const struct kubernetes_item *item,
    const struct dns_name *above, const char *text)
{
	char label[INET6_ADDRSTRLEN];
	uint8_t octets[16], length = kubernetes_address(text, octets);
	struct dns_name name;
	int outcome;

	if (length == 0) {
		kubernetes_warn(k, item, "\"%.*s\" in podIPs is not a valid address:"
		    " ignored", KUBERNETES_SHOWN,
		    text != NULL ? text : "(not a string)");
		return 0;
	}
	kubernetes_dashed(label, octets, length);
	if (!name_maker_label(&name, "", label, above))
		return 0;
	outcome = builder_add(k->builder, &name, NAME_OWNED,
	    length == 4 ? TYPE_A : TYPE_AAAA, source_ttl(k->text), octets,
	    length, item->line);
	return outcome < 0 ? outcome : 0;
}

int
kubernetes_read_pod(struct kubernetes *k, const struct kubernetes_item *item)
{
	const json_t *status = json_object_get(item->value, "status");
	const json_t *list = json_object_get(status, "podIPs"), *ip;
	const char *one = json_string_value(json_object_get(status, "podIP"));
	struct dns_name above;
	uint32_t namespace;
	size_t i;
	int error = kubernetes_namespace(k, item, item->namespace, &namespace);

	if (error == 0)
		error = istio_read_pod(k, item);
	if (error != 0 || namespace == 0 || k->text->source == NULL ||
	    k->text->source->pods != PODS_VERIFIED || !is_running(item) ||
	    !pods_name(k, namespace, &above))
		return error;
	if (json_array_size(list) == 0 && one != NULL)
		return add_address(k, item, &above, one);
	json_array_foreach(list, i, ip)
		if (error == 0)
			error = add_address(k, item, &above,
			    json_string_value(json_object_get(ip, "ip")));
	return error;
}
