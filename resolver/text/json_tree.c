/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text is copied once; strings are decoded where they stand in the copy,
 * since no escape is shorter than what it means, and end with a NUL in place
 * of their quote.  Nodes lie in blocks that never move.
 */
#include "resolver/text/json_tree.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/text/number.h"
#include "resolver/text/utf8.h"

#define BLOCK_NODES 512

/* Objects with more members have them sorted to find equal names. */
#define FEW_MEMBERS 8

struct json_block {
	struct json_block *next;
	struct json_node nodes[BLOCK_NODES];
};

struct parse {
	struct json_tree *tree;
	char *at;
	char *end;
	int error;
	const char *why;
	unsigned int depth;
	size_t values;
};

static struct json_node *
fail(struct parse *p, const char *why)
{
	if (p->error == 0) {
		p->error = -EINVAL;
		p->why = why;
	}
	return NULL;
}

static struct json_node *
new_node(struct parse *p)
{
	struct json_tree *tree = p->tree;
	struct json_node *node;

	if (++p->values > JSON_TREE_MAX_VALUES)
		return fail(p, "more than 2000000 values");
	if (tree->last == NULL || tree->used == BLOCK_NODES) {
		struct json_block *block = tree->last == NULL ? tree->block :
		    tree->last->next;

		if (block == NULL) {
			block = malloc(sizeof(*block));
			if (block == NULL) {
				p->error = -ENOMEM;
				return NULL;
			}
			block->next = NULL;
			if (tree->last == NULL)
				tree->block = block;
			else
				tree->last->next = block;
		}
		tree->last = block;
		tree->used = 0;
	}
	node = &tree->last->nodes[tree->used++];
	*node = (struct json_node){ .kind = JSON_KIND_NULL };
	return node;
}

static void
skip_space(struct parse *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' ||
	    *p->at == '\t' || *p->at == '\r'))
		p->at++;
}

/* The next character behind white space; '\0' at the end. */
static char
peek(struct parse *p)
{
	skip_space(p);
	return p->at < p->end ? *p->at : '\0';
}

/* Four hex digits at p->at, or -1. */
static int32_t
take_hex(struct parse *p)
{
	int32_t value = 0;

	for (int i = 0; i < 4; i++, p->at++) {
		int digit = p->at < p->end ? number_hex_digit(*p->at) : -1;

		if (digit < 0)
			return -1;
		value = value << 4 | digit;
	}
	return value;
}

/* What stands behind "\u" as a code point: RFC 8259 section 7; or -1. */
static int32_t
take_code_point(struct parse *p)
{
	int32_t high = take_hex(p), low;

	if (high < 0xd800 || high > 0xdfff)
		return high;
	if (high > 0xdbff || p->end - p->at < 6 || p->at[0] != '\\' ||
	    p->at[1] != 'u')
		return -1;
	p->at += 2;
	low = take_hex(p);
	if (low < 0xdc00 || low > 0xdfff)
		return -1;
	return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

/* UTF-8: RFC 3629 section 3. */
static char *
put_code_point(char *to, int32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	}
	return to;
}

/* The escape whose backslash was taken, decoded to "to". */
static char *
take_escape(struct parse *p, char *to)
{
	static const char letters[] = "\"\\/bfnrt";
	static const char meanings[] = "\"\\/\b\f\n\r\t";
	char c = p->at < p->end ? *p->at++ : '\0';
	const char *found = c != '\0' ? strchr(letters, c) : NULL;
	int32_t code;

	if (found != NULL) {
		*to++ = meanings[found - letters];
		return to;
	}
	code = c == 'u' ? take_code_point(p) : -1;
	if (code <= 0) {
		(void)fail(p, code == 0 ? "NUL in a string" :
		    "bad escape in a string");
		return to;
	}
	return put_code_point(to, code);
}

/* One character of a string, which stays as it is, to "to". */
static char *
take_character(struct parse *p, char *to)
{
	size_t length = utf8_length(p->at, p->end);

	if (length == 0) {
		(void)fail(p, "a string that is not UTF-8");
		return to;
	}
	while (length-- > 0)
		*to++ = *p->at++;
	return to;
}

/* The string whose quote comes next; NULL on failure. */
static const char *
take_string(struct parse *p)
{
	char *start = ++p->at, *to = start;

	while (p->error == 0 && p->at < p->end) {
		unsigned char c = (unsigned char)*p->at;

		if (c >= 0x80) {
			to = take_character(p, to);
			continue;
		}
		p->at++;
		if (c == '"') {
			*to = '\0';
			return start;
		}
		if (c < 0x20)
			(void)fail(p, "control character in a string");
		else if (c == '\\')
			to = take_escape(p, to);
		else
			*to++ = (char)c;
	}
	(void)fail(p, "string without an end");
	return NULL;
}

static bool
take_digits(struct parse *p)
{
	const char *start = p->at;

	while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
		p->at++;
	return p->at > start;
}

static long long
integer_of(const char *from, const char *to)
{
	bool negative = *from == '-';
	long long value = 0;

	for (from += negative; from < to; from++) {
		int digit = *from - '0';

		if (value > (LLONG_MAX - digit) / 10)
			return negative ? LLONG_MIN : LLONG_MAX;
		value = value * 10 + digit;
	}
	return negative ? -value : value;
}

static struct json_node *
take_number(struct parse *p, struct json_node *node)
{
	const char *start = p->at;
	bool zero;

	node->kind = JSON_KIND_NUMBER;
	p->at += *p->at == '-';
	zero = p->at < p->end && *p->at == '0';
	if (zero)
		p->at++;
	else if (!take_digits(p))
		return fail(p, "not a value");
	node->integer = p->at == p->end || *p->at == '\0' ||
	    strchr(".eE", *p->at) == NULL;
	if (node->integer) {
		node->number = integer_of(start, p->at);
		return node;
	}
	if (*p->at == '.') {
		p->at++;
		if (!take_digits(p))
			return fail(p, "number without digits behind its dot");
	}
	if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
		p->at++;
		p->at += p->at < p->end && (*p->at == '+' || *p->at == '-');
		if (!take_digits(p))
			return fail(p, "number without digits in its exponent");
	}
	return node;
}

static struct json_node *
take_word(struct parse *p, struct json_node *node)
{
	static const struct {
		const char *text;
		enum json_kind kind;
	} words[] = {
		{ "null", JSON_KIND_NULL },
		{ "true", JSON_KIND_TRUE },
		{ "false", JSON_KIND_FALSE },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i].text);

		if ((size_t)(p->end - p->at) >= length &&
		    memcmp(p->at, words[i].text, length) == 0) {
			p->at += length;
			node->kind = words[i].kind;
			return node;
		}
	}
	return fail(p, "not a value");
}

/* Fails if two names are equal, at the later one. */
static void
compare_pair(struct parse *p, const char *key, const char *other)
{
	const char *later = key > other ? key : other;

	if (p->error != 0 || strcmp(key, other) != 0)
		return;
	(void)fail(p, "two members of an object have the same name");
	p->at = p->tree->text + (later - p->tree->text);
}

static void
compare_few(struct parse *p, const struct json_node *member)
{
	for (; member != NULL; member = member->next) {
		for (const struct json_node *other = member->next;
		    other != NULL; other = other->next)
			compare_pair(p, member->key, other->key);
	}
}

static int
compare_keys(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the names: an object of 100,000 members must not cost their square. */
static void
compare_many(struct parse *p, const struct json_node *member, size_t count)
{
	const char **keys = reallocarray(NULL, count, sizeof(*keys));

	if (keys == NULL) {
		p->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < count; i++, member = member->next)
		keys[i] = member->key;
	qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 1; i < count; i++)
		compare_pair(p, keys[i - 1], keys[i]);
	free(keys);
}

/*
 * Fails if two members of an object have the same name: readers differ in
 * which of them counts (RFC 8259 section 4), so the text could mean one thing
 * to a person's tool and another here.
 */
static void
check_names(struct parse *p, const struct json_node *object, size_t count)
{
	if (count <= FEW_MEMBERS)
		compare_few(p, object->first);
	else
		compare_many(p, object->first, count);
}

static struct json_node *take_value(struct parse *p);

/* One member or item and, unless it is the last, the comma behind it. */
static struct json_node *
take_part(struct parse *p, bool object, bool *last)
{
	const char *key = NULL;
	struct json_node *node;
	char next;

	if (object) {
		if (peek(p) != '"')
			return fail(p, "a member without a name in quotes");
		key = take_string(p);
		if (key == NULL)
			return NULL;
		if (peek(p) != ':')
			return fail(p, "no \":\" behind a member's name");
		p->at++;
	}
	node = take_value(p);
	if (node == NULL)
		return NULL;
	node->key = key;
	next = peek(p);
	*last = next == (object ? '}' : ']');
	if (!*last && next != ',')
		return fail(p, "neither a comma nor a closing bracket");
	p->at++;
	return node;
}

/* An array or object, whose bracket comes next.  Recursion ends with depth. */
static struct json_node *
take_parts(struct parse *p, struct json_node *node)
{
	bool object = *p->at++ == '{';
	const struct json_node **link = &node->first;
	bool last = peek(p) == (object ? '}' : ']');
	size_t count;

	node->kind = object ? JSON_KIND_OBJECT : JSON_KIND_ARRAY;
	if (last) {
		p->at++;
		return node;
	}
	if (++p->depth > JSON_SCAN_MAX_DEPTH)
		return fail(p, "more than 64 levels of nesting");
	for (count = 0; !last; count++) {
		struct json_node *part = take_part(p, object, &last);

		if (part == NULL)
			return NULL;
		*link = part;
		link = &part->next;
	}
	p->depth--;
	if (object)
		check_names(p, node, count);
	return p->error == 0 ? node : NULL;
}

static struct json_node *
take_value(struct parse *p)
{
	char next = peek(p);
	struct json_node *node = new_node(p);

	if (node == NULL)
		return NULL;
	switch (next) {
	case '{':
	case '[':
		return take_parts(p, node);
	case '"':
		node->kind = JSON_KIND_STRING;
		node->text = take_string(p);
		return node->text != NULL ? node : NULL;
	case 't':
	case 'f':
	case 'n':
		return take_word(p, node);
	default:
		return take_number(p, node);
	}
}

static bool
make_room(struct json_tree *tree, size_t length)
{
	char *grown;

	if (length < tree->text_size)
		return true;
	grown = realloc(tree->text, length + 1 + length / 2);
	if (grown == NULL)
		return false;
	tree->text = grown;
	tree->text_size = length + 1 + length / 2;
	return true;
}

const struct json_node *
json_tree_take(struct json_tree *tree, const struct json_range *range,
    int *error, const char **why, unsigned int *line)
{
	struct parse p = { .tree = tree };
	const struct json_node *root;

	if (!make_room(tree, range->length)) {
		*error = -ENOMEM;
		return NULL;
	}
	memcpy(tree->text, range->text, range->length);
	tree->text[range->length] = '\0';
	tree->last = NULL;
	tree->used = 0;
	p.at = tree->text;
	p.end = tree->text + range->length;
	root = take_value(&p);
	skip_space(&p);
	if (root != NULL && p.at < p.end)
		root = fail(&p, "something behind a value");
	*error = p.error;
	if (root == NULL) {
		*why = p.why;
		*line = range->line;
		for (ptrdiff_t i = 0; i < p.at - tree->text; i++)
			*line += range->text[i] == '\n';
	}
	return root;
}

void
json_tree_free(struct json_tree *tree)
{
	struct json_block *next;

	for (struct json_block *b = tree->block; b != NULL; b = next) {
		next = b->next;
		free(b);
	}
	free(tree->text);
	*tree = (struct json_tree)JSON_TREE_INIT;
}

const struct json_node *
json_tree_member(const struct json_node *object, const char *key)
{
	const struct json_node *member;

	if (!json_tree_is(object, JSON_KIND_OBJECT))
		return NULL;
	for (member = object->first; member != NULL; member = member->next) {
		if (strcmp(member->key, key) == 0)
			return member;
	}
	return NULL;
}

const char *
json_tree_string(const struct json_node *node)
{
	return json_tree_is(node, JSON_KIND_STRING) ? node->text : NULL;
}

const struct json_node *
json_tree_items(const struct json_node *array)
{
	return json_tree_is(array, JSON_KIND_ARRAY) ? array->first : NULL;
}

bool
json_tree_integer(const struct json_node *node, long long min, long long max,
    long long *number)
{
	if (!json_tree_is(node, JSON_KIND_NUMBER) || !node->integer ||
	    node->number < min || node->number > max)
		return false;
	*number = node->number;
	return true;
}

bool
json_tree_is(const struct json_node *node, enum json_kind kind)
{
	return node != NULL && node->kind == kind;
}
