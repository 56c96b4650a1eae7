/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an upstream's reply to our question is worth.  Pure. */
#ifndef NFDNS_NFQ_ASK_REPLY_H
#define NFDNS_NFQ_ASK_REPLY_H

#include <stdbool.h>

#include "nfq/ask/message.h"
#include "policy/config/forward_settings.h"

/* A referral to other servers: this one does not serve the name (RFC 1912). */
bool reply_is_lame(const struct message *reply);

/* Whether it is a reason to ask another server. */
bool reply_is_failure(const struct forward_attempt_settings *settings,
    const struct message *reply);

#endif
