/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a token begins and ends: a JSON Web Token (RFC 7519) in compact form (RFC 7515). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/cli/join/plan.h"
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

static const char *
read_times(const char *text, size_t length, struct token_times *times)
{
	const struct json_range range = { .text = text, .length = length,
	    .line = 1 };
	struct json_tree tree = JSON_TREE_INIT;
	static const char *const keys[] = { "iat", "exp" };
	const struct json_node *root;
	const char *json_why, *why = NULL;
	unsigned int line;
	int error;

	root = json_tree_take(&tree, &range, &error, &json_why, &line);
	if (!json_tree_is(root, JSON_KIND_OBJECT))
		why = "is not a token: its claims are not JSON";
	for (size_t i = 0; i < 2 && why == NULL; i++) {
		const struct json_node *node = json_tree_member(root, keys[i]);
		long long time = 0;

		if (node != NULL && !json_tree_integer(node, 1, LLONG_MAX,
		    &time))
			why = "is not a token: its \"exp\" or \"iat\" is not a "
			    "time";
		*(i == 0 ? &times->begin : &times->end) = time;
	}
	json_tree_free(&tree);
	return why;
}

const char *
workload_token_times(struct token_times *times, const char *token,
    size_t length)
{
	size_t claims_length = 0;
	const char *claims = find_claims(token, length, &claims_length);
	char *text = claims != NULL ? malloc(claims_length + 1) : NULL;
	const char *why;

	*times = (struct token_times){ .end = 0 };
	if (claims == NULL)
		why = "is not a token: a token is three parts of letters, "
		    "digits, '-' and '_' with dots between them";
	else if (text == NULL)
		why = "out of memory";
	else
		why = read_times(text, decode(claims, claims_length, text),
		    times);
	free(text);
	return why;
}
