/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Response policy zones as rules: draft-vixie-dnsop-dns-rpz, triggers by the
 * name of the question.  A zone has one rule for each action; the records that a
 * name answers stand beside the name.  Within a zone the record decides that DNS
 * would find for the name (RFC 4592): the name itself, else the wildcard right
 * below the closest name that the zone has.
 *
 * Records that contradict others, or mean nothing here, are left out with a
 * warning, so that one of them does not cost the whole feed.  A name is never let
 * through for that: if nothing else stands at it, it is NODATA.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/match/build_state.h"
#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"
#include "resolver/sources/zone_words.h"

#define TYPE_DNSKEY	48
#define TYPE_NSEC3	50
#define TYPE_NSEC3PARAM	51
#define RECORDS_MAX	((size_t)4 * RULE_NAMES_MAX)	/* of one zone */
#define SET_MAX		1024		/* records of one name and type */
#define TOLD_MAX	10		/* records that warnings name, of a zone */

/* Triggers that are no rule here, each kind told once. */
enum left_out { OUT_IP, OUT_CLIENT_IP, OUT_NSIP, OUT_NSDNAME, OUT_KINDS };

/* What a record says of its name; the least at a name decides. */
enum rank {
	RANK_ACTION,			/* a CNAME: an action, or a target */
	RANK_DATA,			/* a record that is answered */
	RANK_UNKNOWN			/* what cannot be understood */
};

/* A record that is a trigger's, or one of several. */
struct trigger {
	uint32_t name;			/* from 1: build_name */
	uint8_t kind;			/* POLICY_EXACT, POLICY_BELOW */
	uint8_t rank;
	uint8_t action;
	uint16_t type;
	uint32_t data;			/* offset; u16 length, rdata */
	uint32_t ttl;
	uint32_t number;		/* in the order of the file */
	uint32_t line;
	uint32_t path;			/* which of the zone's files */
};

struct zone {
	struct builder *b;
	uint32_t from;			/* which of policy->rules */
	const struct policy_rule *entry;
	struct area paths;		/* char *: the zone's, then included files */
	struct area triggers, data;
	uint32_t rules[RULE_ACTIONS];	/* their numbers; 0: not made yet */
	bool any;			/* record in its file: its SOA at least */
	size_t records, names;
	size_t told;			/* records left out, each with a reason */
	size_t outside;			/* of these, the zone's name is another */
	size_t left_out[OUT_KINDS];
	unsigned int left_out_line[OUT_KINDS];
};

static const struct {
	const char *label;
	enum left_out kind;
} other_triggers[] = {
	{ "\006rpz-ip", OUT_IP }, { "\015rpz-client-ip", OUT_CLIENT_IP },
	{ "\010rpz-nsip", OUT_NSIP }, { "\013rpz-nsdname", OUT_NSDNAME },
};

static const struct {
	const char *name;		/* one label */
	enum rule_action action;
} named_actions[] = {
	{ "\014rpz-passthru", RULE_ANSWER }, { "\010rpz-drop", RULE_DROP },
	{ "\014rpz-tcp-only", RULE_TCP_ONLY }, { "\001*", RULE_NODATA },
};

/* Whether the last label of a name is this one. */
static bool
ends_with(const struct dns_name *name, const char *label)
{
	const size_t length = strlen(label);

	return name->labels > 0 && memcmp(name->octets +
	    name_suffix_offset(name, 1), label, length + 1) == 0;
}

static bool
is_signature(uint16_t type)
{
	return type == TYPE_RRSIG || type == TYPE_NSEC || type == TYPE_DNSKEY ||
	    type == TYPE_NSEC3 || type == TYPE_NSEC3PARAM;
}

/* Takes the zone's name off.  False: the name does not end with it. */
static bool
cut_origin(const struct zone *z, struct dns_name *name)
{
	const struct dns_name *origin = &z->entry->origin;

	if (!name_is_within(name, origin))
		return false;
	name->length = (uint8_t)(name->length - origin->length + 1);
	name->labels = (uint8_t)(name->labels - origin->labels);
	name->octets[name->length - 1] = 0;
	return true;
}

/* Whether the last label is one that the draft keeps for triggers. */
static bool
ends_reserved(const struct dns_name *name)
{
	const uint8_t *label;

	if (name->labels == 0)
		return false;
	label = name->octets + name_suffix_offset(name, 1);
	return label[0] > 4 && memcmp(label + 1, "rpz-", 4) == 0;
}

/*
 * What a CNAME to that target says.  One to the trigger itself is the old way to
 * write rpz-passthru.  RULE_ACTIONS: nothing that is known.
 */
static enum rule_action
action_of(const struct dns_name *target, const struct dns_name *trigger)
{
	if (target->labels == 0)
		return RULE_NXDOMAIN;
	if (name_equal(target, trigger))
		return RULE_ANSWER;
	for (size_t i = 0; target->labels == 1 && i < sizeof(named_actions) /
	    sizeof(named_actions[0]); i++)
		if (ends_with(target, named_actions[i].name))
			return named_actions[i].action;
	if (target->labels == 1 && ends_reserved(target))
		return RULE_ACTIONS;
	return memcmp(target->octets, "\001*", 2) == 0 ? RULE_CNAME_BELOW :
	    RULE_CNAME;
}

/* The number of the record's file. */
static uint32_t
path_of(struct zone *z, const char *path)
{
	const size_t count = AREA_ITEMS(&z->paths, char *);
	char **fresh;

	for (size_t i = 0; i < count; i++)
		if (strcmp(*AREA_AT(&z->paths, char *, i), path) == 0)
			return (uint32_t)i;
	fresh = build_grow(z->b, &z->paths, sizeof(*fresh));
	if (fresh != NULL && (*fresh = strdup(path)) == NULL) {
		z->paths.size -= sizeof(*fresh);
		z->b->error = -ENOMEM;
	}
	return (uint32_t)count;
}

static uint32_t
add_data(struct zone *z, const uint8_t *octets, uint16_t length)
{
	const uint32_t at = (uint32_t)z->data.size;
	uint8_t *to = build_grow(z->b, &z->data, length + 2u);

	if (to == NULL)
		return 0;
	wire_store_u16(to, length);
	memcpy(to + 2, octets, length);
	return at;
}

/* Counts a record that is left out, and names it if there are few. */
static void __attribute__((format(printf, 4, 5)))
leave_out_record(struct zone *z, const char *path, unsigned int line,
    const char *format, ...)
{
	char text[NAME_TEXT_SIZE + 200];
	va_list ap;

	if (z->told++ >= TOLD_MAX)
		return;
	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	diag_add(z->b->diag, DIAG_WARNING, path, line, "left out: %s", text);
}

/* What a CNAME of a trigger says, and its target. */
static void
read_cname(struct zone *z, const struct dns_name *trigger,
    const struct zone_record *record, struct trigger *t)
{
	struct dns_name target;
	enum rule_action action = RULE_ACTIONS;
	size_t skip = 0;

	if (name_read_lower(&target, record->rdata, record->length) == 0)
		action = action_of(&target, trigger);
	if (action == RULE_ACTIONS) {
		leave_out_record(z, record->path, record->line, "a CNAME to a "
		    "name \"rpz-...\" that means nothing here; if nothing else "
		    "stands at the name, it is answered NODATA");
		t->rank = RANK_UNKNOWN;
		return;
	}
	t->rank = RANK_ACTION;
	t->action = (uint8_t)action;
	if (action == RULE_CNAME_BELOW)
		skip = 2;		/* "*." */
	if (action == RULE_CNAME || action == RULE_CNAME_BELOW)
		t->data = add_data(z, target.octets + skip,
		    (uint16_t)(target.length - skip));
}

/*
 * Notes a record of a trigger, whose name is without the zone's.  One that is
 * left out ends wildcards above all the same.
 */
static void
add_trigger(struct zone *z, const struct dns_name *whole,
    const struct zone_record *record)
{
	struct trigger t = { .line = record->line, .type = record->type,
		.ttl = record->ttl, .path = path_of(z, record->path),
		.number = (uint32_t)z->records }, *to;
	struct dns_name name = *whole;

	t.kind = (uint8_t)build_kind_take(&name);
	if (record->type == TYPE_CNAME)
		read_cname(z, whole, record, &t);
	else {
		t.rank = RANK_DATA;
		t.action = RULE_RECORDS;
		t.data = add_data(z, record->rdata, record->length);
	}
	t.name = build_name_get(z->b, &name);
	to = build_grow(z->b, &z->triggers, sizeof(*to));
	if (to != NULL)
		*to = t;
}

/* Whether the name is a trigger of another kind, which is noted. */
static bool
is_other_trigger(struct zone *z, const struct dns_name *name,
    const struct zone_record *record)
{
	char text[NAME_TEXT_SIZE];

	if (!ends_reserved(name))
		return false;
	for (size_t i = 0; i < sizeof(other_triggers) /
	    sizeof(other_triggers[0]); i++)
		if (ends_with(name, other_triggers[i].label)) {
			const enum left_out kind = other_triggers[i].kind;

			if (z->left_out[kind]++ == 0)
				z->left_out_line[kind] = record->line;
			return true;
		}
	leave_out_record(z, record->path, record->line, "%s is not a trigger that "
	    "is known here, and no name", name_to_text(name->octets, text));
	return true;
}

static int
take_record(void *to, const struct zone_record *record)
{
	struct zone *z = to;
	struct dns_name name = *record->name;
	char text[NAME_TEXT_SIZE];

	z->any = true;
	if (!cut_origin(z, &name)) {
		z->outside++;
		leave_out_record(z, record->path, record->line, "%s does not "
		    "end with the zone's name; look at \"origin\" and at final "
		    "dots", name_to_text(name.octets, text));
		return 0;
	}
	if (name.labels == 0 || is_signature(record->type) ||
	    is_other_trigger(z, &name, record))
		return 0;
	if (++z->records > RECORDS_MAX) {
		diag_add(z->b->diag, DIAG_ERROR, record->path, record->line,
		    "more than %zu records; make two zones of it", RECORDS_MAX);
		return -EFBIG;
	}
	add_trigger(z, &name, record);
	return z->b->error;
}

/* Data behind their lengths: any order will do. */
static int
compare_data(const uint8_t *x, const uint8_t *y)
{
	const uint16_t n = wire_load_u16(x), m = wire_load_u16(y);

	return n != m ? (n < m ? -1 : 1) : memcmp(x + 2, y + 2, n);
}

/* By name; at a name those that decide first, sets of records together. */
static int
compare_triggers(const void *left, const void *right, void *data)
{
	const struct trigger *a = left, *b = right;
	const uint8_t *octets = data;
	int order = 0;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->rank == RANK_DATA && a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->rank == RANK_DATA)
		order = compare_data(octets + a->data, octets + b->data);
	if (order != 0)
		return order;
	return a->number < b->number ? -1 : 1;
}

static const char *
path_at(const struct zone *z, const struct trigger *t)
{
	return *AREA_AT(&z->paths, char *, t->path);
}

static bool
has_equal_data(const struct zone *z, const struct trigger *a,
    const struct trigger *b)
{
	return compare_data(z->data.octets + a->data,
	    z->data.octets + b->data) == 0;
}

/* Whether a CNAME says what the one that decides says. */
static bool
says_the_same(const struct zone *z, const struct trigger *first,
    const struct trigger *t)
{
	return t->rank == RANK_ACTION && t->action == first->action &&
	    ((t->action != RULE_CNAME && t->action != RULE_CNAME_BELOW) ||
	    has_equal_data(z, first, t));
}

/* Those beside a CNAME: RFC 1034 section 3.6.2. */
static void
leave_others_out(struct zone *z, const struct trigger *t, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (t[i].rank != RANK_UNKNOWN && !says_the_same(z, t, &t[i]))
			leave_out_record(z, path_at(z, &t[i]), t[i].line, "a "
			    "name with a CNAME has no other records, and this "
			    "one has the CNAME of line %u", t[0].line);
}

/* The records of one type, which stand together. */
static void
add_set(struct zone *z, const struct trigger *t, size_t count)
{
	const bool fixed = rdata_fixed_length(t->type) != 0;
	struct section_rrset rrset = { .type = t->type, .ttl = t->ttl };
	struct area octets = { .octets = NULL };

	for (size_t i = 0; i < count; i++) {
		const uint8_t *data = z->data.octets + t[i].data;
		const size_t skip = fixed ? 2 : 0;
		const size_t size = wire_load_u16(data) + 2 - skip;
		uint8_t *to;

		/* RFC 2181 section 5.2: they are to be equal. */
		if (t[i].ttl < rrset.ttl)
			rrset.ttl = t[i].ttl;
		if (i > 0 && has_equal_data(z, &t[i - 1], &t[i]))
			continue;
		if (rrset.count == SET_MAX) {
			leave_out_record(z, path_at(z, &t[i]), t[i].line, "more "
			    "than %d records of one name and type", SET_MAX);
			continue;
		}
		to = build_grow(z->b, &octets, size);
		if (to == NULL)
			break;
		memcpy(to, data + skip, size);
		rrset.count++;
	}
	rrset.size = (uint32_t)octets.size;
	if (z->b->error == 0)
		build_rrset_add(z->b, &rrset, octets.octets);
	free(octets.octets);
}

/* The records of a name, of all types. */
static uint32_t
add_sets(struct zone *z, const struct trigger *t, size_t count)
{
	const size_t first = AREA_ITEMS(&z->b->areas[AREA_RRSETS],
	    struct section_rrset);
	size_t types = 0, end;

	while (count > 0 && t[count - 1].rank != RANK_DATA)
		count--;
	for (size_t i = 0; i < count && z->b->error == 0; i = end) {
		for (end = i + 1; end < count && t[end].type == t[i].type;)
			end++;
		if (types++ < SECTION_RRSETS_MAX)
			add_set(z, &t[i], end - i);
		else
			leave_out_record(z, path_at(z, &t[i]), t[i].line, "more "
			    "than %d types of records of one name",
			    SECTION_RRSETS_MAX);
	}
	return build_records_end(z->b, first);
}

/* What the CNAME answers; 0 if it only names an action. */
static uint32_t
add_cname(struct zone *z, const struct trigger *t)
{
	const size_t first = AREA_ITEMS(&z->b->areas[AREA_RRSETS],
	    struct section_rrset);

	if (t->action == RULE_CNAME || t->action == RULE_CNAME_BELOW)
		add_set(z, t, 1);
	return build_records_end(z->b, first);
}

/* The number of the zone's rule with this action; 0 after an error. */
static uint32_t
rule_of(struct zone *z, enum rule_action action)
{
	struct policy_rule rule = *z->entry;

	if (z->rules[action] != 0)
		return z->rules[action];
	if (AREA_ITEMS(&z->b->areas[AREA_RULES], struct section_rule) >=
	    RULE_MAX) {
		diag_add(z->b->diag, DIAG_ERROR, z->entry->file, z->entry->line,
		    "policy: more than %d rules in all", RULE_MAX);
		return 0;
	}
	(void)snprintf(rule.name, sizeof(rule.name), RULE_ZONE_PREFIX "%.*s",
	    (int)(RULE_NAME_MAX - strlen(RULE_ZONE_PREFIX)), z->entry->name);
	rule.action = action;
	rule.addresses = (struct policy_span){ .count = 0 };
	return z->rules[action] = build_rule_add(z->b, &rule, NULL, z->from);
}

/* The records of one trigger.  False: no more rules are possible. */
static bool
add_group(struct zone *z, const struct trigger *t, size_t count)
{
	enum rule_action action = RULE_NODATA;
	uint32_t records = 0, number;

	if (t->rank == RANK_ACTION) {
		leave_others_out(z, t, count);
		action = (enum rule_action)t->action;
		records = add_cname(z, t);
	} else if (t->rank == RANK_DATA) {
		action = RULE_RECORDS;
		records = add_sets(z, t, count);
	}
	number = rule_of(z, action);
	if (number == 0)
		return false;
	build_entry_add(z->b, t->name, t->kind, RULES_CODE(number, 0),
	    records);
	return true;
}

static void
add_groups(struct zone *z, struct trigger *t, size_t count)
{
	size_t end = 0;

	for (size_t i = 0; i < count && z->b->error == 0; i = end) {
		for (end = i + 1; end < count && t[end].name == t[i].name &&
		    t[end].kind == t[i].kind;)
			end++;
		if (z->names++ == RULE_NAMES_MAX) {
			diag_add(z->b->diag, DIAG_ERROR, path_at(z, &t[i]), 0,
			    "more than %d names; make two zones of it",
			    RULE_NAMES_MAX);
			return;
		}
		if (!add_group(z, &t[i], end - i))
			return;
	}
}

static void
add_triggers(struct zone *z)
{
	struct trigger *t = AREA_AT(&z->triggers, struct trigger, 0);
	const size_t count = AREA_ITEMS(&z->triggers, struct trigger);
	struct area *zones = &z->b->zones;
	uint32_t last = 0;
	struct build_zone *zone;

	qsort_r(t, count, sizeof(*t), compare_triggers, z->data.octets);
	zone = build_grow(z->b, zones, sizeof(*zone));
	if (zone == NULL)
		return;
	zone->first = (uint32_t)AREA_ITEMS(&z->b->areas[AREA_RULES],
	    struct section_rule) + 1;
	add_groups(z, t, count);
	zone->last = (uint32_t)AREA_ITEMS(&z->b->areas[AREA_RULES],
	    struct section_rule);
	for (size_t i = 0; i < count && z->b->error == 0; i++) {
		if (t[i].name != last)
			build_resets_add(z->b, t[i].name,
			    (uint32_t)AREA_ITEMS(zones, struct build_zone));
		last = t[i].name;
	}
}

static void
tell_left_out(const struct zone *z, const char *path)
{
	static const char *const texts[OUT_KINDS] = {
		[OUT_IP] = "triggers rpz-ip, by addresses of answers",
		[OUT_CLIENT_IP] = "triggers rpz-client-ip; a rule has \"clients\"",
		[OUT_NSIP] = "triggers rpz-nsip, by addresses of nameservers",
		[OUT_NSDNAME] = "triggers rpz-nsdname, by names of nameservers",
	};

	for (size_t i = 0; i < OUT_KINDS; i++)
		if (z->left_out[i] > 0)
			diag_add(z->b->diag, DIAG_WARNING, path,
			    z->left_out_line[i], "left out: %s (%zu of them, "
			    "this is the first)", texts[i], z->left_out[i]);
	if (z->told > TOLD_MAX)
		diag_add(z->b->diag, DIAG_WARNING, path, 0, "left out: %zu "
		    "records more", z->told - TOLD_MAX);
}

/* A zone without triggers; if all records are another zone's, its origin is wrong. */
static void
tell_empty(const struct zone *z, const char *path)
{
	if (!z->any)
		diag_add(z->b->diag, DIAG_ERROR, path, 0, "is empty: a zone has "
		    "an SOA record at least");
	else if (z->outside > 0)
		diag_add(z->b->diag, DIAG_ERROR, path, 0, "none of its names "
		    "ends with the zone's name: look at \"origin\"");
	else
		diag_add(z->b->diag, DIAG_WARNING, path, 0, "has no names, so "
		    "that its rules match nothing");
}

void
build_zone_add(struct builder *b, uint32_t from)
{
	const struct policy_rule *entry = &b->policy->rules[from];
	const uint32_t set = entry->zone - 1;
	struct zone z = { .b = b, .from = from, .entry = entry };
	const size_t errors = z.b->diag->errors;
	int error = zone_records_read(&b->files[set].text, &z.entry->origin,
	    z.entry->ttl, take_record, &z, z.b->diag);

	b->files[set].names = AREA_ITEMS(&z.triggers, struct trigger);
	if (error < 0 && error != -EFBIG && z.b->error == 0)
		z.b->error = error;
	if (z.triggers.size > 0 && z.b->error == 0)
		add_triggers(&z);
	else if (z.b->diag->errors == errors && z.b->error == 0)
		tell_empty(&z, b->files[set].text.path);
	tell_left_out(&z, b->files[set].text.path);
	for (size_t i = 0; i < AREA_ITEMS(&z.paths, char *); i++)
		free(*AREA_AT(&z.paths, char *, i));
	free(z.paths.octets);
	free(z.triggers.octets);
	free(z.data.octets);
}
