#include "show/table.h"

#include "users.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool colours_wanted(void)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	if (no_color && *no_color)
		return false;
	return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

void print_coloured(const char *text, enum colour colour, bool coloured)
{
	static const char *const codes[] = {
		[COLOUR_NONE] = "",          [COLOUR_BOLD] = "\033[1m",
		[COLOUR_GREEN] = "\033[32m", [COLOUR_YELLOW] = "\033[33m",
		[COLOUR_RED] = "\033[31m",
	};
	if (coloured && colour != COLOUR_NONE)
		(void)printf("%s%s\033[0m", codes[colour], text);
	else
		(void)fputs(text, stdout);
}

void table_cell(struct table *table, enum colour colour, const char *format, ...)
{
	if (table->cell_count == table->capacity) {
		size_t capacity = table->capacity ? table->capacity * 2 : 64;
		struct cell *cells = realloc(table->cells, capacity * sizeof(*cells));
		if (!cells) {
			table->failed = true;
			return;
		}
		table->cells = cells;
		table->capacity = capacity;
	}
	struct cell *cell = &table->cells[table->cell_count++];
	cell->colour = colour;
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(cell->text, sizeof(cell->text), format, arguments);
	va_end(arguments);
}

void user_cell(struct table *table, uint32_t uid)
{
	char text[USER_TEXT_BYTES];
	table_cell(table, COLOUR_NONE, "%s", user_text(uid, text));
}

/* Characters, not bytes. */
static size_t text_width(const char *text)
{
	size_t width = 0;
	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void print_padding(size_t count)
{
	while (count--)
		(void)putchar(' ');
}

/* The bytes of the first `width` characters; all bytes of a shorter text. */
static size_t bytes_of_width(const char *text, size_t width)
{
	size_t bytes = 0;
	while (text[bytes]) {
		if (((unsigned char)text[bytes] & 0xc0) != 0x80 && width-- == 0)
			break;
		bytes++;
	}
	return bytes;
}

/* A column as it is printed. A column that is left out has width 0. */
struct shape {
	size_t width;
	bool last;
};

static void print_cell(const char *text, enum colour colour, bool right, struct shape shape,
		       bool coloured)
{
	char cut[CELL_BYTES + sizeof("…")];
	size_t width = text_width(text);
	if (width > shape.width) {
		(void)snprintf(cut, sizeof(cut), "%.*s…",
			       (int)bytes_of_width(text, shape.width - 1), text);
		text = cut;
		width = shape.width;
	}
	if (right)
		print_padding(shape.width - width);
	print_coloured(text, colour, coloured);
	if (!right && !shape.last)
		print_padding(shape.width - width);
	if (shape.last)
		(void)putchar('\n');
	else
		print_padding(2);
}

enum { CUT_WIDTH_LEAST = 12 };

/* Two blanks stand before each column. */
static size_t line_width(const struct shape *shapes, size_t columns)
{
	size_t width = 0;
	for (size_t c = 0; c < columns; c++)
		width += shapes[c].width ? shapes[c].width + 2 : 0;
	return width;
}

static void fit_columns(const struct table *table, struct shape *shapes, size_t room)
{
	size_t columns = table->column_count;
	for (size_t c = columns; c-- > 0 && line_width(shapes, columns) > room;)
		if (table->columns[c].kind & COLUMN_MINOR)
			shapes[c].width = 0;
	size_t total = line_width(shapes, columns);
	size_t widest = columns;
	for (size_t c = 0; c < columns; c++)
		if (!(table->columns[c].kind & COLUMN_FIGURES) &&
		    (widest == columns || shapes[c].width > shapes[widest].width))
			widest = c;
	if (total <= room || widest == columns || shapes[widest].width <= CUT_WIDTH_LEAST)
		return;
	size_t most = shapes[widest].width - CUT_WIDTH_LEAST;
	shapes[widest].width -= total - room < most ? total - room : most;
}

static bool print_rows(const struct table *table, bool coloured, size_t room)
{
	size_t columns = table->column_count;
	struct shape *shapes = calloc(columns, sizeof(*shapes));
	if (!shapes)
		return false;
	for (size_t c = 0; c < columns; c++)
		shapes[c].width = text_width(table->columns[c].title);
	for (size_t i = 0; i < table->cell_count; i++) {
		size_t width = text_width(table->cells[i].text);
		if (shapes[i % columns].width < width)
			shapes[i % columns].width = width;
	}
	if (room)
		fit_columns(table, shapes, room);
	for (size_t c = columns; c-- > 0;) {
		shapes[c].last = shapes[c].width > 0;
		if (shapes[c].last)
			break;
	}
	/* The titles come first, then the rows. */
	for (size_t i = 0; i < columns + table->cell_count; i++) {
		size_t c = i % columns;
		const struct cell *cell = i < columns ? NULL : &table->cells[i - columns];
		if (c == 0)
			print_padding(2);
		if (shapes[c].width)
			print_cell(cell ? cell->text : table->columns[c].title,
				   cell ? cell->colour : COLOUR_BOLD,
				   table->columns[c].kind & COLUMN_FIGURES, shapes[c], coloured);
	}
	free(shapes);
	return true;
}

bool table_print(struct table *table, bool coloured, size_t room)
{
	bool printed = !table->failed && print_rows(table, coloured, room);
	free(table->cells);
	table->cells = NULL;
	return printed;
}

size_t terminal_width(void)
{
	struct winsize size;
	return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col
										     : 0;
}
