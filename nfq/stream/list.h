/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists that connections of the TCP thread are in; each has a link for each. */
#ifndef NFDNS_NFQ_STREAM_LIST_H
#define NFDNS_NFQ_STREAM_LIST_H

struct stream_connection;

enum stream_lists {
	STREAM_ALL,			/* oldest activity first */
	STREAM_OF_CLIENT,		/* so too, one client's */
	STREAM_RAWS,			/* in the order in which they became raw */
	STREAM_LISTS
};

struct stream_list {
	struct stream_connection *first, *last;
};

struct stream_link {
	struct stream_connection *next, *prev;
};

#endif
