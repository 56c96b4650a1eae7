/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <linux/netfilter.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <libnftnl/expr.h>
#include <libnftnl/udata.h>

#include "rules/expressions.h"

static void
put_comment(struct expr_builder *b, const char *comment)
{
	struct nftnl_udata_buf *data =
	    nftnl_udata_buf_alloc(NFT_USERDATA_MAXLEN);

	if (data == NULL || !nftnl_udata_put_strz(data,
	    NFTNL_UDATA_RULE_COMMENT, comment) ||
	    nftnl_rule_set_data(b->rule, NFTNL_RULE_USERDATA,
	    nftnl_udata_buf_data(data), nftnl_udata_buf_len(data)) != 0)
		b->failed = true;
	if (data != NULL)
		nftnl_udata_buf_free(data);
}

struct nftnl_rule *
expressions_rule(const struct rule *rule, enum queue_form form)
{
	struct expr_builder b = { .rule = nftnl_rule_alloc() };

	if (b.rule == NULL)
		return NULL;
	nftnl_rule_set_u32(b.rule, NFTNL_RULE_FAMILY, NFPROTO_INET);
	if (nftnl_rule_set_str(b.rule, NFTNL_RULE_TABLE,
	    RULES_TABLE) != 0 || nftnl_rule_set_str(b.rule,
	    NFTNL_RULE_CHAIN, rules_chain_form(rule->chain)->name) != 0)
		b.failed = true;
	put_comment(&b, rule->comment);
	for (size_t i = 0; i < rule->condition_count; i++)
		condition_encode(&b, &rule->conditions[i]);
	for (size_t i = 0; i < rule->statement_count; i++)
		statement_encode(&b, &rule->statements[i], form);
	if (!b.failed)
		return b.rule;
	nftnl_rule_free(b.rule);
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

static int
take_comment(const struct nftnl_udata *attribute, void *data)
{
	const char **comment = data;
	const char *text = nftnl_udata_get(attribute);
	uint8_t length = nftnl_udata_len(attribute);

	if (nftnl_udata_type(attribute) == NFTNL_UDATA_RULE_COMMENT &&
	    length > 0 && text[length - 1] == '\0')
		*comment = text;
	return 0;
}

const char *
expressions_comment(const struct nftnl_rule *rule)
{
	const char *comment = "";
	uint32_t size = 0;
	const void *data = nftnl_rule_get_data(rule, NFTNL_RULE_USERDATA,
	    &size);

	if (data != NULL)
		(void)nftnl_udata_parse(data, size, take_comment, &comment);
	return comment;
}

static bool
begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

enum rules_counter
expressions_counter(const struct nftnl_rule *rule, uint64_t *packets)
{
	const char *comment = expressions_comment(rule);
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
