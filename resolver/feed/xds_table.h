/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of a response: offered to the host, and accepted or refused. */
#ifndef NFDNS_RESOLVER_FEED_XDS_TABLE_H
#define NFDNS_RESOLVER_FEED_XDS_TABLE_H

#include "resolver/feed/xds_session.h"

enum xds_table {
	XDS_TABLE_ACCEPTED,		/* and it is kept */
	XDS_TABLE_REFUSED,		/* xds_table_take() has sent NACK */
	XDS_TABLE_NONE,			/* there was none in the response */
	XDS_TABLE_POSTPONED,		/* accepted, but not kept: offered again */
	XDS_TABLE_TOO_SOON,		/* likewise: keeping has had its share */
};

/*
 * Answers and drops the stream's response.  "why" is filled in if refused.
 * A table that comes too soon is accepted if it can be decoded: it or a newer one
 * that can is kept later, whatever comes between.
 */
enum xds_table xds_table_take(struct xds_session *session, struct ads *ads,
    char why[static FEED_TEXT], monotime_t now);

/*
 * Offers what could not be kept, if it is time; XDS_TABLE_NONE: it is not.
 * Its response was answered long ago.
 */
enum xds_table xds_table_again(struct xds_session *session,
    char why[static FEED_TEXT], monotime_t now);

/* The same of a response before the newest of the stream, which is not offered. */
void xds_table_overtaken(struct xds_session *session, struct ads *ads);

/* Offers what was accepted and is not kept, now or never, and forgets it. */
void xds_table_last(struct xds_session *session);

#endif
