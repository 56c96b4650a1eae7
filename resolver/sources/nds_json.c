/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Istio's NameTable in its JSON form,
 *
 *   { "table": { HOST: { "ips": [...], "registry": ..., "shortname": ...,
 *                        "namespace": ..., "altHosts": [...] } } }
 *
 * and the dump of it by the control plane's debug interface, in which the same
 * object stands somewhere inside the elements of "configs".
 *
 * An entry that cannot be used is ignored with a warning; questions for its
 * name pass.  A text that is not JSON as a whole is an error, because a
 * truncated export must not replace a good table.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/text/json_tree.h"
#include "resolver/sources/nds.h"
#include "resolver/sources/source_format.h"

/* How deep inside an element of "configs" the table may sit. */
#define CONFIG_LEVELS 3

struct form {
	struct nds nds;
	struct json_scan scan;
	struct json_tree host_tree;	/* an entry's host, */
	struct json_tree entry_tree;	/* and what belongs to it */
	bool seen_table;
	struct span *texts;		/* of one entry's arrays */
	size_t room;
};

/* Empty unless there is such a member and it is a string. */
static struct span
string_member(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return span_of(text != NULL ? text : "");
}

/* A member that should be an array, by either of its names. */
static const json_t *
array_member(const struct form *f, const json_t *object,
    const char *key, const char *other_key, const struct nds_entry *entry)
{
	const json_t *array = json_object_get(object, key);

	if (array == NULL)
		array = json_object_get(object, other_key);
	if (array != NULL && !json_is_array(array))
		diag_add(f->nds.diag, DIAG_WARNING, f->nds.text->path,
		    entry->line, "\"%s\" of %.*s is not an array", key,
		    SPAN_SHOWN(entry->host, NDS_SHOWN));
	return array;
}

static struct nds_texts
fill(struct span *room, const json_t *array)
{
	const json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
		room[i] = span_of(json_string_value(item));
	return (struct nds_texts){ room, json_array_size(array) };
}

static bool
read_arrays(struct form *f, const json_t *value,
    struct nds_entry *entry)
{
	const json_t *ips = array_member(f, value, "ips", "ips", entry);
	const json_t *hosts = array_member(f, value, "altHosts", "alt_hosts",
	    entry);
	const size_t count = json_array_size(ips) + json_array_size(hosts);

	if (count > f->room) {
		struct span *texts = reallocarray(f->texts, count,
		    sizeof(*texts));

		if (texts == NULL) {
			f->nds.error = -ENOMEM;
			return false;
		}
		f->texts = texts;
		f->room = count;
	}
	if (f->room != 0) {
		entry->ips = fill(f->texts, ips);
		entry->alternates = fill(f->texts + entry->ips.count, hosts);
	}
	return true;
}

/* Takes a range of the text; a failure fails the whole text. */
static const json_t *
take(struct nds *nds, struct json_tree *tree, const struct json_range *range)
{
	const char *why = "";
	unsigned int line = 0;
	const json_t *value = json_tree_take(tree, range,
	    &nds->error, &why, &line);

	if (nds->error == -EINVAL)
		diag_add(nds->diag, DIAG_ERROR, nds->text->path, line,
		    "not valid JSON: %s", why);
	return value;
}

static void
read_entry(struct form *f, const struct json_range *key,
    const struct json_range *range)
{
	const json_t *host = take(&f->nds, &f->host_tree, key);
	const json_t *value = host != NULL ?
	    take(&f->nds, &f->entry_tree, range) : NULL;
	struct nds_entry entry = { .line = key->line };

	if (value == NULL)
		return;
	entry.host = span_of(json_string_value(host));
	if (!json_is_object(value)) {
		diag_add(f->nds.diag, DIAG_WARNING, f->nds.text->path,
		    entry.line, "entry of %.*s is not an object: ignored",
		    SPAN_SHOWN(entry.host, NDS_SHOWN));
		return;
	}
	entry.registry = string_member(value, "registry");
	entry.shortname = string_member(value, "shortname");
	entry.namespace = string_member(value, "namespace");
	if (read_arrays(f, value, &entry))
		nds_add(&f->nds, &entry);
}

/* The value of a member "table": the hosts. */
static void
read_table(struct form *f)
{
	struct json_scan *scan = &f->scan;
	struct json_range key, value;

	f->seen_table = true;
	/* A null in JSON of protocol buffers is an absent field. */
	if (json_scan_peek(scan) == 'n') {
		(void)json_scan_value(scan, &value);
		return;
	}
	if (!json_scan_enter_object(scan))
		return;
	while (f->nds.error == 0 && json_scan_member(scan, &key)) {
		if (json_scan_value(scan, &value))
			read_entry(f, &key, &value);
	}
}

/* Looks for tables in an object and those inside it. */
static void
read_config(struct form *f, unsigned int levels)
{
	struct json_scan *scan = &f->scan;
	struct json_range key, value;

	if (levels == 0 || json_scan_peek(scan) != '{') {
		(void)json_scan_value(scan, &value);
		return;
	}
	if (!json_scan_enter_object(scan))
		return;
	while (f->nds.error == 0 && json_scan_member(scan, &key)) {
		if (json_range_is(&key, "table"))
			read_table(f);
		else
			read_config(f, levels - 1);
	}
}

static void
read_configs(struct form *f)
{
	if (!json_scan_enter_array(&f->scan))
		return;
	while (f->nds.error == 0 && json_scan_element(&f->scan))
		read_config(f, CONFIG_LEVELS);
}

static void
read_top(struct form *f)
{
	struct json_scan *scan = &f->scan;
	struct json_range key, value;
	bool empty = true;

	if (!json_scan_enter_object(scan))
		return;
	while (f->nds.error == 0 && json_scan_member(scan, &key)) {
		empty = false;
		if (json_range_is(&key, "table"))
			read_table(f);
		else if (json_range_is(&key, "configs"))
			read_configs(f);
		else
			(void)json_scan_value(scan, &value);
	}
	/* "{}" is how protocol buffers write a table without names. */
	f->seen_table |= empty;
	if (f->nds.error == 0)
		(void)json_scan_end(scan);
}

/* Adds the error that stopped the scan. */
static void
report_scan(struct form *f)
{
	const struct json_scan *scan = &f->scan;
	char found[] = "\"?\"";

	if (scan->at >= scan->end) {
		diag_add(f->nds.diag, DIAG_ERROR, f->nds.text->path, scan->line,
		    "expected %s, found the end of the file: it is cut off or"
		    " not the JSON form of a name table", scan->expected);
		return;
	}
	if (json_scan_sees_yaml(scan)) {
		diag_add(f->nds.diag, DIAG_ERROR, f->nds.text->path,
		    scan->line, "is YAML: expected the JSON of a name table; "
		    "for Kubernetes objects set format = \"kubernetes\" and "
		    "write them with \"kubectl get ... -o json\"");
		return;
	}
	found[1] = *scan->at;
	if (*scan->at == '\0')
		memcpy(found, "NUL", 4);
	diag_add(f->nds.diag, DIAG_ERROR, f->nds.text->path, scan->line,
	    "expected %s, found %s: not valid JSON", scan->expected, found);
}

int
source_nds_read(const struct source_text *text, struct builder *b,
    struct diag *diag)
{
	struct form f = { .scan = json_scan_over(text->data, text->length),
	    .host_tree = JSON_TREE_INIT, .entry_tree = JSON_TREE_INIT };

	if (nds_init(&f.nds, text, b, diag) != 0)
		return 0;
	read_top(&f);
	free(f.texts);
	json_tree_free(&f.host_tree);
	json_tree_free(&f.entry_tree);
	if (f.nds.error == -EINVAL)
		return 0;		/* diag has it */
	if (f.nds.error != 0)
		return f.nds.error;
	if (f.scan.expected != NULL)
		report_scan(&f);
	else if (!f.seen_table)
		diag_add(diag, DIAG_ERROR, text->path, 0, "holds no name table:"
		    " expected {\"table\": {...}} or {\"configs\": [...]} with"
		    " a \"table\" inside");
	return 0;
}
