/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "resolver/compile/source_files.h"
#include "tests/check.h"

/* Every name that messages list is a format, and it can be read. */
TEST(listed_names_are_formats)
{
	char names[128], *rest = names, *name;
	size_t count = 0;

	CHECK(strlen(formats_names()) < sizeof(names));
	memcpy(names, formats_names(), strlen(formats_names()) + 1);
	while ((name = strsep(&rest, ",")) != NULL) {
		const struct source_format *format;

		name += strspn(name, " ");
		format = formats_find(name);
		CHECK(format != NULL && strcmp(format->name, name) == 0 &&
		    (format->read != NULL) != format->kept);
		count++;
	}
	CHECK(count == 6);
}

/* A set of sources has all three of its functions or none. */
TEST(sets_are_complete)
{
	const struct source_format *kubernetes = formats_find("kubernetes");
	const struct source_format *hosts = formats_find("hosts");

	CHECK(kubernetes != NULL && kubernetes->begin != NULL &&
	    kubernetes->add != NULL && kubernetes->end != NULL);
	CHECK(hosts != NULL && hosts->begin == NULL && hosts->add == NULL &&
	    hosts->end == NULL);
}

TEST(other_names_are_none)
{
	CHECK(formats_find("") == NULL);
	CHECK(formats_find("NDS") == NULL);
	CHECK(formats_find("nds,") == NULL);
	CHECK(formats_find("nds-protocol") == NULL);
}
