/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay TARGET FILE... [--framed FILE...]
 *
 * Feeds a fuzz target with files, one input a file; after "--framed" with each
 * message of a file that has a 16-bit length before every message.  Needs no
 * fuzzing runtime, so that "make check" can replay the corpus with any
 * compiler.  Prints how many inputs there were.
 *
 * The Makefile links all targets into it, each as "fuzz_TARGET".
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/dns/wire.h"

#define LARGEST_FILE ((size_t)64 << 20)

static int (*target)(const uint8_t *data, size_t size);
static unsigned long inputs;

/*
 * Each input gets memory of exactly its size, so that the sanitizer sees a
 * read one octet behind the end.
 */
static void
feed(const uint8_t *octets, size_t length)
{
	uint8_t *copy = malloc(length > 0 ? length : 1);

	if (copy == NULL) {
		perror("replay");
		exit(EXIT_FAILURE);
	}
	if (length > 0)
		memcpy(copy, octets, length);
	(void)target(length > 0 ? copy : copy + 1, length);
	free(copy);
	inputs++;
}

static bool
feed_framed(const uint8_t *octets, size_t length)
{
	struct wire_reader r = wire_reader_over(octets, length);

	while (wire_left(&r) > 0) {
		uint16_t size = wire_read_u16(&r);
		const uint8_t *message = wire_read_octets(&r, size);

		if (message == NULL)
			return false;
		feed(message, size);
	}
	return !r.failed;
}

static bool
replay(const char *path, bool framed)
{
	static uint8_t octets[LARGEST_FILE];
	FILE *file = fopen(path, "rb");
	size_t length;
	bool ok;

	if (file == NULL) {
		(void)fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
		return false;
	}
	length = fread(octets, 1, sizeof(octets), file);
	ok = ferror(file) == 0 && length < sizeof(octets);
	(void)fclose(file);
	if (!ok) {
		(void)fprintf(stderr, "replay: %s: cannot be read whole\n", path);
		return false;
	}
	if (!framed) {
		feed(octets, length);
		return true;
	}
	if (!feed_framed(octets, length)) {
		(void)fprintf(stderr, "replay: %s: a frame is cut off\n", path);
		return false;
	}
	return true;
}

/* Whether there is a target of that name. */
static bool
find_target(const char *name)
{
	char symbol[64];

	(void)snprintf(symbol, sizeof(symbol), "fuzz_%s", name);
	*(void **)&target = dlsym(RTLD_DEFAULT, symbol);
	return target != NULL;
}

int
main(int argc, char **argv)
{
	bool framed = false;
	int i;

	if (argc < 2 || !find_target(argv[1])) {
		(void)fprintf(stderr, "replay: the first argument names no target\n");
		return EXIT_FAILURE;
	}
	for (i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--framed") == 0)
			framed = true;
		else if (!replay(argv[i], framed))
			return EXIT_FAILURE;
	}
	printf("%lu\n", inputs);
	return EXIT_SUCCESS;
}
