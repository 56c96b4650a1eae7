/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/ask/engine_state.h"

#include "resolver/dns/rr.h"

bool
reply_is_lame(const struct message *m)
{
	struct message_record record;
	bool referral = false;

	if (m->rcode != RCODE_NOERROR || m->count[ANSWERS] > 0 ||
	    (m->flags & (DNS_FLAG_AA | DNS_FLAG_RA)) != 0)
		return false;
	for (size_t at = m->end[ANSWERS]; at < m->end[AUTHORITY]; ) {
		message_record(m, &at, &record);
		if (record.type == TYPE_SOA)
			return false;
		referral |= record.type == TYPE_NS;
	}
	return referral;
}

bool
reply_is_failure(const struct forward_attempt_settings *settings,
    const struct message *m)
{
	if (m->rcode > DNS_RCODE_MASK)
		return true;
	if ((settings->failure_rcodes >> m->rcode & 1) != 0 ||
	    reply_is_lame(m))
		return true;
	return settings->failure_nodata && m->rcode == RCODE_NOERROR &&
	    m->count[ANSWERS] == 0 && (m->flags & DNS_FLAG_TC) == 0;
}
