/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/kube_status.h"

#include <string.h>

#include "resolver/feed/text.h"

static bool
has_cause(const struct json_node *details, const char *wanted)
{
	const struct json_node *cause = json_tree_items(
	    json_tree_member(details, "causes"));

	for (; cause != NULL; cause = cause->next) {
		const char *reason = json_tree_string(
		    json_tree_member(cause, "reason"));

		if (reason != NULL && strcmp(reason, wanted) == 0)
			return true;
	}
	return false;
}

void
kube_status_read(struct kube_status *status, struct json_tree *tree,
    const struct json_range *text)
{
	const struct json_node *root, *details;
	const char *why, *reason, *message;
	unsigned int line;
	long long number;
	int error;

	*status = (struct kube_status){ .code = 0 };
	root = json_tree_take(tree, text, &error, &why, &line);
	details = json_tree_member(root, "details");
	message = json_tree_string(json_tree_member(root, "message"));
	reason = json_tree_string(json_tree_member(root, "reason"));
	if (json_tree_integer(json_tree_member(root, "code"), 100, 599,
	    &number))
		status->code = (unsigned int)number;
	if (json_tree_integer(json_tree_member(details, "retryAfterSeconds"),
	    1, 86400, &number))
		status->retry_after = (unsigned int)number;
	status->expired = reason != NULL && (strcmp(reason, "Expired") == 0 ||
	    strcmp(reason, "Gone") == 0);
	/* Before Kubernetes 1.18.6 the message alone says it. */
	status->too_large = has_cause(details, "ResourceVersionTooLarge") ||
	    (message != NULL &&
	    strstr(message, "Too large resource version") != NULL);
	if (message != NULL)
		feed_text_clean(status->message, sizeof(status->message),
		    message, strlen(message));
	else
		feed_text_clean(status->message, sizeof(status->message),
		    text->text, text->length);
}
