/* Variables of a program, which commands use as USM. */
#include "cuda/program/launch.h"
#include "cuda/memory/state.h"
#include "cuda/program/program.h"
#include "status.h"

#include <errno.h>

/* Finds the driver's address of a variable. Portable sources have only constants, and share a
 * loaded program with other bundles. */
static int cuda_find_variable(const struct backend_program *program, const char *name,
			      CUdeviceptr *address_out, size_t *size_out,
			      struct backend_fault *fault_out)
{
	struct backend_device *device = program->device;
	const struct cuda_modules *modules = program->modules;
	CUresult result = CUDA_ERROR_NOT_FOUND;

	if (modules->binary->flags & CUDA_BINARY_NATIVE)
		result = device->backend->library.cuModuleGetGlobal(address_out, size_out,
								    modules->modules[0], name);
	if (result == CUDA_ERROR_NOT_FOUND || (result == CUDA_SUCCESS && *size_out == 0))
		return cuda_fault_words(fault_out, -ENOENT, STATUS_INVALID,
					"the program has no variable '%.100s'", name);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, &device->backend->library, result, fault_out,
				  "cannot find the variable '%.100s'", name);
	return 0;
}

static void variable_release(void *owner)
{
	cuda_program_drop(owner);
}

int cuda_program_variable(struct backend_program *program, const char *name, void **pointer_out,
			  uint64_t *size_bytes_out, struct backend_fault *fault_out)
{
	struct backend_device *device = program->device;
	CUdeviceptr address = 0;
	size_t size_bytes = 0;

	int error = cuda_enter(device, fault_out);
	if (error == 0)
		error = cuda_find_variable(program, name, &address, &size_bytes, fault_out);
	if (error < 0)
		return error;
	cuda_program_hold(program);
	error = cuda_usm_add(device, address, size_bytes, variable_release, program);
	if (error < 0) {
		cuda_program_drop(program);
		return cuda_fault_words(
			fault_out, error,
			error == -EEXIST ? STATUS_INVALID : STATUS_MEMORY_ALLOCATION,
			"the variable '%.100s' %s", name,
			error == -EEXIST ? "has been given out already" : "finds no memory");
	}
	*pointer_out = (void *)(uintptr_t)address;
	*size_bytes_out = size_bytes;
	return 0;
}
