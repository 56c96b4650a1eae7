/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nfq/process/compiler.h"
#include "resolver/compile/formats.h"
#include "resolver/image/table.h"

static char directory[] = "/tmp/nfdns-compiler-XXXXXX";
static char path[64];
static char namespace[] = "default";

/* A config with one source, "hosts" unless told otherwise. */
static struct mesh_source source;
static struct config config;
static char config_path[] = "/etc/nfdns/nfdnsd.conf";

static void
set_up(const char *format, const char *text)
{
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/table", directory);
	memset(&config, 0, sizeof(config));
	config.path = config_path;
	config.uid = config.gid = 65534;
	source = (struct mesh_source){ .path = path, .line = 1,
		.format = formats_find(format) };
	CHECK(source.format != NULL);
	CHECK(name_from_text(&config.mesh.domain, "cluster.local", 13) == 0);
	config.mesh.namespace = namespace;
	config.mesh.ttl = 30;
	config.mesh.sources = &source;
	config.mesh.source_count = 1;
	(void)unlink(path);
	file = fopen(path, "we");
	CHECK(file != NULL);
	(void)fputs(text, file);
	CHECK(fclose(file) == 0);
}

/* No child may be left, however it went. */
static void
no_child_left(void)
{
	CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

TEST(good_source_gives_a_sealed_image)
{
	const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW |
	    F_SEAL_SEAL;
	struct diag diag = DIAG_INIT;
	struct table *table = NULL;
	const char *why = "";
	int image;

	set_up("hosts", "10.0.0.1 a.mesh\n10.0.0.2 b.mesh\n");
	image = compiler_run(&config, &diag);
	CHECK(image >= 0 && diag.errors == 0);
	CHECK(fcntl(image, F_GET_SEALS) == seals);
	CHECK(ftruncate(image, 0) < 0 && pwrite(image, "x", 1, 0) < 0);
	CHECK(table_open(&table, image, &why) == 0);
	CHECK(table_names(table) == 4);	/* with their reverse names */
	table_close(table);
	(void)close(image);
	diag_free(&diag);
	no_child_left();
}

TEST(warnings_come_through)
{
	struct diag diag = DIAG_INIT;
	int image;

	set_up("hosts", "10.0.0.1 a.mesh\nnonsense b.mesh\n");
	image = compiler_run(&config, &diag);
	CHECK(image >= 0);
	CHECK(diag.errors == 0 && diag.warnings == 1);
	CHECK(diag.kept == 1 && strstr(diag.entries[0].text, path) != NULL);
	CHECK(strstr(diag.entries[0].text, ":2:") != NULL);
	(void)close(image);
	diag_free(&diag);
}

TEST(broken_source_is_refused)
{
	struct diag diag = DIAG_INIT;

	set_up("nds", "{\"table\": {\"a.mesh\": {\"ips\": [\"10.0.0.1\"");
	CHECK(compiler_run(&config, &diag) < 0);
	CHECK(diag.errors >= 1);
	CHECK(strstr(diag.entries[0].text, path) != NULL);
	diag_free(&diag);
	no_child_left();
}

TEST(missing_source_is_named)
{
	struct diag diag = DIAG_INIT;

	set_up("hosts", "");
	CHECK(unlink(path) == 0);
	CHECK(compiler_run(&config, &diag) < 0);
	CHECK(diag.errors == 1);
	CHECK(strstr(diag.entries[0].text, path) != NULL);
	diag_free(&diag);
	no_child_left();
}

TEST(hostile_texts_stay_one_line)
{
	struct diag diag = DIAG_INIT;
	int image;

	set_up("hosts", "10.0.0.1 a.mesh\n10.\033[2J\r.1 b.mesh\n");
	image = compiler_run(&config, &diag);
	for (size_t i = 0; i < diag.kept; i++)
		for (const char *p = diag.entries[i].text; *p != '\0'; p++)
			CHECK((unsigned char)*p >= ' ');
	if (image >= 0)
		(void)close(image);
	diag_free(&diag);
}

TEST(thousand_warnings_are_counted)
{
	struct diag diag = DIAG_INIT;
	char *text = calloc(2000, 32);
	size_t length = 0;
	int image;

	for (int i = 0; i < 2000; i++)
		length += (size_t)snprintf(text + length, 32, "x%d n%d.mesh\n",
		    i, i);
	set_up("hosts", text);
	free(text);
	image = compiler_run(&config, &diag);
	CHECK(image >= 0);
	CHECK(diag.warnings >= DIAG_MAX_KEPT);
	CHECK(diag.kept <= DIAG_MAX_KEPT);
	(void)close(image);
	diag_free(&diag);
}

static void
read_to_the_end(struct compiler *c, struct diag *diag)
{
	for (;;) {
		struct pollfd wait = { .fd = compiler_fd(c), .events = POLLIN };

		CHECK(poll(&wait, 1, 10000) == 1);
		if (!compiler_read(c, diag))
			break;
	}
}

TEST(steps_do_the_same)
{
	struct diag diag = DIAG_INIT;
	struct compiler *c = NULL;
	int image;

	set_up("hosts", "10.0.0.1 a.mesh\n");
	CHECK(compiler_start(&c, &config, COMPILER_LISTS_ALL,
	    &diag) == 0);
	read_to_the_end(c, &diag);
	image = compiler_finish(c, &diag);
	CHECK(image >= 0);
	(void)close(image);
	diag_free(&diag);
	no_child_left();
}

TEST(cancel_leaves_nothing)
{
	struct diag diag = DIAG_INIT;
	struct compiler *c = NULL;

	set_up("hosts", "10.0.0.1 a.mesh\n");
	CHECK(compiler_start(&c, &config, COMPILER_LISTS_ALL,
	    &diag) == 0);
	compiler_cancel(c);
	compiler_cancel(NULL);
	diag_free(&diag);
	no_child_left();
}

TEST(unloaded_image_says_so)
{
	struct diag diag = DIAG_INIT;
	struct table *table = NULL;
	const char *why = "";
	int image;

	set_up("hosts", "");
	image = compiler_unloaded(&config, COMPILER_LISTS_ALL, &diag);
	CHECK(image >= 0);
	CHECK(table_open(&table, image, &why) == 0);
	CHECK(!table_is_loaded(table));
	CHECK(table_names(table) == 0);
	table_close(table);
	(void)close(image);
	diag_free(&diag);
}

int
main(void)
{
	if (mkdtemp(directory) == NULL)
		return 1;
	test_run();
	(void)unlink(path);
	(void)rmdir(directory);
	return test_summary();
}
