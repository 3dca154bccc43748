/* Reads kernels: each is a line "define ... spir_kernel void @NAME(...) !kernel_arg_type !7 ... {",
 * and "!7 = !{!"float*", ...}" has the words. */
#include "cuda/translate/ir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ir_text {
	const char *text;
	const char **notes; /* by number: behind "!N = "; NULL: absent */
	size_t note_count;
};

static const char *line_end(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end : line + strlen(line);
}

static bool line_has(const char *line, size_t bytes, const char *word)
{
	return memmem(line, bytes, word, strlen(word)) != NULL;
}

bool cuda_ir_is_kernel(const char *line, size_t bytes)
{
	return bytes > 7 && memcmp(line, "define ", 7) == 0 &&
	       (line_has(line, bytes, " spir_kernel ") || line_has(line, bytes, " ptx_kernel "));
}

size_t cuda_ir_name(const char *line, size_t bytes, const char **name_out)
{
	const char *at = memchr(line, '@', bytes), *end = line + bytes;
	const char *stop = NULL;

	if (!at || ++at == end)
		return 0;
	if (*at == '"') {
		at++;
		stop = memchr(at, '"', (size_t)(end - at));
	} else {
		stop = memchr(at, '(', (size_t)(end - at));
	}
	*name_out = at;
	return stop ? (size_t)(stop - at) : 0;
}

/* Finds the notes that have numbers. */
static int index_notes(struct ir_text *ir)
{
	size_t capacity = 0;

	for (const char *line = ir->text; *line; line = line_end(line), line += *line == '\n') {
		char *behind = NULL;
		if (line[0] != '!' || line[1] < '0' || line[1] > '9')
			continue;
		unsigned long number = strtoul(line + 1, &behind, 10);
		if (strncmp(behind, " = ", 3) != 0 || number > 10000000)
			continue;
		if (number >= capacity) {
			size_t more = (number + 64) * 2;
			const char **grown = reallocarray(ir->notes, more, sizeof(*grown));
			if (!grown)
				return -ENOMEM;
			memset(grown + capacity, 0, (more - capacity) * sizeof(*grown));
			ir->notes = grown;
			capacity = more;
		}
		ir->notes[number] = behind + 3;
		ir->note_count = number >= ir->note_count ? number + 1 : ir->note_count;
	}
	return 0;
}

/* The note that the line has under the name; "": none. */
static const char *kernel_note(const struct ir_text *ir, const char *line, size_t bytes,
			       const char *name)
{
	char key[48];

	int length = snprintf(key, sizeof(key), " !%s !", name);
	const char *at = memmem(line, bytes, key, (size_t)length);
	unsigned long number = at ? strtoul(at + length, NULL, 10) : ir->note_count;
	const char *note = number < ir->note_count ? ir->notes[number] : NULL;
	return note && strncmp(note, "!{", 2) == 0 ? note + 2 : "";
}

/* Moves *note behind its next "i32 N". */
static uint32_t next_number(const char **note)
{
	const char *at = *note;

	while (*at && *at != '}' && strncmp(at, "i32 ", 4) != 0)
		at++;
	if (*at != 'i') {
		*note = at;
		return 0;
	}
	char *end = NULL;
	unsigned long number = strtoul(at + 4, &end, 10);
	*note = end;
	return (uint32_t)number;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
				      : -1;
}

/* Moves *note behind its next !"TEXT". A longer text is cut off. */
static void next_text(const char **note, char *text_out, size_t most)
{
	const char *at = *note;
	size_t count = 0;

	while (*at && *at != '\n' && *at != '"' && *at != '}')
		at++;
	at += *at == '"';
	while (*at && *at != '\n' && *at != '"' && *at != '}') {
		char c = *at++;
		if (c == '\\' && hex_digit(at[0]) >= 0 && hex_digit(at[1]) >= 0) {
			c = (char)(hex_digit(at[0]) * 16 + hex_digit(at[1]));
			at += 2;
		}
		if (count + 1 < most)
			text_out[count++] = c;
	}
	text_out[count] = '\0';
	*note = at + (*at == '"');
}

static void read_qualifiers(const char *text, struct backend_argument_facts *facts)
{
	facts->is_const = strstr(text, "const") != NULL;
	facts->qualifiers = (uint8_t)((facts->is_const ? BACKEND_QUALIFIER_CONST : 0u) |
				      (strstr(text, "restrict") ? BACKEND_QUALIFIER_RESTRICT : 0u) |
				      (strstr(text, "volatile") ? BACKEND_QUALIFIER_VOLATILE : 0u) |
				      (strstr(text, "pipe") ? BACKEND_QUALIFIER_PIPE : 0u));
}

static void read_access(const char *text, struct backend_argument_facts *facts)
{
	facts->access = strcmp(text, "read_only") == 0    ? BACKEND_ACCESS_READ
			: strcmp(text, "write_only") == 0 ? BACKEND_ACCESS_WRITE
			: strcmp(text, "read_write") == 0 ? BACKEND_ACCESS_READ_WRITE
							  : BACKEND_ACCESS_NONE;
	if (facts->access != BACKEND_ACCESS_NONE)
		facts->kind = BACKEND_ARGUMENT_IMAGE;
	else if (strcmp(facts->type_name, "sampler_t") == 0)
		facts->kind = BACKEND_ARGUMENT_SAMPLER;
}

/* SPIR's numbers of address spaces, in notes whatever the target is. */
static void facts_read_space(uint32_t number, struct backend_argument_facts *facts)
{
	static const struct {
		enum backend_argument_kind kind;
		enum backend_address_space address;
	} spaces[] = {
		{BACKEND_ARGUMENT_VALUE, BACKEND_ADDRESS_PRIVATE},
		{BACKEND_ARGUMENT_GLOBAL, BACKEND_ADDRESS_GLOBAL},
		{BACKEND_ARGUMENT_GLOBAL, BACKEND_ADDRESS_CONSTANT},
		{BACKEND_ARGUMENT_LOCAL, BACKEND_ADDRESS_LOCAL},
	};

	facts->kind = spaces[number & 3].kind;
	facts->address = spaces[number & 3].address;
}

static int read_kernel(const struct ir_text *ir, const char *line, size_t bytes,
		       struct cuda_ir_kernel *kernel)
{
	const char *name = NULL;
	const size_t name_bytes = cuda_ir_name(line, bytes, &name);
	const char *spaces = kernel_note(ir, line, bytes, "kernel_arg_addr_space");
	const char *access = kernel_note(ir, line, bytes, "kernel_arg_access_qual");
	const char *types = kernel_note(ir, line, bytes, "kernel_arg_type");
	const char *qualifiers = kernel_note(ir, line, bytes, "kernel_arg_type_qual");
	const char *names = kernel_note(ir, line, bytes, "kernel_arg_name");
	const char *shape = kernel_note(ir, line, bytes, "reqd_work_group_size");
	char text[64];

	if (name_bytes == 0)
		return -EINVAL;
	kernel->name = strndup(name, name_bytes);
	kernel->argument_count = strncmp(spaces, "i32 ", 4) == 0 ? 1 : 0;
	for (const char *at = spaces; kernel->argument_count && *at && *at != '}'; at++)
		kernel->argument_count += *at == ',';
	kernel->arguments = calloc(kernel->argument_count + 1u, sizeof(*kernel->arguments));
	if (!kernel->name || !kernel->arguments)
		return -ENOMEM;
	for (unsigned d = 0; *shape && d < 3; d++)
		kernel->required[d] = next_number(&shape);
	for (uint32_t i = 0; i < kernel->argument_count; i++) {
		struct backend_argument_facts *facts = &kernel->arguments[i];
		facts_read_space(next_number(&spaces), facts);
		next_text(&types, facts->type_name, sizeof(facts->type_name));
		next_text(&names, facts->name, sizeof(facts->name));
		next_text(&qualifiers, text, sizeof(text));
		read_qualifiers(text, facts);
		next_text(&access, text, sizeof(text));
		read_access(text, facts);
	}
	return 0;
}

int cuda_ir_read(const char *text, struct cuda_ir_kernels *kernels_out)
{
	struct ir_text ir = {.text = text};
	struct cuda_ir_kernels kernels = {0};
	int error = index_notes(&ir);

	for (const char *line = text, *end; error == 0 && *line; line = end + (*end == '\n')) {
		end = line_end(line);
		if (!cuda_ir_is_kernel(line, (size_t)(end - line)))
			continue;
		void *grown = reallocarray(kernels.list, kernels.count + 1u, sizeof(*kernels.list));
		if (!grown) {
			error = -ENOMEM;
			break;
		}
		kernels.list = grown;
		kernels.list[kernels.count] = (struct cuda_ir_kernel){0};
		error = read_kernel(&ir, line, (size_t)(end - line), &kernels.list[kernels.count]);
		kernels.count++;
	}
	free(ir.notes);
	if (error < 0)
		cuda_ir_kernels_fini(&kernels);
	else
		*kernels_out = kernels;
	return error;
}

void cuda_ir_kernels_fini(struct cuda_ir_kernels *kernels)
{
	for (uint32_t i = 0; i < kernels->count; i++) {
		free(kernels->list[i].name);
		free(kernels->list[i].arguments);
	}
	free(kernels->list);
	*kernels = (struct cuda_ir_kernels){0};
}
