/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "nfdns table" on the tables of a configuration and on images. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "nfq/cli/commands.h"
#include "nfq/process/compiler.h"
#include "nfq/process/exit_code.h"
#include "tests/captured.h"
#include "tests/check.h"
#include "tests/source.h"
#include "tests/source_files.h"

static struct config
config_of(struct mesh_source *one)
{
	static char path[] = "/etc/nfdns/nfdnsd.conf";

	return (struct config){ .path = path, .uid = 65534, .gid = 65534, .mesh = { .ttl = 30,
	    .domain = name_of("mesh.test"),
	    .namespace = (char[]){ "own" }, .sources = one,
	    .source_count = 1 } };
}

/* Runs "nfdns table WORDS".  An exit code. */
static int
run(const struct config *config, const char *words, struct captured *said)
{
	char copy[1000], *argv[12] = { (char[]){ "table" } }, *save = copy;
	int argc = 1, exit_code;

	(void)snprintf(copy, sizeof(copy), "%s", words);
	while (argc < 11 && (argv[argc] = strsep(&save, " ")) != NULL)
		argc++;
	argv[argc] = NULL;
	captured_begin(said);
	exit_code = cmd_table(config, argc, argv);
	captured_end(said);
	return exit_code;
}

/* Whether the command ends with that code and its output has that text. */
static bool
gives(const struct config *config, const char *words, int exit_code,
    const char *text)
{
	struct captured said;
	const int code = run(config, words, &said);
	const bool good = code == exit_code && (strstr(said.out, text) !=
	    NULL || strstr(said.err, text) != NULL);

	if (!good)
		printf("  table %s: exit code %d: %s%s\n", words, code,
		    said.out, said.err);
	return good;
}

#define ZEROS ".0.0.0.0.0.0.0.0.0.0"

TEST(commands)
{
	struct mesh_source source = source_of("hosts", write_file("hosts",
	    "10.0.0.2 two\n10.0.0.1 one *.w\n::1 one\n"));
	struct config config = config_of(&source);
	char words[300];
	struct captured said;

	config.mesh.search[config.mesh.search_count++] = name_of("search.test");
	CHECK(run(&config, "list", &said) == EXIT_OK);
	CHECK(strcmp(said.out, "*.w.\t30\tIN\tA\t10.0.0.1\n"
	    "1" ZEROS ZEROS ZEROS ".0.ip6.arpa.\t30\tIN\tPTR\tone.\n"
	    "1.0.0.10.in-addr.arpa.\t30\tIN\tPTR\tone.\n"
	    "2.0.0.10.in-addr.arpa.\t30\tIN\tPTR\ttwo.\n"
	    "one.\t30\tIN\tA\t10.0.0.1\none.\t30\tIN\tAAAA\t::1\n"
	    "two.\t30\tIN\tA\t10.0.0.2\n") == 0);
	CHECK(gives(&config, "list --json", EXIT_OK, "{\"name\":\"two.\","
	    "\"owned\":false,\"source\":\"/tmp/"));
	CHECK(gives(&config, "get one", EXIT_OK, "hosts, line 2\n"
	    "one.\t30\tIN\tA\t10.0.0.1\none.\t30\tIN\tAAAA\t::1\n"));
	CHECK(gives(&config, "get ONE.search.test AAAA", EXIT_OK,
	    "without the search domain: one."));
	CHECK(gives(&config, "get x.w a", EXIT_OK, "found as wildcard"));
	CHECK(gives(&config, "get two AAAA", EXIT_ERROR,
	    "no records of this type"));
	CHECK(gives(&config, "get three", EXIT_ERROR,
	    "three. is not in the table"));
	CHECK(gives(&config, "get --json three", EXIT_ERROR,
	    "{\"name\":\"three.\",\"found\":\"none\"}"));
	CHECK(gives(&config, "get -j two", EXIT_OK, "\"found\":\"exact\","));
	(void)snprintf(words, sizeof(words), "compile -o %s", path_of("image"));
	CHECK(gives(&config, words, EXIT_OK, "6 names, "));
	(void)snprintf(words, sizeof(words), "get -i %s one A",
	    path_of("image"));
	CHECK(gives(&config, words, EXIT_OK, "one.\t30\tIN\tA\t10.0.0.1\n"));
	MUST(unlink(path_of("image")) == 0);
}

TEST(commands_that_fail)
{
	struct mesh_source source = source_of("nds", write_file("bad", "{"));
	struct config config = config_of(&source);
	char words[300], wanted[300];

	(void)snprintf(wanted, sizeof(wanted), "nfdns: error: %s:1: expected",
	    source.path);
	CHECK(gives(&config, "list", EXIT_INVALID, wanted));
	CHECK(gives(&config, "get x", EXIT_INVALID, wanted));
	(void)snprintf(words, sizeof(words), "compile -o %s", path_of("image"));
	CHECK(gives(&config, words, EXIT_INVALID, wanted));
	(void)snprintf(words, sizeof(words), "list -i %s", source.path);
	CHECK(gives(&config, words, EXIT_INVALID, "bad: not a table image"));
	CHECK(gives(&config, "list -i /nowhere/image", EXIT_ERROR,
	    "/nowhere/image: cannot be opened: No such file"));
	CHECK(gives(&config, "list -i x -r", EXIT_USAGE, "exclude each other"));
	CHECK(gives(&config, "compile -o /nowhere/image", EXIT_ERROR,
	    "/nowhere/image: cannot be created: No such file"));
	CHECK(gives(&config, "compile", EXIT_USAGE, "-o FILE"));
	CHECK(gives(&config, "compile -i x", EXIT_USAGE, "unknown option \"-i\""));
	CHECK(gives(&config, "get", EXIT_USAGE, "a name is missing"));
	CHECK(gives(&config, "get a A b", EXIT_USAGE, "too many arguments"));
	CHECK(gives(&config, "get a..b", EXIT_USAGE, "is not a valid domain name"));
	CHECK(gives(&config, "get a BOGUS", EXIT_USAGE, "is not a valid type"));
	CHECK(gives(&config, "fetch", EXIT_USAGE, "unknown command \"fetch\""));
	CHECK(gives(&config, "list --what", EXIT_USAGE,
	    "nfdns table list: unknown option \"--what\"; see nfdns table "
	    "list --help\n"));
	CHECK(gives(&config, "--help", EXIT_OK, "nfdns table get"));
	CHECK(gives(&config, "get --help", EXIT_OK, "nfdns table get"));
}

int
main(void)
{
	static const char *const files[] = { "hosts", "given", "bad" };

	MUST(mkdtemp(directory) != NULL);
	test_run();
	if (!directory_end(files, sizeof(files) / sizeof(files[0])))
		return 1;
	return test_summary();
}
