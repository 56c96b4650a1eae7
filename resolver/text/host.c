/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/text/host.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "resolver/text/number.h"

#define NAME_LENGTH	253

int
host_address(const char *text, uint8_t address[static 16])
{
	if (inet_pton(AF_INET, text, address) == 1)
		return AF_INET;
	if (inet_pton(AF_INET6, text, address) == 1)
		return AF_INET6;
	return AF_UNSPEC;
}

bool
host_is_loopback(int family, const uint8_t address[static 16])
{
	static const uint8_t v6[16] = { [15] = 1 };

	return family == AF_INET ? address[0] == 127 :
	    memcmp(address, v6, sizeof(v6)) == 0;
}

bool
host_split(const char *text, char host[static HOST_TEXT], uint16_t *port)
{
	const char *colon = strrchr(text, ':');
	uint64_t number;
	size_t length;

	if (colon == NULL ||
	    !number_from_text(colon + 1, UINT16_MAX, &number) || number == 0)
		return false;
	length = (size_t)(colon - text);
	if (*text == '[') {
		if (length < 2 || colon[-1] != ']')
			return false;
		text++;
		length -= 2;
	} else if (memchr(text, ':', length) != NULL) {
		return false;		/* IPv6 has brackets */
	}
	if (length == 0 || length >= HOST_TEXT)
		return false;
	memcpy(host, text, length);
	host[length] = '\0';
	*port = (uint16_t)number;
	return true;
}

bool
host_is_server(const char *text)
{
	char host[HOST_TEXT];
	uint8_t address[16];
	size_t length;
	uint16_t port;

	if (!host_split(text, host, &port))
		return false;
	if (*text == '[')
		return host_address(host, address) == AF_INET6;
	length = strlen(host);
	return length <= NAME_LENGTH && strspn(host, HOST_CHARACTERS) == length;
}
