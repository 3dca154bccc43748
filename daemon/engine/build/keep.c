/* Dependencies of a build that are not part of its key: files that the source may include. */
#include "build/cache.h"

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
 * behind '#' or "%:", with blanks, comments or joined lines between, or in "__has_include". A false
 * match in a comment only costs a build.
 */
static bool source_line_is_directive(const char *start, const char *word)
{
	const char *at = word;

	while (at > start && (source_line_is_blank(at[-1]) ||
			      (at - start > 1 && at[-1] == '\n' && at[-2] == '\\')))
		at -= at[-1] == '\n' ? 2 : 1;
	return at > start && (at[-1] == '#' || at[-1] == ':' || at[-1] == '/' || at[-1] == '_');
}

static bool reads_files(const struct build_request *request, const char *word)
{
	const char *start = request->source, *end = start + request->source_bytes;
	const size_t length = strlen(word);

	for (const char *at = start;
	     at < end && (at = memmem(at, (size_t)(end - at), word, length)); at += length)
		if (source_line_is_directive(start, at) &&
		    !names_toolkit(request, at + length, end))
			return true;
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
