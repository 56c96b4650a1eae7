/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libconfig says "syntax error" and the line where it gave up, which for a
 * group without an end is the last of the file.  A scan of our own, which
 * knows strings, comments and brackets, says where to look.
 */
#include "policy/config/syntax.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Where in the text a scan stands, as libconfig's scanner would see it. */
enum lexical { IN_SETTINGS, IN_STRING, IN_LINE_COMMENT, IN_COMMENT };

struct scan {
	const char *pos, *end;
	enum lexical state;
	unsigned int line;
	unsigned int opened;	/* line where a string or comment began */
	bool line_begins;
};

static bool
scan_sees(const struct scan *scan, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(scan->end - scan->pos) >= length &&
	    memcmp(scan->pos, text, length) == 0;
}

/* Goes one octet on, two where two belong together. */
static void
scan_step(struct scan *scan)
{
	enum lexical before = scan->state;
	size_t step = 1;

	if (before == IN_SETTINGS) {
		if (*scan->pos == '"')
			scan->state = IN_STRING;
		else if (*scan->pos == '#' || scan_sees(scan, "//"))
			scan->state = IN_LINE_COMMENT;
		else if (scan_sees(scan, "/*")) {
			scan->state = IN_COMMENT;
			step = 2;
		}
		scan->opened = scan->line;
	} else if (before == IN_STRING) {
		if (scan_sees(scan, "\\\"") || scan_sees(scan, "\\\\"))
			step = 2;
		else if (*scan->pos == '"')
			scan->state = IN_SETTINGS;
	} else if (before == IN_COMMENT && scan_sees(scan, "*/")) {
		scan->state = IN_SETTINGS;
		step = 2;
	} else if (before == IN_LINE_COMMENT && *scan->pos == '\n')
		scan->state = IN_SETTINGS;

	scan->line_begins = *scan->pos == '\n' || (scan->line_begins &&
	    (*scan->pos == ' ' || *scan->pos == '\t'));
	scan->line += *scan->pos == '\n';
	scan->pos += step;
}

bool
config_syntax_check(const char *path, const char *text, size_t length,
    struct diag *diag)
{
	struct scan scan = { text, text + length, IN_SETTINGS, 1, 1, true };
	const char *why = NULL;

	while (scan.pos < scan.end && why == NULL) {
		if (*scan.pos == '\0')
			why = "a NUL octet: this is no configuration file";
		else if (scan.state == IN_SETTINGS && scan.line_begins &&
		    scan_sees(&scan, "@include"))
			why = "@include is not supported: write it here, or "
			    "for nfdnsd.conf into a file in conf.d";
		else
			scan_step(&scan);
	}
	if (why == NULL && scan.state == IN_STRING) {
		why = "a string begins here that has no end: close it with \"";
		scan.line = scan.opened;
	} else if (why == NULL && scan.state == IN_COMMENT) {
		why = "a comment begins here that has no end: close it with "
		    "*/";
		scan.line = scan.opened;
	}
	if (why != NULL)
		diag_add(diag, DIAG_ERROR, path, scan.line, "%s", why);
	return why == NULL;
}


#define NAME_MAX_SHOWN	40
#define CONFIG_SYNTAX_TEXT	(NAME_MAX_SHOWN + 20)
#define DEPTH_MAX	64	/* of brackets that are remembered */

/* A bracket that is open. */
struct bracket {
	char is;
	unsigned int line;
	char name[NAME_MAX_SHOWN + 1];	/* of the setting; "" without one */
};

/* The brackets that are open where the scan stands. */
struct nesting {
	struct bracket open[DEPTH_MAX];
	size_t depth;		/* may be more than is remembered */
	char name[NAME_MAX_SHOWN + 1];	/* the word that was read last */
	size_t name_length;
	bool in_name;
	char stray;		/* a bracket that closes none or another; 0: none */
};

static char
closing(char opening)
{
	return opening == '{' ? '}' : opening == '[' ? ']' : ')';
}

/* NULL if none is open, or the innermost is too deep. */
static const struct bracket *
innermost(const struct nesting *n)
{
	return n->depth == 0 || n->depth > DEPTH_MAX ? NULL :
	    &n->open[n->depth - 1];
}

static void
open_bracket(struct nesting *n, char c, unsigned int line)
{
	struct bracket *bracket;

	if (n->depth++ >= DEPTH_MAX)
		return;
	bracket = &n->open[n->depth - 1];
	bracket->is = c;
	bracket->line = line;
	memcpy(bracket->name, n->name, sizeof(bracket->name));
}

static void
close_bracket(struct nesting *n, char c)
{
	const struct bracket *last = innermost(n);

	if (n->depth == 0 || (last != NULL && closing(last->is) != c))
		n->stray = c;
	else
		n->depth--;
}

static void
take_word(struct nesting *n, char c)
{
	if (!n->in_name)
		n->name_length = 0;
	n->in_name = true;
	if (n->name_length < NAME_MAX_SHOWN)
		n->name[n->name_length++] = c;
	n->name[n->name_length] = '\0';
}

/* One octet outside strings and comments. */
static void
take_octet(struct nesting *n, char c, unsigned int line)
{
	if (isalnum((unsigned char)c) || c == '_' || c == '-' || c == '*') {
		take_word(n, c);
		return;
	}
	n->in_name = false;
	if (c == '{' || c == '[' || c == '(')
		open_bracket(n, c, line);
	else if (c == '}' || c == ']' || c == ')')
		close_bracket(n, c);
	/* Only a name and its sign lead to the bracket behind them. */
	if (!isspace((unsigned char)c) && c != '=' && c != ':')
		n->name[0] = '\0';
}

/*
 * Scans up to the end of that line, or the first bracket that is wrong.
 * Returns the line where it stands.
 */
static unsigned int
scan_brackets(struct nesting *n, const char *text, unsigned int last_line)
{
	struct scan scan = { text, text + strlen(text), IN_SETTINGS, 1, 1,
		true };

	memset(n, 0, sizeof(*n));
	while (scan.pos < scan.end && scan.line <= last_line) {
		const char *at = scan.pos;
		const unsigned int line = scan.line;

		scan_step(&scan);
		if (scan.state == IN_SETTINGS && scan.pos == at + 1)
			take_octet(n, *at, line);
		if (n->stray != 0)
			return line;
	}
	return scan.line;
}

/* The first octet of the next line that says anything; NULL behind the last. */
static const char *
next_line(const char *at)
{
	for (;;) {
		at += strspn(at, " \t\r\n");
		if (*at == '\0')
			return NULL;
		if (*at != '#' && strncmp(at, "//", 2) != 0)
			return at;
		at += strcspn(at, "\n");
	}
}

/* 'the group "mesh"', "a list". */
static const char *
bracket_text(const struct bracket *bracket, char text[static CONFIG_SYNTAX_TEXT])
{
	const char *kind = bracket->is == '{' ? "group" : "list";

	if (bracket->name[0] != '\0')
		(void)snprintf(text, CONFIG_SYNTAX_TEXT, "the %s \"%s\"", kind,
		    bracket->name);
	else
		(void)snprintf(text, CONFIG_SYNTAX_TEXT, "a %s", kind);
	return text;
}

/* What follows that line. */
static const char *
line_behind(const char *text, unsigned int line)
{
	for (; line > 0 && *text != '\0'; line--) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return text;
}

/* What is wrong with the brackets up to that line, if that is what is wrong. */
static bool
explain_brackets(const char *path, const char *text, unsigned int line,
    struct diag *diag)
{
	char shown[CONFIG_SYNTAX_TEXT];
	const struct bracket *last;
	struct nesting n;
	unsigned int stopped = scan_brackets(&n, text, line);

	last = innermost(&n);
	if (n.stray != 0 && last == NULL) {
		diag_add(diag, DIAG_ERROR, path, stopped, "syntax error: a %c "
		    "stands here that closes nothing: take it away, or write "
		    "what it is to close", n.stray);
		return true;
	}
	if (last == NULL)
		return false;
	if (n.stray != 0)
		diag_add(diag, DIAG_ERROR, path, last->line, "syntax error: %s "
		    "that begins here with %c is not closed: line %u has %c "
		    "where it needs %c", bracket_text(last, shown), last->is,
		    stopped, n.stray, closing(last->is));
	else if (next_line(line_behind(text, line)) == NULL)
		diag_add(diag, DIAG_ERROR, path, last->line, "syntax error: %s "
		    "that begins here with %c is not closed: the file ends "
		    "without its %c", bracket_text(last, shown), last->is,
		    closing(last->is));
	else
		diag_add(diag, DIAG_ERROR, path, line, "syntax error in %s "
		    "that begins in line %u: %s", bracket_text(last, shown),
		    last->line, last->is == '{' ? "a setting is written NAME "
		    "= VALUE;" : "values stand in it with a comma between "
		    "them, and behind the last what closes it");
	return true;
}

void
config_syntax_explain(const char *path, const char *text, unsigned int line,
    const char *why, struct diag *diag)
{
	if (strstr(why, "duplicate") != NULL) {
		diag_add(diag, DIAG_ERROR, path, line, "%s; a group or option "
		    "stands here that is in the file already: make one of the "
		    "two", why);
		return;
	}
	if (!explain_brackets(path, text, line, diag))
		diag_add(diag, DIAG_ERROR, path, line, "%s; a setting is "
		    "written NAME = VALUE; (libconfig syntax, see "
		    "nfdnsd.conf(5))", why);
}
