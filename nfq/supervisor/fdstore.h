/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sockets that outlive the daemon.  The service manager keeps copies of them
 * (FileDescriptorStoreMax= in systemd.service(5)) and passes them to the next
 * daemon at its start: sd_listen_fds_with_names(3).  Between the two daemons,
 * questions wait in the queue's socket.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_FDSTORE_H
#define NFDNS_NFQ_SUPERVISOR_FDSTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/config/config.h"

#define FDSTORE_NAME 24
#define FDSTORE_MAX (CONFIG_MAX_WORKERS + 8)

/* Descriptors that were passed and are not yet taken. */
struct fdstore {
	size_t count;
	struct {
		char name[FDSTORE_NAME];
		int fd;
	} items[FDSTORE_MAX];
};

/*
 * Reads $LISTEN_FDS, $LISTEN_FDNAMES and $LISTEN_PID, if they are for this
 * process, and removes them from the environment, so that no child uses them.
 */
void fdstore_open(struct fdstore *store);

/* The fd of that name, which the caller owns, or -1. */
int fdstore_take(struct fdstore *store, const char *name);

/* The fd of any queue that is left, the caller's, and its number; or -1. */
int fdstore_take_queue(struct fdstore *store, uint16_t *number);

/* Closes what was not taken, here and in the service manager. */
void fdstore_close(struct fdstore *store);

/*
 * Stores a copy with the service manager.  0, also if there is no service
 * manager; or a negative errno.
 */
int fdstore_keep(const char *name, int fd) __attribute__((warn_unused_result));
/* Makes the service manager close its copy. */
void fdstore_forget(const char *name);

/* Whether there is a service manager that stores sockets. */
bool fdstore_is_there(void);

/*
 * The names of the sockets: that of the rules, those of the TCP listeners for
 * IPv4 and IPv6, and those of the queues, by number.
 */
#define FDSTORE_RULES "rules"
extern const char *const fdstore_listeners[2];
void fdstore_queue_name(char name[static FDSTORE_NAME], uint16_t number);

#endif
