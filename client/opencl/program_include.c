/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers of clCompileProgram. The library compiles one text, so a line that includes one of the
 * headers is replaced by the header. Other lines stay, with their numbers as the compiler sees
 * them.
 */
#include "driver.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 32 };

struct headers {
	cl_uint count;
	const cl_program *programs;
	const char **names;
	FILE *out;
};

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* Returns the header that a line includes, or NULL. */
static const char *included_by(const struct headers *headers, const char *line, const char *end)
{
	static const char word[] = "include";
	line = skip_blanks(line, end);
	if (line == end || *line++ != '#')
		return NULL;
	line = skip_blanks(line, end);
	if ((size_t)(end - line) < sizeof(word) || memcmp(line, word, sizeof(word) - 1) != 0)
		return NULL;
	line = skip_blanks(line + sizeof(word) - 1, end);
	if (line == end || (*line != '"' && *line != '<'))
		return NULL;
	const char close = *line == '"' ? '"' : '>';
	const char *name = line + 1;
	const char *stop = memchr(name, close, (size_t)(end - name));
	for (cl_uint i = 0; stop && i < headers->count; i++)
		if (strlen(headers->names[i]) == (size_t)(stop - name) &&
		    memcmp(headers->names[i], name, (size_t)(stop - name)) == 0)
			return headers->programs[i]->source;
	return NULL;
}

static void write_text(const struct headers *headers, const char *text, int depth)
{
	int line_number = 1;
	while (*text) {
		const char *end = strchr(text, '\n');
		if (!end)
			end = text + strlen(text);
		const char *header = depth < DEPTH_MAX ? included_by(headers, text, end) : NULL;
		if (header) {
			write_text(headers, header, depth + 1);
			(void)fprintf(headers->out, "\n#line %d\n", line_number + 1);
		} else {
			(void)fwrite(text, 1, (size_t)(end - text), headers->out);
			(void)fputc('\n', headers->out);
		}
		line_number++;
		text = *end ? end + 1 : end;
	}
}

char *program_include(const char *source, cl_uint count, const cl_program *programs,
		      const char **names)
{
	char *text = NULL;
	size_t bytes = 0;
	if (count == 0)
		return strdup(source);
	struct headers headers = {count, programs, names, open_memstream(&text, &bytes)};
	if (!headers.out)
		return NULL;
	write_text(&headers, source, 0);
	if (fclose(headers.out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
