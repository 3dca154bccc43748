#include "build_log.h"

#include "backend.h"
#include "cleanup.h"
#include "portable_names.h"
#include "portable_words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of more bytes is cut off; with the column beyond them it is not shown. */
#define SHOWN_BYTES 160u

struct place {
	unsigned long line, column;
};

/* Finds "kernel:LINE:COLUMN:" in a line of the log. */
static bool build_log_find_place(const char *at, const char *end, struct place *place_out)
{
	static const char mark[] = "kernel:";
	const char *found = memmem(at, (size_t)(end - at), mark, sizeof(mark) - 1);
	char *stop = NULL;

	if (!found || (found > at && !isspace((unsigned char)found[-1])))
		return false;
	found += sizeof(mark) - 1;
	if (!isdigit((unsigned char)*found))
		return false;
	place_out->line = strtoul(found, &stop, 10);
	if (*stop != ':' || !isdigit((unsigned char)stop[1]))
		return false;
	place_out->column = strtoul(stop + 1, &stop, 10);
	return *stop == ':' && place_out->line > 0 && place_out->column > 0;
}

/* True if the compiler itself shows the line: the second line from here has a caret. */
static bool shows_caret(const char *next)
{
	const char *second = strchr(next, '\n');

	if (!second)
		return false;
	second += 1 + strspn(second + 1, " \t~");
	return *second == '^';
}

/* A source, with the beginning of the line that was found last. Most logs go through a source from
 * its beginning to its end. */
struct source {
	const char *begin, *end, *at;
	unsigned long line;
};

/* Returns the beginning of a line of the source, and its length; NULL: there is no such line. */
static const char *source_line(struct source *source, unsigned long line, size_t *length_out)
{
	if (line < source->line) {
		source->at = source->begin;
		source->line = 1;
	}
	while (source->line < line) {
		const char *stop = memchr(source->at, '\n', (size_t)(source->end - source->at));
		if (!stop)
			return NULL;
		source->at = stop + 1;
		source->line++;
	}
	if (source->at == source->end)
		return NULL;
	const char *stop = memchr(source->at, '\n', (size_t)(source->end - source->at));
	*length_out = (size_t)((stop ? stop : source->end) - source->at);
	return source->at;
}

/* What lies above the caret: tabs stay tabs, bytes inside a character of UTF-8 have no width, and a
 * prefix of portable_names.h will be removed. */
static void put_caret(FILE *out, const char *line, size_t column)
{
	const size_t prefix = sizeof(PORTABLE_NAMES_PREFIX) - 1;

	(void)fputs("  ", out);
	for (size_t i = 0; i + 1 < column; i++) {
		if (strncmp(line + i, PORTABLE_NAMES_PREFIX, prefix) == 0)
			i += prefix - 1;
		else if (((unsigned char)line[i] & 0xc0) != 0x80)
			(void)fputc(line[i] == '\t' ? '\t' : ' ', out);
	}
	(void)fputs("^\n", out);
}

static void show_place(FILE *out, const struct place *place, struct source *source)
{
	size_t length = 0;
	const char *line = source_line(source, place->line, &length);

	if (!line || place->column > length + 1 || place->column > SHOWN_BYTES)
		return;
	(void)fprintf(out, "  %.*s\n", (int)(length < SHOWN_BYTES ? length : SHOWN_BYTES), line);
	put_caret(out, line, place->column);
}

char *build_log_show_lines(const char *log, const char *source, size_t source_bytes)
{
	struct source shown = {source, source + source_bytes, source, 1};
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	while (*log) {
		struct place place;
		const char *end = strchrnul(log, '\n'), *next = *end ? end + 1 : end;
		(void)fprintf(out, "%.*s\n", (int)(end - log), log);
		if (build_log_find_place(log, end, &place) && !shows_caret(next))
			show_place(out, &place, &shown);
		log = next;
	}
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

void build_log_add(char **log, const char *text)
{
	char *longer = NULL;

	if (text && asprintf(&longer, "%.*s%s", (int)BACKEND_LOG_BYTES_MAX / 2, *log ? *log : "",
			     text) >= 0) {
		free(*log);
		*log = longer;
	}
}

void build_log_add_words(char **log, const char *source, size_t source_bytes)
{
	CLEANUP(free_pointer) char *words = portable_words_find(source, source_bytes);
	CLEANUP(free_pointer)
	char *shown = words ? build_log_show_lines(words, source, source_bytes) : NULL;

	build_log_add(log, shown);
}
