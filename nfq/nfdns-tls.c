/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfq/process/child.h"
#include "nfq/process/exit_code.h"
#include "nfq/process/sandbox.h"
#include "nfq/tls/server.h"
#include "nfq/tls/start.h"
#include "policy/log.h"
#include "resolver/version.h"

static const char usage[] =
    "usage: nfdns-tls\n"
    "\n"
    "Speaks TLS with upstreams for nfdnsd, which starts it; it is of no use by\n"
    "itself.\n"
    "\n"
    "  -h, --help          show this text\n"
    "  -V, --version       show the version\n";

/* All certificates, which are in the context afterwards.  0 or a negative errno. */
static int
read_authorities(struct tls_context *context, int fd)
{
	struct stat st;
	void *pem;
	int error;

	if (fstat(fd, &st) < 0)
		return -errno;
	pem = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (pem == MAP_FAILED)
		return -errno;
	error = tls_context_open(context, pem, (size_t)st.st_size);
	(void)munmap(pem, (size_t)st.st_size);
	(void)close(fd);
	return error;
}

/* Privileges go first: OpenSSL reads certificates and its own configuration. */
static int
run(const struct tls_start *start)
{
	struct tls_context context;
	int error;

	if ((error = sandbox_tls_privileges(start->uid, start->gid)) < 0 ||
	    (error = child_die_with(start->parent)) < 0) {
		log_error("nfdns-tls cannot give up its privileges: %s",
		    strerror(-error));
		return EXIT_ERROR;
	}
	error = read_authorities(&context, start->authorities);
	if (error < 0) {
		log_error("nfdns-tls cannot use the certificates of forward."
		    "tls.ca: %s", error == -ENODATA ? "none can be read" :
		    strerror(-error));
		return EXIT_ERROR;
	}
	error = sandbox_tls_seccomp();
	if (error < 0)
		log_error("nfdns-tls cannot restrict system calls: %s",
		    strerror(-error));
	else if ((error = tls_server_run(start->channel, &context)) < 0)
		log_error("nfdns-tls cannot go on: %s", strerror(-error));
	tls_context_close(&context);
	return error < 0 ? EXIT_ERROR : EXIT_OK;
}

int
main(int argc, char **argv)
{
	struct tls_start start;

	log_set_level(LOG_LEVEL_INFO);
	if (tls_start_read(&start, argc, argv))
		return run(&start);
	return options_by_hand(usage, "nfdns-tls " NFDNS_VERSION, argc, argv);
}
