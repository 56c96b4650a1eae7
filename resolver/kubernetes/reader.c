/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kubernetes objects as the API and kubectl write them in JSON: single objects
 * and lists of them, one behind the other,
 *
 *   { "kind": "List", "items": [ { "kind": "Service", ... }, ... ] }
 *   { "kind": "ServiceList", "items": [ { "metadata": ... }, ... ] }
 *
 * Each item goes to the reader of its kind; after the last one the
 * names are made (names.c).  An object that cannot be used is ignored with a
 * warning.  A text that is not JSON as a whole is an error, because a truncated
 * export must not replace a good table.
 */
#include "resolver/kubernetes/kubernetes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/text/json_scan.h"

/* What sources of the format share: source_format.h. */
struct source_set {
	struct kubernetes k;
};

/* One text while it is walked through. */
struct reading {
	struct kubernetes *k;
	struct json_scan scan;
	bool seen_any;		/* a list, or an object that has a kind */
	int error;		/* sticky; -EINVAL: diag has it */
};

/* The head of a list, for items without a kind or version of their own. */
struct list_head {
	char kind[KUBERNETES_SHOWN];
	char version[KUBERNETES_SHOWN];
	struct json_scan items;	/* where the items begin */
	bool is_list;
	bool complete;		/* the members behind the items were read */
};

static const struct object_kind {
	const char *group;	/* of the API: apiVersion before the slash */
	const char *kind;
	kubernetes_read_item *read;
	bool in_namespace;
} kinds[] = {
	{ "", "Namespace", kubernetes_read_namespace, false },
	{ "", "Service", kubernetes_read_service, true },
	{ "discovery.k8s.io", "EndpointSlice", kubernetes_read_slice, true },
	{ "", "Endpoints", kubernetes_read_endpoints, true },
	{ "networking.istio.io", "ServiceEntry", istio_read_service_entry,
	  true },
	{ "networking.istio.io", "WorkloadEntry", istio_read_workload_entry,
	  true },
	{ "", "Pod", kubernetes_read_pod, true },
	{ "multicluster.x-k8s.io", "ServiceImport", kubernetes_read_import,
	  true },
};

static const struct object_kind *
find_kind(const char *version, const char *kind)
{
	const char *slash = strchr(version, '/');
	size_t group = slash != NULL ? (size_t)(slash - version) : 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].kind, kind) == 0 &&
		    strlen(kinds[i].group) == group &&
		    memcmp(kinds[i].group, version, group) == 0)
			return &kinds[i];
	}
	return NULL;
}

/* The object's text of that key, or else the other one. */
static const char *
text_or(const json_t *object, const char *key, const char *other)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : other;
}

/* Calls the reader of the object's kind.  Other kinds are ignored. */
static int
read_object(struct kubernetes *k, const struct list_head *head,
    const json_t *value, unsigned int line)
{
	const json_t *metadata = json_object_get(value, "metadata");
	struct kubernetes_item item = {
		.kind = text_or(value, "kind", head->kind),
		.name = text_or(metadata, "name", ""),
		.line = line,
		.value = value,
		.metadata = metadata,
		.spec = json_object_get(value, "spec"),
	};
	const struct object_kind *kind = find_kind(
	    text_or(value, "apiVersion", head->version), item.kind);
	struct object_origin first;
	int error;

	if (kind == NULL)
		return 0;
	item.namespace = kind->in_namespace ?
	    text_or(metadata, "namespace", "default") : "";
	if (item.name[0] == '\0') {
		kubernetes_warn(k, &item, "has no metadata.name: ignored");
		return 0;
	}
	error = objects_see(&k->objects, item.kind, item.namespace, item.name,
	    line, &first);
	if (error != 0)
		return error;
	if (first.line != 0) {
		const bool here = first.source == k->source;

		kubernetes_warn(k, &item, "is defined before on line"
		    " %u%s%s: ignored", first.line,
		    here ? "" : " of ",
		    here ? "" : k->sources[first.source].text.path);
		return 0;
	}
	return kind->read(k, &item);
}

/* Copies a short text without escapes; others become "". */
static void
copy_string(char to[static KUBERNETES_SHOWN], const struct json_range *range)
{
	size_t length = range->length - 2;

	if (!range->plain || length >= KUBERNETES_SHOWN)
		length = 0;
	memcpy(to, range->text + 1, length);
	to[length] = '\0';
}

/*
 * Notes a member of a list's head.  The items of a "ServiceList" are Services;
 * those of a "List" have kinds of their own.
 */
static void
note_head(struct list_head *head, const struct json_range *key,
    const struct json_range *value)
{
	static const char suffix[] = "List";
	const size_t tail = sizeof(suffix) - 1;
	size_t length;

	if (value->text[0] != '"')
		return;
	if (json_range_is(key, "apiVersion"))
		copy_string(head->version, value);
	if (!json_range_is(key, "kind"))
		return;
	copy_string(head->kind, value);
	length = strlen(head->kind);
	if (length >= tail &&
	    strcmp(head->kind + length - tail, suffix) == 0)
		head->kind[length - tail] = '\0';
}

/*
 * Reads the head's members behind "items": kubectl and jq sort the members, so
 * the kind stands there.  Only needed for items without a kind of their own.
 */
static void
look_ahead(struct list_head *head)
{
	struct json_scan scan = head->items;
	struct json_range key, value;

	if (head->complete)
		return;
	head->complete = true;
	if (!json_scan_value(&scan, &value))
		return;
	while (json_scan_member(&scan, &key) && json_scan_value(&scan, &value))
		note_head(head, &key, &value);
}

/* What the API server says instead of objects (metav1.Status). */
static bool
is_refusal(const json_t *value)
{
	return strcmp(text_or(value, "kind", ""), "Status") == 0 &&
	    strcmp(text_or(value, "apiVersion", "v1"), "v1") == 0 &&
	    strcmp(text_or(value, "status", "Failure"), "Success") != 0;
}

static void
refuse_status(struct reading *r, const json_t *value,
    unsigned int line)
{
	diag_add(r->k->diag, DIAG_ERROR, r->k->text->path, line,
	    "holds no objects but the API server's refusal: \"%.300s\" (%s); "
	    "mend what writes the file", text_or(value, "message", ""),
	    text_or(value, "reason", "no reason given"));
	r->error = -EINVAL;
}

/* Reads one object. */
static void
read_range(struct reading *r, struct list_head *head,
    const struct json_range *range)
{
	struct kubernetes *k = r->k;
	const char *why = "";
	unsigned int line = range->line;
	const json_t *value, *kind;

	value = json_tree_take(&k->tree, range, &r->error, &why, &line);
	if (r->error == -EINVAL)
		diag_add(k->diag, DIAG_ERROR, k->text->path, line,
		    "not valid JSON: %s", why);
	if (value == NULL)
		return;
	kind = json_object_get(value, "kind");
	if (kind == NULL && head->kind[0] == '\0' && head->is_list)
		look_ahead(head);
	if (!json_is_object(value) ||
	    (kind == NULL && head->kind[0] == '\0')) {
		diag_add(k->diag, DIAG_WARNING, k->text->path, range->line,
		    "no Kubernetes object, which has a \"kind\": ignored");
		return;
	}
	r->seen_any = true;
	if (is_refusal(value)) {
		refuse_status(r, value, range->line);
		return;
	}
	r->error = read_object(k, head, value, range->line);
}

static void
read_items(struct reading *r, struct list_head *head)
{
	struct json_scan *scan = &r->scan;
	struct json_range value;

	r->seen_any = true;
	head->is_list = true;
	head->items = *scan;
	/* Go's JSON of an empty list. */
	if (json_scan_peek(scan) == 'n') {
		(void)json_scan_value(scan, &value);
		return;
	}
	if (!json_scan_enter_array(scan))
		return;
	while (r->error == 0 && json_scan_element(scan)) {
		if (json_scan_value(scan, &value))
			read_range(r, head, &value);
	}
}

/* Reads one document: a list, which has items, or a single object. */
static void
read_document(struct reading *r)
{
	struct json_scan *scan = &r->scan, start;
	struct list_head head = { .kind = "" };
	struct json_range key, value;

	(void)json_scan_peek(scan);
	start = *scan;
	if (!json_scan_enter_object(scan))
		return;
	while (r->error == 0 && json_scan_member(scan, &key)) {
		if (json_range_is(&key, "items")) {
			read_items(r, &head);
		} else if (json_scan_value(scan, &value)) {
			note_head(&head, &key, &value);
		}
	}
	if (head.is_list || r->error != 0 || scan->expected != NULL)
		return;
	if (json_scan_value(&start, &value))
		read_range(r, &head, &value);
}

/* Adds the error that stopped the scan. */
static void
report_scan(const struct reading *r)
{
	const struct json_scan *scan = &r->scan;
	const char *path = r->k->text->path;
	char found[] = "\"?\"";

	if (scan->at >= scan->end) {
		diag_add(r->k->diag, DIAG_ERROR, path, scan->line, "expected"
		    " %s, found the end of the file: it is cut off",
		    scan->expected);
		return;
	}
	if (json_scan_sees_yaml(scan)) {
		diag_add(r->k->diag, DIAG_ERROR, path, scan->line, "is YAML: "
		    "expected JSON, as \"kubectl get ... -o json\" writes it");
		return;
	}
	found[1] = *scan->at;
	if (*scan->at == '\0')
		memcpy(found, "NUL", sizeof("NUL"));
	diag_add(r->k->diag, DIAG_ERROR, path, scan->line, "expected %s, found"
	    " %s: not valid JSON", scan->expected, found);
}

/* Interns the names of a cluster and a network; NULL for none. */
static int
read_location(struct kubernetes *k, const char *cluster, const char *network,
    uint32_t *cluster_string, uint32_t *network_string)
{
	int error = 0;

	if (cluster != NULL)
		error = objects_string(&k->objects, cluster, strlen(cluster),
		    cluster_string);
	if (error == 0 && network != NULL)
		error = objects_string(&k->objects, network, strlen(network),
		    network_string);
	return error;
}

/* Adds the text as a source and selects it. */
static int
add_source(struct kubernetes *k, const struct source_text *text)
{
	struct kubernetes_source *sources;
	int error = 0;

	if (k->source_count > UINT16_MAX)
		return -E2BIG;
	sources = reallocarray(k->sources, k->source_count + 1,
	    sizeof(*sources));
	if (sources == NULL)
		return -ENOMEM;
	k->sources = sources;
	sources += k->source_count;
	*sources = (struct kubernetes_source){ .text = *text };
	if (text->source != NULL)
		error = read_location(k, text->source->cluster,
		    text->source->network, &sources->cluster,
		    &sources->network);
	kubernetes_select(k, (uint16_t)k->source_count++);
	return error != 0 ? error : read_location(k, text->mesh->cluster,
	    text->mesh->network, &k->cluster, &k->network);
}

struct source_set *
source_kubernetes_begin(struct builder *b, struct diag *diag)
{
	struct source_set *set = calloc(1, sizeof(*set));

	if (set == NULL)
		return NULL;
	set->k = (struct kubernetes){
		.builder = b,
		.diag = diag,
		.objects = OBJECTS_INIT,
		.tree = JSON_TREE_INIT,
	};
	return set;
}

/*
 * Whether a ServiceEntry may select pods that were read before it: there is a
 * selector in this text, or there are several texts.  If not, pods are not
 * kept, which saves the memory for a million of them.
 */
static bool
may_select(const struct source_text *text)
{
	static const char selector[] = "\"workloadSelector\"";
	size_t count = 0;

	for (size_t i = 0; text->source != NULL &&
	    i < text->mesh->source_count; i++)
		count += text->mesh->sources[i].format == text->source->format;
	return count > 1 || memmem(text->data, text->length, selector,
	    sizeof(selector) - 1) != NULL;
}

int
source_kubernetes_add(struct source_set *set, const struct source_text *text)
{
	struct reading r = {
		.k = &set->k,
		.scan = json_scan_over(text->data, text->length),
	};

	r.error = add_source(&set->k, text);
	set->k.keeps_pods |= may_select(text);
	while (r.error == 0 && r.scan.expected == NULL) {
		(void)json_scan_peek(&r.scan);
		if (r.scan.at == r.scan.end)
			break;
		read_document(&r);
	}
	/* The text as a whole may be of no use. */
	if (r.error == -EINVAL)
		return 0;		/* diag has it */
	if (r.error != 0)
		return r.error;
	if (r.scan.expected != NULL)
		report_scan(&r);
	else if (!r.seen_any)
		diag_add(r.k->diag, DIAG_ERROR, r.k->text->path, 0, "holds no"
		    " Kubernetes objects: expected what \"kubectl get ... -o"
		    " json\" writes");
	return 0;
}

int
source_kubernetes_end(struct source_set *set, bool make_names)
{
	struct kubernetes *k = &set->k;
	int error = 0;

	if (make_names && k->source_count > 0) {
		kubernetes_select(k, 0);
		error = kubernetes_add_names(k);
		if (error == 0)
			error = istio_add_names(k);
	}
	objects_free(&k->objects);
	json_tree_free(&k->tree);
	free(k->sources);
	free(set);
	return error;
}

int
source_kubernetes_read(const struct source_text *text, struct builder *b,
    struct diag *diag)
{
	struct source_set *set = source_kubernetes_begin(b, diag);
	size_t errors = diag->errors;
	int error;

	if (set == NULL)
		return -ENOMEM;
	error = source_kubernetes_add(set, text);
	if (error == 0)
		return source_kubernetes_end(set, diag->errors == errors);
	(void)source_kubernetes_end(set, false);
	return error;
}
