/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mapping an image and what its header says. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolver/image/image.h"

const uint8_t *
table_load_name(struct dns_name *name, const uint8_t *octets)
{
	/* The image was checked: its names are well-formed. */
	if (name_read_lower(name, octets, NAME_MAX_OCTETS) != 0)
		*name = (struct dns_name){ .length = 1 };
	return octets + name->length;
}

static void
load_depths(struct table_depths *depths, const uint64_t set[static 2])
{
	for (unsigned int n = NAME_MAX_LABELS + 1; n-- > 0;) {
		if ((set[n / 64] >> n % 64 & 1) != 0)
			depths->labels[depths->count++] = (uint8_t)n;
	}
}

static void
load(struct table *t)
{
	const struct image_header *h = (const void *)t->image;
	const uint8_t *at;

	t->header = h;
	t->slots = (const void *)(t->image + h->slots);
	t->mask = ((uint32_t)1 << h->slot_bits) - 1;
	t->tails = (const void *)(t->image + h->tails);
	t->tail_mask = ((uint32_t)1 << h->tail_bits) - 1;
	t->heads = (const void *)(t->image + h->heads);
	t->head_mask = ((uint32_t)1 << h->head_bits) - 1;
	load_depths(&t->wildcards, h->wildcard_labels);
	load_depths(&t->soas, h->soa_labels);
	t->loaded = h->loaded != 0;
	at = t->image + t->header->strings;
	t->search_count = t->header->search_count;
	for (size_t i = 0; i < t->search_count; i++) {
		at = table_load_name(&t->search[i], at);
		if (t->search[i].length < IMAGE_TAIL_OCTETS)
			t->short_search = true;
	}
	for (size_t i = 0; i < t->header->zone_count; i++) {
		struct mesh_zone zone = { .unknown = *at++ };
		size_t place = t->zone_count++;

		at = table_load_name(&zone.name, at);
		for (; place > 0 &&
		    t->zones[place - 1].name.labels < zone.name.labels; place--)
			t->zones[place] = t->zones[place - 1];
		t->zones[place] = zone;
	}
}

static int
open_image(struct table **table, int fd, bool draft, const char **why)
{
	struct table *t = NULL;
	void *image = MAP_FAILED;
	struct stat st;
	int error = -EINVAL;

	*table = NULL;
	if (fstat(fd, &st) != 0) {
		*why = "cannot find out the image's size";
		return -errno;
	}
	if (!S_ISREG(st.st_mode) ||
	    st.st_size < (off_t)sizeof(struct image_header)) {
		*why = "not a table image";
		return -EINVAL;
	}
	/* All of it is read for the checksum: fault it in at one go. */
	image = mmap(NULL, (size_t)st.st_size, PROT_READ,
	    MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (image == MAP_FAILED) {
		*why = "cannot map the image";
		return -errno;
	}
	*why = image_check(image, (size_t)st.st_size, draft);
	if (*why != NULL)
		goto failed;
	t = calloc(1, sizeof(*t));
	if (t == NULL) {
		*why = "out of memory";
		error = -ENOMEM;
		goto failed;
	}
	t->image = image;
	t->size = (size_t)st.st_size;
	load(t);
	*table = t;
	return 0;
failed:
	(void)munmap(image, (size_t)st.st_size);
	return error;
}

int
table_open(struct table **table, int fd, const char **why)
{
	return open_image(table, fd, false, why);
}

int
table_open_draft(struct table **table, int fd, const char **why)
{
	return open_image(table, fd, true, why);
}

int
table_peek(int fd, struct table_label *label)
{
	struct image_header header;

	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    memcmp(header.magic, IMAGE_MAGIC, sizeof(header.magic)) != 0 ||
	    header.version != IMAGE_VERSION)
		return -EINVAL;
	label->checksum = header.checksum;
	label->names = header.name_count;
	label->policy_names = header.policy_names;
	return 0;
}

void
table_close(struct table *t)
{
	if (t == NULL)
		return;
	/* munmap() takes no const; the mapping is ours alone. */
	(void)munmap((void *)(uintptr_t)t->image, t->size);
	free(t);
}

bool
table_is_loaded(const struct table *t)
{
	return t->loaded;
}

const uint8_t *
table_policy(const struct table *t, size_t *size)
{
	*size = t->header->policy_size;
	return t->image + t->header->policy;
}

size_t
table_names(const struct table *t)
{
	return t->header->name_count;
}

size_t
table_octets(const struct table *t)
{
	return t->size;
}
