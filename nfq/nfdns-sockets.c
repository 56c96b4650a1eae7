/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/server.h"
#include "nfq/process/sandbox.h"
#include "nfq/supervisor/fdstore.h"
#include "policy/log.h"
#include "nfq/process/exit_code.h"
#include "nfq/process/options.h"
#include "resolver/version.h"

static const char usage[] =
    "usage: nfdns-sockets\n"
    "\n"
    "Opens IP sockets for nfdnsd --sockets.  The service manager starts it as\n"
    "nfdns-sockets.service and passes the listening socket (sd_listen_fds(3)).\n"
    "\n"
    "  -h, --help          show this text\n"
    "  -V, --version       show the version\n";

static const struct option all[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const struct options options = {
	.name = "nfdns-sockets", .usage = usage,
	.version = "nfdns-sockets " NFDNS_VERSION, .letters = ":hV", .all = all,
};

static int
option_of(int fd, int option)
{
	socklen_t size = sizeof(int);
	int value = -1;

	if (getsockopt(fd, SOL_SOCKET, option, &value, &size) < 0)
		return -1;
	return value;
}

/* The one socket that was handed over, or -1. */
static int
take_listener(void)
{
	struct fdstore fdstore;
	int fd = -1;

	fdstore_open(&fdstore);
	if (fdstore.count == 1)
		fd = fdstore.items[0].fd;
	if (option_of(fd, SO_DOMAIN) == AF_UNIX &&
	    option_of(fd, SO_TYPE) == SOCK_SEQPACKET &&
	    option_of(fd, SO_ACCEPTCONN) == 1)
		return fd;
	return -1;
}

static int
run(void)
{
	int listener = take_listener(), error;

	if (listener < 0) {
		log_error("there is no listening socket: systemctl start "
		    "nfdns-sockets.socket");
		return EXIT_ERROR;
	}
	error = sandbox_sockets();
	if (error == -EPERM)
		log_error("nfdns-sockets refuses to run as root or with a "
		    "capability: run it as the user of nfdnsd, without any");
	else if (error < 0)
		log_error("cannot restrict system calls: %s", strerror(-error));
	if (error < 0)
		return EXIT_ERROR;
	error = sockets_run(listener);
	log_error("cannot go on: %s", strerror(-error));
	return EXIT_ERROR;
}

int
main(int argc, char **argv)
{
	int code;

	if (options_next(&options, argc, argv, &code) == OPTIONS_EXIT)
		return code;
	log_set_level(LOG_LEVEL_INFO);
	return run();
}
