/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/image/dashed.h"

#include <arpa/inet.h>
#include <string.h>

void
dashed_from_address(char text[static INET6_ADDRSTRLEN], const uint8_t *octets,
    uint8_t length)
{
	(void)inet_ntop(length == 4 ? AF_INET : AF_INET6, octets, text,
	    INET6_ADDRSTRLEN);
	for (; *text != '\0'; text++) {
		if (*text == '.' || *text == ':')
			*text = '-';
	}
}

/* Three dashes, none beside another, are those between four octets. */
static char
separator(const uint8_t *octets, size_t length)
{
	unsigned int dashes = 0;

	for (size_t i = 0; i < length; i++) {
		if (octets[i] != '-')
			continue;
		if (i > 0 && octets[i - 1] == '-')
			return ':';
		dashes++;
	}
	return dashes == 3 ? '.' : ':';
}

uint8_t
dashed_to_address(const uint8_t *label, uint8_t octets[static 16])
{
	size_t length = label[0];
	char text[INET6_ADDRSTRLEN], mark = separator(label + 1, length);

	if (length >= sizeof(text) || memchr(label + 1, '\0', length) != NULL ||
	    memchr(label + 1, '.', length) != NULL ||
	    memchr(label + 1, ':', length) != NULL)
		return 0;
	for (size_t i = 0; i < length; i++)
		text[i] = label[1 + i] == '-' ? mark : (char)label[1 + i];
	text[length] = '\0';
	if (mark == '.')
		return inet_pton(AF_INET, text, octets) == 1 ? 4 : 0;
	return inet_pton(AF_INET6, text, octets) == 1 ? 16 : 0;
}
