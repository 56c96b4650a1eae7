/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/supervisor/fdstore.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/process/notify.h"
#include "resolver/text/number.h"

#define FIRST_FD 3		/* SD_LISTEN_FDS_START */
#define QUEUE_PREFIX "queue-"

const char *const fdstore_listeners[2] = {"listener-4", "listener-6"};

/* The number in an environment variable, 0 if there is none. */
static uint64_t
number_of(const char *variable)
{
	const char *text = getenv(variable);
	uint64_t value;

	return text != NULL && number_from_text(text, UINT64_MAX, &value) ?
	    value : 0;
}

/* Takes the next of the names, which colons separate; "" at the end. */
static void
next_name(char name[static FDSTORE_NAME], const char **names)
{
	size_t length = strcspn(*names, ":");

	(void)snprintf(name, FDSTORE_NAME, "%.*s", (int)length, *names);
	*names += length;
	if (**names == ':')
		(*names)++;
}

void
fdstore_open(struct fdstore *store)
{
	uint64_t count = number_of("LISTEN_FDS");
	const char *names = getenv("LISTEN_FDNAMES");

	store->count = 0;
	if (number_of("LISTEN_PID") != (uint64_t)getpid())
		count = 0;
	if (count > FDSTORE_MAX)
		count = FDSTORE_MAX;
	if (names == NULL)
		names = "";
	for (size_t i = 0; i < count; i++) {
		const int fd = FIRST_FD + (int)i;

		next_name(store->items[store->count].name, &names);
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0)
			store->items[store->count++].fd = fd;
	}
	(void)unsetenv("LISTEN_PID");
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
}

int
fdstore_take(struct fdstore *store, const char *name)
{
	for (size_t i = 0; i < store->count; i++) {
		if (strcmp(store->items[i].name, name) == 0) {
			int fd = store->items[i].fd;

			store->items[i] = store->items[--store->count];
			return fd;
		}
	}
	return -1;
}

int
fdstore_take_queue(struct fdstore *store, uint16_t *number)
{
	char name[FDSTORE_NAME];

	for (size_t i = 0; i < store->count; i++) {
		const char *text = store->items[i].name;
		uint64_t value;

		if (strncmp(text, QUEUE_PREFIX, strlen(QUEUE_PREFIX)) != 0 ||
		    !number_from_text(text + strlen(QUEUE_PREFIX), UINT16_MAX,
		    &value))
			continue;
		*number = (uint16_t)value;
		fdstore_queue_name(name, *number);
		return fdstore_take(store, name);
	}
	return -1;
}

void
fdstore_close(struct fdstore *store)
{
	while (store->count > 0) {
		store->count--;
		fdstore_forget(store->items[store->count].name);
		(void)close(store->items[store->count].fd);
	}
}

int
fdstore_keep(const char *name, int fd)
{
	char state[FDSTORE_NAME + 48];

	/*
	 * FDPOLL=0: by default the service manager drops a descriptor that
	 * polls POLLERR, and a netlink socket does so after every overrun.
	 */
	(void)snprintf(state, sizeof(state), "FDSTORE=1\nFDNAME=%s\nFDPOLL=0",
	    name);
	return notify_with_fd(state, fd);
}

void
fdstore_forget(const char *name)
{
	char state[FDSTORE_NAME + 48];

	(void)snprintf(state, sizeof(state), "FDSTOREREMOVE=1\nFDNAME=%s",
	    name);
	(void)notify(state);
}

bool
fdstore_is_there(void)
{
	const char *manager = getenv("NOTIFY_SOCKET");

	return manager != NULL && manager[0] != '\0';
}

void
fdstore_queue_name(char name[static FDSTORE_NAME], uint16_t number)
{
	(void)snprintf(name, FDSTORE_NAME, QUEUE_PREFIX "%u", number);
}
