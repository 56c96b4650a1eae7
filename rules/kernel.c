/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libnftnl/rule.h>
#include <libnftnl/set.h>

#include "rules/nft_message.h"
#include "rules/kernel.h"
#include "rules/netlink/netlink.h"

/* What is read of the table in the kernel. */

/* Older kernels send the objects of all tables, whatever was asked for. */
static int
take_rule(const struct nlmsghdr *message, void *data)
{
	struct nftnl_rule *rule = nftnl_rule_alloc();
	const char *table;
	int rc = 0;

	if (rule == NULL)
		return -ENOMEM;
	if (nftnl_rule_nlmsg_parse(message, rule) < 0)
		rc = -errno;
	table = nftnl_rule_get_str(rule, NFTNL_RULE_TABLE);
	if (rc == 0 && nftnl_rule_get_str(rule, NFTNL_RULE_CHAIN) != NULL &&
	    table != NULL && strcmp(table, RULES_TABLE) == 0) {
		nftnl_rule_list_add_tail(rule, data);
		return 0;
	}
	nftnl_rule_free(rule);
	return rc;
}

static int
read_table(struct netlink *netlink, enum rules_table table,
    struct nftnl_rule_list *rules)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];
	struct nlmsghdr *message = netlink_request_of(netlink,
	    rules_table_form(table)->family, buffer, NFT_MSG_GETRULE,
	    NLM_F_DUMP);

	mnl_attr_put_strz(message, NFTA_RULE_TABLE, RULES_TABLE);
	return netlink_talk(netlink, message, take_rule, rules);
}

/*
 * The rules of all chains, in order; maybe none.  Reads again if another program
 * changed them meanwhile: -EINTR if they change all the time.  The caller frees them.
 */
static int
read_rules(struct netlink *netlink, struct nftnl_rule_list **rules)
{
	int rc = -EINTR;

	for (int tries = 0; rc == -EINTR && tries < NETLINK_READ_TRIES;
	    tries++) {
		*rules = nftnl_rule_list_alloc();
		if (*rules == NULL)
			return -ENOMEM;
		rc = 0;
		for (enum rules_table t = 0; t < RULES_TABLES && rc == 0; t++)
			rc = read_table(netlink, t, *rules);
		if (rc != 0)
			nftnl_rule_list_free(*rules);
	}
	return rc;
}

/* A request about one set of the table. */
static struct nlmsghdr *
ask_set(struct netlink *netlink, char *buffer, const char *name)
{
	struct nlmsghdr *message = netlink_request(netlink, buffer,
	    NFT_MSG_GETSET, NLM_F_ACK);

	mnl_attr_put_strz(message, NFTA_SET_TABLE, RULES_TABLE);
	mnl_attr_put_strz(message, NFTA_SET_NAME, name);
	return message;
}

struct set_count {
	uint32_t count;
	bool known;
};

static int
take_count(const struct nlattr *attribute, void *data)
{
	struct set_count *set = data;

	if (mnl_attr_get_type(attribute) == NETLINK_SET_COUNT &&
	    mnl_attr_validate(attribute, MNL_TYPE_U32) == 0) {
		set->count = ntohl(mnl_attr_get_u32(attribute));
		set->known = true;
	}
	return MNL_CB_OK;
}

static int
receive_count(const struct nlmsghdr *message, void *data)
{
	return mnl_attr_parse(message, sizeof(struct nfgenmsg), take_count,
	    data) < 0 ? -EINVAL : 0;
}

/* libnftnl would make an object of each. */
static int
count_element(const struct nlattr *attribute, void *data)
{
	uint32_t *count = data;

	(void)attribute;
	++*count;
	return MNL_CB_OK;
}

static int
count_list(const struct nlattr *attribute, void *data)
{
	if (mnl_attr_get_type(attribute) != NFTA_SET_ELEM_LIST_ELEMENTS)
		return MNL_CB_OK;
	return mnl_attr_parse_nested(attribute, count_element, data);
}

static int
receive_uncounted(const struct nlmsghdr *message, void *data)
{
	return mnl_attr_parse(message, sizeof(struct nfgenmsg), count_list,
	    data) < 0 ? -EINVAL : 0;
}

/*
 * The number of a set's elements; with "cheap" only if the kernel reports it,
 * else -EOPNOTSUPP.
 */
static int
count_elements(struct netlink *netlink, const char *set, bool cheap,
    uint32_t *count)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];
	struct nlmsghdr *message = ask_set(netlink, buffer, set);
	struct set_count known = { .known = false };
	int rc;

	rc = netlink_talk(netlink, message, receive_count, &known);
	*count = known.count;
	if (rc != 0 || known.known)
		return rc;
	if (cheap)
		return -EOPNOTSUPP;
	message = netlink_request(netlink, buffer, NFT_MSG_GETSETELEM,
	    NLM_F_DUMP);
	mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_TABLE, RULES_TABLE);
	mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_SET, set);
	rc = netlink_talk(netlink, message, receive_uncounted, count);
	/* Torn: somebody changed the rules, or the set grew. */
	return rc == -EINTR ? 0 : rc;
}

/* The number of the first set of connections in its batch. */
#define STREAMS_ID (RULES_SETS + 1)
#define USERS_ID (STREAMS_ID + 2)

struct rules_kernel {
	struct netlink netlink;
	bool installed;			/* our table is in the kernel, */
	bool guests;			/* and those of containers */
	struct rules_features features;	/* as far as known; at first the best */
	bool chains[CHAINS];		/* those in the installed table */
	bool sets[RULES_SETS];
	bool users[USER_BUDGETS];
	uint64_t counted[RULES_COUNTERS];	/* by rules that were replaced */
	struct snapshot snapshot;	/* behind the last change; maybe none */
};

int
rules_kernel_open(struct rules_kernel **kernel)
{
	struct rules_kernel *new = calloc(1, sizeof(*new));
	int rc;

	*kernel = NULL;
	if (new == NULL)
		return -ENOMEM;
	new->features.native_queue = true;
	rc = netlink_open(&new->netlink, RULES_TABLE);
	if (rc != 0)
		free(new);
	else
		*kernel = new;
	return rc;
}

const char *
rules_kernel_open_error(int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		return "no permission to use nf_tables: needs CAP_NET_ADMIN: "
		    "run as root";
	case -EPROTONOSUPPORT:
		return "this kernel has no nf_tables: load module nf_tables or "
		    "use a kernel with CONFIG_NF_TABLES";
	default:
		return strerror(-error);
	}
}

/* Which part of a batch the kernel refused, and what to do. */
static void
explain(const struct batch_part *failed, int error, struct diag *diag)
{
	const char *reason = strerror(-error);
	const struct rule *rule = failed->item;

	if (failed->subject == MESSAGE_STALE && error == -EPERM)
		diag_add(diag, DIAG_ERROR, NULL, 0, "another program (nfdnsd?) "
		    "owns table inet " RULES_TABLE "; stop it first");
	else if (failed->subject == MESSAGE_TABLE &&
	    (error == -EOPNOTSUPP || error == -EINVAL))
		diag_add(diag, DIAG_ERROR, NULL, 0, "the kernel does not take "
		    "a table with an owner (%s): use Linux 5.14 or later",
		    reason);
	else if (failed->subject == MESSAGE_RULE)
		diag_add(diag, DIAG_ERROR, NULL, 0, "the kernel does not take "
		    "rule \"%s\" (%s): %s", rule->comment, reason,
		    rule_remedy(rule));
	else if (failed->subject == MESSAGE_CHAIN)
		diag_add(diag, DIAG_ERROR, NULL, 0, "the kernel does not take "
		    "the chains of table inet " RULES_TABLE " (%s): use a "
		    "kernel with CONFIG_NF_TABLES_INET", reason);
	else if (failed->subject == MESSAGE_STREAMS)
		diag_add(diag, DIAG_ERROR, NULL, 0, "the kernel does not take "
		    "a set of TCP connections (%s): set capture.tcp = false",
		    reason);
	else if (failed->subject == MESSAGE_USERS)
		diag_add(diag, DIAG_ERROR, NULL, 0, "the kernel does not take "
		    "the set of users (%s): set capture.user_rate = 0", reason);
	else if (failed->subject == MESSAGE_SET)
		diag_add(diag, DIAG_ERROR, NULL, 0, "the kernel does not take "
		    "the address sets of capture.nameservers and "
		    "capture.bypass.destinations (%s): remove addresses", reason);
	else
		diag_add(diag, DIAG_ERROR, NULL, 0, "cannot put in table inet "
		    RULES_TABLE ": %s", rules_kernel_open_error(error));
}

static void
put_streams(struct batch *batch, const struct ruleset *set)
{
	nft_message_streams(batch, set, true, STREAMS_ID);
	nft_message_streams(batch, set, false, STREAMS_ID + 1);
}

/*
 * Somebody may have put in what "nfdns rules print" prints.  That table is
 * deleted whether it is there or not: made first if it is not, without chains,
 * which no packet notices.
 */
static void
put_whole_table(struct batch *batch, const struct ruleset *set,
    enum rules_table table)
{
	nft_message_name(batch, table, NFT_MSG_NEWTABLE, MESSAGE_STALE, 0,
	    NULL);
	nft_message_name(batch, table, NFT_MSG_DELTABLE, MESSAGE_STALE, 0,
	    NULL);
	nft_message_table(batch, table);
	for (enum rules_chain chain = 0; chain < CHAINS; chain++)
		if (ruleset_has_chain(set, chain) &&
		    rules_chain_form(chain)->table == table)
			nft_message_chain(batch, chain);
	if (set->tcp && table == TABLE_INET)
		put_streams(batch, set);
}

/* How much of the tables an install makes anew; the sets of addresses always. */
struct install_scope {
	bool whole;			/* of table inet; */
	bool guests;			/* of those of containers, */
	bool guests_gone;		/* which are there, and not wanted */
	bool chains[CHAINS];		/* all rules of these */
	bool streams;			/* the sets of connections */
};

/* The next of the list that stands in that chain; NULL behind the last. */
static const struct nftnl_rule *
next_of_chain(struct nftnl_rule_list_iter *iter, enum rules_chain chain)
{
	const struct nftnl_rule *rule;

	while ((rule = nftnl_rule_list_iter_next(iter)) != NULL)
		if (strcmp(nftnl_rule_get_str(rule, NFTNL_RULE_CHAIN),
		    rules_chain_form(chain)->name) == 0)
			return rule;
	return NULL;
}

/*
 * Chain "verdict" must not be touched without need: a "ct zone set" that is
 * destroyed drops every packet that waits in any queue of the namespace
 * (nft_ct_set_destroy() in net/netfilter/nft_ct.c), a while after the batch.
 */
bool
rules_kernel_has_chain(struct rules_kernel *kernel, const struct ruleset *set,
    enum rules_chain chain)
{
	struct nftnl_rule_list *rules = NULL;
	struct nftnl_rule_list_iter *iter;
	bool equal;

	if (read_rules(&kernel->netlink, &rules) != 0)
		return false;
	iter = nftnl_rule_list_iter_create(rules);
	equal = iter != NULL;
	for (size_t i = 0; equal && i < set->count; i++) {
		const struct nftnl_rule *there;

		if (set->rules[i].chain != chain)
			continue;
		there = next_of_chain(iter, chain);
		equal = there != NULL &&
		    expressions_are(&set->rules[i], there);
	}
	equal = equal && next_of_chain(iter, chain) == NULL;
	if (iter != NULL)
		nftnl_rule_list_iter_destroy(iter);
	nftnl_rule_list_free(rules);
	return equal;
}

/* Whether it is the set of connections that is wanted. */
struct wanted_streams {
	const struct ruleset *set;
	bool ipv4, fit;
};

static int
compare_streams(const struct nlmsghdr *message, void *data)
{
	struct wanted_streams *wanted = data;
	struct nftnl_set *there = nftnl_set_alloc();

	if (there == NULL)
		return -ENOMEM;
	wanted->fit = nftnl_set_nlmsg_parse(message, there) >= 0 &&
	    nftnl_set_get_u32(there, NFTNL_SET_FLAGS) ==
	    (NFT_SET_EVAL | NFT_SET_TIMEOUT) &&
	    nftnl_set_get_u32(there, NFTNL_SET_KEY_LEN) ==
	    expressions_stream_length(wanted->ipv4) &&
	    nftnl_set_get_u32(there, NFTNL_SET_DESC_SIZE) ==
	    wanted->set->streams_max &&
	    nftnl_set_get_u64(there, NFTNL_SET_TIMEOUT) ==
	    RULES_STREAMS_S * 1000ULL;
	nftnl_set_free(there);
	return 0;
}

/*
 * Whether the sets of connections are what they are to be: those of a
 * predecessor of another version may not.
 */
static bool
has_streams(struct rules_kernel *kernel, const struct ruleset *set)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];
	struct wanted_streams wanted = { .set = set, .fit = true };

	for (int i = 0; i < 2 && wanted.fit; i++) {
		wanted.ipv4 = i == 0;
		wanted.fit = false;
		if (netlink_talk(&kernel->netlink, ask_set(&kernel->netlink,
		    buffer, wanted.ipv4 ? RULES_STREAMS4 : RULES_STREAMS6),
		    compare_streams, &wanted) != 0)
			return false;
	}
	return wanted.fit;
}

static bool
is_of_guests(enum rules_chain chain)
{
	return rules_chain_form(chain)->table != TABLE_INET;
}

/* Whether all of the chain's table is made anew. */
static bool
is_made_anew(const struct install_scope *scope, enum rules_chain chain)
{
	return is_of_guests(chain) ? scope->guests : scope->whole;
}

/*
 * A table with other chains comes from a predecessor with another config, or
 * of another version.
 */
static struct install_scope
scope_of(struct rules_kernel *kernel, const struct ruleset *set)
{
	struct install_scope scope = { .whole = !kernel->installed,
		.guests = set->guests && !kernel->guests,
		.guests_gone = !set->guests && kernel->guests };

	for (enum rules_chain chain = 0; chain < CHAINS; chain++)
		scope.whole |= !is_of_guests(chain) && chain != CHAIN_GUESTS &&
		    kernel->chains[chain] != ruleset_has_chain(set, chain);
	scope.streams = !scope.whole && set->tcp && !has_streams(kernel, set);
	for (enum rules_chain chain = 0; chain < CHAINS; chain++)
		scope.chains[chain] = ruleset_has_chain(set, chain) &&
		    !is_made_anew(&scope, chain) &&
		    (chain == CHAIN_QUESTION || chain == CHAIN_GUESTS4 ||
		    chain == CHAIN_GUESTS6 ||
		    ((chain == CHAIN_STREAM || chain == CHAIN_GUESTS) &&
		    scope.streams) ||
		    !rules_kernel_has_chain(kernel, set, chain));
	return scope;
}

/* Whether the table that the last install put in is still there. */
static bool
is_kept(const struct install_scope *scope, enum rules_table table)
{
	return table == TABLE_INET ? !scope->whole :
	    !scope->guests && !scope->guests_gone;
}

/* The one chain of table inet that comes and goes alone: put_whole_table(). */
static void
put_guests_chain(struct batch *batch, const struct rules_kernel *kernel,
    const struct ruleset *set)
{
	const bool wanted = ruleset_has_chain(set, CHAIN_GUESTS);
	const char *name = rules_chain_form(CHAIN_GUESTS)->name;

	if (wanted && !kernel->chains[CHAIN_GUESTS])
		nft_message_chain(batch, CHAIN_GUESTS);
	if (wanted || !kernel->chains[CHAIN_GUESTS])
		return;
	nft_message_name(batch, TABLE_INET, NFT_MSG_DELRULE, MESSAGE_CLEAR,
	    NFTA_RULE_CHAIN, name);
	nft_message_name(batch, TABLE_INET, NFT_MSG_DELCHAIN, MESSAGE_CLEAR,
	    NFTA_CHAIN_NAME, name);
}

/* Empties what the last install put in, but for the base chains. */
static void
put_clearance(struct batch *batch, const struct rules_kernel *kernel,
    const struct ruleset *set, const struct install_scope *scope)
{
	for (enum rules_chain chain = 0; chain < CHAINS; chain++)
		if (scope->chains[chain] && kernel->chains[chain])
			nft_message_name(batch, rules_chain_form(chain)->table,
			    NFT_MSG_DELRULE, MESSAGE_CLEAR, NFTA_RULE_CHAIN,
			    rules_chain_form(chain)->name);
	for (enum rules_set_id i = 0; i < RULES_SETS; i++)
		if (kernel->sets[i] && is_kept(scope, rules_set_table(i)))
			nft_message_name(batch, rules_set_table(i),
			    NFT_MSG_DELSET, MESSAGE_CLEAR, NFTA_SET_NAME,
			    set->sets[i].name);
	/* Their elements keep the rate that they were made with. */
	for (enum user_budget i = 0; i < USER_BUDGETS; i++)
		if (kernel->users[i] && is_kept(scope, rules_users(i)->table))
			nft_message_name(batch, rules_users(i)->table,
			    NFT_MSG_DELSET, MESSAGE_CLEAR, NFTA_SET_NAME,
			    rules_users_name(i));
	if (!scope->streams)
		return;
	nft_message_name(batch, TABLE_INET, NFT_MSG_DELSET, MESSAGE_CLEAR,
	    NFTA_SET_NAME, RULES_STREAMS4);
	nft_message_name(batch, TABLE_INET, NFT_MSG_DELSET, MESSAGE_CLEAR,
	    NFTA_SET_NAME, RULES_STREAMS6);
	put_streams(batch, set);
}

static int
try_install(struct rules_kernel *kernel, const struct ruleset *set,
    const struct install_scope *scope, struct batch_part *failed)
{
	enum queue_form form = kernel->features.native_queue ? QUEUE_NATIVE :
	    QUEUE_XT;
	struct batch batch;
	int rc;

	batch_begin(&batch, &kernel->netlink);
	for (enum rules_table t = 0; t < RULES_TABLES; t++) {
		if (t == TABLE_INET ? scope->whole : scope->guests)
			put_whole_table(&batch, set, t);
		if (t != TABLE_INET && scope->guests_gone)
			nft_message_name(&batch, t, NFT_MSG_DELTABLE,
			    MESSAGE_CLEAR, 0, NULL);
	}
	if (!scope->whole)
		put_guests_chain(&batch, kernel, set);
	put_clearance(&batch, kernel, set, scope);
	for (enum user_budget i = 0; i < USER_BUDGETS; i++)
		if (ruleset_has_budget(set, i))
			nft_message_users(&batch, i, USERS_ID + i);
	nft_message_sets(&batch, set);
	for (enum rules_chain chain = 0; chain < CHAINS; chain++)
		if (is_made_anew(scope, chain) || scope->chains[chain])
			nft_message_rules(&batch, set, chain, form);
	rc = batch_send(&batch, &kernel->netlink, failed);
	batch_free(&batch);
	return rc;
}

/*
 * Whether another way than the one that failed is left to try; each is given
 * up for good, so there are three tries at most.
 */
static bool
fall_back(struct rules_kernel *kernel, const struct ruleset *set,
    const struct batch_part *failed, int error, struct install_scope *scope)
{
	const struct rule *rule = failed->item;

	if (failed->subject == MESSAGE_RULE && error == -ENOENT &&
	    rule_queues(rule) && kernel->features.native_queue) {
		kernel->features.native_queue = false;
		return true;
	}
	/* Another program took out what we had put in. */
	if (failed->subject == MESSAGE_CLEAR && !scope->whole) {
		*scope = (struct install_scope){ .whole = true,
			.guests = set->guests };
		return true;
	}
	return false;
}

/* What the rules in the kernel have counted, without those replaced before. */
static int
read_counters(struct rules_kernel *kernel, uint64_t packets[RULES_COUNTERS])
{
	struct nftnl_rule_list *rules = NULL;
	struct nftnl_rule_list_iter *iter;
	struct nftnl_rule *rule;
	int rc;

	memset(packets, 0, RULES_COUNTERS * sizeof(*packets));
	if (!kernel->installed)
		return 0;
	rc = read_rules(&kernel->netlink, &rules);
	if (rc != 0)
		return rc;
	iter = nftnl_rule_list_iter_create(rules);
	while (iter != NULL &&
	    (rule = nftnl_rule_list_iter_next(iter)) != NULL) {
		uint64_t here;
		enum rules_counter which = expressions_counter(rule, &here);

		if (which < RULES_COUNTERS)
			packets[which] += here;
	}
	if (iter != NULL)
		nftnl_rule_list_iter_destroy(iter);
	else
		rc = -ENOMEM;
	nftnl_rule_list_free(rules);
	return rc;
}

/* What the predecessor put in, as far as the next install must know it. */
static int
learn_table(struct rules_kernel *kernel)
{
	uint64_t counted[RULES_COUNTERS];
	const struct snapshot *s = &kernel->snapshot;
	int rc = snapshot_read(&kernel->snapshot, &kernel->netlink);

	if (rc == -ENOENT)
		return 0;
	if (rc != 0)
		return rc;
	kernel->installed = true;
	for (enum rules_chain chain = 0; chain < CHAINS; chain++)
		kernel->chains[chain] = snapshot_has(s, SNAPSHOT_CHAIN,
		    rules_chain_form(chain)->name);
	kernel->guests = kernel->chains[CHAIN_GUESTS4] &&
	    kernel->chains[CHAIN_GUESTS6];
	for (size_t i = 0; i < RULES_SETS; i++)
		kernel->sets[i] = snapshot_has(s, SNAPSHOT_SET,
		    rules_set_name((enum rules_set_id)i));
	for (enum user_budget i = 0; i < USER_BUDGETS; i++)
		kernel->users[i] = snapshot_has(s, SNAPSHOT_SET,
		    rules_users_name(i));
	/* What was counted so far was another's: modulo 2^64. */
	if (read_counters(kernel, counted) == 0)
		for (size_t i = 0; i < RULES_COUNTERS; i++)
			kernel->counted[i] = 0 - counted[i];
	return 0;
}

int
rules_kernel_adopt(struct rules_kernel **kernel, int fd)
{
	struct rules_kernel *new = calloc(1, sizeof(*new));
	int rc;

	*kernel = NULL;
	if (new == NULL) {
		(void)close(fd);
		return -ENOMEM;
	}
	new->features.native_queue = true;
	rc = netlink_adopt(&new->netlink, RULES_TABLE, fd);
	if (rc == 0) {
		rc = learn_table(new);
		if (rc != 0)
			netlink_close(&new->netlink);
	}
	if (rc != 0)
		free(new);
	else
		*kernel = new;
	return rc;
}

bool
rules_kernel_has_table(const struct rules_kernel *kernel)
{
	return kernel->installed;
}

int
rules_kernel_fd(const struct rules_kernel *kernel)
{
	return mnl_socket_get_fd(kernel->netlink.socket);
}

/* Adds what the rules that an install replaced had counted. */
static void
keep_counters(struct rules_kernel *kernel, const struct install_scope *scope,
    const uint64_t counted[RULES_COUNTERS])
{
	if (scope->whole || scope->chains[CHAIN_STREAM])
		kernel->counted[COUNTER_STREAMS_FULL] +=
		    counted[COUNTER_STREAMS_FULL];
	kernel->counted[COUNTER_QUESTIONS] += counted[COUNTER_QUESTIONS];
	kernel->counted[COUNTER_SURPLUS] += counted[COUNTER_SURPLUS];
}

/* Behind each change; without it, what verify finds first is taken for it. */
static void
take_snapshot(struct rules_kernel *kernel)
{
	snapshot_free(&kernel->snapshot);
	(void)!snapshot_read(&kernel->snapshot, &kernel->netlink);
}

int
rules_kernel_install(struct rules_kernel *kernel, const struct ruleset *set,
    struct rules_features *features, struct diag *diag)
{
	struct install_scope scope;
	struct batch_part failed;
	uint64_t counted[RULES_COUNTERS];
	int rc;

	/* A lost count is no reason to leave old rules in. */
	if (read_counters(kernel, counted) != 0)
		memset(counted, 0, sizeof(counted));
	scope = scope_of(kernel, set);
	do
		rc = try_install(kernel, set, &scope, &failed);
	while (rc != 0 && fall_back(kernel, set, &failed, rc, &scope));
	if (rc != 0) {
		explain(&failed, rc, diag);
		/* The table of another program is what EPERM means there. */
		return failed.subject == MESSAGE_STALE && rc == -EPERM ? -EBUSY :
		    rc;
	}
	kernel->installed = true;
	kernel->guests = set->guests;
	keep_counters(kernel, &scope, counted);
	for (enum rules_chain chain = 0; chain < CHAINS; chain++)
		kernel->chains[chain] = ruleset_has_chain(set, chain);
	for (size_t i = 0; i < RULES_SETS; i++)
		kernel->sets[i] = set->sets[i].count > 0;
	for (enum user_budget i = 0; i < USER_BUDGETS; i++)
		kernel->users[i] = ruleset_has_budget(set, i);
	*features = kernel->features;
	take_snapshot(kernel);
	return 0;
}

int
rules_kernel_verify(struct rules_kernel *kernel, enum rules_state *state,
    struct diag *diag)
{
	struct snapshot now;
	const int rc = snapshot_read(&now, &kernel->netlink);

	*state = RULES_ABSENT;
	if (rc == -ENOENT) {
		diag_add(diag, DIAG_ERROR, NULL, 0, "table inet " RULES_TABLE
		    " is not in the kernel: another program took it out");
		return 0;
	}
	if (rc != 0)
		return rc;
	*state = RULES_EQUAL;
	if (kernel->snapshot.count == 0) {
		kernel->snapshot = now;
		return 0;
	}
	if (!snapshot_equal(&kernel->snapshot, &now, diag))
		*state = RULES_DIFFER;
	snapshot_free(&now);
	return 0;
}

int
rules_kernel_present(struct rules_kernel *kernel, bool *present)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];
	struct nlmsghdr *message = netlink_request(&kernel->netlink, buffer,
	    NFT_MSG_GETTABLE, NLM_F_ACK);
	int rc;

	mnl_attr_put_strz(message, NFTA_TABLE_NAME, RULES_TABLE);
	rc = netlink_talk(&kernel->netlink, message, NULL, NULL);
	*present = rc == 0;
	return rc == -ENOENT ? 0 : rc;
}

int
rules_kernel_leave_zone(struct rules_kernel *kernel, const struct ruleset *set)
{
	struct batch_part failed;
	struct batch batch;
	int rc;

	batch_begin(&batch, &kernel->netlink);
	nft_message_first_rule(&batch, set, CHAIN_VERDICT);
	rc = batch_send(&batch, &kernel->netlink, &failed);
	batch_free(&batch);
	take_snapshot(kernel);
	return rc;
}

static int
delete_tables(struct rules_kernel *kernel)
{
	struct batch_part failed;
	struct batch batch;
	int rc;

	batch_begin(&batch, &kernel->netlink);
	for (enum rules_table t = 0; t < RULES_TABLES; t++)
		if (t == TABLE_INET || kernel->guests)
			nft_message_name(&batch, t, NFT_MSG_DELTABLE,
			    MESSAGE_STALE, 0, NULL);
	rc = batch_send(&batch, &kernel->netlink, &failed);
	batch_free(&batch);
	return rc == -ENOENT ? 0 : rc;
}

int
rules_kernel_remove(struct rules_kernel *kernel)
{
	const struct install_scope all = { .whole = true };
	uint64_t counted[RULES_COUNTERS];
	int rc;

	if (read_counters(kernel, counted) != 0)
		memset(counted, 0, sizeof(counted));
	rc = delete_tables(kernel);
	if (rc != 0)
		return rc;
	keep_counters(kernel, &all, counted);
	kernel->installed = kernel->guests = false;
	return 0;
}

int
rules_kernel_counters(struct rules_kernel *kernel,
    uint64_t packets[static RULES_COUNTERS])
{
	int rc = read_counters(kernel, packets);

	for (size_t i = 0; rc == 0 && i < RULES_COUNTERS; i++)
		packets[i] += kernel->counted[i];
	return rc;
}

int
rules_kernel_streams(struct rules_kernel *kernel, bool cheap,
    uint32_t counts[static 2])
{
	int rc = 0;

	counts[0] = counts[1] = 0;
	if (!kernel->installed || !kernel->chains[CHAIN_STREAM])
		return 0;
	for (size_t i = 0; i < 2 && rc == 0; i++)
		rc = count_elements(&kernel->netlink,
		    i == 0 ? RULES_STREAMS4 : RULES_STREAMS6, cheap,
		    &counts[i]);
	return rc;
}

void
rules_kernel_close(struct rules_kernel *kernel)
{
	if (kernel == NULL)
		return;
	netlink_close(&kernel->netlink);
	snapshot_free(&kernel->snapshot);
	free(kernel);
}
