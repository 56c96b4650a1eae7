/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which packets are looked at, on their ways through the hooks:
 *
 *   question  of a program, before and behind nfdnsd's chains, and out
 *   answer    of nfdnsd, with its mark: the question's packet turned round, so it
 *             goes through output again behind our chains, and comes in by lo
 *   stream    the first packet of a TCP connection that nfdnsd takes: out and in
 *             by lo, and its reply
 *   reply     of the real nameserver, in
 *   own       nfdnsd's question to an upstream, out
 */
#include "nfq/cli/doctor/chains.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <linux/netfilter.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "resolver/dns/message.h"
#include "resolver/text/host.h"
#include "rules/firewall/firewall.h"
#include "rules/ruleset.h"

#define OWN_FIRST	(-310)		/* chain "question" */
#define OWN_LAST	(-305)		/* chain "verdict" */
#define SOMEBODY	((uid_t)65533)	/* a user of whom no rule knows */
#define SYN		0x02
#define SYN_ACK		0x12

enum packet_of { PACKET_QUESTION, PACKET_ANSWER, PACKET_REPLY, PACKET_OWN };

/* One kind of packet, and where it comes by. */
struct trip {
	enum packet_of kind;
	struct firewall_packet packet;
	bool failed;			/* an ask says that it does not arrive */
};

struct check {
	struct findings *findings;
	const struct config *config;
	const struct firewall *firewall;
	struct ifaddrs *interfaces;
	bool found;			/* something in the way */
};

static const struct firewall_place early = { NF_INET_LOCAL_OUT,
    FIREWALL_FIRST, OWN_FIRST };
static const struct firewall_place late = { NF_INET_LOCAL_OUT, OWN_LAST + 1,
    FIREWALL_LAST };
static const struct firewall_place leaving = { NF_INET_POST_ROUTING,
    FIREWALL_FIRST, FIREWALL_LAST };
static const struct firewall_place arriving = { NF_INET_PRE_ROUTING,
    FIREWALL_FIRST, FIREWALL_LAST };
static const struct firewall_place inside = { NF_INET_LOCAL_IN, FIREWALL_FIRST,
    FIREWALL_LAST };

/* One command of nft(8): a first rule of the base chain. */
static void
write_rule(char *text, size_t size, const struct firewall_verdict *v,
    const char *what)
{
	const size_t used = strlen(text);

	(void)snprintf(text + used, size - used, "%sinsert rule %s %s %s %s",
	    used > 0 ? "; " : "", v->family, v->table, v->base, what);
}

static void
write_mark_rule(char *text, size_t size, const struct firewall_verdict *v,
    const struct config_capture *c, uint32_t mark)
{
	char what[80];

	(void)snprintf(what, sizeof(what), "meta mark & 0x%08x == 0x%08x "
	    "accept", c->mark_mask, mark);
	write_rule(text, size, v, what);
}

/*
 * The command that lets such packets pass the base chain, UDP and TCP: of one
 * nameserver or upstream, since a rule for all of port 53 opens more than was asked.
 */
static void
paste(struct check *check, const struct trip *trip,
    const struct firewall_verdict *v)
{
	const struct config_capture *c = &check->config->capture;
	const bool reply = trip->kind == PACKET_REPLY;
	char rules[FINDING_TEXT] = "", what[160], address[INET6_ADDRSTRLEN];

	(void)inet_ntop(trip->packet.family, reply ? trip->packet.source :
	    trip->packet.destination, address, sizeof(address));
	if (trip->kind == PACKET_ANSWER) {
		write_mark_rule(rules, sizeof(rules), v, c, c->mark_answered);
		if (c->tcp)
			write_mark_rule(rules, sizeof(rules), v, c,
			    c->mark_stream);
	} else {
		(void)snprintf(what, sizeof(what), "%s %s %s meta l4proto { "
		    "tcp, udp } th %s %d %saccept", trip->packet.family ==
		    AF_INET ? "ip" : "ip6", reply ? "saddr" : "daddr", address,
		    reply ? "sport" : "dport", reply ? DNS_PORT :
		    trip->packet.destination_port, reply ?
		    "ct state established " : "");
		write_rule(rules, sizeof(rules), v, what);
	}
	findings_paste(check->findings, "nft '%s'", rules);
}

/* "chain ip nat OUTPUT (priority -100), rule with handle 5" */
static void
describe(const struct firewall_verdict *v, char *text, size_t size)
{
	char rule[FIREWALL_NAME + 64];

	if (v->handle == 0)
		(void)snprintf(rule, sizeof(rule), "by its policy");
	else if (strcmp(v->base, v->chain) == 0)
		(void)snprintf(rule, sizeof(rule), "by the rule with handle %"
		    PRIu64, v->handle);
	else
		(void)snprintf(rule, sizeof(rule), "by the rule with handle %"
		    PRIu64 " of chain %s", v->handle, v->chain);
	(void)snprintf(text, size, "chain %s %s %s (priority %d), %s,",
	    v->family, v->table, v->base, v->priority, rule);
}

static void
tell(struct check *check, const struct trip *trip,
    const struct firewall_verdict *v)
{
	static const char *const subjects[] = {
		[PACKET_QUESTION] = "programs' questions to port 53",
		[PACKET_ANSWER] = "nfdnsd's answers",
		[PACKET_REPLY] = "the nameserver's replies",
		[PACKET_OWN] = "nfdnsd's own questions to its upstreams",
	};
	static const char *const meanings[] = {
		[PACKET_QUESTION] = "names are not resolved",
		[PACKET_ANSWER] = "mesh names are not answered",
		[PACKET_REPLY] = "names that nfdnsd lets pass are not resolved",
		[PACKET_OWN] = "names of forward.domains are not resolved",
	};
	const char *may = v->certain ? "" : "may ";
	const char *transport = trip->packet.protocol == IPPROTO_UDP ? "UDP" :
	    "TCP";
	char where[4 * FIREWALL_NAME];

	describe(v, where, sizeof(where));
	check->found = true;
	if (v->effect == FIREWALL_REDIRECTS) {
		char port[32] = "elsewhere";

		if (v->port != 0)
			(void)snprintf(port, sizeof(port), "to port %u",
			    v->port);
		/* Docker and published resolvers do that, and it works. */
		findings_add(check->findings, FINDING_WARNING, FINDING_OBSTACLE,
		    "If that is not meant so, mend the program that made the "
		    "chain (for Istio's agent: ISTIO_META_DNS_CAPTURE=false).",
		    "%s %s%s %s (%s) %s: whoever listens there answers what "
		    "nfdnsd lets pass or forwards", where, may,
		    v->certain ? "redirects" : "redirect",
		    subjects[trip->kind], transport, port);
		return;
	}
	if (v->effect == FIREWALL_QUEUES)
		findings_add(check->findings, FINDING_WARNING, FINDING_OBSTACLE,
		    "See that this program lets them pass, or paste:",
		    "%s %sgives %s (%s) to another program's queue", where, may,
		    subjects[trip->kind], transport);
	else
		findings_add(check->findings, v->certain ? FINDING_BAD :
		    FINDING_WARNING, FINDING_OBSTACLE,
		    "Paste this line, and write it into that firewall's "
		    "configuration, too.", "%s %s%s %s (%s): %s", where, may,
		    v->certain ? "drops" : "drop", subjects[trip->kind],
		    transport, meanings[trip->kind]);
	paste(check, trip, v);
}

/* Whether a line before has it: the same chain, and the same command if there is one. */
static bool
is_told(const struct findings *findings)
{
	const struct finding *last = &findings->all[findings->count - 1];
	const bool command = last->paste[0] != '\0';

	for (const struct finding *f = findings->all; f < last; f++)
		if (command ? strcmp(f->paste, last->paste) == 0 :
		    strcmp(f->text, last->text) == 0)
			return true;
	return false;
}

/* Takes a packet by one hook; out and in are the interfaces there. */
static bool
visit(struct check *check, struct trip *trip,
    const struct firewall_place *place, const char *in, const char *out)
{
	struct firewall_verdict verdict;

	trip->packet.in = in;
	trip->packet.out = out;
	firewall_judge(check->firewall, place, &trip->packet, &verdict);
	if (verdict.effect == FIREWALL_PASSES ||
	    (verdict.effect != FIREWALL_REDIRECTS && !trip->failed &&
	    (!verdict.certain || trip->packet.uid == geteuid())))
		return false;
	tell(check, trip, &verdict);
	if (is_told(check->findings))
		check->findings->count--;
	return true;
}

/* The interface that has the address from which the machine asks. */
static const char *
interface_of(const struct check *check, const struct ask *ask)
{
	const struct ifaddrs *i;

	if (host_is_loopback(ask->server.family, ask->server.address))
		return "lo";
	for (i = check->interfaces; i != NULL; i = i->ifa_next) {
		const void *address;

		if (i->ifa_addr == NULL ||
		    i->ifa_addr->sa_family != ask->server.family)
			continue;
		if (ask->server.family == AF_INET)
			address = &((const struct sockaddr_in *)
			    (const void *)i->ifa_addr)->sin_addr;
		else
			address = &((const struct sockaddr_in6 *)
			    (const void *)i->ifa_addr)->sin6_addr;
		if (memcmp(address, ask->source,
		    ask->server.family == AF_INET ? 4 : 16) == 0)
			return i->ifa_name;
	}
	return NULL;
}

static struct trip
outward(const struct ask *ask, enum packet_of kind, uid_t uid)
{
	struct trip trip = { .kind = kind, .packet = {
	    .family = ask->server.family,
	    .protocol = ask->tcp ? IPPROTO_TCP : IPPROTO_UDP,
	    .destination_port = DNS_PORT, .ct_state = FIREWALL_CT_NEW,
	    .tcp_flags = ask->tcp ? SYN : 0, .uid = uid } };

	memcpy(trip.packet.source, ask->source, 16);
	memcpy(trip.packet.destination, ask->server.address, 16);
	return trip;
}

/* The same, turned round: from the nameserver's address and port. */
static struct trip
inward(const struct ask *ask, enum packet_of kind, uid_t uid)
{
	struct trip trip = outward(ask, kind, uid);

	memcpy(trip.packet.source, ask->server.address, 16);
	memcpy(trip.packet.destination, ask->source, 16);
	trip.packet.source_port = DNS_PORT;
	trip.packet.destination_port = ask->source_port;
	trip.packet.tcp_flags = ask->tcp ? SYN_ACK : 0;
	return trip;
}

static bool
has_failed(const struct ask *ask)
{
	return ask->result != ASK_ANSWERED;
}

/* Programs' questions, and what the real nameserver replies. */
static void
check_question(struct check *check, const struct ask *ask, uid_t uid)
{
	const char *interface = interface_of(check, ask);
	struct trip out = outward(ask, PACKET_QUESTION, uid);
	struct trip in = inward(ask, PACKET_REPLY, (uid_t)-1);

	out.failed = in.failed = has_failed(ask);
	if (visit(check, &out, &early, NULL, interface))
		return;
	if (ask->tcp && check->config->capture.tcp) {
		/* Behind the queue, nfdnsd asks for the program. */
		out.packet.mark = ruleset_relay_mark(check->config);
		out.packet.uid = check->config->uid;
	}
	if (visit(check, &out, &late, NULL, interface))
		return;
	(void)visit(check, &out, &leaving, NULL, interface);
	in.packet.ct_state = FIREWALL_CT_ESTABLISHED;
	(void)visit(check, &in, &arriving, interface, NULL);
	(void)visit(check, &in, &inside, interface, NULL);
}

/* What nfdnsd sends in the nameserver's place. */
static void
check_answer(struct check *check, const struct ask *ask, uid_t uid)
{
	const char *interface = interface_of(check, ask);
	struct trip trip = inward(ask, PACKET_ANSWER,
	    ask->tcp ? (uid_t)-1 : uid);

	trip.failed = has_failed(ask);
	trip.packet.ct_state = FIREWALL_CT_UNTRACKED;
	trip.packet.mark = check->config->capture.mark_answered;
	if (!visit(check, &trip, &late, NULL, ask->tcp ? "lo" : interface))
		(void)visit(check, &trip, &leaving, NULL, "lo");
	(void)visit(check, &trip, &arriving, "lo", NULL);
	(void)visit(check, &trip, &inside, "lo", NULL);
}

/* A connection's first packet on its way to nfdnsd. */
static void
check_stream(struct check *check, const struct ask *ask, uid_t uid)
{
	struct trip trip = outward(ask, PACKET_ANSWER, uid);

	trip.failed = has_failed(ask);
	trip.packet.ct_state = FIREWALL_CT_UNTRACKED;
	trip.packet.mark = check->config->capture.mark_stream;
	(void)visit(check, &trip, &late, NULL, interface_of(check, ask));
	(void)visit(check, &trip, &leaving, NULL, "lo");
	(void)visit(check, &trip, &arriving, "lo", NULL);
	(void)visit(check, &trip, &inside, "lo", NULL);
}

static void
check_upstreams(struct check *check)
{
	const struct forward_settings *f = &check->config->forward;

	for (uint32_t i = 0; i < f->upstreams; i++) {
		const struct forward_upstream *up = &f->upstream[i];
		struct ask ask = { .server.family = (int)up->family,
		    .tcp = up->transport == FORWARD_TCP ||
		    up->transport == FORWARD_TLS };
		struct trip trip;

		memcpy(ask.server.address, up->address, 16);
		trip = outward(&ask, PACKET_OWN, check->config->uid);
		trip.packet.destination_port = (uint16_t)up->port;
		if (!visit(check, &trip, &early, NULL, NULL))
			(void)visit(check, &trip, &late, NULL, NULL);
	}
}

static void
check_asked(struct check *check, const struct ask *asks, size_t count)
{
	const uid_t users[] = { geteuid(), SOMEBODY };

	for (size_t i = 0; i < count * 2; i++) {
		const struct ask *ask = &asks[i % count];
		const uid_t uid = users[i / count];

		if (!ask->has_source)
			continue;
		if (!ask->canary) {
			check_question(check, ask, uid);
			continue;
		}
		check_answer(check, ask, uid);
		if (ask->tcp)
			check_stream(check, ask, uid);
	}
}

static void
check_nftables(struct check *check, const struct ask *asks, size_t count)
{
	char name[3 * FIREWALL_NAME];
	bool canary = false;
	size_t drops;

	check_asked(check, asks, count);
	check_upstreams(check);
	if (check->found)
		return;
	for (size_t i = 0; i < count; i++)
		canary = canary || asks[i].canary;
	if (!canary) {
		findings_add(check->findings, FINDING_UNKNOWN, FINDING_OBSTACLE,
		    NULL, "no chain of nftables stops questions; no answer "
		    "of nfdnsd was there to be looked at");
		return;
	}
	drops = firewall_drop_policies(check->firewall, name, sizeof(name));
	if (drops == 0)
		findings_add(check->findings, FINDING_OK, FINDING_OBSTACLE, NULL,
		    "no chain of nftables stops questions or answers");
	else
		findings_add(check->findings, FINDING_OK, FINDING_OBSTACLE, NULL,
		    "%zu chain%s by default (%.120s%s), and lets questions and "
		    "answers through", drops, drops == 1 ? " drops" : "s drop",
		    name, drops > 1 ? ", ..." : "");
}

/* Whether the kernel has tables of xtables in this network namespace. */
static void
check_legacy(struct findings *findings)
{
	static const struct {
		const char *names, *save;
	} kinds[] = {
		{ "/proc/net/ip_tables_names", "iptables-legacy-save" },
		{ "/proc/net/ip6_tables_names", "ip6tables-legacy-save" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		FILE *file = fopen(kinds[i].names, "re");
		char table[32];

		if (file != NULL && fscanf(file, "%31s", table) == 1)
			findings_add(findings, FINDING_UNKNOWN,
			    FINDING_OBSTACLE, "Look yourself what they do to port 53, to "
			    "packets from lo and to nfdnsd's marks.",
			    "chains of iptables-legacy are in use, which nfdns "
			    "cannot read; %s shows them", kinds[i].save);
		if (file != NULL)
			(void)fclose(file);
	}
}

void
chains_check(struct findings *findings, const struct config *config,
    const struct ask *asks, size_t count)
{
	struct check check = { .findings = findings, .config = config };
	struct firewall *firewall;
	const int error = firewall_open(&firewall, RULES_TABLE);

	if (error < 0) {
		findings_add(findings, FINDING_UNKNOWN, FINDING_OBSTACLE,
		    error == -EPERM ? "Run nfdns doctor as root." : NULL,
		    "the chains of other tables cannot be read: %s",
		    strerror(-error));
		return;
	}
	check.firewall = firewall;
	if (getifaddrs(&check.interfaces) < 0)
		check.interfaces = NULL;
	check_nftables(&check, asks, count);
	if (check.interfaces != NULL)
		freeifaddrs(check.interfaces);
	firewall_close(firewall);
	check_legacy(findings);
}
