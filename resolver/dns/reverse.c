/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/dns/reverse.h"

#include <assert.h>
#include <string.h>

static void
put_label(struct dns_name *name, const char *text, uint8_t length)
{
	name->octets[name->length++] = length;
	memcpy(name->octets + name->length, text, length);
	name->length = (uint8_t)(name->length + length);
	name->labels++;
}

static void
put_decimal(struct dns_name *name, uint8_t value)
{
	char text[3];
	uint8_t n = 0;

	if (value >= 100)
		text[n++] = (char)('0' + value / 100);
	if (value >= 10)
		text[n++] = (char)('0' + value / 10 % 10);
	text[n++] = (char)('0' + value % 10);
	put_label(name, text, n);
}

void
reverse_name(struct dns_name *name, const uint8_t *address, uint8_t length)
{
	static const char digits[] = "0123456789abcdef";

	assert(length == 4 || length == 16);
	name->length = 0;
	name->labels = 0;
	for (int i = length - 1; i >= 0; i--) {
		if (length == 4) {
			put_decimal(name, address[i]);
			continue;
		}
		put_label(name, &digits[address[i] & 0xf], 1);
		put_label(name, &digits[address[i] >> 4], 1);
	}
	if (length == 4)
		put_label(name, "in-addr", 7);
	else
		put_label(name, "ip6", 3);
	put_label(name, "arpa", 4);
	name->octets[name->length++] = 0;
}
