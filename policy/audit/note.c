/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/note.h"

#include "policy/audit/seal.h"

const char *
audit_note_kind_text(enum audit_note_kind kind)
{
	static const char *const texts[] = {
		[AUDIT_BEGIN] = "begin",
		[AUDIT_LOST] = "lost",
		[AUDIT_END] = "end",
	};

	return texts[kind];
}

static void
put_pair(struct json_out *out, const char *key, uint64_t number)
{
	json_text(out, key);
	json_number(out, number);
}

void
audit_note_text(struct json_out *out, const struct audit_note *note)
{
	json_text(out, "event=");
	json_text(out, audit_note_kind_text(note->kind));
	put_pair(out, " run=", note->run);
	if (note->kind == AUDIT_LOST) {
		put_pair(out, " records=", note->lost_now);
		put_pair(out, " thread=", note->thread);
		put_pair(out, " from=", note->from);
		put_pair(out, " to=", note->to);
		return;
	}
	put_pair(out, " written=", note->records);
	put_pair(out, " skipped=", note->skipped);
	put_pair(out, " missing=", note->lost);
	for (unsigned int i = 0; i < note->threads; i++)
		put_pair(out, i == 0 ? " next=" : ",", note->next[i]);
}

size_t
audit_seal_place(struct json_out *out, const char *buf)
{
	json_text(out, AUDIT_SEAL_BLANK);
	return (size_t)(out->pos - buf) - AUDIT_SEAL_OCTETS;
}
