/*
 * One of the built-in kernels that PoCL lists, for a package of PoCL that lacks their sources. It
 * is made of a source here. Programs use its name with dots, as in the driver's list.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include "opencl_builtins.h"

#include <string.h>

#define BUILTIN  "pocl.add.i8"
#define FUNCTION "pocl_add_i8"

static const cl_icd_dispatch *next;

static cl_program CL_API_CALL create_program(cl_context context, cl_uint count,
					     const cl_device_id *devices, const char *names,
					     cl_int *code)
{
	const char *source =
		"__kernel void " FUNCTION
		"(__global const uchar *a, __global const uchar *b, __global uchar *c)\n"
		"{ size_t i = get_global_id(0); c[i] = a[i] + b[i]; }\n";

	if (strcmp(names, BUILTIN) != 0)
		return next->clCreateProgramWithBuiltInKernels(context, count, devices, names,
							       code);
	return next->clCreateProgramWithSource(context, 1, &source, NULL, code);
}

static cl_kernel CL_API_CALL builtins_create_kernel(cl_program program, const char *name,
						    cl_int *code)
{
	return next->clCreateKernel(program, strcmp(name, BUILTIN) == 0 ? FUNCTION : name, code);
}

static cl_int CL_API_CALL kernel_info(cl_kernel kernel, cl_kernel_info what, size_t bytes,
				      void *value, size_t *bytes_out)
{
	cl_int code = next->clGetKernelInfo(kernel, what, bytes, value, bytes_out);

	if (code == CL_SUCCESS && what == CL_KERNEL_FUNCTION_NAME && value &&
	    strcmp(value, FUNCTION) == 0)
		memcpy(value, BUILTIN, sizeof(BUILTIN));
	return code;
}

void opencl_builtins_install(cl_icd_dispatch *table, const cl_icd_dispatch *below)
{
	next = below;
	table->clCreateProgramWithBuiltInKernels = create_program;
	table->clCreateKernel = builtins_create_kernel;
	table->clGetKernelInfo = kernel_info;
}

/* A custom device is listed only for its own type, not even for CL_DEVICE_TYPE_ALL. */
static cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type type, cl_uint room,
				     cl_device_id *devices, cl_uint *count)
{
	if (type != CL_DEVICE_TYPE_CUSTOM)
		return CL_DEVICE_NOT_FOUND;
	return next->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, room, devices, count);
}

static cl_int answer_query(const void *from, size_t from_bytes, size_t bytes, void *value,
			   size_t *bytes_out)
{
	if (value && bytes < from_bytes)
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, from, from_bytes);
	if (bytes_out)
		*bytes_out = from_bytes;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL builtins_device_info(cl_device_id device, cl_device_info what,
					       size_t bytes, void *value, size_t *bytes_out)
{
	static const cl_device_type type = CL_DEVICE_TYPE_CUSTOM;
	static const cl_bool no = CL_FALSE;

	switch (what) {
	case CL_DEVICE_TYPE:
		return answer_query(&type, sizeof(type), bytes, value, bytes_out);
	case CL_DEVICE_COMPILER_AVAILABLE:
	case CL_DEVICE_LINKER_AVAILABLE:
		return answer_query(&no, sizeof(no), bytes, value, bytes_out);
	case CL_DEVICE_BUILT_IN_KERNELS:
		return answer_query(BUILTIN, sizeof(BUILTIN), bytes, value, bytes_out);
	default:
		return next->clGetDeviceInfo(device, what, bytes, value, bytes_out);
	}
}

static cl_program CL_API_CALL refuse_source(cl_context context, cl_uint count, const char **strings,
					    const size_t *lengths, cl_int *code)
{
	(void)context;
	(void)count;
	(void)strings;
	(void)lengths;
	*code = CL_INVALID_OPERATION;
	return NULL;
}

/* The largest range is defined only for custom devices and built-in kernels. */
static cl_int CL_API_CALL group_info(cl_kernel kernel, cl_device_id device,
				     cl_kernel_work_group_info what, size_t bytes, void *value,
				     size_t *bytes_out)
{
	static const size_t most[3] = {1u << 20, 1, 1};

	if (what == CL_KERNEL_GLOBAL_WORK_SIZE)
		return answer_query(most, sizeof(most), bytes, value, bytes_out);
	return next->clGetKernelWorkGroupInfo(kernel, device, what, bytes, value, bytes_out);
}

void opencl_builtins_install_custom(cl_icd_dispatch *table, const cl_icd_dispatch *below)
{
	opencl_builtins_install(table, below);
	table->clGetDeviceIDs = device_ids;
	table->clGetDeviceInfo = builtins_device_info;
	table->clCreateProgramWithSource = refuse_source;
	table->clGetKernelWorkGroupInfo = group_info;
}
