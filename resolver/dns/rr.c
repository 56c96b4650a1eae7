/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/dns/rr.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <strings.h>

struct mnemonic {
	uint16_t number;
	const char *text;
};

/* IANA "Resource Record (RR) TYPEs", those that are met in practice. */
static const struct mnemonic types[] = {
	{ TYPE_A, "A" }, { TYPE_AAAA, "AAAA" }, { TYPE_HTTPS, "HTTPS" },
	{ TYPE_PTR, "PTR" }, { TYPE_CNAME, "CNAME" }, { TYPE_SRV, "SRV" },
	{ TYPE_TXT, "TXT" }, { TYPE_MX, "MX" }, { TYPE_NS, "NS" },
	{ TYPE_SOA, "SOA" }, { TYPE_SVCB, "SVCB" }, { TYPE_ANY, "ANY" },
	{ 3, "MD" }, { 4, "MF" }, { 7, "MB" }, { 8, "MG" }, { 9, "MR" },
	{ 10, "NULL" }, { 11, "WKS" }, { 13, "HINFO" }, { 14, "MINFO" },
	{ 17, "RP" }, { 18, "AFSDB" }, { 19, "X25" }, { 20, "ISDN" },
	{ 21, "RT" }, { TYPE_SIG, "SIG" }, { 25, "KEY" }, { 26, "PX" },
	{ 29, "LOC" }, { 35, "NAPTR" }, { 36, "KX" }, { 37, "CERT" },
	{ 39, "DNAME" }, { TYPE_OPT, "OPT" }, { 42, "APL" }, { 43, "DS" },
	{ 44, "SSHFP" }, { 45, "IPSECKEY" }, { 46, "RRSIG" }, { 47, "NSEC" },
	{ 48, "DNSKEY" }, { 49, "DHCID" }, { 50, "NSEC3" },
	{ 51, "NSEC3PARAM" }, { 52, "TLSA" }, { 53, "SMIMEA" }, { 55, "HIP" },
	{ 59, "CDS" }, { 60, "CDNSKEY" }, { 61, "OPENPGPKEY" },
	{ 62, "CSYNC" }, { 63, "ZONEMD" }, { 99, "SPF" }, { 108, "EUI48" },
	{ 109, "EUI64" }, { 249, "TKEY" }, { TYPE_TSIG, "TSIG" },
	{ TYPE_IXFR, "IXFR" }, { TYPE_AXFR, "AXFR" }, { 253, "MAILB" },
	{ 254, "MAILA" }, { 256, "URI" }, { 257, "CAA" }, { 32769, "DLV" },
};

static const struct mnemonic rcodes[] = {
	{ RCODE_NOERROR, "NOERROR" }, { RCODE_FORMERR, "FORMERR" },
	{ RCODE_SERVFAIL, "SERVFAIL" }, { RCODE_NXDOMAIN, "NXDOMAIN" },
	{ RCODE_NOTIMP, "NOTIMP" }, { RCODE_REFUSED, "REFUSED" },
	{ RCODE_YXDOMAIN, "YXDOMAIN" },
	{ 6, "YXDOMAIN" }, { 7, "YXRRSET" }, { 8, "NXRRSET" },
	{ 9, "NOTAUTH" }, { 10, "NOTZONE" }, { RCODE_BADVERS, "BADVERS" },
	{ 23, "BADCOOKIE" },
};

#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *
number_text(const struct mnemonic *rows, size_t count, const char *prefix,
    uint16_t number, char buf[static RR_TEXT_SIZE])
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (rows[i].number == number)
			return rows[i].text;
	}
	(void)snprintf(buf, RR_TEXT_SIZE, "%s%u", prefix, number);
	return buf;
}

const char *
rr_type_text(uint16_t type, char buf[static RR_TEXT_SIZE])
{
	return number_text(types, LENGTH_OF(types), "TYPE", type, buf);
}

const char *
rcode_text(uint16_t rcode, char buf[static RR_TEXT_SIZE])
{
	return number_text(rcodes, LENGTH_OF(rcodes), "RCODE", rcode, buf);
}

/* Decimal digits and nothing else, up to 65535. */
static int
read_u16(uint16_t *number, const char *digits)
{
	uint32_t value = 0;

	if (*digits == '\0')
		return -EINVAL;
	for (; *digits != '\0'; digits++) {
		if (*digits < '0' || *digits > '9')
			return -EINVAL;
		value = value * 10 + (uint32_t)(*digits - '0');
		if (value > UINT16_MAX)
			return -EINVAL;
	}
	*number = (uint16_t)value;
	return 0;
}

int
rr_type_from_text(uint16_t *type, const char *text)
{
	size_t i;

	for (i = 0; i < LENGTH_OF(types); i++) {
		if (strcasecmp(types[i].text, text) == 0) {
			*type = types[i].number;
			return 0;
		}
	}
	if (strncasecmp(text, "TYPE", 4) != 0)
		return -EINVAL;
	return read_u16(type, text + 4);
}
