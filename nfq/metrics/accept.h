/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which format a scraper wants (RFC 9110 section 12.5.1). */
#ifndef NFDNS_NFQ_METRICS_ACCEPT_H
#define NFDNS_NFQ_METRICS_ACCEPT_H

enum metrics_format {
	METRICS_TEXT,		/* text/plain; version=0.0.4 */
	METRICS_OPEN,		/* application/openmetrics-text; version=1.0.0 */
	METRICS_FORMATS
};

/*
 * Reads the value of an Accept header, which may be any text; NULL: there is
 * none.  METRICS_OPEN if it is named, in version 1.0.0 or in none, and not liked
 * less than plain text; patterns such as "*" do not name it.
 */
enum metrics_format metrics_accept(const char *accept);

#endif
