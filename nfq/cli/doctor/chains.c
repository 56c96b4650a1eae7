/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ways of an ask's packets through the hooks:
 *
 *   question  of a program: output, before and behind nfdnsd's chains
 *   answer    of nfdnsd, with its mark: the question's packet turned round, so it
 *             goes on in output behind our chains, and comes in by lo; of a TCP
 *             connection that nfdnsd takes the client's packets, too
 *   reply     of the real nameserver, in
 *   own       question of nfdnsd, out
 */
#include "nfq/cli/doctor/findings.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/dns/message.h"
#include "rules/ruleset.h"

enum packet_of { PACKET_QUESTION, PACKET_ANSWER, PACKET_REPLY, PACKET_OWN };

/* What a rule did to a packet. */
struct deed {
	bool done;
	enum packet_of packet;
	struct trace_chain base;	/* the base chain that led to the rule */
	struct trace_event event;
	uint16_t port;			/* where a redirected packet goes */
};

/* One ask, and what its packets met. */
struct way {
	const struct ask *ask;
	bool here;			/* packet "id" is its own */
	uint32_t id;
	bool inward;			/* it goes to the ask's port */
	enum packet_of packet;
	struct trace_chain base;	/* in which that packet is */
	struct trace_event last;
	struct deed dropped, redirected, marked;
};

struct check {
	struct findings *findings;
	const struct config *config;
	struct way *ways;
	size_t count;
	bool found;			/* something in the way */
};

int
chains_trace(struct trace **trace, const struct ask *asks, size_t count)
{
	struct trace_port *ports = calloc(count + 1, sizeof(*ports));
	size_t n = 0;
	int error;

	*trace = NULL;
	if (ports == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (asks[i].source_port != 0)
			ports[n++] = (struct trace_port){
			    .protocol = asks[i].tcp ? IPPROTO_TCP : IPPROTO_UDP,
			    .port = asks[i].source_port };
	error = trace_open(trace, ports, n);
	free(ports);
	return error;
}

/* One command of nft(8): a first rule of the base chain. */
static void
write_rule(char *text, size_t size, const struct trace_chain *base,
    const char *what)
{
	const size_t used = strlen(text);

	(void)snprintf(text + used, size - used, "%sinsert rule %s %s %s %s",
	    used > 0 ? "; " : "", base->family, base->table, base->name, what);
}

static void
write_mark_rule(char *text, size_t size, const struct trace_chain *base,
    const struct config_capture *c, uint32_t mark)
{
	char what[80];

	(void)snprintf(what, sizeof(what), "meta mark & 0x%08x == 0x%08x "
	    "accept", c->mark_mask, mark);
	write_rule(text, size, base, what);
}

/*
 * The command that lets such packets pass the base chain, UDP and TCP: of one
 * nameserver or upstream, since a rule for all of port 53 opens more than was asked.
 */
static void
paste(struct check *check, const struct ask *ask, const struct deed *deed)
{
	const struct config_capture *c = &check->config->capture;
	const bool reply = deed->packet == PACKET_REPLY;
	char rules[FINDING_TEXT] = "", what[160], address[INET6_ADDRSTRLEN];

	(void)inet_ntop(ask->server.family, ask->server.address, address,
	    sizeof(address));
	if (deed->packet == PACKET_ANSWER) {
		write_mark_rule(rules, sizeof(rules), &deed->base, c,
		    c->mark_answered);
		if (c->tcp)
			write_mark_rule(rules, sizeof(rules), &deed->base, c,
			    c->mark_stream);
	} else {
		(void)snprintf(what, sizeof(what), "%s %s %s meta l4proto { "
		    "tcp, udp } th %s %d %saccept",
		    ask->server.family == AF_INET ? "ip" : "ip6",
		    reply ? "saddr" : "daddr", address,
		    reply ? "sport" : "dport", ask->port,
		    reply ? "ct state established " : "");
		write_rule(rules, sizeof(rules), &deed->base, what);
	}
	findings_paste(check->findings, "nft '%s'", rules);
}

/* "chain ip nat OUTPUT (priority -100), by the rule with handle 5," */
static const char *
describe(const struct deed *deed, char *text, size_t size)
{
	const struct trace_chain *base = &deed->base;
	const struct trace_event *event = &deed->event;
	char rule[TRACE_NAME + 64];

	if (event->handle == 0)
		(void)snprintf(rule, sizeof(rule), "by its policy");
	else if (event->chain.base)
		(void)snprintf(rule, sizeof(rule), "by the rule with handle %"
		    PRIu64, event->handle);
	else
		(void)snprintf(rule, sizeof(rule), "by the rule with handle %"
		    PRIu64 " of chain %s", event->handle, event->chain.name);
	(void)snprintf(text, size, "chain %s %s %s (priority %d), %s,",
	    base->family, base->table, base->name, base->priority, rule);
	return text;
}

static const char *const subjects[] = {
	[PACKET_QUESTION] = "programs' questions to port 53",
	[PACKET_ANSWER] = "nfdnsd's answers",
	[PACKET_REPLY] = "the nameserver's replies",
	[PACKET_OWN] = "nfdnsd's own questions",
};

static const char *const meanings[] = {
	[PACKET_QUESTION] = "names are not resolved",
	[PACKET_ANSWER] = "mesh names are not answered",
	[PACKET_REPLY] = "names that nfdnsd lets pass are not resolved",
	[PACKET_OWN] = "forwarded names, and others over TCP, are not resolved",
};

/* Takes the last finding out again if a line before says the same. */
static void
leave_out_repeated(struct findings *findings)
{
	const struct finding *last = &findings->all[findings->count - 1];
	const bool command = last->paste[0] != '\0';

	for (const struct finding *f = findings->all; f < last; f++)
		if (command ? strcmp(f->paste, last->paste) == 0 :
		    strcmp(f->text, last->text) == 0) {
			findings->count--;
			return;
		}
}

static const char *
transport_of(const struct ask *ask)
{
	return ask->tcp ? "TCP" : "UDP";
}

static void
tell_dropped(struct check *check, const struct way *way)
{
	const struct deed *deed = &way->dropped;
	char where[6 * TRACE_NAME];

	findings_add(check->findings, FINDING_BAD, FINDING_OBSTACLE,
	    "Paste this line, and write it into that firewall's configuration, "
	    "too.", "%s drops %s (%s): %s", describe(deed, where,
	    sizeof(where)), subjects[deed->packet], transport_of(way->ask),
	    meanings[deed->packet]);
	paste(check, way->ask, deed);
}

static void
tell_marked(struct check *check, const struct way *way)
{
	const struct deed *deed = &way->marked;
	char where[6 * TRACE_NAME];

	findings_add(check->findings, FINDING_BAD, FINDING_OBSTACLE,
	    "Let that rule keep these bits, or choose other bits in "
	    "capture.mark_mask.", "%s changes the mark of %s (%s) in the bits "
	    "0x%08x, which nfdnsd needs: %s", describe(deed, where,
	    sizeof(where)), subjects[deed->packet], transport_of(way->ask),
	    check->config->capture.mark_mask, meanings[deed->packet]);
}

static void
tell_queued(struct check *check, const struct way *way)
{
	const struct deed deed = { .base = way->base, .event = way->last };
	char where[6 * TRACE_NAME];

	findings_add(check->findings, FINDING_BAD, FINDING_OBSTACLE,
	    "Start the program that reads that queue, or end the rule that "
	    "fills it.", "%s gives %s (%s) to another program's queue, and "
	    "nothing comes back from there", describe(&deed, where,
	    sizeof(where)), subjects[way->packet], transport_of(way->ask));
}

/* Docker and published resolvers do that, and it works. */
static void
tell_redirected(struct check *check, const struct way *way)
{
	const struct deed *deed = &way->redirected;
	char where[6 * TRACE_NAME];

	findings_add(check->findings, FINDING_WARNING, FINDING_OBSTACLE, "If "
	    "that is not meant so, mend the program that made the chain (for "
	    "Istio's agent: ISTIO_META_DNS_CAPTURE=false).", "%s redirects %s "
	    "(%s) to port %u: whoever listens there answers what nfdnsd lets "
	    "pass or forwards", describe(deed, where, sizeof(where)),
	    subjects[deed->packet], transport_of(way->ask), deed->port);
	leave_out_repeated(check->findings);
}

/* Whether the last event is one behind which packets leave nf_tables. */
static bool
is_last_place(const struct way *way)
{
	return way->base.own && way->base.priority == INT_MAX;
}

/* No rule stopped it, and it did not come out of the hook in which it was. */
static void
tell_lost(struct check *check, const struct way *way)
{
	static const char *const hooks[] = {
		[NF_INET_PRE_ROUTING] = "prerouting",
		[NF_INET_LOCAL_IN] = "input",
		[NF_INET_FORWARD] = "forward",
		[NF_INET_LOCAL_OUT] = "output",
		[NF_INET_POST_ROUTING] = "postrouting",
	};
	const unsigned int hook = way->base.hook;

	if (hook >= sizeof(hooks) / sizeof(hooks[0]))
		return;
	if (!is_last_place(way))
		findings_add(check->findings, FINDING_UNKNOWN, FINDING_OBSTACLE,
		    "Look for what is not a chain of nftables: iptables-legacy-"
		    "save, ipvsadm -ln.", "%s (%s) go no further than priority "
		    "%d of hook %s, and no rule of nftables drops them",
		    subjects[way->packet], transport_of(way->ask),
		    way->base.priority, hooks[hook]);
	else if (hook == NF_INET_PRE_ROUTING)
		findings_add(check->findings, FINDING_UNKNOWN, FINDING_OBSTACLE,
		    "nstat -az TcpExtIPReversePathFilter says whether it was "
		    "rp_filter.", "%s (%s) arrive, and routing does not deliver "
		    "them", subjects[way->packet], transport_of(way->ask));
	else
		return;
	leave_out_repeated(check->findings);
}

static void
tell(struct check *check, const struct way *way)
{
	const bool queued = (way->last.verdict & NF_VERDICT_MASK) == NF_QUEUE;
	const bool answered = way->ask->result == ASK_ANSWERED ||
	    way->ask->result == ASK_PASSED;

	if (way->redirected.done)
		tell_redirected(check, way);
	if (answered || way->base.table[0] == '\0')
		return;
	if (!way->dropped.done && !way->marked.done &&
	    (way->redirected.done || !queued || way->last.chain.own)) {
		if (!way->redirected.done && !queued)
			tell_lost(check, way);
		return;
	}
	check->found = true;
	if (way->dropped.done)
		tell_dropped(check, way);
	else if (way->marked.done)
		tell_marked(check, way);
	else
		tell_queued(check, way);
	leave_out_repeated(check->findings);
}

/* Only nfdnsd sets its bits: of a client's packets, too. */
static enum packet_of
packet_kind(const struct check *check, const struct way *way,
    const struct trace_event *event)
{
	const struct config_capture *c = &check->config->capture;
	const uint32_t mark = event->mark & c->mark_mask;

	if (mark == c->mark_answered || mark == c->mark_stream)
		return PACKET_ANSWER;
	if (way->inward)
		return way->ask->canary ? PACKET_ANSWER : PACKET_REPLY;
	return way->ask->mark == ruleset_relay_mark(check->config) ?
	    PACKET_OWN : PACKET_QUESTION;
}

static bool
is_elsewhere(const struct way *way, const struct trace_packet *p)
{
	return p->source_port == way->ask->source_port &&
	    (p->destination_port != way->ask->port ||
	    memcmp(p->destination, way->ask->server.address,
	    p->family == AF_INET ? 4 : 16) != 0);
}

/* The packet is in one more base chain. */
static void
enter(struct check *check, struct way *way, const struct trace_event *event)
{
	if (!way->redirected.done && way->here && way->id == event->id &&
	    is_elsewhere(way, &event->packet) && !way->last.chain.own)
		way->redirected = (struct deed){ .done = true,
		    .packet = way->packet, .base = way->base,
		    .event = way->last,
		    .port = event->packet.destination_port };
	for (size_t i = 0; i < check->count; i++)
		if (check->ways[i].id == event->id)
			check->ways[i].here = false;
	way->here = true;
	way->id = event->id;
	way->inward = event->packet.destination_port == way->ask->source_port;
	way->base = event->chain;
}

static struct way *
way_of(struct check *check, const struct trace_event *event)
{
	const struct trace_packet *p = &event->packet;

	for (size_t i = 0; i < check->count; i++) {
		struct way *way = &check->ways[i];
		const struct ask *ask = way->ask;

		if (event->enters ? ask->source_port != 0 &&
		    p->family == ask->server.family &&
		    p->protocol == (ask->tcp ? IPPROTO_TCP : IPPROTO_UDP) &&
		    (p->source_port == ask->source_port ||
		    p->destination_port == ask->source_port) :
		    way->here && way->id == event->id)
			return way;
	}
	return NULL;
}

/* 0, or a negative errno: what is known is not all. */
static int
read_events(struct check *check, struct trace *trace)
{
	struct trace_event event;
	int error;

	while ((error = trace_next(trace, &event)) == 0) {
		struct way *way = way_of(check, &event);

		if (way != NULL) {
			const uint32_t mask = check->config->capture.mark_mask;
			const bool known = way->here && way->id == event.id;
			const bool marks = known && !event.chain.own &&
			    ((way->last.mark ^ event.mark) & mask) != 0;
			struct deed deed = { .done = true, .event = event };

			if (event.enters)
				enter(check, way, &event);
			if (!marks)
				way->packet = packet_kind(check, way, &event);
			deed.base = way->base;
			deed.packet = way->packet;
			if (marks)
				way->marked = deed;
			if (!event.chain.own && event.verdict == NF_DROP)
				way->dropped = deed;
			way->last = event;
		}
	}
	return error == -EAGAIN ? 0 : error;
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

static void
check_ways(struct check *check, int error)
{
	size_t canaries = 0;

	for (size_t i = 0; i < check->count; i++) {
		tell(check, &check->ways[i]);
		canaries += check->ways[i].ask->canary;
	}
	if (check->found)
		return;
	if (error < 0)
		findings_add(check->findings, FINDING_UNKNOWN, FINDING_OBSTACLE,
		    "Run nfdns doctor again.", "what chains do to questions and "
		    "answers was not seen whole: %s", strerror(-error));
	else if (canaries == 0)
		findings_add(check->findings, FINDING_UNKNOWN, FINDING_OBSTACLE,
		    NULL, "no chain of nftables stops questions; no answer "
		    "of nfdnsd was there to be looked at");
	else
		findings_add(check->findings, FINDING_OK, FINDING_OBSTACLE, NULL,
		    "no chain of nftables stops questions or answers");
}

void
chains_check(struct findings *findings, const struct config *config,
    struct trace *trace, int error, const struct ask *asks, size_t count)
{
	struct check check = { .findings = findings, .config = config,
	    .count = count };
	struct way *ways = calloc(count + 1, sizeof(*ways));

	if (error == 0 && ways == NULL)
		error = -ENOMEM;
	if (trace == NULL || ways == NULL || error < 0) {
		findings_add(findings, FINDING_UNKNOWN, FINDING_OBSTACLE,
		    error == -EPERM ? "Run nfdns doctor as root." : NULL,
		    "what chains do to questions and answers cannot be traced: "
		    "%s", strerror(-error));
		free(ways);
		return;
	}
	for (size_t i = 0; i < count; i++)
		ways[i].ask = &asks[i];
	check.ways = ways;
	check_ways(&check, read_events(&check, trace));
	free(ways);
	check_legacy(findings);
}
