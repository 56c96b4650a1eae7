/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/feed.h"

#include <stdlib.h>

void
feed_node_free(struct feed_node *node)
{
	for (size_t i = 0; i < node->label_count; i++) {
		free(node->labels[i].key);
		free(node->labels[i].value);
	}
	free(node->labels);
	free(node->namespace);
	free(node->cluster);
	free(node->network);
	free(node->service_account);
	free(node->ip);
}
