/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes of a kernel, as its source has them. The library knows only those that a launch needs.
 * Only the text is read: what a macro expands to is not seen.
 */
#include "kernel/kernel.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What was read of the declaration at hand. */
struct declaration {
	char *attributes; /* with room for the whole source */
	const char *word; /* the latest word */
	size_t word_bytes;
	bool is_kernel, is_wanted;
};

static bool is_letter(char c)
{
	return c == '_' || isalnum((unsigned char)c);
}

/* Skips blanks, comments, lines of the preprocessor, and texts. */
static const char *skip_other(const char *at)
{
	for (;;) {
		const char *begin = at;
		at += strspn(at, " \t\r\n\f\v");
		if (strncmp(at, "//", 2) == 0 || *at == '#') {
			while (*at && *at != '\n')
				at += at[0] == '\\' && at[1] ? 2 : 1;
		} else if (strncmp(at, "/*", 2) == 0) {
			const char *end = strstr(at + 2, "*/");
			at = end ? end + 2 : at + strlen(at);
		} else if (*at == '"' || *at == '\'') {
			const char quote = *at++;
			while (*at && *at != quote)
				at += at[0] == '\\' && at[1] ? 2 : 1;
			at += *at != 0;
		}
		if (at == begin)
			return at;
	}
}

/* From a bracket to behind the one that closes it. */
static const char *skip_brackets(const char *at)
{
	int depth = 0;
	while (*(at = skip_other(at))) {
		depth += strchr("({[", *at) != NULL;
		depth -= strchr(")}]", *at) != NULL;
		at++;
		if (depth == 0)
			return at;
	}
	return at;
}

/* A blank stays only between two words. */
static bool is_needless(const char *at, const char *written)
{
	const char *next = at + strspn(at, " \t\r\n\f\v");
	return next != at && !(is_letter(written[-1]) && is_letter(*next));
}

/* Adds what is between both pairs of brackets, with a blank in place of each comma between. */
static const char *take_attributes(const char *at, struct declaration *declaration)
{
	at = skip_other(at);
	const char *end = skip_brackets(at);
	if (strncmp(at, "((", 2) != 0 || end - at < 4)
		return end;
	char *to = declaration->attributes + strlen(declaration->attributes);
	if (to > declaration->attributes)
		*to++ = ' ';
	int depth = 0;
	for (const char *from = at + 1; ++from < end - 2;) {
		depth += (*from == '(') - (*from == ')');
		if (*from == ',' && depth == 0)
			*to++ = ' ';
		else if (to == declaration->attributes || !is_needless(from, to))
			*to++ = *from;
	}
	*to = 0;
	return end;
}

static bool is_word(const struct declaration *declaration, const char *word)
{
	return declaration->word && strlen(word) == declaration->word_bytes &&
	       strncmp(declaration->word, word, declaration->word_bytes) == 0;
}

static void forget(struct declaration *declaration)
{
	declaration->attributes[0] = 0;
	declaration->word = NULL;
	declaration->is_kernel = declaration->is_wanted = false;
}

static const char *take_word(const char *at, struct declaration *declaration)
{
	declaration->word = at;
	while (is_letter(*at))
		at++;
	declaration->word_bytes = (size_t)(at - declaration->word);
	if (is_word(declaration, "__attribute__"))
		return take_attributes(at, declaration);
	if (is_word(declaration, "__kernel") || is_word(declaration, "kernel"))
		declaration->is_kernel = true;
	return at;
}

/* Reads up to the body of the kernel. False: the source has none of this name. */
static bool find_kernel(const char *source, const char *name, struct declaration *declaration)
{
	for (const char *at = skip_other(source); *at; at = skip_other(at)) {
		if (is_letter(*at)) {
			at = take_word(at, declaration);
		} else if (*at == '(') {
			declaration->is_wanted |=
				declaration->is_kernel && is_word(declaration, name);
			at = skip_brackets(at);
		} else if (*at == '{' && declaration->is_wanted) {
			return true;
		} else if (*at == '{' || *at == ';') {
			at = *at == '{' ? skip_brackets(at) : at + 1;
			forget(declaration);
		} else {
			at++;
		}
	}
	return false;
}

char *attributes_of(const struct parts *parts, const char *name)
{
	for (size_t i = 0; i < parts->count; i++) {
		if (parts->list[i].is_il)
			continue;
		const char *source = parts->list[i].source;
		struct declaration declaration = {.attributes = calloc(1, strlen(source) + 1)};
		if (!declaration.attributes)
			return NULL;
		if (find_kernel(source, name, &declaration))
			return declaration.attributes;
		free(declaration.attributes);
	}
	return NULL;
}
