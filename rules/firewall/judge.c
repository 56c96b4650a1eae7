/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A packet through base chains, in the order of their priorities, and through
 * the chains to which rules jump: nft_do_chain() of
 * net/netfilter/nf_tables_core.c.
 *
 * Where it cannot be known whether a rule holds, both are followed: the harm that
 * it may do is remembered as one that is not certain, and what comes behind it
 * is not certain either if the rule could have let the packet pass.
 */
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <string.h>
#include <sys/socket.h>

#include "rules/firewall/internal.h"

#define MAX_DEPTH	16		/* NFT_JUMP_STACK_SIZE */
#define MAX_STEPS	((size_t)2000000)	/* rules looked at, of one base chain */

/* What a chain does, as far as the one before it has to know. */
enum chain_end { END_FALLS, END_RETURNS, END_ACCEPTS, END_HARMS };

static enum chain_end walk_chain(struct walk *walk, const char *chain,
    struct firewall_verdict *verdict);

static bool
is_packets_family(uint32_t family, const struct firewall_packet *packet)
{
	return family == NFPROTO_INET ||
	    family == (packet->family == AF_INET ? NFPROTO_IPV4 : NFPROTO_IPV6);
}

/* Remembers harm, unless there is such that is at least as certain. */
static void
harm(struct walk *walk, struct firewall_verdict *verdict,
    const struct rule_outcome *outcome, const char *chain, uint64_t handle)
{
	const bool certain = outcome->match == MATCH_YES && !walk->unsure &&
	    !walk->doubt;

	if (verdict->effect != FIREWALL_PASSES &&
	    (verdict->certain || !certain))
		return;
	verdict->effect = outcome->effect;
	verdict->certain = certain;
	verdict->port = outcome->port;
	verdict->handle = handle;
	(void)snprintf(verdict->chain, sizeof(verdict->chain), "%s", chain);
}

/* A rule that holds, or may.  END_FALLS: the next rule follows. */
static enum chain_end
take_verdict(struct walk *walk, struct rule_outcome *outcome,
    const char *chain, uint64_t handle, struct firewall_verdict *verdict)
{
	const bool sure = outcome->match == MATCH_YES;
	const bool doubt = walk->doubt;
	enum chain_end end = END_ACCEPTS;

	if (outcome->has_verdict && outcome->verdict == NF_DROP)
		outcome->effect = FIREWALL_DROPS;
	else if (outcome->has_verdict && outcome->verdict >= 0 &&
	    (outcome->verdict & NF_VERDICT_MASK) == NF_QUEUE)
		outcome->effect = FIREWALL_QUEUES;
	if (outcome->effect != FIREWALL_PASSES) {
		harm(walk, verdict, outcome, chain, handle);
		return sure ? END_HARMS : END_FALLS;
	}
	if (!outcome->has_verdict || outcome->verdict == NFT_CONTINUE)
		return END_FALLS;
	if (outcome->verdict == NFT_RETURN) {
		end = END_RETURNS;
	} else if (outcome->chain != NULL) {
		walk->doubt = doubt || !sure;
		end = walk_chain(walk, outcome->chain, verdict);
		walk->doubt = doubt;
		/* Behind its end, the caller of this chain goes on. */
		if (end == END_FALLS && outcome->verdict == NFT_GOTO)
			end = END_RETURNS;
	}
	if (!sure && end != END_FALLS && end != END_HARMS)
		walk->unsure = true;
	return sure ? end : END_FALLS;
}

/* The rules of one chain, which falls off its end if none decides. */
static enum chain_end
walk_chain(struct walk *walk, const char *chain,
    struct firewall_verdict *verdict)
{
	struct nftnl_rule_list_iter *rules;
	enum chain_end end = END_FALLS;
	struct nftnl_rule *rule;

	if (walk->depth >= MAX_DEPTH)
		return END_FALLS;
	rules = nftnl_rule_list_iter_create(walk->firewall->dump.rules);
	if (rules == NULL)
		return END_FALLS;
	walk->depth++;
	while (end == END_FALLS &&
	    (rule = nftnl_rule_list_iter_next(rules)) != NULL) {
		struct rule_outcome outcome = { .match = MATCH_YES };

		if (walk->steps++ >= MAX_STEPS) {
			walk->unsure = true;
			break;
		}
		if (nftnl_rule_get_u32(rule, NFTNL_RULE_FAMILY) !=
		    walk->family || strcmp(nftnl_rule_get_str(rule,
		    NFTNL_RULE_TABLE), walk->table) != 0 ||
		    strcmp(nftnl_rule_get_str(rule, NFTNL_RULE_CHAIN),
		    chain) != 0)
			continue;
		walk_rule_expressions(walk, rule, &outcome);
		if (outcome.match == MATCH_NO)
			continue;
		end = take_verdict(walk, &outcome, chain, nftnl_rule_get_u64(
		    rule, NFTNL_RULE_HANDLE), verdict);
	}
	nftnl_rule_list_iter_destroy(rules);
	walk->depth--;
	return end == END_RETURNS ? END_FALLS : end;
}

/* Tables of inet and ip (or ip6) at one hook: one list, by priority. */
static bool
is_there(const struct firewall *firewall, const struct nftnl_chain *chain,
    const struct firewall_place *place, const struct firewall_packet *packet)
{
	const char *type = nftnl_chain_get_str(chain, NFTNL_CHAIN_TYPE);
	int priority;

	if (!firewall_is_base(firewall, chain) || type == NULL ||
	    nftnl_chain_get_u32(chain, NFTNL_CHAIN_HOOKNUM) != place->hook ||
	    !is_packets_family(nftnl_chain_get_u32(chain, NFTNL_CHAIN_FAMILY),
	    packet))
		return false;
	/* nf_nat_inet_fn() looks at first packets of connections only. */
	if (strcmp(type, "nat") == 0 && packet->ct_state != FIREWALL_CT_NEW)
		return false;
	priority = nftnl_chain_get_s32(chain, NFTNL_CHAIN_PRIO);
	return priority >= place->from && priority <= place->to;
}

static void
walk_base(const struct firewall *firewall, const struct nftnl_chain *chain,
    struct firewall_packet *packet, struct firewall_verdict *verdict)
{
	const char *name = nftnl_chain_get_str(chain, NFTNL_CHAIN_NAME);
	struct walk walk = {
		.firewall = firewall,
		.packet = *packet,
		.family = nftnl_chain_get_u32(chain, NFTNL_CHAIN_FAMILY),
		.table = nftnl_chain_get_str(chain, NFTNL_CHAIN_TABLE),
	};
	const struct rule_outcome policy = { .match = MATCH_YES,
	    .effect = FIREWALL_DROPS };

	*verdict = (struct firewall_verdict){
		.family = firewall_family(walk.family),
		.priority = nftnl_chain_get_s32(chain, NFTNL_CHAIN_PRIO),
	};
	(void)snprintf(verdict->table, FIREWALL_NAME, "%s", walk.table);
	(void)snprintf(verdict->base, FIREWALL_NAME, "%s", name);
	if (walk_chain(&walk, name, verdict) == END_FALLS &&
	    nftnl_chain_get_u32(chain, NFTNL_CHAIN_POLICY) == NF_DROP)
		harm(&walk, verdict, &policy, name, 0);
	packet->mark = walk.packet.mark;
	packet->mark_unknown = walk.packet.mark_unknown;
}

/* The chain there with the lowest priority above "after", or NULL. */
static struct nftnl_chain *
next_chain(const struct firewall *firewall, const struct firewall_place *place,
    const struct firewall_packet *packet, const struct nftnl_chain *after)
{
	struct nftnl_chain_list_iter *chains =
	    nftnl_chain_list_iter_create(firewall->dump.chains);
	struct nftnl_chain *chain, *best = NULL;
	bool behind = after == NULL;

	while (chains != NULL &&
	    (chain = nftnl_chain_list_iter_next(chains)) != NULL) {
		const int32_t priority =
		    nftnl_chain_get_s32(chain, NFTNL_CHAIN_PRIO);
		const int32_t last = after == NULL ? 0 :
		    nftnl_chain_get_s32(after, NFTNL_CHAIN_PRIO);

		if (chain == after) {
			behind = true;
			continue;
		}
		if (!is_there(firewall, chain, place, packet) || (after != NULL &&
		    (priority < last || (priority == last && !behind))))
			continue;
		if (best == NULL || priority <
		    nftnl_chain_get_s32(best, NFTNL_CHAIN_PRIO))
			best = chain;
	}
	if (chains != NULL)
		nftnl_chain_list_iter_destroy(chains);
	return best;
}

void
firewall_judge(const struct firewall *firewall,
    const struct firewall_place *place, const struct firewall_packet *packet,
    struct firewall_verdict *verdict)
{
	struct firewall_packet now = *packet;
	struct nftnl_chain *chain = NULL;

	memset(verdict, 0, sizeof(*verdict));
	while ((chain = next_chain(firewall, place, &now, chain)) != NULL) {
		struct firewall_verdict one;

		walk_base(firewall, chain, &now, &one);
		if (one.effect == FIREWALL_PASSES)
			continue;
		if (verdict->effect == FIREWALL_PASSES || one.certain)
			*verdict = one;
		if (one.certain)
			return;
	}
}

size_t
firewall_drop_policies(const struct firewall *firewall, char *name, size_t size)
{
	struct nftnl_chain_list_iter *chains =
	    nftnl_chain_list_iter_create(firewall->dump.chains);
	struct nftnl_chain *chain;
	size_t count = 0;

	while (chains != NULL &&
	    (chain = nftnl_chain_list_iter_next(chains)) != NULL) {
		uint32_t hook;

		if (!firewall_is_base(firewall, chain) ||
		    nftnl_chain_get_u32(chain, NFTNL_CHAIN_POLICY) != NF_DROP)
			continue;
		hook = nftnl_chain_get_u32(chain, NFTNL_CHAIN_HOOKNUM);
		if (hook != NF_INET_LOCAL_IN && hook != NF_INET_LOCAL_OUT)
			continue;
		if (count++ == 0)
			(void)snprintf(name, size, "%s %s %s", firewall_family(
			    nftnl_chain_get_u32(chain, NFTNL_CHAIN_FAMILY)),
			    nftnl_chain_get_str(chain, NFTNL_CHAIN_TABLE),
			    nftnl_chain_get_str(chain, NFTNL_CHAIN_NAME));
	}
	if (chains != NULL)
		nftnl_chain_list_iter_destroy(chains);
	return count;
}
