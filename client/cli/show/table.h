/* Aligned columns on standard output. */
#ifndef SYCLCTL_TABLE_H
#define SYCLCTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum colour { COLOUR_NONE, COLOUR_BOLD, COLOUR_GREEN, COLOUR_YELLOW, COLOUR_RED };

enum { CELL_BYTES = 272 }; /* longest text: a control group's path */

enum {
	COLUMN_TEXT = 0,
	COLUMN_FIGURES = 1, /* aligned to the right */
	/* A flag, may be added to the others: the column is left out first if the terminal is too
	 * narrow. */
	COLUMN_MINOR = 2,
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

/* True if the output is a terminal with colours, and the user wants them (NO_COLOR). */
bool colours_wanted(void);

/* Prints text in a colour, or plainly. */
void print_coloured(const char *text, enum colour colour, bool coloured);

/* Adds the next cell. A full row ends by itself. */
__attribute__((format(printf, 3, 4))) void table_cell(struct table *table, enum colour colour,
						      const char *format, ...);
/* Adds a user: name and uid. UINT32_MAX stands for users that no longer have their own row. */
void user_cell(struct table *table, uint32_t uid);

/*
 * Prints the rows under the titles, then frees the table. False: there was no memory. `room`:
 * characters in a line; 0: any number. If they are too few, minor columns are left out, the last
 * one first. Then the widest text is cut.
 */
bool table_print(struct table *table, bool coloured, size_t room);

/* Characters in a line of standard output's terminal; 0: it is no terminal. */
size_t terminal_width(void);

#endif
