/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sockets that outlive the daemon: copies of them are left with the service
 * manager (FileDescriptorStoreMax= in systemd.service(5)), which hands them to
 * the next daemon at its start, sd_listen_fds_with_names(3).  While there is
 * none, questions wait in the queue's socket.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_FDSTORE_H
#define NFDNS_NFQ_SUPERVISOR_FDSTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/config/config.h"

#define STORE_NAME	24
#define STORE_MAX	(CONFIG_MAX_WORKERS + 8)

/* What was handed over and not yet taken. */
struct store {
	size_t count;
	struct {
		char name[STORE_NAME];
		int fd;
	} items[STORE_MAX];
};

/*
 * Reads $LISTEN_FDS and its kin, if they are meant for this process, and takes
 * them out of the environment, so that no child believes they are its own.
 */
void store_open(struct store *store);

/* The fd of that name, now the caller's, or -1. */
int store_take(struct store *store, const char *name);

/* Any queue's fd that is left, now the caller's, and its number; or -1. */
int store_take_queue(struct store *store, uint16_t *number);

/* Closes what nobody took, here and in the service manager. */
void store_close(struct store *store);

/* Leaves a copy with the service manager.  0, also without one, or -errno. */
int store_keep(const char *name, int fd) __attribute__((warn_unused_result));
/* Has it close its copy. */
void store_forget(const char *name);

/* Whether there is a service manager to leave sockets with. */
bool store_is_there(void);

/*
 * The names of our sockets: the rules', those of the listeners for TCP by IPv4
 * and IPv6, and those of the queues, by number.
 */
#define STORE_RULES "rules"
extern const char *const store_listeners[2];
void store_queue_name(char name[static STORE_NAME], uint16_t number);

#endif
