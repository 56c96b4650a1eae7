/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Response policy zones as rules: draft-vixie-dnsop-dns-rpz, triggers by the
 * name of the question.  Names with the same answer are one rule.  Within a
 * zone the record decides that DNS would find for the name (RFC 4592): the name
 * itself, else the wildcard right below the closest name that the zone has.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/match/build_state.h"
#include "resolver/dns/rr.h"
#include "resolver/sources/zone_records.h"

#define TYPE_DNSKEY	48
#define TYPE_NSEC3	50
#define TYPE_NSEC3PARAM	51
#define GROUP_SLOTS	((size_t)4 * RULE_MAX)	/* a power of two */
#define ADDRESSES_MAX	1024			/* of one name */
#define ACTION_NONE	RULE_ACTIONS		/* a trigger that is left out */

/* What is no rule here, each kind told once. */
enum left_out {
	OUT_IP, OUT_CLIENT_IP, OUT_NSIP, OUT_NSDNAME, OUT_TYPE, OUT_WILDCARD,
	OUT_ACTION, OUT_KINDS
};

/* A record that is a trigger's, or one of several. */
struct trigger {
	uint32_t name;			/* from 1: build_name */
	uint32_t kind;			/* POLICY_EXACT, POLICY_BELOW */
	uint32_t action;
	uint32_t data;			/* offset; length, rdata */
	uint32_t ttl;
	uint32_t line;
};

/* An answer that names share: a rule. */
struct group {
	uint32_t number;		/* of the rule; 0: empty slot */
	uint32_t key, size;		/* in the area of keys */
};

struct zone {
	struct builder *b;
	uint32_t from;			/* which of policy->rules */
	const struct policy_rule *entry;
	const char *path;
	struct area triggers, data, keys;
	struct group *groups;
	size_t records;
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

static void
leave_out(struct zone *z, enum left_out kind, unsigned int line)
{
	if (z->left_out[kind]++ == 0)
		z->left_out_line[kind] = line;
}

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

/* Takes "*." off. */
static enum policy_name_kind
take_kind(struct dns_name *name)
{
	if (name->labels == 0 || memcmp(name->octets, "\001*", 2) != 0)
		return POLICY_EXACT;
	name->length = (uint8_t)(name->length - 2);
	name->labels--;
	memmove(name->octets, name->octets + 2, name->length);
	return POLICY_BELOW;
}

/*
 * What a CNAME to that target says.  One to the trigger itself is the old way to
 * write rpz-passthru.
 */
static uint32_t
action_of(struct zone *z, const struct dns_name *target,
    const struct dns_name *trigger, unsigned int line)
{
	enum left_out kind = OUT_WILDCARD;

	if (target->labels == 0)
		return RULE_NXDOMAIN;
	if (name_equal(target, trigger))
		return RULE_ANSWER;
	for (size_t i = 0; target->labels == 1 && i < sizeof(named_actions) /
	    sizeof(named_actions[0]); i++)
		if (ends_with(target, named_actions[i].name))
			return named_actions[i].action;
	if (target->labels == 1 && target->octets[0] > 4 &&
	    memcmp(target->octets + 1, "rpz-", 4) == 0)
		kind = OUT_ACTION;
	else if (memcmp(target->octets, "\001*", 2) != 0)
		return RULE_CNAME;
	leave_out(z, kind, line);
	return ACTION_NONE;
}

static bool
has_data(const struct trigger *t)
{
	return t->action == RULE_ADDRESSES || t->action == RULE_CNAME;
}

static uint32_t
add_data(struct zone *z, const uint8_t *octets, uint8_t length)
{
	const uint32_t at = (uint32_t)z->data.size;
	uint8_t *to = build_grow(z->b, &z->data, length + 1u);

	if (to == NULL)
		return 0;
	to[0] = length;
	memcpy(to + 1, octets, length);
	return at;
}

/* What a record of a trigger says, and its data. */
static void
read_action(struct zone *z, const struct dns_name *trigger,
    const struct zone_record *record, struct trigger *t)
{
	struct dns_name target;

	t->action = ACTION_NONE;
	if (record->type == TYPE_CNAME) {
		if (name_read_lower(&target, record->rdata,
		    record->length) == 0)
			t->action = action_of(z, &target, trigger,
			    record->line);
		if (t->action == RULE_CNAME)
			t->data = add_data(z, target.octets, target.length);
	} else if ((record->type == TYPE_A && record->length == 4) ||
	    (record->type == TYPE_AAAA && record->length == 16)) {
		t->action = RULE_ADDRESSES;
		t->data = add_data(z, record->rdata, (uint8_t)record->length);
	} else
		leave_out(z, OUT_TYPE, record->line);
	if (has_data(t))
		t->ttl = record->ttl;
}

/*
 * Notes a record of a trigger, whose name is without the zone's.  One that is
 * left out ends wildcards above all the same.
 */
static void
add_trigger(struct zone *z, const struct dns_name *whole,
    const struct zone_record *record)
{
	struct trigger t = { .line = record->line }, *to;
	struct dns_name name = *whole;

	t.kind = take_kind(&name);
	read_action(z, whole, record, &t);
	t.name = build_name_get(z->b, &name);
	to = build_grow(z->b, &z->triggers, sizeof(*to));
	if (to != NULL)
		*to = t;
}

static int
take_record(void *to, const struct zone_record *record)
{
	struct zone *z = to;
	struct dns_name name = *record->name;
	char text[NAME_TEXT_SIZE];

	if (++z->records > RULE_NAMES_MAX) {
		diag_add(z->b->diag, DIAG_ERROR, z->path, record->line, "more "
		    "than %d records; make two zones of it", RULE_NAMES_MAX);
		return -EFBIG;
	}
	if (!cut_origin(z, &name)) {
		diag_add(z->b->diag, DIAG_ERROR, z->path, record->line, "%s "
		    "does not end with the zone's name; look at \"origin\" and "
		    "at final dots", name_to_text(name.octets, text));
		return 0;
	}
	if (name.labels == 0 || is_signature(record->type))
		return 0;
	for (size_t i = 0; i < sizeof(other_triggers) /
	    sizeof(other_triggers[0]); i++)
		if (ends_with(&name, other_triggers[i].label)) {
			leave_out(z, other_triggers[i].kind, record->line);
			return 0;
		}
	add_trigger(z, &name, record);
	return z->b->error;
}

static int
compare_triggers(const void *left, const void *right, void *data)
{
	const struct trigger *a = left, *b = right;
	const uint8_t *octets = data, *x, *y;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->action != b->action)
		return a->action < b->action ? -1 : 1;
	if (!has_data(a))
		return 0;
	x = octets + a->data;
	y = octets + b->data;
	return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) :
	    memcmp(x + 1, y + 1, x[0]);
}

/* The key of a group: its action, TTL and data, in the area of keys' end. */
static uint32_t
add_key(struct zone *z, const struct trigger *t, size_t count)
{
	const uint32_t at = (uint32_t)z->keys.size;
	uint32_t *head = build_grow(z->b, &z->keys, 2 * sizeof(*head));

	if (head == NULL)
		return at;
	head[0] = t->action;
	for (size_t i = 0; i < count; i++)
		if (i == 0 || t[i].ttl < head[1])
			head[1] = t[i].ttl;
	for (size_t i = 0; i < count && has_data(t); i++) {
		const uint8_t *data = z->data.octets + t[i].data;
		uint8_t *to = build_grow(z->b, &z->keys, data[0] + 1u);

		if (to != NULL)
			memcpy(to, data, data[0] + 1u);
	}
	/* The next one is aligned, too. */
	(void)build_grow(z->b, &z->keys, -z->keys.size & 3);
	return at;
}

/* A new rule for these records, all of one action. */
static uint32_t
add_rule(struct zone *z, const struct trigger *t, size_t count, uint32_t ttl)
{
	struct policy_rule rule = *z->entry;
	struct policy_address *addresses = calloc(count, sizeof(*addresses));
	uint32_t number = 0;

	if (addresses == NULL) {
		z->b->error = -ENOMEM;
		return 0;
	}
	(void)snprintf(rule.name, sizeof(rule.name), RULE_ZONE_PREFIX "%.*s",
	    (int)(RULE_NAME_MAX - strlen(RULE_ZONE_PREFIX)), z->entry->name);
	rule.action = t->action;
	rule.ttl = ttl;
	rule.addresses = (struct policy_span){ .count = 0 };
	for (size_t i = 0; t->action == RULE_ADDRESSES && i < count; i++) {
		const uint8_t *data = z->data.octets + t[i].data;

		addresses[i].family = data[0] == 4 ? AF_INET : AF_INET6;
		memcpy(addresses[i].address, data + 1, data[0]);
		rule.addresses.count++;
	}
	if (t->action == RULE_CNAME && name_read_lower(&rule.cname,
	    z->data.octets + t->data + 1, z->data.octets[t->data]) < 0)
		z->b->error = -EINVAL;
	number = build_rule_add(z->b, &rule, addresses, z->from);
	free(addresses);
	return number;
}

/* The number of the rule for these records; 0 after an error. */
static uint32_t
rule_of(struct zone *z, const struct trigger *t, size_t count)
{
	const uint32_t key = add_key(z, t, count);
	const uint32_t size = (uint32_t)z->keys.size - key;
	const uint8_t *octets = z->keys.octets + key;
	size_t at;

	if (z->b->error != 0)
		return 0;
	at = (size_t)XXH3_64bits(octets, size) & (GROUP_SLOTS - 1);
	for (; z->groups[at].number != 0; at = (at + 1) & (GROUP_SLOTS - 1))
		if (z->groups[at].size == size && memcmp(z->keys.octets +
		    z->groups[at].key, octets, size) == 0) {
			z->keys.size = key;
			return z->groups[at].number;
		}
	if (AREA_ITEMS(&z->b->areas[AREA_RULES], struct section_rule) >=
	    RULE_MAX) {
		diag_add(z->b->diag, DIAG_ERROR, z->path, t->line, "more than "
		    "%d rules in all: names with different answers are "
		    "different rules; let more names share an answer",
		    RULE_MAX);
		return 0;
	}
	z->groups[at] = (struct group){ .key = key, .size = size,
		.number = add_rule(z, t, count, *AREA_AT(&z->keys,
		    const uint32_t, key / sizeof(uint32_t) + 1)) };
	return z->groups[at].number;
}

/* Leaves one of those that say the same. */
static size_t
without_repetitions(const struct zone *z, struct trigger *t, size_t count)
{
	size_t kept = 1;

	for (size_t i = 1; i < count; i++)
		if (compare_triggers(&t[kept - 1], &t[i],
		    z->data.octets) != 0)
			t[kept++] = t[i];
	return kept;
}

/* The records of one trigger.  False: no more rules are possible. */
static bool
add_group(struct zone *z, struct trigger *t, size_t count)
{
	size_t kept = without_repetitions(z, t, count);
	uint32_t number;

	/* Behind all others. */
	while (kept > 0 && t[kept - 1].action == ACTION_NONE)
		kept--;
	if (kept == 0)
		return true;
	if (kept > 1 && (t[0].action != RULE_ADDRESSES ||
	    t[kept - 1].action != RULE_ADDRESSES)) {
		diag_add(z->b->diag, DIAG_ERROR, z->path, t[1].line, "a name "
		    "with a CNAME has no other records (RFC 1034 section "
		    "3.6.2), and this one has those of line %u, too",
		    t[0].line);
		return true;
	}
	if (kept > ADDRESSES_MAX) {
		diag_add(z->b->diag, DIAG_ERROR, z->path, t[0].line, "more "
		    "than %d addresses of one name", ADDRESSES_MAX);
		return true;
	}
	number = rule_of(z, t, kept);
	if (number == 0)
		return false;
	build_entry_add(z->b, t->name, t->kind, RULES_CODE(number, 0));
	return true;
}

/*
 * Where wildcards of names above end: at the trigger's name and at those between
 * it and the first above about which there are rules for names below.
 */
static void
add_resets(struct builder *b, uint32_t number, uint32_t zone)
{
	const struct build_name *own = AREA_AT(&b->names, struct build_name,
	    number - 1);
	const uint8_t *octets = b->areas[AREA_OCTETS].octets + own->name;
	struct dns_name name, suffix;
	unsigned int above = own->labels;

	if (name_read_lower(&name, octets + 1, octets[0]) < 0)
		return;
	for (uint32_t found = 0; found == 0; ) {
		size_t start;

		if (above-- == 0)
			return;
		start = name_suffix_offset(&name, above);
		found = build_name_find(b, name.octets + start,
		    name.length - start);
		if (found != 0 && !AREA_AT(&b->names, struct build_name,
		    found - 1)->has_below)
			found = 0;
	}
	for (unsigned int n = name.labels; n > above && b->error == 0; n--) {
		const size_t start = name_suffix_offset(&name, n);

		if (name_read_lower(&suffix, name.octets + start,
		    name.length - start) == 0)
			build_entry_add(b, build_name_get(b, &suffix),
			    BUILD_RESET, zone);
	}
}

static void
add_groups(struct zone *z, struct trigger *t, size_t count)
{
	size_t end = 0;

	for (size_t i = 0; i < count && z->b->error == 0; i = end) {
		for (end = i + 1; end < count && t[end].name == t[i].name &&
		    t[end].kind == t[i].kind;)
			end++;
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
			add_resets(z->b, t[i].name,
			    (uint32_t)AREA_ITEMS(zones, struct build_zone));
		last = t[i].name;
	}
}

static void
tell_left_out(const struct zone *z)
{
	static const char *const texts[OUT_KINDS] = {
		[OUT_IP] = "triggers rpz-ip, by addresses of answers",
		[OUT_CLIENT_IP] = "triggers rpz-client-ip, by addresses that "
		    "ask; a rule with \"clients\" does that",
		[OUT_NSIP] = "triggers rpz-nsip, by addresses of nameservers",
		[OUT_NSDNAME] = "triggers rpz-nsdname, by names of nameservers",
		[OUT_TYPE] = "records of types other than A, AAAA and CNAME",
		[OUT_WILDCARD] = "CNAMEs to names that begin with \"*\"",
		[OUT_ACTION] = "CNAMEs to names \"rpz-...\" that mean nothing "
		    "here",
	};

	for (size_t i = 0; i < OUT_KINDS; i++)
		if (z->left_out[i] > 0)
			diag_add(z->b->diag, DIAG_WARNING, z->path,
			    z->left_out_line[i], "left out: %s (%zu of them, "
			    "this is the first)", texts[i], z->left_out[i]);
}

static void
read_zone(struct zone *z, struct rules_file *file)
{
	const size_t errors = z->b->diag->errors;
	int error = zone_records_read(&file->text, &z->entry->origin,
	    z->entry->ttl, take_record, z, z->b->diag);

	file->names = AREA_ITEMS(&z->triggers, struct trigger);
	if (error < 0 && error != -EFBIG && z->b->error == 0)
		z->b->error = error;
	tell_left_out(z);
	if (z->triggers.size > 0 && z->b->error == 0)
		add_triggers(z);
	else if (z->b->diag->errors == errors && z->b->error == 0)
		diag_add(z->b->diag, DIAG_WARNING, z->path, 0, "has no names, "
		    "so that its rules match nothing");
}

void
build_zone_add(struct builder *b, uint32_t from)
{
	const struct policy_rule *entry = &b->policy->rules[from];
	struct zone z = { .b = b, .from = from, .entry = entry,
		.path = b->policy->sets[entry->zone - 1].path };

	z.groups = calloc(GROUP_SLOTS, sizeof(*z.groups));
	if (z.groups == NULL)
		b->error = -ENOMEM;
	else
		read_zone(&z, &b->files[entry->zone - 1]);
	free(z.groups);
	free(z.triggers.octets);
	free(z.data.octets);
	free(z.keys.octets);
}
