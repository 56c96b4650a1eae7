/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * answer_tool: what a configuration's table answers, without a daemon.
 *
 *   answer_tool [--unloaded] CONFIG < QUESTIONS > ANSWERS
 *
 * QUESTIONS are DNS messages, each behind its length in two octets, and so are
 * ANSWERS; length 0 stands for a question that passes.  With --unloaded no
 * table could be loaded yet.  What the configuration and the tables have to
 * say goes to stderr.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "policy/config/config.h"
#include "policy/decide.h"
#include "resolver/compile/compile.h"
#include "resolver/compile/source_files.h"
#include "nfq/process/exit_code.h"

static void
report(struct diag *diag)
{
	for (size_t i = 0; i < diag->kept; i++)
		fprintf(stderr, "%s: %s\n", diag->entries[i].level ==
		    DIAG_ERROR ? "error" : "warning", diag->entries[i].text);
	diag_free(diag);
}

static int
compile_image(const struct mesh *mesh, int image)
{
	struct diag diag = DIAG_INIT;
	struct source_files files;
	int error = source_files_open(&files, mesh, &diag);

	if (error == 0)
		error = compile(&files.mesh, files.fds, image, &diag);
	source_files_close(&files);
	report(&diag);
	return error;
}

static struct table *
open_table(const char *path, bool unloaded, struct answer_settings *settings)
{
	struct diag diag = DIAG_INIT;
	struct config *config = NULL;
	struct table *table = NULL;
	const char *why = NULL;
	int image = memfd_create("image", MFD_CLOEXEC), error;

	if (image < 0)
		return NULL;
	error = config_load(&config, path, &diag);
	report(&diag);
	if (error == 0) {
		*settings = config->answers;
		error = unloaded ? compile_unloaded(&config->mesh, NULL, image) :
		    compile_image(&config->mesh, image);
	}
	if (error == 0 && table_open(&table, image, &why) != 0)
		fprintf(stderr, "error: image: %s\n", why);
	config_free(config);
	(void)close(image);
	return table;
}

static size_t
answer(const struct answer_source *source, const uint8_t *message,
    size_t length, uint8_t reply[static ANSWER_UDP_MAX])
{
	struct question q;
	struct lookup lookup;
	struct facts facts = { .question = &q, .settings = source->settings,
	    .loaded = source->loaded };
	struct answer_plan plan = { .question = &q,
	    .settings = source->settings };
	struct answer_summary summary;
	struct decision decision;

	question_parse(&q, message, length);
	if (q.form == QUESTION_PLAIN) {
		lookup_gather(&lookup, source->table, &q);
		facts.lookup = plan.lookup = &lookup;
	}
	decision = decide(&facts);
	if (decision.verdict == VERDICT_PASS)
		return 0;
	plan.content = decision.content;
	plan.rcode = decision.rcode;
	return answer_build(&plan, reply, ANSWER_UDP_MAX, &summary);
}

int
main(int argc, char **argv)
{
	bool unloaded = argc > 1 && strcmp(argv[1], "--unloaded") == 0;
	uint8_t message[65536], reply[2 + ANSWER_UDP_MAX];
	struct answer_settings settings;
	struct answer_source source;
	struct table *table;

	if (argc != 2 + unloaded) {
		fputs("usage: answer_tool [--unloaded] CONFIG\n", stderr);
		return EXIT_USAGE;
	}
	table = open_table(argv[1 + unloaded], unloaded, &settings);
	if (table == NULL)
		return EXIT_INVALID;
	source = answer_source(table, &settings);
	while (fread(message, 2, 1, stdin) == 1) {
		size_t length = (size_t)message[0] << 8 | message[1];

		if (fread(message, 1, length, stdin) != length)
			break;
		length = answer(&source, message, length, reply + 2);
		reply[0] = (uint8_t)(length >> 8);
		reply[1] = (uint8_t)length;
		if (fwrite(reply, 1, length + 2, stdout) != length + 2)
			break;
	}
	table_close(table);
	return ferror(stdin) || fflush(stdout) != 0 ? EXIT_ERROR : EXIT_OK;
}
