/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Master files (RFC 1035 section 5): $ORIGIN, $TTL (RFC 2308 section 4),
 * $INCLUDE, $GENERATE as BIND has it, wildcards (RFC 4592), unknown types (RFC
 * 3597).  This code splits the text into entries, which gives every message its
 * line; ldns reads the records.
 *
 * A record that cannot be used is ignored with a warning.  A file that ends in
 * the middle of an entry is an error, and so is an included file that cannot be
 * read: half a zone must not replace a whole one.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <ldns/ldns.h>

#include "resolver/dns/rr.h"
#include "resolver/sources/source_file.h"
#include "resolver/sources/source_format.h"
#include "resolver/sources/zone_words.h"

/*
 * The entries of a master file (RFC 1035 section 5.1): lines without their
 * comments, those within parentheses joined.
 */

/* Longest entry, in octets: the limit of ldns. */
#define ZONE_ENTRY_MAX	65535

/* Start with text, end, .line = 1; borrows the text. */
struct zone_cursor {
	const char *at, *end;
	unsigned int line;	/* of at */
};

struct zone_entry {
	char *text;		/* ZONE_ENTRY_MAX + 1 octets of the caller's */
	size_t length;
	unsigned int line;	/* where it begins */
	const char *fault;	/* NULL, or what is wrong with it */
	bool cut_off;		/* and the text ends inside of it */
};

/* How deep files may include each other. */
#define MAX_DEPTH	8
/* How much of a hostile word a message shows. */
#define SHOWN		100
/* Records that $GENERATE may make of one source. */
#define GENERATE_MAX	1000000

/* State that an included file shares with its parent. */
struct zone {
	const struct source_text *text;
	struct builder *builder;	/* NULL: "take" takes the records */
	zone_record_take *take;
	void *to;			/* of it */
	struct diag *diag;
	struct zone_entry entry;
	ldns_rdf *previous;		/* owner of the record before */
	uint32_t ttl;			/* $TTL, or the record before's */
	bool ttl_given;			/* by $TTL */
	bool warned_origin;
	size_t records;
	unsigned int files;		/* included so far */
	size_t generated;		/* records, so far */
	int error;			/* of the builder, sticky */
	bool failed;			/* an error is in diag */
};

/* One of the files while it is read. */
struct zone_file {
	const char *path;
	struct zone_cursor cursor;
	struct dns_name origin;
	bool has_origin;
	ldns_rdf *origin_rdf;
	unsigned int depth;
};

#define WARN(z, file, ...) diag_add((z)->diag, DIAG_WARNING, (file)->path, \
	(z)->entry.line, __VA_ARGS__)
/* What is no record: for "take" that is an error. */
#define SKIP(z, file, format, ...) diag_add((z)->diag, (z)->builder != NULL ? \
	DIAG_WARNING : DIAG_ERROR, (file)->path, (z)->entry.line, \
	format "%s", ##__VA_ARGS__, (z)->builder != NULL ? ": ignored" : "")
#define FAIL(z, file, ...) do { \
	diag_add((z)->diag, DIAG_ERROR, (file)->path, (z)->entry.line, \
	    __VA_ARGS__); \
	(z)->failed = true; \
} while (0)

static void read_file(struct zone *z, struct zone_file *file);
static void read_generate(struct zone *z, const struct zone_file *file,
    const char *arguments);

/* Where in an entry the cursor stands. */
struct state {
	unsigned int depth;	/* of parentheses */
	bool quoted;
	bool ended;
};

static void
put(struct zone_entry *entry, char c)
{
	if (c == '\0')
		entry->fault = "holds a NUL octet";
	else if (entry->length == ZONE_ENTRY_MAX)
		entry->fault = "is longer than 64 KiB";
	else
		entry->text[entry->length++] = c;
}

static void
take_newline(struct zone_cursor *cursor, struct zone_entry *entry,
    struct state *state)
{
	cursor->line++;
	if (state->quoted)
		entry->fault = "has a '\"' without another on the same line";
	state->quoted = false;
	if (state->depth > 0)
		put(entry, ' ');
	else
		state->ended = true;
}

/* One octet, or two where the second is escaped. */
static void
take_text(struct zone_cursor *cursor, struct zone_entry *entry,
    struct state *state)
{
	char c = *cursor->at++;

	if (c == '\n') {
		take_newline(cursor, entry, state);
	} else if (c == '\\') {
		put(entry, c);
		if (cursor->at < cursor->end && *cursor->at != '\n')
			put(entry, *cursor->at++);
		else
			entry->fault = "has a '\\' at the end of a line";
	} else if (c == '"') {
		state->quoted = !state->quoted;
		put(entry, c);
	} else if (state->quoted) {
		put(entry, c);
	} else if (c == ';') {
		while (cursor->at < cursor->end && *cursor->at != '\n')
			cursor->at++;
	} else if (c == '(' || c == ')') {
		put(entry, ' ');
		if (c == '(')
			state->depth++;
		else if (state->depth > 0)
			state->depth--;
		else
			entry->fault = "has a ')' without a '('";
	} else {
		put(entry, c == '\t' || c == '\r' || c == '\f' ? ' ' : c);
	}
}

static void
read_entry(struct zone_cursor *cursor, struct zone_entry *entry)
{
	struct state state = { 0, false, false };

	entry->length = 0;
	entry->line = cursor->line;
	entry->fault = NULL;
	entry->cut_off = false;
	while (cursor->at < cursor->end && !state.ended)
		take_text(cursor, entry, &state);
	if (!state.ended && (state.quoted || state.depth > 0)) {
		entry->fault = state.quoted ? "has a '\"' without another" :
		    "has a '(' without a ')'";
		entry->cut_off = true;
	}
	/* But not a blank that is escaped. */
	while (entry->length > 0 && entry->text[entry->length - 1] == ' ' &&
	    (entry->length < 2 || entry->text[entry->length - 2] != '\\'))
		entry->length--;
	entry->text[entry->length] = '\0';
}

/*
 * The next entry that is not empty, NUL-terminated.  A blank at its front is
 * kept, blanks at its end are not.  False at the end of the text.  If the entry
 * has a fault, the cursor is behind it.
 */
static bool
zone_entry_next(struct zone_cursor *cursor, struct zone_entry *entry)
{
	while (cursor->at < cursor->end) {
		read_entry(cursor, entry);
		if (entry->length > 0 || entry->fault != NULL)
			return true;
	}
	return false;
}

/* Whether text ends with a dot that is not escaped. */
static bool
is_absolute(const char *text, size_t length)
{
	size_t backslashes = 0;

	if (length == 0 || text[length - 1] != '.')
		return false;
	while (backslashes < length - 1 &&
	    text[length - 2 - backslashes] == '\\')
		backslashes++;
	return backslashes % 2 == 0;
}

static bool
set_origin(struct zone *z, struct zone_file *file,
    const struct dns_name *origin)
{
	ldns_rdf *rdf = ldns_rdf_new_frm_data(LDNS_RDF_TYPE_DNAME,
	    origin->length, origin->octets);

	if (rdf == NULL) {
		z->error = -ENOMEM;
		return false;
	}
	ldns_rdf_deep_free(file->origin_rdf);
	file->origin_rdf = rdf;
	file->origin = *origin;
	return true;
}

/* Reads a name, relative to the origin of the file. */
static int
read_name(const struct zone_file *file, const char *text, size_t length,
    struct dns_name *name)
{
	int error = 0;

	*name = file->origin;
	if (length == 1 && text[0] == '@')
		return 0;
	error = name_from_text(name, text, length);
	if (error == 0 && !is_absolute(text, length))
		error = name_join(name, name, &file->origin);
	return error;
}

static void
read_origin(struct zone *z, struct zone_file *file, const char *arguments)
{
	const char *word;
	size_t length = zone_word(&arguments, &word);
	struct dns_name name;

	if (length == 0 || read_name(file, word, length, &name) != 0) {
		/* Else all relative names below it would be wrong. */
		FAIL(z, file, "$ORIGIN \"%.*s\" is not a valid domain name",
		    (int)(length < SHOWN ? length : SHOWN), word);
		return;
	}
	name_lower(&name);
	file->has_origin = set_origin(z, file, &name);
}

static void
read_ttl(struct zone *z, const struct zone_file *file, const char *arguments)
{
	const char *word;
	size_t length = zone_word(&arguments, &word);
	uint32_t ttl;

	if (!zone_ttl(word, length, &ttl)) {
		SKIP(z, file, "$TTL \"%.*s\" is not a number of seconds",
		    (int)(length < SHOWN ? length : SHOWN), word);
		return;
	}
	z->ttl = ttl;
	z->ttl_given = true;
}

static const char *
include_fault(int error)
{
	switch (error) {
	case -EXDEV:
		return "lies outside of the zone file's directory: move it"
		    " there";
	case -ENOENT:
		return "is not in the zone file's directory: write it, or take"
		    " the $INCLUDE out";
	default:
		return strerror(-error);
	}
}

static int
open_included(const struct zone *z, const char *name)
{
	const struct source_text *text = z->text;

	if (z->files == INCLUDE_MAX_FILES)
		return -EMFILE;
	if (text->broker == NULL)
		return include_open(text->path, name);
	return include_ask(*text->broker, text->number, name);
}

/* The path for messages: beside the source, unless it is absolute. */
static char *
included_path(const struct zone *z, const char *name)
{
	const char *source = z->text->path, *slash = strrchr(source, '/');
	char *path = NULL;

	if (name[0] == '/' || slash == NULL)
		return strdup(name);
	return asprintf(&path, "%.*s/%s", (int)(slash - source), source,
	    name) < 0 ? NULL : path;
}

/*
 * Reads the file open as fd in place of the $INCLUDE.  Afterwards origin and
 * owner are restored.
 */
static void
read_included(struct zone *z, const struct zone_file *parent, const char *path,
    int fd, const struct dns_name *origin)
{
	struct zone_file file = { .path = path, .depth = parent->depth + 1,
		.has_origin = parent->has_origin };
	ldns_rdf *previous = z->previous;
	size_t length = 0;
	char *data = source_file_read(path, fd, &length, z->diag);
	int number = 0;

	if (data == NULL) {
		z->failed = true;
		return;
	}
	if (z->builder != NULL) {
		builder_allow(z->builder, length);
		number = builder_file_add(z->builder, path);
	}
	if (number < 0) {
		z->error = number;
	} else if (set_origin(z, &file, origin)) {
		if (z->builder != NULL)
			builder_file_set(z->builder, (unsigned int)number);
		z->previous = NULL;
		file.cursor = (struct zone_cursor){ data, data + length, 1 };
		read_file(z, &file);
		ldns_rdf_deep_free(z->previous);
		z->previous = previous;
	}
	ldns_rdf_deep_free(file.origin_rdf);
	free(data);
}

static void
read_include(struct zone *z, const struct zone_file *file,
    unsigned int number, const char *arguments)
{
	const char *word, *origin_word;
	size_t length = zone_word(&arguments, &word);
	size_t origin_length = zone_word(&arguments, &origin_word);
	struct dns_name origin = file->origin;
	char *name = strndup(word, length), *path = NULL;
	int fd = -1;

	if (name != NULL)
		path = included_path(z, name);
	if (path == NULL) {
		z->error = -ENOMEM;
	} else if (length == 0 || length > INCLUDE_MAX_NAME) {
		FAIL(z, file, "$INCLUDE needs the name of a file");
	} else if (file->depth == MAX_DEPTH) {
		FAIL(z, file, "$INCLUDE is %d deep: does the file include"
		    " itself?", MAX_DEPTH);
	} else if (origin_length > 0 && read_name(file, origin_word,
	    origin_length, &origin) != 0) {
		FAIL(z, file, "the origin of $INCLUDE is not a valid domain name");
	} else if ((fd = open_included(z, name)) < 0) {
		FAIL(z, file, "$INCLUDE: %s %s", path, fd == -EMFILE ?
		    "is one file too many" : include_fault(fd));
	} else {
		z->files++;
		name_lower(&origin);
		read_included(z, file, path, fd, &origin);
		if (z->builder != NULL)
			builder_file_set(z->builder, number);
	}
	if (fd >= 0)
		(void)close(fd);
	free(path);
	free(name);
}

/* An entry that begins with '$'. */
static void
read_directive(struct zone *z, struct zone_file *file, unsigned int number)
{
	const char *at = z->entry.text, *word;
	size_t length = zone_word(&at, &word);

	if (length == 7 && strncasecmp(word, "$ORIGIN", length) == 0)
		read_origin(z, file, at);
	else if (length == 4 && strncasecmp(word, "$TTL", length) == 0)
		read_ttl(z, file, at);
	else if (length == 8 && strncasecmp(word, "$INCLUDE", length) == 0)
		read_include(z, file, number, at);
	else if (length == 9 && strncasecmp(word, "$GENERATE", length) == 0)
		read_generate(z, file, at);
	else
		SKIP(z, file, "%.*s is not known here (but $ORIGIN, $TTL,"
		    " $INCLUDE and $GENERATE are)",
		    (int)(length < SHOWN ? length : SHOWN), word);
}

/* The record's data, uncompressed.  False if there is too much of it. */
static bool
rdata_of(const ldns_rr *rr, uint8_t octets[static UINT16_MAX],
    uint16_t *length)
{
	size_t used = 0;

	for (size_t i = 0; i < ldns_rr_rd_count(rr); i++) {
		const ldns_rdf *rdf = ldns_rr_rdf(rr, i);
		size_t size = rdf != NULL ? ldns_rdf_size(rdf) : 0;

		if (size > UINT16_MAX - used)
			return false;
		if (size > 0)
			memcpy(octets + used, ldns_rdf_data(rdf), size);
		used += size;
	}
	*length = (uint16_t)used;
	return true;
}

static void
add_record(struct zone *z, const struct zone_file *file, const ldns_rr *rr,
    uint32_t ttl)
{
	const ldns_rdf *owner = ldns_rr_owner(rr);
	uint16_t type = (uint16_t)ldns_rr_get_type(rr), length;
	uint8_t rdata[UINT16_MAX];
	char text[RR_TEXT_SIZE];
	struct dns_name name;
	int outcome;

	/* Types that no zone holds: RFC 6895 section 3.1, and OPT. */
	if (type == 0 || type == TYPE_OPT || (type >= 128 && type <= 255)) {
		SKIP(z, file, "%s is not a type of records",
		    rr_type_text(type, text));
		return;
	}
	if (owner == NULL || name_read_lower(&name, ldns_rdf_data(owner),
	    ldns_rdf_size(owner)) != 0) {
		SKIP(z, file, "the owner is not a valid domain name");
		return;
	}
	if (!rdata_of(rr, rdata, &length))
		outcome = -EINVAL;
	else if (z->builder == NULL)
		outcome = z->take(z->to, &(struct zone_record){ &name, type,
		    ttl, rdata, length, file->path, z->entry.line });
	else
		outcome = builder_add(z->builder, &name, NAME_OWNED |
		    NAME_CLOSEST, type, ttl, rdata, length, z->entry.line);
	if (outcome == -EINVAL)
		SKIP(z, file, "not valid data of type %s",
		    rr_type_text(type, text));
	else if (outcome < 0)
		z->error = outcome;
	else
		z->records++;
}

/* Relative names need an origin. */
static void
check_origin(struct zone *z, const struct zone_file *file)
{
	const char *text = z->entry.text;
	size_t length = strcspn(text, " ");

	if (file->has_origin || z->warned_origin || length == 0 ||
	    is_absolute(text, length))
		return;
	z->warned_origin = true;
	WARN(z, file, "\"%.*s\" has no final dot and there is no origin: taken"
	    " as a whole name; write $ORIGIN or give the table an origin",
	    (int)(length < SHOWN ? length : SHOWN), text);
}

/*
 * WKS, which no program asks for (RFC 1123 section 2.2), names protocols and
 * services: ldns would ask this machine for their numbers.
 */
static bool
is_wks(const struct zone_front *front)
{
	return (front->type_length == 3 &&
	    strncasecmp(front->type, "WKS", 3) == 0) ||
	    (front->type_length == 6 &&
	    strncasecmp(front->type, "TYPE11", 6) == 0);
}

/* RFC 1035 has no rule for a first record without a TTL: it gets the mesh's. */
static uint32_t
ttl_of(struct zone *z, const struct zone_front *front)
{
	if (front->has_ttl && !z->ttl_given)
		z->ttl = front->ttl;
	return front->has_ttl ? front->ttl : z->ttl;
}

/* False: the entry is no record. */
static bool
read_record(struct zone *z, const struct zone_file *file)
{
	struct zone_front front;
	ldns_rr *rr = NULL;
	ldns_status status;

	if (z->entry.text[0] == ' ' && z->previous == NULL) {
		SKIP(z, file, "a record without an owner, and none before it");
		return false;
	}
	zone_front_take(&front, z->entry.text);
	if (front.fault != NULL || is_wks(&front)) {
		SKIP(z, file, "%s", front.fault != NULL ? front.fault :
		    "a record of type WKS");
		return false;
	}
	check_origin(z, file);
	status = ldns_rr_new_frm_str(&rr, z->entry.text, 0,
	    file->origin_rdf, &z->previous);
	if (status == LDNS_STATUS_MEM_ERR)
		z->error = -ENOMEM;
	else if (status != LDNS_STATUS_OK || rr == NULL)
		SKIP(z, file, "no record of a zone (%s)",
		    ldns_get_errorstr_by_id(status));
	else
		add_record(z, file, rr, ttl_of(z, &front));
	ldns_rr_free(rr);
	return status == LDNS_STATUS_OK;
}

/* One record for each number of the range; the first that is none ends it. */
static void
generate(struct zone *z, const struct zone_file *file,
    const struct zone_range *range, const char *template)
{
	bool good = true;

	for (uint64_t n = range->first; n <= range->last && good &&
	    z->error == 0; n += range->step) {
		if (++z->generated > GENERATE_MAX) {
			FAIL(z, file, "$GENERATE makes more than %d records",
			    GENERATE_MAX);
			return;
		}
		z->entry.length = zone_generate(template, (uint32_t)n,
		    z->entry.text, ZONE_ENTRY_MAX + 1);
		if (z->entry.length == 0) {
			SKIP(z, file, "$GENERATE: for number %u, no valid"
			    " text", (unsigned int)n);
			return;
		}
		good = read_record(z, file);
	}
}

static void
read_generate(struct zone *z, const struct zone_file *file,
    const char *arguments)
{
	const char *word;
	size_t length = zone_word(&arguments, &word);
	struct zone_range range;
	char *template;

	if (!zone_range_read(&range, word, length)) {
		SKIP(z, file, "$GENERATE \"%.*s\" is not a range such as 1-100 or"
		    " 0-254/2", (int)(length < SHOWN ? length : SHOWN), word);
		return;
	}
	template = strdup(arguments + strspn(arguments, " "));
	if (template == NULL)
		z->error = -ENOMEM;
	else
		generate(z, file, &range, template);
	free(template);
}

static void
read_file(struct zone *z, struct zone_file *file)
{
	/* Which of the builder's files it is: z->entry is another's later. */
	unsigned int number = z->builder != NULL ? builder_file(z->builder) :
	    0;

	while (z->error == 0 && !z->failed &&
	    zone_entry_next(&file->cursor, &z->entry)) {
		if (z->entry.cut_off)
			FAIL(z, file, "the entry %s: the file is cut off",
			    z->entry.fault);
		else if (z->entry.fault != NULL)
			SKIP(z, file, "the entry %s", z->entry.fault);
		else if (z->entry.text[0] == '$')
			read_directive(z, file, number);
		else
			(void)read_record(z, file);
	}
}

/* Reads the text from its begin to its end. */
static int
read_text(struct zone *z, const struct dns_name *origin, bool has_origin)
{
	const struct source_text *text = z->text;
	struct zone_file file = {
		.path = text->path,
		.cursor = { text->data, text->data + text->length, 1 },
		.has_origin = has_origin,
	};

	z->entry.text = malloc(ZONE_ENTRY_MAX + 1);
	if (z->entry.text == NULL)
		return -ENOMEM;
	if (set_origin(z, &file, origin))
		read_file(z, &file);
	ldns_rdf_deep_free(file.origin_rdf);
	ldns_rdf_deep_free(z->previous);
	free(z->entry.text);
	return z->error;
}

int
source_zone_read(const struct source_text *text, struct builder *b,
    struct diag *diag)
{
	const char *origin = text->source != NULL ? text->source->origin : NULL;
	size_t warnings = diag->warnings;
	struct dns_name name = { .length = 1 };
	struct zone z = { .text = text, .builder = b, .diag = diag,
		.ttl = source_ttl(text) };
	int error;

	if (origin != NULL &&
	    name_from_text(&name, origin, strlen(origin)) != 0) {
		diag_add(diag, DIAG_ERROR, text->path, 0, "its origin is not a"
		    " valid domain name");
		return 0;
	}
	name_lower(&name);
	error = read_text(&z, &name, origin != NULL);
	if (error == 0 && !z.failed && z.records == 0 &&
	    diag->warnings > warnings)
		diag_add(diag, DIAG_ERROR, text->path, 0, "holds no record that"
		    " can be used: is it a zone file?");
	return error;
}

int
zone_records_read(const struct source_text *text, const struct dns_name *origin,
    uint32_t ttl, zone_record_take *take, void *to, struct diag *diag)
{
	struct zone z = { .text = text, .diag = diag, .ttl = ttl,
		.take = take, .to = to };

	return read_text(&z, origin, true);
}
