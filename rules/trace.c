/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/trace.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libnftnl/chain.h>
#include <libnftnl/trace.h>

#include "rules/netlink/netlink.h"
#include "rules/netlink/expr_builder.h"
#include "rules/ruleset.h"

#define BEHIND_NAT	(-99)		/* NF_IP_PRI_NAT_DST + 1 */
#define SYN		0x02
#define TCP_FLAGS	13		/* where they are in the header */
#define ROOM		(8 << 20)	/* octets of events that wait to be read */
#define MESSAGE_MAX	8192		/* an event has a few hundred octets */

static const struct place {
	const char *name;
	uint32_t hook;
	int priority;
	bool chooses;			/* begins to trace packets */
} places[] = {
	{ "output-first", NF_INET_LOCAL_OUT, INT_MIN, true },
	{ "output-nat", NF_INET_LOCAL_OUT, BEHIND_NAT, false },
	{ "output-last", NF_INET_LOCAL_OUT, INT_MAX, false },
	{ "postrouting-first", NF_INET_POST_ROUTING, INT_MIN, true },
	{ "postrouting-last", NF_INET_POST_ROUTING, INT_MAX, false },
	{ "prerouting-first", NF_INET_PRE_ROUTING, INT_MIN, true },
	{ "prerouting-last", NF_INET_PRE_ROUTING, INT_MAX, false },
	{ "input-first", NF_INET_LOCAL_IN, INT_MIN, true },
	{ "input-last", NF_INET_LOCAL_IN, INT_MAX, false },
};

#define PLACES	(sizeof(places) / sizeof(places[0]))

struct trace {
	char table[sizeof(TRACE_TABLE) + 12];
	struct netlink netlink;		/* owns it */
	struct mnl_socket *events;
	struct nftnl_chain_list *chains;	/* of all tables */
	_Alignas(struct nlmsghdr) char buffer[MESSAGE_MAX];
	const struct nlmsghdr *next;	/* in buffer */
	int left;			/* octets from there */
};

static void
put_table(struct batch *batch, const char *table)
{
	struct nlmsghdr *message = batch_message(batch, NFT_MSG_NEWTABLE,
	    NLM_F_CREATE | NLM_F_EXCL, (struct batch_part){ .subject = 1 });

	if (message == NULL)
		return;
	mnl_attr_put_strz(message, NFTA_TABLE_NAME, table);
	mnl_attr_put_u32(message, NFTA_TABLE_FLAGS, htonl(NFT_TABLE_F_OWNER));
	batch_end_message(batch, message);
}

static void
put_chain(struct batch *batch, const char *table, const struct place *place)
{
	struct nlmsghdr *message = batch_message(batch, NFT_MSG_NEWCHAIN,
	    NLM_F_CREATE, (struct batch_part){ .subject = 1 });
	struct nftnl_chain *chain = nftnl_chain_alloc();

	if (chain == NULL)
		batch_fail(batch, -ENOMEM);
	if (message != NULL && chain != NULL) {
		nftnl_chain_set_u32(chain, NFTNL_CHAIN_FAMILY, NFPROTO_INET);
		nftnl_chain_set_str(chain, NFTNL_CHAIN_TABLE, table);
		nftnl_chain_set_str(chain, NFTNL_CHAIN_NAME, place->name);
		nftnl_chain_set_str(chain, NFTNL_CHAIN_TYPE, "filter");
		nftnl_chain_set_u32(chain, NFTNL_CHAIN_HOOKNUM, place->hook);
		nftnl_chain_set_s32(chain, NFTNL_CHAIN_PRIO, place->priority);
		nftnl_chain_nlmsg_build_payload(message, chain);
		batch_end_message(batch, message);
	}
	if (chain != NULL)
		nftnl_chain_free(chain);
}

/* "meta l4proto P th sport N meta nftrace set 1", or with dport. */
static void
encode(struct expr_builder *b, const struct trace_port *port, bool source)
{
	const uint16_t number = htons(port->port);
	const uint8_t syn = SYN, none = 0, on = 1;

	expr_load_meta(b, NFT_META_L4PROTO);
	expr_compare(b, NFT_CMP_EQ, &port->protocol, 1);
	expr_load_payload_to(b, NFT_REG_1, NFT_PAYLOAD_TRANSPORT_HEADER,
	    source ? 0 : 2, 2);
	expr_compare(b, NFT_CMP_EQ, &number, sizeof(number));
	if (port->protocol == IPPROTO_TCP) {
		expr_load_payload_to(b, NFT_REG_1,
		    NFT_PAYLOAD_TRANSPORT_HEADER, TCP_FLAGS, 1);
		expr_change_octets(b, &syn, &none, 1);
		expr_compare(b, NFT_CMP_NEQ, &none, 1);
	}
	expr_add(b, "immediate");
	expr_put_u32(b, NFTNL_EXPR_IMM_DREG, NFT_REG_1);
	expr_put(b, NFTNL_EXPR_IMM_DATA, &on, 1);
	expr_add(b, "meta");
	expr_put_u32(b, NFTNL_EXPR_META_KEY, NFT_META_NFTRACE);
	expr_put_u32(b, NFTNL_EXPR_META_SREG, NFT_REG_1);
}

static void
put_rule(struct batch *batch, const char *table, const struct place *place,
    const struct trace_port *port, bool source)
{
	struct nlmsghdr *message = batch_message(batch, NFT_MSG_NEWRULE,
	    NLM_F_CREATE | NLM_F_APPEND, (struct batch_part){ .subject = 1 });
	struct expr_builder b = { .rule = nftnl_rule_alloc() };

	if (b.rule == NULL)
		batch_fail(batch, -ENOMEM);
	if (message == NULL || b.rule == NULL)
		goto out;
	nftnl_rule_set_u32(b.rule, NFTNL_RULE_FAMILY, NFPROTO_INET);
	nftnl_rule_set_str(b.rule, NFTNL_RULE_TABLE, table);
	nftnl_rule_set_str(b.rule, NFTNL_RULE_CHAIN, place->name);
	encode(&b, port, source);
	if (b.failed)
		batch_fail(batch, -ENOMEM);
	nftnl_rule_nlmsg_build_payload(message, b.rule);
	batch_end_message(batch, message);
out:
	if (b.rule != NULL)
		nftnl_rule_free(b.rule);
}

static int
install(struct netlink *netlink, const struct trace_port *ports, size_t count)
{
	const char *table = netlink->table;
	struct batch batch;
	struct batch_part failed;
	int error;

	batch_begin(&batch, netlink);
	put_table(&batch, table);
	for (size_t i = 0; i < PLACES; i++) {
		put_chain(&batch, table, &places[i]);
		for (size_t j = 0; places[i].chooses && j < count; j++) {
			put_rule(&batch, table, &places[i], &ports[j], true);
			put_rule(&batch, table, &places[i], &ports[j], false);
		}
	}
	error = batch_send(&batch, netlink, &failed);
	batch_free(&batch);
	return error;
}

static int
take_chain(const struct nlmsghdr *message, void *data)
{
	struct trace *t = data;
	struct nftnl_chain *chain = nftnl_chain_alloc();

	if (chain == NULL)
		return -ENOMEM;
	if (nftnl_chain_nlmsg_parse(message, chain) < 0)
		nftnl_chain_free(chain);	/* newer than this libnftnl */
	else
		nftnl_chain_list_add_tail(chain, t->chains);
	return 0;
}

static int
read_chains(struct trace *t)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];
	struct nlmsghdr *message = netlink_request(&t->netlink, buffer,
	    NFT_MSG_GETCHAIN, NLM_F_DUMP);
	struct nfgenmsg *head = mnl_nlmsg_get_payload(message);
	int error;

	head->nfgen_family = AF_UNSPEC;
	t->chains = nftnl_chain_list_alloc();
	if (t->chains == NULL)
		return -ENOMEM;
	error = netlink_talk(&t->netlink, message, take_chain, t);
	/* Torn: what is missing is told without its hook. */
	return error == -EINTR ? 0 : error;
}

static int
listen_to_events(struct trace *t)
{
	int group = NFNLGRP_NFTRACE, room = ROOM;

	t->events = mnl_socket_open2(NETLINK_NETFILTER,
	    SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (t->events == NULL ||
	    mnl_socket_bind(t->events, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    setsockopt(mnl_socket_get_fd(t->events), SOL_SOCKET,
	    SO_RCVBUFFORCE, &room, sizeof(room)) < 0 ||
	    mnl_socket_setsockopt(t->events, NETLINK_ADD_MEMBERSHIP, &group,
	    sizeof(group)) < 0)
		return -errno;
	return 0;
}

int
trace_open(struct trace **result, const struct trace_port *ports, size_t count)
{
	struct trace *t = calloc(1, sizeof(*t));
	int error;

	*result = NULL;
	if (t == NULL)
		return -ENOMEM;
	(void)snprintf(t->table, sizeof(t->table), TRACE_TABLE "%d",
	    (int)getpid());
	error = netlink_open(&t->netlink, t->table);
	if (error == 0)
		error = listen_to_events(t);
	if (error == 0)
		error = install(&t->netlink, ports, count);
	if (error == 0)
		error = read_chains(t);
	if (error == 0)
		*result = t;
	else
		trace_close(t);
	return error;
}

void
trace_close(struct trace *t)
{
	if (t == NULL)
		return;
	netlink_close(&t->netlink);
	if (t->events != NULL)
		mnl_socket_close(t->events);
	if (t->chains != NULL)
		nftnl_chain_list_free(t->chains);
	free(t);
}

static const char *
family_name(uint32_t family)
{
	switch (family) {
	case NFPROTO_INET:
		return "inet";
	case NFPROTO_IPV4:
		return "ip";
	case NFPROTO_IPV6:
		return "ip6";
	case NFPROTO_NETDEV:
		return "netdev";
	default:
		return "bridge";
	}
}

static void
copy_name(char name[static TRACE_NAME], const char *from)
{
	(void)snprintf(name, TRACE_NAME, "%s", from != NULL ? from : "?");
}

/* Hook and priority, which events do not have. */
static void
find_chain(const struct trace *t, const struct nftnl_trace *from,
    struct trace_chain *chain)
{
	const uint32_t family = nftnl_trace_get_u32(from, NFTNL_TRACE_FAMILY);
	const char *table = nftnl_trace_get_str(from, NFTNL_TRACE_TABLE);
	const char *name = nftnl_trace_get_str(from, NFTNL_TRACE_CHAIN);
	struct nftnl_chain_list_iter *all =
	    nftnl_chain_list_iter_create(t->chains);
	struct nftnl_chain *one;

	chain->family = family_name(family);
	copy_name(chain->table, table);
	copy_name(chain->name, name);
	chain->own = family == NFPROTO_INET &&
	    (strncmp(chain->table, TRACE_TABLE, strlen(TRACE_TABLE)) == 0 ||
	    strcmp(chain->table, RULES_TABLE) == 0);
	while (all != NULL && table != NULL && name != NULL &&
	    (one = nftnl_chain_list_iter_next(all)) != NULL) {
		if (nftnl_chain_get_u32(one, NFTNL_CHAIN_FAMILY) != family ||
		    strcmp(nftnl_chain_get_str(one, NFTNL_CHAIN_TABLE),
		    table) != 0 || strcmp(nftnl_chain_get_str(one,
		    NFTNL_CHAIN_NAME), name) != 0)
			continue;
		chain->base = nftnl_chain_is_set(one, NFTNL_CHAIN_HOOKNUM);
		chain->hook = nftnl_chain_get_u32(one, NFTNL_CHAIN_HOOKNUM);
		chain->priority = nftnl_chain_get_s32(one, NFTNL_CHAIN_PRIO);
		break;
	}
	if (all != NULL)
		nftnl_chain_list_iter_destroy(all);
}

/* RFC 791 section 3.1 and RFC 8200 section 3; no extension headers. */
static void
take_packet(const struct nftnl_trace *from, struct trace_packet *p)
{
	uint32_t n = 0, ports = 0;
	const uint8_t *ip = nftnl_trace_get_data(from,
	    NFTNL_TRACE_NETWORK_HEADER, &n);
	const uint8_t *th = nftnl_trace_get_data(from,
	    NFTNL_TRACE_TRANSPORT_HEADER, &ports);

	if (ip == NULL || th == NULL || n < 20 || ports < 4)
		return;
	if (ip[0] >> 4 == 4) {
		p->family = AF_INET;
		p->protocol = ip[9];
		memcpy(p->source, ip + 12, 4);
		memcpy(p->destination, ip + 16, 4);
	} else if (n >= 40) {
		p->family = AF_INET6;
		p->protocol = ip[6];
		memcpy(p->source, ip + 8, 16);
		memcpy(p->destination, ip + 24, 16);
	}
	p->source_port = (uint16_t)(th[0] << 8 | th[1]);
	p->destination_port = (uint16_t)(th[2] << 8 | th[3]);
}

static int
take_event(const struct trace *t, const struct nlmsghdr *message,
    struct trace_event *event)
{
	struct nftnl_trace *from = nftnl_trace_alloc();

	*event = (struct trace_event){ .id = 0 };
	if (from == NULL)
		return -ENOMEM;
	if (nftnl_trace_nlmsg_parse(message, from) < 0) {
		nftnl_trace_free(from);
		return -EPROTO;
	}
	event->id = nftnl_trace_get_u32(from, NFTNL_TRACE_ID);
	find_chain(t, from, &event->chain);
	event->enters = nftnl_trace_is_set(from, NFTNL_TRACE_NETWORK_HEADER);
	take_packet(from, &event->packet);
	event->handle = nftnl_trace_get_u64(from, NFTNL_TRACE_RULE_HANDLE);
	event->mark = nftnl_trace_get_u32(from, NFTNL_TRACE_MARK);
	event->verdict = nftnl_trace_get_u32(from,
	    nftnl_trace_get_u32(from, NFTNL_TRACE_TYPE) ==
	    NFT_TRACETYPE_POLICY ? NFTNL_TRACE_POLICY : NFTNL_TRACE_VERDICT);
	nftnl_trace_free(from);
	return 0;
}

int
trace_next(struct trace *t, struct trace_event *event)
{
	const uint16_t type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_TRACE;

	for (;;) {
		const struct nlmsghdr *message = t->next;

		if (message == NULL || !mnl_nlmsg_ok(message, t->left)) {
			const ssize_t n = mnl_socket_recvfrom(t->events,
			    t->buffer, sizeof(t->buffer));

			if (n < 0)
				return -errno;
			t->next = (const void *)t->buffer;
			t->left = (int)n;
			continue;
		}
		t->next = mnl_nlmsg_next(message, &t->left);
		if (message->nlmsg_type == type)
			return take_event(t, message, event);
	}
}
