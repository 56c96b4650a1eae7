/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of nf_tables in words: which part was refused, why, what to do. */
#ifndef NFDNS_RULES_NFT_ERROR_H
#define NFDNS_RULES_NFT_ERROR_H

#include "resolver/text/diag.h"
#include "rules/nft_message.h"

/* Why nf_tables cannot be used at all (a negative errno), and what to do. */
const char *nft_error_reason(int error);

/* Adds one error to diag about the part that the kernel refused. */
void nft_error_explain(const struct batch_part *failed, int error,
    struct diag *diag);

#endif
