/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/message.h"
#include "nfq/cli/progress.h"
#include "nfq/process/compiler.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "nfq/process/sandbox.h"
#include "nfq/cli/replay/capture.h"
#include "nfq/cli/replay/replay.h"
#include "nfq/cli/replay/summary.h"
#include "policy/audit/format.h"
#include "policy/audit/text.h"
#include "policy/config/settings.h"
#include "resolver/clock.h"
#include "resolver/image/table.h"
#include "resolver/text/number.h"
#include "resolver/text/suggest.h"

const char replay_usage[] =
    "usage: nfdns [-c FILE] replay [OPTION]... CAPTURE\n"
    "\n"
    "Reads the packets of CAPTURE (pcap or pcapng, \"-\": standard input) and\n"
    "prints for each question to port 53 what nfdnsd with this configuration\n"
    "would decide and answer.  Needs no daemon and no root, sends nothing.\n"
    "\n"
    "  -s, --summary       only totals\n"
    "  -j, --json          JSON: lines as in the audit log, or the totals\n"
    "  -w, --write FILE    also write questions and answers to FILE (pcapng)\n"
    "  -a, --against CONF  only questions that the configuration CONF decides\n"
    "                      differently: - with FILE, + with CONF\n"
    "  -u, --uid UID       as if this user had asked; a capture names none\n"
    "  -g, --gid GID       the group\n"
    "\n"
    "Exit code 1 if the capture is damaged, or if --against finds a difference.\n";

/* A configuration, loaded and compiled. */
struct loaded {
	struct table *table;
	struct settings settings;
};

struct request {
	const char *capture;
	const char *write;		/* NULL: no file */
	const char *against;		/* NULL: one configuration */
	bool summary, json;
	uid_t uid;
	gid_t gid;
};

struct run {
	const struct request *request;
	struct loaded sides[REPLAY_SIDES];
	size_t side_count;
	FILE *out;			/* of --write; NULL: none */
	bool colour;
	off_t size;			/* of the capture; 0: no progress is shown */
	monotime_t shown;
	struct replay_summary summary;
	uint8_t state[AUDIT_FORMAT_STATE];	/* of the JSON lines */
	char *buf;			/* of the largest record */
};

/* EXIT_OK, or another code after a message. */
static int
load_side(struct loaded *side, const struct config *config)
{
	struct diag diag = DIAG_INIT;
	const char *why;
	int image;

	settings_of(&side->settings, config);
	progress_start("compiling the tables");
	image = compiler_run(config, &diag);
	progress_stop();
	diag_print(&diag, "nfdns", stderr);
	diag_free(&diag);
	if (image < 0)
		return EXIT_INVALID;
	if (table_open(&side->table, image, &why) != 0) {
		cli_error("replay: the compiled tables: %s", why);
		side->table = NULL;
	}
	(void)close(image);
	return side->table != NULL ? EXIT_OK : EXIT_ERROR;
}

static int
load_other(struct loaded *side, const char *path)
{
	struct diag diag = DIAG_INIT;
	struct config *config;
	const int error = config_load(&config, path, &diag);
	int code = EXIT_INVALID;

	diag_print(&diag, "nfdns", stderr);
	diag_free(&diag);
	if (error == 0) {
		code = load_side(side, config);
		config_free(config);
	}
	return code;
}

static int
load_sides(struct run *run, const struct config *config)
{
	int code = load_side(&run->sides[0], config);

	run->side_count = 1;
	if (code != EXIT_OK || run->request->against == NULL)
		return code;
	run->side_count = 2;
	run->summary.compares = true;
	return load_other(&run->sides[1], run->request->against);
}

static FILE *
open_capture(const char *path)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");

	if (file == NULL)
		cli_error("%s: cannot be opened: %s", path, strerror(errno));
	return file;
}

/* EXIT_OK, or EXIT_ERROR after a message. */
static int
open_output(struct run *run)
{
	const struct audit_format *format = audit_formats[AUDIT_PCAPNG];
	const struct audit_note note = { .kind = AUDIT_BEGIN };
	size_t length, seal;

	if (run->request->write == NULL)
		return EXIT_OK;
	run->out = fopen(run->request->write, "we");
	if (run->out != NULL) {
		length = format->note(run->state, &note, run->buf, &seal);
		if (fwrite(run->buf, 1, length, run->out) == length)
			return EXIT_OK;
	}
	cli_error("%s: cannot be written: %s", run->request->write,
	    strerror(errno));
	return EXIT_ERROR;
}

static size_t
largest_record(void)
{
	size_t most = AUDIT_TEXT_MAX;

	for (size_t i = 0; i < AUDIT_FORMATS; i++)
		if (audit_formats[i]->record_max > most)
			most = audit_formats[i]->record_max;
	return most;
}

static void
print_record(struct run *run, const char *mark,
    const struct audit_record *record)
{
	size_t length, seal;

	(void)fputs(mark, stdout);
	if (run->request->json)
		/* Without its line end; it is no log, so its seal is blank. */
		length = audit_formats[AUDIT_JSON]->record(run->state, record,
		    run->buf, &seal) - 1;
	else
		length = audit_text(record, run->colour, run->buf);
	(void)fwrite(run->buf, 1, length, stdout);
}

/* Two lines of text, or one JSON object with both. */
static void
print_difference(struct run *run, const struct audit_record *record)
{
	if (!run->request->json) {
		print_record(run, "- ", &record[0]);
		print_record(run, "\n+ ", &record[1]);
		return;
	}
	print_record(run, "{\"before\":", &record[0]);
	print_record(run, ",\"after\":", &record[1]);
	(void)fputc('}', stdout);
}

static void
take_question(struct run *run, const struct audit_record *record)
{
	const struct audit_format *pcapng = audit_formats[AUDIT_PCAPNG];
	size_t seal;

	replay_summary_question(&run->summary, record);
	if (run->out != NULL)
		(void)fwrite(run->buf, 1, pcapng->record(NULL, record,
		    run->buf, &seal), run->out);
	if (run->request->summary)
		return;
	if (!run->summary.compares)
		print_record(run, "", record);
	else if (replay_is_same(&record[0], &record[1]))
		return;
	else
		print_difference(run, record);
	(void)fputc('\n', stdout);
}

/*
 * A bar on the terminal, four times a second.  Not if the lines go to the same
 * terminal, or nobody can tell how much is left.
 */
static void
init_progress(struct run *run, FILE *file)
{
	struct stat status;

	if (isatty(STDERR_FILENO) && fstat(fileno(file), &status) == 0 &&
	    S_ISREG(status.st_mode) &&
	    (run->request->summary || !isatty(STDOUT_FILENO)))
		run->size = status.st_size;
}

static void
show_progress(struct run *run, const struct capture *capture)
{
	static const char bar[] = "########################################";
	const monotime_t now = monotime_now();
	int percent;

	if (now.ns - run->shown.ns < 250000000)
		return;
	run->shown = now;
	percent = (int)(100 * capture_offset(capture) / run->size);
	(void)fprintf(stderr, "\r[%-40.*s] %3d %%", percent * 2 / 5, bar,
	    percent);
}

static void
end_progress(const struct run *run)
{
	if (monotime_is_set(run->shown))
		(void)fputs("\r\033[K", stderr);	/* ECMA-48: erase the line */
}

/* All packets.  0, or -EBADMSG and why. */
static int
replay_all(struct run *run, struct capture *capture, struct replay *replay,
    char why[static CAPTURE_WHY])
{
	struct audit_record record[REPLAY_SIDES];
	struct capture_packet packet;
	unsigned int count = 0;
	int more;

	while ((more = capture_next(capture, &packet, why)) > 0) {
		replay_summary_packet(&run->summary,
		    replay_read(replay, &packet), packet.time_ns);
		while (replay_decide(replay, record)) {
			run->summary.unjudged += replay_is_unjudged(replay);
			take_question(run, record);
		}
		if (ferror(stdout))
			break;
		if (run->size > 0 && ++count % 4096 == 0)
			show_progress(run, capture);
	}
	end_progress(run);
	return more < 0 ? more : 0;
}

static int
finish(struct run *run)
{
	int error = 0;

	if (run->request->summary && run->request->json)
		error = replay_summary_print_json(&run->summary, stdout);
	else if (run->request->summary)
		replay_summary_print(&run->summary, run->request->capture,
		    stdout);
	else
		replay_summary_print_unjudged(&run->summary, stderr);
	if (run->out != NULL && (fflush(run->out) != 0 || ferror(run->out)))
		error = -errno;
	if (fflush(stdout) != 0 || ferror(stdout))
		error = -errno;
	if (error == 0)
		return run->summary.differ > 0 ? EXIT_ERROR : EXIT_OK;
	cli_error("replay: cannot write: %s", strerror(-error));
	return EXIT_ERROR;
}

/* All files are open, and nothing more is: the capture may be anybody's. */
static int
run_capture(struct run *run, FILE *file)
{
	const struct replay_side sides[REPLAY_SIDES] = {
		{ run->sides[0].table, &run->sides[0].settings },
		{ run->sides[1].table, &run->sides[1].settings },
	};
	struct replay *replay = replay_new(sides, run->side_count,
	    run->request->uid, run->request->gid);
	char why[CAPTURE_WHY] = "out of memory";
	struct capture *capture = NULL;
	int error, code;

	init_progress(run, file);
	tzset();	/* it opens the zone's file */
	error = sandbox_reader();
	if (replay == NULL || error < 0) {
		cli_error("replay: %s", strerror(error < 0 ? -error : ENOMEM));
		replay_free(replay);
		(void)fclose(file);
		return EXIT_ERROR;
	}
	capture = capture_open(file, why);
	if (capture != NULL && replay_all(run, capture, replay, why) == 0)
		why[0] = '\0';
	code = capture != NULL ? finish(run) : EXIT_ERROR;
	if (why[0] != '\0') {
		cli_error("%s: %s", run->request->capture, why);
		code = EXIT_ERROR;
	}
	capture_close(capture);
	replay_free(replay);
	return code;
}

static const char *
read_id(const char *text, unsigned int *id)
{
	uint64_t number;

	if (!number_from_text(text, UINT32_MAX - 1, &number))
		return "not the number of a user or group";
	*id = (unsigned int)number;
	return NULL;
}

static const char *
read_uid(void *to, const char *value)
{
	struct request *r = to;

	return read_id(value, &r->uid);
}

static const char *
read_gid(void *to, const char *value)
{
	struct request *r = to;

	return read_id(value, &r->gid);
}

const struct command_option replay_options[] = {
	OPTION_FLAG("summary", 's', struct request, summary),
	OPTION_FLAG("json", 'j', struct request, json),
	OPTION_TEXT("write", 'w', struct request, write),
	OPTION_TEXT("against", 'a', struct request, against),
	OPTION_READ("uid", 'u', read_uid),
	OPTION_READ("gid", 'g', read_gid),
	{ .name = NULL },
};

/* False after a message. */
static bool
read_words(struct request *r, int argc, char **argv)
{
	const int first = command_options_read(replay_options, "nfdns replay",
	    r, argc, argv);

	if (first < 0)
		return false;
	if (first + 1 != argc) {
		suggest_usage(stderr, "nfdns replay", "give one capture, or "
		    "\"-\" for standard input");
		return false;
	}
	r->capture = argv[first];
	return true;
}

int
cmd_replay(const struct config *config, int argc, char **argv)
{
	struct request request = { .uid = (uid_t)-1, .gid = (gid_t)-1 };
	struct run run = { .request = &request };
	FILE *file;
	int code;

	if (!read_words(&request, argc, argv))
		return EXIT_USAGE;
	file = open_capture(request.capture);
	if (file == NULL)
		return EXIT_ERROR;
	run.buf = malloc(largest_record());
	run.colour = cli_has_colour(STDOUT_FILENO);
	code = run.buf != NULL ? load_sides(&run, config) : EXIT_ERROR;
	if (code == EXIT_OK)
		code = open_output(&run);
	if (code == EXIT_OK)
		code = run_capture(&run, file);
	else
		(void)fclose(file);
	if (run.out != NULL)
		(void)fclose(run.out);
	table_close(run.sides[0].table);
	table_close(run.sides[1].table);
	free(run.buf);
	return code;
}
