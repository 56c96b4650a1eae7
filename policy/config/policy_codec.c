/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arrays as they lie in memory, each behind its count; then the paths. */
#include "policy/config/policy_codec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX	((size_t)1 << 24)
#define PATH_MAX_OCTETS	((size_t)1 << 16)

static int
write_octets(FILE *file, const void *octets, size_t size)
{
	return size == 0 || fwrite(octets, size, 1, file) == 1 ? 0 : -EIO;
}

static int
write_array(FILE *file, const void *items, size_t count, size_t item)
{
	const int error = write_octets(file, &count, sizeof(count));

	return error < 0 ? error : write_octets(file, items, count * item);
}

static int
write_sets(const struct policy *policy, FILE *file)
{
	int error = write_octets(file, &policy->set_count,
	    sizeof(policy->set_count));

	for (size_t i = 0; i < policy->set_count && error == 0; i++)
		error = write_array(file, policy->sets[i].path,
		    strlen(policy->sets[i].path) + 1, 1);
	return error;
}

int
policy_codec_write(const struct policy *p, FILE *file)
{
	int error = write_array(file, p->rules, p->rule_count,
	    sizeof(*p->rules));

	if (error == 0)
		error = write_array(file, p->names, p->name_count,
		    sizeof(*p->names));
	if (error == 0)
		error = write_array(file, p->numbers, p->number_count,
		    sizeof(*p->numbers));
	if (error == 0)
		error = write_array(file, p->prefixes, p->prefix_count,
		    sizeof(*p->prefixes));
	if (error == 0)
		error = write_array(file, p->addresses, p->address_count,
		    sizeof(*p->addresses));
	if (error == 0)
		error = write_octets(file, &p->refuse_unloaded,
		    sizeof(p->refuse_unloaded));
	return error == 0 ? write_sets(p, file) : error;
}

static int
read_octets(FILE *file, void *octets, size_t size)
{
	return size == 0 || fread(octets, size, 1, file) == 1 ? 0 : -EPROTO;
}

static int
read_count(FILE *file, size_t *count, size_t most)
{
	size_t there;
	const int error = read_octets(file, &there, sizeof(there));

	if (error < 0 || there > most)
		return -EPROTO;
	*count = there;
	return 0;
}

/* Allocates *items, which policy_clear() frees. */
static int
read_array(FILE *file, void *items, size_t *count, size_t item)
{
	void **array = items;
	size_t there = 0;
	int error = read_count(file, &there, COUNT_MAX);

	if (error < 0)
		return error;
	*array = calloc(there + 1, item);
	if (*array == NULL)
		return -ENOMEM;
	error = read_octets(file, *array, there * item);
	*count = error == 0 ? there : 0;
	return error;
}

static int
read_path(FILE *file, char **path)
{
	size_t size = 0;
	int error = read_count(file, &size, PATH_MAX_OCTETS);

	if (error < 0)
		return error;
	*path = calloc(size + 1, 1);
	return *path == NULL ? -ENOMEM : read_octets(file, *path, size);
}

static int
read_sets(struct policy *p, FILE *file)
{
	size_t count = 0;
	int error = read_count(file, &count, COUNT_MAX);

	if (error < 0)
		return error;
	p->sets = calloc(count + 1, sizeof(*p->sets));
	if (p->sets == NULL)
		return -ENOMEM;
	p->set_count = count;
	for (size_t i = 0; i < count && error == 0; i++)
		error = read_path(file, &p->sets[i].path);
	return error;
}

static int
read_all(struct policy *p, FILE *file)
{
	int error = read_array(file, &p->rules, &p->rule_count,
	    sizeof(*p->rules));

	if (error == 0)
		error = read_array(file, &p->names, &p->name_count,
		    sizeof(*p->names));
	if (error == 0)
		error = read_array(file, &p->numbers, &p->number_count,
		    sizeof(*p->numbers));
	if (error == 0)
		error = read_array(file, &p->prefixes, &p->prefix_count,
		    sizeof(*p->prefixes));
	if (error == 0)
		error = read_array(file, &p->addresses, &p->address_count,
		    sizeof(*p->addresses));
	if (error == 0)
		error = read_octets(file, &p->refuse_unloaded,
		    sizeof(p->refuse_unloaded));
	return error == 0 ? read_sets(p, file) : error;
}

int
policy_codec_read(struct policy *policy, FILE *file)
{
	int error;

	memset(policy, 0, sizeof(*policy));
	error = read_all(policy, file);
	if (error < 0)
		policy_clear(policy);
	return error;
}
