/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DNS messages as people read them. */
#ifndef NFDNS_NFQ_CLI_EXPLAIN_MESSAGE_TEXT_H
#define NFDNS_NFQ_CLI_EXPLAIN_MESSAGE_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "nfq/ask/message.h"
#include "resolver/text/json_write.h"

/*
 * The data of a record with its names written out, in presentation format; to be
 * freed.  NULL: it is malformed, or there is no memory.
 */
char *message_data_text(const struct message *message,
    const struct message_record *record) __attribute__((warn_unused_result));

/*
 * The extended error of a message (RFC 8914): its code, and its text, which is
 * copied and cut.  -1: there is none.
 */
#define MESSAGE_ERROR_TEXT 256
int message_error(const struct message *message,
    char text[static MESSAGE_ERROR_TEXT]);

/* A record as an object, an element of the open array. */
void message_write_record(struct json_write *w, const char *owner,
    uint32_t ttl, const char *type, const char *data);

/* The answer section on one line: "A 10.0.0.1, A 10.0.0.2, cut". */
void message_print_answers(const struct message *message, FILE *out);

/*
 * Whether both say the same: the response code, whether they are cut, and the answer
 * section's records, in any order and whatever their TTLs.
 */
bool message_is_same(const struct message *a, const struct message *b);

/* Prints the whole message as drill(1) does, without the lines about the server. */
void message_print(const struct message *message, FILE *out);

#endif
