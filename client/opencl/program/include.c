/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers: programs that clCompileProgram names, and files in folders that the options name. The
 * library compiles one text, and the service may not see the program's files. So a line that
 * includes such a header is replaced by the header. Other lines stay, with their numbers as the
 * compiler sees them.
 */
#include "program/program.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, FOLDERS_MAX = 64, TEXT_BYTES_MAX = 64 << 20 };

/* A text that is being written, and the one that includes it. */
struct text {
	const struct text *outer;
	const char *name; /* a path, or a header's name; "" for the program itself */
	const char *bytes;
	int depth;
};

struct headers {
	cl_uint count;
	const cl_program *programs;
	const char **names;
	char *folders[FOLDERS_MAX];
	int folder_count;
	FILE *out;
	size_t bytes; /* written so far, to end what includes itself without an end */
};

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* Returns the name that a line includes, which the caller frees, or NULL. */
static char *included_name(const char *line, const char *end)
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
	return stop ? strndup(name, (size_t)(stop - name)) : NULL;
}

static char *read_file(const char *path)
{
	char *bytes = NULL, block[4096];
	size_t count = 0, got = 0;
	FILE *file = fopen(path, "re"), *all = file ? open_memstream(&bytes, &count) : NULL;
	while (all && count < TEXT_BYTES_MAX && (got = fread(block, 1, sizeof(block), file)) > 0)
		(void)fwrite(block, 1, got, all);
	bool is_good = all && !ferror(file);
	if (all && fclose(all) != 0)
		is_good = false;
	if (file)
		(void)fclose(file);
	if (is_good)
		return bytes;
	free(bytes);
	return NULL;
}

/* Looks beside the including file, then in the folders. Returns the text, which the caller frees.
 */
static char *find_file(const struct headers *headers, const struct text *from, const char *name,
		       char path[PATH_MAX])
{
	const char *slash = strrchr(from->name, '/');
	char *bytes = NULL;
	if (headers->folder_count == 0)
		return NULL;
	if (slash || name[0] == '/') {
		int length = slash && name[0] != '/' ? (int)(slash + 1 - from->name) : 0;
		(void)snprintf(path, PATH_MAX, "%.*s%s", length, from->name, name);
		bytes = read_file(path);
	}
	for (int i = 0; i < headers->folder_count && !bytes; i++) {
		(void)snprintf(path, PATH_MAX, "%s/%s", headers->folders[i], name);
		bytes = read_file(path);
	}
	return bytes;
}

/* A header that includes itself again would be empty by its own guard. */
static bool is_open(const struct text *text, const char *name)
{
	for (; text; text = text->outer)
		if (strcmp(text->name, name) == 0)
			return true;
	return false;
}

static void write_text(struct headers *headers, const struct text *text);

/* Writes the header that a line includes. Returns false if there is none of that name. */
static bool write_included(struct headers *headers, const struct text *from, const char *line,
			   const char *end)
{
	char path[PATH_MAX], *name = included_name(line, end), *file = NULL;
	struct text text = {from, name, NULL, from->depth + 1};
	for (cl_uint i = 0; name && i < headers->count && !text.bytes; i++)
		if (strcmp(headers->names[i], name) == 0)
			text.bytes = headers->programs[i]->source;
	if (name && !text.bytes) {
		text.bytes = file = find_file(headers, from, name, path);
		text.name = path;
	}
	bool is_found = text.bytes != NULL && text.depth < DEPTH_MAX;
	if (is_found && !is_open(from, text.name))
		write_text(headers, &text);
	free(file);
	free(name);
	return is_found;
}

static void write_text(struct headers *headers, const struct text *text)
{
	int line_number = 1;
	for (const char *at = text->bytes; *at && headers->bytes < TEXT_BYTES_MAX;) {
		const char *end = strchr(at, '\n');
		if (!end)
			end = at + strlen(at);
		if (write_included(headers, text, at, end)) {
			(void)fprintf(headers->out, "\n#line %d\n", line_number + 1);
		} else {
			(void)fwrite(at, 1, (size_t)(end - at), headers->out);
			(void)fputc('\n', headers->out);
		}
		headers->bytes += (size_t)(end - at) + 1;
		line_number++;
		at = *end ? end + 1 : end;
	}
}

/* The next word of the options, without its quotes; the caller frees it. */
static char *next_word(const char **options)
{
	const char *at = *options;
	while (isspace((unsigned char)*at))
		at++;
	char *word = *at ? malloc(strlen(at) + 1) : NULL;
	size_t length = 0;
	bool is_quoted = false;
	for (; word && *at && (is_quoted || !isspace((unsigned char)*at)); at++) {
		if (*at == '"')
			is_quoted = !is_quoted;
		else
			word[length++] = *at;
	}
	if (word)
		word[length] = 0;
	*options = at;
	return word;
}

/* Collects the folders of -I. */
static void read_folders(struct headers *headers, const char *options)
{
	char *word = NULL;
	while (headers->folder_count < FOLDERS_MAX && (word = next_word(&options)) != NULL) {
		char *folder = NULL;
		if (strcmp(word, "-I") == 0)
			folder = next_word(&options);
		else if (strncmp(word, "-I", 2) == 0)
			folder = strdup(word + 2);
		if (folder)
			headers->folders[headers->folder_count++] = folder;
		free(word);
	}
}

/* True if a directive of the text still includes something, or asks whether it could. A comment may
 * look the same. */
static bool includes_more(const char *text)
{
	static const char word[] = "include";
	for (const char *at = text; (at = strstr(at, word)) != NULL; at += sizeof(word) - 1) {
		const char *before = at;
		while (before > text &&
		       (before[-1] == ' ' || before[-1] == '\t' ||
			(before - text > 1 && before[-1] == '\n' && before[-2] == '\\')))
			before -= before[-1] == '\n' ? 2 : 1;
		if (before > text && strchr("#:/_", before[-1]))
			return true;
	}
	return false;
}

char *program_options(const char *options, const char *text)
{
	char *kept = strdup(options), *to = kept;
	if (!kept || includes_more(text))
		return kept;
	for (const char *at = options; *at;) {
		const char *begin = at;
		char *word = next_word(&at);
		if (!word)
			break;
		bool is_folder = strncmp(word, "-I", 2) == 0;
		if (is_folder && !word[2])
			free(next_word(&at));
		free(word);
		if (!is_folder) {
			memcpy(to, begin, (size_t)(at - begin));
			to += at - begin;
		}
	}
	*to = 0;
	return kept;
}

char *program_include(const char *source, cl_uint count, const cl_program *programs,
		      const char **names, const char *options)
{
	char *text = NULL;
	size_t bytes = 0;
	struct headers headers = {.count = count, .programs = programs, .names = names};
	const struct text whole = {NULL, "", source, 0};
	read_folders(&headers, options);
	if (count == 0 && headers.folder_count == 0)
		return strdup(source);
	headers.out = open_memstream(&text, &bytes);
	if (headers.out)
		write_text(&headers, &whole);
	bool is_good = headers.out && fclose(headers.out) == 0 && headers.bytes < TEXT_BYTES_MAX;
	while (headers.folder_count > 0)
		free(headers.folders[--headers.folder_count]);
	if (is_good)
		return text;
	free(text);
	return NULL;
}
