/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "nfdns top" shows of a model, and what keys do to it. */
#ifndef NFDNS_NFQ_CLI_TOP_DRAW_H
#define NFDNS_NFQ_CLI_TOP_DRAW_H

#include <stdio.h>

#include "nfq/cli/top/model.h"
#include "nfq/cli/top/screen.h"

/* Start from zeros. */
struct top_view {
	enum top_list list;
	enum top_sort sort;
	unsigned int scroll;		/* rows of the list above the screen */
	unsigned int page;		/* rows that it shows; top_draw() sets it */
	bool help;
	bool plain;			/* no bars */
};

/*
 * Draws on an empty screen of any size; corrects view->scroll.  0 or -ENOMEM.
 */
int top_draw(struct screen *screen, const struct top_model *model,
    struct top_view *view) __attribute__((warn_unused_result));

/* Keys that are no characters. */
enum top_key {
	TOP_KEY_UP = 0x100,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_RESIZED,		/* the terminal has another size */
	TOP_KEY_GONE,			/* there is no terminal any more */
};

enum top_wish { TOP_NOTHING, TOP_DRAW, TOP_READ, TOP_QUIT };

/* What is to be done after a key: a character, or enum top_key. */
enum top_wish top_view_key(struct top_view *view, int key);

/*
 * Prints lines: what heads the screen, then "most" rows of each list, or all of
 * the one list if "only" is set.  Texts are not cut.  0, -ENOMEM or -EIO.
 */
int top_print(const struct top_model *model, const struct top_view *view,
    bool only, size_t most, FILE *out) __attribute__((warn_unused_result));

/* The same as one JSON object on one line. */
int top_print_json(const struct top_model *model, FILE *out)
    __attribute__((warn_unused_result));

#endif
