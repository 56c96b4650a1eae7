/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/join/plan.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "policy/config/file.h"
#include "resolver/feed/kube_mirror.h"
#include "resolver/feed/kubeconfig.h"
#include "resolver/small_file.h"

/* A text in double quotes, of YAML 1.2 (5.7): \xNN for what is not printable. */
static void
put_text(FILE *out, const char *text)
{
	(void)fputc('"', out);
	for (; *text != '\0'; text++) {
		const unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			(void)fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			(void)fprintf(out, "\\x%02x", c);
		else
			(void)fputc(c, out);
	}
	(void)fputc('"', out);
}

static void
put_setting(FILE *out, const char *key, const char *text)
{
	if (text == NULL)
		return;
	(void)fprintf(out, "    %s: ", key);
	put_text(out, text);
	(void)fputc('\n', out);
}

static bool
put_octets(FILE *out, const char *key, const char *octets, size_t length)
{
	const size_t size = (length + 2) / 3 * 4 + 1;
	unsigned char *text = malloc(size);

	if (text == NULL)
		return false;
	(void)EVP_EncodeBlock(text, (const unsigned char *)octets, (int)length);
	(void)fprintf(out, "    %s: %s\n", key, (const char *)text);
	explicit_bzero(text, size);
	free(text);
	return true;
}

/*
 * Root may have been given another user's kubeconfig.  So a file that it names
 * is copied only if it is PEM; *copied gets its name, which join shows.
 */
static bool
put_pem(FILE *out, const char *key, const struct pem_text *pem,
    char **copied, struct diag *diag)
{
	static const char begin[] = "-----BEGIN ";
	struct small_file file;
	int error;

	if (pem->octets != NULL)
		return put_octets(out, key, pem->octets, pem->length);
	if (pem->path == NULL)
		return true;
	error = small_file_read(pem->path, &file);
	if (error == 0 && memmem(file.octets, file.length, begin,
	    sizeof(begin) - 1) == NULL) {
		small_file_wipe(&file);
		diag_add(diag, DIAG_ERROR, pem->path, 0, "has no certificate "
		    "or key (PEM) in it");
		return false;
	}
	*copied = strdup(pem->path);
	if (error == 0 && !put_octets(out, key, file.octets, file.length))
		error = -ENOMEM;
	small_file_wipe(&file);
	if (error == 0)
		return true;
	diag_add(diag, DIAG_ERROR, pem->path, 0, "cannot be read: %s",
	    small_file_error(error));
	return false;
}

static bool
put_all(FILE *out, const struct kube_access *access, char *files[3],
    struct diag *diag)
{
	bool good;

	(void)fputs("# Written by nfdns join; nfdns leave removes it.\n"
	    "apiVersion: v1\nkind: Config\nclusters:\n- name: nfdns\n"
	    "  cluster:\n", out);
	put_setting(out, "server", access->server);
	put_setting(out, "tls-server-name", access->server_name);
	put_setting(out, "proxy-url", access->proxy);
	if (access->insecure)
		(void)fputs("    insecure-skip-tls-verify: true\n", out);
	good = put_pem(out, "certificate-authority-data", &access->roots,
	    &files[0], diag);
	(void)fputs("users:\n- name: nfdns\n  user:\n", out);
	good = put_pem(out, "client-certificate-data", &access->cert,
	    &files[1], diag) && good;
	good = put_pem(out, "client-key-data", &access->key, &files[2],
	    diag) && good;
	if (access->token_file != NULL)
		put_setting(out, "tokenFile", access->token_file);
	else if (access->token != NULL)
		put_setting(out, "token", access->token);
	else if (access->cert.octets == NULL && access->cert.path == NULL)
		(void)fputs("    {}\n", out);
	(void)fputs("contexts:\n- name: nfdns\n  context:\n"
	    "    cluster: nfdns\n    user: nfdns\ncurrent-context: nfdns\n",
	    out);
	return good;
}

static char *
copy_of(const char *text)
{
	return text != NULL ? strdup(text) : NULL;
}

static bool
check_token_file(const struct kube_access *access, const char *path,
    struct diag *diag)
{
	struct small_file file;
	int error;

	if (access->token_file == NULL)
		return true;
	error = small_file_read(access->token_file, &file);
	if (error == 0 && file.length == 0)
		error = -ENODATA;
	small_file_wipe(&file);
	if (error == 0)
		return true;
	diag_add(diag, DIAG_ERROR, path, 0, "tokenFile %s: %s; write the token "
	    "there, or name the file that has it (a relative path is relative "
	    "to the kubeconfig)", access->token_file,
	    small_file_error(error));
	return false;
}

bool
kubeconfig_copy_make(struct kubeconfig_copy *copy, const char *path,
    const char *context, struct diag *diag)
{
	struct kube_access access = { .server = NULL };
	char why[FEED_TEXT] = "";
	char *absolute = config_file_absolute(path);
	bool good = false;
	FILE *out;
	int error;

	/* The copy lies elsewhere: what is relative in it becomes absolute. */
	error = absolute != NULL ? kubeconfig_load(&access, absolute, context, why) :
	    -ENOMEM;
	free(absolute);
	if (error != 0) {
		diag_add(diag, DIAG_ERROR, NULL, 0, "%s",
		    error == -ENOMEM ? "out of memory" : why);
		return false;
	}
	out = open_memstream(&copy->text, &copy->length);
	if (out != NULL) {
		good = check_token_file(&access, path, diag) &&
		    put_all(out, &access, copy->files, diag);
		good = fclose(out) == 0 && good;
	}
	copy->server = copy_of(access.server);
	copy->token_file = copy_of(access.token_file);
	copy->insecure = access.insecure;
	kube_access_free(&access);
	if (copy->server != NULL && good)
		return true;
	if (diag->errors == 0)
		diag_add(diag, DIAG_ERROR, NULL, 0, "out of memory");
	return false;
}

void
kubeconfig_copy_free(struct kubeconfig_copy *copy)
{
	if (copy->text != NULL)
		explicit_bzero(copy->text, copy->length);
	free(copy->text);
	free(copy->server);
	free(copy->token_file);
	for (size_t i = 0; i < 3; i++)
		free(copy->files[i]);
	*copy = (struct kubeconfig_copy){ .text = NULL };
}

/* The API's group: of "/apis/GROUP/VERSION"; that of "/api/v1" has no name. */
static void
print_rule(FILE *out, const struct kube_kind *kind)
{
	static const char apis[] = "/apis/";
	const char *group = "";
	size_t length = 0;

	if (strncmp(kind->path, apis, sizeof(apis) - 1) == 0) {
		group = kind->path + sizeof(apis) - 1;
		length = strcspn(group, "/");
	}
	(void)fprintf(out, "- apiGroups: [\"%.*s\"]\n"
	    "  resources: [\"%s\"]\n  verbs: [\"list\", \"watch\"]\n",
	    (int)length, group, kind->plural);
}

void
kubeconfig_print_manifest(FILE *out)
{
	(void)fputs("apiVersion: v1\nkind: ServiceAccount\nmetadata:\n"
	    "  name: nfdns-feed\n  namespace: kube-system\n---\n"
	    "apiVersion: v1\nkind: Secret\n"
	    "type: kubernetes.io/service-account-token\nmetadata:\n"
	    "  name: nfdns-feed\n  namespace: kube-system\n  annotations:\n"
	    "    kubernetes.io/service-account.name: nfdns-feed\n---\n"
	    "apiVersion: rbac.authorization.k8s.io/v1\n"
	    "kind: ClusterRoleBinding\nmetadata:\n  name: nfdns-feed\n"
	    "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n"
	    "  kind: ClusterRole\n  name: nfdns-feed\nsubjects:\n"
	    "- kind: ServiceAccount\n  name: nfdns-feed\n"
	    "  namespace: kube-system\n---\n"
	    "apiVersion: rbac.authorization.k8s.io/v1\n"
	    "kind: ClusterRole\nmetadata:\n  name: nfdns-feed\nrules:\n", out);
	for (size_t i = 0; i < kube_kind_count; i++)
		if (!kube_kinds[i].pods)
			print_rule(out, &kube_kinds[i]);
	(void)fputs("# nfdns join --print-manifest | kubectl apply -f -\n"
	    "# Then these make a kubeconfig for nfdns join --kubeconfig:\n"
	    "# kubectl -n kube-system get secret nfdns-feed -o "
	    "'jsonpath={.data.ca\\.crt}' | base64 -d >ca.crt\n"
	    "# kubectl --kubeconfig nfdns.kubeconfig config set-cluster nfdns "
	    "--certificate-authority ca.crt --embed-certs --server \"$(kubectl "
	    "config view --minify -o "
	    "'jsonpath={.clusters[0].cluster.server}')\"\n"
	    "# kubectl --kubeconfig nfdns.kubeconfig config set-credentials "
	    "nfdns-feed --token \"$(kubectl -n kube-system get secret "
	    "nfdns-feed -o 'jsonpath={.data.token}' | base64 -d)\"\n"
	    "# kubectl --kubeconfig nfdns.kubeconfig config set-context nfdns "
	    "--cluster nfdns --user nfdns-feed\n"
	    "# kubectl --kubeconfig nfdns.kubeconfig config use-context "
	    "nfdns\n", out);
}
