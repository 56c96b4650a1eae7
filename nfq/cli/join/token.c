/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a token ends: a JSON Web Token (RFC 7519) in compact form (RFC 7515). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/cli/join/workload.h"
#include "resolver/text/json_tree.h"

/* RFC 4648, section 5; -1 if it is no character of it. */
static int
digit(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789-_";
	const char *found = c != '\0' ? strchr(digits, c) : NULL;

	return found != NULL ? (int)(found - digits) : -1;
}

/* Decodes into text, which has room for it; the number of octets. */
static size_t
decode(const char *at, size_t length, char *text)
{
	unsigned int bits = 0, held = 0;
	size_t used = 0;

	for (size_t i = 0; i < length; i++) {
		held = held << 6 | (unsigned int)digit(at[i]);
		bits += 6;
		if (bits < 8)
			continue;
		bits -= 8;
		text[used++] = (char)(held >> bits & 0xff);
	}
	return used;
}

/* The second of three parts that dots separate; NULL if it is no such text. */
static const char *
find_claims(const char *token, size_t length, size_t *claims_length)
{
	const char *claims = NULL;
	size_t dots = 0;

	for (size_t i = 0; i < length; i++) {
		if (token[i] != '.' && digit(token[i]) < 0)
			return NULL;
		if (token[i] != '.')
			continue;
		dots++;
		if (dots == 1)
			claims = token + i + 1;
		else if (dots == 2)
			*claims_length = (size_t)(token + i - claims);
	}
	return dots == 2 ? claims : NULL;
}

static int64_t
read_end(const char *text, size_t length, const char **why)
{
	const struct json_range range = { .text = text, .length = length,
	    .line = 1 };
	struct json_tree tree = JSON_TREE_INIT;
	const struct json_node *root, *exp;
	const char *json_why;
	unsigned int line;
	long long end = 0;
	int error;

	root = json_tree_take(&tree, &range, &error, &json_why, &line);
	exp = json_tree_member(root, "exp");
	if (!json_tree_is(root, JSON_KIND_OBJECT))
		*why = "is not a token: its claims are not JSON";
	else if (exp != NULL && !json_tree_integer(exp, 1, LLONG_MAX, &end))
		*why = "is not a token: its \"exp\" is not a time";
	json_tree_free(&tree);
	return end;
}

int64_t
workload_token_end(const char *token, size_t length, const char **why)
{
	size_t claims_length = 0;
	const char *claims = find_claims(token, length, &claims_length);
	char *text = claims != NULL ? malloc(claims_length + 1) : NULL;
	int64_t end = 0;

	*why = NULL;
	if (claims == NULL)
		*why = "is not a token: a token is three parts of letters, "
		    "digits, '-' and '_' with dots between them";
	else if (text == NULL)
		*why = "out of memory";
	else
		end = read_end(text, decode(claims, claims_length, text), why);
	free(text);
	return end;
}
