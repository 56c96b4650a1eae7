/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/listing/table_diff.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/dns/rr.h"
#include "resolver/listing/table_list.h"
#include "resolver/listing/table_print.h"
#include "resolver/text/json_write.h"

/* One of the two tables and a name in it; NULL: it lacks the name. */
struct side {
	const struct table *table;
	const struct table_listed *name;
};

/* The records of a name as sorted lines. */
struct lines {
	char *text;
	char **lines;
	size_t count;
};

typedef int print_change(const struct side *before, const struct side *after,
    FILE *out);

static int
compare_lines(const void *a, const void *b)
{
	char *const *left = a, *const *right = b;

	return strcmp(*left, *right);
}

static void
lines_free(struct lines *l)
{
	free(l->text);
	free(l->lines);
}

/* Cuts the text into its lines. */
static int
split(struct lines *l)
{
	char *line = l->text, *end;
	size_t count = 0;

	for (const char *p = l->text; *p != '\0'; p++)
		count += *p == '\n';
	l->lines = calloc(count + 1, sizeof(*l->lines));
	if (l->lines == NULL)
		return -ENOMEM;
	for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		l->lines[l->count++] = line;
	}
	qsort(l->lines, l->count, sizeof(*l->lines), compare_lines);
	return 0;
}

/* "marks": with the lines about the name itself, for a changed name. */
static int
lines_make(struct lines *l, const struct side *side, bool marks)
{
	size_t size;
	FILE *out;
	int error;

	*l = (struct lines){ .count = 0 };
	if (side->name == NULL)
		return 0;
	out = open_memstream(&l->text, &size);
	if (out == NULL)
		return -ENOMEM;
	if (marks && side->name->flags & NAME_OWNED)
		fprintf(out, "%s\t; owned by the mesh\n", side->name->name);
	error = table_print_records(side->table, side->name->node, TYPE_ANY,
	    side->name->name, out);
	if (fclose(out) != 0 || error < 0)
		return -ENOMEM;
	return split(l);
}

/* Whether sorted lines differ; prints the differences if out is given. */
static bool
print_lines(const struct lines *before, const struct lines *after, FILE *out)
{
	size_t a = 0, b = 0;
	bool any = false;

	while (a < before->count || b < after->count) {
		int order = a == before->count ? 1 : b == after->count ? -1 :
		    strcmp(before->lines[a], after->lines[b]);

		if (out == NULL && order != 0)
			return true;
		if (order < 0)
			fprintf(out, "-%s\n", before->lines[a]);
		else if (order > 0)
			fprintf(out, "+%s\n", after->lines[b]);
		any |= order != 0;
		a += order <= 0;
		b += order >= 0;
	}
	return any;
}

/* 1 if they differ, 0 if not, or -ENOMEM. */
static int
print_text(const struct side *before, const struct side *after, FILE *out)
{
	bool both = before->name != NULL && after->name != NULL;
	bool marks = both && before->name->flags != after->name->flags;
	struct lines a, b = { .count = 0 };
	int outcome = lines_make(&a, before, marks);

	if (outcome == 0)
		outcome = lines_make(&b, after, marks);
	if (outcome == 0)
		outcome = print_lines(&a, &b, out);
	lines_free(&a);
	lines_free(&b);
	return outcome;
}

/* Whether both have the same records in the same order. */
static bool
same_rrset(const struct rrset *a, const struct rrset *b)
{
	const uint8_t *data = NULL, *other = NULL;
	uint32_t i = 0, k = 0;
	size_t length = 0, other_length = 0;

	if (a->type != b->type || a->count != b->count || a->ttl != b->ttl)
		return false;
	while (table_next_record(a, &i, &data, &length) &&
	    table_next_record(b, &k, &other, &other_length)) {
		if (length != other_length || memcmp(data, other, length) != 0)
			return false;
	}
	return true;
}

static bool
same_records(const struct side *a, const struct side *b)
{
	struct rrset one, other;
	bool has_one, has_other;

	for (size_t i = 0;; i++) {
		has_one = table_rrset_at(a->table, a->name->node, i, &one);
		has_other = table_rrset_at(b->table, b->name->node, i, &other);
		if (!has_one || !has_other)
			return has_one == has_other;
		if (!same_rrset(&one, &other))
			return false;
	}
}

static void
describe(const struct side *side, const char *key, struct json_write *w)
{
	if (side->name == NULL)
		return;
	json_write_open(w, key, '{');
	table_describe(side->table, side->name->node, side->name->flags,
	    TYPE_ANY, w);
	json_write_close(w, '}');
}

static int
print_json(const struct side *before, const struct side *after, FILE *out)
{
	const struct table_listed *name = before->name != NULL ?
	    before->name : after->name;
	struct json_write w = { .out = out };
	int error;

	assert(name != NULL);
	/* Another order is not a difference: compare the sorted texts. */
	error = print_text(before, after, NULL);
	if (error <= 0)
		return error;
	json_write_open(&w, NULL, '{');
	json_write_text(&w, "name", name->name);
	json_write_text(&w, "change", before->name == NULL ? "added" :
	    after->name == NULL ? "removed" : "changed");
	describe(before, "before", &w);
	describe(after, "after", &w);
	json_write_close(&w, '}');
	error = json_write_end(&w);
	return error == 0 ? 1 : error;
}

/* Walks both sorted lists at once. */
static int
walk(const struct side *before, const struct table_list *a,
    const struct side *after, const struct table_list *b,
    print_change *print, FILE *out)
{
	int count = 0;

	for (size_t i = 0, k = 0; (i < a->count || k < b->count) &&
	    !ferror(out);) {
		int order = i == a->count ? 1 : k == b->count ? -1 :
		    strcmp(a->names[i].name, b->names[k].name);
		struct side left = { before->table,
			order <= 0 ? &a->names[i++] : NULL };
		struct side right = { after->table,
			order >= 0 ? &b->names[k++] : NULL };
		int outcome;

		if (order == 0 && left.name->flags == right.name->flags &&
		    same_records(&left, &right))
			continue;
		outcome = print(&left, &right, out);
		if (outcome < 0)
			return outcome;
		if (count < INT_MAX)
			count += outcome;
	}
	return count;
}

static int
diff(const struct table *before, const struct table *after,
    print_change *print, FILE *out)
{
	struct table_list a = { .count = 0 }, b = { .count = 0 };
	int outcome = table_list_make(&a, before);

	if (outcome == 0)
		outcome = table_list_make(&b, after);
	if (outcome == 0)
		outcome = walk(&(struct side){ .table = before }, &a,
		    &(struct side){ .table = after }, &b, print, out);
	table_list_free(&a);
	table_list_free(&b);
	return outcome;
}

int
table_diff_print(const struct table *before, const struct table *after,
    FILE *out)
{
	return diff(before, after, print_text, out);
}

int
table_diff_print_json(const struct table *before, const struct table *after,
    FILE *out)
{
	return diff(before, after, print_json, out);
}
