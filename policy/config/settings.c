/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/settings.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "policy/log.h"
#include "resolver/fds.h"

/* One setting and the option it comes from, whose row has its range. */
static const struct row {
	const char *option;
	size_t offset;
} rows[] = {
#define ROW(option, member) \
	{ option, offsetof(struct settings, member) }
	ROW("log.level", log_level),
	ROW("mesh.negative_ttl", answers.negative_ttl),
	ROW("mesh.udp_size", answers.udp_size),
	ROW("mesh.suppress_https", answers.suppress_https),
	ROW("mesh.unloaded", answers.unloaded),
	ROW("policy_unreadable", answers.unreadable),
	ROW("capture.tcp", answers.tcp),
	ROW("stream.connections", stream.connections),
	ROW("stream.per_client", stream.per_client),
	ROW("stream.idle", stream.idle_s),
#undef ROW
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

_Static_assert(offsetof(struct settings, forward) == ROWS * sizeof(uint32_t),
    "each setting has a row, but for those of forwarding");

static uint32_t
value_of(const struct settings *settings, const struct row *row)
{
	uint32_t value;

	memcpy(&value, (const char *)settings + row->offset, sizeof(value));
	return value;
}

void
settings_of(struct settings *settings, const struct config *config)
{
	const struct config_stream *stream = &config->stream;

	*settings = (struct settings){
		.log_level = config->log_level,
		.answers = config->answers,
		.stream = {
			.connections = stream->connections,
			.per_client = stream->per_client,
			.idle_s = stream->idle_s,
		},
		.forward = config->forward,
	};
}

int
settings_write(const struct settings *settings)
{
	return fds_sealed("nfdns-settings", settings, sizeof(*settings));
}

/* Nobody can change the file any more, and it has the right size. */
static const char *
check_file(int fd)
{
	struct stat st;

	if (!fds_is_sealed(fd))
		return "the settings are not sealed";
	if (fstat(fd, &st) < 0 || st.st_size != (off_t)sizeof(struct settings))
		return "the settings have another size";
	return NULL;
}

const char *
settings_read(struct settings *settings, int fd)
{
	const char *why = check_file(fd);
	const struct settings *copy;

	if (why != NULL)
		return why;
	/* mmap(2), because the worker's sandbox has it for the table. */
	copy = mmap(NULL, sizeof(*copy), PROT_READ, MAP_SHARED, fd, 0);
	if (copy == MAP_FAILED)
		return "the settings cannot be mapped";
	*settings = *copy;
	(void)munmap((void *)(uintptr_t)copy, sizeof(*copy));
	return NULL;
}

const char *
settings_text(const struct settings *settings,
    char text[static SETTINGS_TEXT])
{
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < ROWS && n < SETTINGS_TEXT; i++)
		n += (size_t)snprintf(text + n, SETTINGS_TEXT - n, "%s%s %lu",
		    i == 0 ? "" : ", ", rows[i].option,
		    (unsigned long)value_of(settings, &rows[i]));
	return text;
}
