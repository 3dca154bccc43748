#include "top/screen.h"

#include "health.h"
#include "names.h"
#include "show/tables.h"
#include "units.h"
#include "users.h"

#include <curses.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 512, BAR_WIDTH = 20, FULL_PERMILLE = 900, KEY_ESCAPE = 27, DEVICES_MOST = 8 };

enum pair { PAIR_NONE, PAIR_GOOD, PAIR_WARN, PAIR_BAD };

static bool is_typing; /* the user is typing the word of the filter */

bool top_screen_open(void)
{
	(void)setlocale(LC_CTYPE, "");
	if (!isatty(STDOUT_FILENO) || !newterm(NULL, stdout, stdin))
		return false;
	(void)cbreak();
	(void)noecho();
	(void)keypad(stdscr, TRUE);
	(void)curs_set(0);
	if (has_colors() && start_color() == OK && use_default_colors() == OK) {
		(void)init_pair(PAIR_GOOD, COLOR_GREEN, -1);
		(void)init_pair(PAIR_WARN, COLOR_YELLOW, -1);
		(void)init_pair(PAIR_BAD, COLOR_RED, -1);
	}
	return true;
}

void top_screen_close(void)
{
	(void)endwin();
}

static void set_pair(enum pair pair)
{
	(void)attrset(pair == PAIR_NONE ? A_NORMAL : COLOR_PAIR(pair));
}

/* Writes into a field of `width` columns. A longer text is cut. */
__attribute__((format(printf, 4, 5))) static void screen_put(int row, int column, int width,
							     const char *format, ...)
{
	char text[LINE_BYTES];
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (row < LINES && column < COLS && width > 0)
		(void)mvaddnstr(row, column, text, width < COLS - column ? width : COLS - column);
}

static void screen_put_right(int row, int column, int width, const char *text)
{
	int length = (int)strlen(text);
	screen_put(row, column + (length < width ? width - length : 0), width, "%s", text);
}

/* Draws "[|||||     ]". A nearly full bar has a warning colour if `full_is_bad`. */
static void screen_put_bar(int row, int column, uint32_t permille, bool full_is_bad)
{
	int filled = (int)((permille * BAR_WIDTH + 500) / 1000);
	screen_put(row, column, 1, "[");
	set_pair(full_is_bad && permille >= FULL_PERMILLE ? PAIR_BAD : PAIR_GOOD);
	for (int i = 0; i < BAR_WIDTH; i++)
		screen_put(row, column + 1 + i, 1, "%s", i < filled ? "|" : " ");
	set_pair(PAIR_NONE);
	screen_put(row, column + BAR_WIDTH + 1, 1, "]");
}

static void draw_device(int row, const Sycl__V1__AdminReply *reply,
			const Sycl__V1__KnownDevice *device)
{
	enum { NAME_WIDTH = 18, BUSY_AT = 20, MEMORY_AT = 49, SENSORS_AT = 81, OCCUPANCY_AT = 106 };
	const Sycl__V1__DevicePresent *present = device_present(reply, device);
	const Sycl__V1__DeviceSensors *sensors = present ? present->sensors : NULL;
	uint64_t all = device->facts->global_mem_bytes;
	uint64_t free_bytes = device_free_bytes(device->facts, present);
	uint64_t used = all > free_bytes ? all - free_bytes : 0;
	char text[UNIT_TEXT_BYTES];
	uint32_t busy = present ? present->busy_permille : 0;
	screen_put(row, 0, NAME_WIDTH, "%s:%u %s", backend_name(device->backend),
		   device->facts->backend_index, device->facts->name);
	screen_put_bar(row, BUSY_AT, busy, false);
	screen_put(row, BUSY_AT + BAR_WIDTH + 3, 5, "%3u %%", (busy + 5) / 10);
	screen_put_bar(row, MEMORY_AT, all ? (uint32_t)((double)used / (double)all * 1000) : 0,
		       true);
	screen_put(row, MEMORY_AT + BAR_WIDTH + 3, 9, "%s", format_bytes(used, text));
	if (sensors && sensors->temperature_celsius)
		screen_put(row, SENSORS_AT, 40, "%u C  %u W  %u MHz", sensors->temperature_celsius,
			   sensors->power_milliwatts / 1000, sensors->clock_mhz);
	if (sensors && sensors->sm_occupancy_known)
		screen_put(row, OCCUPANCY_AT, 12, "%u %% SM occ",
			   (sensors->sm_occupancy_permille + 5) / 10);
}

static int draw_devices(int row, const Sycl__V1__AdminReply *reply)
{
	size_t shown = 0;
	screen_put(row, 0, COLS, "%-20s%-29s%s", "DEVICE", "BUSY", "MEMORY");
	row++;
	for (size_t i = 0; i < reply->n_devices && shown < DEVICES_MOST; i++) {
		if (!reply->devices[i]->facts)
			continue;
		draw_device(row++, reply, reply->devices[i]);
		shown++;
	}
	if (reply->n_devices == 0)
		screen_put(row++, 0, COLS, "no device is known yet");
	return row;
}

struct column {
	const char *title;
	int width;
	bool is_right;
	int grows; /* its part, in eighths, of the columns beyond 80 */
	int least; /* columns of the terminal from which on it is shown */
};

enum {
	COLUMN_ID,
	COLUMN_USER,
	COLUMN_COMMAND,
	COLUMN_STATE,
	COLUMN_DEVICE,
	COLUMN_RUNS,
	COLUMN_FOR,
	COLUMN_QUEUED,
	COLUMN_USED,
	COLUMN_MEMORY,
	COLUMN_P50,
	COLUMN_P99,
	COLUMN_SHARE,
	COLUMN_GRANTED,
	COLUMNS_ALL
};

static const struct column columns[COLUMNS_ALL] = {
	{"ID", 4, true, 0, 0},      {"USER", 9, false, 1, 0},      {"COMMAND", 9, false, 2, 0},
	{"STATE", 15, false, 2, 0}, {"DEVICE", 9, false, 0, 90},   {"RUNS", 8, false, 3, 0},
	{"FOR", 8, true, 0, 0},     {"QUEUE", 5, true, 0, 0},      {"USED", 5, true, 0, 0},
	{"MEMORY", 8, true, 0, 0},  {"WAIT P50", 9, true, 0, 110}, {"P99", 9, true, 0, 110},
	{"SHARE", 8, true, 0, 150}, {"GRANTED", 7, true, 0, 150},
};

static int room_to_grow(void)
{
	int used = 0;
	for (int i = 0; i < COLUMNS_ALL; i++)
		used += columns[i].least <= COLS ? columns[i].width + 1 : 0;
	return COLS > used ? COLS - used : 0;
}

/* What the user may have of the device, or what is granted now. */
static void share_text(const Sycl__V1__ShareFacts *share, int column, char text[LINE_BYTES])
{
	if (!share)
		return;
	if (column == COLUMN_SHARE)
		(void)snprintf(text, LINE_BYTES, "%u-%u %%", share->min_percent,
			       share->max_percent);
	else
		(void)snprintf(text, LINE_BYTES, "%u %%", (share->granted_permille + 5) / 10);
}

static void cell_text(const Sycl__V1__AdminReply *reply, const Sycl__V1__SessionFacts *session,
		      int column, char text[LINE_BYTES])
{
	const Sycl__V1__SessionPresent *present = session->present;
	char part[USER_TEXT_BYTES + UNIT_TEXT_BYTES + STATE_TEXT_BYTES];
	const char *name = user_name(session->uid);
	bool runs = present && *present->running;
	(void)snprintf(text, LINE_BYTES, "-");
	switch (column) {
	case COLUMN_ID:
		(void)snprintf(text, LINE_BYTES, "%llu", (unsigned long long)session->session);
		break;
	case COLUMN_USER:
		(void)snprintf(text, LINE_BYTES, "%s", name ? name : user_text(session->uid, part));
		break;
	case COLUMN_COMMAND:
		(void)snprintf(text, LINE_BYTES, "%s", session->command);
		break;
	case COLUMN_STATE:
		(void)snprintf(text, LINE_BYTES, "%s", session_state_text(session, part));
		break;
	case COLUMN_DEVICE:
		if (present && present->backend)
			(void)snprintf(text, LINE_BYTES, "%s:%u", backend_name(present->backend),
				       present->index);
		break;
	case COLUMN_RUNS:
		(void)snprintf(text, LINE_BYTES, "%s", runs ? present->running : "-");
		break;
	case COLUMN_FOR:
		if (runs)
			(void)format_duration(present->running_ns, text);
		break;
	case COLUMN_QUEUED:
		if (present)
			(void)snprintf(text, LINE_BYTES, "%u", present->queued);
		break;
	case COLUMN_USED:
		if (present)
			(void)snprintf(text, LINE_BYTES, "%u %%",
				       (present->used_permille + 5) / 10);
		break;
	case COLUMN_MEMORY:
		if (present)
			(void)format_bytes(present->device_bytes, text);
		break;
	case COLUMN_P50:
		if (session->delays > 0)
			(void)format_duration(session->delay_p50_ns, text);
		break;
	case COLUMN_P99:
		if (session->delays > 0)
			(void)format_duration(session->delay_p99_ns, text);
		break;
	default:
		share_text(session_share(reply, session), column, text);
	}
}

static enum pair pair_of_state(const Sycl__V1__SessionFacts *session)
{
	const Sycl__V1__SessionPresent *present = session->present;
	if (session->paused || session->ended)
		return PAIR_WARN;
	if (present && present->activity == SYCL__V1__SESSION_ACTIVITY__SESSION_ACTIVITY_RUNNING)
		return PAIR_GOOD;
	return present && present->waits_for == SYCL__V1__SESSION_WAIT__SESSION_WAIT_MEMORY
		       ? PAIR_BAD
		       : PAIR_NONE;
}

/* Draws a session. `session` NULL: draws the titles. */
static void draw_row(int row, const Sycl__V1__AdminReply *reply,
		     const Sycl__V1__SessionFacts *session)
{
	char text[LINE_BYTES];
	int at = 0, room = room_to_grow();
	for (int i = 0; i < COLUMNS_ALL; i++) {
		if (columns[i].least > COLS)
			continue;
		int width = columns[i].width + room * columns[i].grows / 8;
		if (session)
			cell_text(reply, session, i, text);
		else
			(void)snprintf(text, sizeof(text), "%s", columns[i].title);
		if (session && i == COLUMN_STATE)
			set_pair(pair_of_state(session));
		if (columns[i].is_right)
			screen_put_right(row, at, width, text);
		else
			screen_put(row, at, width, "%s", text);
		if (session)
			set_pair(PAIR_NONE);
		at += width + 1;
	}
}

static void draw_sessions(int row, const Sycl__V1__AdminReply *reply)
{
	int last = LINES - 1;
	(void)attrset(A_REVERSE);
	screen_put(row, 0, COLS, "%*s", COLS, "");
	draw_row(row++, reply, NULL);
	(void)attrset(A_NORMAL);
	for (size_t i = 0; i < reply->n_sessions; i++) {
		size_t left = reply->n_sessions - i;
		if (row == last - 1 && left > 1) {
			screen_put(row, 0, COLS, "and %zu more", left);
			return;
		}
		draw_row(row++, reply, reply->sessions[i]);
	}
}

static void draw_head(const Sycl__V1__AdminReply *reply, const char *note)
{
	char text[LINE_BYTES], age[UNIT_TEXT_BYTES];
	bool healthy = health_text(reply, text, sizeof(text)) && !note;
	size_t running = 0;
	for (size_t i = 0; i < reply->n_sessions; i++)
		running += reply->sessions[i]->present && *reply->sessions[i]->present->running ? 1
												: 0;
	screen_put(0, 0, COLS, "sycld %s, up %s: %zu session%s, %zu running",
		   reply->service->version, format_age(reply->service->uptime_ns, age),
		   reply->n_sessions, reply->n_sessions == 1 ? "" : "s", running);
	screen_put(1, 0, 8, "health: ");
	set_pair(healthy ? PAIR_GOOD : PAIR_BAD);
	screen_put(1, 8, COLS - 8, "%s", note ? note : text);
	set_pair(PAIR_NONE);
}

static void draw_foot(const struct top_view *view, bool is_paused)
{
	(void)attrset(A_REVERSE);
	screen_put(LINES - 1, 0, COLS, "%*s", COLS, "");
	if (is_typing)
		screen_put(LINES - 1, 0, COLS, " filter: %s_  (Enter keeps, Esc clears)",
			   view->word);
	else
		screen_put(LINES - 1, 0, COLS, " q quit  p %s  s sort: %s%s  r turn  / filter%s%s",
			   is_paused ? "go on" : "pause", top_sort_name(view->sort),
			   view->is_turned ? ", least first" : "", view->word[0] ? ": " : "",
			   view->word);
	(void)attrset(A_NORMAL);
}

void top_screen_draw(const Sycl__V1__AdminReply *reply, const struct top_view *view,
		     const char *note, bool is_paused)
{
	(void)erase();
	draw_head(reply, note);
	draw_sessions(draw_devices(3, reply) + 1, reply);
	draw_foot(view, is_paused);
	(void)refresh();
}

static void type_word(struct top_view *view, int key)
{
	size_t length = strlen(view->word);
	if (key == '\n' || key == KEY_ENTER) {
		is_typing = false;
	} else if (key == KEY_ESCAPE) {
		is_typing = false;
		view->word[0] = '\0';
	} else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && length > 0) {
		view->word[length - 1] = '\0';
	} else if (key >= ' ' && key < 127 && length + 1 < sizeof(view->word)) {
		view->word[length] = (char)key;
		view->word[length + 1] = '\0';
	}
}

enum top_key top_screen_key(struct top_view *view, int timeout_ms)
{
	timeout(timeout_ms);
	int key = getch();
	if (key == ERR)
		return TOP_KEY_NONE;
	if (is_typing) {
		type_word(view, key);
		return TOP_KEY_DRAW;
	}
	switch (key) {
	case 'q':
		return TOP_KEY_QUIT;
	case 'p':
	case ' ':
		return TOP_KEY_PAUSE;
	case 's':
		view->sort = (view->sort + 1) % TOP_SORTS;
		break;
	case 'r':
		view->is_turned = !view->is_turned;
		break;
	case '/':
		is_typing = true;
		view->word[0] = '\0';
		break;
	default:
		break; /* any other key, or a changed size: the screen is drawn again */
	}
	return TOP_KEY_DRAW;
}
