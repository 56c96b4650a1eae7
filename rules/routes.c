/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/routes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
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

#include "rules/netlink/route_message.h"

/* Devices, and rules and routes of both versions. */
#define HEARD_OF	(RTMGRP_LINK | RTMGRP_IPV4_RULE | RTMGRP_IPV4_ROUTE | \
			RTMGRP_IPV6_ROUTE | 1U << (RTNLGRP_IPV6_RULE - 1))

#define LOOPBACK	1	/* lo's number in every namespace */
#define MAX_RULES	512
#define MAX_ENTRIES	4096	/* and devices */

static const int families[] = { AF_INET, AF_INET6 };
#define FAMILIES (sizeof(families) / sizeof(families[0]))

struct routes {
	struct route_socket socket;
	int devices;			/* hears of them */
	struct route_rule rule;		/* family is set for each use */
	bool installed[FAMILIES];
};

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
