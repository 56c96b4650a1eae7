/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An explanation as one JSON object on one line, for programs. */
#ifndef NFDNS_NFQ_CLI_EXPLAIN_JSON_H
#define NFDNS_NFQ_CLI_EXPLAIN_JSON_H

#include <stdio.h>

#include "nfq/cli/explain/explain.h"
#include "nfq/cli/explain/print.h"

/* 0, -ENOMEM or -EIO. */
int explain_print_json(const struct explanation *e,
    const struct explain_view *view, FILE *out)
    __attribute__((warn_unused_result));

#endif
