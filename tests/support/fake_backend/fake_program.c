/*
 * Programs of the fake backend: names of its functions, one per line; of a SPIR-V module the names
 * of its entry points. The binary is a magic line and those names. A source of built-in kernels
 * gets another magic line, because such kernels have a largest range.
 */
#include "fake_internal.h"

#include "cleanup.h"
#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "fake program 1\n", magic_builtin[] = "fake builtin 1\n";
#define MAGIC_BYTES (sizeof(magic) - 1)

/* Finds the next line with a name. Returns false at the end. `line_out`: 1 for the first line. */
static bool next_name(const char **at, const char *end, uint32_t *line, const char **name_out,
		      size_t *length_out)
{
	while (*at < end) {
		const char *start = *at;
		const char *stop = memchr(start, '\n', (size_t)(end - start));
		if (!stop)
			stop = end;
		*at = stop < end ? stop + 1 : end;
		(*line)++;
		while (start < stop && (*start == ' ' || *start == '\t'))
			start++;
		while (start < stop && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r'))
			stop--;
		if (start == stop || *start == '#')
			continue;
		*name_out = start;
		*length_out = (size_t)(stop - start);
		return true;
	}
	return false;
}

/* The names of a module's entry points, one per line, which the caller frees. NULL: no module. */
static char *module_names(const char *source, size_t source_bytes)
{
	enum { MAGIC = 0x07230203, HEADER_WORDS = 5, OP_ENTRY_POINT = 15, WORDS_BEFORE_NAME = 3 };
	const size_t total = source_bytes / sizeof(uint32_t);
	CLEANUP(free_pointer) uint32_t *words = malloc(source_bytes + 1);
	CLEANUP(free_pointer) char *names = calloc(1, source_bytes + 1);
	if (!words || !names || total < HEADER_WORDS)
		return NULL;
	memcpy(words, source, source_bytes);
	if (words[0] != MAGIC)
		return NULL;
	for (size_t at = HEADER_WORDS; at < total;) {
		const size_t count = words[at] >> 16;
		if (count == 0 || count > total - at)
			return NULL;
		if ((words[at] & 0xffff) == OP_ENTRY_POINT && count > WORDS_BEFORE_NAME) {
			const size_t room = (count - WORDS_BEFORE_NAME) * sizeof(uint32_t);
			strncat(names, (const char *)&words[at + WORDS_BEFORE_NAME], room);
			names[strlen(names)] = '\n'; /* the rest is zero */
		}
		at += count;
	}
	return TAKE(names);
}

static int refuse_build(uint32_t line, const char *name, size_t length, char **log_out,
			struct backend_fault *fault_out)
{
	char *log = NULL;
	if (asprintf(&log, "line %u: no function \"%.*s\"\n", line,
		     (int)(length < 64 ? length : 64), name) >= 0)
		*log_out = log;
	fake_fault(fault_out, STATUS_BUILD, "the program does not compile");
	return -EINVAL;
}

int fake_build(struct backend *backend, uint32_t device, enum backend_source_kind kind,
	       const char *source, size_t source_bytes, const char *options, void **binary_out,
	       size_t *binary_bytes_out, char **log_out, struct backend_fault *fault_out)
{
	(void)options;
	(void)pthread_mutex_lock(&fake_state.lock);
	bool fails = fake_scripted_locked(FAKE_BUILD, device, fault_out);
	(void)pthread_mutex_unlock(&fake_state.lock);
	if (fails)
		return -EINVAL;

	CLEANUP(free_pointer) char *log = NULL;
	CLEANUP(free_pointer) char *names = NULL;
	if (kind == BACKEND_SOURCE_SPIRV) {
		names = module_names(source, source_bytes);
		source = names ? names : "no module";
		source_bytes = strlen(source);
	}
	fake_build_script(source, source_bytes, fake_cache_directory(backend), &log);
	CLEANUP(free_pointer) char *binary = malloc(MAGIC_BYTES + source_bytes + 1);
	if (!binary) {
		fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no memory for the program");
		return -ENOMEM;
	}
	memcpy(binary, kind == BACKEND_SOURCE_BUILTIN ? magic_builtin : magic, MAGIC_BYTES);
	size_t used = MAGIC_BYTES;
	const char *at = source, *name;
	size_t length;
	uint32_t line = 0;
	while (next_name(&at, source + source_bytes, &line, &name, &length)) {
		if (!fake_variable_is(name, length) && !fake_function_find(name, length))
			return refuse_build(line, name, length, log_out, fault_out);
		memcpy(binary + used, name, length);
		used += length;
		binary[used++] = '\n';
	}
	*binary_bytes_out = used;
	*binary_out = TAKE(binary);
	*log_out = TAKE(log);
	return 0;
}

static int refuse_binary(struct backend_fault *fault_out)
{
	fake_fault(fault_out, STATUS_INVALID, "not a binary for this device");
	return -EINVAL;
}

int fake_program_add(struct backend_program *program, const void *binary, size_t binary_bytes,
		     struct backend_fault *fault_out)
{
	if (fake_entry_fails(FAKE_PROGRAM_LOAD, program->device, fault_out))
		return -EIO;
	bool fits =
		binary_bytes >= MAGIC_BYTES && (memcmp(binary, magic, MAGIC_BYTES) == 0 ||
						memcmp(binary, magic_builtin, MAGIC_BYTES) == 0);
	return fits ? 0 : refuse_binary(fault_out);
}

int fake_program_load(struct backend_device *device, const void *binary, size_t binary_bytes,
		      struct backend_program **program_out, struct backend_fault *fault_out)
{
	if (fake_entry_fails(FAKE_PROGRAM_LOAD, device, fault_out))
		return -EIO;
	bool is_builtin =
		binary_bytes >= MAGIC_BYTES && memcmp(binary, magic_builtin, MAGIC_BYTES) == 0;
	if (!is_builtin && (binary_bytes < MAGIC_BYTES || memcmp(binary, magic, MAGIC_BYTES) != 0))
		return refuse_binary(fault_out);

	const char *end = (const char *)binary + binary_bytes;
	size_t lines = 0;
	for (const char *p = (const char *)binary + MAGIC_BYTES; p < end; p++)
		lines += *p == '\n';
	CLEANUP(free_pointer)
	struct backend_program *program =
		calloc(1, sizeof(*program) + (lines + 1) * sizeof(void *));
	if (!program) {
		fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no memory for the program");
		return -ENOMEM;
	}
	program->device = device;
	program->references = 1;
	program->is_builtin = is_builtin;
	const char *at = (const char *)binary + MAGIC_BYTES, *name;
	size_t length;
	uint32_t line = 0;
	while (next_name(&at, end, &line, &name, &length)) {
		if (fake_variable_is(name, length)) {
			if (fake_variable_add(program, name, length) == 0)
				continue;
			fake_variables_free(program);
			return refuse_binary(fault_out);
		}
		const struct fake_function *function = fake_function_find(name, length);
		if (!function) {
			fake_variables_free(program);
			return refuse_binary(fault_out);
		}
		program->functions[program->count++] = function;
	}
	(void)pthread_mutex_lock(&fake_state.lock);
	device->slot->counters.programs++;
	(void)pthread_mutex_unlock(&fake_state.lock);
	*program_out = TAKE(program);
	return 0;
}

int fake_program_kernels(struct backend_program *program, char **names_out,
			 struct backend_fault *fault_out)
{
	if (fake_entry_fails(FAKE_PROGRAM_KERNELS, program->device, fault_out))
		return -EIO;
	size_t bytes = 1;
	for (uint32_t i = 0; i < program->count; i++)
		bytes += strlen(program->functions[i]->name) + 1;
	char *names = calloc(1, bytes);
	if (!names) {
		fake_fault(fault_out, STATUS_MEMORY_ALLOCATION,
			   "no memory for the names of kernels");
		return -ENOMEM;
	}
	char *at = names;
	for (uint32_t i = 0; i < program->count; i++) {
		size_t length = strlen(program->functions[i]->name) + 1;
		memcpy(at, program->functions[i]->name, length);
		at += length;
	}
	*names_out = names;
	return 0;
}

void fake_program_free(struct backend_program *program)
{
	if (!program)
		return;
	(void)pthread_mutex_lock(&fake_state.lock);
	program->device->slot->counters.programs--;
	(void)pthread_mutex_unlock(&fake_state.lock);
	fake_program_drop(program);
}

static void describe_arguments(struct backend_kernel *kernel)
{
	for (uint32_t i = 0; i < kernel->function->argument_count; i++) {
		struct backend_argument_facts *facts = &kernel->arguments[i];
		bool global = kernel->function->kinds[i] == BACKEND_ARGUMENT_GLOBAL;
		facts->kind = kernel->function->kinds[i];
		if (facts->kind == BACKEND_ARGUMENT_IMAGE ||
		    facts->kind == BACKEND_ARGUMENT_SAMPLER) {
			facts->is_const = i > 0;
			(void)snprintf(facts->type_name, sizeof(facts->type_name), "%s",
				       facts->kind == BACKEND_ARGUMENT_IMAGE ? "image" : "sampler");
			continue;
		}
		facts->size_bytes = global ? 0 : sizeof(uint32_t);
		facts->is_const = global && i > 0;
		(void)snprintf(facts->type_name, sizeof(facts->type_name), "%s",
			       global ? "uint*" : "uint");
		(void)snprintf(facts->name, sizeof(facts->name), "%s",
			       !global  ? "value"
			       : i == 0 ? "destination"
					: "source");
	}
}

int fake_kernel_create(struct backend_program *program, const char *name,
		       struct backend_kernel **kernel_out, struct backend_fault *fault_out)
{
	if (fake_entry_fails(FAKE_KERNEL_CREATE, program->device, fault_out))
		return -EIO;
	for (uint32_t i = 0; i < program->count; i++) {
		if (strcmp(program->functions[i]->name, name) != 0)
			continue;
		struct backend_kernel *kernel = calloc(1, sizeof(*kernel));
		if (!kernel) {
			fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no memory for the kernel");
			return -ENOMEM;
		}
		kernel->device = program->device;
		kernel->is_builtin = program->is_builtin;
		kernel->function = program->functions[i];
		describe_arguments(kernel);
		(void)pthread_mutex_lock(&fake_state.lock);
		kernel->device->slot->counters.kernels++;
		(void)pthread_mutex_unlock(&fake_state.lock);
		*kernel_out = kernel;
		return 0;
	}
	fake_fault(fault_out, STATUS_KERNEL, "the program has no kernel \"%.100s\"", name);
	return -ENOENT;
}

void fake_kernel_facts(struct backend_kernel *kernel, struct backend_kernel_facts *facts_out)
{
	*facts_out = (struct backend_kernel_facts){
		.arguments = kernel->arguments,
		.argument_count = kernel->function->argument_count,
		.max_work_group_size = 1024,
		.preferred_multiple = 1,
		.splits = !kernel->function->walks,
		.waits = strcmp(kernel->function->name, "noop") != 0,
	};
	if (kernel->is_builtin)
		memcpy(facts_out->max_global_size, (const uint64_t[]){64, 4096, 1u << 20},
		       sizeof(facts_out->max_global_size));
}

void fake_kernel_free(struct backend_kernel *kernel)
{
	if (!kernel)
		return;
	(void)pthread_mutex_lock(&fake_state.lock);
	kernel->device->slot->counters.kernels--;
	(void)pthread_mutex_unlock(&fake_state.lock);
	free(kernel);
}

/* The numbers are invented, but the same each time: a compute unit holds 2048 work-items. */
int fake_kernel_occupancy(struct backend_kernel *kernel, const uint64_t local[3],
			  uint64_t local_mem_bytes, struct backend_occupancy *occupancy_out,
			  struct backend_fault *fault_out)
{
	struct backend_occupancy occupancy = {.suggested_group_size = 256};
	if (fake_entry_fails(FAKE_OCCUPANCY, kernel->device, fault_out))
		return -EIO;
	if (!fake_has(kernel->device, BACKEND_FEATURE_OCCUPANCY))
		return fake_refuse(kernel->device, "report occupancy", fault_out);
	uint64_t items = local[0];
	for (uint32_t i = 1; i < 3 && local[i]; i++)
		items *= local[i];
	if (items > 1024 || local_mem_bytes > (1u << 16)) {
		fake_fault(fault_out, STATUS_ND_RANGE, "no work-group of this size fits");
		return -EINVAL;
	}
	if (items > 0) {
		occupancy.groups_per_compute_unit = (uint32_t)(2048 / items);
		occupancy.max_cooperative_groups = occupancy.groups_per_compute_unit;
	}
	*occupancy_out = occupancy;
	return 0;
}
