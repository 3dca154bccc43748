/* Queries and refusals of the OpenCL driver that need no command, and native kernels. */
#include "driver.h"

#include <CL/cl_ext.h>
#include <stdlib.h>
#include <string.h>

TestSuite(queries, .init = with_driver, .fini = without_driver);

/* All that a device or platform names, by both queries: the list of words, and the table. */
static bool names_alike(const char *words, const cl_name_version *table, size_t count)
{
	size_t length = 0;
	for (size_t i = 0; i < count; i++) {
		const char *found = strstr(words, table[i].name);
		if (!found || table[i].version == 0)
			return false;
		length += strlen(table[i].name) + 1;
	}
	return length == strlen(words) + 1;
}

Test(queries, extensions_have_versions)
{
	char words[4096] = "";
	cl_name_version table[64];
	cl_version version = 0;
	size_t bytes = 0;
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_EXTENSIONS, sizeof(words), words, NULL));
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof(table), table,
			   &bytes));
	cr_assert(names_alike(words, table, bytes / sizeof(*table)));
	cr_assert(strstr(words, "cl_khr_extended_versioning") != NULL);
	CL(clGetPlatformInfo(cl_platform, CL_PLATFORM_EXTENSIONS, sizeof(words), words, NULL));
	CL(clGetPlatformInfo(cl_platform, CL_PLATFORM_EXTENSIONS_WITH_VERSION, sizeof(table), table,
			     &bytes));
	cr_assert(names_alike(words, table, bytes / sizeof(*table)));
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR, sizeof(version),
			   &version, NULL));
	cr_assert(eq(u32, CL_VERSION_MAJOR(version), 1));
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_NUMERIC_VERSION_KHR, sizeof(version), &version,
			   NULL));
	cr_assert(eq(u32, CL_VERSION_MAJOR(version), 3));
}

typedef cl_command_queue (*queue_function)(cl_context, cl_device_id, const cl_queue_properties *,
					   cl_int *);

Test(queries, functions_of_extensions_are_found_by_name)
{
	const char *name = "clCreateCommandQueueWithPropertiesKHR";
	const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE,
						  0};
	queue_function make = NULL;
	cl_int code = 0;
	void *address = clGetExtensionFunctionAddressForPlatform(cl_platform, name);
	cr_assert(address != NULL);
	memcpy(&make, &address, sizeof(make));
	cl_command_queue queue = make(cl_context_made, cl_device, properties, &code);
	CL(code);
	CL(clReleaseCommandQueue(queue));
	cr_assert(clGetExtensionFunctionAddressForPlatform(cl_platform, "clNoSuchKHR") == NULL);
}

Test(queries, no_built_in_kernels_and_no_il_are_refused_as_such)
{
	SKIP_ON_CUDA("takes SPIR-V");
	char names[64] = "x";
	size_t bytes = 1;
	cl_int code = 0;
	cl_program program = built_program("__kernel void k(__global uint *x) { *x = 1; }");
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_BUILT_IN_KERNELS, sizeof(names), names, NULL));
	cr_assert(eq(str, names, ""));
	(void)clCreateProgramWithBuiltInKernels(cl_context_made, 0, NULL, "a", &code);
	REFUSES(code, CL_INVALID_VALUE);
	(void)clCreateProgramWithBuiltInKernels(cl_context_made, 1, (cl_device_id *)&cl_queue, "a",
						&code);
	REFUSES(code, CL_INVALID_DEVICE);
	(void)clCreateProgramWithBuiltInKernels(cl_context_made, 1, &cl_device, "a", &code);
	REFUSES(code, CL_INVALID_VALUE);
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_IL_VERSION, sizeof(names), names, &bytes));
	cr_assert(eq(str, names, ""));
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_ILS_WITH_VERSION, 0, NULL, &bytes));
	cr_assert(eq(sz, bytes, 0));
	(void)clCreateProgramWithIL(cl_context_made, names, 4, &code);
	REFUSES(code, CL_INVALID_OPERATION);
	REFUSES(clSetProgramSpecializationConstant(program, 1, 4, names), CL_INVALID_OPERATION);
	CL(clReleaseProgram(program));
}

Test(queries, a_device_without_sub_groups_says_so)
{
	cl_uint most = 0;
	size_t number = 0;
	cl_kernel kernel = kernel_of("__kernel void k(__global uint *x) { *x = 1; }", "k");
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof(most), &most, NULL));
	REFUSES(clGetKernelSubGroupInfo(kernel, (cl_device_id)(void *)cl_queue,
					CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL, sizeof(number),
					&number, NULL),
		CL_INVALID_DEVICE);
	REFUSES(clGetKernelSubGroupInfo(kernel, cl_device, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL,
					sizeof(number), &number, NULL),
		most > 0 ? CL_SUCCESS : CL_INVALID_OPERATION);
	CL(clReleaseKernel(kernel));
}

/* A session has few sub-devices, and SYCL's runtimes keep all that they ever got. */
Test(queries, equal_divisions_may_be_made_any_number_of_times)
{
	SKIP_ON_CUDA("is not divided");
	enum { TIMES = 50 };
	const cl_device_partition_property list[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
	cl_device_id parts[TIMES][64];
	cl_uint count = 0, word = 0;
	cl_int code = 0;
	const char *source = "__kernel void k(__global uint *x) { *x = 7; }";
	/* As DPC++'s runtime ends a list: whatever lies behind it. */
	cl_device_partition_property counts[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1, 1, 0, 0};
	CL(clCreateSubDevices(cl_device, list, 0, NULL, &count));
	if (count < 2 || count > 12)
		cr_skip_test("%u parts", count);
	for (int i = 0; i < TIMES; i++)
		CL(clCreateSubDevices(cl_device, list, 64, parts[i], NULL));
	cr_assert(ne(ptr, parts[0][0], parts[TIMES - 1][0]));
	for (int i = 0; i < TIMES; i++) {
		cl_device_id two[2];
		counts[4] = i;
		CL(clCreateSubDevices(cl_device, counts, 2, two, NULL));
	}
	/* The same part twice, and another one, in one context and program. */
	const cl_device_id three[] = {parts[0][0], parts[1][0], parts[1][1]};
	cl_context context = clCreateContext(NULL, 3, three, NULL, NULL, &code);
	CL(code);
	cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
	CL(code);
	CL(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
	cl_command_queue queue =
		clCreateCommandQueueWithProperties(context, parts[1][0], NULL, &code);
	CL(code);
	cl_mem buffer = clCreateBuffer(context, 0, sizeof(word), NULL, &code);
	CL(code);
	cl_kernel kernel = clCreateKernel(program, "k", &code);
	CL(code);
	CL(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
	CL(clEnqueueTask(queue, kernel, 0, NULL, NULL));
	CL(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(word), &word, 0, NULL, NULL));
	cr_assert(eq(u32, word, 7));
	CL(clReleaseKernel(kernel));
	CL(clReleaseMemObject(buffer));
	CL(clReleaseCommandQueue(queue));
	CL(clReleaseProgram(program));
	CL(clReleaseContext(context));
	for (int i = 0; i < TIMES; i++)
		for (cl_uint k = 0; k < count; k++)
			CL(clReleaseDevice(parts[i][k]));
}

Test(queries, room_for_too_few_sub_devices_is_refused)
{
	SKIP_ON_CUDA("is not divided");
	cl_device_partition_property list[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
	cl_device_id parts[64];
	cl_uint count = 0, units = 0;
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, NULL));
	if (units < 2)
		cr_skip_test("one compute unit cannot be divided");
	CL(clCreateSubDevices(cl_device, list, 0, NULL, &count));
	cr_assert(eq(u32, count, units));
	REFUSES(clCreateSubDevices(cl_device, list, 0, parts, &count), CL_INVALID_VALUE);
	REFUSES(clCreateSubDevices(cl_device, list, units - 1, parts, &count), CL_INVALID_VALUE);
	CL(clCreateSubDevices(cl_device, list, units, parts, &count));
	for (cl_uint i = 0; i < units; i++)
		CL(clReleaseDevice(parts[i]));
	list[1] = units; /* one part is no division */
	REFUSES(clCreateSubDevices(cl_device, list, units, parts, &count),
		CL_DEVICE_PARTITION_FAILED);
	list[1] = units + 1;
	REFUSES(clCreateSubDevices(cl_device, list, units, parts, &count),
		CL_INVALID_DEVICE_PARTITION_COUNT);
}

struct native_arguments {
	cl_uint *words;
	cl_uint add;
};

static void CL_CALLBACK add_natively(void *pointer)
{
	struct native_arguments *arguments = pointer;
	for (int i = 0; i < WORDS; i++)
		arguments->words[i] += arguments->add;
}

Test(queries, a_native_kernel_gets_its_buffers_in_order)
{
	static cl_uint words[WORDS];
	struct native_arguments arguments = {NULL, 3};
	const void *place = &arguments.words, *outside = &arguments + 1;
	const cl_uint pattern = 4;
	cl_event event = NULL;
	cl_mem buffer = buffer_of(words);
	CL(clEnqueueFillBuffer(cl_queue, buffer, &pattern, 4, 0, WORD_BYTES, 0, NULL, NULL));
	CL(clEnqueueNativeKernel(cl_queue, add_natively, &arguments, sizeof(arguments), 1, &buffer,
				 &place, 0, NULL, &event));
	arguments.add = 99; /* a copy has been made */
	read_words(buffer, words);
	cr_assert(eq(u32, words[WORDS - 1], 7));
	CL(clWaitForEvents(1, &event));
	REFUSES(clEnqueueNativeKernel(cl_queue, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, NULL),
		CL_INVALID_VALUE);
	REFUSES(clEnqueueNativeKernel(cl_queue, add_natively, NULL, 8, 0, NULL, NULL, 0, NULL,
				      NULL),
		CL_INVALID_VALUE);
	REFUSES(clEnqueueNativeKernel(cl_queue, add_natively, &arguments, sizeof(arguments), 1,
				      &buffer, &outside, 0, NULL, NULL),
		CL_INVALID_VALUE);
	REFUSES(clEnqueueNativeKernel(cl_queue, add_natively, &arguments, sizeof(arguments), 1,
				      (cl_mem *)&cl_queue, &place, 0, NULL, NULL),
		CL_INVALID_MEM_OBJECT);
	CL(clReleaseEvent(event));
	CL(clReleaseMemObject(buffer));
}

Test(queries, a_copied_kernel_has_its_arguments)
{
	static cl_uint words[WORDS];
	const cl_uint value = 6, other = 7;
	const size_t global = WORDS;
	cl_int code = 0;
	cl_mem buffer = buffer_of(words);
	cl_kernel kernel = kernel_of("__kernel void k(__global uint *x, uint n) {\n"
				     "  x[get_global_id(0)] = n; }",
				     "k");
	CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer));
	CL(clSetKernelArg(kernel, 1, sizeof(value), &value));
	cl_kernel copy = clCloneKernel(kernel, &code);
	CL(code);
	CL(clSetKernelArg(kernel, 1, sizeof(other), &other));
	CL(clEnqueueNDRangeKernel(cl_queue, copy, 1, NULL, &global, NULL, 0, NULL, NULL));
	read_words(buffer, words);
	cr_assert(eq(u32, words[5], value));
	CL(clReleaseKernel(kernel));
	CL(clReleaseKernel(copy));
	CL(clReleaseMemObject(buffer));
}

Test(queries, R13_arguments_report_how_they_are_declared)
{
	SKIP_ON_CUDA("has no images here");
	const char *text =
		"__kernel void all(__global const int *restrict a, volatile __global float *b,\n"
		"  read_only image2d_t c, write_only image2d_t d, int e, __constant int *f) {\n"
		"  b[0] = a[0] + e + f[0]; }\n";
	static const cl_kernel_arg_type_qualifier qualifiers[] = {
		CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT,
		CL_KERNEL_ARG_TYPE_VOLATILE,
		0,
		0,
		0,
		CL_KERNEL_ARG_TYPE_CONST};
	static const cl_kernel_arg_access_qualifier accesses[] = {
		CL_KERNEL_ARG_ACCESS_NONE,      CL_KERNEL_ARG_ACCESS_NONE,
		CL_KERNEL_ARG_ACCESS_READ_ONLY, CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
		CL_KERNEL_ARG_ACCESS_NONE,      CL_KERNEL_ARG_ACCESS_NONE};
	cl_kernel all = kernel_of(text, "all");
	for (cl_uint i = 0; i < 6; i++) {
		cl_kernel_arg_type_qualifier qualifier = 99;
		cl_kernel_arg_access_qualifier access = 99;
		CL(clGetKernelArgInfo(all, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof(qualifier),
				      &qualifier, NULL));
		CL(clGetKernelArgInfo(all, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof(access),
				      &access, NULL));
		cr_assert(eq(u64, qualifier, qualifiers[i]), "argument %u", i);
		cr_assert(eq(u32, access, accesses[i]), "argument %u", i);
	}
	CL(clReleaseKernel(all));
}

/* Without OpenCL's driver: the service translates what a program builds. */
Test(queries, a_cuda_device_is_an_opencl_platform_with_what_it_has)
{
	char text[2048] = "";
	if (!driver_is_cuda())
		cr_skip_test("no CUDA device");
	CL(clGetPlatformInfo(cl_platform, CL_PLATFORM_NAME, sizeof(text), text, NULL));
	cr_expect(eq(str, text, "sycld: CUDA"));
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_EXTENSIONS, sizeof(text), text, NULL));
	static const char *const needed[] = {"cl_khr_fp64", "cl_khr_fp16", "cl_khr_subgroups",
					     "cl_khr_int64_base_atomics",
					     "cl_khr_global_int32_base_atomics"};
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		cr_expect(strstr(text, needed[i]) != NULL, "%s", needed[i]);
	cl_bool has = CL_TRUE;
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_IMAGE_SUPPORT, sizeof(has), &has, NULL));
	cr_expect(eq(u32, has, CL_FALSE));
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_COMPILER_AVAILABLE, sizeof(has), &has, NULL));
	cr_expect(eq(u32, has, CL_TRUE));
	cl_device_type type = 0;
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_TYPE, sizeof(type), &type, NULL));
	cr_expect(eq(u64, type, CL_DEVICE_TYPE_GPU));
}
