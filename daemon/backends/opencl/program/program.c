#include "opencl/program/program.h"

#include "opencl/driver/fault.h"
#include "opencl/program/growth.h"
#include "opencl/program/native_program.h"
#include "status.h"

#include <string.h>

static cl_program create_variant(struct backend_device *device, const struct opencl_binary *binary,
				 uint32_t variant, cl_int *code_out)
{
	const struct opencl_library *cl = device->cl;
	const struct opencl_payload *payload = &binary->payloads[variant];
	cl_int loaded = CL_SUCCESS;

	/* The copy is aligned and has a 0 behind it. Names need the 0, and a driver whose binaries
	 * are text may rely on it. */
	CLEANUP(free_pointer) char *copy = calloc(1, payload->count + 1);
	if (!copy) {
		*code_out = CL_OUT_OF_HOST_MEMORY;
		return NULL;
	}
	memcpy(copy, payload->bytes, payload->count);
	if (binary->is_builtin)
		return cl->CreateProgramWithBuiltInKernels(device->context, 1, &device->id, copy,
							   code_out);
	const unsigned char *bytes = (const unsigned char *)copy;
	cl_program program = cl->CreateProgramWithBinary(
		device->context, 1, &device->id, &payload->count, &bytes, &loaded, code_out);
	if (program && loaded != CL_SUCCESS) {
		(void)cl->ReleaseProgram(program);
		*code_out = loaded;
		return NULL;
	}
	return program;
}

bool opencl_program_may_print(const struct backend_program *program)
{
	static const char word[] = "printf";
	const struct opencl_binary *binary = program->binary;
	/* A number of dimensions that comes later may print alone. */
	if (binary && binary->identity &&
	    memmem(binary->identity, binary->identity_bytes, word, sizeof(word) - 1))
		return true;
	for (uint32_t i = 0; binary && i < OPENCL_VARIANTS; i++)
		if (binary->payloads[i].bytes &&
		    memmem(binary->payloads[i].bytes, binary->payloads[i].count, word,
			   sizeof(word) - 1))
			return true;
	return program->native_count > 0;
}

uint32_t opencl_program_variant(const struct backend_program *program, uint32_t dimensions)
{
	return opencl_binary_variant(program->binary, dimensions);
}

cl_program opencl_program_any(const struct backend_program *program)
{
	uint32_t variant = 0;

	while (variant < OPENCL_VARIANTS - 1 && !program->programs[variant])
		variant++;
	return program->programs[variant];
}

int opencl_program_get(struct backend_program *program, uint32_t variant, cl_program *program_out,
		       struct backend_fault *fault_out)
{
	struct backend_device *device = program->device;
	cl_int code = CL_SUCCESS;

	if (!program->programs[variant]) {
		if (!program->binary->payloads[variant].bytes) {
			opencl_fault_words(fault_out, STATUS_RUNTIME,
					   "the program was not built for %u dimensions",
					   variant + 1);
			return -EINVAL;
		}
		cl_program made = create_variant(device, program->binary, variant, &code);
		if (!made)
			return opencl_fault_code(fault_out, code, "load the binary");
		/* A binary must still be built, which needs no compiler. PoCL must also build
		 * built-in kernels. By the standard these are ready, and the call may fail. */
		code = device->cl->BuildProgram(made, 1, &device->id, "", NULL, NULL);
		if (code != CL_SUCCESS && !program->binary->is_builtin) {
			(void)device->cl->ReleaseProgram(made);
			return opencl_fault_code(fault_out, code, "prepare the binary");
		}
		program->programs[variant] = made;
	}
	*program_out = program->programs[variant];
	return 0;
}

/* Finds a program that is loaded already, perhaps by another session of the tenant. The driver
 * would load each one as a further copy. */
static struct backend_program *opencl_find_loaded(const struct backend_device *device,
						  const void *bytes, size_t count)
{
	struct backend_program *program = device->shares_programs ? device->programs : NULL;
	while (program && !opencl_binary_is(program->binary, bytes, count))
		program = program->next;
	return program;
}

static void unlink_program(struct backend_program *program)
{
	struct backend_program **link = &program->device->programs;
	while (*link && *link != program)
		link = &(*link)->next;
	if (*link)
		*link = program->next;
}

int opencl_program_load(struct backend_device *device, const void *bytes, size_t count,
			struct backend_program **program_out, struct backend_fault *fault_out)
{
	cl_program first = NULL;
	struct backend_program *present = opencl_find_loaded(device, bytes, count);
	if (present) {
		present->references++;
		*program_out = present;
		return 0;
	}
	struct backend_program *program = calloc(1, sizeof(*program));
	if (!program)
		return opencl_no_memory(fault_out, "a program");
	program->device = device;
	program->references = 1;
	int error = opencl_binary_unpack(bytes, count, &program->binary);
	if (error < 0)
		opencl_fault_words(fault_out, status_from_errno(error),
				   "this is not a binary for an OpenCL device");
	else
		error = opencl_program_get(program, opencl_binary_first(program->binary), &first,
					   fault_out);
	if (error < 0) {
		opencl_program_drop(program);
		return error;
	}
	program->next = device->programs;
	device->programs = program;
	*program_out = program;
	return 0;
}

int opencl_program_add(struct backend_program *program, const void *bytes, size_t count,
		       struct backend_fault *fault_out)
{
	CLEANUP(opencl_binary_cleanup) struct opencl_binary *added = NULL;
	const char *name = NULL;

	int error = opencl_binary_unpack(bytes, count, &added);
	if (error == 0)
		error = opencl_binary_add(program->binary, added, &name);
	if (error < 0 && name)
		opencl_fault_words(
			fault_out, STATUS_BUILD,
			"kernel %.100s has other arguments for other numbers of dimensions", name);
	else if (error < 0)
		opencl_fault_words(fault_out, status_from_errno(error),
				   "this binary does not belong to the program");
	return error;
}

int opencl_program_kernels(struct backend_program *program, char **names_out,
			   struct backend_fault *fault_out)
{
	const struct opencl_binary *binary = program->binary;
	size_t bytes = 1;

	if (program->native_count > 0)
		return opencl_native_program_kernels(program, names_out, fault_out);
	for (uint32_t i = 0; i < binary->kernel_count; i++)
		bytes += strlen(binary->kernels[i].name) + 1;
	char *names = calloc(1, bytes);
	if (!names)
		return opencl_no_memory(fault_out, "a program");
	char *at = names;
	for (uint32_t i = 0; i < binary->kernel_count; i++)
		at = stpcpy(at, binary->kernels[i].name) + 1;
	*names_out = names;
	return 0;
}

void opencl_program_drop(struct backend_program *program)
{
	if (!program || --program->references > 0)
		return;
	unlink_program(program);
	opencl_growths_free(program);
	if (program->native_count > 0 && program->programs[0] == program->natives[0])
		program->programs[0] = NULL; /* released once */
	for (uint32_t i = 0; i < OPENCL_VARIANTS; i++)
		if (program->programs[i])
			(void)program->device->cl->ReleaseProgram(program->programs[i]);
	for (uint32_t i = 0; i < program->native_count; i++)
		(void)program->device->cl->ReleaseProgram(program->natives[i]);
	free(program->natives);
	program->binary = opencl_binary_free(program->binary);
	free(program);
}
