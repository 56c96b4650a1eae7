/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/logs/verify.h"

/*
 * Records between two runs of which only the second's beginning tells how many
 * there were.  Another daemon begins at 0 again.
 */
static uint64_t
between_runs(const struct audit_verify *v, const struct audit_reading *r)
{
	if (!v->joined || r->kind != AUDIT_PIECE_BEGIN || r->next < v->given ||
	    (v->given > 0 && r->next == 0))
		return AUDIT_BETWEEN_UNKNOWN;
	return r->next - v->given;
}

static void
take_first(struct audit_verify *v, const struct audit_reading *r)
{
	if (v->has_first || r->kind != AUDIT_PIECE_BEGIN || r->run < v->since)
		return;
	v->has_first = true;
	v->first = r->next;
}

/* A worker's first piece of a sink: its seal begins with the run. */
static unsigned int
begin_run(struct audit_verify *v, const struct audit_reading *r)
{
	unsigned int wrong = 0;

	v->between = between_runs(v, r);
	if (v->begun && !v->ended)
		wrong |= AUDIT_UNENDED;
	else if (v->begun && v->between != AUDIT_BETWEEN_UNKNOWN &&
	    v->between > 0)
		wrong |= AUDIT_BETWEEN;
	take_first(v, r);
	v->run_before = v->run;
	v->run = r->run;
	v->begun = true;
	v->seal = (struct audit_seal){ .number = 0, .chain = r->run };
	return wrong;
}

/* Whether the piece follows the one before it, and has not been changed. */
static unsigned int
check_seal(struct audit_verify *v, const struct audit_reading *r, char *octets)
{
	const uint64_t before = v->seal.number;
	unsigned int wrong = 0;

	if (r->seal.number <= before)
		return AUDIT_REPEATED;
	if (r->seal.number != before + 1) {
		v->cut_from = before + 1;
		v->cut_to = r->seal.number - 1;
		wrong = AUDIT_CUT;
	} else if (audit_seal_chain(&v->key, v->seal.chain, octets, r->length,
	    r->seal_at) != r->seal.chain)
		wrong = AUDIT_CHANGED;
	v->seal = r->seal;
	return wrong;
}

static unsigned int
check_sums(const struct audit_verify *v, const struct audit_reading *r)
{
	if (!v->counting)
		return 0;
	return r->written == v->written && r->missing == v->missing &&
	    r->next - v->next == r->written + r->skipped + r->missing ? 0 :
	    AUDIT_UNCOUNTED;
}

/* How many numbers the daemon has given. */
static void
count_given(struct audit_verify *v, const struct audit_reading *r)
{
	if (r->kind == AUDIT_PIECE_RECORD)
		v->given++;
	else if (r->kind == AUDIT_PIECE_LOST)
		v->given += r->records;
	else if (r->kind != AUDIT_PIECE_UNREAD) {
		v->given = r->next;
		v->joined = true;
	}
}

static unsigned int
count(struct audit_verify *v, const struct audit_reading *r)
{
	count_given(v, r);
	switch (r->kind) {
	case AUDIT_PIECE_RECORD:
		v->records++;
		v->written++;
		return 0;
	case AUDIT_PIECE_BEGIN:
		v->counting = true;
		v->next = r->next;
		v->written = v->missing = 0;
		return 0;
	case AUDIT_PIECE_LOST:
		v->lost += r->records;
		v->missing += r->records;
		return AUDIT_LOSS;
	case AUDIT_PIECE_UNREAD:
		v->unread += r->unread;
		return AUDIT_WENT_BY;
	default:
		v->skipped += r->skipped;
		return check_sums(v, r);
	}
}

unsigned int
audit_verify_piece(struct audit_verify *v, const struct audit_reading *r,
    char *octets)
{
	const bool note = r->kind != AUDIT_PIECE_RECORD;
	unsigned int wrong = 0;

	if (r->kind == AUDIT_PIECE_FOREIGN)
		return AUDIT_STRANGE;
	/* Nothing is known of what was before. */
	if (!v->begun && (!note || r->seal.number > 1)) {
		v->begun = true;
		v->run = r->run;
		v->seal = r->seal;
		take_first(v, r);
		return AUDIT_HEADLESS | count(v, r);
	}
	if (note && (!v->begun || r->run != v->run))
		wrong |= begin_run(v, r);
	wrong |= check_seal(v, r, octets);
	if ((wrong & AUDIT_REPEATED) != 0)
		return wrong;
	/* Sums of what is not whole are those of another log. */
	if ((wrong & (AUDIT_CHANGED | AUDIT_CUT)) != 0)
		v->counting = v->joined = false;
	v->ended = r->kind == AUDIT_PIECE_END;
	return wrong | count(v, r);
}
