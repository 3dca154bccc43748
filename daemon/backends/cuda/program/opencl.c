#include "cuda/program/opencl.h"

#include "build_log.h"
#include "cuda/program/launch.h"
#include "cuda/program/ptx.h"
#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse_text(struct backend_fault *fault_out)
{
	return cuda_fault_words(fault_out, -EINVAL, STATUS_BUILD,
				"clang made PTX that is not understood");
}

/* Writes the function's name as the source has it: from "_Z11read_imagef..." "read_imagef". */
static void plain_name(const char *symbol, size_t bytes, char *name_out, size_t most)
{
	size_t length = bytes, at = 0;

	if (bytes > 3 && memcmp(symbol, "_Z", 2) == 0 && symbol[2] >= '1' && symbol[2] <= '9') {
		char *behind = NULL;
		length = strtoul(symbol + 2, &behind, 10);
		at = (size_t)(behind - symbol);
		if (at >= bytes || length > bytes - at) {
			at = 0;
			length = bytes;
		}
	}
	(void)snprintf(name_out, most, "%.*s", (int)length, symbol + at);
}

/* Refuses a program that calls a function without a body: ".extern .func (...) NAME". */
static int check_functions(const char *ptx, struct backend_fault *fault_out)
{
	static const char mark[] = ".extern .func";
	const char *at = strstr(ptx, mark);
	char name[64];

	if (!at)
		return 0;
	at += sizeof(mark) - 1;
	at += strspn(at, " \t");
	if (*at == '(')
		at = strchrnul(at, ')');
	at += strspn(at, ") \t");
	plain_name(at, strcspn(at, " \t\r\n(;"), name, sizeof(name));
	return cuda_fault_words(fault_out, -EINVAL, STATUS_BUILD,
				"the function %s is not there on CUDA devices", name);
}

static const struct cuda_ir_kernel *kernel_facts_of(const struct cuda_ir_kernels *kernels,
						    const char *name)
{
	for (uint32_t i = 0; i < kernels->count; i++)
		if (strcmp(kernels->list[i].name, name) == 0)
			return &kernels->list[i];
	return NULL;
}

/* Images and samplers have no values here that a kernel could use. */
static int check_argument(const struct cuda_ir_kernel *kernel, uint32_t index,
			  struct backend_fault *fault_out)
{
	const struct backend_argument_facts *facts = &kernel->arguments[index];

	if (facts->kind != BACKEND_ARGUMENT_IMAGE && facts->kind != BACKEND_ARGUMENT_SAMPLER)
		return 0;
	return cuda_fault_words(fault_out, -EINVAL, STATUS_BUILD,
				"argument %u of kernel %.80s is %s, which kernels of OpenCL C "
				"cannot have on CUDA devices",
				index, kernel->name,
				facts->kind == BACKEND_ARGUMENT_IMAGE ? "an image" : "a sampler");
}

static int describe_opencl(const struct cuda_ptx_entry *entry, const struct cuda_ir_kernel *from,
			   struct cuda_binary_kernel *kernel, struct backend_fault *fault_out)
{
	kernel->name = strdup(entry->name);
	kernel->symbol = strdup(entry->name);
	kernel->arguments = calloc(entry->parameter_count + 1u, sizeof(*kernel->arguments));
	if (!kernel->name || !kernel->symbol || !kernel->arguments)
		return cuda_no_memory(fault_out, "a build");
	if (!from || from->argument_count != entry->parameter_count)
		return refuse_text(fault_out);
	memcpy(kernel->required, from->required, sizeof(kernel->required));
	kernel->argument_count = entry->parameter_count;
	kernel->waits = entry->waits;
	for (uint32_t i = 0; i < entry->parameter_count; i++) {
		struct cuda_binary_argument *argument = &kernel->arguments[i];
		int error = check_argument(from, i, fault_out);
		if (error < 0)
			return error;
		argument->facts = from->arguments[i];
		argument->facts.size_bytes = entry->parameters[i].size_bytes;
		argument->local = argument->facts.kind == BACKEND_ARGUMENT_LOCAL ? CUDA_LOCAL_SHARED
										 : CUDA_LOCAL_NONE;
	}
	return 0;
}

static int describe_all(struct cuda_ptx *ptx, const struct cuda_ir_kernels *kernels,
			struct cuda_binary *binary, struct backend_fault *fault_out)
{
	int error = 0;

	binary->kernels = calloc(ptx->entry_count + 1u, sizeof(*binary->kernels));
	if (!binary->kernels)
		return cuda_no_memory(fault_out, "a build");
	for (uint32_t i = 0; error == 0 && i < ptx->entry_count; i++) {
		struct cuda_ptx_entry *entry = &ptx->entries[i];
		const struct cuda_ir_kernel *from = kernel_facts_of(kernels, entry->name);
		binary->kernel_count = i + 1;
		error = describe_opencl(entry, from, &binary->kernels[i], fault_out);
		if (error < 0 || !from || from->required[0] == 0)
			continue;
		entry->is_shaped = true;
		memcpy(entry->required, from->required, sizeof(entry->required));
	}
	return error;
}

/* Gives each kernel the record of its launch. A range has three dimensions always (geometry.h). */
static int complete_all(const struct cuda_translation *translation, struct cuda_ptx *ptx,
			struct cuda_binary *binary, struct backend_fault *fault_out)
{
	CLEANUP(free_pointer) const char **names = calloc(ptx->entry_count + 1u, sizeof(char *));
	CLEANUP(free_pointer) char *text = NULL;
	size_t bytes = 0;
	uint32_t wrong = 0;

	if (!names)
		return cuda_no_memory(fault_out, "a build");
	for (uint32_t i = 0; i < ptx->entry_count; i++)
		names[i] = ptx->entries[i].name;
	int error = cuda_ptx_complete(translation->bytes, translation->count, ptx, 3, names, &text,
				      &bytes, &wrong);
	if (error == -EINVAL)
		return refuse_text(fault_out);
	if (error < 0 || cuda_binary_add_image(binary, CUDA_IMAGE_PTX, text, bytes) < 0)
		return cuda_no_memory(fault_out, "a build");
	return 0;
}

static int take_ptx(const struct cuda_translation *translation, struct cuda_binary *binary,
		    struct backend_fault *fault_out)
{
	CLEANUP(cuda_ptx_cleanup) struct cuda_ptx *ptx = NULL;

	int error = check_functions(translation->bytes, fault_out);
	if (error < 0)
		return error;
	error = cuda_ptx_parse(translation->bytes, translation->count, &ptx, NULL);
	if (error == -ENOMEM)
		return cuda_no_memory(fault_out, "a build");
	if (error < 0 || !ptx)
		return refuse_text(fault_out);
	cuda_ptx_blank_shared(translation->bytes, ptx);
	error = describe_all(ptx, &translation->kernels, binary, fault_out);
	return error == 0 ? complete_all(translation, ptx, binary, fault_out) : error;
}

int cuda_opencl_build(const struct cuda_translate_request *request, struct cuda_binary *binary,
		      char **log_in_out, struct backend_fault *fault_out)
{
	CLEANUP(cuda_translation_fini) struct cuda_translation translation = {0};

	int error = cuda_translate(request, &translation, log_in_out, fault_out);
	if (error < 0)
		return error;
	binary->flags = CUDA_BINARY_OPENCL;
	if (!request->relocatable) {
		error = take_ptx(&translation, binary, fault_out);
		if (error < 0 && fault_out) {
			build_log_add(log_in_out, fault_out->text);
			build_log_add(log_in_out, "\n");
		}
		return error;
	}
	return cuda_binary_add_image(binary, CUDA_IMAGE_BITCODE, translation.bytes,
				     translation.count) < 0
		       ? cuda_no_memory(fault_out, "a build")
		       : 0;
}
