/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/join/edit.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN_FORMAT	"/* nfdns join %s */ "
#define END_FORMAT	" /* end of nfdns join %s */"

/* What a position means; words and strings are one token each. */
enum token_kind {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_STRING,
	TOKEN_OPEN,			/* ( [ { */
	TOKEN_CLOSE,
	TOKEN_ASSIGN,			/* = : */
	TOKEN_COMMA,
	TOKEN_OTHER,
};

struct token {
	enum token_kind kind;
	size_t begin, end;
};

struct scan {
	const char *text;
	size_t length, at;
};

/* libconfig's comments: # and // to the end of the line, and those of C. */
static size_t
skip_comment(const struct scan *s, size_t at)
{
	const char *const begin = s->text + at;
	const size_t left = s->length - at;
	const char *end;

	if (*begin == '#' || (left >= 2 && memcmp(begin, "//", 2) == 0)) {
		end = memchr(begin, '\n', left);
		return end != NULL ? (size_t)(end - s->text) : s->length;
	}
	if (left < 2 || memcmp(begin, "/*", 2) != 0)
		return at;
	end = memmem(begin + 2, left - 2, "*/", 2);
	return end != NULL ? (size_t)(end + 2 - s->text) : s->length;
}

static void
skip_blank(struct scan *s)
{
	while (s->at < s->length) {
		const size_t before = s->at;

		while (s->at < s->length &&
		    isspace((unsigned char)s->text[s->at]))
			s->at++;
		if (s->at < s->length)
			s->at = skip_comment(s, s->at);
		if (s->at == before)
			return;
	}
}

static size_t
string_end(const struct scan *s, size_t at)
{
	for (at++; at < s->length; at++) {
		if (s->text[at] == '\\')
			at++;
		else if (s->text[at] == '"')
			return at + 1;
	}
	return s->length;
}

/* libconfig's names: letters, digits, '-', '_' and '*'. */
static size_t
word_end(const struct scan *s, size_t at)
{
	while (at < s->length && (isalnum((unsigned char)s->text[at]) ||
	    (s->text[at] != '\0' && strchr("-_*.+", s->text[at]) != NULL)))
		at++;
	return at;
}

static struct token
next_token(struct scan *s)
{
	static const struct {
		char c;
		enum token_kind kind;
	} signs[] = {
		{ '(', TOKEN_OPEN }, { '[', TOKEN_OPEN }, { '{', TOKEN_OPEN },
		{ ')', TOKEN_CLOSE }, { ']', TOKEN_CLOSE },
		{ '}', TOKEN_CLOSE }, { '=', TOKEN_ASSIGN },
		{ ':', TOKEN_ASSIGN }, { ',', TOKEN_COMMA },
	};
	struct token t = { .kind = TOKEN_END };

	skip_blank(s);
	t.begin = t.end = s->at;
	if (s->at == s->length)
		return t;
	t.kind = TOKEN_OTHER;
	t.end = word_end(s, s->at);
	if (t.end > t.begin) {
		t.kind = TOKEN_WORD;
	} else if (s->text[s->at] == '"') {
		t.kind = TOKEN_STRING;
		t.end = string_end(s, s->at);
	} else {
		t.end = s->at + 1;
		for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
			if (signs[i].c == s->text[s->at])
				t.kind = signs[i].kind;
	}
	s->at = t.end;
	return t;
}

/*
 * From inside a group (or the file): goes behind the '=' of the setting of that
 * name.  False if there is none; then *close is where the group ends.
 */
static bool
find_setting(struct scan *s, const char *name, struct token *close)
{
	const size_t length = strlen(name);
	unsigned int depth = 0;
	struct token t;

	for (t = next_token(s); t.kind != TOKEN_END; t = next_token(s)) {
		if (t.kind == TOKEN_OPEN)
			depth++;
		else if (t.kind == TOKEN_CLOSE && depth-- == 0)
			break;
		if (depth > 0 || t.kind != TOKEN_WORD ||
		    t.end - t.begin != length ||
		    memcmp(s->text + t.begin, name, length) != 0)
			continue;
		if (next_token(s).kind == TOKEN_ASSIGN)
			return true;
	}
	*close = t;
	return false;
}

/* The bracket that opens a value of the wanted sort comes next. */
static bool
enter(struct scan *s, char bracket)
{
	const struct token t = next_token(s);

	return t.kind == TOKEN_OPEN && s->text[t.begin] == bracket;
}

bool
edit_has(const struct edit *edit, const char *group, const char *name)
{
	struct scan s = { edit->text, edit->length, 0 };
	struct token close;

	return find_setting(&s, group, &close) && enter(&s, '{') &&
	    find_setting(&s, name, &close);
}

static int
insert(struct edit *edit, size_t at, const char *piece, size_t length)
{
	char *grown = realloc(edit->text, edit->length + length);

	if (grown == NULL)
		return -ENOMEM;
	memmove(grown + at + length, grown + at, edit->length - at);
	memcpy(grown + at, piece, length);
	edit->text = grown;
	edit->length += length;
	return 0;
}

/* Puts BEFORE BEGIN content END AFTER at that position. */
static int
insert_marked(struct edit *edit, size_t at, const char *before,
    const char *content, const char *after, const char *mark)
{
	char *piece;
	int error, length;

	length = asprintf(&piece, "%s" BEGIN_FORMAT "%s" END_FORMAT "%s",
	    before, mark, content, mark, after);
	if (length < 0)
		return -ENOMEM;
	error = insert(edit, at, piece, (size_t)length);
	free(piece);
	return error;
}

/* Where the line begins, if only blanks are before "at"; else "at". */
static size_t
line_begin(const struct edit *edit, size_t at)
{
	size_t begin = at;

	while (begin > 0 && (edit->text[begin - 1] == ' ' ||
	    edit->text[begin - 1] == '\t'))
		begin--;
	return begin == 0 || edit->text[begin - 1] == '\n' ? begin : at;
}

/* Before the bracket that ends a list. */
static int
insert_before(struct edit *edit, size_t close, const char *content,
    const char *mark)
{
	const size_t begin = line_begin(edit, close);
	char *indent;
	int error;

	if (begin == close && (close == 0 || edit->text[close - 1] != '\n'))
		return insert_marked(edit, close, "", content, " ", mark);
	indent = strndup(edit->text + begin, close - begin);
	if (indent == NULL)
		return -ENOMEM;
	/* A line of its own, one step further in than the bracket. */
	error = insert_marked(edit, begin, "\t", content, "\n", mark);
	if (error == 0)
		error = insert(edit, begin, indent, close - begin);
	free(indent);
	return error;
}

/* Behind the bracket that begins a group. */
static int
insert_behind(struct edit *edit, size_t open, const char *content,
    const char *mark)
{
	size_t at = open;

	while (at < edit->length && (edit->text[at] == ' ' ||
	    edit->text[at] == '\t'))
		at++;
	if (at < edit->length && edit->text[at] == '\n')
		return insert_marked(edit, at + 1, "\t", content, "\n", mark);
	return insert_marked(edit, at, "", content, " ", mark);
}

static int
insert_at_end(struct edit *edit, const char *content, const char *mark)
{
	const bool whole = edit->length == 0 ||
	    edit->text[edit->length - 1] == '\n';

	return insert_marked(edit, edit->length, whole ? "" : "\n", content,
	    "\n", mark);
}

int
edit_add_setting(struct edit *edit, const char *group, const char *setting,
    const char *mark)
{
	struct scan s = { edit->text, edit->length, 0 };
	struct token close;
	char *whole;
	int error;

	if (group == NULL)
		return insert_at_end(edit, setting, mark);
	if (find_setting(&s, group, &close))
		return enter(&s, '{') ?
		    insert_behind(edit, s.at, setting, mark) : -EINVAL;
	if (close.kind != TOKEN_END)
		return -EINVAL;
	if (asprintf(&whole, "%s = { %s };", group, setting) < 0)
		return -ENOMEM;
	error = insert_at_end(edit, whole, mark);
	free(whole);
	return error;
}

/* Goes to the bracket that ends a list; whether a comma must be put before it. */
static bool
find_close(struct scan *s, struct token *close, bool *comma)
{
	enum token_kind last = TOKEN_COMMA;
	unsigned int depth = 0;
	struct token t;

	for (t = next_token(s); t.kind != TOKEN_END; t = next_token(s)) {
		if (t.kind == TOKEN_CLOSE && depth-- == 0)
			break;
		if (t.kind == TOKEN_OPEN)
			depth++;
		last = t.kind;
	}
	*close = t;
	*comma = last != TOKEN_COMMA;
	return t.kind == TOKEN_CLOSE && s->text[t.begin] == ')';
}

/* Adds the list itself, with the item in it. */
static int
add_list(struct edit *edit, const char *group, const char *list,
    const char *item, const char *mark)
{
	char *setting;
	int error;

	if (asprintf(&setting, "%s = ( %s );", list, item) < 0)
		return -ENOMEM;
	error = edit_add_setting(edit, group, setting, mark);
	free(setting);
	return error;
}

int
edit_add_item(struct edit *edit, const char *group, const char *list,
    const char *item, const char *mark)
{
	struct scan s = { edit->text, edit->length, 0 };
	struct token close;
	char *content;
	bool comma;
	int error;

	if (group != NULL) {
		if (!find_setting(&s, group, &close))
			return close.kind != TOKEN_END ? -EINVAL :
			    add_list(edit, group, list, item, mark);
		if (!enter(&s, '{'))
			return -EINVAL;
	}
	if (!find_setting(&s, list, &close))
		return add_list(edit, group, list, item, mark);
	if (!enter(&s, '(') || !find_close(&s, &close, &comma))
		return -EINVAL;
	if (asprintf(&content, "%s%s", comma ? ", " : "", item) < 0)
		return -ENOMEM;
	error = insert_before(edit, close.begin, content, mark);
	free(content);
	return error;
}

static void
erase(struct edit *edit, size_t begin, size_t end)
{
	memmove(edit->text + begin, edit->text + end, edit->length - end);
	edit->length -= end - begin;
}

/* A comma that now begins a list, since the item before it is gone. */
static void
erase_comma(struct edit *edit, size_t at)
{
	struct scan s = { edit->text, edit->length, 0 };
	struct token before = { .kind = TOKEN_END }, t = next_token(&s);

	for (; t.kind != TOKEN_END && t.begin < at; t = next_token(&s))
		before = t;
	if (before.kind == TOKEN_OPEN && t.kind == TOKEN_COMMA)
		erase(edit, t.begin, t.begin < edit->length - 1 &&
		    edit->text[t.end] == ' ' ? t.end + 1 : t.end);
}

/* The piece from "begin" on, with the line or the blank that is its own. */
static void
cut(struct edit *edit, size_t begin, size_t end)
{
	const size_t line = line_begin(edit, begin);
	const bool alone = (line != begin || begin == 0 ||
	    edit->text[begin - 1] == '\n') && end < edit->length &&
	    edit->text[end] == '\n';

	if (alone)
		begin = line;
	if (end < edit->length && (alone || edit->text[end] == ' '))
		end++;
	erase(edit, begin, end);
	erase_comma(edit, begin);
}

/*
 * Behind the mark that ends the piece at "begin", in which there may be others:
 * a setting in a group that was added, too.  NULL if there is none.
 */
static const char *
piece_end(const struct edit *edit, const char *begin, const char *begin_mark,
    const char *end_mark)
{
	const char *const stop = edit->text + edit->length;
	const size_t begin_length = strlen(begin_mark);
	const size_t end_length = strlen(end_mark);
	const char *at = begin + begin_length;

	for (unsigned int depth = 1; depth > 0;) {
		const char *end = memmem(at, (size_t)(stop - at), end_mark,
		    end_length);
		const char *inner = end == NULL ? NULL : memmem(at,
		    (size_t)(end - at), begin_mark, begin_length);

		if (end == NULL)
			return NULL;
		if (inner != NULL)
			depth++;
		else
			depth--;
		at = inner != NULL ? inner + begin_length : end + end_length;
	}
	return at;
}

/* Takes out the first piece; 1, 0 if there is none, or a negative errno. */
static int
remove_one(struct edit *edit, const char *begin_mark, const char *end_mark)
{
	const char *begin = memmem(edit->text, edit->length, begin_mark,
	    strlen(begin_mark));
	const char *end;

	if (begin == NULL)
		return 0;
	end = piece_end(edit, begin, begin_mark, end_mark);
	if (end == NULL)
		return -EINVAL;
	cut(edit, (size_t)(begin - edit->text), (size_t)(end - edit->text));
	return 1;
}

int
edit_remove(struct edit *edit, const char *mark)
{
	struct edit copy = { .text = NULL };
	char *begin = NULL, *end = NULL;
	int found = 0, result = -ENOMEM;

	if (asprintf(&begin, BEGIN_FORMAT, mark) < 0)
		begin = NULL;
	if (asprintf(&end, END_FORMAT, mark) < 0)
		end = NULL;
	if (begin != NULL && end != NULL)
		result = edit_start(&copy, edit->text, edit->length);
	for (int one = 1; result == 0 && one > 0; found += one) {
		one = remove_one(&copy, begin, end);
		if (one < 0) {
			result = one;
			break;
		}
	}
	if (result == 0) {
		edit_free(edit);
		*edit = copy;
	} else {
		edit_free(&copy);
	}
	free(begin);
	free(end);
	return result == 0 ? found : result;
}

int
edit_start(struct edit *edit, const char *text, size_t length)
{
	edit->text = malloc(length + 1);
	if (edit->text == NULL)
		return -ENOMEM;
	memcpy(edit->text, text, length);
	edit->length = length;
	return 0;
}

void
edit_free(struct edit *edit)
{
	free(edit->text);
	*edit = (struct edit){ .text = NULL };
}
