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
 * A single entry that cannot be used is left out with a warning, and its name
 * passes; a text that is not JSON as a whole is an error, because a truncated
 * export must not replace a good table.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "resolver/json_scan.h"
#include "resolver/rr.h"
#include "resolver/short_names.h"
#include "resolver/source.h"

/* How deep inside an element of "configs" the table may sit. */
#define CONFIG_LEVELS 3
/* How much of a hostile name a message shows. */
#define SHOWN 100

struct nds {
	const struct source_text *text;
	struct builder *builder;
	struct diag *diag;
	struct json_scan scan;
	struct short_names short_names;
	bool seen_table;
	int error;			/* of the builder, sticky */
};

/* One entry of the table. */
struct nds_entry {
	struct dns_name host;
	const char *shown;		/* the host, for messages */
	unsigned int line;
	uint8_t flags;
	bool shadowed;			/* an earlier source has the host itself */
	const json_t *value;
};

#define WARN(nds, entry, ...) diag_add((nds)->diag, DIAG_WARNING, \
	(nds)->text->path, (entry)->line, __VA_ARGS__)

static const char *
name_fault(int error)
{
	return error == -ENAMETOOLONG ?
	    "has a label over 63 or is over 255 octets long" :
	    "is no domain name";
}

/* Remembers an error of the builder; what it says about records is fine. */
static int
note(struct nds *nds, int outcome)
{
	if (outcome < 0 && nds->error == 0)
		nds->error = outcome;
	return outcome;
}

/* "" unless there is such a member and it is a string. */
static const char *
string_member(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

/* Adds one address to name.  False if text is none. */
static bool
add_address(struct nds *nds, struct nds_entry *entry,
    const struct dns_name *name, const char *text, int *outcome)
{
	uint8_t octets[16];
	uint16_t type = TYPE_A, length = 4;

	if (inet_pton(AF_INET, text, octets) != 1) {
		if (inet_pton(AF_INET6, text, octets) != 1)
			return false;
		type = TYPE_AAAA;
		length = 16;
	}
	*outcome = note(nds, builder_add(nds->builder, name, entry->flags,
	    type, source_ttl(nds->text), octets, length, entry->line));
	return true;
}

/* Gives name the entry's addresses.  Returns how many were valid. */
static size_t
add_addresses(struct nds *nds, struct nds_entry *entry,
    const struct dns_name *name, bool warn)
{
	const json_t *ips = json_object_get(entry->value, "ips");
	size_t valid = 0;

	if (warn && ips != NULL && !json_is_array(ips))
		WARN(nds, entry, "\"ips\" of %s is no array", entry->shown);
	for (size_t i = 0; i < json_array_size(ips) && nds->error == 0; i++) {
		const char *text = json_string_value(json_array_get(ips, i));
		int outcome = 0;

		if (text != NULL &&
		    add_address(nds, entry, name, text, &outcome)) {
			entry->shadowed |= outcome == BUILDER_SHADOWED;
			valid++;
		} else if (warn) {
			WARN(nds, entry, "%s: \"%.*s\" is neither an IPv4 nor"
			    " an IPv6 address: left out", entry->shown, SHOWN,
			    text != NULL ? text : "(not a string)");
		}
	}
	return valid;
}

static void
add_alias(struct nds *nds, struct nds_entry *entry,
    const struct dns_name *alias)
{
	if (alias->labels == 0 || name_equal(alias, &entry->host))
		return;
	/* Records of the host would be the earlier source's. */
	if (entry->shadowed)
		(void)add_addresses(nds, entry, alias, false);
	else
		(void)note(nds, builder_alias(nds->builder, &entry->host,
		    alias, entry->flags, entry->line));
}

/* A name given as text; false, with a warning, if it is none. */
static bool
read_name(struct nds *nds, const struct nds_entry *entry, const char *what,
    const char *text, struct dns_name *name)
{
	int error = name_from_text(name, text, strlen(text));

	if (error != 0) {
		WARN(nds, entry, "%s: %s \"%.*s\" %s: left out", entry->shown,
		    what, SHOWN, text, name_fault(error));
		return false;
	}
	name_lower(name);
	return true;
}

static void
add_short_names(struct nds *nds, struct nds_entry *entry)
{
	struct dns_name name, space, found[SHORT_NAMES_MAX];
	bool too_long;
	size_t count;

	if (!read_name(nds, entry, "shortname",
	    string_member(entry->value, "shortname"), &name) ||
	    !read_name(nds, entry, "namespace",
	    string_member(entry->value, "namespace"), &space))
		return;
	count = short_names_of(&nds->short_names, &name, &space, found,
	    &too_long);
	for (size_t i = 0; i < count; i++)
		add_alias(nds, entry, &found[i]);
	if (too_long)
		WARN(nds, entry, "%s: shortname and namespace make a name over"
		    " 255 octets: left out", entry->shown);
}

static void
add_alternate_hosts(struct nds *nds, struct nds_entry *entry)
{
	const json_t *hosts = json_object_get(entry->value, "altHosts");
	struct dns_name name;

	if (hosts == NULL)
		hosts = json_object_get(entry->value, "alt_hosts");
	if (hosts != NULL && !json_is_array(hosts))
		WARN(nds, entry, "\"altHosts\" of %s is no array",
		    entry->shown);
	for (size_t i = 0; i < json_array_size(hosts) && nds->error == 0; i++) {
		const char *text = json_string_value(json_array_get(hosts, i));

		if (text == NULL)
			WARN(nds, entry, "%s: alternate host is no string:"
			    " left out", entry->shown);
		else if (read_name(nds, entry, "alternate host", text, &name))
			add_alias(nds, entry, &name);
	}
}

static void
add_entry(struct nds *nds, struct nds_entry *entry)
{
	bool kubernetes = strcmp(string_member(entry->value, "registry"),
	    "Kubernetes") == 0;

	entry->flags = kubernetes ? NAME_OWNED : 0;
	if (add_addresses(nds, entry, &entry->host, true) == 0) {
		if (nds->error == 0)
			WARN(nds, entry, "%s has no valid address: left out,"
			    " questions for it pass", entry->shown);
		return;
	}
	if (!kubernetes ||
	    !short_names_apply(&nds->short_names, &entry->host))
		return;
	add_short_names(nds, entry);
	add_alternate_hosts(nds, entry);
}

/* Parses a range of the text; on failure the whole text has failed. */
static json_t *
parse(struct nds *nds, const struct json_range *range)
{
	json_error_t error;
	json_t *value = json_loadb(range->text, range->length,
	    JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);

	if (value == NULL) {
		diag_add(nds->diag, DIAG_ERROR, nds->text->path,
		    range->line + (unsigned int)error.line - 1,
		    "not valid JSON: %s", error.text);
		nds->error = -EINVAL;
	}
	return value;
}

static void
read_entry(struct nds *nds, const struct json_range *key,
    const struct json_range *range)
{
	json_t *host = key->plain ?
	    json_stringn_nocheck(key->text + 1, key->length - 2) :
	    parse(nds, key);
	json_t *value = host != NULL ? parse(nds, range) : NULL;
	struct nds_entry entry = { .line = key->line, .value = value };
	char shown[SHOWN + 1];

	if (host == NULL && nds->error == 0)
		nds->error = -ENOMEM;
	if (host == NULL || value == NULL)
		goto out;
	(void)snprintf(shown, sizeof(shown), "%s", json_string_value(host));
	entry.shown = shown;
	if (!json_is_object(value))
		WARN(nds, &entry, "entry of %s is no object: left out", shown);
	else if (read_name(nds, &entry, "host", json_string_value(host),
	    &entry.host)) {
		if (entry.host.labels == 0)
			WARN(nds, &entry, "an entry has an empty host: left"
			    " out");
		else
			add_entry(nds, &entry);
	}
out:
	json_decref(host);
	json_decref(value);
}

/* The value of a member "table": the hosts. */
static void
read_table(struct nds *nds)
{
	struct json_scan *scan = &nds->scan;
	struct json_range key, value;

	nds->seen_table = true;
	/* A null in JSON of protocol buffers is an absent field. */
	if (json_scan_peek(scan) == 'n') {
		(void)json_scan_value(scan, &value);
		return;
	}
	if (!json_scan_enter_object(scan))
		return;
	while (nds->error == 0 && json_scan_member(scan, &key)) {
		if (json_scan_value(scan, &value))
			read_entry(nds, &key, &value);
	}
}

/* Looks for tables in an object and those inside it. */
static void
read_config(struct nds *nds, unsigned int levels)
{
	struct json_scan *scan = &nds->scan;
	struct json_range key, value;

	if (levels == 0 || json_scan_peek(scan) != '{') {
		(void)json_scan_value(scan, &value);
		return;
	}
	if (!json_scan_enter_object(scan))
		return;
	while (nds->error == 0 && json_scan_member(scan, &key)) {
		if (json_range_is(&key, "table"))
			read_table(nds);
		else
			read_config(nds, levels - 1);
	}
}

static void
read_configs(struct nds *nds)
{
	if (!json_scan_enter_array(&nds->scan))
		return;
	while (nds->error == 0 && json_scan_element(&nds->scan))
		read_config(nds, CONFIG_LEVELS);
}

static void
read_top(struct nds *nds)
{
	struct json_scan *scan = &nds->scan;
	struct json_range key, value;
	bool empty = true;

	if (!json_scan_enter_object(scan))
		return;
	while (nds->error == 0 && json_scan_member(scan, &key)) {
		empty = false;
		if (json_range_is(&key, "table"))
			read_table(nds);
		else if (json_range_is(&key, "configs"))
			read_configs(nds);
		else
			(void)json_scan_value(scan, &value);
	}
	/* "{}" is how protocol buffers write a table without names. */
	nds->seen_table |= empty;
	if (nds->error == 0)
		(void)json_scan_end(scan);
}

/* Says what stopped the scan. */
static void
report_scan(struct nds *nds)
{
	const struct json_scan *scan = &nds->scan;
	char found[] = "\"?\"";

	if (scan->at >= scan->end) {
		diag_add(nds->diag, DIAG_ERROR, nds->text->path, scan->line,
		    "expected %s, found the end of the file: it is cut off or"
		    " not the JSON form of a name table", scan->expected);
		return;
	}
	found[1] = *scan->at;
	if (*scan->at == '\0')
		memcpy(found, "NUL", 4);
	diag_add(nds->diag, DIAG_ERROR, nds->text->path, scan->line,
	    "expected %s, found %s: not valid JSON", scan->expected, found);
}

int
source_nds_read(const struct source_text *text, struct builder *b,
    struct diag *diag)
{
	struct nds nds = {
		.text = text,
		.builder = b,
		.diag = diag,
		.scan = json_scan_over(text->data, text->length),
	};

	if (short_names_init(&nds.short_names, text->mesh) != 0) {
		diag_add(diag, DIAG_ERROR, text->path, 0, "mesh.domain is too"
		    " long for services below it");
		return 0;
	}
	read_top(&nds);
	if (nds.error == -EINVAL)
		return 0;		/* diag has it */
	if (nds.error != 0)
		return nds.error;
	if (nds.scan.expected != NULL)
		report_scan(&nds);
	else if (!nds.seen_table)
		diag_add(diag, DIAG_ERROR, text->path, 0, "holds no name table:"
		    " expected {\"table\": {...}} or {\"configs\": [...]} with"
		    " a \"table\" inside");
	return 0;
}
