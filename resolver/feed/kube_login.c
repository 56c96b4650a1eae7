/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/kubeconfig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/small_file.h"
#include "resolver/text/given.h"

#define TOKEN_MAX	((size_t)64 << 10)

void
kube_credentials_init(struct kube_credentials *c, const char *kubeconfig)
{
	*c = (struct kube_credentials){ .kubeconfig = kubeconfig };
}

static void
set_token(struct kube_credentials *c, char *token)
{
	if (c->token != NULL)
		explicit_bzero(c->token, strlen(c->token));
	free(c->token);
	c->token = token;
}

/* A copy of the token, to free; NULL if there is none, or no memory. */
static char *
copy_token(const char *text, size_t length)
{
	const struct span token = small_file_token(text, length, TOKEN_MAX);

	return token.length > 0 ? strndup(token.text, token.length) : NULL;
}

/*
 * The file counts from when it was read first; until then, and if it cannot be
 * read now, what there was before.
 */
static bool
read_token_file(struct kube_credentials *c, const char *path)
{
	struct small_file file;
	int error = small_file_read(path, &file);
	char *token = error == 0 ? copy_token(file.octets, file.length) : NULL;

	small_file_wipe(&file);
	if (token != NULL) {
		set_token(c, token);
		c->token_read = true;
		return true;
	}
	(void)snprintf(c->error, sizeof(c->error), "tokenFile %.150s: %s",
	    path, error != 0 ? small_file_error(error) : "holds no token");
	return c->token_read || c->token != NULL;
}

static bool
read_token(struct kube_credentials *c)
{
	const char *inside = c->access.token;
	char *token;

	if (inside != NULL && !c->token_read) {
		token = copy_token(inside, strlen(inside));
		if (token == NULL) {
			(void)snprintf(c->error, sizeof(c->error),
			    "%.150s: the token is none", c->kubeconfig);
			return false;
		}
		set_token(c, token);
	}
	if (c->access.token_file != NULL)
		return read_token_file(c, c->access.token_file);
	if (inside == NULL)
		set_token(c, strdup(""));
	return c->token != NULL;
}

static int
load_access(struct kube_credentials *c, struct kube_access *access)
{
	if (c->kubeconfig != NULL)
		return kubeconfig_load(access, c->kubeconfig, NULL, c->error);
	return kubeconfig_in_cluster(access, getenv("KUBERNETES_SERVICE_HOST"),
	    getenv("KUBERNETES_SERVICE_PORT"), KUBECONFIG_POD, c->error);
}

/* Takes it over.  A token is for its server, and counts while its file does. */
static void
set_access(struct kube_credentials *c, struct kube_access *access)
{
	if (!text_is_same(c->access.server, access->server) ||
	    !text_is_same(c->access.token_file, access->token_file)) {
		set_token(c, NULL);
		c->token_read = c->loaded = false;
	}
	kube_access_free(&c->access);
	c->access = *access;
}

bool
kube_credentials_refresh(struct kube_credentials *c, monotime_t now)
{
	struct kube_access access;
	int error;

	if (monotime_is_set(c->due) && !monotime_is_past(now, c->due))
		return c->loaded;
	c->error[0] = '\0';
	c->due = MONOTIME_NEVER;
	error = load_access(c, &access);
	if (error == 0)
		set_access(c, &access);
	if (error == 0 && !read_token(c))
		error = -EINVAL;
	if (error == -ENOMEM)
		(void)snprintf(c->error, sizeof(c->error), "no memory");
	if (error == 0)
		c->loaded = true;
	if (c->error[0] != '\0')
		c->due = monotime_add_ms(now, KUBE_CREDENTIALS_RETRY_MS);
	if (c->loaded && c->access.insecure && !c->warned) {
		c->warning = "insecure-skip-tls-verify: ANYBODY between here"
		    " and the API server can read the token and answer for"
		    " every name; use certificate-authority";
		c->warned = true;
	}
	return c->loaded;
}

void
kube_credentials_free(struct kube_credentials *c)
{
	set_token(c, NULL);
	kube_access_free(&c->access);
}
