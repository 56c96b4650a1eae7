/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libnftnl/udata.h>

#include "rules/nft_message.h"

#define BIT(attribute)	(UINT32_C(1) << (attribute))

/* How the kernel tells each kind. */
static const struct form {
	uint16_t answer, question;	/* NFT_MSG_ */
	uint16_t name;			/* the attribute with it */
	uint32_t skipped;		/* attributes that are nobody's change */
} forms[] = {
	[SNAPSHOT_TABLE] = { NFT_MSG_NEWTABLE, NFT_MSG_GETTABLE,
	    NFTA_TABLE_NAME, BIT(NFTA_TABLE_USE) | BIT(NFTA_TABLE_HANDLE) },
	[SNAPSHOT_CHAIN] = { NFT_MSG_NEWCHAIN, NFT_MSG_GETCHAIN,
	    NFTA_CHAIN_NAME, BIT(NFTA_CHAIN_USE) | BIT(NFTA_CHAIN_HANDLE) |
	    BIT(NFTA_CHAIN_COUNTERS) },
	[SNAPSHOT_SET] = { NFT_MSG_NEWSET, NFT_MSG_GETSET, NFTA_SET_NAME,
	    BIT(NFTA_SET_HANDLE) | BIT(NETLINK_SET_COUNT) },
	[SNAPSHOT_ELEMENTS] = { NFT_MSG_NEWSETELEM, NFT_MSG_GETSETELEM,
	    NFTA_SET_ELEM_LIST_SET, 0 },
	[SNAPSHOT_RULE] = { NFT_MSG_NEWRULE, NFT_MSG_GETRULE, NFTA_RULE_CHAIN,
	    BIT(NFTA_RULE_HANDLE) | BIT(NFTA_RULE_POSITION) },
};

/* Attribute 1 is the table's name in all of these messages. */
#define TABLE_NAME	NFTA_TABLE_NAME

/* An expression's name, and what it says unless it counts. */
static int
add_part(const struct nlattr *part, void *data)
{
	uint64_t *digest = data;
	const bool is_name = mnl_attr_get_type(part) == NFTA_EXPR_NAME;

	*digest = expressions_digest(*digest, part, part->nla_len);
	return is_name && strcmp(mnl_attr_get_str(part), "counter") == 0 ?
	    MNL_CB_STOP : MNL_CB_OK;
}

static int
add_expression(const struct nlattr *expression, void *data)
{
	(void)mnl_attr_parse_nested(expression, add_part, data);
	return MNL_CB_OK;
}

/* The sum of all, which may come in several messages. */
static int
add_element(const struct nlattr *element, void *data)
{
	uint64_t *sum = data;

	*sum += expressions_digest(EXPRESSIONS_DIGEST, element,
	    element->nla_len);
	return MNL_CB_OK;
}

/* nft(8) puts it first, as we do: a type, a length, a text with its 0. */
static void
take_comment(struct snapshot_object *object, const struct nlattr *userdata)
{
	const uint8_t *octets = mnl_attr_get_payload(userdata);
	const size_t length = mnl_attr_get_payload_len(userdata);

	if (length > 2 && octets[0] == NFTNL_UDATA_RULE_COMMENT &&
	    octets[1] <= length - 2)
		(void)snprintf(object->comment, sizeof(object->comment), "%.*s",
		    octets[1], (const char *)octets + 2);
}

static int
take_attribute(const struct nlattr *attribute, void *data)
{
	struct snapshot_object *object = data;
	const uint16_t type = mnl_attr_get_type(attribute);
	const enum snapshot_kind kind = object->kind;

	if (type == forms[kind].name && kind != SNAPSHOT_TABLE)
		(void)snprintf(object->name, sizeof(object->name), "%s",
		    mnl_attr_get_str(attribute));
	if (kind == SNAPSHOT_RULE && type == NFTA_RULE_USERDATA)
		take_comment(object, attribute);
	if (kind == SNAPSHOT_SET && type == NFTA_SET_FLAGS)
		object->filled = (ntohl(mnl_attr_get_u32(attribute)) &
		    NFT_SET_EVAL) != 0;
	if (kind == SNAPSHOT_ELEMENTS) {
		if (type == NFTA_SET_ELEM_LIST_ELEMENTS)
			(void)mnl_attr_parse_nested(attribute, add_element,
			    &object->digest);
	} else if (kind == SNAPSHOT_RULE && type == NFTA_RULE_EXPRESSIONS) {
		(void)mnl_attr_parse_nested(attribute, add_expression,
		    &object->digest);
	} else if (type > NETLINK_SET_COUNT ||
	    (forms[kind].skipped & BIT(type)) == 0) {
		object->digest = expressions_digest(object->digest, attribute,
		    attribute->nla_len);
	}
	return MNL_CB_OK;
}

/* Older kernels send the objects of all tables, whatever was asked for. */
static int
find_table(const struct nlattr *attribute, void *data)
{
	const char **table = data;

	if (mnl_attr_get_type(attribute) != TABLE_NAME)
		return MNL_CB_OK;
	*table = mnl_attr_get_str(attribute);
	return MNL_CB_STOP;
}

static bool
is_ours(const struct nlmsghdr *message)
{
	const struct nfgenmsg *header = mnl_nlmsg_get_payload(message);
	const char *table = "";

	(void)mnl_attr_parse(message, sizeof(*header), find_table, &table);
	return strcmp(table, RULES_TABLE) == 0 &&
	    (header->nfgen_family == NFPROTO_INET ||
	    header->nfgen_family == NFPROTO_IPV4 ||
	    header->nfgen_family == NFPROTO_IPV6);
}

static struct snapshot_object *
add_object(struct snapshot *s, enum snapshot_kind kind)
{
	struct snapshot_object *object;

	if (s->count == s->room) {
		const size_t room = 2 * s->room + 16;
		void *objects = realloc(s->objects, room * sizeof(*s->objects));

		if (objects == NULL)
			return NULL;
		s->objects = objects;
		s->room = room;
	}
	object = &s->objects[s->count++];
	*object = (struct snapshot_object){ .kind = kind,
		.digest = kind == SNAPSHOT_ELEMENTS ? 0 : EXPRESSIONS_DIGEST };
	return object;
}

static int
take(const struct nlmsghdr *message, void *data)
{
	struct snapshot *s = data;
	struct snapshot_object *object, *before;
	enum snapshot_kind kind = SNAPSHOT_TABLE;

	while (kind <= SNAPSHOT_RULE &&
	    forms[kind].answer != NFNL_MSG_TYPE(message->nlmsg_type))
		kind++;
	if (kind > SNAPSHOT_RULE || !is_ours(message))
		return 0;
	object = add_object(s, kind);
	if (object == NULL)
		return -ENOMEM;
	(void)mnl_attr_parse(message, sizeof(struct nfgenmsg), take_attribute,
	    object);
	before = s->count > 1 && object[-1].kind == kind &&
	    strcmp(object[-1].name, object->name) == 0 ? &object[-1] : NULL;
	if (kind == SNAPSHOT_RULE) {
		object->number = before != NULL ? before->number + 1 : 1;
	} else if (kind == SNAPSHOT_ELEMENTS && before != NULL) {
		before->digest += object->digest;
		s->count--;
	}
	return 0;
}

/* Asks for what there is of a kind; of elements, for those of that set. */
static int
read_kind(struct snapshot *s, struct netlink *netlink, enum snapshot_kind kind,
    enum rules_table table, const char *set)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];
	struct nlmsghdr *message = netlink_request_of(netlink,
	    rules_table_form(table)->family, buffer, forms[kind].question, kind == SNAPSHOT_TABLE ? NLM_F_ACK :
	    NLM_F_DUMP);

	mnl_attr_put_strz(message, TABLE_NAME, RULES_TABLE);
	if (set != NULL)
		mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_SET, set);
	return netlink_talk(netlink, message, take, s);
}

/* Sets that rules fill may be large, and packets decide what is in them. */
static int
read_elements(struct snapshot *s, struct netlink *netlink,
    enum rules_table table, size_t from)
{
	const size_t count = s->count;
	int rc = 0;

	for (size_t i = from; rc == 0 && i < count; i++)
		if (s->objects[i].kind == SNAPSHOT_SET &&
		    !s->objects[i].filled) {
			char name[NFT_NAME_MAXLEN];

			memcpy(name, s->objects[i].name, sizeof(name));
			rc = read_kind(s, netlink, SNAPSHOT_ELEMENTS, table,
			    name);
		}
	return rc == -ENOENT ? -EINTR : rc;	/* it went meanwhile */
}

static int
read_all(struct snapshot *s, struct netlink *netlink)
{
	uint32_t before = 0, after = 0;
	int rc = netlink_generation(netlink, &before);

	for (enum rules_table table = 0; rc == 0 && table < RULES_TABLES;
	    table++) {
		size_t sets;

		/* -ENOENT: there is no such table. */
		rc = read_kind(s, netlink, SNAPSHOT_TABLE, table, NULL);
		if (rc == 0)
			rc = read_kind(s, netlink, SNAPSHOT_CHAIN, table, NULL);
		sets = s->count;
		if (rc == 0)
			rc = read_kind(s, netlink, SNAPSHOT_SET, table, NULL);
		if (rc == 0)
			rc = read_elements(s, netlink, table, sets);
		if (rc == 0)
			rc = read_kind(s, netlink, SNAPSHOT_RULE, table, NULL);
		if (rc == -ENOENT && table != TABLE_INET)
			rc = 0;
	}
	if (rc == 0)
		rc = netlink_generation(netlink, &after);
	return rc == 0 && before != after ? -EINTR : rc;
}

int
snapshot_read(struct snapshot *s, struct netlink *netlink)
{
	int rc = -EINTR;

	*s = (struct snapshot){ .count = 0 };
	for (int tries = 0; rc == -EINTR && tries < NETLINK_READ_TRIES; tries++) {
		snapshot_free(s);
		rc = read_all(s, netlink);
	}
	if (rc != 0)
		snapshot_free(s);
	return rc;
}

void
snapshot_free(struct snapshot *s)
{
	free(s->objects);
	*s = (struct snapshot){ .count = 0 };
}

bool
snapshot_has(const struct snapshot *s, enum snapshot_kind kind,
    const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->objects[i].kind == kind &&
		    strcmp(s->objects[i].name, name) == 0)
			return true;
	return false;
}

/* Whether both stand for the same object, whatever became of it. */
static bool
is_alike(const struct snapshot_object *a, const struct snapshot_object *b)
{
	return a->kind == b->kind && strcmp(a->name, b->name) == 0 &&
	    strcmp(a->comment, b->comment) == 0;
}

static bool
is_same(const struct snapshot_object *a, const struct snapshot_object *b)
{
	return is_alike(a, b) && a->digest == b->digest;
}

/* Whether it is there from that place on. */
static bool
comes_later(const struct snapshot *s, size_t from,
    const struct snapshot_object *object)
{
	for (size_t i = from; i < s->count; i++)
		if (is_same(&s->objects[i], object))
			return true;
	return false;
}

static void
tell(struct diag *diag, const struct snapshot_object *o, const char *what)
{
	static const char *const titles[] = {
		[SNAPSHOT_TABLE] = ("table inet " RULES_TABLE),
		[SNAPSHOT_CHAIN] = "chain ",
		[SNAPSHOT_SET] = "set ",
		[SNAPSHOT_ELEMENTS] = "what is in set ",
		[SNAPSHOT_RULE] = "chain ",
	};

	if (o->kind == SNAPSHOT_RULE)
		diag_add(diag, DIAG_ERROR, NULL, 0, "chain %s: rule %u \"%s\" %s",
		    o->name, o->number, o->comment, what);
	else
		diag_add(diag, DIAG_ERROR, NULL, 0, "%s%s %s", titles[o->kind],
		    o->name, what);
}

/*
 * Where the two part, what comes later on the other side tells whether an object
 * is gone or one was added.
 */
bool
snapshot_equal(const struct snapshot *installed, const struct snapshot *now,
    struct diag *diag)
{
	bool equal = true;
	size_t i = 0, j = 0;

	while (i < installed->count || j < now->count) {
		const struct snapshot_object *a = i < installed->count ?
		    &installed->objects[i] : NULL;
		const struct snapshot_object *b = j < now->count ?
		    &now->objects[j] : NULL;
		const bool both = a != NULL && b != NULL;
		bool gone, added;

		if (both && is_same(a, b)) {
			i++;
			j++;
			continue;
		}
		equal = false;
		added = a == NULL || (both && comes_later(now, j + 1, a));
		gone = !added && (b == NULL ||
		    comes_later(installed, i + 1, b));
		if (both && !added && !gone && is_alike(a, b)) {
			tell(diag, a, "was changed");
			i++;
			j++;
			continue;
		}
		if (a != NULL && !added) {
			tell(diag, a, "is missing");
			i++;
		}
		if (b != NULL && !gone) {
			tell(diag, b, "was added");
			j++;
		}
	}
	return equal;
}
