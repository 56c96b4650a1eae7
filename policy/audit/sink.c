/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/sink.h"

#include "policy/audit/audit.h"

bool
audit_sink_is_sound(const struct audit_sink *sink)
{
	return sink->format < AUDIT_FORMATS &&
	    (sink->verdicts & ~AUDIT_VERDICTS_ALL) == 0;
}

static bool
takes_rcode(const struct audit_sink *sink, const struct audit_record *record)
{
	return sink->rcodes == 0 || (record->answer_length > 0 &&
	    record->rcode < AUDIT_RCODES &&
	    (sink->rcodes & AUDIT_RCODE(record->rcode)) != 0);
}

/* "forward" is all that was to be asked elsewhere, whatever came of it. */
bool
audit_sink_takes(const struct audit_sink *sink,
    const struct audit_record *record)
{
	uint32_t verdicts = AUDIT_VERDICT(record->verdict);

	if (decide_is_forwarded(record->reason) &&
	    (record->verdict != VERDICT_PASS ||
	    sink->verdicts != AUDIT_VERDICTS_USUAL))
		verdicts |= AUDIT_VERDICT(VERDICT_FORWARD);
	return record->asked || ((sink->verdicts & verdicts) != 0 &&
	    takes_rcode(sink, record));
}
