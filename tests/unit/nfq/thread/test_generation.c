/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/thread/generation.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "policy/log.h"
#include "tests/check.h"
#include "tests/image.h"

static struct mesh mesh = { .ttl = 30 };

static int
image_file(void)
{
	struct builder *b;
	int fd = memory_file(NULL, 0);

	MUST((b = builder_new(&mesh)) != NULL);
	MUST(add_address(b, "a.mesh", 0, "10.0.0.1") == 0);
	MUST(builder_write(b, fd) == 0);
	builder_free(b);
	return fd;
}

static int
settings_file(void)
{
	const struct config config = {
		.log_level = LOG_LEVEL_DEBUG,
		.answers = { .udp_size = 600 },
		.stream = { .connections = 9, .per_client = 1,
			.idle_s = 1 },
	};
	struct settings settings;
	int fd;

	settings_of(&settings, &config);
	forward_settings_defaults(&settings.forward);
	MUST((fd = settings_write(&settings)) >= 0);
	return fd;
}

TEST(both_halves_must_be_sound)
{
	const int image = image_file(), settings = settings_file();
	const char *why = NULL;
	struct generation *g = generation_open(7, image, settings, NULL, &why);

	CHECK(g != NULL && g->number == 7 && table_names(g->table) == 1);
	CHECK(g->settings.stream.connections == 9);
	CHECK(generation_source(g).table == g->table &&
	    generation_source(g).settings->udp_size == 600);
	generation_close(g);
	CHECK(generation_open(7, settings, settings, NULL, &why) == NULL);
	CHECK(why != NULL && strstr(why, "settings") == NULL);
	CHECK(generation_open(7, image, image, NULL, &why) == NULL);
	CHECK(why != NULL && strstr(why, "settings") != NULL);
	CHECK(generation_open(7, -1, settings, NULL, &why) == NULL && why != NULL);
	CHECK(generation_open(7, image, -1, NULL, &why) == NULL && why != NULL);
	generation_close(NULL);
	(void)close(image);
	(void)close(settings);
}

static generation_place current, in_use;
static atomic_bool used;

static void *
answering_thread(void *argument)
{
	const struct generation *g = generation_get(&in_use, &current);

	CHECK(g == argument);
	atomic_store(&used, true);
	usleep(20000);
	atomic_store(&used, false);
	generation_put(&in_use);
	return NULL;
}

TEST(the_old_one_is_waited_for)
{
	static struct generation old, next;
	pthread_t thread;

	atomic_store(&current, &old);
	CHECK(pthread_create(&thread, NULL, answering_thread, &old) == 0);
	while (!atomic_load(&used))
		generation_pause();
	atomic_store(&current, &next);
	generation_wait(&in_use, &old);
	CHECK(!atomic_load(&used));
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(generation_get(&in_use, &current) == &next);
	generation_put(&in_use);
}
