/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reader of ServiceEntry. */
#include <string.h>
#include <strings.h>

#include "resolver/dns/name.h"
#include "resolver/kubernetes/istio_objects.h"
#include "resolver/kubernetes/kubernetes.h"
#include "resolver/text/number.h"

/* One entry while it is read. */
struct entry_reading {
	struct kubernetes *k;
	const struct kubernetes_item *item;
	struct istio_entry entry;
};

/* An address from a prefix of full length, as in 10.0.0.1/32. */
static uint8_t
read_whole_prefix(const char *text, uint8_t octets[static 16], bool *prefix)
{
	const char *slash = strchr(text, '/');
	char address[64];
	uint64_t bits;
	uint8_t length;

	*prefix = false;
	if (slash == NULL || (size_t)(slash - text) >= sizeof(address))
		return 0;
	memcpy(address, text, (size_t)(slash - text));
	address[slash - text] = '\0';
	length = kubernetes_address(address, octets);
	if (length == 0 || !number_from_text(slash + 1, length * 8UL, &bits))
		return 0;
	*prefix = true;
	return bits == length * 8UL ? length : 0;
}

/* 0.0.0.0 and :: mean that the entry has no address. */
static bool
is_unspecified(const uint8_t *octets, uint8_t length)
{
	static const uint8_t zeros[16];

	return memcmp(octets, zeros, length) == 0;
}

static int
append_address(struct kubernetes *k, struct object_list *list,
    const uint8_t *octets, uint8_t length)
{
	struct object_address *address;
	uint32_t handle;
	int error = arena_take(&k->objects.arena, sizeof(*address), &handle);

	if (error != 0)
		return error;
	address = OBJECT_AT(&k->objects, struct object_address, handle);
	address->length = length;
	memcpy(address->octets, octets, length);
	objects_append(&k->objects, list, handle);
	return 0;
}

static int
read_address(struct entry_reading *r, const char *text)
{
	uint8_t octets[16], length = kubernetes_address(text, octets);
	bool prefix = false;

	if (length == 0 && text != NULL)
		length = read_whole_prefix(text, octets, &prefix);
	if (length == 0 && !prefix)
		kubernetes_warn(r->k, r->item, "\"%.*s\" in addresses is"
		    " neither an address nor a prefix: ignored",
		    KUBERNETES_SHOWN, text != NULL ? text : "(not a string)");
	if (length != 0 && is_unspecified(octets, length))
		return 0;
	/* Even if it is malformed: istiod then allocates none. */
	r->entry.has_addresses = true;
	return length == 0 ? 0 :
	    append_address(r->k, &r->entry.addresses, octets, length);
}

static int
read_addresses(struct entry_reading *r)
{
	const json_t *list = json_object_get(r->item->spec, "addresses"), *at;
	int error = 0;
	size_t i;

	if (list != NULL && !json_is_array(list) && !json_is_null(list)) {
		kubernetes_warn(r->k, r->item, "addresses is not a list: ignored");
		r->entry.has_addresses = true;
	}
	json_array_foreach(list, i, at)
		if (error == 0)
			error = read_address(r, json_string_value(at));
	return error;
}

/* The host in lower case without a final dot; 0, with a warning, if bad. */
static int
read_host_text(struct entry_reading *r, const char *text, uint32_t *string)
{
	char lower[NAME_TEXT_SIZE];
	struct dns_name name;
	size_t length;
	int error = text != NULL ?
	    name_from_text(&name, text, strlen(text)) : -1;

	*string = 0;
	/* "*" alone would answer for every name there is. */
	if (error != 0 || name.labels == 0 ||
	    (name.labels == 1 && name.octets[1] == '*' && name.length == 3)) {
		kubernetes_warn(r->k, r->item, "host \"%.*s\" is not a valid domain"
		    " name of labels up to 63 octets: ignored",
		    KUBERNETES_SHOWN, text != NULL ? text : "(not a string)");
		return 0;
	}
	name_lower(&name);
	(void)name_to_text(name.octets, lower);
	length = strlen(lower) - 1;
	return objects_string(&r->k->objects, lower, length, string);
}

static int
read_host(struct entry_reading *r, const char *text)
{
	struct objects *objects = &r->k->objects;
	uint32_t string, handle;
	int error = read_host_text(r, text, &string);

	if (error != 0 || string == 0)
		return error;
	error = arena_take(&objects->arena, sizeof(struct istio_host),
	    &handle);
	if (error != 0)
		return error;
	OBJECT_AT(objects, struct istio_host, handle)->text = string;
	objects_append(&r->k->objects, &r->entry.hosts, handle);
	return 0;
}

/*
 * One of status.addresses, which istiod's controller writes: { "value": ...,
 * "host": ... }.  Without a host it belongs to all hosts of the entry.
 */
static int
read_status_address(struct entry_reading *r, const json_t *node)
{
	const char *text = json_string_value(json_object_get(node, "value"));
	const char *host = json_string_value(json_object_get(node, "host"));
	uint8_t octets[16], length = kubernetes_address(text, octets);
	struct objects *objects = &r->k->objects;
	uint32_t handle = r->entry.hosts.first;
	struct istio_host h;
	int error = 0;

	if (length == 0) {
		kubernetes_warn(r->k, r->item, "\"%.*s\" in status.addresses"
		    " is not a valid address: ignored", KUBERNETES_SHOWN,
		    text != NULL ? text : "(not a string)");
		return 0;
	}
	for (; handle != 0 && error == 0; handle = h.next) {
		h = *OBJECT_AT(objects, struct istio_host, handle);
		if (host != NULL && host[0] != '\0' &&
		    strcasecmp(host, objects_text(objects, h.text)) != 0)
			continue;
		error = append_address(r->k, &h.status, octets, length);
		/* Only now: appending moves the arena. */
		*OBJECT_AT(objects, struct istio_host, handle) = h;
	}
	return error;
}

/* Whether pods of the mesh's own namespace see the entry. */
static bool
is_visible(const struct entry_reading *r)
{
	const json_t *list = json_object_get(r->item->spec, "exportTo"), *to;
	const char *own = r->k->text->mesh->namespace;
	size_t i;

	json_array_foreach(list, i, to) {
		const char *text = json_string_value(to);

		if (text == NULL)
			continue;
		if (strcmp(text, ".") == 0)
			text = r->item->namespace;
		if (strcmp(text, "*") == 0 ||
		    (own != NULL && strcmp(text, own) == 0))
			return true;
	}
	return json_array_size(list) == 0;
}

/* An absent one is NONE, the first value in the protocol buffer. */
static bool
read_resolution(struct entry_reading *r)
{
	static const char *const known[] = { "NONE", "STATIC", "DNS",
		"DNS_ROUND_ROBIN", "DYNAMIC_DNS" };
	const json_t *node = json_object_get(r->item->spec, "resolution");
	const char *text = json_string_value(node);

	r->entry.passthrough = node == NULL || json_is_null(node);
	if (r->entry.passthrough)
		return true;
	for (size_t i = 0; text != NULL &&
	    i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(text, known[i]) == 0) {
			r->entry.passthrough = i == 0;
			return true;
		}
	}
	kubernetes_warn(r->k, r->item, "resolution \"%.*s\" is not known:"
	    " ignored", KUBERNETES_SHOWN,
	    text != NULL ? text : "(not a string)");
	return false;
}

/* False if a label of the ServiceEntry switches allocation off. */
static bool
wants_address(const struct kubernetes_item *item)
{
	const char *text = json_string_value(json_object_get(
	    json_object_get(item->metadata, "labels"),
	    "networking.istio.io/enable-autoallocate-ip"));

	return text == NULL || strcasecmp(text, "false") != 0;
}

static int
read_head(struct entry_reading *r)
{
	const char *created = json_string_value(
	    json_object_get(r->item->metadata, "creationTimestamp"));
	struct objects *objects = &r->k->objects;
	struct istio_entry *entry = &r->entry;
	int error = objects_string(objects, r->item->namespace,
	    strlen(r->item->namespace), &entry->namespace);

	if (error == 0)
		error = objects_string(objects, r->item->name,
		    strlen(r->item->name), &entry->name);
	if (error == 0 && created != NULL)
		error = objects_string(objects, created, strlen(created),
		    &entry->created);
	entry->line = r->item->line;
	entry->source = r->k->source;
	entry->visible = is_visible(r);
	entry->auto_allocate = wants_address(r->item);
	return error;
}

/* All lists of the entry. */
static int
read_lists(struct entry_reading *r)
{
	const json_t *spec = r->item->spec, *at;
	const json_t *hosts = json_object_get(spec, "hosts");
	const json_t *given = json_object_get(json_object_get(r->item->value,
	    "status"), "addresses");
	int error = 0;
	size_t i;

	json_array_foreach(hosts, i, at)
		if (error == 0)
			error = read_host(r, json_string_value(at));
	if (error == 0)
		error = read_addresses(r);
	json_array_foreach(given, i, at)
		if (error == 0)
			error = read_status_address(r, at);
	if (error == 0)
		error = istio_read_endpoints(r->k, r->item,
		    &r->entry.endpoints);
	if (error == 0)
		error = istio_read_labels(r->k, json_object_get(
		    json_object_get(spec, "workloadSelector"), "labels"),
		    NULL, &r->entry.selector);
	return error;
}

int
istio_read_service_entry(struct kubernetes *k,
    const struct kubernetes_item *item)
{
	struct entry_reading r = { .k = k, .item = item };
	uint32_t handle;
	int error;

	if (json_array_size(json_object_get(item->spec, "hosts")) == 0) {
		kubernetes_warn(k, item, "has no spec.hosts: ignored");
		return 0;
	}
	if (!read_resolution(&r))
		return 0;
	error = read_head(&r);
	if (error == 0)
		error = read_lists(&r);
	if (error == 0)
		error = arena_take(&k->objects.arena, sizeof(r.entry),
		    &handle);
	if (error != 0)
		return error;
	*OBJECT_AT(&k->objects, struct istio_entry, handle) = r.entry;
	objects_append(&k->objects, &k->entries, handle);
	k->entry_count++;
	return 0;
}
