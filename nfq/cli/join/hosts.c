/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file "hosts", which istioctl wants to be added to /etc/hosts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "nfq/cli/join/plan.h"
#include "resolver/text/host.h"

#define BLANKS	" \t\r"
#define LINE_MAX_LENGTH	1024
#define OTHER_SIZE	256

/* Whether server, "HOST:PORT", is of that host. */
static bool
is_host(const char *server, const char *host)
{
	const char *colon = strrchr(server, ':');
	size_t length = strlen(host);

	return colon != NULL && length == (size_t)(colon - server) &&
	    strncasecmp(server, host, length) == 0;
}

static void
add_address(struct workload *w, const char *path, unsigned int line,
    const char *address, struct diag *diag)
{
	if (w->address_count == WORKLOAD_MAX_ADDRESSES) {
		diag_add(diag, DIAG_ERROR, path, line,
		    "more than %d addresses of istiod", WORKLOAD_MAX_ADDRESSES);
		return;
	}
	w->addresses[w->address_count] = strdup(address);
	if (w->addresses[w->address_count] == NULL)
		diag_add(diag, DIAG_ERROR, path, line, "out of memory");
	else
		w->address_count++;
}

static void
read_line(struct workload *w, const char *path, unsigned int line, char *text,
    char other[static OTHER_SIZE], struct diag *diag)
{
	char *save = NULL, *address, *name;
	uint8_t octets[16];

	text[strcspn(text, "#")] = '\0';
	address = strtok_r(text, BLANKS, &save);
	if (address == NULL)
		return;
	if (host_address(address, octets) == AF_UNSPEC) {
		diag_add(diag, DIAG_ERROR, path, line, "\"%.64s\" is not an "
		    "address; a line is ADDRESS NAME", address);
		return;
	}
	while ((name = strtok_r(NULL, BLANKS, &save)) != NULL) {
		if (w->server != NULL && is_host(w->server, name)) {
			add_address(w, path, line, address, diag);
			return;
		}
		(void)snprintf(other, OTHER_SIZE, "%.250s", name);
	}
}

/* Without an address, the feed asks DNS for istiod: few clusters are in it. */
static void
warn_without(const struct workload *w, const char *path, const char *other,
    struct diag *diag)
{
	if (w->server == NULL || w->address_count > 0)
		return;
	if (other[0] == '\0')
		diag_add(diag, DIAG_WARNING, path, 0, "is empty: nfdns-feed "
		    "asks DNS for the address of %s; if that has none, add a "
		    "line \"ADDRESS NAME\" (istioctl writes it with "
		    "--ingressIP ADDRESS)", w->server);
	else
		diag_add(diag, DIAG_WARNING, path, 0, "has an address of %s, "
		    "but none of %s, which mesh.yaml names as "
		    "discoveryAddress: they are of different revisions; make "
		    "the files again with istioctl", other, w->server);
}

void
workload_read_hosts(struct workload *workload, const char *path,
    const char *text, size_t length, struct diag *diag)
{
	const char *const stop = text + length;
	char copy[LINE_MAX_LENGTH], other[OTHER_SIZE] = "";
	unsigned int line = 1;

	for (const char *at = text; at < stop; line++) {
		const char *end = memchr(at, '\n', (size_t)(stop - at));
		const size_t n = (size_t)((end != NULL ? end : stop) - at);

		if (n >= sizeof(copy) || memchr(at, '\0', n) != NULL) {
			diag_add(diag, DIAG_ERROR, path, line,
			    "is not a line of hosts(5)");
		} else {
			memcpy(copy, at, n);
			copy[n] = '\0';
			read_line(workload, path, line, copy, other, diag);
		}
		at += n + (end != NULL);
	}
	warn_without(workload, path, other, diag);
}
