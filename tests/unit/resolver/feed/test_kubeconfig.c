/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/kubeconfig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

static struct kube_access access_;
static char why[FEED_TEXT];

/* From memory of exactly its size. */
static int
read_context(const char *text, const char *context)
{
	size_t length = strlen(text);
	char *copy = malloc(length + 1);
	int error;

	memcpy(copy, text, length);
	kube_access_free(&access_);
	why[0] = '\0';
	error = kubeconfig_read(&access_, "/etc/k/config", copy, length, context, why);
	free(copy);
	return error;
}

static int
read_text(const char *text)
{
	return read_context(text, NULL);
}

#define CONFIG(cluster, user)						\
	"apiVersion: v1\nkind: Config\ncurrent-context: here\n"	\
	"contexts:\n- name: other\n  context: {cluster: z, user: z}\n"	\
	"- name: here\n  context:\n    cluster: c\n    user: u\n"	\
	"clusters:\n- name: c\n  cluster: {" cluster "}\n"		\
	"users:\n- name: u\n  user: {" user "}\n"

static bool
is(const char *text, const char *wanted)
{
	return text != NULL && strcmp(text, wanted) == 0;
}

TEST(files)
{
	CHECK(read_text(CONFIG("server: 'https://10.0.0.1:6443/',"
	    " certificate-authority: ca.pem, tls-server-name: api.example,"
	    " proxy-url: 'http://proxy:3128'", "client-certificate: /abs/c.pem,"
	    " client-key: pki/k.pem, tokenFile: token")) == 0);
	CHECK(is(access_.server, "https://10.0.0.1:6443"));
	CHECK(is(access_.server_name, "api.example"));
	CHECK(is(access_.proxy, "http://proxy:3128"));
	CHECK(is(access_.roots.path, "/etc/k/ca.pem"));
	CHECK(is(access_.cert.path, "/abs/c.pem"));
	CHECK(is(access_.key.path, "/etc/k/pki/k.pem"));
	CHECK(is(access_.token_file, "/etc/k/token"));
	CHECK(access_.token == NULL && !access_.insecure);
}

TEST(another_context_than_the_current_one)
{
	const char *text = "current-context: a\ncontexts: [{name: a, context:"
	    " {cluster: c}}, {name: b, context: {cluster: d}}]\nclusters: ["
	    "{name: c, cluster: {server: 'https://127.0.0.1:8001'}},"
	    " {name: d, cluster: {server: 'https://127.0.0.1:8002'}}]\n";

	CHECK(read_context(text, "b") == 0 &&
	    is(access_.server, "https://127.0.0.1:8002"));
	CHECK(read_context(text, "c") == -EINVAL &&
	    strstr(why, "contexts has no \"c\"") != NULL);
}

/* The data count before the file. */
TEST(data)
{
	CHECK(read_text(CONFIG("server: https://a,"
	    " certificate-authority-data: Um9vdHM=,"
	    " certificate-authority: ca.pem", "token: secret,"
	    " client-certificate-data: Q2VydA==, client-key-data: S2V5")) == 0);
	CHECK(access_.roots.length == 5 && access_.roots.path == NULL &&
	    memcmp(access_.roots.octets, "Roots", 5) == 0);
	CHECK(access_.cert.length == 4 && access_.key.length == 3);
	CHECK(is(access_.token, "secret"));
}

TEST(no_user)
{
	CHECK(read_text("current-context: a\ncontexts: [{name: a, context:"
	    " {cluster: c}}]\nclusters: [{name: c, cluster: {server:"
	    " 'https://127.0.0.1:8001'}}]\n") == 0);
	CHECK(is(access_.server, "https://127.0.0.1:8001"));
	CHECK(access_.token == NULL);
}

/* Refused, with that in the reason. */
static bool
refused(const char *text, const char *word)
{
	bool right = read_text(text) == -EINVAL && strstr(why, word) != NULL &&
	    strncmp(why, "/etc/k/config", 13) == 0 && access_.server == NULL;

	if (!right)
		printf("  %s\n", why);
	return right;
}

TEST(what_is_refused)
{
	CHECK(refused("", "current-context"));
	CHECK(refused("a: [", ":2: not valid YAML") || refused("a: [",
	    "not valid YAML"));
	CHECK(refused("[1, 2]", "current-context"));
	CHECK(refused("current-context: x\n", "no \"x\""));
	CHECK(refused(CONFIG("", ""), "no server"));
	CHECK(refused(CONFIG("server: 10.0.0.1", ""), "https://"));
	CHECK(refused(CONFIG("server: 'https://u:p@a'", ""), "plain URL"));
	CHECK(refused(CONFIG("server: 'https://a/?x'", ""), "plain URL"));
	CHECK(refused(CONFIG("server: \"https://a\\nb\"", ""), "plain URL"));
	CHECK(refused(CONFIG("server: [a]", ""), "is not text"));
	CHECK(refused(CONFIG("server: https://a", "exec: {command: aws}"),
	    "exec runs a program"));
	CHECK(refused(CONFIG("server: https://a", "auth-provider: {name: gcp}"),
	    "plug-in"));
	CHECK(refused(CONFIG("server: https://a", "username: a"), "username"));
	CHECK(refused(CONFIG("server: https://a", "as: root"), "as is not"));
	CHECK(refused(CONFIG("server: https://a", "client-key: k"), "both"));
	CHECK(refused(CONFIG("server: http://a", ""), "https://"));
	CHECK(refused(CONFIG("server: https://a, proxy-url: 'socks5://b'", ""),
	    "no other proxies"));
	CHECK(refused(CONFIG("server: https://a, certificate-authority-data:"
	    " '!'", ""), "base64"));
	CHECK(refused(CONFIG("server: https://a, insecure-skip-tls-verify:"
	    " maybe", ""), "neither true"));
	CHECK(refused(CONFIG("server: https://a, insecure-skip-tls-verify:"
	    " true, certificate-authority: x", ""), "remove one"));
	CHECK(refused("current-context: \"\\e[31m\"\n", "no \"\\x1b[31m\""));
}

TEST(insecure)
{
	CHECK(read_text(CONFIG("server: https://a, insecure-skip-tls-verify:"
	    " true", "")) == 0);
	CHECK(access_.insecure);
}

TEST(in_a_pod)
{
	kube_access_free(&access_);
	CHECK(kubeconfig_in_cluster(&access_, "10.96.0.1", "443", "/sa",
	    why) == 0);
	CHECK(is(access_.server, "https://10.96.0.1:443"));
	CHECK(is(access_.token_file, "/sa/token"));
	CHECK(is(access_.roots.path, "/sa/ca.crt"));
	kube_access_free(&access_);
	CHECK(kubeconfig_in_cluster(&access_, "fd00::1", "443", "/sa", why) ==
	    0);
	CHECK(is(access_.server, "https://[fd00::1]:443"));
	kube_access_free(&access_);
	CHECK(kubeconfig_in_cluster(&access_, NULL, "443", "/sa", why) ==
	    -EINVAL && strstr(why, "KUBERNETES_SERVICE_HOST") != NULL);
}

TEST(file_that_is_missing)
{
	CHECK(kubeconfig_load(&access_, "/nonexistent/config", NULL, why) ==
	    -EINVAL);
	CHECK(strstr(why, "No such file") != NULL);
	CHECK(kubeconfig_load(&access_, "/dev/null", NULL, why) == -EINVAL);
}

int
main(void)
{
	test_run();
	kube_access_free(&access_);
	return test_summary();
}
