/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/routes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/fib_rules.h>
#include <linux/filter.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libmnl/libmnl.h>

/* Devices, and rules and routes of both versions. */
#define HEARD_OF	(RTMGRP_LINK | RTMGRP_IPV4_RULE | RTMGRP_IPV4_ROUTE | \
			RTMGRP_IPV6_ROUTE | 1U << (RTNLGRP_IPV6_RULE - 1))

#define LOOPBACK	1	/* lo's number in every namespace */
#define MAX_RULES	512
#define MAX_ENTRIES	4096	/* and devices */
#define RECEIVE_SIZE	32768
#define REQUEST_SIZE	256

struct route_socket {
	struct mnl_socket *socket;	/* owned; NULL: closed */
	uint32_t sequence;
};

/* One routing rule, as much of it as concerns us. */
struct route_rule {
	int family;
	uint32_t table;
	uint32_t priority;
	uint32_t mark, mask;
	uint8_t protocol;
};

/* One route; of other programs' only table and protocol mean anything. */
struct route_entry {
	int family;
	uint32_t table;
	uint32_t device;
	uint8_t protocol;
};

static const int families[] = { AF_INET, AF_INET6 };
#define FAMILIES (sizeof(families) / sizeof(families[0]))

struct routes {
	struct route_socket socket;
	int devices;			/* hears of them */
	struct route_rule rule;		/* family is set for each use */
	bool installed[FAMILIES];
};

static void
route_socket_close(struct route_socket *s)
{
	if (s->socket != NULL)
		(void)mnl_socket_close(s->socket);
	s->socket = NULL;
}

static int
route_socket_open(struct route_socket *s)
{
	int on = 1;

	s->sequence = 0;
	s->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (s->socket == NULL)
		return -errno;
	/* Without it the kernel lists all tables, not the one that is asked for. */
	if (mnl_socket_setsockopt(s->socket, NETLINK_GET_STRICT_CHK, &on,
	    sizeof(on)) == 0 && mnl_socket_bind(s->socket, 0, MNL_SOCKET_AUTOPID) == 0)
		return 0;
	on = -errno;
	route_socket_close(s);
	return on;
}

static struct nlmsghdr *
request(struct route_socket *s, char buffer[static REQUEST_SIZE], uint16_t type,
    int flags)
{
	struct nlmsghdr *message;

	/* Attributes are padded with what stands there: nothing of our stack. */
	memset(buffer, 0, REQUEST_SIZE);
	message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = type;
	message->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	message->nlmsg_seq = ++s->sequence;
	return message;
}

/* Sends, and hands every message of the answer to "take".  0 or an errno. */
static int
talk(struct route_socket *s, const struct nlmsghdr *message, mnl_cb_t take,
    void *data)
{
	_Alignas(struct nlmsghdr) char buffer[RECEIVE_SIZE];
	ssize_t length;
	int rc;

	if (mnl_socket_sendto(s->socket, message, message->nlmsg_len) < 0)
		return -errno;
	do {
		length = mnl_socket_recvfrom(s->socket, buffer, sizeof(buffer));
		if (length < 0 && errno == EINTR) {
			rc = MNL_CB_OK;
			continue;
		}
		if (length < 0)
			return -errno;
		rc = mnl_cb_run(buffer, (size_t)length, s->sequence,
		    mnl_socket_get_portid(s->socket), take, data);
	} while (rc > MNL_CB_STOP);
	return rc < 0 ? -errno : 0;
}

/* As talk(), for a change: it is fine if there is nothing to do. */
static int
change(struct route_socket *s, const struct nlmsghdr *message)
{
	int error = talk(s, message, NULL, NULL);

	if (message->nlmsg_type == RTM_NEWRULE ||
	    message->nlmsg_type == RTM_NEWROUTE)
		return error == -EEXIST ? 1 : error;
	return error == -ENOENT || error == -ESRCH ? 1 : error;
}

/* 0, 1 when there was nothing to do, or a negative errno. */
static int
route_rule_change(struct route_socket *s, bool add,
    const struct route_rule *rule)
{
	_Alignas(struct nlmsghdr) char buffer[REQUEST_SIZE];
	struct nlmsghdr *message = request(s, buffer, add ? RTM_NEWRULE :
	    RTM_DELRULE, NLM_F_ACK | (add ? NLM_F_CREATE | NLM_F_EXCL : 0));
	struct fib_rule_hdr *header = mnl_nlmsg_put_extra_header(message,
	    sizeof(*header));

	header->family = (uint8_t)rule->family;
	header->action = FR_ACT_TO_TBL;
	mnl_attr_put_u32(message, FRA_TABLE, rule->table);
	mnl_attr_put_u32(message, FRA_PRIORITY, rule->priority);
	mnl_attr_put_u32(message, FRA_FWMARK, rule->mark);
	mnl_attr_put_u32(message, FRA_FWMASK, rule->mask);
	mnl_attr_put_u8(message, FRA_PROTOCOL, rule->protocol);
	return change(s, message);
}

static int
route_entry_change(struct route_socket *s, bool add,
    const struct route_entry *entry)
{
	_Alignas(struct nlmsghdr) char buffer[REQUEST_SIZE];
	struct nlmsghdr *message = request(s, buffer, add ? RTM_NEWROUTE :
	    RTM_DELROUTE, NLM_F_ACK | (add ? NLM_F_CREATE | NLM_F_EXCL : 0));
	struct rtmsg *header = mnl_nlmsg_put_extra_header(message,
	    sizeof(*header));

	header->rtm_family = (uint8_t)entry->family;
	header->rtm_type = RTN_LOCAL;
	header->rtm_scope = RT_SCOPE_HOST;
	header->rtm_protocol = entry->protocol;
	mnl_attr_put_u32(message, RTA_TABLE, entry->table);
	mnl_attr_put_u32(message, RTA_OIF, entry->device);
	/* One of each metric, lo's before all: no two are the same route. */
	mnl_attr_put_u32(message, RTA_PRIORITY, entry->device);
	return change(s, message);
}

/* A list in the making. */
struct list {
	void *items;
	size_t room, count;
};

static bool
attribute_u32(const struct nlattr *attribute, uint32_t *value)
{
	if (mnl_attr_validate(attribute, MNL_TYPE_U32) < 0)
		return false;
	*value = mnl_attr_get_u32(attribute);
	return true;
}

static int
take_rule_attribute(const struct nlattr *attribute, void *data)
{
	struct route_rule *rule = data;

	switch (mnl_attr_get_type(attribute)) {
	case FRA_TABLE:
		(void)attribute_u32(attribute, &rule->table);
		break;
	case FRA_PRIORITY:
		(void)attribute_u32(attribute, &rule->priority);
		break;
	case FRA_FWMARK:
		(void)attribute_u32(attribute, &rule->mark);
		break;
	case FRA_FWMASK:
		(void)attribute_u32(attribute, &rule->mask);
		break;
	case FRA_PROTOCOL:
		if (mnl_attr_validate(attribute, MNL_TYPE_U8) == 0)
			rule->protocol = mnl_attr_get_u8(attribute);
		break;
	default:
		break;
	}
	return MNL_CB_OK;
}

static int
take_rule(const struct nlmsghdr *message, void *data)
{
	struct list *list = data;
	const struct fib_rule_hdr *header = mnl_nlmsg_get_payload(message);
	struct route_rule rule = { .family = 0 };

	if (message->nlmsg_type != RTM_NEWRULE ||
	    mnl_nlmsg_get_payload_len(message) < sizeof(*header))
		return MNL_CB_OK;
	rule.family = header->family;
	rule.table = header->table;
	(void)mnl_attr_parse(message, sizeof(*header), take_rule_attribute,
	    &rule);
	if (list->count < list->room)
		((struct route_rule *)list->items)[list->count] = rule;
	list->count++;
	return MNL_CB_OK;
}

/* What a version of IP that is not there answers to a question for its lists. */
static int
nothing_there(int error)
{
	return error == -EAFNOSUPPORT || error == -EOPNOTSUPP ||
	    error == -ENOENT ? 0 : error;
}

/* The first "room" of what there is; *count is what there is in all. */
static int
route_rules_list(struct route_socket *s, int family, struct route_rule *rules,
    size_t room, size_t *count)
{
	_Alignas(struct nlmsghdr) char buffer[REQUEST_SIZE];
	struct nlmsghdr *message = request(s, buffer, RTM_GETRULE, NLM_F_DUMP);
	struct fib_rule_hdr *header = mnl_nlmsg_put_extra_header(message,
	    sizeof(*header));
	struct list list = { .items = rules, .room = room };
	int error;

	header->family = (uint8_t)family;
	error = nothing_there(talk(s, message, take_rule, &list));
	*count = list.count;
	return error;
}

static int
take_entry_attribute(const struct nlattr *attribute, void *data)
{
	struct route_entry *entry = data;

	if (mnl_attr_get_type(attribute) == RTA_TABLE)
		(void)attribute_u32(attribute, &entry->table);
	else if (mnl_attr_get_type(attribute) == RTA_OIF)
		(void)attribute_u32(attribute, &entry->device);
	return MNL_CB_OK;
}

static int
take_entry(const struct nlmsghdr *message, void *data)
{
	struct list *list = data;
	const struct rtmsg *header = mnl_nlmsg_get_payload(message);
	struct route_entry entry = { .device = 0 };

	if (message->nlmsg_type != RTM_NEWROUTE ||
	    mnl_nlmsg_get_payload_len(message) < sizeof(*header))
		return MNL_CB_OK;
	entry.family = header->rtm_family;
	entry.table = header->rtm_table;
	entry.protocol = header->rtm_protocol;
	(void)mnl_attr_parse(message, sizeof(*header), take_entry_attribute,
	    &entry);
	if (list->count < list->room)
		((struct route_entry *)list->items)[list->count] = entry;
	list->count++;
	return MNL_CB_OK;
}

static int
route_entries_list(struct route_socket *s, int family, uint32_t table,
    struct route_entry *entries, size_t room, size_t *count)
{
	_Alignas(struct nlmsghdr) char buffer[REQUEST_SIZE];
	struct nlmsghdr *message = request(s, buffer, RTM_GETROUTE, NLM_F_DUMP);
	struct rtmsg *header = mnl_nlmsg_put_extra_header(message,
	    sizeof(*header));
	struct list list = { .items = entries, .room = room };
	int error;

	header->rtm_family = (uint8_t)family;
	mnl_attr_put_u32(message, RTA_TABLE, table);
	error = nothing_there(talk(s, message, take_entry, &list));
	*count = list.count;
	return error;
}

/* It is fine if there was nothing to change. */
static int
settled(int outcome)
{
	return outcome > 0 ? 0 : outcome;
}

static const char *
family_text(int family)
{
	return family == AF_INET ? "IPv4" : "IPv6";
}

/*
 * Whether routes of that version can be had: IPv6 can be switched off, and then
 * lo has no ::1.  /proc/sys, which says so too, may be hidden from a service.
 */
static bool
has_family(int family)
{
	struct ifaddrs *all = NULL;
	bool has = family == AF_INET;

	if (has || getifaddrs(&all) < 0)
		return has;
	for (const struct ifaddrs *one = all; one != NULL; one = one->ifa_next)
		has |= one->ifa_addr != NULL &&
		    one->ifa_addr->sa_family == AF_INET6 &&
		    IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)
		    (const void *)one->ifa_addr)->sin6_addr);
	freeifaddrs(all);
	return has;
}

static struct route_rule
wanted_rule(const struct config *config)
{
	return (struct route_rule){
		.table = config->stream.table,
		.priority = STREAM_PRIORITY,
		.mark = config->capture.mark_stream,
		.mask = config->capture.mark_mask,
		.protocol = ROUTES_PROTOCOL,
	};
}

/* Takes our routes out of a table; *foreign: it holds others', too. */
static int
empty_table(struct route_socket *s, int family, uint32_t table, bool *foreign)
{
	struct route_entry *entries = calloc(MAX_ENTRIES, sizeof(*entries));
	size_t count = 0;
	int error = entries == NULL ? -ENOMEM : route_entries_list(s, family,
	    table, entries, MAX_ENTRIES, &count);

	*foreign = count > MAX_ENTRIES;
	for (size_t i = 0; i < count && i < MAX_ENTRIES && error == 0; i++) {
		if (entries[i].protocol == ROUTES_PROTOCOL)
			error = settled(route_entry_change(s, false,
			    &entries[i]));
		else
			*foreign = true;
	}
	free(entries);
	return error;
}

/* Another's rule of our priority may come before ours. */
static void
warn_priority(const struct route_rule *rule, struct diag *diag)
{
	diag_add(diag, DIAG_WARNING, NULL, 0, "another program has an %s "
	    "routing rule of priority %u, too: of the two the older comes first",
	    family_text(rule->family), rule->priority);
}

/* Takes out what is ours, wherever it is; what others have, diag is told, if any. */
static int
sweep(struct route_socket *s, int family, uint32_t priority, struct diag *diag)
{
	struct route_rule *rules = calloc(MAX_RULES, sizeof(*rules));
	bool foreign;
	size_t count = 0;
	int error = rules == NULL ? -ENOMEM : route_rules_list(s, family, rules,
	    MAX_RULES, &count);

	for (size_t i = 0; i < count && i < MAX_RULES && error == 0; i++) {
		if (rules[i].protocol == ROUTES_PROTOCOL) {
			error = empty_table(s, family, rules[i].table,
			    &foreign);
			if (error == 0)
				error = settled(route_rule_change(s, false,
				    &rules[i]));
		} else if (diag != NULL && rules[i].priority == priority)
			warn_priority(&rules[i], diag);
	}
	free(rules);
	return error;
}

static int
clean(struct routes *r, int family, struct diag *diag)
{
	bool foreign = false;
	int error = sweep(&r->socket, family, r->rule.priority, diag);

	if (error == 0)
		error = empty_table(&r->socket, family, r->rule.table,
		    &foreign);
	if (error == 0 && foreign) {
		diag_add(diag, DIAG_ERROR, NULL, 0, "another program uses the "
		    "%s routing table %u: change stream.table",
		    family_text(family), r->rule.table);
		return -EBUSY;
	}
	if (error != 0)
		diag_add(diag, DIAG_ERROR, NULL, 0, "cannot read or clean the "
		    "%s routing rules: %s: run as root, or set capture.tcp = "
		    "false", family_text(family), strerror(-error));
	return error;
}

/* 0, 1 when it was there, or a negative errno. */
static int
add_route(struct routes *r, int family, uint32_t device)
{
	const struct route_entry entry = {
		.family = family, .table = r->rule.table, .device = device,
		.protocol = ROUTES_PROTOCOL,
	};

	return route_entry_change(&r->socket, true, &entry);
}

/*
 * lo's is what nearly every packet needs; a device may go at any moment.
 * Returns whether lo's was missing.
 */
static bool
add_devices(struct routes *r, int family)
{
	struct ifaddrs *all = NULL;
	bool missing = add_route(r, family, LOOPBACK) == 0;

	/* Each has an entry of its own, besides those of its addresses. */
	if (getifaddrs(&all) < 0)
		return missing;
	for (const struct ifaddrs *one = all; one != NULL; one = one->ifa_next)
		if (one->ifa_addr != NULL &&
		    one->ifa_addr->sa_family == AF_PACKET &&
		    (one->ifa_flags & IFF_UP) != 0)
			(void)!add_route(r, family, (uint32_t)
			    ((const struct sockaddr_ll *)(const void *)
			    one->ifa_addr)->sll_ifindex);
	freeifaddrs(all);
	return missing;
}

static int
install(struct routes *r, size_t which, struct diag *diag)
{
	int family = families[which], error;

	if (!has_family(family))
		return 0;
	error = clean(r, family, diag);
	if (error != 0)
		return error;
	error = add_route(r, family, LOOPBACK);
	if (error == 0) {
		r->rule.family = family;
		error = settled(route_rule_change(&r->socket, true, &r->rule));
	}
	if (error == -ENETDOWN) {
		diag_add(diag, DIAG_ERROR, NULL, 0, "the loopback interface is "
		    "down, by which answers go: ip link set lo up");
		return error;
	}
	if (error != 0) {
		diag_add(diag, DIAG_ERROR, NULL, 0, "cannot add %s policy "
		    "routing (%s): use a kernel with CONFIG_IP_MULTIPLE_TABLES, "
		    "or set capture.tcp = false", family_text(family),
		    strerror(-error));
		return error;
	}
	r->installed[which] = true;
	(void)add_devices(r, family);
	return 0;
}

/*
 * Of routes only the end of one of ours is of interest.  A router's table
 * changes thousands of times a second: the kernel throws the rest away before
 * it wakes us.  A notification is one message (rtnl_notify()), in the byte order
 * of the machine but for what is loaded as 16 bits: that is turned.
 */
static int
hear_less(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS,
		    offsetof(struct nlmsghdr, nlmsg_type)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_NEWROUTE), 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_DELROUTE), 0, 3),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS,
		    NLMSG_HDRLEN + offsetof(struct rtmsg, rtm_protocol)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ROUTES_PROTOCOL, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	};
	const struct sock_fprog filter = {
		.len = sizeof(code) / sizeof(*code), .filter = code,
	};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter,
	    sizeof(filter)) < 0 ? -errno : 0;
}

/* A socket that is told when devices, rules and our routes change. */
static int
open_devices(void)
{
	const struct sockaddr_nl links = { .nl_family = AF_NETLINK,
		.nl_groups = HEARD_OF };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    NETLINK_ROUTE);

	if (fd < 0)
		return -errno;
	if (hear_less(fd) == 0 && bind(fd, (const struct sockaddr *)&links, sizeof(links)) == 0)
		return fd;
	(void)close(fd);
	return -EIO;
}

int
routes_install(struct routes **routes, const struct config *config,
    struct diag *diag)
{
	struct routes *r = calloc(1, sizeof(*r));
	int error;

	*routes = NULL;
	if (r == NULL) {
		diag_add(diag, DIAG_ERROR, NULL, 0, "out of memory");
		return -ENOMEM;
	}
	r->rule = wanted_rule(config);
	r->devices = -1;
	error = route_socket_open(&r->socket);
	if (error == 0)
		error = r->devices = open_devices();
	if (error < 0)
		diag_add(diag, DIAG_ERROR, NULL, 0, "cannot open a routing "
		    "socket: %s", strerror(-error));
	for (size_t i = 0; i < FAMILIES && error >= 0; i++)
		error = install(r, i, diag);
	if (error < 0) {
		routes_remove(r);
		return error;
	}
	*routes = r;
	return 0;
}

int
routes_fd(const struct routes *r)
{
	return r->devices;
}

bool
routes_watch(struct routes *r)
{
	char ignored[8192];
	bool gone = false;

	/* What changed does not matter: all that are up get a route. */
	while (recv(r->devices, ignored, sizeof(ignored), MSG_TRUNC) > 0 ||
	    errno == ENOBUFS)
		;
	for (size_t i = 0; i < FAMILIES; i++) {
		if (!r->installed[i])
			continue;
		r->rule.family = families[i];
		gone |= route_rule_change(&r->socket, true, &r->rule) == 0;
		gone |= add_devices(r, families[i]);
	}
	return gone;
}

void
routes_leave(struct routes *r)
{
	if (r == NULL)
		return;
	route_socket_close(&r->socket);
	if (r->devices >= 0)
		(void)close(r->devices);
	free(r);
}

void
routes_remove(struct routes *r)
{
	bool foreign;

	if (r == NULL)
		return;
	for (size_t i = 0; i < FAMILIES && r->socket.socket != NULL; i++) {
		if (!has_family(families[i]))
			continue;
		r->rule.family = families[i];
		if (r->installed[i])
			(void)!route_rule_change(&r->socket, false, &r->rule);
		(void)!empty_table(&r->socket, families[i], r->rule.table,
		    &foreign);
	}
	routes_leave(r);
}

int
routes_clean(void)
{
	struct route_socket s;
	int error = route_socket_open(&s);

	if (error != 0)
		return error;
	for (size_t i = 0; i < FAMILIES && error == 0; i++)
		if (has_family(families[i]))
			error = sweep(&s, families[i], 0, NULL);
	route_socket_close(&s);
	return error;
}
