/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libnftnl/common.h>

#include "rules/netlink/netlink.h"
#include "rules/ruleset.h"

/* The kernel fills a buffer of this size with as many objects as go in. */
#define RECEIVE_SIZE	32768
/* Our questions have two short names in them at most. */
#define REQUEST_SIZE	512
/* How often a read is begun anew because of another's change. */
#define READ_TRIES	10

static struct nlmsghdr *
request(struct netlink *netlink, char *buffer, uint16_t type, uint16_t flags)
{
	return nftnl_nlmsg_build_hdr(buffer, type, NFPROTO_INET, flags,
	    ++netlink->sequence);
}

/* Receives a message's payload; returns 0 or a negative errno. */
typedef int (*receive_fn)(const struct nlmsghdr *message, void *data);

/*
 * Takes one received buffer apart.  Returns 1 when the answer is complete, 0
 * when more is to come, or a negative errno.  *torn: a change by another
 * program fell into the dump (NLM_F_DUMP_INTR).
 */
static int
take(const struct netlink *netlink, const char *buffer, size_t length,
    receive_fn receive, void *data, bool *torn)
{
	const struct nlmsghdr *message = (const void *)buffer;
	int left = (int)length, rc;

	for (; mnl_nlmsg_ok(message, left);
	    message = mnl_nlmsg_next(message, &left)) {
		if (message->nlmsg_seq != netlink->sequence)
			continue;	/* what an abandoned request left */
		if (message->nlmsg_flags & NLM_F_DUMP_INTR)
			*torn = true;
		if (message->nlmsg_type == NLMSG_DONE) {
			const int *error = mnl_nlmsg_get_payload(message);

			return mnl_nlmsg_get_payload_len(message) >=
			    sizeof(*error) && *error < 0 ? *error : 1;
		}
		if (message->nlmsg_type == NLMSG_ERROR) {
			const struct nlmsgerr *error =
			    mnl_nlmsg_get_payload(message);

			return error->error == 0 ? 1 : error->error;
		}
		if (receive == NULL)
			continue;
		rc = receive(message, data);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* Sends and receives all that answers it.  0, -EINTR if torn, or negative. */
static int
talk(struct netlink *netlink, const struct nlmsghdr *message,
    receive_fn receive, void *data)
{
	_Alignas(struct nlmsghdr) char buffer[RECEIVE_SIZE];
	bool torn = false;
	int rc = 0;

	if (mnl_socket_sendto(netlink->socket, message, message->nlmsg_len) < 0)
		return -errno;
	while (rc == 0) {
		ssize_t length = mnl_socket_recvfrom(netlink->socket, buffer,
		    sizeof(buffer));

		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return -errno;
		rc = take(netlink, buffer, (size_t)length, receive, data, &torn);
	}
	if (rc < 0)
		return rc;
	return torn ? -EINTR : 0;
}

/* The number of the rule set's last change; any change counts it up. */
static int
take_generation(const struct nlattr *attribute, void *data)
{
	uint32_t *generation = data;

	if (mnl_attr_get_type(attribute) == NFTA_GEN_ID &&
	    mnl_attr_validate(attribute, MNL_TYPE_U32) == 0)
		*generation = ntohl(mnl_attr_get_u32(attribute));
	return MNL_CB_OK;
}

static int
receive_generation(const struct nlmsghdr *message, void *data)
{
	return mnl_attr_parse(message, sizeof(struct nfgenmsg),
	    take_generation, data) < 0 ? -EINVAL : 0;
}

static int
read_generation(struct netlink *netlink, uint32_t *generation)
{
	_Alignas(struct nlmsghdr) char buffer[REQUEST_SIZE];

	return talk(netlink, request(netlink, buffer, NFT_MSG_GETGEN, NLM_F_ACK),
	    receive_generation, generation);
}

int
netlink_open(struct netlink *netlink)
{
	uint32_t generation = 0;
	int rc, on = 1;

	netlink->sequence = 0;
	netlink->socket = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	if (netlink->socket == NULL)
		return -errno;
	if (mnl_socket_bind(netlink->socket, 0, MNL_SOCKET_AUTOPID) < 0) {
		rc = -errno;
		goto fail;
	}
	/* Acknowledgements without a copy of what they acknowledge. */
	(void)mnl_socket_setsockopt(netlink->socket, NETLINK_CAP_ACK, &on,
	    sizeof(on));
	rc = read_generation(netlink, &generation);
	if (rc == 0)
		return 0;
	/* nfnetlink_rcv_msg(): EINVAL when no subsystem has that number. */
	if (rc == -EINVAL || rc == -EOPNOTSUPP)
		rc = -EPROTONOSUPPORT;
fail:
	netlink_close(netlink);
	return rc;
}

int
netlink_adopt(struct netlink *netlink, int fd)
{
	char discarded[1];
	int error;

	netlink->sequence = 0;
	while (recv(fd, discarded, sizeof(discarded), MSG_DONTWAIT) >= 0 ||
	    errno == EINTR)
		;
	netlink->socket = mnl_socket_fdopen(fd);
	if (netlink->socket != NULL)
		return 0;
	error = -errno;
	(void)close(fd);
	return error;
}

void
netlink_close(struct netlink *netlink)
{
	if (netlink->socket != NULL)
		mnl_socket_close(netlink->socket);
	netlink->socket = NULL;
}

static int
receive_table(const struct nlmsghdr *message, void *data)
{
	return nftnl_table_nlmsg_parse(message, data) < 0 ? -errno : 0;
}

static int
read_table(struct netlink *netlink, struct snapshot *snapshot)
{
	_Alignas(struct nlmsghdr) char buffer[REQUEST_SIZE];
	struct nlmsghdr *message = request(netlink, buffer, NFT_MSG_GETTABLE,
	    NLM_F_ACK);

	snapshot->table = nftnl_table_alloc();
	if (snapshot->table == NULL)
		return -ENOMEM;
	mnl_attr_put_strz(message, NFTA_TABLE_NAME, RULES_TABLE);
	return talk(netlink, message, receive_table, snapshot->table);
}

/* The chains of all tables of the family: the kernel filters only lately. */
static int
receive_chain(const struct nlmsghdr *message, void *data)
{
	struct nftnl_chain *chain = nftnl_chain_alloc();

	if (chain == NULL)
		return -ENOMEM;
	if (nftnl_chain_nlmsg_parse(message, chain) < 0) {
		nftnl_chain_free(chain);
		return -errno;
	}
	const char *table = nftnl_chain_get_str(chain, NFTNL_CHAIN_TABLE);
	if (table != NULL && strcmp(table, RULES_TABLE) == 0)
		nftnl_chain_list_add_tail(chain, data);
	else
		nftnl_chain_free(chain);
	return 0;
}

static int
read_chains(struct netlink *netlink, struct snapshot *snapshot)
{
	_Alignas(struct nlmsghdr) char buffer[REQUEST_SIZE];

	snapshot->chains = nftnl_chain_list_alloc();
	if (snapshot->chains == NULL)
		return -ENOMEM;
	return talk(netlink, request(netlink, buffer, NFT_MSG_GETCHAIN,
	    NLM_F_DUMP), receive_chain, snapshot->chains);
}

static int
receive_rule(const struct nlmsghdr *message, void *data)
{
	struct nftnl_rule *rule = nftnl_rule_alloc();

	if (rule == NULL)
		return -ENOMEM;
	if (nftnl_rule_nlmsg_parse(message, rule) < 0) {
		nftnl_rule_free(rule);
		return -errno;
	}
	const char *table = nftnl_rule_get_str(rule, NFTNL_RULE_TABLE);
	if (table != NULL && strcmp(table, RULES_TABLE) == 0)
		nftnl_rule_list_add_tail(rule, data);
	else
		nftnl_rule_free(rule);
	return 0;
}

static int
read_rules(struct netlink *netlink, struct nftnl_rule_list **rules)
{
	_Alignas(struct nlmsghdr) char buffer[REQUEST_SIZE];
	struct nlmsghdr *message = request(netlink, buffer, NFT_MSG_GETRULE,
	    NLM_F_DUMP);

	*rules = nftnl_rule_list_alloc();
	if (*rules == NULL)
		return -ENOMEM;
	mnl_attr_put_strz(message, NFTA_RULE_TABLE, RULES_TABLE);
	return talk(netlink, message, receive_rule, *rules);
}

int
netlink_read_rules(struct netlink *netlink, struct nftnl_rule_list **rules)
{
	int rc = -EINTR;

	for (int tries = 0; rc == -EINTR && tries < READ_TRIES; tries++) {
		rc = read_rules(netlink, rules);
		if (rc != 0 && *rules != NULL) {
			nftnl_rule_list_free(*rules);
			*rules = NULL;
		}
	}
	return rc;
}

static int
receive_set(const struct nlmsghdr *message, void *data)
{
	struct nftnl_set *set = nftnl_set_alloc();

	if (set == NULL)
		return -ENOMEM;
	if (nftnl_set_nlmsg_parse(message, set) < 0) {
		nftnl_set_free(set);
		return -errno;
	}
	nftnl_set_list_add_tail(set, data);
	return 0;
}

static int
receive_elements(const struct nlmsghdr *message, void *data)
{
	return nftnl_set_elems_nlmsg_parse(message, data) < 0 ? -errno : 0;
}

static int
read_elements(struct netlink *netlink, struct nftnl_set *set)
{
	_Alignas(struct nlmsghdr) char buffer[REQUEST_SIZE];
	struct nlmsghdr *message = request(netlink, buffer,
	    NFT_MSG_GETSETELEM, NLM_F_DUMP);

	mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_TABLE, RULES_TABLE);
	mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_SET,
	    nftnl_set_get_str(set, NFTNL_SET_NAME));
	return talk(netlink, message, receive_elements, set);
}

/* Such a set may be large, and nobody wants certain elements in it. */
static bool
is_filled_by_rules(const struct nftnl_set *set)
{
	return (nftnl_set_get_u32(set, NFTNL_SET_FLAGS) & NFT_SET_EVAL) != 0;
}

int
netlink_read_sets(struct netlink *netlink, struct nftnl_set_list **sets)
{
	_Alignas(struct nlmsghdr) char buffer[REQUEST_SIZE];
	struct nlmsghdr *message = request(netlink, buffer, NFT_MSG_GETSET,
	    NLM_F_DUMP);
	int rc;

	*sets = nftnl_set_list_alloc();
	if (*sets == NULL)
		return -ENOMEM;
	mnl_attr_put_strz(message, NFTA_SET_TABLE, RULES_TABLE);
	rc = talk(netlink, message, receive_set, *sets);
	if (rc != 0) {
		nftnl_set_list_free(*sets);
		*sets = NULL;
	}
	return rc;
}

static int
read_sets(struct netlink *netlink, struct snapshot *snapshot)
{
	struct nftnl_set_list_iter *sets;
	struct nftnl_set *set;
	int rc = netlink_read_sets(netlink, &snapshot->sets);

	if (rc != 0)
		return rc;
	sets = nftnl_set_list_iter_create(snapshot->sets);
	if (sets == NULL)
		return -ENOMEM;
	while (rc == 0 && (set = nftnl_set_list_iter_next(sets)) != NULL)
		if (!is_filled_by_rules(set))
			rc = read_elements(netlink, set);
	nftnl_set_list_iter_destroy(sets);
	return rc;
}

/* Newer than the headers of Debian 12: Linux 6.16. */
#define SET_COUNT 20			/* NFTA_SET_COUNT */

struct set_count {
	uint32_t count;
	bool known;
};

static int
take_count(const struct nlattr *attribute, void *data)
{
	struct set_count *set = data;

	if (mnl_attr_get_type(attribute) == SET_COUNT &&
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

int
netlink_count_elements(struct netlink *netlink, const char *set, bool cheap,
    uint32_t *count)
{
	_Alignas(struct nlmsghdr) char buffer[REQUEST_SIZE];
	struct nlmsghdr *message = request(netlink, buffer, NFT_MSG_GETSET,
	    NLM_F_ACK);
	struct set_count known = { .known = false };
	int rc;

	mnl_attr_put_strz(message, NFTA_SET_TABLE, RULES_TABLE);
	mnl_attr_put_strz(message, NFTA_SET_NAME, set);
	rc = talk(netlink, message, receive_count, &known);
	*count = known.count;
	if (rc != 0 || known.known)
		return rc;
	if (cheap)
		return -EOPNOTSUPP;
	message = request(netlink, buffer, NFT_MSG_GETSETELEM, NLM_F_DUMP);
	mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_TABLE, RULES_TABLE);
	mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_SET, set);
	rc = talk(netlink, message, receive_uncounted, count);
	/* Torn: somebody changed the rules, or the set grew. */
	return rc == -EINTR ? 0 : rc;
}

/* One try; -EINTR when the rule set changed under it. */
static int
read_all(struct netlink *netlink, struct snapshot *snapshot)
{
	uint32_t before = 0, after = 0;
	int rc = read_generation(netlink, &before);

	if (rc == 0)
		rc = read_table(netlink, snapshot);
	if (rc == 0)
		rc = read_chains(netlink, snapshot);
	if (rc == 0)
		rc = read_sets(netlink, snapshot);
	if (rc == 0)
		rc = read_rules(netlink, &snapshot->rules);
	if (rc == 0)
		rc = read_generation(netlink, &after);
	return rc == 0 && before != after ? -EINTR : rc;
}

int
snapshot_read(struct netlink *netlink, struct snapshot *snapshot)
{
	int rc = -EINTR;

	memset(snapshot, 0, sizeof(*snapshot));
	for (int tries = 0; rc == -EINTR && tries < READ_TRIES; tries++) {
		snapshot_free(snapshot);
		rc = read_all(netlink, snapshot);
	}
	if (rc != 0)
		snapshot_free(snapshot);
	return rc;
}

void
snapshot_free(struct snapshot *snapshot)
{
	if (snapshot->table != NULL)
		nftnl_table_free(snapshot->table);
	if (snapshot->chains != NULL)
		nftnl_chain_list_free(snapshot->chains);
	if (snapshot->sets != NULL)
		nftnl_set_list_free(snapshot->sets);
	if (snapshot->rules != NULL)
		nftnl_rule_list_free(snapshot->rules);
	memset(snapshot, 0, sizeof(*snapshot));
}
