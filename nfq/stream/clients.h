/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clients, how many connections each has, and which has most.  A client is a
 * user of this machine, or where no user is known an address.
 */
#ifndef NFDNS_NFQ_STREAM_CLIENTS_H
#define NFDNS_NFQ_STREAM_CLIENTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

struct stream_connection;
TAILQ_HEAD(stream_list, stream_connection);

struct stream_client_key {
	uid_t uid;			/* (uid_t)-1: unknown */
	uint8_t address[16];		/* of an unknown user; else zeros */
};

struct stream_client {
	struct stream_client_key key;
	unsigned int connections;
	unsigned int raw;		/* of these; the caller's */
	struct stream_list list;	/* of them; the caller's */
	struct stream_client *same_hash;
	struct stream_client *next, *prev;	/* with as many connections */
};

struct stream_clients;

/* For so many connections at most; NULL for lack of memory. */
struct stream_clients *stream_clients_new(size_t connections);
/* For so many from now on, if that is more.  0, or -ENOMEM and nothing changed. */
int stream_clients_grow(struct stream_clients *clients, size_t connections)
    __attribute__((warn_unused_result));
/* All connections were removed. */
void stream_clients_free(struct stream_clients *clients);

/* One more of a client; NULL for lack of memory. */
struct stream_client *stream_clients_add(struct stream_clients *clients,
    const struct stream_client_key *key);

/* One less; a client without any is freed. */
void stream_clients_remove(struct stream_clients *clients,
    struct stream_client *client);

/* One of those with most connections; NULL: there is no client. */
struct stream_client *stream_clients_largest(
    const struct stream_clients *clients);

#endif
