/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <string.h>
#include <sys/socket.h>

#include <libmnl/libmnl.h>
#include <libnftnl/common.h>
#include <libnftnl/expr.h>
#include <libnftnl/udata.h>

#include "rules/nft_message.h"

/* Of what we add to a rule's userdata; nft(8) passes over what it does not know. */
#define UDATA_RULE_DIGEST	200

/* More than any rule of ours takes. */
#define MESSAGE_MAX		16384

uint64_t
expressions_digest(uint64_t digest, const void *octets, size_t size)
{
	const uint8_t *octet = octets;

	for (size_t i = 0; i < size; i++)
		digest = (digest ^ octet[i]) * 0x100000001b3;
	return digest;
}

/* Without userdata. */
static struct nftnl_rule *
encode(const struct rule *rule, enum queue_form form)
{
	struct expr_builder b = { .rule = nftnl_rule_alloc() };

	if (b.rule == NULL)
		return NULL;
	nftnl_rule_set_u32(b.rule, NFTNL_RULE_FAMILY, rules_table_form(
	    rules_chain_form(rule->chain)->table)->family);
	if (nftnl_rule_set_str(b.rule, NFTNL_RULE_TABLE,
	    RULES_TABLE) != 0 || nftnl_rule_set_str(b.rule,
	    NFTNL_RULE_CHAIN, rules_chain_form(rule->chain)->name) != 0)
		b.failed = true;
	for (size_t i = 0; i < rule->condition_count; i++)
		condition_encode(&b, &rule->conditions[i]);
	for (size_t i = 0; i < rule->statement_count; i++)
		statement_encode(&b, &rule->statements[i], form);
	if (!b.failed)
		return b.rule;
	nftnl_rule_free(b.rule);
	return NULL;
}

/* Of its message; the same for both forms.  False: out of memory. */
static bool
digest_of(const struct rule *rule, uint64_t *digest)
{
	_Alignas(struct nlmsghdr) char buffer[MESSAGE_MAX] = { 0 };
	struct nlmsghdr *message = nftnl_nlmsg_build_hdr(buffer,
	    NFT_MSG_NEWRULE, NFPROTO_INET, 0, 0);
	struct nftnl_rule *made = encode(rule, QUEUE_NATIVE);

	if (made == NULL)
		return false;
	nftnl_rule_nlmsg_build_payload(message, made);
	nftnl_rule_free(made);
	*digest = expressions_digest(expressions_digest(EXPRESSIONS_DIGEST,
	    message, message->nlmsg_len), rule->comment,
	    strlen(rule->comment));
	return true;
}

static bool
put_userdata(struct nftnl_rule *made, const struct rule *rule)
{
	struct nftnl_udata_buf *data =
	    nftnl_udata_buf_alloc(NFT_USERDATA_MAXLEN);
	uint64_t digest;
	const bool put = data != NULL && digest_of(rule, &digest) &&
	    nftnl_udata_put_strz(data, NFTNL_UDATA_RULE_COMMENT,
	    rule->comment) && nftnl_udata_put(data, UDATA_RULE_DIGEST,
	    sizeof(digest), &digest) && nftnl_rule_set_data(made,
	    NFTNL_RULE_USERDATA, nftnl_udata_buf_data(data),
	    nftnl_udata_buf_len(data)) == 0;

	if (data != NULL)
		nftnl_udata_buf_free(data);
	return put;
}

struct nftnl_rule *
expressions_rule(const struct rule *rule, enum queue_form form)
{
	struct nftnl_rule *made = encode(rule, form);

	if (made == NULL || put_userdata(made, rule))
		return made;
	nftnl_rule_free(made);
	return NULL;
}

uint32_t
expressions_key_type(int family)
{
	/* ipv4_addr and ipv6_addr; the kernel only keeps them for nft(8). */
	return family == AF_INET ? 7 : 8;
}

/* A concatenation's types have six bits each: address, service, address. */
uint32_t
expressions_stream_type(bool ipv4)
{
	uint32_t address = expressions_key_type(ipv4 ? AF_INET : AF_INET6);

	return address << 12 | 13 << 6 | address;
}

uint32_t
expressions_stream_length(bool ipv4)
{
	return ipv4 ? 4 + 4 + 4 : 16 + 4 + 16;
}

/* What we put into a rule's userdata, as it came from the kernel. */
struct userdata {
	const char *comment;		/* "" if there is none */
	uint64_t digest;		/* 0 if there is none */
};

static int
take_userdata(const struct nftnl_udata *attribute, void *data)
{
	struct userdata *u = data;
	const char *octets = nftnl_udata_get(attribute);
	const uint8_t length = nftnl_udata_len(attribute);

	if (nftnl_udata_type(attribute) == NFTNL_UDATA_RULE_COMMENT &&
	    length > 0 && octets[length - 1] == '\0')
		u->comment = octets;
	if (nftnl_udata_type(attribute) == UDATA_RULE_DIGEST &&
	    length == sizeof(u->digest))
		memcpy(&u->digest, octets, sizeof(u->digest));
	return 0;
}

static struct userdata
userdata_of(const struct nftnl_rule *rule)
{
	struct userdata u = { .comment = "" };
	uint32_t size = 0;
	const void *data = nftnl_rule_get_data(rule, NFTNL_RULE_USERDATA,
	    &size);

	if (data != NULL)
		(void)nftnl_udata_parse(data, size, take_userdata, &u);
	return u;
}

bool
expressions_are(const struct rule *wanted, const struct nftnl_rule *there)
{
	uint64_t digest;

	return digest_of(wanted, &digest) &&
	    userdata_of(there).digest == digest;
}

static bool
begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

enum rules_counter
expressions_counter(const struct nftnl_rule *rule, uint64_t *packets)
{
	const char *comment = userdata_of(rule).comment;
	struct nftnl_expr_iter *expressions = nftnl_expr_iter_create(rule);
	const struct nftnl_expr *expression;
	bool queues = false;

	*packets = 0;
	if (expressions == NULL)
		return RULES_COUNTERS;
	while ((expression = nftnl_expr_iter_next(expressions)) != NULL) {
		const char *name = nftnl_expr_get_str(expression,
		    NFTNL_EXPR_NAME);

		if (strcmp(name, "counter") == 0)
			*packets += nftnl_expr_get_u64(expression,
			    NFTNL_EXPR_CTR_PACKETS);
		else if (strcmp(name, EXPRESSION_QUEUE) == 0 ||
		    strcmp(name, EXPRESSION_TARGET) == 0)
			queues = true;
	}
	nftnl_expr_iter_destroy(expressions);
	if (begins_with(comment, RULES_COMMENT_FULL))
		return COUNTER_STREAMS_FULL;
	if (begins_with(comment, RULES_COMMENT_SURPLUS))
		return COUNTER_SURPLUS;
	return queues && strcmp(comment, RULES_COMMENT_CANARY) != 0 &&
	    !begins_with(comment, RULES_COMMENT_REPEATED) ?
	    COUNTER_QUESTIONS : RULES_COUNTERS;
}
