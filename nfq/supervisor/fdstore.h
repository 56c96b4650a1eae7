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

#define FDSTORE_NAME 24
#define FDSTORE_MAX (CONFIG_MAX_WORKERS + 8)

/* What was handed over and not yet taken. */
struct fdstore {
	size_t count;
	struct {
		char name[FDSTORE_NAME];
		int fd;
	} items[FDSTORE_MAX];
};

/*
 * Reads $LISTEN_FDS and its kin, if they are meant for this process, and takes
 * them out of the environment, so that no child believes they are its own.
 */
void fdstore_open(struct fdstore *store);

/* The fd of that name, now the caller's, or -1. */
int fdstore_take(struct fdstore *store, const char *name);

/* Any queue's fd that is left, now the caller's, and its number; or -1. */
int fdstore_take_queue(struct fdstore *store, uint16_t *number);

/* Closes what nobody took, here and in the service manager. */
void fdstore_close(struct fdstore *store);

/* Leaves a copy with the service manager.  0, also without one, or -errno. */
int fdstore_keep(const char *name, int fd) __attribute__((warn_unused_result));
/* Has it close its copy. */
void fdstore_forget(const char *name);

/* Whether there is a service manager to leave sockets with. */
bool fdstore_is_there(void);

/*
 * The names of our sockets: the rules', those of the listeners for TCP by IPv4
 * and IPv6, and those of the queues, by number.
 */
#define FDSTORE_RULES "rules"
extern const char *const fdstore_listeners[2];
void fdstore_queue_name(char name[static FDSTORE_NAME], uint16_t number);

#endif
