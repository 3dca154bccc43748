/* Dependencies of a build that are not part of its key: files that the source may include. */
#include "build/cache.h"

#include <ctype.h>
#include <string.h>

static bool source_line_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Checks the text after the word: an angle bracket, in CUDA C++, means a header of the toolkit. */
static bool names_toolkit(const struct build_request *request, const char *at, const char *end)
{
	while (at < end && source_line_is_blank(*at))
		at++;
	return request->kind == BACKEND_SOURCE_CUDA_CPP && at < end && *at == '<';
}

/*
 * True if a word may be the name of a directive, or test for the directive's file. The word is
 * behind '#', "%:" or "??=", with blanks, comments or joined lines between, or in "__has_include".
 * A false match, as in a comment, only costs a build.
 */
static bool source_line_is_directive(const char *start, const char *word)
{
	const char *at = word;

	while (at > start && (isspace((unsigned char)at[-1]) || at[-1] == '\\'))
		at--;
	return at > start &&
	       (strchr("#:/_", at[-1]) || (at - start > 2 && memcmp(at - 3, "?\?=", 3) == 0));
}

/* The end of the word at `at`; NULL: another one. Joined lines may be between its letters. */
static const char *match_word(const char *at, const char *end, const char *word)
{
	for (; *word; word++, at++) {
		while (at < end && (isspace((unsigned char)*at) || strchr("\\?/", *at)))
			at++;
		if (at == end || *at != *word)
			return NULL;
	}
	return at;
}

static bool reads_files(const struct build_request *request, const char *word)
{
	const char *start = request->source, *end = start + request->source_bytes;

	for (const char *at = start; at < end && (at = memchr(at, word[0], (size_t)(end - at)));
	     at++) {
		const char *behind = match_word(at, end, word);
		if (behind && source_line_is_directive(start, at) &&
		    !names_toolkit(request, behind, end))
			return true;
	}
	return false;
}

/* Options by which the backends' compilers read a file or search a folder. */
static bool options_name_files(const char *options)
{
	return strstr(options, "-I") || strstr(options, "include") || strstr(options, "--config") ||
	       strchr(options, '@');
}

bool build_may_keep(const struct build_request *request)
{
	/* An object may be a source in a wrapper. */
	switch (request->action == BUILD_ACTION_LINK ? BACKEND_SOURCE_OPENCL_C : request->kind) {
	case BACKEND_SOURCE_OPENCL_C:
	case BACKEND_SOURCE_PORTABLE:
	case BACKEND_SOURCE_CUDA_CPP:
		break;
	/* Only a name: another driver may give the name another meaning, or none. */
	case BACKEND_SOURCE_BUILTIN:
		return false;
	default: /* no language with a preprocessor */
		return true;
	}
	if (request->options && options_name_files(request->options))
		return false;
	return !reads_files(request, "include") && !reads_files(request, "import") &&
	       !reads_files(request, "embed");
}
