/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an API server says when it refuses: an object of kind Status. */
#ifndef NFDNS_RESOLVER_FEED_KUBE_STATUS_H
#define NFDNS_RESOLVER_FEED_KUBE_STATUS_H

#include <stdbool.h>

#include "resolver/feed/feed.h"
#include "resolver/text/json_tree.h"

struct kube_status {
	unsigned int code;		/* as of HTTP; 0: not known */
	unsigned int retry_after;	/* seconds; 0: not said */
	bool expired;			/* reason Expired or Gone */
	bool too_large;			/* cause ResourceVersionTooLarge */
	char message[FEED_TEXT];	/* printable; "" if there is none */
};

/* Any octets: what is no Status is shown as the message. */
void kube_status_read(struct kube_status *status, struct json_tree *tree,
    const struct json_range *text);

#endif
