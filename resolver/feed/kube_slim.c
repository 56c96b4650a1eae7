/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/kube_mirror.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies a plain string without its quotes; any other text is "". */
static void
copy_plain(char *to, size_t size, const struct json_range *value)
{
	size_t length = 0;

	if (value->plain && value->length - 2 < size)
		length = value->length - 2;
	memcpy(to, value->text + 1, length);
	to[length] = '\0';
}

static void
read_metadata(struct kube_meta *meta, struct json_scan *scan)
{
	char name[254] = "", namespace[254] = "";
	struct json_range key, value;

	if (!json_scan_enter_object(scan))
		return;
	while (json_scan_member(scan, &key) && json_scan_value(scan, &value)) {
		if (value.text[0] != '"')
			continue;
		if (json_range_is(&key, "name"))
			copy_plain(name, sizeof(name), &value);
		else if (json_range_is(&key, "namespace"))
			copy_plain(namespace, sizeof(namespace), &value);
		else if (json_range_is(&key, "resourceVersion"))
			copy_plain(meta->version, sizeof(meta->version),
			    &value);
	}
	if (name[0] != '\0')
		(void)snprintf(meta->key, sizeof(meta->key), "%s/%s",
		    namespace, name);
}

int
kube_meta_read(struct kube_meta *meta, const struct json_range *object)
{
	struct json_scan scan = json_scan_over(object->text, object->length);
	struct json_range key, value;

	*meta = (struct kube_meta){ .key = "" };
	if (!json_scan_enter_object(&scan))
		return -EBADMSG;
	while (json_scan_member(&scan, &key)) {
		if (json_range_is(&key, "metadata") &&
		    json_scan_peek(&scan) == '{') {
			read_metadata(meta, &scan);
			break;
		}
		(void)json_scan_value(&scan, &value);
	}
	return scan.expected != NULL ? -EBADMSG : 0;
}

static const struct kube_field *
find_field(const struct kube_field *fields, const char *key)
{
	for (; fields->key != NULL; fields++)
		if (strcmp(fields->key, key) == 0)
			return fields;
	return NULL;
}

/*
 * What the fields name of a value, or all of it, as the caller's own; NULL: no
 * memory.  Lists are transparent.
 */
static json_t *
pick(json_t *value, const struct kube_field *fields)
{
	const bool list = json_is_array(value);
	int error = 0;
	const char *key;
	json_t *at, *some;
	size_t i;

	if (fields == NULL || (!list && !json_is_object(value)))
		return json_incref(value);
	some = list ? json_array() : json_object();
	json_array_foreach(value, i, at)
		error |= json_array_append_new(some, pick(at, fields));
	json_object_foreach(value, key, at) {
		const struct kube_field *field = find_field(fields, key);

		if (field != NULL)
			error |= json_object_set_new(some, key,
			    pick(at, field->below));
	}
	if (error == 0)
		return some;
	json_decref(some);
	return NULL;
}

int
kube_slim_make(struct kube_slim *slim, const struct kube_kind *kind,
    const struct json_range *object, const char **why)
{
	json_t *root, *kept, *made;
	unsigned int line;
	int error;

	*why = "more than 2 MiB";
	if (object->length > KUBE_OBJECT_MOST)
		return -EINVAL;
	*why = "";
	root = json_tree_take(&slim->tree, object, &error, why, &line);
	if (root == NULL)
		return error;
	free(slim->text);
	slim->text = NULL;
	kept = pick(root, kind->fields);
	made = json_pack("{s:s, s:s}", "apiVersion", kind->version, "kind",
	    kind->kind);
	if (json_object_update(made, kept) == 0)
		slim->text = json_dumps(made, JSON_COMPACT);
	json_decref(made);
	json_decref(kept);
	json_tree_free(&slim->tree);
	return slim->text != NULL ? 0 : -ENOMEM;
}

void
kube_slim_free(struct kube_slim *slim)
{
	free(slim->text);
	json_tree_free(&slim->tree);
	*slim = (struct kube_slim)KUBE_SLIM_INIT;
}
