/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/xt_NFQUEUE.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libnftnl/expr.h>

#include "rules/compare.h"
#include "rules/expressions.h"

/* What of an expression is compared.  A list ends with END. */
#define END UINT16_MAX
/*
 * The kernel tells some values that we leave out, and the other way round:
 * of these, absent and zero are the same.
 */
#define ZERO_IS_ABSENT 0x8000

static const struct {
	const char *name;
	uint16_t attributes[8];
} compared[] = {
	{ "meta", { NFTNL_EXPR_META_KEY, NFTNL_EXPR_META_DREG,
	    NFTNL_EXPR_META_SREG, END } },
	{ "cmp", { NFTNL_EXPR_CMP_SREG, NFTNL_EXPR_CMP_OP,
	    NFTNL_EXPR_CMP_DATA, END } },
	{ "payload", { NFTNL_EXPR_PAYLOAD_DREG, NFTNL_EXPR_PAYLOAD_BASE,
	    NFTNL_EXPR_PAYLOAD_OFFSET, NFTNL_EXPR_PAYLOAD_LEN,
	    NFTNL_EXPR_PAYLOAD_SREG, END } },
	{ "bitwise", { NFTNL_EXPR_BITWISE_SREG, NFTNL_EXPR_BITWISE_DREG,
	    NFTNL_EXPR_BITWISE_LEN, NFTNL_EXPR_BITWISE_MASK,
	    NFTNL_EXPR_BITWISE_XOR, NFTNL_EXPR_BITWISE_OP | ZERO_IS_ABSENT,
	    NFTNL_EXPR_BITWISE_DATA, END } },
	{ "lookup", { NFTNL_EXPR_LOOKUP_SREG, NFTNL_EXPR_LOOKUP_DREG,
	    NFTNL_EXPR_LOOKUP_SET, NFTNL_EXPR_LOOKUP_FLAGS | ZERO_IS_ABSENT,
	    END } },
	{ "socket", { NFTNL_EXPR_SOCKET_KEY, NFTNL_EXPR_SOCKET_DREG,
	    NFTNL_EXPR_SOCKET_LEVEL, END } },
	{ "immediate", { NFTNL_EXPR_IMM_DREG, NFTNL_EXPR_IMM_DATA,
	    NFTNL_EXPR_IMM_VERDICT, NFTNL_EXPR_IMM_CHAIN, END } },
	{ "ct", { NFTNL_EXPR_CT_KEY, NFTNL_EXPR_CT_DIR, NFTNL_EXPR_CT_SREG,
	    NFTNL_EXPR_CT_DREG, END } },
	{ EXPRESSION_QUEUE, { NFTNL_EXPR_QUEUE_NUM, NFTNL_EXPR_QUEUE_TOTAL,
	    NFTNL_EXPR_QUEUE_FLAGS | ZERO_IS_ABSENT,
	    NFTNL_EXPR_QUEUE_SREG_QNUM, END } },
	{ EXPRESSION_TARGET, { NFTNL_EXPR_TG_NAME, NFTNL_EXPR_TG_REV,
	    NFTNL_EXPR_TG_INFO, END } },
	{ "dynset", { NFTNL_EXPR_DYNSET_SREG_KEY, NFTNL_EXPR_DYNSET_OP,
	    NFTNL_EXPR_DYNSET_SET_NAME, NFTNL_EXPR_DYNSET_SREG_DATA,
	    NFTNL_EXPR_DYNSET_TIMEOUT | ZERO_IS_ABSENT, END } },
	{ EXPRESSION_TPROXY, { NFTNL_EXPR_TPROXY_FAMILY,
	    NFTNL_EXPR_TPROXY_REG_ADDR, NFTNL_EXPR_TPROXY_REG_PORT, END } },
	{ "limit", { NFTNL_EXPR_LIMIT_RATE, NFTNL_EXPR_LIMIT_UNIT,
	    NFTNL_EXPR_LIMIT_BURST, NFTNL_EXPR_LIMIT_TYPE | ZERO_IS_ABSENT,
	    NFTNL_EXPR_LIMIT_FLAGS | ZERO_IS_ABSENT, END } },
	{ "fib", { NFTNL_EXPR_FIB_DREG, NFTNL_EXPR_FIB_RESULT,
	    NFTNL_EXPR_FIB_FLAGS, END } },
	{ "counter", { END } },
	{ "notrack", { END } },
};

static bool
all_zero(const uint8_t *data, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		if (data[i] != 0)
			return false;
	return true;
}

static bool
attribute_equal(const struct nftnl_expr *a, const struct nftnl_expr *b,
    uint16_t attribute)
{
	uint16_t number = attribute & (uint16_t)~ZERO_IS_ABSENT;
	uint32_t a_size = 0, b_size = 0;
	const void *a_data = NULL, *b_data = NULL;

	if (nftnl_expr_is_set(a, number))
		a_data = nftnl_expr_get(a, number, &a_size);
	if (nftnl_expr_is_set(b, number))
		b_data = nftnl_expr_get(b, number, &b_size);
	if (a_data != NULL && b_data != NULL)
		return a_size == b_size && memcmp(a_data, b_data, a_size) == 0;
	if (a_data == NULL && b_data == NULL)
		return true;
	return (attribute & ZERO_IS_ABSENT) != 0 &&
	    all_zero(a_data != NULL ? a_data : b_data,
	    a_data != NULL ? a_size : b_size);
}

/* But for the expressions in it. */
static bool
outer_equal(const struct nftnl_expr *a, const struct nftnl_expr *b)
{
	const char *name = nftnl_expr_get_str(a, NFTNL_EXPR_NAME);

	if (strcmp(name, nftnl_expr_get_str(b, NFTNL_EXPR_NAME)) != 0)
		return false;
	for (size_t i = 0; i < sizeof(compared) / sizeof(*compared); i++) {
		if (strcmp(compared[i].name, name) != 0)
			continue;
		for (size_t j = 0; compared[i].attributes[j] != END; j++)
			if (!attribute_equal(a, b, compared[i].attributes[j]))
				return false;
		return true;
	}
	return false;	/* none that we make */
}

/* The expressions in another one, of which we make one at most. */
struct inner {
	const struct nftnl_expr *first;
	size_t count;
};

static int
take_inner(struct nftnl_expr *expression, void *data)
{
	struct inner *inner = data;

	if (inner->count++ == 0)
		inner->first = expression;
	return 0;
}

/* Of a change of a set: the state that it gives to elements, such as a limit. */
static bool
inner_equal(const struct nftnl_expr *a, const struct nftnl_expr *b)
{
	struct inner ours = { .count = 0 }, theirs = { .count = 0 };

	(void)nftnl_expr_expr_foreach(a, take_inner, &ours);
	(void)nftnl_expr_expr_foreach(b, take_inner, &theirs);
	return ours.count == theirs.count && (ours.count == 0 ||
	    (ours.count == 1 && outer_equal(ours.first, theirs.first)));
}

/* nftnl_expr_expr_foreach() takes every expression for a "dynset". */
static bool
expression_equal(const struct nftnl_expr *a, const struct nftnl_expr *b)
{
	return outer_equal(a, b) && (strcmp(nftnl_expr_get_str(a,
	    NFTNL_EXPR_NAME), "dynset") != 0 || inner_equal(a, b));
}

/* 0: equal, 1: not, or a negative errno. */
static int
compare_made(const struct nftnl_rule *wanted, const struct nftnl_rule *there)
{
	struct nftnl_expr_iter *a = nftnl_expr_iter_create(wanted);
	struct nftnl_expr_iter *b = nftnl_expr_iter_create(there);
	const struct nftnl_expr *left, *right;
	int rc = -ENOMEM;

	if (a == NULL || b == NULL)
		goto out;
	do {
		left = nftnl_expr_iter_next(a);
		right = nftnl_expr_iter_next(b);
		rc = left == NULL || right == NULL ? left != right :
		    !expression_equal(left, right);
	} while (rc == 0 && left != NULL);
out:
	if (a != NULL)
		nftnl_expr_iter_destroy(a);
	if (b != NULL)
		nftnl_expr_iter_destroy(b);
	return rc;
}

int
compare_rule(const struct rule *wanted, const struct nftnl_rule *there)
{
	int rc = 1;

	if (strcmp(wanted->comment, expressions_comment(there)) != 0)
		return 1;
	for (enum queue_form form = QUEUE_NATIVE; rc == 1 && form <= QUEUE_XT;
	    form++) {
		struct nftnl_rule *made = expressions_rule(wanted, form);

		if (made == NULL)
			return -ENOMEM;
		rc = compare_made(made, there);
		nftnl_rule_free(made);
	}
	return rc;
}

/* The elements in question, sorted. */
struct element_list {
	struct address_element *elements;
	size_t count;
};

/* By address; an end before the start of the next interval. */
static int
element_compare(const void *left, const void *right)
{
	const struct address_element *a = left, *b = right;
	int order = memcmp(a->key, b->key, sizeof(a->key));

	return order != 0 ? order : (int)b->end - (int)a->end;
}

/* nft(8) begins a set with an end at address 0, which says nothing. */
static bool
is_idle(const struct address_element *element)
{
	return element->end && all_zero(element->key, sizeof(element->key));
}

static int
list_wanted(struct element_list *list, const struct address_set *set)
{
	list->elements = calloc(2 * set->count + 2, sizeof(*list->elements));
	if (list->elements == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < set->count; i++)
		list->count += address_elements(&set->prefixes[i],
		    &list->elements[list->count]);
	qsort(list->elements, list->count, sizeof(*list->elements),
	    element_compare);
	return 0;
}

static void
take_element(struct element_list *list, struct nftnl_set_elem *element)
{
	struct address_element *new = &list->elements[list->count];
	uint32_t size = 0;
	const void *key = nftnl_set_elem_get(element, NFTNL_SET_ELEM_KEY, &size);

	memset(new, 0, sizeof(*new));
	if (key != NULL && size <= sizeof(new->key))
		memcpy(new->key, key, size);
	new->end = nftnl_set_elem_is_set(element, NFTNL_SET_ELEM_FLAGS) &&
	    (nftnl_set_elem_get_u32(element, NFTNL_SET_ELEM_FLAGS) &
	    NFT_SET_ELEM_INTERVAL_END) != 0;
	if (!is_idle(new))
		list->count++;
}

static int
list_there(struct element_list *list, const struct nftnl_set *set)
{
	struct nftnl_set_elems_iter *count = nftnl_set_elems_iter_create(set);
	struct nftnl_set_elems_iter *iter = nftnl_set_elems_iter_create(set);
	struct nftnl_set_elem *element;
	size_t room = 1;
	int rc = -ENOMEM;

	if (count == NULL || iter == NULL)
		goto out;
	while (nftnl_set_elems_iter_next(count) != NULL)
		room++;
	list->elements = calloc(room, sizeof(*list->elements));
	if (list->elements == NULL)
		goto out;
	while ((element = nftnl_set_elems_iter_next(iter)) != NULL)
		take_element(list, element);
	qsort(list->elements, list->count, sizeof(*list->elements),
	    element_compare);
	rc = 0;
out:
	if (count != NULL)
		nftnl_set_elems_iter_destroy(count);
	if (iter != NULL)
		nftnl_set_elems_iter_destroy(iter);
	return rc;
}

/* Tells the first difference of two sorted lists, or returns 0. */
static int
compare_lists(const struct element_list *wanted,
    const struct element_list *there, int family, char **text)
{
	for (size_t i = 0; i < wanted->count || i < there->count; i++) {
		char address[INET6_ADDRSTRLEN];
		const struct address_element *first;
		bool missing;
		int order = i == wanted->count ? 1 : i == there->count ? -1 :
		    element_compare(&wanted->elements[i], &there->elements[i]);

		if (order == 0)
			continue;
		missing = order < 0;
		first = missing ? &wanted->elements[i] : &there->elements[i];
		inet_ntop(family, first->key, address, sizeof(address));
		if (asprintf(text, "%s at %s %s", first->end ?
		    "the end of an interval" : "an interval", address, missing ?
		    "is missing" : "is not wanted") < 0) {
			*text = NULL;
			return -ENOMEM;
		}
		return 1;
	}
	return 0;
}

int
compare_elements(const struct address_set *wanted,
    const struct nftnl_set *there, char **text)
{
	struct element_list ours = { .count = 0 }, theirs = { .count = 0 };
	int rc;

	*text = NULL;
	rc = list_wanted(&ours, wanted);
	if (rc == 0)
		rc = list_there(&theirs, there);
	if (rc == 0)
		rc = compare_lists(&ours, &theirs, wanted->family, text);
	free(ours.elements);
	free(theirs.elements);
	return rc;
}

bool
compare_streams(const struct ruleset *set, const struct nftnl_set *there,
    bool ipv4)
{
	return there != NULL && nftnl_set_get_u32(there, NFTNL_SET_FLAGS) ==
	    (NFT_SET_EVAL | NFT_SET_TIMEOUT) &&
	    nftnl_set_get_u32(there, NFTNL_SET_KEY_LEN) ==
	    expressions_stream_length(ipv4) &&
	    nftnl_set_get_u32(there, NFTNL_SET_DESC_SIZE) == set->streams_max &&
	    nftnl_set_get_u64(there, NFTNL_SET_TIMEOUT) ==
	    RULES_STREAMS_S * 1000ULL;
}

bool
compare_users(const struct nftnl_set *there)
{
	return there != NULL && nftnl_set_get_u32(there, NFTNL_SET_FLAGS) ==
	    (NFT_SET_EVAL | NFT_SET_TIMEOUT) &&
	    nftnl_set_get_u32(there, NFTNL_SET_KEY_LEN) == sizeof(uid_t) &&
	    nftnl_set_get_u32(there, NFTNL_SET_DESC_SIZE) == RULES_USERS_MAX &&
	    nftnl_set_get_u64(there, NFTNL_SET_TIMEOUT) ==
	    RULES_USERS_S * 1000ULL;
}

char *
describe_wanted(const struct rule *rule)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	fprintf(out, "\"%s\" (", rule->comment);
	rule_print(rule, out);
	fputc(')', out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* libnftnl gives the target's name and no more. */
static void
print_queue(const struct nftnl_expr *target, FILE *out)
{
	const struct xt_NFQ_info_v3 *info;
	uint32_t size = 0;

	if (strcmp(nftnl_expr_get_str(target, NFTNL_EXPR_TG_NAME),
	    XT_TARGET_NFQUEUE) != 0 ||
	    nftnl_expr_get_u32(target, NFTNL_EXPR_TG_REV) != 3)
		return;
	info = nftnl_expr_get(target, NFTNL_EXPR_TG_INFO, &size);
	if (info == NULL || size < sizeof(*info))
		return;
	fprintf(out, " to %u", info->queuenum);
	if (info->queues_total > 1)
		fprintf(out, "-%u", info->queuenum + info->queues_total - 1U);
	if (info->flags & NFQ_FLAG_BYPASS)
		fputs(" bypass", out);
	if (info->flags & NFQ_FLAG_CPU_FANOUT)
		fputs(" fanout", out);
}

char *
describe_there(const struct nftnl_rule *rule)
{
	struct nftnl_expr_iter *expressions = nftnl_expr_iter_create(rule);
	const struct nftnl_expr *expression;
	const char *separator = "";
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL || expressions == NULL)
		goto out;
	fprintf(out, "\"%s\" (", expressions_comment(rule));
	while ((expression = nftnl_expr_iter_next(expressions)) != NULL) {
		const char *name = nftnl_expr_get_str(expression,
		    NFTNL_EXPR_NAME);
		char words[256] = "";

		if (strcmp(name, "counter") == 0)
			continue;
		nftnl_expr_snprintf(words, sizeof(words), expression,
		    NFTNL_OUTPUT_DEFAULT, 0);
		for (size_t end = strlen(words); end > 0 &&
		    words[end - 1] == ' '; end--)
			words[end - 1] = '\0';
		fprintf(out, "%s%s %s", separator, name, words);
		if (strcmp(name, EXPRESSION_TARGET) == 0)
			print_queue(expression, out);
		separator = "; ";
	}
	fputc(')', out);
out:
	if (expressions != NULL)
		nftnl_expr_iter_destroy(expressions);
	if (out != NULL && (fclose(out) != 0 || expressions == NULL)) {
		free(text);
		text = NULL;
	}
	return text;
}
