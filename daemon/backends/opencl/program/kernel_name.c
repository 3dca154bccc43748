#include "opencl/program/kernel_name.h"

#include "cleanup.h"
#include "opencl/program/long_name.h"
#include "portable_names.h"

#include <stdio.h>
#include <string.h>

#define POCL_PREFIX "_cl_"

void opencl_kernel_name_restore(char *name)
{
	const size_t bytes = sizeof(POCL_PREFIX) - 1;

	portable_names_restore(name);
	if (strncmp(name, POCL_PREFIX, bytes) == 0 &&
	    portable_name_is_builtin(name + bytes, strlen(name + bytes)))
		memmove(name, name + bytes, strlen(name + bytes) + 1);
}

cl_kernel opencl_kernel_name_create(const struct opencl_library *cl, cl_program program,
				    const char *name, cl_int *code_out)
{
	static const char *const prefixes[] = {"", POCL_PREFIX, PORTABLE_NAMES_PREFIX};
	size_t count = portable_name_is_builtin(name, strlen(name)) ? 3 : 1;
	cl_kernel kernel = NULL;
	char short_name[OPENCL_SHORT_NAME_BYTES];

	/* First, as a driver may overflow its buffers with a long one. */
	if (opencl_long_name_shorten(name, strlen(name), short_name))
		kernel = cl->CreateKernel(program, short_name, code_out);
	for (size_t i = 0; !kernel && i < count; i++) {
		CLEANUP(free_pointer) char *full = NULL;
		if (asprintf(&full, "%s%s", prefixes[i], name) < 0) {
			full = NULL;
			*code_out = CL_OUT_OF_HOST_MEMORY;
			return NULL;
		}
		kernel = cl->CreateKernel(program, full, code_out);
		if (!kernel && *code_out != CL_INVALID_KERNEL_NAME)
			return NULL;
	}
	return kernel;
}
