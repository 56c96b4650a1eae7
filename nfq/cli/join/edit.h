/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds settings to a configuration file (libconfig syntax) that a person wrote,
 * and takes them out again.  Every other octet stays as it is.  What is added
 * stands between two comments that name a mark.  The editor does not parse the
 * text: config_edit.h has each result parsed before it is written.
 */
#ifndef NFDNS_NFQ_CLI_JOIN_EDIT_H
#define NFDNS_NFQ_CLI_JOIN_EDIT_H

#include <stdbool.h>
#include <stddef.h>

/* A text of malloc(3) that does not end with NUL; start from zeros. */
struct edit {
	char *text;
	size_t length;
};

/* Takes a copy; 0 or -ENOMEM. */
int edit_start(struct edit *edit, const char *text, size_t length)
    __attribute__((warn_unused_result));
void edit_free(struct edit *edit);

/*
 * Adds an item at the end of the list "group.list" ("list", if group is NULL).
 * Makes list and group if they are not there.  0; -ENOMEM; -EINVAL if the text
 * is not as expected, and then nothing has changed.
 */
int edit_add_item(struct edit *edit, const char *group, const char *list,
    const char *item, const char *mark) __attribute__((warn_unused_result));

/* Whether "group.name" is set. */
bool edit_has(const struct edit *edit, const char *group, const char *name);

/* Adds a setting, "NAME = VALUE;", to a group, which is made if necessary. */
int edit_add_setting(struct edit *edit, const char *group,
    const char *setting, const char *mark) __attribute__((warn_unused_result));

/*
 * Takes out everything that was added with this mark.  How many pieces, or
 * -EINVAL if one has no end: nothing has changed then.
 */
int edit_remove(struct edit *edit, const char *mark)
    __attribute__((warn_unused_result));

#endif
