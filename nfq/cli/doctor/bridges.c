/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/doctor/findings.h"

#include <fnmatch.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define BRIDGES_MAX	12
#define DOCKERS		"br-*"	/* docker's networks: "br-", 12 hexadecimal digits */
#define PLAIN		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"0123456789-_."

static bool
is_listed(const struct config *config, const char *interface)
{
	for (size_t i = 0; i < config->container_count; i++)
		for (size_t n = 0; n < config->containers[i].interface_count; n++)
			if (fnmatch(config->containers[i].interfaces[n],
			    interface, 0) == 0)
				return true;
	return false;
}

/* A bridge with something at one of its ports. */
static bool
is_bridge(int fd, const char *interface)
{
	struct ethtool_drvinfo driver = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq request = { .ifr_flags = 0 };

	(void)snprintf(request.ifr_name, IFNAMSIZ, "%s", interface);
	if (ioctl(fd, SIOCGIFFLAGS, &request) != 0 ||
	    (request.ifr_flags & IFF_RUNNING) == 0)
		return false;
	request.ifr_data = (char *)&driver;
	return ioctl(fd, SIOCETHTOOL, &request) == 0 &&
	    strcmp(driver.driver, "bridge") == 0;
}

static bool
forwards(void)
{
	FILE *file = fopen("/proc/sys/net/ipv4/ip_forward", "re");
	const bool on = file != NULL && fgetc(file) == '1';

	if (file != NULL)
		(void)fclose(file);
	return on;
}

/* Its name, or the pattern that it has; once. */
static void
add(const char *found[static BRIDGES_MAX], size_t *count, const char *interface)
{
	if (fnmatch("br-????????????", interface, 0) == 0)
		interface = DOCKERS;
	if (interface[strspn(interface, PLAIN "*")] != '\0' ||
	    *count == BRIDGES_MAX)
		return;
	for (size_t i = 0; i < *count; i++)
		if (strcmp(found[i], interface) == 0)
			return;
	found[(*count)++] = interface;
}

static size_t
find(const char *found[static BRIDGES_MAX], const struct config *config,
    const struct if_nameindex *interfaces)
{
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	size_t count = 0;

	for (; fd >= 0 && interfaces->if_name != NULL; interfaces++)
		if (!is_listed(config, interfaces->if_name) &&
		    is_bridge(fd, interfaces->if_name))
			add(found, &count, interfaces->if_name);
	if (fd >= 0)
		(void)close(fd);
	return count;
}

bool
bridges_entry(const struct config *config, char text[static BRIDGES_TEXT])
{
	struct if_nameindex *interfaces = forwards() ? if_nameindex() : NULL;
	const bool others = config->container_count > 0;
	const char *found[BRIDGES_MAX];
	const size_t count = interfaces == NULL ? 0 :
	    find(found, config, interfaces);
	FILE *out = fmemopen(text, BRIDGES_TEXT, "w");

	if (out != NULL) {
		(void)fputs(others ? "{ interfaces = [ " :
		    "containers = ( { interfaces = [ ", out);
		for (size_t i = 0; i < count; i++)
			(void)fprintf(out, "%s\"%s\"", i > 0 ? ", " : "",
			    found[i]);
		(void)fputs(others ? " ]; }" : " ]; } );", out);
		(void)fclose(out);
	}
	if (interfaces != NULL)
		if_freenameindex(interfaces);
	return out != NULL && count > 0;
}
