/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/nft_message.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include <libnftnl/chain.h>
#include <libnftnl/set.h>

/* How many prefixes go into one message; each is two elements of 50 octets. */
#define PREFIXES_A_MESSAGE 256

static void
enter(struct batch *batch, enum rules_table table)
{
	batch->family = rules_table_form(table)->family;
}

void
nft_message_name(struct batch *batch, enum rules_table table, uint16_t type,
    enum message_subject subject, uint16_t attribute, const char *name)
{
	struct nlmsghdr *message;

	enter(batch, table);
	message = batch_message(batch, type,
	    type == NFT_MSG_NEWTABLE ? NLM_F_CREATE : 0,
	    (struct batch_part){ .subject = subject });

	if (message == NULL)
		return;
	/* Attribute 1 is the table's name in all of these messages. */
	mnl_attr_put_strz(message, NFTA_TABLE_NAME, RULES_TABLE);
	if (name != NULL)
		mnl_attr_put_strz(message, attribute, name);
	batch_end_message(batch, message);
}

void
nft_message_table(struct batch *batch, enum rules_table table)
{
	struct nlmsghdr *message;

	enter(batch, table);
	message = batch_message(batch, NFT_MSG_NEWTABLE,
	    NLM_F_CREATE, (struct batch_part){ .subject = MESSAGE_TABLE });

	if (message == NULL)
		return;
	mnl_attr_put_strz(message, NFTA_TABLE_NAME, RULES_TABLE);
	mnl_attr_put_u32(message, NFTA_TABLE_FLAGS,
	    htonl(NFT_TABLE_F_OWNER));
	batch_end_message(batch, message);
}

void
nft_message_chain(struct batch *batch, enum rules_chain which)
{
	const struct rules_chain_form *form = rules_chain_form(which);
	struct nftnl_chain *chain = nftnl_chain_alloc();
	struct nlmsghdr *message;

	enter(batch, form->table);
	message = batch_message(batch, NFT_MSG_NEWCHAIN, NLM_F_CREATE,
	    (struct batch_part){ .subject = MESSAGE_CHAIN });
	if (chain == NULL)
		batch_fail(batch, -ENOMEM);
	if (message == NULL || chain == NULL)
		goto out;
	nftnl_chain_set_u32(chain, NFTNL_CHAIN_FAMILY, batch->family);
	nftnl_chain_set_str(chain, NFTNL_CHAIN_TABLE, RULES_TABLE);
	nftnl_chain_set_str(chain, NFTNL_CHAIN_NAME, form->name);
	nftnl_chain_set_str(chain, NFTNL_CHAIN_TYPE, form->type);
	nftnl_chain_set_u32(chain, NFTNL_CHAIN_HOOKNUM, form->hook);
	nftnl_chain_set_s32(chain, NFTNL_CHAIN_PRIO, form->priority);
	nftnl_chain_set_u32(chain, NFTNL_CHAIN_POLICY, NF_ACCEPT);
	nftnl_chain_nlmsg_build_payload(message, chain);
	batch_end_message(batch, message);
out:
	if (chain != NULL)
		nftnl_chain_free(chain);
}

static struct nftnl_set *
named_set(struct batch *batch, const struct address_set *set)
{
	struct nftnl_set *named = nftnl_set_alloc();

	if (named == NULL || nftnl_set_set_str(named, NFTNL_SET_TABLE,
	    RULES_TABLE) != 0 || nftnl_set_set_str(named, NFTNL_SET_NAME,
	    set->name) != 0)
		batch_fail(batch, -ENOMEM);
	return named;
}

static void
put_set(struct batch *batch, const struct address_set *set, uint32_t id)
{
	struct nlmsghdr *message = batch_message(batch, NFT_MSG_NEWSET,
	    NLM_F_CREATE, (struct batch_part){ .subject = MESSAGE_SET });
	struct nftnl_set *named = named_set(batch, set);

	if (message != NULL && named != NULL) {
		nftnl_set_set_u32(named, NFTNL_SET_FAMILY, batch->family);
		nftnl_set_set_u32(named, NFTNL_SET_ID, id);
		nftnl_set_set_u32(named, NFTNL_SET_FLAGS, NFT_SET_INTERVAL);
		nftnl_set_set_u32(named, NFTNL_SET_KEY_TYPE,
		    expressions_key_type(set->family));
		nftnl_set_set_u32(named, NFTNL_SET_KEY_LEN,
		    (uint32_t)address_size(set->family));
		nftnl_set_nlmsg_build_payload(message, named);
		batch_end_message(batch, message);
	}
	if (named != NULL)
		nftnl_set_free(named);
}

static void
add_element(struct batch *batch, struct nftnl_set *named, int family,
    const struct address_element *element)
{
	struct nftnl_set_elem *new = nftnl_set_elem_alloc();

	if (new == NULL || nftnl_set_elem_set(new, NFTNL_SET_ELEM_KEY,
	    element->key, (uint32_t)address_size(family)) != 0) {
		batch_fail(batch, -ENOMEM);
		if (new != NULL)
			nftnl_set_elem_free(new);
		return;
	}
	if (element->end)
		nftnl_set_elem_set_u32(new, NFTNL_SET_ELEM_FLAGS,
		    NFT_SET_ELEM_INTERVAL_END);
	nftnl_set_elem_add(named, new);
}

/* As the elements that begin and end its interval. */
static void
add_prefix(struct batch *batch, struct nftnl_set *set, int family,
    const struct config_prefix *prefix)
{
	struct address_element pair[2];
	size_t count = address_elements(prefix, pair);

	for (size_t i = 0; i < count; i++)
		add_element(batch, set, family, &pair[i]);
}

static void
put_elements(struct batch *batch, const struct address_set *set, size_t from,
    size_t to)
{
	struct nlmsghdr *message = batch_message(batch, NFT_MSG_NEWSETELEM,
	    NLM_F_CREATE, (struct batch_part){ .subject = MESSAGE_SET });
	struct nftnl_set *named = named_set(batch, set);

	if (message != NULL && named != NULL) {
		for (size_t i = from; i < to; i++)
			add_prefix(batch, named, set->family,
			    &set->prefixes[i]);
		nftnl_set_elems_nlmsg_build_payload(message, named);
		batch_end_message(batch, message);
	}
	if (named != NULL)
		nftnl_set_free(named);
}

void
nft_message_sets(struct batch *batch, const struct ruleset *set)
{
	for (uint32_t i = 0; i < RULES_SETS; i++) {
		const struct address_set *addresses = &set->sets[i];

		if (addresses->count == 0)
			continue;
		enter(batch, rules_set_table(i));
		put_set(batch, addresses, i + 1);
		for (size_t from = 0; from < addresses->count;
		    from += PREFIXES_A_MESSAGE) {
			size_t rest = addresses->count - from;

			put_elements(batch, addresses, from, from +
			    (rest < PREFIXES_A_MESSAGE ? rest :
			    PREFIXES_A_MESSAGE));
		}
	}
}

static void
put_rule(struct batch *batch, const struct rule *wanted, enum queue_form form,
    uint16_t flags)
{
	struct nlmsghdr *message;
	struct nftnl_rule *rule;

	enter(batch, rules_chain_form(wanted->chain)->table);
	message = batch_message(batch, NFT_MSG_NEWRULE,
	    (uint16_t)(NLM_F_CREATE | flags), (struct batch_part){
	    .subject = MESSAGE_RULE, .item = wanted });
	if (message == NULL)
		return;
	rule = expressions_rule(wanted, form);
	if (rule == NULL) {
		batch_fail(batch, -ENOMEM);
		return;
	}
	nftnl_rule_nlmsg_build_payload(message, rule);
	batch_end_message(batch, message);
	nftnl_rule_free(rule);
}

void
nft_message_rules(struct batch *batch, const struct ruleset *set,
    enum rules_chain chain, enum queue_form form)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->rules[i].chain == chain)
			put_rule(batch, &set->rules[i], form, NLM_F_APPEND);
}

void
nft_message_first_rule(struct batch *batch, const struct ruleset *set,
    enum rules_chain chain)
{
	size_t i = 0;

	while (i < set->count && set->rules[i].chain != chain)
		i++;
	/* The form matters to rules that queue only. */
	if (i < set->count)
		put_rule(batch, &set->rules[i], QUEUE_XT, 0);
}

/* A set that rules fill: of fixed size, with time-outs. */
struct filled_set {
	enum message_subject subject;
	enum rules_table table;
	const char *name;
	uint32_t id;			/* in this batch */
	uint32_t key_type, key_length;
	uint32_t size;
	unsigned int seconds;		/* that an element stays, if no rule says */
};

static void
put_filled(struct batch *batch, const struct filled_set *wanted)
{
	struct nftnl_set *set = nftnl_set_alloc();
	struct nlmsghdr *message;

	enter(batch, wanted->table);
	message = batch_message(batch, NFT_MSG_NEWSET, NLM_F_CREATE,
	    (struct batch_part){ .subject = wanted->subject });
	if (set == NULL || nftnl_set_set_str(set, NFTNL_SET_TABLE,
	    RULES_TABLE) != 0 || nftnl_set_set_str(set, NFTNL_SET_NAME,
	    wanted->name) != 0)
		batch_fail(batch, -ENOMEM);
	if (message != NULL && set != NULL) {
		nftnl_set_set_u32(set, NFTNL_SET_FAMILY, batch->family);
		nftnl_set_set_u32(set, NFTNL_SET_ID, wanted->id);
		nftnl_set_set_u32(set, NFTNL_SET_FLAGS,
		    NFT_SET_EVAL | NFT_SET_TIMEOUT);
		nftnl_set_set_u32(set, NFTNL_SET_KEY_TYPE, wanted->key_type);
		nftnl_set_set_u32(set, NFTNL_SET_KEY_LEN, wanted->key_length);
		nftnl_set_set_u32(set, NFTNL_SET_DESC_SIZE, wanted->size);
		nftnl_set_set_u64(set, NFTNL_SET_TIMEOUT,
		    wanted->seconds * 1000ULL);
		nftnl_set_nlmsg_build_payload(message, set);
		batch_end_message(batch, message);
	}
	if (set != NULL)
		nftnl_set_free(set);
}

void
nft_message_streams(struct batch *batch, const struct ruleset *set, bool ipv4,
    uint32_t id)
{
	put_filled(batch, &(struct filled_set){
		.subject = MESSAGE_STREAMS,
		.name = ipv4 ? RULES_STREAMS4 : RULES_STREAMS6,
		.id = id,
		.key_type = expressions_stream_type(ipv4),
		.key_length = expressions_stream_length(ipv4),
		.size = set->streams_max,
		.seconds = RULES_STREAMS_S,
	});
}

void
nft_message_users(struct batch *batch, enum user_budget budget, uint32_t id)
{
	const struct rules_users *users = rules_users(budget);

	put_filled(batch, &(struct filled_set){
		.subject = MESSAGE_USERS,
		.table = users->table,
		.name = users->name,
		.id = id,
		.key_type = users->number,
		.key_length = users->length,
		.size = RULES_USERS_MAX,
		.seconds = RULES_USERS_S,
	});
}
