/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/format.h"

const struct audit_format *const audit_formats[AUDIT_FORMATS] = {
	[AUDIT_JSON] = &audit_json_format,
	[AUDIT_PCAPNG] = &audit_pcapng_format,
	[AUDIT_DNSTAP] = &audit_dnstap_format,
};

const char *const audit_format_names[AUDIT_FORMATS + 1] = {
	[AUDIT_JSON] = "json",
	[AUDIT_PCAPNG] = "pcapng",
	[AUDIT_DNSTAP] = "dnstap",
};
