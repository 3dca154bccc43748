/* Aligned columns on standard output. */
#ifndef SYCLCTL_TABLE_H
#define SYCLCTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum colour { COLOUR_NONE, COLOUR_BOLD, COLOUR_GREEN, COLOUR_YELLOW, COLOUR_RED };

enum { CELL_BYTES = 272 }; /* the longest: a control group's path */

enum {
	COLUMN_TEXT = 0,
	COLUMN_FIGURES = 1, /* aligned to the right */
	COLUMN_MINOR = 2,   /* a flag besides: left out first where the terminal is too narrow */
};

struct column {
	const char *title;
	unsigned kind; /* bits above */
};

struct cell {
	enum colour colour;
	char text[CELL_BYTES];
};

struct table {
	const struct column *columns;
	size_t column_count;
	struct cell *cells; /* row by row */
	size_t cell_count;
	size_t capacity;
	bool failed; /* no memory: table_print returns false */
};

/* Is the output a terminal with colours, and are they wanted (NO_COLOR)? */
bool colours_wanted(void);

/* Print text in a colour, or plainly. */
void print_coloured(const char *text, enum colour colour, bool coloured);

/* Add the next cell; a row ends by itself. */
__attribute__((format(printf, 3, 4))) void table_cell(struct table *table, enum colour colour,
						      const char *format, ...);
/* A uid. UINT32_MAX is no user's: it stands for users without a row of their own any more. */
void user_cell(struct table *table, uint32_t uid);

/*
 * Print under the titles, then free. False: there was no memory. `room`: characters in a line, 0
 * for any number. If they are too few, minor columns are left out, the last one first. Then the
 * widest text is cut.
 */
bool table_print(struct table *table, bool coloured, size_t room);

/* Characters in a line of the terminal that standard output is; 0: it is none. */
size_t terminal_width(void);

#endif
