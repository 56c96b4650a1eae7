/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/text/number.h"

#include <string.h>

bool
number_from_text(const char *text, uint64_t most, uint64_t *number)
{
	uint64_t value = 0;

	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		const uint64_t digit = (uint64_t)(*text - '0');

		if (*text < '0' || *text > '9' || digit > most ||
		    value > (most - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*number = value;
	return true;
}

bool
number_of_seconds(const char *text, uint64_t most, uint64_t *seconds)
{
	static const char units[] = "smhd";
	static const uint64_t lengths[] = { 1, 60, 3600, 86400 };
	const size_t length = strspn(text, "0123456789");
	const char *unit = text[length] == '\0' ? units :
	    strchr(units, text[length]);
	char digits[24];
	uint64_t number;

	if (length >= sizeof(digits) || unit == NULL ||
	    (text[length] != '\0' && text[length + 1] != '\0'))
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	if (!number_from_text(digits, most / lengths[unit - units], &number))
		return false;
	*seconds = number * lengths[unit - units];
	return true;
}

int
number_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
