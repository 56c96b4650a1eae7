/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/kube_mirror.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/feed/text.h"
#include "resolver/text/printable.h"

#define ALL(name)	{ .key = (name) }
#define END		{ .key = NULL }

static const struct kube_field named[] = {
	ALL("name"), ALL("namespace"), END
};
static const struct kube_field labelled[] = {
	ALL("name"), ALL("namespace"), ALL("labels"), END
};
static const struct kube_field ports[] = {
	ALL("name"), ALL("port"), ALL("protocol"), END
};
static const struct kube_field conditions[] = {
	ALL("type"), ALL("status"), END
};
static const struct kube_field labels_only[] = { ALL("labels"), END };

static const struct kube_field namespace[] = {
	{ "metadata", named }, END
};

static const struct kube_field service_spec[] = {
	ALL("type"), ALL("clusterIP"), ALL("clusterIPs"), ALL("ipFamilies"),
	ALL("externalName"), ALL("publishNotReadyAddresses"),
	{ "ports", ports }, END
};
static const struct kube_field service[] = {
	{ "metadata", named }, { "spec", service_spec }, END
};

static const struct kube_field slice_labels[] = {
	ALL("kubernetes.io/service-name"),
	ALL("multicluster.kubernetes.io/service-name"),
	ALL("multicluster.kubernetes.io/source-cluster"), END
};
static const struct kube_field slice_metadata[] = {
	ALL("name"), ALL("namespace"), { "labels", slice_labels }, END
};
static const struct kube_field slice_conditions[] = { ALL("ready"), END };
static const struct kube_field slice_target[] = {
	ALL("kind"), ALL("name"), END
};
static const struct kube_field slice_endpoints[] = {
	ALL("addresses"), ALL("hostname"), { "conditions", slice_conditions },
	{ "targetRef", slice_target }, END
};
static const struct kube_field slice[] = {
	{ "metadata", slice_metadata }, ALL("addressType"),
	{ "endpoints", slice_endpoints }, { "ports", ports }, END
};

static const struct kube_field pod_metadata[] = {
	ALL("name"), ALL("namespace"), ALL("labels"), ALL("deletionTimestamp"),
	END
};
static const struct kube_field pod_ips[] = { ALL("ip"), END };
static const struct kube_field pod_status[] = {
	ALL("phase"), ALL("podIP"), { "podIPs", pod_ips },
	{ "conditions", conditions }, END
};
static const struct kube_field pod[] = {
	{ "metadata", pod_metadata }, { "status", pod_status }, END
};

static const struct kube_field entry_labels[] = {
	ALL("networking.istio.io/enable-autoallocate-ip"), END
};
static const struct kube_field entry_metadata[] = {
	ALL("name"), ALL("namespace"), ALL("creationTimestamp"),
	{ "labels", entry_labels }, END
};
static const struct kube_field workload[] = {
	ALL("address"), ALL("network"), ALL("labels"), END
};
static const struct kube_field entry_spec[] = {
	ALL("hosts"), ALL("addresses"), ALL("resolution"), ALL("exportTo"),
	{ "endpoints", workload }, { "workloadSelector", labels_only }, END
};
static const struct kube_field entry_address[] = {
	ALL("value"), ALL("host"), END
};
static const struct kube_field entry_status[] = {
	{ "addresses", entry_address }, END
};
static const struct kube_field service_entry[] = {
	{ "metadata", entry_metadata }, { "spec", entry_spec },
	{ "status", entry_status }, END
};

static const struct kube_field workload_status[] = {
	{ "conditions", conditions }, END
};
static const struct kube_field workload_entry[] = {
	{ "metadata", labelled }, { "spec", workload },
	{ "status", workload_status }, END
};

const struct kube_kind kube_kinds[] = {
	{ .kind = "Namespace", .version = "v1", .path = "/api/v1",
	  .plural = "namespaces", .fields = namespace },
	{ .kind = "Service", .version = "v1", .path = "/api/v1",
	  .plural = "services", .fields = service, .in_namespace = true,
	  .needed = true },
	{ .kind = "EndpointSlice", .version = "discovery.k8s.io/v1",
	  .path = "/apis/discovery.k8s.io/v1", .plural = "endpointslices",
	  .fields = slice, .in_namespace = true, .needed = true },
	{ .kind = "ServiceEntry", .version = "networking.istio.io/v1",
	  .path = "/apis/networking.istio.io/v1", .plural = "serviceentries",
	  .fields = service_entry, .in_namespace = true },
	{ .kind = "WorkloadEntry", .version = "networking.istio.io/v1",
	  .path = "/apis/networking.istio.io/v1", .plural = "workloadentries",
	  .fields = workload_entry, .in_namespace = true },
	{ .kind = "Pod", .version = "v1", .path = "/api/v1",
	  .plural = "pods", .fields = pod, .in_namespace = true, .pods = true,
	  .selector = "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed" },
};

const size_t kube_kind_count = sizeof(kube_kinds) / sizeof(kube_kinds[0]);

void
kube_offer_change(struct kube_offer *offer, monotime_t now)
{
	if (!monotime_is_set(offer->first))
		offer->first = now;
	offer->last = now;
}

monotime_t
kube_offer_deadline(const struct kube_offer *offer)
{
	monotime_t quiet = monotime_add_ms(offer->last, KUBE_OFFER_QUIET_MS);
	monotime_t most = monotime_add_ms(offer->first, KUBE_OFFER_MOST_MS);
	monotime_t due = monotime_is_past(quiet, most) ? most : quiet;

	if (!monotime_is_set(offer->first))
		return MONOTIME_NEVER;
	return monotime_is_past(offer->again, due) ? offer->again : due;
}

bool
kube_offer_is_due(const struct kube_offer *offer, monotime_t now)
{
	return monotime_is_set(offer->first) &&
	    monotime_is_past(now, kube_offer_deadline(offer));
}

void
kube_offer_verdict(struct kube_offer *offer, monotime_t now, uint64_t random,
    enum feed_verdict verdict)
{
	if (verdict == FEED_FAILED) {
		offer->again = monotime_add_ms(now,
		    backoff_next_ms(&offer->backoff, random));
		return;
	}
	backoff_reset(&offer->backoff);
	offer->first = offer->last = offer->again = MONOTIME_NEVER;
}

#define REFUSAL_MAX	((size_t)16 << 10)	/* the rest of it is not read */

static bool
has_cause(const json_t *details, const char *wanted)
{
	const json_t *list = json_object_get(details, "causes"), *cause;
	size_t i;

	json_array_foreach(list, i, cause) {
		const char *reason = json_string_value(
		    json_object_get(cause, "reason"));

		if (reason != NULL && strcmp(reason, wanted) == 0)
			return true;
	}
	return false;
}

/* Any octets: what is no Status is shown as the message. */
static void
read_status(struct kube_status *status, struct json_tree *tree,
    const struct json_range *text)
{
	const json_t *root, *details;
	const char *why, *reason, *message;
	unsigned int line;
	long long number;
	int error;

	*status = (struct kube_status){ .code = 0 };
	root = json_tree_take(tree, text, &error, &why, &line);
	details = json_object_get(root, "details");
	message = json_string_value(json_object_get(root, "message"));
	reason = json_string_value(json_object_get(root, "reason"));
	if (json_tree_integer(json_object_get(root, "code"), 100, 599,
	    &number))
		status->code = (unsigned int)number;
	if (json_tree_integer(json_object_get(details, "retryAfterSeconds"),
	    1, 86400, &number))
		status->retry_after = (unsigned int)number;
	status->expired = reason != NULL && (strcmp(reason, "Expired") == 0 ||
	    strcmp(reason, "Gone") == 0);
	/* Before Kubernetes 1.18.6 the message alone says it. */
	status->too_large = has_cause(details, "ResourceVersionTooLarge") ||
	    (message != NULL &&
	    strstr(message, "Too large resource version") != NULL);
	if (message != NULL)
		(void)printable_text(status->message, sizeof(status->message),
		    message, strlen(message));
	else
		(void)printable_text(status->message, sizeof(status->message),
		    text->text, text->length);
}

void
kube_mirror_init(struct kube_mirror *mirror, const struct kube_kind *kind,
    struct kube_room *room, uint64_t random)
{
	*mirror = (struct kube_mirror){
		.kind = kind,
		.store = KUBE_STORE_INIT(random, room),
		.staged = KUBE_STORE_INIT(random, room),
		.split = JSON_SPLIT_INIT,
		.slim = KUBE_SLIM_INIT,
		.tree = JSON_TREE_INIT,
	};
}

void
kube_mirror_begin(struct kube_mirror *m, enum kube_body body)
{
	m->body = body;
	m->events = 0;
	m->refusal.used = 0;
	json_split_begin(&m->split, body == KUBE_BODY_LIST);
	if (body == KUBE_BODY_LIST && m->page[0] == '\0') {
		kube_store_clear(&m->staged);
		m->pages = 0;
	}
}

static enum kube_result
broken(struct kube_mirror *m, const char *why)
{
	m->why = why;
	return KUBE_BROKEN;
}

/* The reader of tables would refuse the whole table because of it. */
static void
complain(struct kube_mirror *m, const char *key, const char *why)
{
	if (m->complaint[0] == '\0')
		(void)snprintf(m->complaint, sizeof(m->complaint),
		    "%s %.150s is left out: %s", m->kind->kind, key, why);
}

/* Whether that is the store that tables are made of. */
static void
note_change(struct kube_mirror *m, const struct kube_store *store)
{
	if (store == &m->store)
		m->changed = true;
}

/*
 * Where there is no room for a list beside what the one before it has left, that
 * goes: no table is made until the list has ended, and the kept one stays in use.
 */
static bool
has_room(struct kube_mirror *m, const struct kube_store *store)
{
	const struct kube_room *room = store->room;

	if (room->used > room->limit && store == &m->staged) {
		kube_store_clear(&m->store);
		m->dropped = true;
		m->synced = false;
	}
	return room->used <= room->limit;
}

/* Keeps an object. */
static enum kube_result
put(struct kube_mirror *m, struct kube_store *store,
    const struct kube_meta *meta, const struct json_range *object)
{
	const char *why;
	int error = kube_slim_make(&m->slim, m->kind, object, &why);

	if (error == -EINVAL) {
		complain(m, meta->key, why);
		if (kube_store_remove(store, meta->key))
			note_change(m, store);
		return KUBE_GOES_ON;
	}
	if (error == 0)
		error = kube_store_put(store, meta->key, m->slim.text,
		    strlen(m->slim.text));
	if (error < 0)
		return broken(m, "no memory for the objects");
	if (error > 0)
		note_change(m, store);
	if (!has_room(m, store))
		return broken(m, "the objects are larger than the feed's"
		    " limit; raise it in feed.conf");
	return KUBE_GOES_ON;
}

static enum kube_result
read_item(struct kube_mirror *m, const struct json_range *object)
{
	struct kube_meta meta;

	if (kube_meta_read(&meta, object) != 0)
		return broken(m, "an object is not valid JSON");
	if (meta.key[0] == '\0')
		return KUBE_GOES_ON;
	return put(m, &m->staged, &meta, object);
}

/* What was staged is the truth now. */
static void
commit(struct kube_mirror *m)
{
	kube_store_replace(&m->store, &m->staged);
	m->synced = true;
	m->dropped = false;
	m->changed = true;
}

struct event {
	struct json_range type;
	struct json_range object;
};

static bool
read_event(struct event *event, const struct json_range *range)
{
	struct json_scan scan = json_scan_over(range->text, range->length);
	struct json_range key, value;
	bool type = false, object = false;

	if (!json_scan_enter_object(&scan))
		return false;
	while (json_scan_member(&scan, &key) &&
	    json_scan_value(&scan, &value)) {
		if (json_range_is(&key, "type") && value.text[0] == '"') {
			event->type = value;
			type = true;
		} else if (json_range_is(&key, "object") &&
		    value.text[0] == '{') {
			event->object = value;
			object = true;
		}
	}
	return scan.expected == NULL && type && object;
}

/* An object came, changed, or went. */
static enum kube_result
apply(struct kube_mirror *m, const struct event *event,
    const struct kube_meta *meta)
{
	/* Only its version counts. */
	if (json_range_is(&event->type, "BOOKMARK"))
		return KUBE_GOES_ON;
	if (json_range_is(&event->type, "DELETED")) {
		m->changed |= kube_store_remove(&m->store, meta->key);
		return KUBE_GOES_ON;
	}
	if (!json_range_is(&event->type, "ADDED") &&
	    !json_range_is(&event->type, "MODIFIED"))
		return broken(m, "an event of a type that is not known");
	if (meta->key[0] == '\0')
		return KUBE_GOES_ON;
	return put(m, &m->store, meta, &event->object);
}

static enum kube_result
read_watch(struct kube_mirror *m, const struct json_range *range)
{
	struct event event;
	struct kube_meta meta;
	enum kube_result result;

	if (!read_event(&event, range) ||
	    kube_meta_read(&meta, &event.object) != 0)
		return broken(m, "an event is not valid JSON with a type and"
		    " an object");
	if (json_range_is(&event.type, "ERROR")) {
		read_status(&m->status, &m->tree, &event.object);
		return KUBE_REFUSED;
	}
	result = apply(m, &event, &meta);
	if (result != KUBE_GOES_ON)
		return result;
	m->events++;
	if (meta.version[0] != '\0')
		memcpy(m->version, meta.version, sizeof(m->version));
	return KUBE_GOES_ON;
}

enum kube_result
kube_mirror_body(struct kube_mirror *m, const void *octets, size_t length)
{
	enum kube_result result = KUBE_GOES_ON;
	struct json_range object;
	int n = 0;

	if (length == 0)
		return KUBE_GOES_ON;
	if (m->body == KUBE_BODY_REFUSAL) {
		struct json_split_text *t = &m->refusal;

		/* Keeps the beginning of a refusal. */
		if (t->text == NULL) {
			t->text = malloc(REFUSAL_MAX);
			if (t->text == NULL)
				return broken(m, "no memory");
			t->size = REFUSAL_MAX;
		}
		if (length > t->size - t->used)
			length = t->size - t->used;
		memcpy(t->text + t->used, octets, length);
		t->used += length;
		return KUBE_GOES_ON;
	}
	if (json_split_add(&m->split, octets, length) != 0)
		return broken(m, "no memory for the objects");
	while (result == KUBE_GOES_ON &&
	    (n = json_split_next(&m->split, &object)) == 1)
		result = m->body == KUBE_BODY_LIST ? read_item(m, &object) :
		    read_watch(m, &object);
	if (result != KUBE_GOES_ON)
		return result;
	if (n == -EMSGSIZE)
		return broken(m, "an object of more than 16 MiB");
	if (n == -ENOMEM)
		return broken(m, "no memory for the objects");
	return n == 0 ? KUBE_GOES_ON : broken(m, "no JSON objects, which is"
	    " what an API server sends");
}

/* The list's own metadata: its version, and whether there are more pages. */
static enum kube_result
end_list(struct kube_mirror *m)
{
	const struct json_range head = json_split_head(&m->split);
	const json_t *root, *metadata;
	const char *why, *version, *page;
	unsigned int line;
	int error;

	if (!json_split_is_whole(&m->split))
		return broken(m, "a list that is cut off");
	root = json_tree_take(&m->tree, &head, &error, &why, &line);
	metadata = json_object_get(root, "metadata");
	version = json_string_value(json_object_get(metadata,
	    "resourceVersion"));
	page = json_string_value(json_object_get(metadata, "continue"));
	if (json_object_get(root, "items") == NULL || version == NULL ||
	    version[0] == '\0' || strlen(version) >= sizeof(m->version) ||
	    (page != NULL && strlen(page) >= sizeof(m->page)))
		return broken(m, "no list, which has items and a"
		    " resourceVersion");
	if (page != NULL && page[0] != '\0') {
		if (++m->pages > KUBE_MAX_PAGES)
			return broken(m, "a list whose pages do not end");
		memcpy(m->page, page, strlen(page) + 1);
		return KUBE_GOES_ON;
	}
	m->page[0] = '\0';
	memcpy(m->version, version, strlen(version) + 1);
	commit(m);
	return KUBE_GOES_ON;
}

enum kube_result
kube_mirror_end(struct kube_mirror *m)
{
	const struct json_range text = { .text = m->refusal.text != NULL ?
	    m->refusal.text : "", .length = m->refusal.used, .line = 1 };

	switch (m->body) {
	case KUBE_BODY_LIST:
		return end_list(m);
	case KUBE_BODY_REFUSAL:
		read_status(&m->status, &m->tree, &text);
		return KUBE_REFUSED;
	default:
		return json_split_is_whole(&m->split) ? KUBE_GOES_ON :
		    broken(m, "a watch that ends in the middle of an event");
	}
}

void
kube_mirror_clear(struct kube_mirror *m)
{
	kube_store_clear(&m->staged);
	if (m->store.count > 0)
		m->changed = true;
	kube_store_clear(&m->store);
	m->dropped = false;
	m->version[0] = m->page[0] = '\0';
}

void
kube_mirror_free(struct kube_mirror *m)
{
	kube_store_clear(&m->store);
	kube_store_clear(&m->staged);
	json_split_free(&m->split);
	kube_slim_free(&m->slim);
	json_tree_free(&m->tree);
	free(m->refusal.text);
	m->refusal.text = NULL;
}
