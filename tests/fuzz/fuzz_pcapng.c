/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as an audit file that is to be mended, and as the messages and the
 * rule of a record: the record's blocks are whole, and behind them what was cut
 * is found again.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/audit/pcapng.h"
#include "tests/fuzz/fuzz.h"

static off_t
whole(int fd, const void *octets, size_t length)
{
	check(ftruncate(fd, 0) == 0);
	check(pwrite(fd, octets, length, 0) == (ssize_t)length);
	return audit_pcapng_format.whole(fd, (off_t)length);
}

static struct audit_record
record_of(const uint8_t *data, size_t size)
{
	const uint8_t shape = size > 0 ? data[0] : 0;
	const size_t question = size * (shape & 15) / 15;

	return (struct audit_record){
		.time_ns = size,
		.family = shape & 16 ? AF_INET : AF_INET6,
		.stream = (shape & 32) != 0,
		.verdict = VERDICT_ANSWER,
		.question = data,
		.question_length = (uint16_t)question,
		.answer = data + question,
		.answer_length = (uint16_t)(size - question),
		.rule = (const char *)data,
		.rule_length = size < AUDIT_RULE_MAX ? (uint8_t)size :
		    AUDIT_RULE_MAX,
	};
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct audit_record record;
	const struct audit_note note = { .kind = AUDIT_BEGIN };
	size_t length, begin;
	char *file;
	off_t end;

	if (fd < 0)
		fd = memfd_create("audit", MFD_CLOEXEC);
	end = whole(fd, data, size);
	check(end <= (off_t)size);
	if (size > UINT16_MAX)
		return 0;
	record = record_of(data, size);
	/* Of the size allowed: one octet more is seen by the sanitizer. */
	file = malloc(audit_pcapng_format.note_max +
	    audit_pcapng_format.record_max);
	check(file != NULL);
	begin = audit_pcapng_format.note(NULL, &note, file);
	length = begin + audit_pcapng(NULL, &record, file + begin);
	check(whole(fd, file, length) == (off_t)length);
	end = whole(fd, file, length - 4);
	check(end >= (off_t)begin && end < (off_t)length);
	free(file);
	return 0;
}
