/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/process/request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "resolver/text/number.h"

static const struct {
	const char *word, *options[3];	/* from 1 on */
	bool named, counted;
} verbs[] = {
	[REQUEST_STATUS] = { "status", { NULL, "json", "all" }, false, false },
	[REQUEST_METRICS] = { "metrics", { NULL, "openmetrics" }, false, false },
	[REQUEST_PAGE] = { "page", { NULL }, false, false },
	[REQUEST_RELOAD] = { "reload", { NULL, "force" }, false, false },
	[REQUEST_FLUSH] = { "flush", { NULL, "tree" }, true, false },
	[REQUEST_PAUSE] = { "pause", { NULL }, false, true },
	[REQUEST_RESUME] = { "resume", { NULL }, false, false },
	[REQUEST_RULES] = { "rules", { NULL }, false, false },
	[REQUEST_TABLE] = { "table", { NULL }, false, false },
	[REQUEST_CACHE] = { "cache", { NULL }, false, false },
	[REQUEST_RUNNING] = { "running", { NULL }, false, false },
};

/* Takes the word from the line, with the blank behind it, if it is that one. */
static bool
take(const char **line, size_t *length, const char *word)
{
	const size_t n = word != NULL ? strlen(word) : 0;
	size_t skip = n;

	if (n == 0 || *length < n || memcmp(*line, word, n) != 0 ||
	    (*length > n && (*line)[n] != ' '))
		return false;
	skip += *length > n;
	*line += skip;
	*length -= skip;
	return true;
}

int
request_address(struct sockaddr_un *address, const char *run_dir,
    int *directory)
{
	const size_t size = sizeof(address->sun_path);

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	*directory = -1;
	if ((size_t)snprintf(address->sun_path, size, "%s/" REQUEST_SOCKET,
	    run_dir) < size)
		return 0;
	*directory = open(run_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*directory < 0)
		return -errno;
	(void)snprintf(address->sun_path, size, "/proc/self/fd/%d/"
	    REQUEST_SOCKET, *directory);
	return 0;
}

static int
read_seconds(unsigned int *seconds, const char *line, size_t length)
{
	char text[16];
	uint64_t number;

	(void)snprintf(text, sizeof(text), "%.*s", (int)length, line);
	if (length >= sizeof(text) || strlen(text) != length ||
	    !number_from_text(text, REQUEST_PAUSE_MAX, &number) || number == 0)
		return -EPROTO;
	*seconds = (unsigned int)number;
	return 0;
}

int
request_parse(struct daemon_request *request, const char *line, size_t length)
{
	size_t i = 0;

	*request = (struct daemon_request){ .name = { .length = 0 } };
	if (length > REQUEST_MAX)
		return -EPROTO;
	if (length > 0 && line[length - 1] == '\n')
		length--;
	while (i < sizeof(verbs) / sizeof(verbs[0]) &&
	    !take(&line, &length, verbs[i].word))
		i++;
	if (i == sizeof(verbs) / sizeof(verbs[0]))
		return -EPROTO;
	request->kind = (enum request_kind)i;
	for (unsigned int n = 1; n < 3 && request->option == 0; n++)
		if (take(&line, &length, verbs[i].options[n]))
			request->option = n;
	if (verbs[i].counted)
		return read_seconds(&request->option, line, length);
	if (!verbs[i].named)
		return length == 0 ? 0 : -EPROTO;
	if (length == 0 || name_from_text(&request->name, line, length) != 0)
		return -EPROTO;
	name_lower(&request->name);
	return 0;
}
