/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines of daemons: what is printed where, and how main() goes on. */
#include "nfq/process/options.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "nfq/process/exit_code.h"
#include "tests/captured.h"
#include "tests/check.h"

#define WORDS	8
#define USAGE	"usage: test\n"
#define VERSION	"test 1.2.3"

static const struct option all[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "test", no_argument, NULL, 't' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const struct options options = {
	.name = "test", .usage = USAGE, .version = VERSION,
	.letters = ":c:thV", .all = all,
};

static struct {
	int argc;
	char *argv[WORDS + 1];
	int code;			/* of main() */
	struct captured said;
	char seen[WORDS + 1];		/* letters of options */
	char value[40];			/* of the last that has one */
} t;

static void
set_words(va_list words)
{
	memset(&t, 0, sizeof(t));
	t.argv[t.argc++] = (char[]){ "test" };
	while (t.argc <= WORDS && (t.argv[t.argc] = va_arg(words, char *)) !=
	    NULL)
		t.argc++;
	optind = 0;		/* glibc: start again with another argv */
}

/* As main() of a daemon does. */
static int
read_options(void)
{
	int option, code;

	for (size_t n = 0; n < WORDS && (option = options_next(&options,
	    t.argc, t.argv, &code)) > 0; n++) {
		t.seen[n] = (char)option;
		if (optarg != NULL)
			(void)snprintf(t.value, sizeof(t.value), "%s", optarg);
	}
	return option == OPTIONS_EXIT ? code : -1;
}

static int
read_by_hand(void)
{
	return options_by_hand(USAGE, VERSION, t.argc, t.argv);
}

/* The words after the program's name; NULL ends them. */
static void
run(int (*function)(void), ...)
{
	va_list words;

	va_start(words, function);
	set_words(words);
	va_end(words);
	captured_begin(&t.said);
	t.code = function();
	captured_end(&t.said);
}

static bool
said(int code, const char *out, const char *err)
{
	return t.code == code && strcmp(t.said.out, out) == 0 &&
	    strcmp(t.said.err, err) == 0;
}

TEST(a_programs_own_options_are_its_own)
{
	run(read_options, NULL);
	CHECK(said(-1, "", "") && strcmp(t.seen, "") == 0);
	run(read_options, "-t", "--config", "/a", "-c/b", NULL);
	CHECK(said(-1, "", "") && strcmp(t.seen, "tcc") == 0);
	CHECK(strcmp(t.value, "/b") == 0);
}

TEST(help_and_version_go_to_stdout)
{
	run(read_options, "-t", "--help", "--wrong", NULL);
	CHECK(said(EXIT_OK, USAGE, "") && strcmp(t.seen, "t") == 0);
	run(read_options, "-V", NULL);
	CHECK(said(EXIT_OK, VERSION "\n", ""));
}

TEST(what_is_wrong_goes_to_stderr)
{
	run(read_options, "--tset", NULL);
	CHECK(said(EXIT_USAGE, "", "test: unknown option \"--tset\", did you "
	    "mean \"--test\"? See test --help\n"));
	run(read_options, "-c", NULL);
	CHECK(said(EXIT_USAGE, "", "test: option \"-c\" needs a value; see "
	    "test --help\n"));
	run(read_options, "-t", "more", NULL);
	CHECK(said(EXIT_USAGE, "", "test: unknown argument \"more\"; see "
	    "test --help\n"));
	run(read_options, "-x", NULL);
	CHECK(said(EXIT_USAGE, "", "test: unknown option \"-x\"; see test "
	    "--help\n"));
}

TEST(a_started_program_is_run_by_hand)
{
	static const char *const versions[] = { "-V", "--version" };
	static const char *const helps[] = { "-h", "--help" };

	for (size_t i = 0; i < 2; i++) {
		run(read_by_hand, versions[i], NULL);
		CHECK(said(EXIT_OK, VERSION "\n", ""));
		run(read_by_hand, helps[i], NULL);
		CHECK(said(EXIT_OK, USAGE, ""));
	}
	run(read_by_hand, NULL);
	CHECK(said(EXIT_USAGE, "", USAGE));
	run(read_by_hand, "-h", "-V", NULL);
	CHECK(said(EXIT_USAGE, "", USAGE));
	run(read_by_hand, "1", NULL);
	CHECK(said(EXIT_USAGE, "", USAGE));
}
