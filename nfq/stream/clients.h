/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clients of the TCP thread, how many connections each has, and which has
 * the most.  A client is a user of this machine, or, if the user is not known,
 * an address.
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
	uint8_t address[16];		/* if the user is unknown; else zeros */
};

struct stream_client {
	struct stream_client_key key;
	unsigned int connections;
	unsigned int raw;		/* of these; the caller's */
	struct stream_list list;	/* of them; the caller's */
	LIST_ENTRY(stream_client) same_hash, same_count;
};

struct stream_clients;

/* For up to so many connections.  NULL: out of memory. */
struct stream_clients *stream_clients_new(size_t connections);
/*
 * For so many from now on, if that is more.  0, or -ENOMEM and nothing changed.
 */
int stream_clients_grow(struct stream_clients *clients, size_t connections)
    __attribute__((warn_unused_result));
/* All connections must have been removed.  NULL is allowed. */
void stream_clients_free(struct stream_clients *clients);

/* Counts one more connection of a client.  NULL: out of memory. */
struct stream_client *stream_clients_add(struct stream_clients *clients,
    const struct stream_client_key *key);

/* Counts one less; a client whose last one this was is freed. */
void stream_clients_remove(struct stream_clients *clients,
    struct stream_client *client);

/* A client that has as many connections as any.  NULL: there are no clients. */
struct stream_client *stream_clients_largest(
    const struct stream_clients *clients);

#endif
