/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules for tests, from the text of a configuration. */
#ifndef NFDNS_TESTS_POLICY_H
#define NFDNS_TESTS_POLICY_H

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/config/config.h"
#include "policy/match/rules.h"
#include "resolver/sources/source_file.h"

/* A compiled policy; all of it is owned. */
struct test_policy {
	struct config *config;
	uint8_t *octets;
	size_t size;
	size_t names;			/* in the file */
	struct rules *rules;
	struct diag diag;
};

/* A memory file with the text; -1 for none. */
static inline int
test_file(const char *text)
{
	const int fd = text != NULL ? memfd_create("names", MFD_CLOEXEC) : -1;

	if (fd >= 0 && write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	return fd;
}

static inline void
test_policy_free(struct test_policy *p)
{
	rules_close(p->rules);
	free(p->octets);
	config_free(p->config);
	diag_free(&p->diag);
}

/* What is wrong with the file is an error here, and none of the policy's files. */
static inline int
test_policy_build(struct test_policy *p, int file)
{
	const struct policy *policy = &p->config->policy;
	struct rules_file files[2] = { { .diag = &p->diag } };
	char *data = NULL;
	int error;

	if (policy->set_count > 0) {
		files[0].text.path = policy->sets[0].path;
		data = source_file_read(policy->sets[0].path, file,
		    &files[0].text.length, &p->diag);
		if (data == NULL && file >= 0)
			return -EINVAL;
	}
	files[0].text.data = data;
	error = rules_build(policy, "/etc/test.conf", files, &p->diag,
	    &p->octets, &p->size);
	p->names = files[0].names;
	free(data);
	return error;
}

/*
 * Compiles "policy = ( TEXT );" with one file of names.  False if there was an
 * error, which p->diag has.
 */
static inline bool
test_policy_make(struct test_policy *p, const char *text, int file)
{
	const char *why = NULL;
	char *whole = NULL;
	bool good;

	*p = (struct test_policy){ .diag = DIAG_INIT };
	if (asprintf(&whole, "user = 65533;\npolicy = (\n%s );\n", text) < 0)
		abort();
	good = config_parse(&p->config, "/etc/test.conf", whole,
	    strlen(whole), &p->diag) == 0;
	free(whole);
	if (!good)
		return false;
	if (test_policy_build(p, file) < 0)
		return false;
	if (rules_open(&p->rules, p->octets, p->size, &why) == 0)
		return true;
	printf("  %s\n", why);
	abort();
}

#endif
