/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matches and targets of xtables, which iptables-nft puts into nf_tables. */
#include <arpa/inet.h>
#include <linux/netfilter/xt_conntrack.h>
#include <linux/netfilter/xt_mark.h>
#include <linux/netfilter/xt_multiport.h>
#include <linux/netfilter/xt_owner.h>
#include <linux/netfilter/xt_tcpudp.h>
#include <netinet/in.h>
#include <string.h>

#include "rules/firewall/internal.h"

static enum firewall_match
match_of(bool yes)
{
	return yes ? MATCH_YES : MATCH_NO;
}

static enum firewall_match
both(enum firewall_match a, enum firewall_match b)
{
	return a < b ? a : b;
}

/* port 0: unknown. */
static enum firewall_match
port_between(uint16_t port, const uint16_t range[static 2], bool inverted)
{
	if (range[0] == 0 && range[1] == UINT16_MAX)
		return match_of(!inverted);
	if (port == 0)
		return MATCH_MAYBE;
	return match_of((port >= range[0] && port <= range[1]) != inverted);
}

static enum firewall_match
match_udp(const struct firewall_packet *p, const void *info)
{
	struct xt_udp udp;

	memcpy(&udp, info, sizeof(udp));
	return both(port_between(p->source_port, udp.spts,
	    (udp.invflags & XT_UDP_INV_SRCPT) != 0),
	    port_between(p->destination_port, udp.dpts,
	    (udp.invflags & XT_UDP_INV_DSTPT) != 0));
}

static enum firewall_match
match_tcp(const struct firewall_packet *p, const void *info)
{
	struct xt_tcp tcp;
	bool flags;

	memcpy(&tcp, info, sizeof(tcp));
	if (tcp.option != 0)
		return MATCH_MAYBE;
	flags = ((p->tcp_flags & tcp.flg_mask) == tcp.flg_cmp) !=
	    ((tcp.invflags & XT_TCP_INV_FLAGS) != 0);
	return both(match_of(flags), both(port_between(p->source_port, tcp.spts,
	    (tcp.invflags & XT_TCP_INV_SRCPT) != 0),
	    port_between(p->destination_port, tcp.dpts,
	    (tcp.invflags & XT_TCP_INV_DSTPT) != 0)));
}

static enum firewall_match
match_owner(const struct firewall_packet *p, const void *info)
{
	struct xt_owner_match_info owner;
	bool yes = true;

	memcpy(&owner, info, sizeof(owner));
	if (p->uid == (uid_t)-1)	/* without a socket: owner_mt() */
		return match_of(((owner.match ^ owner.invert) &
		    XT_OWNER_SOCKET) == 0);
	if (owner.match & XT_OWNER_SOCKET)
		yes = yes && (owner.invert & XT_OWNER_SOCKET) == 0;
	if (owner.match & XT_OWNER_UID)
		yes = yes && (p->uid >= owner.uid_min &&
		    p->uid <= owner.uid_max) !=
		    ((owner.invert & XT_OWNER_UID) != 0);
	if (owner.match & XT_OWNER_GID)
		yes = yes && (p->uid >= owner.gid_min &&
		    p->uid <= owner.gid_max) !=
		    ((owner.invert & XT_OWNER_GID) != 0);
	return match_of(yes);
}

static enum firewall_match
match_conntrack(const struct firewall_packet *p, const void *info)
{
	struct xt_conntrack_mtinfo3 ct;

	memcpy(&ct, info, sizeof(ct));
	if (ct.match_flags != XT_CONNTRACK_STATE)
		return MATCH_MAYBE;
	return match_of(((ct.state_mask & p->ct_state) != 0) !=
	    ((ct.invert_flags & XT_CONNTRACK_STATE) != 0));
}

static enum firewall_match
match_mark(const struct firewall_packet *p, const void *info)
{
	struct xt_mark_mtinfo1 mark;

	memcpy(&mark, info, sizeof(mark));
	return match_of(((p->mark & mark.mask) == mark.mark) !=
	    (mark.invert != 0));
}

static bool
is_listed(const struct xt_multiport_v1 *m, uint16_t port)
{
	for (size_t i = 0; i < m->count && i < XT_MULTI_PORTS; i++) {
		const uint16_t first = m->ports[i];

		if (m->pflags[i] != 0 && i + 1 < XT_MULTI_PORTS) {
			if (port >= first && port <= m->ports[++i])
				return true;
		} else if (port == first)
			return true;
	}
	return false;
}

static enum firewall_match
match_multiport(const struct firewall_packet *p, const void *info)
{
	struct xt_multiport_v1 m;
	bool yes = false;

	memcpy(&m, info, sizeof(m));
	if ((m.flags != XT_MULTIPORT_DESTINATION && p->source_port == 0) ||
	    (m.flags != XT_MULTIPORT_SOURCE && p->destination_port == 0))
		return MATCH_MAYBE;
	if (m.flags != XT_MULTIPORT_DESTINATION)
		yes = is_listed(&m, p->source_port);
	if (m.flags != XT_MULTIPORT_SOURCE)
		yes = yes || is_listed(&m, p->destination_port);
	return match_of(yes != (m.invert != 0));
}

static enum firewall_match
match_comment(const struct firewall_packet *p, const void *info)
{
	(void)p;
	(void)info;
	return MATCH_YES;
}

static const struct {
	const char *name;
	size_t size;			/* of its info, at least */
	enum firewall_match (*match)(const struct firewall_packet *packet,
	    const void *info);
	uint32_t revision;
	bool of_mark;
} matches[] = {
	{ "comment", 0, match_comment, 0, false },
	{ "udp", sizeof(struct xt_udp), match_udp, 0, false },
	{ "tcp", sizeof(struct xt_tcp), match_tcp, 0, false },
	{ "owner", sizeof(struct xt_owner_match_info), match_owner, 1, false },
	{ "conntrack", sizeof(struct xt_conntrack_mtinfo3), match_conntrack, 3, false },
	{ "mark", sizeof(struct xt_mark_mtinfo1), match_mark, 1, true },
	{ "multiport", sizeof(struct xt_multiport_v1), match_multiport, 1, false },
};

enum firewall_match
xt_match(const struct firewall_packet *packet, const char *name,
    uint32_t revision, const void *info, size_t length)
{
	for (size_t i = 0; i < sizeof(matches) / sizeof(matches[0]); i++)
		if (name != NULL && strcmp(name, matches[i].name) == 0 &&
		    revision == matches[i].revision &&
		    length >= matches[i].size && info != NULL &&
		    !(matches[i].of_mark && packet->mark_unknown))
			return matches[i].match(packet, info);
	return MATCH_MAYBE;
}

enum firewall_effect
xt_target(const char *name, bool *ends)
{
	static const struct {
		const char *name;
		enum firewall_effect effect;
	} targets[] = {
		{ "REJECT", FIREWALL_DROPS },
		{ "REDIRECT", FIREWALL_REDIRECTS },
		{ "DNAT", FIREWALL_REDIRECTS },
		{ "NFQUEUE", FIREWALL_QUEUES },
		{ "SNAT", FIREWALL_PASSES },
		{ "MASQUERADE", FIREWALL_PASSES },
		{ "TPROXY", FIREWALL_PASSES },
	};

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		if (name != NULL && strcmp(name, targets[i].name) == 0) {
			*ends = true;
			return targets[i].effect;
		}
	*ends = false;			/* LOG, MARK, CT ... */
	return FIREWALL_PASSES;
}
