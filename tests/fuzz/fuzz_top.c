/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as what a worker writes: its part of the status page, and the names
 * and users that ask most.  What "nfdns top" makes of them has no control
 * character.
 */
#include <stdlib.h>
#include <string.h>

#include "nfq/cli/top/model.h"
#include "tests/fuzz/fuzz.h"

#define SECOND	INT64_C(1000000000)
#define BEGIN	(INT64_C(1000) * HITTERS_WINDOW_S * SECOND)

static struct status_page page;
static struct status_supervisor supervisor;
static size_t workers_size;

static void
make_page(void)
{
	const size_t slots = 1;

	workers_size = slots * sizeof(struct status_worker) +
	    sizeof(struct status_forwarding) + sizeof(struct status_policy);
	page.supervisor = &supervisor;
	page.workers = aligned_alloc(64, (workers_size + 63) / 64 * 64);
	check(page.workers != NULL);
	page.worker_slots = slots;
	page.forwarding = (void *)(page.workers + slots);
	page.policy = (void *)(page.forwarding + 1);
	check(hitters_create(&page.hitters, (unsigned int)slots) == 0);
}

/* The input again and again, over all of it; its first octet chooses a list. */
static void
fill(void *memory, size_t length, const uint8_t *data, size_t size)
{
	uint8_t *octets = memory;

	for (size_t i = 0; i < length; i += size)
		memcpy(octets + i, data, size < length - i ? size : length - i);
}

static void
fill_all(const uint8_t *data, size_t size)
{
	struct hitters_page *h = page.hitters.page;

	fill(page.workers, workers_size, data, size);
	fill(h->slot, sizeof(h->slot[0]), data, size);
	h->since = BEGIN;
	h->slot[0].banks[0].since = BEGIN;
	h->slot[0].banks[0].window = BEGIN / (HITTERS_WINDOW_S * SECOND);
}

static void
check_lines(const struct top_model *model, enum top_list list)
{
	const struct top_view view = { 24, 80, true, list };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	check(out != NULL && top_print(model, &view, out) == 0 &&
	    fclose(out) == 0);
	for (size_t i = 0; i < size; i++)
		check(text[i] == '\n' || (text[i] >= ' ' && text[i] <= '~'));
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct top_model model;

	if (page.workers == NULL)
		make_page();
	if (size == 0)
		return 0;
	fill_all(data, size);
	for (int64_t i = 1; i < 3; i++) {
		struct top_reading reading;

		check(top_read(&reading, &page, &page.hitters,
		    (monotime_t){ BEGIN + i * SECOND }, data[0]) == 0);
		top_model_take(&model, &reading);
	}
	check_lines(&model, (enum top_list)(data[0] % TOP_LISTS));
	top_model_free(&model);
	return 0;
}
