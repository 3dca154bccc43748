/*
 * Objects of the fake backend. An object lists the names that a source defines, one per line. Lines
 * "extern NAME" list the names that another object must define. Linking checks that they exist, and
 * that no name is defined twice.
 */
#include "fake_internal.h"

#include "cleanup.h"
#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char magic[] = "fake object 1\n";
#define MAGIC_BYTES (sizeof(magic) - 1)

static const char needs[] = "extern ";
#define NEEDS_BYTES (sizeof(needs) - 1)

static int link_out_of_memory(struct backend_fault *fault_out)
{
	fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no memory for the object");
	return -ENOMEM;
}

/* Divides the source into two texts: the external names, and the rest. */
static int link_split(const char *source, size_t bytes, char **needed_out, char **rest_out)
{
	CLEANUP(free_pointer) char *text = strndup(source, bytes);
	CLEANUP(free_pointer) char *needed = calloc(1, bytes + 2);
	CLEANUP(free_pointer) char *rest = calloc(1, bytes + 2);
	if (!text || !needed || !rest)
		return -ENOMEM;
	char *to_needed = needed, *to_rest = rest, *lines = text;
	for (char *line; (line = strsep(&lines, "\n"));) {
		char **to = strncmp(line, needs, NEEDS_BYTES) == 0 ? &to_needed : &to_rest;
		*to = stpcpy(*to, line);
		*to = stpcpy(*to, "\n");
	}
	*needed_out = TAKE(needed);
	*rest_out = TAKE(rest);
	return 0;
}

int fake_compile(struct backend *backend, uint32_t device, enum backend_source_kind kind,
		 const char *source, size_t source_bytes, const char *options, void **object_out,
		 size_t *object_bytes_out, char **log_out, struct backend_fault *fault_out)
{
	CLEANUP(free_pointer) char *needed = NULL;
	CLEANUP(free_pointer) char *rest = NULL;
	void *program = NULL;
	size_t program_bytes = 0;
	char *object = NULL;

	if (link_split(source, source_bytes, &needed, &rest) < 0)
		return link_out_of_memory(fault_out);
	int error = fake_build(backend, device, kind, rest, strlen(rest), options, &program,
			       &program_bytes, log_out, fault_out);
	if (error < 0)
		return error;
	/* Behind the first line of a program are its names. */
	const char *names = memchr(program, '\n', program_bytes);
	size_t head = names ? (size_t)(names + 1 - (const char *)program) : program_bytes;
	int length = asprintf(&object, "%s%.*s%s", magic, (int)(program_bytes - head),
			      (const char *)program + head, needed);
	free(program);
	if (length < 0)
		return link_out_of_memory(fault_out);
	*object_out = object;
	*object_bytes_out = (size_t)length;
	return 0;
}

static bool has_line(const char *text, const char *line, size_t length)
{
	for (const char *at = text; (at = strstr(at, line)); at++)
		if ((at == text || at[-1] == '\n') && at[length] == '\n')
			return true;
	return false;
}

/* Adds an object's names to `all`, and its external names to `needed`. Both have room for all
 * names. */
static int add_object(const char *object, size_t bytes, char *all, char *needed,
		      struct backend_fault *fault_out)
{
	CLEANUP(free_pointer) char *text = strndup(object + MAGIC_BYTES, bytes - MAGIC_BYTES);
	char *lines = text;

	if (!text)
		return link_out_of_memory(fault_out);
	for (char *line; (line = strsep(&lines, "\n"));) {
		bool is_need = strncmp(line, needs, NEEDS_BYTES) == 0;
		const char *name = is_need ? line + NEEDS_BYTES : line;
		if (!*name)
			continue;
		if (!is_need && has_line(all, name, strlen(name))) {
			fake_fault(fault_out, STATUS_BUILD, "\"%.64s\" is defined twice", name);
			return -EINVAL;
		}
		char *to = is_need ? needed : all;
		(void)stpcpy(stpcpy(to + strlen(to), name), "\n");
	}
	return 0;
}

int fake_link(struct backend *backend, uint32_t device, uint32_t count, const void *const *objects,
	      const size_t *object_bytes, const char *options, void **binary_out,
	      size_t *binary_bytes_out, char **log_out, struct backend_fault *fault_out)
{
	size_t total = 1;

	for (uint32_t i = 0; i < count; i++) {
		if (object_bytes[i] < MAGIC_BYTES || memcmp(objects[i], magic, MAGIC_BYTES) != 0) {
			fake_fault(fault_out, STATUS_INVALID,
				   "input %u is no object of this device", i);
			return -EINVAL;
		}
		total += object_bytes[i] + 1;
	}
	CLEANUP(free_pointer) char *all = calloc(1, total);
	CLEANUP(free_pointer) char *needed = calloc(1, total);
	if (!all || !needed)
		return link_out_of_memory(fault_out);
	for (uint32_t i = 0; i < count; i++) {
		int error = add_object(objects[i], object_bytes[i], all, needed, fault_out);
		if (error < 0)
			return error;
	}
	char *lines = needed;
	for (char *line; (line = strsep(&lines, "\n"));) {
		if (!*line || has_line(all, line, strlen(line)))
			continue;
		fake_fault(fault_out, STATUS_BUILD, "\"%.64s\" is not defined", line);
		if (asprintf(log_out, "undefined: %s\n", line) < 0)
			*log_out = NULL;
		return -EINVAL;
	}
	return fake_build(backend, device, BACKEND_SOURCE_PORTABLE, all, strlen(all), options,
			  binary_out, binary_bytes_out, log_out, fault_out);
}
