/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/seal.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#define DIGITS		16
#define CHAIN_AT	(DIGITS + 1)

static void
put_hex(char *to, uint64_t number)
{
	static const char digits[] = "0123456789abcdef";

	for (int i = DIGITS - 1; i >= 0; i--, number >>= 4)
		to[i] = digits[number & 15];
}

static bool
read_hex(const char *text, uint64_t *number)
{
	*number = 0;
	for (int i = 0; i < DIGITS; i++) {
		const char c = text[i];

		*number <<= 4;
		if (c >= '0' && c <= '9')
			*number |= (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			*number |= (uint64_t)(c - 'a' + 10);
		else
			return false;
	}
	return true;
}

uint64_t
audit_seal_chain(const struct audit_key *key, uint64_t before, char *octets,
    size_t length, size_t at)
{
	put_hex(octets + at + CHAIN_AT, before);
	return key->present ? siphash(key->octets, octets, length) :
	    XXH3_64bits(octets, length);
}

void
audit_seal_put(struct audit_seal *seal, const struct audit_key *key,
    char *octets, size_t length, size_t at)
{
	put_hex(octets + at, ++seal->number);
	octets[at + DIGITS] = '-';
	seal->chain = audit_seal_chain(key, seal->chain, octets, length, at);
	put_hex(octets + at + CHAIN_AT, seal->chain);
}

bool
audit_seal_read(struct audit_seal *seal, const char *text)
{
	return read_hex(text, &seal->number) && text[DIGITS] == '-' &&
	    read_hex(text + CHAIN_AT, &seal->chain);
}

#define KEY_DIGITS	((size_t)2 * SIPHASH_KEY)

bool
audit_key_from_text(struct audit_key *key, const char *text)
{
	if (strspn(text, "0123456789abcdefABCDEF") != KEY_DIGITS ||
	    (text[KEY_DIGITS] != '\0' && strcmp(text + KEY_DIGITS, "\n") != 0))
		return false;
	for (size_t i = 0; i < SIPHASH_KEY; i++) {
		const char octet[] = { text[2 * i], text[2 * i + 1], '\0' };

		key->octets[i] = (uint8_t)strtoul(octet, NULL, 16);
	}
	key->present = true;
	return true;
}
