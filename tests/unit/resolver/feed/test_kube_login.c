/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/kubeconfig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"

static char directory[] = "/tmp/nfdns-login-XXXXXX";
static char config[100], token_file[100];
static struct kube_credentials c;
static monotime_t now;

static void
write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void
write_config(const char *user)
{
	char text[500];

	(void)snprintf(text, sizeof(text), "current-context: a\n"
	    "contexts: [{name: a, context: {cluster: c, user: u}}]\n"
	    "clusters: [{name: c, cluster: {server: 'https://a'}}]\n"
	    "users: [{name: u, user: {%s}}]\n", user);
	write_file(config, text);
}

/* Reads all anew, whatever failed before; whether requests can be sent. */
static bool
refresh(void)
{
	now = monotime_add_ms(now, KUBE_CREDENTIALS_RETRY_MS);
	return kube_credentials_refresh(&c, now);
}

static void
begin(void)
{
	kube_credentials_free(&c);
	kube_credentials_init(&c, config);
	(void)unlink(token_file);
	now = monotime_from_ms(1000000);
}

/* The token is used until its file was read once; then the file counts. */
TEST(file_before_token)
{
	begin();
	write_config("token: inside, tokenFile: token");
	CHECK(refresh() && strcmp(c.token, "inside") == 0);
	CHECK(strstr(c.error, "No such file") != NULL);
	write_file(token_file, " from file\t\n");
	CHECK(refresh() && strcmp(c.token, "inside") == 0);
	write_file(token_file, "\tfrom-file \r\n");
	CHECK(refresh() && strcmp(c.token, "from-file") == 0);
	CHECK(c.error[0] == '\0');
	CHECK(unlink(token_file) == 0);
	CHECK(refresh() && strcmp(c.token, "from-file") == 0);
	CHECK(c.error[0] != '\0');
}

/* A token cannot add headers to a request. */
TEST(no_token)
{
	static const char *const bad[] = { "", "\n", "a\nX: y", "a b", "\x01",
		"caf\xc3\xa9" };

	write_config("tokenFile: token");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		begin();
		write_file(token_file, bad[i]);
		CHECK(!refresh() && strstr(c.error, "holds no token") != NULL);
	}
	begin();
	write_config("token: \"a\\nX: y\"");
	CHECK(!refresh() && c.error[0] != '\0');
}

TEST(token_that_goes)
{
	begin();
	write_config("token: one");
	CHECK(refresh() && strcmp(c.token, "one") == 0);
	write_config("token: two");
	CHECK(refresh() && strcmp(c.token, "two") == 0);
	write_config("");
	CHECK(refresh() && strcmp(c.token, "") == 0);
}

/* A token is sent to the server that it is for, and no longer than it counts. */
TEST(token_stays_with_its_server)
{
	begin();
	write_file(token_file, "from-file");
	write_config("tokenFile: token");
	CHECK(refresh() && strcmp(c.token, "from-file") == 0);
	write_config("token: inside");
	CHECK(refresh() && strcmp(c.token, "inside") == 0);
	write_config("tokenFile: token");
	CHECK(refresh() && strcmp(c.token, "from-file") == 0);
	CHECK(unlink(token_file) == 0);
	CHECK(refresh());
	write_file(config, "current-context: a\n"
	    "contexts: [{name: a, context: {cluster: c, user: u}}]\n"
	    "clusters: [{name: c, cluster: {server: 'https://other'}}]\n"
	    "users: [{name: u, user: {tokenFile: token}}]\n");
	CHECK(!refresh() && c.token == NULL);
	write_file(token_file, "of-other");
	CHECK(refresh() && strcmp(c.token, "of-other") == 0);
}

/* Half a file, in the middle of a rotation: what was read before stays. */
TEST(kubeconfig_that_breaks)
{
	begin();
	write_file(config, "current-");
	CHECK(!refresh() && c.error[0] != '\0');
	write_config("token: one");
	/* Not at once: the file is not read for each of many requests. */
	CHECK(!kube_credentials_refresh(&c, now));
	CHECK(refresh() && c.error[0] == '\0');
	write_file(config, "current-");
	CHECK(refresh() && c.error[0] != '\0' && strcmp(c.token, "one") == 0);
}

int
main(void)
{
	if (mkdtemp(directory) == NULL)
		return 1;
	(void)snprintf(config, sizeof(config), "%s/config", directory);
	(void)snprintf(token_file, sizeof(token_file), "%s/token", directory);
	test_run();
	kube_credentials_free(&c);
	(void)unlink(config);
	(void)unlink(token_file);
	(void)rmdir(directory);
	return test_summary();
}
