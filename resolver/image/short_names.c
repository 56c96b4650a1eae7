/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/image/short_names.h"

#include <string.h>

int
short_names_init(struct short_names *names, const struct mesh *mesh)
{
	const char *own = mesh->namespace != NULL ? mesh->namespace : "";
	int error = name_from_text(&names->svc, "svc", 3);

	if (error == 0)
		error = name_join(&names->services, &names->svc, &mesh->domain);
	if (error != 0)
		return error;
	if (name_from_text(&names->namespace, own, strlen(own)) != 0)
		return name_from_text(&names->namespace, "", 0);
	name_lower(&names->namespace);
	return 0;
}

bool
short_names_apply(const struct short_names *names, const struct dns_name *host)
{
	return host->labels > names->services.labels &&
	    name_is_within(host, &names->services);
}

size_t
short_names_of(const struct short_names *names, const struct dns_name *name,
    const struct dns_name *namespace,
    struct dns_name found[static SHORT_NAMES_MAX], bool *too_long)
{
	size_t count = 0;

	*too_long = false;
	if (name->labels == 0 || namespace->labels == 0)
		return 0;
	if (name_equal(namespace, &names->namespace))
		found[count++] = *name;
	*too_long = name_join(&found[count], name, namespace) != 0;
	if (*too_long)
		return count;
	count++;
	*too_long = name_join(&found[count], &found[count - 1],
	    &names->svc) != 0;
	return count + !*too_long;
}
