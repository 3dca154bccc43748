/* Changes texts for CUDA, line by line. */
#include "cuda/translate/ir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The next text of a constant, c"...": its first quote, and what is behind its last one. A quote
 * inside of a text is written as \22. `end` twice: there is none. */
static const char *find_text(const char *line, const char *end, const char **behind_out)
{
	for (const char *at = line; at < end; at++) {
		const char *close = NULL;
		if (*at == '"')
			close = memchr(at + 1, '"', (size_t)(end - at - 1));
		if (close && at - line > 1 && at[-1] == 'c' && at[-2] == ' ') {
			*behind_out = close + 1;
			return at;
		}
		at = close ? close : at;
	}
	*behind_out = end;
	return end;
}

/* Writes a line, with `put` what is no text: a program's texts stay as they are. */
static void put_line(FILE *out, const char *line, const char *end,
		     void (*put)(FILE *out, const char *part, const char *end))
{
	while (line < end) {
		const char *behind = NULL, *text = find_text(line, end, &behind);
		put(out, line, text);
		(void)fwrite(text, 1, (size_t)(behind - text), out);
		line = behind;
	}
}

/* Constant memory is global memory. */
static void put_settled(FILE *out, const char *line, const char *end)
{
	static const char from[] = "addrspace(4)", to[] = "addrspace(1)";
	const char *found;

	while ((found = memmem(line, (size_t)(end - line), from, sizeof(from) - 1)) != NULL) {
		(void)fwrite(line, 1, (size_t)(found - line), out);
		(void)fputs(to, out);
		line = found + sizeof(from) - 1;
	}
	(void)fwrite(line, 1, (size_t)(end - line), out);
}

/* True for "define" without a word about its linkage. */
static bool function_is_public(const char *line, size_t bytes)
{
	static const char *const words[] = {"internal ",  "private ",      "linkonce",
					    "weak",       "available_ext", "common ",
					    "appending ", "extern_weak ",  "external "};

	if (bytes <= 7 || memcmp(line, "define ", 7) != 0 || cuda_ir_is_kernel(line, bytes))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strncmp(line + 7, words[i], strlen(words[i])) == 0)
			return false;
	return true;
}

static char *finish_text(FILE *out, char **text)
{
	bool failed = ferror(out) != 0;

	if (fclose(out) != 0 || failed) {
		free(*text);
		return NULL;
	}
	return *text;
}

char *cuda_ir_settle(const char *text)
{
	char *made = NULL;
	size_t count = 0;
	FILE *out = open_memstream(&made, &count);

	if (!out)
		return NULL;
	for (const char *line = text, *end; *line; line = end) {
		end = strchrnul(line, '\n');
		end += *end == '\n';
		size_t bytes = (size_t)(end - line), head = 0;
		if (function_is_public(line, bytes)) {
			static const char local[] = "define dso_local ";
			bool is_local = strncmp(line, local, sizeof(local) - 1) == 0;
			(void)fputs("define internal ", out);
			head = is_local ? sizeof(local) - 1 : 7;
		}
		put_line(out, line + head, end, put_settled);
	}
	return finish_text(out, &made);
}

/* The address space of "ptr" or "ptr addrspace(N)" at `at`; -1: something else. */
static int pointer_space(const char *at, const char *end)
{
	static const char pointer[] = "ptr", space[] = " addrspace(";
	const size_t length = sizeof(pointer) - 1;

	if ((size_t)(end - at) < length || memcmp(at, pointer, length) != 0)
		return -1;
	at += length;
	if ((size_t)(end - at) < sizeof(space) || memcmp(at, space, sizeof(space) - 1) != 0)
		return 0;
	return at[sizeof(space) - 1] - '0';
}

/* SPIR has private memory and generic addresses apart; they are one space here. */
static int joined_space(int space)
{
	return space == 4 ? 0 : space;
}

/* True if a cast of addresses changes nothing here. `at` is behind "addrspacecast". */
static bool cast_is_void(const char *at, const char *end)
{
	bool is_constant = *at == ' ' && at[1] == '(';
	const char *from = at + (is_constant ? 2 : 1), *stop = from, *to = NULL;

	for (int depth = 0;
	     stop < end && *stop != '\n' && !(is_constant && depth == 0 && *stop == ')'); stop++) {
		depth += *stop == '(';
		depth -= *stop == ')';
		if (depth == 0 && end - stop > 4 && memcmp(stop, " to ", 4) == 0)
			to = stop + 4;
	}
	if (!to)
		return false;
	int a = pointer_space(from, stop), b = pointer_space(to, stop);
	return a >= 0 && b >= 0 && joined_space(a) == joined_space(b);
}

/* SPIR's address spaces, and those in the names of functions, as NVIDIA's. */
static const struct {
	const char *from, *to;
} spaces[] = {
	{" addrspace(4)", ""},
	{"addrspace(4)", "addrspace(0)"},
	{"addrspace(2)", "addrspace(4)"},
	{"PU3AS4", "P"},
	{"PU3AS2", "PU3AS4"},
};

static void put_retargeted(FILE *out, const char *line, const char *end)
{
	static const char cast[] = "addrspacecast";
	const char *at = line;

	while (at < end) {
		const size_t left = (size_t)(end - at);
		size_t i = 0;
		if (left > sizeof(cast) && memcmp(at, cast, sizeof(cast) - 1) == 0) {
			at += sizeof(cast) - 1;
			(void)fputs(cast_is_void(at, end) ? "bitcast" : cast, out);
			continue;
		}
		while (i < sizeof(spaces) / sizeof(*spaces) &&
		       (left < strlen(spaces[i].from) ||
			memcmp(at, spaces[i].from, strlen(spaces[i].from)) != 0))
			i++;
		if (i < sizeof(spaces) / sizeof(*spaces)) {
			(void)fputs(spaces[i].to, out);
			at += strlen(spaces[i].from);
		} else {
			(void)fputc(*at++, out);
		}
	}
}

/* The note by which the compiler knows kernels. */
static void put_kernel_notes(FILE *out, const char *text)
{
	unsigned count = 0;

	for (const char *line = text, *end; *line; line = end) {
		const char *name = NULL;
		end = strchrnul(line, '\n');
		size_t bytes = (size_t)(end - line);
		end += *end == '\n';
		size_t name_bytes =
			cuda_ir_is_kernel(line, bytes) ? cuda_ir_name(line, bytes, &name) : 0;
		if (name_bytes > 0)
			(void)fprintf(out, "!%u = !{ptr @\"%.*s\", !\"kernel\", i32 1}\n",
				      20000000 + count++, (int)name_bytes, name);
	}
	(void)fputs("!nvvm.annotations = !{", out);
	for (unsigned i = 0; i < count; i++)
		(void)fprintf(out, "%s!%u", i ? ", " : "", 20000000 + i);
	(void)fputs("}\n", out);
}

char *cuda_ir_retarget(const char *text)
{
	char *made = NULL;
	size_t count = 0;
	FILE *out = open_memstream(&made, &count);

	if (!out)
		return NULL;
	for (const char *line = text, *end; *line; line = end) {
		end = strchrnul(line, '\n');
		end += *end == '\n';
		if (strncmp(line, "target ", 7) != 0)
			put_line(out, line, end, put_retargeted);
	}
	put_kernel_notes(out, text);
	return finish_text(out, &made);
}
