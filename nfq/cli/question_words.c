/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/question_words.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/sockets/open.h"
#include "policy/config/resolv_conf.h"
#include "resolver/dns/message.h"
#include "resolver/dns/name.h"
#include "resolver/dns/rr.h"
#include "resolver/idn.h"
#include "resolver/text/host.h"
#include "resolver/text/number.h"
#include "resolver/text/suggest.h"

static const char *
program_of(const struct explain_words *words)
{
	return words->ask ? "nfdns ask" : "nfdns explain";
}

void
explain_words_defaults(struct explain_words *words)
{
	*words = (struct explain_words){
		.question = { .type = TYPE_A, .family = AF_UNSPEC,
		    .uid = getuid(), .gid = getgid() },
	};
}

static const char *
read_user(void *to, const char *value)
{
	struct explain_words *words = to;
	struct explain_question *q = &words->question;
	const struct passwd *user;
	uint64_t number;

	if (number_from_text(value, UINT32_MAX - 1, &number)) {
		q->uid = (uid_t)number;
		user = getpwuid(q->uid);
	} else {
		user = getpwnam(value);
		if (user == NULL)
			return "there is no such user";
		q->uid = user->pw_uid;
	}
	if (!words->has_gid)
		q->gid = user != NULL ? user->pw_gid : (gid_t)-1;
	return NULL;
}

static const char *
read_group(void *to, const char *value)
{
	struct explain_words *words = to;
	const struct group *group;
	uint64_t number;

	words->has_gid = true;
	if (number_from_text(value, UINT32_MAX - 1, &number)) {
		words->question.gid = (gid_t)number;
		return NULL;
	}
	group = getgrnam(value);
	if (group == NULL)
		return "there is no such group";
	words->question.gid = group->gr_gid;
	return NULL;
}

/* Both addresses are of one version of IP, which the first one sets. */
static const char *
read_address(struct explain_words *words, const char *text,
    uint8_t address[static 16], bool *given)
{
	struct explain_question *q = &words->question;
	const bool other = address == q->client ? words->has_nameserver :
	    words->has_client;
	const int family = host_address(text, address);

	if (family == AF_UNSPEC)
		return "not a valid address";
	if (other && family != q->family)
		return "client and nameserver are of different versions of IP";
	q->family = family;
	*given = true;
	return NULL;
}

static const char *
read_nameserver(void *to, const char *value)
{
	struct explain_words *words = to;

	return read_address(words, value, words->question.nameserver,
	    &words->has_nameserver);
}

static const char *
read_client(void *to, const char *value)
{
	struct explain_words *words = to;

	return read_address(words, value, words->question.client,
	    &words->has_client);
}

static const char *
read_protocol(void *to, const char *value)
{
	struct explain_words *words = to;

	words->question.stream = strcmp(value, "tcp") == 0;
	return words->question.stream || strcmp(value, "udp") == 0 ? NULL :
	    "not a protocol: write udp or tcp";
}

/* A container's question has no user. */
static const char *
read_in(void *to, const char *value)
{
	struct explain_words *words = to;

	words->question.in = value;
	words->question.uid = (uid_t)-1;
	words->question.gid = (gid_t)-1;
	return NULL;
}

const struct command_option explain_options[] = {
	OPTION_READ("uid", 'u', read_user),
	OPTION_READ("gid", 'g', read_group),
	OPTION_READ("nameserver", 'n', read_nameserver),
	OPTION_READ("from", 'f', read_client),
	OPTION_READ("in", 'i', read_in),
	OPTION_READ("proto", 'p', read_protocol),
	OPTION_FLAG("reverse", 'x', struct explain_words, reverse),
	OPTION_FLAG("search", 's', struct explain_words, search),
	OPTION_FLAG("configured", 'C', struct explain_words, configured),
	OPTION_FLAG("brief", 'b', struct explain_words, brief),
	OPTION_FLAG("all", 'a', struct explain_words, all),
	OPTION_FLAG("json", 'j', struct explain_words, json),
	{ .name = NULL },
};

const struct command_option ask_options[] = {
	OPTION_READ("uid", 'u', read_user),
	OPTION_READ("gid", 'g', read_group),
	OPTION_READ("nameserver", 'n', read_nameserver),
	OPTION_FLAG("reverse", 'x', struct explain_words, reverse),
	OPTION_FLAG("json", 'j', struct explain_words, json),
	{ .name = NULL },
};

/* As dig -x: the name under in-addr.arpa or ip6.arpa, and PTR. */
static bool
take_address(struct explain_words *words, const char *text)
{
	struct explain_question *q = &words->question;
	uint8_t address[16];
	const int family = host_address(text, address);

	if (family == AF_UNSPEC) {
		suggest_usage(stderr, program_of(words), "\"%s\" is not a valid address",
		    text);
		return false;
	}
	reverse_name(&q->name, address, family == AF_INET ? 4 : 16);
	q->type = TYPE_PTR;
	return true;
}

/* NAME [TYPE], or "-". */
static bool
take_words(struct explain_words *words, int count, char **word)
{
	struct explain_question *q = &words->question;

	words->many = count == 1 && strcmp(word[0], "-") == 0 && !words->ask;
	if (words->many)
		return true;
	if (count < 1 || count > 2) {
		suggest_usage(stderr, program_of(words), count < 1 ? "a name is missing" :
		    "too many arguments");
		return false;
	}
	words->absolute = word[0][0] != '\0' &&
	    word[0][strlen(word[0]) - 1] == '.';
	if (words->reverse) {
		if (!take_address(words, word[0]))
			return false;
	} else if (idn_name_from_text(&q->name, word[0],
	    strlen(word[0])) != 0) {
		suggest_usage(stderr, program_of(words), "\"%s\" is not a valid domain name", word[0]);
		return false;
	}
	if (count > 1 && rr_type_from_text(&q->type, word[1]) != 0) {
		suggest_usage(stderr, program_of(words), "\"%s\" is not a valid type: give one such as "
		    "A, AAAA or TYPE65", word[1]);
		return false;
	}
	return true;
}

bool
explain_words_read(struct explain_words *words, int argc, char **argv)
{
	int first;

	words->has_gid = false;
	first = command_options_read(words->ask ? ask_options :
	    explain_options, program_of(words), words, argc, argv);
	return first >= 0 && take_words(words, argc - first, argv + first);
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
		words->scope_id = server->scope_id;
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
	union sockets_address address;
	socklen_t length = sockets_address_make(&address, q->family,
	    q->nameserver, DNS_PORT, 0);
	uint16_t port;
	int fd = socket(q->family, SOCK_DGRAM | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return false;
	error = connect(fd, &address.any, length);
	if (error == 0)
		error = getsockname(fd, &address.any, &length);
	(void)close(fd);
	if (error != 0)
		return false;
	(void)sockets_address_split(&address, q->client, &port);
	return true;
}

/* As the rules know it (fib saddr type): only a local address can be bound. */
static bool
is_foreign(const struct explain_question *q)
{
	union sockets_address address;
	const socklen_t length = sockets_address_make(&address, q->family,
	    q->client, 0, 0);
	int fd = socket(q->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const bool foreign = fd >= 0 && bind(fd, &address.any, length) < 0 &&
	    errno == EADDRNOTAVAIL;

	if (fd >= 0)
		(void)close(fd);
	return foreign;
}

bool
explain_words_complete(struct explain_words *words)
{
	struct explain_question *q = &words->question;

	if (!words->has_nameserver)
		choose_nameserver(words);
	if (!words->has_client && !choose_client(q)) {
		suggest_usage(stderr, program_of(words), "this machine has no route to the "
		    "nameserver; give --from ADDRESS");
		return false;
	}
	/* Configured tables may be another machine's. */
	q->foreign = words->has_client && !words->configured && is_foreign(q);
	if (q->in == NULL || words->has_client)
		return true;
	suggest_usage(stderr, program_of(words), "--in goes with --from ADDRESS, the "
	    "container's");
	return false;
}
