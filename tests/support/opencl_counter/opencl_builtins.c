/*
 * One of the built-in kernels that PoCL lists, for a PoCL that is packaged without the sources of its own: made of a source
 * here, and called by its name with dots, as the driver would have it.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include "opencl_builtins.h"

#include <string.h>

#define BUILTIN "pocl.add.i8"
#define FUNCTION "pocl_add_i8"

static const cl_icd_dispatch *next;

static cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const cl_device_id *devices,
					     const char *names, cl_int *code)
{
	const char *source = "__kernel void " FUNCTION "(__global const uchar *a, __global const uchar *b, __global uchar *c)\n"
			     "{ size_t i = get_global_id(0); c[i] = a[i] + b[i]; }\n";

	if (strcmp(names, BUILTIN) != 0)
		return next->clCreateProgramWithBuiltInKernels(context, count, devices, names, code);
	return next->clCreateProgramWithSource(context, 1, &source, NULL, code);
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *code)
{
	return next->clCreateKernel(program, strcmp(name, BUILTIN) == 0 ? FUNCTION : name, code);
}

static cl_int CL_API_CALL kernel_info(cl_kernel kernel, cl_kernel_info what, size_t bytes, void *value, size_t *bytes_out)
{
	cl_int code = next->clGetKernelInfo(kernel, what, bytes, value, bytes_out);

	if (code == CL_SUCCESS && what == CL_KERNEL_FUNCTION_NAME && value && strcmp(value, FUNCTION) == 0)
		memcpy(value, BUILTIN, sizeof(BUILTIN));
	return code;
}

void opencl_builtins_install(cl_icd_dispatch *table, const cl_icd_dispatch *below)
{
	next = below;
	table->clCreateProgramWithBuiltInKernels = create_program;
	table->clCreateKernel = create_kernel;
	table->clGetKernelInfo = kernel_info;
}
