/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/check.h"

#include <string.h>

#include "resolver/image/mesh.h"

static struct dns_name
make(const char *text)
{
	struct dns_name name = { .length = 0 };

	CHECK(name_from_text(&name, text, strlen(text)) == 0);
	return name;
}

static struct mesh
mesh_of(const char *domain)
{
	static char own[] = "Own";

	return (struct mesh){ .domain = make(domain), .namespace = own };
}

/* The short names of NAME in NAMESPACE, each with its final dot. */
static const char *
short_names(const char *name, const char *namespace)
{
	static char text[3 * NAME_TEXT_SIZE];
	struct dns_name found[SHORT_NAMES_MAX];
	struct dns_name first = make(name), second = make(namespace);
	struct mesh mesh = mesh_of("cluster.local");
	struct short_names names;
	bool too_long;
	size_t count, length = 0;

	CHECK(short_names_init(&names, &mesh) == 0);
	count = short_names_of(&names, &first, &second, found, &too_long);
	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		char one[NAME_TEXT_SIZE];

		length += (size_t)snprintf(text + length,
		    sizeof(text) - length, "%s ",
		    name_to_text(found[i].octets, one));
	}
	if (too_long)
		(void)snprintf(text + length, sizeof(text) - length, "...");
	return text;
}

TEST(test_short_names)
{
	CHECK(strcmp(short_names("web", "shop"),
	    "web.shop. web.shop.svc. ") == 0);
	CHECK(strcmp(short_names("web", "own"),
	    "web. web.own. web.own.svc. ") == 0);
	CHECK(strcmp(short_names("pod1.headless", "shop"),
	    "pod1.headless.shop. pod1.headless.shop.svc. ") == 0);
	CHECK(strcmp(short_names("", "shop"), "") == 0);
	CHECK(strcmp(short_names("web", ""), "") == 0);
}

TEST(test_short_names_too_long)
{
	char name[256];

	/* 3 labels of 63 octets: 193 in wire form, 62 are left. */
	memset(name, 'a', sizeof(name));
	name[63] = name[127] = '.';
	name[191] = '\0';
	CHECK(strstr(short_names(name, "n"), "...") == NULL);
	memset(name + 192, 'b', 57);
	name[191] = '.';
	name[249] = '\0';
	/* One more label fits, ".svc" no more. */
	CHECK(strstr(short_names(name, "nn"), ".nn. ...") != NULL);
	CHECK(strcmp(short_names(name, "nnnnn"), "...") == 0);
}

static bool
applies(const char *host)
{
	struct mesh mesh = mesh_of("cluster.local");
	struct dns_name name = make(host);
	struct short_names names;

	CHECK(short_names_init(&names, &mesh) == 0);
	return short_names_apply(&names, &name);
}

TEST(test_short_names_of_own_services_only)
{
	CHECK(applies("web.shop.svc.cluster.local"));
	CHECK(applies("*.shop.svc.cluster.local"));
	CHECK(!applies("svc.cluster.local"));
	CHECK(!applies("web.shop.svc.cluster.remote"));
	CHECK(!applies("web.shop.cluster.local"));
}

TEST(test_mesh_domain_too_long)
{
	char domain[256];
	struct short_names names;
	struct mesh mesh;

	memset(domain, 'd', sizeof(domain));
	domain[63] = domain[127] = domain[191] = '.';
	domain[251] = '\0';
	mesh = mesh_of(domain);
	CHECK(short_names_init(&names, &mesh) != 0);
}
