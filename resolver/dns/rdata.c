/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/dns/rdata.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"

#define SOA_NUMBERS	((size_t)5)	/* serial, refresh, retry, expire, minimum */

uint16_t
rdata_fixed_length(uint16_t type)
{
	switch (type) {
	case TYPE_A:
		return 4;
	case TYPE_AAAA:
		return 16;
	default:
		return 0;
	}
}

int
rdata_name_offset(uint16_t type)
{
	switch (type) {
	case TYPE_NS:
	case TYPE_CNAME:
	case TYPE_PTR:
		return 0;
	case TYPE_MX:
		return 2;	/* preference */
	case TYPE_SRV:
		return 6;	/* priority, weight, port: RFC 2782 */
	default:
		return -1;
	}
}

/* One or more strings behind their lengths (RFC 1035 section 3.3.14). */
static bool
strings_valid(const uint8_t *octets, size_t length)
{
	size_t at = 0;

	while (at < length)
		at += 1u + octets[at];
	return length > 0 && at == length;
}

/* Two names and five 32-bit numbers (RFC 1035 section 3.3.13). */
static bool
soa_valid(const uint8_t *octets, size_t length)
{
	struct dns_name name;

	for (int i = 0; i < 2; i++) {
		if (name_read_lower(&name, octets, length) != 0)
			return false;
		octets += name.length;
		length -= name.length;
	}
	return length == SOA_NUMBERS * 4;
}

bool
rdata_valid(uint16_t type, const uint8_t *octets, size_t length)
{
	uint16_t fixed = rdata_fixed_length(type);
	int before = rdata_name_offset(type);
	struct dns_name name;

	if (length > UINT16_MAX)
		return false;
	if (fixed != 0)
		return length == fixed;
	if (type == TYPE_TXT)
		return strings_valid(octets, length);
	if (type == TYPE_SOA)
		return soa_valid(octets, length);
	if (before < 0)
		return true;
	if (length <= (size_t)before)
		return false;
	length -= (size_t)before;
	return name_read_lower(&name, octets + before, length) == 0 &&
	    name.length == length;
}

static void
print_u16s(FILE *out, const uint8_t *octets, int length)
{
	for (int i = 0; i < length; i += 2)
		fprintf(out, "%u ", (unsigned)octets[i] << 8 | octets[i + 1]);
}

static void
print_strings(FILE *out, const uint8_t *octets, size_t length)
{
	for (size_t at = 0; at < length; at += 1u + octets[at]) {
		fputs(at == 0 ? "\"" : " \"", out);
		for (unsigned int i = 1; i <= octets[at]; i++) {
			uint8_t c = octets[at + i];

			if (c < 0x20 || c >= 0x7f)
				fprintf(out, "\\%03u", c);
			else
				fprintf(out, c == '"' || c == '\\' ?
				    "\\%c" : "%c", c);
		}
		fputc('"', out);
	}
}

static void
print_soa(FILE *out, const uint8_t *octets, size_t length)
{
	const uint8_t *end = octets + length;
	char buf[NAME_TEXT_SIZE];

	while (octets < end - SOA_NUMBERS * 4) {
		fprintf(out, "%s ", name_to_text(octets, buf));
		while (*octets != 0)
			octets += 1u + *octets;
		octets++;
	}
	for (; octets < end; octets += 4)
		fprintf(out, "%u%s", (unsigned)octets[0] << 24 |
		    (unsigned)octets[1] << 16 | (unsigned)octets[2] << 8 |
		    octets[3], octets + 4 < end ? " " : "");
}

static void
print_opaque(FILE *out, const uint8_t *octets, size_t length)
{
	fprintf(out, "\\# %zu%s", length, length > 0 ? " " : "");
	for (size_t i = 0; i < length; i++)
		fprintf(out, "%02x", octets[i]);
}

char *
rdata_to_text(uint16_t type, const uint8_t *octets, size_t length)
{
	int before = rdata_name_offset(type);
	char buf[NAME_TEXT_SIZE];
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	if (type == TYPE_A || type == TYPE_AAAA) {
		fputs(inet_ntop(type == TYPE_A ? AF_INET : AF_INET6, octets,
		    buf, sizeof(buf)), out);
	} else if (before >= 0) {
		print_u16s(out, octets, before);
		fputs(name_to_text(octets + before, buf), out);
	} else if (type == TYPE_TXT) {
		print_strings(out, octets, length);
	} else if (type == TYPE_SOA) {
		print_soa(out, octets, length);
	} else {
		print_opaque(out, octets, length);
	}
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
