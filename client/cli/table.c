#include "table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
		[COLOUR_NONE] = "", [COLOUR_BOLD] = "\033[1m", [COLOUR_GREEN] = "\033[32m",
		[COLOUR_YELLOW] = "\033[33m", [COLOUR_RED] = "\033[31m",
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

/* Characters, not bytes. */
static size_t width_of(const char *text)
{
	size_t width = 0;
	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void pad(size_t count)
{
	while (count--)
		(void)putchar(' ');
}

static void print_cell(const char *text, enum colour colour, bool right, size_t width, bool last, bool coloured)
{
	size_t missing = width - width_of(text);
	if (right)
		pad(missing);
	print_coloured(text, colour, coloured);
	if (!right && !last)
		pad(missing);
	if (last)
		(void)putchar('\n');
	else
		pad(2);
}

static bool print_rows(const struct table *table, bool coloured)
{
	size_t columns = table->column_count;
	size_t *widths = calloc(columns, sizeof(*widths));
	if (!widths)
		return false;
	for (size_t c = 0; c < columns; c++)
		widths[c] = width_of(table->columns[c].title);
	for (size_t i = 0; i < table->cell_count; i++) {
		size_t width = width_of(table->cells[i].text);
		if (widths[i % columns] < width)
			widths[i % columns] = width;
	}
	for (size_t c = 0; c < columns; c++) {
		if (c == 0)
			pad(2);
		print_cell(table->columns[c].title, COLOUR_BOLD, table->columns[c].right, widths[c], c + 1 == columns,
			   coloured);
	}
	for (size_t i = 0; i < table->cell_count; i++) {
		size_t c = i % columns;
		if (c == 0)
			pad(2);
		print_cell(table->cells[i].text, table->cells[i].colour, table->columns[c].right, widths[c],
			   c + 1 == columns, coloured);
	}
	free(widths);
	return true;
}

bool table_print(struct table *table, bool coloured)
{
	bool printed = !table->failed && print_rows(table, coloured);
	free(table->cells);
	table->cells = NULL;
	return printed;
}
