/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operational log: lines to stderr, each with the syslog level prefix that
 * systemd reads (sd-daemon(3): "<6>text").  Each call writes one line with one
 * write(2), so lines of threads and processes do not mix.  Control characters
 * are written as \xNN.  errno stays as it was.
 */
#ifndef NFDNS_POLICY_LOG_H
#define NFDNS_POLICY_LOG_H

#include <stdbool.h>

/* syslog(3) levels, by number. */
enum log_level { LOG_LEVEL_ERROR = 3, LOG_LEVEL_WARNING = 4, LOG_LEVEL_NOTICE = 5,
	LOG_LEVEL_INFO = 6, LOG_LEVEL_DEBUG = 7 };

/* "error", "warning", "notice", "info", "debug".  0, or -EINVAL. */
int log_level_from_text(enum log_level *level, const char *text);

/*
 * Sets the level above which lines are not written; at first "info".  It is the
 * only global of the program.  Also checks whether stderr is a terminal: then
 * lines begin with the program's name instead of the prefix.
 */
void log_set_level(enum log_level level);

/* The same without that check, which a sandbox forbids. */
void log_change_level(enum log_level level);

/* From now on the first line of level error is kept. */
void log_keep_error(void);
/* That line; "" if there was none.  Valid until the next log_keep_error(). */
const char *log_kept_error(void);

void log_line(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define log_error(...)   log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_notice(...)  log_line(LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_info(...)    log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)   log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
