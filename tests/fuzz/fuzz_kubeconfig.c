/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as a kubeconfig: a server to go to, or one printable line that says
 * what is wrong.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "resolver/feed/kubeconfig.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kube_access access;
	char why[FEED_TEXT] = "";
	int error = kubeconfig_read(&access, "/etc/nfdns/kubeconfig",
	    (const char *)data, size, NULL, why);

	if (error == 0) {
		check(access.server != NULL &&
		    strncasecmp(access.server, "http", 4) == 0);
		check(strpbrk(access.server, "\r\n ") == NULL);
		check((access.cert.octets == NULL &&
		    access.cert.path == NULL) ==
		    (access.key.octets == NULL && access.key.path == NULL));
		kube_access_free(&access);
		return 0;
	}
	check(error == -EINVAL && why[0] != '\0');
	for (const char *p = why; *p != '\0'; p++)
		check((unsigned char)*p >= 0x20 && *p != 0x7f);
	return 0;
}
