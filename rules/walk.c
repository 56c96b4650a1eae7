/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/walk.h"

#include <netinet/in.h>	/* before the kernel's, which would define it again */
#include <linux/netfilter.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "resolver/text/host.h"

#define DNS_PORT 53

/* A subject's octets, as the kernel's registers have them. */
struct subject_value {
	bool known;			/* without, the rule does not match */
	uint8_t octets[16];
};

static struct subject_value
value_of_word(uint32_t word)
{
	struct subject_value value = { .known = true };

	memcpy(value.octets, &word, sizeof(word));
	return value;
}

static struct subject_value
value_of_octet(uint8_t octet)
{
	return (struct subject_value){ true, { octet } };
}

static struct subject_value
value_of_address(const struct walk_packet *packet, int family,
    const uint8_t address[static 16])
{
	struct subject_value value = { .known = packet->family == family };

	memcpy(value.octets, address, sizeof(value.octets));
	return value;
}

static struct subject_value
value_of_interface(const struct walk_packet *packet)
{
	struct subject_value value = { .known = packet->in != NULL };

	if (value.known)
		memcpy(value.octets, packet->in, strnlen(packet->in,
		    sizeof(value.octets) - 1));
	return value;
}

static uint32_t
destination_type(const struct walk_packet *packet)
{
	static const uint8_t everyone[4] = { 255, 255, 255, 255 };

	return packet->family == AF_INET &&
	    memcmp(packet->destination, everyone, 4) == 0 ?
	    RTN_BROADCAST : RTN_UNICAST;
}

static struct subject_value
value_of(enum subject subject, const struct walk_packet *packet)
{
	const uint8_t port[2] = { 0, DNS_PORT };
	struct subject_value value = { .known = true };

	switch (subject) {
	case SUBJECT_NFPROTO:
		return value_of_octet(packet->family == AF_INET ?
		    NFPROTO_IPV4 : NFPROTO_IPV6);
	case SUBJECT_L4PROTO:
		return value_of_octet(packet->protocol);
	case SUBJECT_MARK:
		return value_of_word(packet->mark);
	case SUBJECT_SKUID:
		value = value_of_word(packet->uid);
		value.known = packet->uid != (uid_t)-1;
		return value;
	case SUBJECT_SKGID:
		value = value_of_word(packet->gid);
		value.known = packet->gid != (gid_t)-1;
		return value;
	case SUBJECT_FIB_SADDR_TYPE:
		return value_of_word(packet->foreign ? RTN_UNICAST : RTN_LOCAL);
	case SUBJECT_FIB_DADDR_TYPE:
		return value_of_word(destination_type(packet));
	case SUBJECT_IIF:		/* any but lo */
	case SUBJECT_FIB_BACK:		/* there is a route back */
		value = value_of_word(RULE_LOOPBACK + 1);
		value.known = packet->in != NULL;
		return value;
	case SUBJECT_IIFNAME:
		return value_of_interface(packet);
	case SUBJECT_IP_SADDR:
		return value_of_address(packet, AF_INET, packet->source);
	case SUBJECT_IP6_SADDR:
		return value_of_address(packet, AF_INET6, packet->source);
	case SUBJECT_IP_DADDR:
		return value_of_address(packet, AF_INET, packet->destination);
	case SUBJECT_IP6_DADDR:
		return value_of_address(packet, AF_INET6, packet->destination);
	case SUBJECT_TH_DPORT:
		memcpy(value.octets, port, sizeof(port));
		return value;
	case SUBJECT_TCP_FLAGS:
		return value_of_octet(RULE_TCP_SYN);
	default:
		value.known = false;
		return value;
	}
}

static bool
is_in_set(const struct ruleset *set, const struct condition *condition,
    const struct walk_packet *packet)
{
	const bool source = condition->subject == SUBJECT_IP_SADDR ||
	    condition->subject == SUBJECT_IP6_SADDR;


	for (size_t i = 0; i < RULES_SETS; i++) {
		const struct address_set *s = &set->sets[i];

		if (strcmp(s->name, condition->name) != 0 ||
		    s->family != packet->family)
			continue;
		for (size_t j = 0; j < s->count; j++)
			if (host_same_bits(s->prefixes[j].address,
			    source ? packet->source : packet->destination,
			    s->prefixes[j].length))
				return true;
	}
	return false;
}

static bool
is_equal(const struct condition *condition, const uint8_t *octets)
{
	for (size_t i = 0; i < condition->size; i++) {
		const uint8_t mask = condition->masked ? condition->mask[i] :
		    0xff;

		if ((octets[i] & mask) != condition->value[i])
			return false;
	}
	return true;
}

static bool
holds(const struct ruleset *set, const struct condition *condition,
    const struct walk_packet *packet)
{
	const struct subject_value value = value_of(condition->subject, packet);

	if (!value.known)
		return false;
	switch (condition->operator) {
	case OPERATOR_EQUAL:
		return is_equal(condition, value.octets);
	case OPERATOR_DIFFERENT:
		return !is_equal(condition, value.octets);
	default:
		return is_in_set(set, condition, packet);
	}
}

enum walk_match
walk_rule(const struct ruleset *set, const struct rule *rule,
    const struct walk_packet *packet, const struct condition **failed)
{
	enum walk_match match = WALK_YES;

	*failed = NULL;
	for (size_t i = 0; i < rule->condition_count; i++) {
		const struct condition *condition = &rule->conditions[i];

		if (condition->subject == SUBJECT_CGROUPV2) {
			match = WALK_CGROUP;
		} else if (!holds(set, condition, packet)) {
			*failed = condition;
			return WALK_NO;
		}
	}
	for (size_t i = 0; i < rule->statement_count; i++)
		if (rule->statements[i].kind == STATEMENT_USER_OVER)
			match = WALK_OVER_RATE;
	return match;
}

void
walk_mark(const struct rule *rule, struct walk_packet *packet)
{
	for (size_t i = 0; i < rule->statement_count; i++) {
		const struct statement *s = &rule->statements[i];

		if (s->kind == STATEMENT_MARK)
			packet->mark = (packet->mark & s->mark.keep) ^
			    s->mark.flip;
	}
}
