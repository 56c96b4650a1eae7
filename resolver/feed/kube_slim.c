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

static void
put(struct kube_slim *slim, const char *text, size_t length)
{
	size_t wanted = slim->length + length;

	if (slim->error == 0 && wanted > slim->size) {
		char *grown = realloc(slim->text, wanted * 2);

		if (grown == NULL) {
			slim->error = -ENOMEM;
			return;
		}
		slim->text = grown;
		slim->size = wanted * 2;
	}
	if (slim->error != 0)
		return;
	memcpy(slim->text + slim->length, text, length);
	slim->length = wanted;
}

/* The value as it stands, without white space between its tokens. */
static void
put_value(struct kube_slim *slim, const struct json_range *value)
{
	size_t from = 0;
	bool quoted = false;

	for (size_t i = 0; i < value->length; i++) {
		char c = value->text[i];

		if (quoted && c == '\\') {
			i++;
		} else if (c == '"') {
			quoted = !quoted;
		} else if (!quoted && (c == ' ' || c == '\n' || c == '\t' ||
		    c == '\r')) {
			put(slim, value->text + from, i - from);
			from = i + 1;
		}
	}
	put(slim, value->text + from, value->length - from);
}

static const struct kube_field *
find_field(const struct kube_field *fields, const struct json_range *key)
{
	for (; fields->key != NULL; fields++) {
		if (json_range_is(key, fields->key))
			return fields;
	}
	return NULL;
}

static void put_fields(struct kube_slim *slim, struct json_scan *scan,
    const struct kube_field *fields);

/* The members of an object that are among the fields, behind a "{". */
static void
put_members(struct kube_slim *slim, struct json_scan *scan,
    const struct kube_field *fields, bool first)
{
	struct json_range key, value;

	while (slim->error == 0 && json_scan_member(scan, &key)) {
		const struct kube_field *field = find_field(fields, &key);

		if (field == NULL) {
			(void)json_scan_value(scan, &value);
			continue;
		}
		if (!first)
			put(slim, ",", 1);
		first = false;
		put(slim, key.text, key.length);
		put(slim, ":", 1);
		put_fields(slim, scan, field->below);
	}
	put(slim, "}", 1);
}

/* A value: whole, or what the fields name of it.  As deep as the table. */
static void
put_fields(struct kube_slim *slim, struct json_scan *scan,
    const struct kube_field *fields)
{
	char next = json_scan_peek(scan);
	struct json_range value;
	bool first = true;

	if (fields != NULL && next == '{') {
		(void)json_scan_enter_object(scan);
		put(slim, "{", 1);
		put_members(slim, scan, fields, true);
		return;
	}
	if (fields == NULL || next != '[') {
		if (json_scan_value(scan, &value))
			put_value(slim, &value);
		return;
	}
	(void)json_scan_enter_array(scan);
	put(slim, "[", 1);
	for (; slim->error == 0 && json_scan_element(scan); first = false) {
		if (!first)
			put(slim, ",", 1);
		/* No list of lists is among the fields. */
		if (json_scan_peek(scan) == '{')
			put_fields(slim, scan, fields);
		else if (json_scan_value(scan, &value))
			put_value(slim, &value);
	}
	put(slim, "]", 1);
}

/* Whether the reader of tables takes it: one bad object must not cost all. */
static int
try_tree(struct kube_slim *slim, const char **why)
{
	const struct json_range range = { .text = slim->text,
	    .length = slim->length, .line = 1 };
	unsigned int line;
	int error;

	(void)json_tree_take(&slim->tree, &range, &error, why, &line);
	return error;
}

int
kube_slim_make(struct kube_slim *slim, const struct kube_kind *kind,
    const struct json_range *object, const char **why)
{
	struct json_scan scan = json_scan_over(object->text, object->length);
	char head[128];
	int n = snprintf(head, sizeof(head), "{\"apiVersion\":\"%s\","
	    "\"kind\":\"%s\"", kind->version, kind->kind);

	*why = "";
	slim->length = 0;
	slim->error = 0;
	put(slim, head, (size_t)n);
	if (json_scan_enter_object(&scan))
		put_members(slim, &scan, kind->fields, false);
	if (slim->error == 0 && !json_scan_end(&scan))
		slim->error = -EBADMSG;
	return slim->error != 0 ? slim->error : try_tree(slim, why);
}

void
kube_slim_free(struct kube_slim *slim)
{
	free(slim->text);
	json_tree_free(&slim->tree);
	*slim = (struct kube_slim)KUBE_SLIM_INIT;
}
