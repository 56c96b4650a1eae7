/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The settings and tables of a scenario. */
#include "tests/scenarios/scenario.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "resolver/compile/source_files.h"

/* A source format of the tests' own: "[owned] RECORD" a line. */

static int
add_record(struct builder *b, const ldns_rr *rr, uint8_t flags,
    unsigned int line)
{
	const ldns_rdf *owner = ldns_rr_owner(rr);
	struct dns_name name;
	uint8_t rdata[1024];
	size_t length = 0, i;

	if (name_read_lower(&name, ldns_rdf_data(owner),
	    ldns_rdf_size(owner)) != 0)
		return -EINVAL;
	for (i = 0; i < ldns_rr_rd_count(rr); i++) {
		const ldns_rdf *field = ldns_rr_rdf(rr, i);

		if (length + ldns_rdf_size(field) > sizeof(rdata))
			return -EINVAL;
		memcpy(rdata + length, ldns_rdf_data(field),
		    ldns_rdf_size(field));
		length += ldns_rdf_size(field);
	}
	return builder_add(b, &name, flags, (uint16_t)ldns_rr_get_type(rr),
	    ldns_rr_ttl(rr), rdata, (uint16_t)length, line);
}

static int
read_records(const struct source_text *text, struct builder *b,
    struct diag *diag)
{
	char *copy = strndup(text->data, text->length), *rest = copy, *line;
	unsigned int number = 0;

	while (copy != NULL && (line = strsep(&rest, "\n")) != NULL) {
		uint8_t flags = 0;
		ldns_rr *rr = NULL;

		number++;
		line += strspn(line, " \t");
		if (*line == '\0')
			continue;
		if (strncmp(line, "owned ", 6) == 0) {
			flags = NAME_OWNED;
			line += 6;
		}
		if (ldns_rr_new_frm_str(&rr, line, 0, NULL, NULL) !=
		    LDNS_STATUS_OK || add_record(b, rr, flags, number) < 0)
			diag_add(diag, DIAG_ERROR, text->path, number,
			    "no record: %s", line);
		ldns_rr_free(rr);
	}
	free(copy);
	return copy != NULL ? 0 : -ENOMEM;
}

static const struct source_format records_format = {
	.name = "records", .read = read_records,
};

static bool
take_name(struct scenario *s, struct dns_name *name, const char *text)
{
	if (text == NULL || name_from_text(name, text, strlen(text)) != 0) {
		scenario_complain(s, s->line, "no domain name: %s", text ? text : "");
		return false;
	}
	name_lower(name);
	return true;
}

void
scenario_set_domain(struct scenario *s, char *rest)
{
	(void)take_name(s, &s->mesh.domain, scenario_word(&rest));
}

void
scenario_set_namespace(struct scenario *s, char *rest)
{
	const char *name = scenario_word(&rest);

	free(s->mesh.namespace);
	s->mesh.namespace = strdup(name != NULL ? name : "");
}

void
scenario_set_search(struct scenario *s, char *rest)
{
	char *name;

	while ((name = scenario_word(&rest)) != NULL &&
	    s->mesh.search_count < MESH_MAX_SEARCH) {
		if (take_name(s, &s->mesh.search[s->mesh.search_count], name))
			s->mesh.search_count++;
	}
}

void
scenario_set_zone(struct scenario *s, char *rest)
{
	struct mesh_zone *zone = &s->mesh.zones[s->mesh.zone_count++];
	const char *unknown;

	if (!take_name(s, &zone->name, scenario_word(&rest)))
		return;
	unknown = scenario_word(&rest);
	if (unknown == NULL || (strcmp(unknown, "pass") != 0 &&
	    strcmp(unknown, "nxdomain") != 0))
		scenario_complain(s, s->line, "zone NAME pass|nxdomain");
	else
		zone->unknown = strcmp(unknown, "pass") == 0 ? ZONE_PASS :
		    ZONE_NXDOMAIN;
}

void
scenario_set_ttl(struct scenario *s, char *rest)
{
	s->mesh.ttl = (uint32_t)scenario_number(s, scenario_word(&rest));
}

void
scenario_set_negative_ttl(struct scenario *s, char *rest)
{
	s->settings.negative_ttl = (uint32_t)scenario_number(s, scenario_word(&rest));
}

void
scenario_set_udp_size(struct scenario *s, char *rest)
{
	s->settings.udp_size = (uint32_t)scenario_number(s, scenario_word(&rest));
}

void
scenario_set_suppress_https(struct scenario *s, char *rest)
{
	const char *yes = scenario_word(&rest);

	s->settings.suppress_https = yes != NULL && strcmp(yes, "yes") == 0;
}

void
scenario_set_tcp(struct scenario *s, char *rest)
{
	const char *yes = scenario_word(&rest);

	s->settings.tcp = yes != NULL && strcmp(yes, "yes") == 0;
}

void
scenario_set_unloaded(struct scenario *s, char *rest)
{
	const char *how = scenario_word(&rest);

	s->unloaded = true;
	s->settings.unloaded = how != NULL && strcmp(how, "servfail") == 0 ?
	    UNLOADED_SERVFAIL : UNLOADED_PASS;
}

void
scenario_set_own_name(struct scenario *s, char *rest)
{
	(void)take_name(s, &s->own_name, scenario_word(&rest));
}

/* Everything up to the line "end" goes into a memory file. */
void
scenario_set_table(struct scenario *s, char *rest)
{
	const char *format = scenario_word(&rest);
	struct mesh_source *source = &s->sources[s->mesh.source_count];
	char line[SCENARIO_MAX_LINE];
	int fd = memfd_create("table", MFD_CLOEXEC);
	bool ended = false;

	if (fd < 0 || format == NULL || s->mesh.source_count == SCENARIO_MAX_SOURCES) {
		scenario_complain(s, s->line, "no room for this table");
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	source->line = s->line;
	source->path = strdup(s->path);
	source->format = strcmp(format, "records") == 0 ? &records_format :
	    formats_find(format);
	if (source->format == NULL)
		scenario_complain(s, s->line, "no table format \"%s\"", format);
	s->fds[s->mesh.source_count++] = fd;
	while (!ended && fgets(line, sizeof(line), s->file) != NULL) {
		s->line++;
		ended = strcmp(line, "end\n") == 0;
		if (!ended && write(fd, line, strlen(line)) < 0)
			scenario_complain(s, s->line, "write: %s", strerror(errno));
	}
	if (!ended)
		scenario_complain(s, source->line, "this table has no \"end\"");
	(void)lseek(fd, 0, SEEK_SET);
}
