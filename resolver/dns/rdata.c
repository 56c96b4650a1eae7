/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/dns/rdata.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"

static const struct rdata_layout layouts[] = {
	{ TYPE_A, true, false, "A" },
	{ TYPE_AAAA, true, false, "6" },
	{ TYPE_CNAME, true, false, "N" },
	{ TYPE_SRV, true, true, "222N" },
	{ TYPE_PTR, true, false, "N" },
	{ TYPE_TXT, true, false, "T" },
	{ TYPE_NS, true, false, "N" },
	{ TYPE_MX, true, false, "2N" },
	{ TYPE_SOA, true, false, "NN44444" },
	{ 3, false, false, "N" },			/* MD */
	{ 4, false, false, "N" },			/* MF */
	{ 7, false, false, "N" },			/* MB */
	{ 8, false, false, "N" },			/* MG */
	{ 9, false, false, "N" },			/* MR */
	{ 14, false, false, "NN" },			/* MINFO */
	{ 17, false, true, "NN" },			/* RP */
	{ 18, false, true, "2N" },			/* AFSDB */
	{ 21, false, true, "2N" },			/* RT */
	{ TYPE_SIG, false, true, "2114442NR" },
	{ 26, false, true, "2NN" },			/* PX */
	{ 30, false, true, "NR" },			/* NXT */
	{ 36, false, true, "2N" },			/* KX */
	{ 39, false, true, "N" },			/* DNAME */
};

static const struct rdata_layout opaque = { .fields = "R" };

const struct rdata_layout *
rdata_layout(uint16_t type)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].type == type)
			return &layouts[i];
	return &opaque;
}

size_t
rdata_field_octets(char field)
{
	switch (field) {
	case '1':
		return 1;
	case '2':
		return 2;
	case '4':
	case 'A':
		return 4;
	case '6':
		return 16;
	default:
		return 0;
	}
}

/* Of the types that are looked into; NULL: opaque. */
static const char *
text_fields(uint16_t type)
{
	const struct rdata_layout *layout = rdata_layout(type);

	return layout->text ? layout->fields : NULL;
}

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

/* Octets of a field at the beginning of "octets"; 0 if it is not there. */
static size_t
field_length(char field, const uint8_t *octets, size_t length)
{
	struct dns_name name;
	size_t size;

	switch (field) {
	case 'N':
		return name_read_lower(&name, octets, length) == 0 ?
		    name.length : 0;
	case 'T':
		return strings_valid(octets, length) ? length : 0;
	default:
		size = rdata_field_octets(field);
		return size <= length ? size : 0;
	}
}

bool
rdata_valid(uint16_t type, const uint8_t *octets, size_t length)
{
	const char *field = text_fields(type);

	if (length > UINT16_MAX)
		return false;
	if (field == NULL)
		return true;
	for (; *field != '\0'; field++) {
		size_t size = field_length(*field, octets, length);

		if (size == 0)
			return false;
		octets += size;
		length -= size;
	}
	return length == 0;
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
print_number(FILE *out, const uint8_t *octets, size_t length)
{
	uint32_t number = 0;

	for (size_t i = 0; i < length; i++)
		number = number << 8 | octets[i];
	fprintf(out, "%u", (unsigned)number);
}

static void
print_field(FILE *out, char field, const uint8_t *octets, size_t length)
{
	char buf[NAME_TEXT_SIZE];

	switch (field) {
	case 'A':
		fputs(inet_ntop(AF_INET, octets, buf, sizeof(buf)), out);
		break;
	case '6':
		fputs(inet_ntop(AF_INET6, octets, buf, sizeof(buf)), out);
		break;
	case 'N':
		fputs(name_to_text(octets, buf), out);
		break;
	case 'T':
		print_strings(out, octets, length);
		break;
	default:
		print_number(out, octets, length);
	}
}

char *
rdata_to_text(uint16_t type, const uint8_t *octets, size_t length)
{
	const char *fields = text_fields(type);
	char *text = NULL;
	size_t size, n;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	if (fields == NULL) {
		fprintf(out, "\\# %zu%s", length, length > 0 ? " " : "");
		for (size_t i = 0; i < length; i++)
			fprintf(out, "%02x", octets[i]);
	}
	for (const char *f = fields; f != NULL && *f != '\0'; f++) {
		n = field_length(*f, octets, length);
		if (f != fields)
			fputc(' ', out);
		print_field(out, *f, octets, n);
		octets += n;
		length -= n;
	}
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
