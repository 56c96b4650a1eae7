/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a table of options makes of words, and what is said of wrong ones. */
#include "nfq/cli/command_options.h"

#include <stdarg.h>
#include <string.h>

#include "tests/captured.h"
#include "tests/check.h"

#define WORDS	8
#define PROGRAM	"nfdns test"
#define SEE	"; see " PROGRAM " --help\n"

struct request {
	bool json, all;
	const char *write;
	size_t sum;			/* of the lengths of --add */
	int runs;
};

static const char *
read_add(void *to, const char *value)
{
	struct request *r = to;

	r->sum += strlen(value);
	return strlen(value) > 3 ? "more than three" : NULL;
}

static const char *
count_run(void *to, const char *value)
{
	struct request *r = to;

	CHECK(value == NULL);
	r->runs++;
	return NULL;
}

static const struct command_option table[] = {
	OPTION_FLAG("json", 'j', struct request, json),
	OPTION_FLAG("all", 0, struct request, all),
	OPTION_TEXT("write", 'w', struct request, write),
	OPTION_READ("add", 0, read_add),
	{ "run", 'r', false, 0, count_run },
	{ .name = NULL },
};

static struct {
	struct request request;
	struct captured said;
	int argc, first;
	char *argv[WORDS + 1];
} t;

/* Reads the words behind the command's, which NULL ends. */
static void
read_words(const char *word, ...)
{
	va_list words;

	memset(&t, 0, sizeof(t));
	t.argv[t.argc++] = (char[]){ "test" };
	va_start(words, word);
	for (; word != NULL && t.argc < WORDS; word = va_arg(words, char *)) {
		memcpy(&t.argv[t.argc], &word, sizeof(word));
		t.argc++;
	}
	va_end(words);
	captured_begin(&t.said);
	t.first = command_options_read(table, PROGRAM, &t.request, t.argc,
	    t.argv);
	captured_end(&t.said);
}

static bool
refused(const char *why)
{
	return t.first == -1 && strcmp(t.said.err, why) == 0 &&
	    t.said.out[0] == '\0';
}

TEST(options_are_taken)
{
	read_words(NULL);
	CHECK(t.first == 1 && !t.request.json && t.request.write == NULL);
	read_words("-j", "--write", "/a", "--all", "-r", "--run", NULL);
	CHECK(t.first == t.argc && t.request.json && t.request.all);
	CHECK(strcmp(t.request.write, "/a") == 0 && t.request.runs == 2);
	read_words("--add", "one", "--add=at", "-w/b", NULL);
	CHECK(t.first == t.argc && t.request.sum == 5 && !t.request.json);
	CHECK(strcmp(t.request.write, "/b") == 0);
	CHECK(t.said.err[0] == '\0' && t.said.out[0] == '\0');
}

TEST(other_words_come_behind_them)
{
	read_words("one", "-j", "two", "--all", "-", NULL);
	CHECK(t.first == 3 && t.request.json && t.request.all);
	CHECK(strcmp(t.argv[3], "one") == 0 && strcmp(t.argv[4], "two") == 0);
	CHECK(strcmp(t.argv[5], "-") == 0);
	read_words("--", "-j", NULL);
	CHECK(t.first == 2 && !t.request.json);
	/* Read again from the beginning, whatever was read before. */
	read_words("-j", NULL);
	CHECK(t.first == 2 && t.request.json);
}

TEST(wrong_options_are_refused)
{
	read_words("-x", NULL);
	CHECK(refused(PROGRAM ": unknown option \"-x\"" SEE));
	read_words("one", "--other", NULL);
	CHECK(refused(PROGRAM ": unknown option \"--other\"" SEE));
	read_words("--jsno", NULL);
	CHECK(refused(PROGRAM ": unknown option \"--jsno\", did you mean "
	    "\"--json\"? See " PROGRAM " --help\n"));
	read_words("--json=yes", NULL);
	CHECK(refused(PROGRAM ": option \"--json=yes\" takes no value" SEE));
	read_words("--all=yes", NULL);
	CHECK(refused(PROGRAM ": option \"--all=yes\" takes no value" SEE));
	read_words("-j", "--write", NULL);
	CHECK(refused(PROGRAM ": option \"--write\" needs a value" SEE));
	read_words("-w", NULL);
	CHECK(refused(PROGRAM ": option \"-w\" needs a value" SEE));
	read_words("--add", "four", NULL);
	CHECK(refused(PROGRAM ": \"four\": more than three" SEE));
}

TEST(help_is_asked_for)
{
	CHECK(command_options_ask_help(2, (char *[]){ "a", "--help" }));
	CHECK(command_options_ask_help(3, (char *[]){ "a", "b", "-h" }));
	CHECK(!command_options_ask_help(2, (char *[]){ "-h", "help" }));
	CHECK(!command_options_ask_help(0, NULL));
}
