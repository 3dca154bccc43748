#include "opencl_program.h"

#include "opencl_fault.h"
#include "status.h"

#include <string.h>

static cl_program create(struct backend_device *device, const struct opencl_binary *binary, cl_int *code_out)
{
	const struct opencl_library *cl = device->cl;
	const unsigned char *bytes = binary->payload;
	cl_int loaded = CL_SUCCESS;

	if (binary->is_builtin)
		return cl->CreateProgramWithBuiltInKernels(device->context, 1, &device->id, binary->payload, code_out);
	cl_program program = cl->CreateProgramWithBinary(device->context, 1, &device->id, &binary->payload_bytes, &bytes,
							 &loaded, code_out);
	if (program && loaded != CL_SUCCESS) {
		(void)cl->ReleaseProgram(program);
		*code_out = loaded;
		return NULL;
	}
	return program;
}

int opencl_program_load(struct backend_device *device, const void *bytes, size_t count,
			struct backend_program **program_out, struct backend_fault *fault_out)
{
	CLEANUP(opencl_binary_cleanup) struct opencl_binary *binary = NULL;
	cl_int code = CL_SUCCESS;

	int error = opencl_binary_unpack(bytes, count, &binary);
	if (error < 0) {
		opencl_fault_words(fault_out, status_from_errno(error), "this is not a binary for an OpenCL device");
		return error;
	}
	struct backend_program *program = calloc(1, sizeof(*program));
	if (!program) {
		opencl_fault_words(fault_out, STATUS_MEMORY_ALLOCATION, "no memory");
		return -ENOMEM;
	}
	program->program = create(device, binary, &code);
	if (!program->program) {
		free(program);
		return opencl_fault_code(fault_out, code, "load the binary");
	}
	/*
	 * A binary must still be built, which takes no compiler. So must built-in kernels for PoCL, though the standard has
	 * them ready and lets the call fail.
	 */
	code = device->cl->BuildProgram(program->program, 1, &device->id, "", NULL, NULL);
	if (code != CL_SUCCESS && !binary->is_builtin) {
		(void)device->cl->ReleaseProgram(program->program);
		free(program);
		return opencl_fault_code(fault_out, code, "prepare the binary");
	}
	program->device = device;
	program->references = 1;
	program->binary = TAKE(binary);
	*program_out = program;
	return 0;
}

int opencl_program_kernels(struct backend_program *program, char **names_out, struct backend_fault *fault_out)
{
	const struct opencl_binary *binary = program->binary;
	size_t bytes = 1;

	for (uint32_t i = 0; i < binary->kernel_count; i++)
		bytes += strlen(binary->kernels[i].name) + 1;
	char *names = calloc(1, bytes);
	if (!names) {
		opencl_fault_words(fault_out, STATUS_MEMORY_ALLOCATION, "no memory");
		return -ENOMEM;
	}
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
	(void)program->device->cl->ReleaseProgram(program->program);
	program->binary = opencl_binary_free(program->binary);
	free(program);
}
