/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the screen; each returns the row behind it. */
#ifndef NFDNS_NFQ_CLI_TOP_DRAW_PARTS_H
#define NFDNS_NFQ_CLI_TOP_DRAW_PARTS_H

#include "nfq/cli/top/draw.h"

#define DRAW_LABELS	12		/* columns of labels on the left */

/* State, table, numbers and latency; as many lines as "rows" have room for. */
unsigned int draw_head(struct screen *screen, const struct top_model *model,
    unsigned int rows);

/* The rates, in so many rows. */
unsigned int draw_graph(struct screen *screen, unsigned int row,
    const struct top_model *model, unsigned int height);

/* What a list is of, its columns' titles, and its rows from view->scroll on. */
unsigned int draw_caption(struct screen *screen, unsigned int row,
    const struct top_model *model, enum top_list list);
unsigned int draw_rows(struct screen *screen, unsigned int row,
    const struct top_rows *rows, const struct top_view *view);

#endif
