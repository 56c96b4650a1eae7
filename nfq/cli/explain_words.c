/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/explain_words.h"

#include "nfq/cli/commands.h"

#include <arpa/inet.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/config/resolv_conf.h"
#include "resolver/dns/message.h"
#include "resolver/dns/rr.h"
#include "resolver/text/number.h"
#include "resolver/text/suggest.h"

#define PROGRAM		"nfdns explain"
#define EDNS_SIZE	1232		/* as dig(1) sends it */

void
explain_words_defaults(struct explain_words *words)
{
	*words = (struct explain_words){
		.question = { .type = TYPE_A, .edns_size = EDNS_SIZE,
		    .family = AF_UNSPEC, .uid = getuid(), .gid = getgid(),
		    .when = time(NULL) },
	};
}

static bool
read_user(struct explain_words *words, const char *text, FILE *out)
{
	struct explain_question *q = &words->question;
	const struct passwd *user;
	uint64_t number;

	if (number_from_text(text, UINT32_MAX - 1, &number)) {
		q->uid = (uid_t)number;
		user = getpwuid(q->uid);
	} else {
		user = getpwnam(text);
		if (user == NULL) {
			suggest_usage(out, PROGRAM, "there is no user \"%s\"",
			    text);
			return false;
		}
		q->uid = user->pw_uid;
	}
	if (!words->has_gid)
		q->gid = user != NULL ? user->pw_gid : (gid_t)-1;
	return true;
}

static bool
read_group(struct explain_words *words, const char *text, FILE *out)
{
	const struct group *group;
	uint64_t number;

	words->has_gid = true;
	if (number_from_text(text, UINT32_MAX - 1, &number)) {
		words->question.gid = (gid_t)number;
		return true;
	}
	group = getgrnam(text);
	if (group == NULL) {
		suggest_usage(out, PROGRAM, "there is no group \"%s\"", text);
		return false;
	}
	words->question.gid = group->gr_gid;
	return true;
}

/* Both addresses are of one version of IP, which the first one sets. */
static bool
read_address(struct explain_words *words, const char *text,
    uint8_t address[static 16], bool *given, FILE *out)
{
	struct explain_question *q = &words->question;
	const int family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;
	const bool other = address == q->client ? words->has_nameserver :
	    words->has_client;

	if (inet_pton(family, text, address) != 1) {
		suggest_usage(out, PROGRAM, "\"%s\" is no address", text);
		return false;
	}
	if (other && family != q->family) {
		suggest_usage(out, PROGRAM, "client and nameserver are of "
		    "different versions of IP");
		return false;
	}
	q->family = family;
	*given = true;
	return true;
}

/* "13:05" of today, "2026-11-22T13:05", or "@SECONDS" since 1970. */
static bool
read_time(struct explain_words *words, const char *text, FILE *out)
{
	const char *const formats[] = { "%H:%M", "%H:%M:%S",
		"%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M" };
	uint64_t seconds;

	if (*text == '@' &&
	    number_from_text(text + 1, INT32_MAX * 64ULL, &seconds)) {
		words->question.when = (time_t)seconds;
		return true;
	}
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm local;
		const char *end;
		time_t now = time(NULL);

		if (localtime_r(&now, &local) == NULL)
			break;
		local.tm_sec = 0;
		local.tm_isdst = -1;
		end = strptime(text, formats[i], &local);
		if (end == NULL || *end != '\0')
			continue;
		words->question.when = mktime(&local);
		return true;
	}
	suggest_usage(out, PROGRAM, "\"%s\" is no time: write 13:05, "
	    "2026-11-22T13:05 or @SECONDS since 1970", text);
	return false;
}

static bool
read_protocol(struct explain_words *words, const char *text, FILE *out)
{
	words->question.stream = strcmp(text, "tcp") == 0;
	if (words->question.stream || strcmp(text, "udp") == 0)
		return true;
	suggest_usage(out, PROGRAM, "\"%s\" is no protocol: write udp or tcp",
	    text);
	return false;
}

static bool
read_size(struct explain_words *words, const char *text, FILE *out)
{
	uint64_t size;

	if (!number_from_text(text, UINT16_MAX, &size)) {
		suggest_usage(out, PROGRAM, "\"%s\" is no size in octets: write "
		    "0 for a question without EDNS", text);
		return false;
	}
	words->question.edns_size = (uint16_t)size;
	return true;
}

static const struct option options[] = {
	{ "uid", required_argument, NULL, 'u' },
	{ "gid", required_argument, NULL, 'g' },
	{ "nameserver", required_argument, NULL, 'n' },
	{ "client", required_argument, NULL, 'c' },
	{ "proto", required_argument, NULL, 'p' },
	{ "at", required_argument, NULL, 't' },
	{ "edns", required_argument, NULL, 'e' },
	{ "configured", no_argument, NULL, 'C' },
	{ "brief", no_argument, NULL, 'b' },
	{ "all", no_argument, NULL, 'a' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};
const struct command_options explain_options = { ":u:g:n:c:p:t:e:Cbajh",
	options };

static bool
take_option(struct explain_words *words, int option, const char *value,
    FILE *out)
{
	struct explain_question *q = &words->question;

	switch (option) {
	case 'u':
		return read_user(words, value, out);
	case 'g':
		return read_group(words, value, out);
	case 'n':
		return read_address(words, value, q->nameserver,
		    &words->has_nameserver, out);
	case 'c':
		return read_address(words, value, q->client,
		    &words->has_client, out);
	case 'p':
		return read_protocol(words, value, out);
	case 't':
		return read_time(words, value, out);
	case 'e':
		return read_size(words, value, out);
	case 'C':
		words->configured = true;
		return true;
	case 'b':
		words->brief = true;
		return true;
	case 'a':
		words->all = true;
		return true;
	case 'j':
		words->json = true;
		return true;
	default:
		words->help = true;
		return true;
	}
}

/* NAME [TYPE], or "-". */
static bool
take_words(struct explain_words *words, int count, char **word, FILE *out)
{
	struct explain_question *q = &words->question;

	words->many = count == 1 && strcmp(word[0], "-") == 0;
	if (words->many || words->help)
		return true;
	if (count < 1 || count > 2) {
		suggest_usage(out, PROGRAM, count < 1 ? "a name is missing" :
		    "too many arguments");
		return false;
	}
	if (name_from_text(&q->name, word[0], strlen(word[0])) != 0) {
		suggest_usage(out, PROGRAM, "\"%s\" is no domain name", word[0]);
		return false;
	}
	if (count > 1 && rr_type_from_text(&q->type, word[1]) != 0) {
		suggest_usage(out, PROGRAM, "\"%s\" is no type: give one such as "
		    "A, AAAA or TYPE65", word[1]);
		return false;
	}
	return true;
}

bool
explain_words_read(struct explain_words *words, int argc, char **argv,
    FILE *out)
{
	int option;

	words->has_gid = false;
	optind = opterr = 0;	/* glibc: start again with another argv */
	while ((option = getopt_long(argc, argv,
	    explain_options.letters, options, NULL)) != -1) {
		if (option == '?' || option == ':') {
			suggest_option(out, PROGRAM, option, argv, options);
			return false;
		}
		if (!take_option(words, option, optarg, out))
			return false;
	}
	return take_words(words, argc - optind, argv + optind, out);
}

static void
choose_nameserver(struct explain_words *words)
{
	struct explain_question *q = &words->question;
	struct resolv_conf conf;

	(void)resolv_conf_read(&conf, RESOLV_CONF_PATH);
	for (size_t i = 0; i < conf.server_count; i++) {
		const struct resolv_server *server = &conf.servers[i];

		if (q->family != AF_UNSPEC && q->family != server->family)
			continue;
		q->family = server->family;
		memcpy(q->nameserver, server->address, sizeof(q->nameserver));
		return;
	}
	if (q->family == AF_UNSPEC)
		q->family = AF_INET;
	/* What the C libraries ask without a resolv.conf. */
	(void)inet_pton(q->family, q->family == AF_INET ? "127.0.0.1" : "::1",
	    q->nameserver);
}

/* Connecting a UDP socket sends nothing: it only asks the routing table. */
static bool
choose_client(struct explain_question *q)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
		.sin6_port = htons(DNS_PORT) };
	struct sockaddr_in v4 = { .sin_family = AF_INET,
		.sin_port = htons(DNS_PORT) };
	const bool four = q->family == AF_INET;
	struct sockaddr *address = four ? (struct sockaddr *)&v4 :
	    (struct sockaddr *)&v6;
	socklen_t length = four ? sizeof(v4) : sizeof(v6);
	int fd = socket(q->family, SOCK_DGRAM | SOCK_CLOEXEC, 0), error;

	memcpy(&v4.sin_addr, q->nameserver, sizeof(v4.sin_addr));
	memcpy(&v6.sin6_addr, q->nameserver, sizeof(v6.sin6_addr));
	if (fd < 0)
		return false;
	error = connect(fd, address, length);
	if (error == 0)
		error = getsockname(fd, address, &length);
	(void)close(fd);
	if (error != 0)
		return false;
	if (four)
		memcpy(q->client, &v4.sin_addr, sizeof(v4.sin_addr));
	else
		memcpy(q->client, &v6.sin6_addr, sizeof(v6.sin6_addr));
	return true;
}

bool
explain_words_complete(struct explain_words *words, FILE *out)
{
	struct explain_question *q = &words->question;

	if (!words->has_nameserver)
		choose_nameserver(words);
	if (!words->has_client && !choose_client(q)) {
		suggest_usage(out, PROGRAM, "this machine has no route to the "
		    "nameserver; give --client ADDRESS");
		return false;
	}
	return true;
}
