/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "nfdns table" on the tables of a configuration. */
#include "nfq/cli/commands.h"
#include "nfq/process/exit_code.h"
#include "tests/captured.h"
#include "tests/check.h"
#include "tests/source_files.h"

static struct config peeked;

/* A configuration with one table. */
static void
configure(const char *format, const char *text)
{
	char file[800];

	(void)snprintf(file, sizeof(file), "user = \"65534\";\nmesh = { ttl = "
	    "30; search = [ \"search.test\" ]; tables = ( { format = \"%s\"; "
	    "path = \"%s\"; } ); };\n", format, write_file("source", text));
	peeked.path = strdup(write_file("conf", file));
	peeked.run_dir = strdup(path_of("run"));
	MUST(peeked.path != NULL && peeked.run_dir != NULL);
}

static void
forget(void)
{
	free(peeked.path);
	free(peeked.run_dir);
	peeked = (struct config){ .path = NULL };
}

/* Runs "nfdns table WORDS".  An exit code. */
static int
run(const char *words, struct captured *said)
{
	char copy[1000], *argv[12] = { (char[]){ "table" } }, *save = copy;
	int argc = 1, exit_code;

	(void)snprintf(copy, sizeof(copy), "%s", words);
	while (argc < 11 && (argv[argc] = strsep(&save, " ")) != NULL)
		argc++;
	argv[argc] = NULL;
	captured_begin(said);
	exit_code = strcmp(argv[1], "list") == 0 ?
	    cmd_table_list(&peeked, argc, argv) :
	    cmd_table_get(&peeked, argc, argv);
	captured_end(said);
	return exit_code;
}

/* Whether the command ends with that code and its output has that text. */
static bool
gives(const char *words, int exit_code, const char *text)
{
	struct captured said;
	const int code = run(words, &said);
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
	struct captured said;

	configure("hosts", "10.0.0.2 two\n10.0.0.1 one *.w\n::1 one\n");
	CHECK(run("list", &said) == EXIT_OK);
	CHECK(strcmp(said.out, "*.w.\t30\tIN\tA\t10.0.0.1\n"
	    "1" ZEROS ZEROS ZEROS ".0.ip6.arpa.\t30\tIN\tPTR\tone.\n"
	    "1.0.0.10.in-addr.arpa.\t30\tIN\tPTR\tone.\n"
	    "2.0.0.10.in-addr.arpa.\t30\tIN\tPTR\ttwo.\n"
	    "one.\t30\tIN\tA\t10.0.0.1\none.\t30\tIN\tAAAA\t::1\n"
	    "two.\t30\tIN\tA\t10.0.0.2\n") == 0);
	CHECK(gives("list --json", EXIT_OK, "{\"name\":\"two.\","
	    "\"owned\":false,\"source\":\"/tmp/"));
	CHECK(gives("get one", EXIT_OK, "source, line 2\n"
	    "one.\t30\tIN\tA\t10.0.0.1\none.\t30\tIN\tAAAA\t::1\n"));
	CHECK(gives("get ONE.search.test AAAA", EXIT_OK,
	    "without the search domain: one."));
	CHECK(gives("get x.w a", EXIT_OK, "found as wildcard"));
	CHECK(gives("get two AAAA", EXIT_ERROR, "no records of this type"));
	CHECK(gives("get three", EXIT_ERROR, "three. is not in the table"));
	CHECK(gives("get --json three", EXIT_ERROR,
	    "{\"name\":\"three.\",\"found\":\"none\"}"));
	CHECK(gives("get -j two", EXIT_OK, "\"found\":\"exact\","));
	CHECK(gives("list -r", EXIT_NOT_RUNNING, "nfdnsd is not running"));
	forget();
}

TEST(commands_that_fail)
{
	configure("nds", "{");
	CHECK(gives("list", EXIT_INVALID, "source:1: expected"));
	CHECK(gives("get x", EXIT_INVALID, "source:1: expected"));
	CHECK(gives("get", EXIT_USAGE, "a name is missing"));
	CHECK(gives("get a A b", EXIT_USAGE, "too many arguments"));
	CHECK(gives("get a..b", EXIT_USAGE, "is not a valid domain name"));
	CHECK(gives("get a BOGUS", EXIT_USAGE, "is not a valid type"));
	CHECK(gives("list a", EXIT_USAGE, "unknown argument \"a\""));
	CHECK(gives("list --what", EXIT_USAGE, "unknown option \"--what\""));
	forget();
}

int
main(void)
{
	static const char *const files[] = { "source", "conf" };

	MUST(mkdtemp(directory) != NULL);
	test_run();
	if (!directory_end(files, sizeof(files) / sizeof(files[0])))
		return 1;
	return test_summary();
}
