#include "opencl/program/link_words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A hostile source may have any number of names; a few are enough for a person. */
#define NAMES_MAX      512u
#define NAME_MAX_BYTES 64

struct name {
	const char *at; /* the name's place in its source */
	size_t bytes;
	uint32_t object;
	bool is_defined, is_local;
};

struct names {
	struct name all[NAMES_MAX];
	uint32_t count;
};

/* The rest of a source that is still to be read. */
struct reader {
	const char *at, *end;
	bool is_line_start;
};

static bool starts_word(const struct reader *reader, const char *with)
{
	return (size_t)(reader->end - reader->at) >= strlen(with) &&
	       memcmp(reader->at, with, strlen(with)) == 0;
}

static void skip_line(struct reader *reader)
{
	while (reader->at < reader->end && *reader->at != '\n')
		reader->at += *reader->at == '\\' && reader->end - reader->at > 1 ? 2 : 1;
}

static void skip_quoted(struct reader *reader)
{
	const char quote = *reader->at++;

	while (reader->at < reader->end && *reader->at != quote && *reader->at != '\n')
		reader->at += *reader->at == '\\' && reader->end - reader->at > 1 ? 2 : 1;
	reader->at += reader->at < reader->end;
}

/* Blanks, comments, directives, texts. */
static void skip_blanks(struct reader *reader)
{
	while (reader->at < reader->end) {
		if (isspace((unsigned char)*reader->at)) {
			reader->is_line_start |= *reader->at++ == '\n';
		} else if (starts_word(reader, "//") ||
			   (reader->is_line_start && *reader->at == '#')) {
			skip_line(reader);
		} else if (starts_word(reader, "/*")) {
			for (reader->at += 2;
			     reader->at < reader->end && !starts_word(reader, "*/");)
				reader->at++;
			reader->at += reader->at < reader->end ? 2 : 0;
		} else if (*reader->at == '"' || *reader->at == '\'') {
			skip_quoted(reader);
		} else {
			break;
		}
	}
	if (reader->at > reader->end)
		reader->at = reader->end;
}

/* Reads a word, or one other character. False: the end of the text. */
static bool next_word(struct reader *reader, struct name *word_out)
{
	skip_blanks(reader);
	if (reader->at == reader->end)
		return false;
	const char *from = reader->at++;
	if (isalpha((unsigned char)*from) || *from == '_')
		while (reader->at < reader->end &&
		       (isalnum((unsigned char)*reader->at) || *reader->at == '_'))
			reader->at++;
	reader->is_line_start = false;
	*word_out = (struct name){.at = from, .bytes = (size_t)(reader->at - from)};
	return true;
}

static bool link_word_is(const struct name *word, const char *text)
{
	return word->bytes == strlen(text) && memcmp(word->at, text, word->bytes) == 0;
}

static bool linked_names_are_equal(const struct name *a, const struct name *b)
{
	return a->bytes == b->bytes && memcmp(a->at, b->at, a->bytes) == 0;
}

static void add_name(struct names *names, const struct name *name, uint32_t object, bool is_defined,
		     bool is_local)
{
	if (names->count == NAMES_MAX || name->bytes > NAME_MAX_BYTES ||
	    (!isalpha((unsigned char)*name->at) && *name->at != '_') ||
	    link_word_is(name, "__attribute__"))
		return;
	names->all[names->count] = *name;
	names->all[names->count].object = object;
	names->all[names->count].is_defined = is_defined;
	names->all[names->count++].is_local = is_local;
}

/* At file scope, the word before the first parenthesis is a function's name. The text behind the
 * last parenthesis distinguishes declaration and definition. */
static void read_source(struct names *names, const struct opencl_text *source, uint32_t object)
{
	struct reader reader = {
		.at = source->text, .end = source->text + source->bytes, .is_line_start = true};
	struct name word, last = {.bytes = 0}, function = {.bytes = 0};
	unsigned depth = 0;
	bool is_local = false, has_value = false;

	while (next_word(&reader, &word)) {
		if (link_word_is(&word, "{") || link_word_is(&word, ";")) {
			if (depth == 0 && function.bytes > 0 && !has_value)
				add_name(names, &function, object, link_word_is(&word, "{"),
					 is_local);
		} else if (depth == 0 && link_word_is(&word, "(") && function.bytes == 0) {
			if (!link_word_is(&last, "__attribute__"))
				function = last;
		} else if (depth == 0) {
			is_local |= link_word_is(&word, "static") ||
				    link_word_is(&word, "inline") || link_word_is(&word, "typedef");
			has_value |= link_word_is(&word, "=");
		}
		if (link_word_is(&word, "{") || link_word_is(&word, "("))
			depth++;
		else if ((link_word_is(&word, "}") || link_word_is(&word, ")")) && depth > 0)
			depth--;
		if (depth == 0 && (link_word_is(&word, ";") || link_word_is(&word, "}"))) {
			function.bytes = 0;
			is_local = has_value = false;
		}
		last = word;
	}
}

/* Finds a definition of the name among the first `end` entries; NULL: there is none. */
static const struct name *find_definition(const struct names *names, const struct name *name,
					  uint32_t end)
{
	for (uint32_t i = 0; i < end; i++)
		if (names->all[i].is_defined && linked_names_are_equal(&names->all[i], name))
			return &names->all[i];
	return NULL;
}

static bool linked_name_is_missing(const struct names *names, uint32_t index)
{
	const struct name *name = &names->all[index];

	for (uint32_t i = 0; i < index; i++) /* reported already */
		if (linked_names_are_equal(&names->all[i], name))
			return false;
	return !name->is_defined && !name->is_local && !find_definition(names, name, names->count);
}

static bool linked_name_is_twice(const struct names *names, uint32_t index)
{
	const struct name *name = &names->all[index];
	const struct name *other = find_definition(names, name, index);

	return name->is_defined && !name->is_local && other && !other->is_local &&
	       other->object != name->object;
}

static void write_list(FILE *file, const struct names *names, const char *head,
		       bool (*is_meant)(const struct names *names, uint32_t index))
{
	bool any = false;

	for (uint32_t i = 0; i < names->count; i++) {
		if (!is_meant(names, i))
			continue;
		(void)fprintf(file, "%s %.*s", any ? "," : head, (int)names->all[i].bytes,
			      names->all[i].at);
		any = true;
	}
	if (any)
		(void)fputc('\n', file);
}

char *opencl_link_words(const struct opencl_text *sources, uint32_t count)
{
	char *words = NULL;
	size_t bytes = 0;
	struct names *names = calloc(1, sizeof(*names));
	FILE *file = names ? open_memstream(&words, &bytes) : NULL;

	if (!file) {
		free(names);
		return NULL;
	}
	for (uint32_t i = 0; i < count; i++)
		read_source(names, &sources[i], i);
	(void)fprintf(
		file,
		"The driver does not say why these objects do not link. As far as their sources show:\n");
	for (uint32_t i = 0; i < count; i++) {
		const char *between = "";
		(void)fprintf(file, "object %u defines ", i);
		for (uint32_t n = 0; n < names->count; n++)
			if (names->all[n].object == i && names->all[n].is_defined) {
				(void)fprintf(file, "%s%.*s", between, (int)names->all[n].bytes,
					      names->all[n].at);
				between = ", ";
			}
		(void)fputs(*between ? "\n" : "no function\n", file);
	}
	write_list(file, names, "declared, and defined in none of them:", linked_name_is_missing);
	write_list(file, names, "defined in more than one of them:", linked_name_is_twice);
	free(names);
	if (fclose(file) == 0)
		return words;
	free(words);
	return NULL;
}
