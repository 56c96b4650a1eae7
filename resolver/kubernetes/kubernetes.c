/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/kubernetes/kubernetes.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "resolver/dns/name.h"

void
kubernetes_warn(const struct kubernetes *k, const struct kubernetes_item *item,
    const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	diag_add(k->diag, DIAG_WARNING, k->text->path, item->line,
	    "%s %.*s%s%.*s: %s", item->kind, KUBERNETES_SHOWN,
	    item->namespace, item->namespace[0] != '\0' ? "/" : "",
	    KUBERNETES_SHOWN, item->name, text);
}

void
kubernetes_select(struct kubernetes *k, uint16_t source)
{
	k->source = source;
	k->text = &k->sources[source].text;
	k->objects.cluster = k->sources[source].cluster;
	k->objects.source = source;
	builder_file_set(k->builder, k->text->file);
}

bool
kubernetes_in_cluster(const struct kubernetes *k, uint16_t source)
{
	uint32_t cluster = k->sources[source].cluster;

	return cluster == 0 || k->cluster == 0 || cluster == k->cluster;
}

bool
kubernetes_in_network(const struct kubernetes *k, uint16_t source)
{
	uint32_t network = k->sources[source].network;

	return network == 0 || k->network == 0 || network == k->network;
}

bool
kubernetes_exposes(const struct source_text *text, const char *namespace)
{
	const struct mesh_source *source = text->source;

	if (source == NULL || source->namespaces.count == 0)
		return true;
	for (size_t i = 0; i < source->namespaces.count; i++) {
		if (strcmp(source->namespaces.texts[i], namespace) == 0)
			return true;
	}
	return false;
}

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
		kubernetes_warn(k, item, "namespace \"%.*s\" is not a valid label of"
		    " 1 to 63 octets without a dot: ignored",
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
		kubernetes_warn(k, item, "service name \"%.*s\" is not a valid label of"
		    " 1 to 63 octets without a dot: ignored",
		    KUBERNETES_SHOWN, name);
		return 0;
	}
	return objects_service(&k->objects, namespace, label, imported,
	    service);
}

/* The protocol as names have it: "tcp". */
static int
read_protocol(struct kubernetes *k, const json_t *port,
    uint32_t *protocol)
{
	const char *text =
	    json_string_value(json_object_get(port, "protocol"));

	return kubernetes_label(k, text != NULL ? text : "TCP", protocol);
}

int
kubernetes_read_ports(struct kubernetes *k, const struct kubernetes_item *item,
    const json_t *array, uint32_t *ports)
{
	const json_t *port;
	struct object_port read;
	int error = objects_add_ports(&k->objects,
	    (uint32_t)json_array_size(array), ports);
	size_t i;

	json_array_foreach(array, i, port) {
		const char *name =
		    json_string_value(json_object_get(port, "name"));
		long long number = 0;

		if (error != 0)
			break;
		read = (struct object_port){ .name = 0 };
		if (json_tree_integer(json_object_get(port, "port"), 1,
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
		OBJECT_AT(&k->objects, struct object_ports, *ports)->port[i] =
		    read;
	}
	return error;
}

void
kubernetes_dashed(char text[static INET6_ADDRSTRLEN], const uint8_t *octets,
    uint8_t length)
{
	(void)inet_ntop(length == 4 ? AF_INET : AF_INET6, octets, text,
	    INET6_ADDRSTRLEN);
	for (; *text != '\0'; text++) {
		if (*text == '.' || *text == ':')
			*text = '-';
	}
}
