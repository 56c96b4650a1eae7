/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/top/terminal.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "nfq/cli/top/draw.h"

#define ESCAPE_MS	25		/* between the octets of one key */

static SCREEN *terminal;
static bool is_utf8;
static attr_t styles[STYLES];	/* ncurses' attributes */
static sigset_t usual_mask;		/* of signals, while waiting for a key */
static volatile sig_atomic_t is_interrupted;

static void
interrupt(int signal_number)
{
	(void)signal_number;
	is_interrupted = 1;
}

/* They come only while terminal_key() waits, so none is missed. */
static void
catch_signals(void)
{
	const struct sigaction action = { .sa_handler = interrupt };
	sigset_t ours;

	(void)sigemptyset(&ours);
	(void)sigaddset(&ours, SIGINT);
	(void)sigaddset(&ours, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &ours, &usual_mask);
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
}

static void
set_styles(bool colour)
{
	static const short pairs[STYLES] = {
		[STYLE_GOOD] = COLOR_GREEN,
		[STYLE_BAD] = COLOR_RED,
		[STYLE_GRAPH] = COLOR_CYAN,
	};

	memset(styles, 0, sizeof(styles));
	styles[STYLE_STRONG] = A_BOLD;
	styles[STYLE_HEAD] = A_REVERSE;
	styles[STYLE_BAD] = A_BOLD;
	if (!colour || !has_colors() || start_color() == ERR ||
	    use_default_colors() == ERR)
		return;
	for (int i = 0; i < STYLES; i++)
		if (pairs[i] != 0 && init_pair((short)i, pairs[i], -1) != ERR)
			styles[i] |= (attr_t)COLOR_PAIR(i);
}

int
terminal_open(bool colour)
{
	/* Before newterm(3), which leaves handlers alone that are set. */
	catch_signals();
	is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	terminal = newterm(NULL, stdout, stdin);
	if (terminal == NULL)
		return -ENOTTY;
	if (tigetstr("cup") == NULL) {
		terminal_close();
		return -ENOTTY;
	}
	(void)cbreak();
	(void)noecho();
	(void)nonl();
	(void)keypad(stdscr, TRUE);
	(void)nodelay(stdscr, TRUE);
	(void)set_escdelay(ESCAPE_MS);
	(void)curs_set(0);
	set_styles(colour);
	return 0;
}

void
terminal_close(void)
{
	if (terminal == NULL)
		return;
	(void)endwin();
	delscreen(terminal);
	terminal = NULL;
}

void
terminal_size(unsigned int *rows, unsigned int *columns)
{
	*rows = LINES < 1 ? 1 : LINES < SCREEN_MAX ? (unsigned int)LINES :
	    SCREEN_MAX;
	*columns = COLS < 1 ? 1 : COLS < SCREEN_MAX ? (unsigned int)COLS :
	    SCREEN_MAX;
}

void
terminal_show(const struct screen *screen)
{
	(void)erase();
	for (unsigned int row = 0; row < screen->rows; row++)
		for (unsigned int i = 0; i < screen->columns; i++) {
			const struct screen_cell *cell =
			    screen_at(screen, row, i);

			if (cell->glyph == ' ' && cell->style == STYLE_PLAIN)
				continue;
			(void)attrset((int)styles[cell->style]);
			(void)mvaddstr((int)row, (int)i,
			    screen_glyph(cell->glyph, is_utf8));
		}
	(void)attrset(A_NORMAL);
	(void)refresh();
}

static int
key_of(int key)
{
	static const struct {
		int theirs, ours;
	} keys[] = {
		{ KEY_UP, TOP_KEY_UP }, { KEY_DOWN, TOP_KEY_DOWN },
		{ KEY_PPAGE, TOP_KEY_PAGE_UP },
		{ KEY_NPAGE, TOP_KEY_PAGE_DOWN },
		{ KEY_HOME, TOP_KEY_HOME }, { KEY_END, TOP_KEY_END },
		{ KEY_RESIZE, TOP_KEY_RESIZED },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].theirs == key)
			return keys[i].ours;
	return key >= 0 && key < 0x100 ? key : 0;
}

int
terminal_key(int timeout_ms)
{
	const struct timespec timeout = { timeout_ms / 1000,
		(long)(timeout_ms % 1000) * 1000000 };
	struct pollfd wait = { .fd = STDIN_FILENO, .events = POLLIN };
	int key = getch(), ready;

	if (key != ERR)
		return key_of(key);
	ready = ppoll(&wait, 1, &timeout, &usual_mask);
	if (is_interrupted || (wait.revents & (POLLHUP | POLLERR | POLLNVAL)))
		return TOP_KEY_GONE;
	if (ready == 0)
		return -1;
	/* A signal that ended the wait may be that of another size. */
	key = getch();
	return key != ERR ? key_of(key) : ready > 0 ? TOP_KEY_GONE : 0;
}
