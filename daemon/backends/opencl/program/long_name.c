#include "opencl/program/long_name.h"

#include "cleanup.h"
#include "protocol_limits.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of one source, so that what precedes it stays short. */
enum { LONG_NAMES_MAX = 64 };

/* FNV-1a. */
static uint64_t hash_name(const char *name, size_t bytes)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3u;
	return hash;
}

bool opencl_long_name_shorten(const char *name, size_t bytes,
			      char short_name[OPENCL_SHORT_NAME_BYTES])
{
	if (bytes <= OPENCL_NAME_KEPT_MAX)
		return false;
	(void)snprintf(short_name, OPENCL_SHORT_NAME_BYTES, "%.96s_%016" PRIx64, name,
		       hash_name(name, bytes));
	return true;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The next long name of a function from *at on; moves *at behind it. NULL: none. */
static const char *next_long_name(const char **at, const char *end, size_t *bytes_out)
{
	for (const char *name = *at; name < end; name = *at) {
		const char *stop = name;
		while (stop < end && is_word(*stop))
			stop++;
		const size_t bytes = (size_t)(stop - name);
		*at = bytes > 0 ? stop : name + 1;
		if (bytes <= OPENCL_NAME_KEPT_MAX || bytes > KERNEL_NAME_BYTES_MAX ||
		    isdigit((unsigned char)*name))
			continue;
		while (stop < end && isspace((unsigned char)*stop))
			stop++;
		if (stop < end && *stop == '(') {
			*bytes_out = bytes;
			return name;
		}
	}
	return NULL;
}

/* True at the first call with this name; false, too, if there are too many names. */
static bool note_name(uint64_t *seen, size_t *count, const char *name, size_t bytes)
{
	const uint64_t hash = hash_name(name, bytes);

	for (size_t i = 0; i < *count; i++)
		if (seen[i] == hash)
			return false;
	if (*count == LONG_NAMES_MAX)
		return false;
	seen[(*count)++] = hash;
	return true;
}

char *opencl_long_name_defines(const char *source, size_t source_bytes, unsigned long *lines_out)
{
	char short_name[OPENCL_SHORT_NAME_BYTES];
	uint64_t seen[LONG_NAMES_MAX];
	const char *at = source, *name;
	char *defines = NULL;
	size_t seen_count = 0, count = 0, bytes = 0;
	FILE *file = open_memstream(&defines, &count);
	*lines_out = 0;
	if (!file)
		return NULL;

	while ((name = next_long_name(&at, source + source_bytes, &bytes))) {
		if (!note_name(seen, &seen_count, name, bytes))
			continue;
		(void)opencl_long_name_shorten(name, bytes, short_name);
		(void)fprintf(file, "#define %.*s %s\n", (int)bytes, name, short_name);
		++*lines_out;
	}
	bool failed = ferror(file) != 0;
	if (fclose(file) != 0 || failed) {
		free(defines);
		return NULL;
	}
	return defines;
}

static int restore_name(char **name, const char *long_name, size_t bytes)
{
	char *copy = strndup(long_name, bytes);

	if (!copy)
		return -ENOMEM;
	free(*name);
	*name = copy;
	return 0;
}

int opencl_long_names_restore(struct opencl_binary *binary, const char *source, size_t source_bytes)
{
	char short_name[OPENCL_SHORT_NAME_BYTES];
	const char *at = source, *name;
	size_t bytes = 0;
	int error = 0;

	while (error == 0 && (name = next_long_name(&at, source + source_bytes, &bytes))) {
		(void)opencl_long_name_shorten(name, bytes, short_name);
		for (uint32_t i = 0; error == 0 && i < binary->kernel_count; i++)
			if (strcmp(binary->kernels[i].name, short_name) == 0)
				error = restore_name(&binary->kernels[i].name, name, bytes);
	}
	return error;
}
