/* cl_intel_unified_shared_memory of the OpenCL driver, as SYCL's runtimes use it. */
#include "driver.h"

#include <CL/cl_ext.h>

#include <stdint.h>
#include <string.h>

static clHostMemAllocINTEL_fn host_alloc;
static clDeviceMemAllocINTEL_fn device_alloc;
static clSharedMemAllocINTEL_fn shared_alloc;
static clMemFreeINTEL_fn mem_free;
static clMemBlockingFreeINTEL_fn blocking_free;
static clGetMemAllocInfoINTEL_fn alloc_info;
static clSetKernelArgMemPointerINTEL_fn set_pointer;
static clEnqueueMemFillINTEL_fn mem_fill;
static clEnqueueMemcpyINTEL_fn mem_copy;
static clEnqueueMigrateMemINTEL_fn mem_migrate;
static clEnqueueMemAdviseINTEL_fn mem_advise;

static void find(const char *name, void *function_out)
{
	void *address = clGetExtensionFunctionAddressForPlatform(cl_platform, name);
	cr_assert(ne(ptr, address, NULL), "%s", name);
	memcpy(function_out, &address, sizeof(address));
}

static void with_usm(void)
{
	with_driver();
	find("clHostMemAllocINTEL", &host_alloc);
	find("clDeviceMemAllocINTEL", &device_alloc);
	find("clSharedMemAllocINTEL", &shared_alloc);
	find("clMemFreeINTEL", &mem_free);
	find("clMemBlockingFreeINTEL", &blocking_free);
	find("clGetMemAllocInfoINTEL", &alloc_info);
	find("clSetKernelArgMemPointerINTEL", &set_pointer);
	find("clEnqueueMemFillINTEL", &mem_fill);
	find("clEnqueueMemcpyINTEL", &mem_copy);
	find("clEnqueueMigrateMemINTEL", &mem_migrate);
	find("clEnqueueMemAdviseINTEL", &mem_advise);
}

TestSuite(usm, .init = with_usm, .fini = without_driver);

static void *allocated(cl_uint type, size_t bytes)
{
	cl_int code = 0;
	void *pointer = type == CL_MEM_TYPE_HOST_INTEL
				? host_alloc(cl_context_made, NULL, bytes, 0, &code)
			: type == CL_MEM_TYPE_DEVICE_INTEL
				? device_alloc(cl_context_made, cl_device, NULL, bytes, 0, &code)
				: shared_alloc(cl_context_made, cl_device, NULL, bytes, 0, &code);
	CL(code);
	cr_assert(ne(ptr, pointer, NULL));
	return pointer;
}

static const cl_uint types[] = {CL_MEM_TYPE_HOST_INTEL, CL_MEM_TYPE_DEVICE_INTEL,
				CL_MEM_TYPE_SHARED_INTEL};

static void check_info(const void *pointer, cl_uint type, const void *base, size_t bytes,
		       cl_device_id device)
{
	cl_uint found_type = 0;
	void *found_base = &found_type;
	size_t found_bytes = 1, answer_bytes = 0;
	cl_device_id found_device = (cl_device_id)(void *)&found_type;
	CL(alloc_info(cl_context_made, pointer, CL_MEM_ALLOC_TYPE_INTEL, sizeof(found_type),
		      &found_type, &answer_bytes));
	cr_assert(eq(sz, answer_bytes, sizeof(cl_uint)));
	CL(alloc_info(cl_context_made, pointer, CL_MEM_ALLOC_BASE_PTR_INTEL, sizeof(found_base),
		      &found_base, NULL));
	CL(alloc_info(cl_context_made, pointer, CL_MEM_ALLOC_SIZE_INTEL, sizeof(found_bytes),
		      &found_bytes, NULL));
	CL(alloc_info(cl_context_made, pointer, CL_MEM_ALLOC_DEVICE_INTEL, sizeof(cl_device_id),
		      &found_device, NULL));
	cr_assert(eq(u32, found_type, type));
	cr_assert(eq(ptr, found_base, (void *)(uintptr_t)base));
	cr_assert(eq(sz, found_bytes, bytes));
	cr_assert(eq(ptr, found_device, device));
}

Test(usm, allocations_of_each_kind_are_described)
{
	int plain = 0;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		char *pointer = allocated(types[i], WORD_BYTES);
		cl_device_id device = types[i] == CL_MEM_TYPE_HOST_INTEL ? NULL : cl_device;
		check_info(pointer, types[i], pointer, WORD_BYTES, device);
		check_info(pointer + 100, types[i], pointer, WORD_BYTES, device);
		CL(mem_free(cl_context_made, pointer));
		check_info(pointer, CL_MEM_TYPE_UNKNOWN_INTEL, NULL, 0, NULL);
		REFUSES(mem_free(cl_context_made, pointer), CL_INVALID_VALUE);
	}
	check_info(&plain, CL_MEM_TYPE_UNKNOWN_INTEL, NULL, 0, NULL);
	check_info(NULL, CL_MEM_TYPE_UNKNOWN_INTEL, NULL, 0, NULL);
	REFUSES(alloc_info(cl_context_made, &plain, CL_MEM_SIZE, 0, NULL, NULL), CL_INVALID_VALUE);
	REFUSES(alloc_info(cl_context_made, &plain, CL_MEM_ALLOC_SIZE_INTEL, 1, &plain, NULL),
		CL_INVALID_VALUE);
	CL(mem_free(cl_context_made, NULL));
	CL(blocking_free(cl_context_made, NULL));
}

/* As on the plain drivers of processors: the program works on device memory where it lies. */
Test(usm, device_memory_of_a_processor_is_reached_by_the_program)
{
	SKIP_ON_CUDA("is no processor");
	const size_t global = WORDS;
	cl_bool is_unified = CL_FALSE;
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof(is_unified),
			   &is_unified, NULL));
	cr_assert(eq(int, (int)is_unified, CL_TRUE));
	cl_kernel kernel =
		kernel_of("__kernel void k(__global uint *x) { x[get_global_id(0)] += 5; }", "k");
	cl_uint *words = allocated(CL_MEM_TYPE_DEVICE_INTEL, WORD_BYTES);
	for (cl_uint k = 0; k < WORDS; k++)
		words[k] = k;
	CL(set_pointer(kernel, 0, words));
	CL(clEnqueueNDRangeKernel(cl_queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
	CL(clFinish(cl_queue));
	for (cl_uint k = 0; k < WORDS; k++)
		cr_assert(eq(u32, words[k], k + 5));
	CL(mem_free(cl_context_made, words));
	CL(clReleaseKernel(kernel));
}

/* From the program to each kind and back, by way of a kernel. */
Test(usm, kernels_reach_each_kind)
{
	const size_t global = WORDS;
	cl_kernel kernel = kernel_of("__kernel void k(__global uint *x, uint step) "
				     "{ x[get_global_id(0)] += step; }",
				     "k");
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		cl_uint words[WORDS], step = 3, seven = 7;
		cl_uint *pointer = allocated(types[i], WORD_BYTES);
		cl_event copied = NULL;
		for (cl_uint k = 0; k < WORDS; k++)
			words[k] = k;
		CL(mem_copy(cl_queue, CL_FALSE, pointer, words, WORD_BYTES, 0, NULL, &copied));
		CL(mem_fill(cl_queue, pointer + WORDS / 2, &seven, 4, WORD_BYTES / 2, 1, &copied,
			    NULL));
		CL(set_pointer(kernel, 0, pointer));
		CL(clSetKernelArg(kernel, 1, sizeof(step), &step));
		CL(clEnqueueNDRangeKernel(cl_queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
		CL(mem_copy(cl_queue, CL_TRUE, words, pointer, WORD_BYTES, 0, NULL, NULL));
		for (cl_uint k = 0; k < WORDS; k++)
			cr_assert(eq(u32, words[k], k < WORDS / 2 ? k + 3 : 10));
		CL(clReleaseEvent(copied));
		CL(blocking_free(cl_context_made, pointer));
	}
	CL(clReleaseKernel(kernel));
}

/* A kernel finds the second allocation only through the first. */
Test(usm, kernels_reach_memory_through_memory)
{
	const cl_bool yes = CL_TRUE;
	cl_kernel kernel = kernel_of("__kernel void k(__global ulong *at) "
				     "{ *(__global uint *)at[0] = 5; }",
				     "k");
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		cl_uint value = 0;
		cl_ulong *first = allocated(CL_MEM_TYPE_SHARED_INTEL, sizeof(cl_ulong));
		void *second = allocated(types[i], sizeof(cl_uint));
		*first = (uintptr_t)second;
		CL(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL,
				       sizeof(yes), &yes));
		CL(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
				       sizeof(yes), &yes));
		CL(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL,
				       sizeof(yes), &yes));
		CL(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, sizeof(second),
				       &second));
		CL(set_pointer(kernel, 0, first));
		CL(clEnqueueTask(cl_queue, kernel, 0, NULL, NULL));
		CL(mem_copy(cl_queue, CL_TRUE, &value, second, sizeof(value), 0, NULL, NULL));
		cr_assert(eq(u32, value, 5));
		CL(mem_free(cl_context_made, first));
		CL(mem_free(cl_context_made, second));
	}
	CL(clReleaseKernel(kernel));
}

Test(usm, copies_go_between_all_kinds)
{
	for (size_t i = 0; i < 9; i++) {
		cl_uint value = 40 + (cl_uint)i, found = 0;
		cl_uint *from = allocated(types[i / 3], 4), *to = allocated(types[i % 3], 4);
		CL(mem_copy(cl_queue, CL_TRUE, from, &value, 4, 0, NULL, NULL));
		CL(mem_copy(cl_queue, CL_FALSE, to, from, 4, 0, NULL, NULL));
		CL(mem_copy(cl_queue, CL_TRUE, &found, to, 4, 0, NULL, NULL));
		cr_assert(eq(u32, found, value));
		CL(blocking_free(cl_context_made, from));
		CL(blocking_free(cl_context_made, to));
	}
}

Test(usm, a_blocking_free_waits_for_all_queues)
{
	const size_t global = 4096;
	cl_int status = CL_QUEUED;
	cl_event event = NULL;
	cl_command_queue queue = out_of_order_queue();
	cl_kernel kernel =
		kernel_of("__kernel void k(__global uint *x) { uint v = get_global_id(0);"
			  " for (uint i = 0; i < 50000; i++) v = v * 3 + (v >> 7);"
			  " x[get_global_id(0)] = v; }",
			  "k");
	cl_uint *used = allocated(CL_MEM_TYPE_DEVICE_INTEL, global * 4);
	CL(set_pointer(kernel, 0, used));
	CL(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, &event));
	CL(blocking_free(cl_context_made, used));
	CL(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
	cr_assert(eq(int, status, CL_COMPLETE));
	CL(clReleaseEvent(event));
	CL(clReleaseKernel(kernel));
	CL(clReleaseCommandQueue(queue));
}

Test(usm, hints_only_take_their_place)
{
	cl_event event = NULL;
	cl_command_type type = 0;
	void *pointer = allocated(CL_MEM_TYPE_SHARED_INTEL, WORD_BYTES);
	CL(mem_migrate(cl_queue, pointer, WORD_BYTES, 0, 0, NULL, &event));
	CL(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL));
	cr_assert(eq(u32, type, CL_COMMAND_MIGRATEMEM_INTEL));
	CL(mem_advise(cl_queue, pointer, WORD_BYTES, 0, 1, &event, NULL));
	REFUSES(mem_migrate(cl_queue, NULL, WORD_BYTES, 0, 0, NULL, NULL), CL_INVALID_VALUE);
	REFUSES(mem_migrate(cl_queue, pointer, WORD_BYTES, 1u << 9, 0, NULL, NULL),
		CL_INVALID_VALUE);
	REFUSES(mem_advise(cl_queue, NULL, WORD_BYTES, 0, 0, NULL, NULL), CL_INVALID_VALUE);
	CL(clFinish(cl_queue));
	CL(clReleaseEvent(event));
	CL(mem_free(cl_context_made, pointer));
}

Test(usm, wrong_allocations_are_refused)
{
	const cl_mem_properties_intel hint[] = {CL_MEM_ALLOC_FLAGS_INTEL,
						CL_MEM_ALLOC_WRITE_COMBINED_INTEL, 0};
	const cl_mem_properties_intel both[] = {CL_MEM_ALLOC_FLAGS_INTEL,
						CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL |
							CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL,
						0};
	const cl_mem_properties_intel other[] = {CL_MEM_SIZE, 1, 0};
	cl_int code = 0;
	void *good = host_alloc(cl_context_made, hint, 64, 4096, &code);
	CL(code);
	cr_assert(eq(sz, (uintptr_t)good % 4096, 0));
	CL(mem_free(cl_context_made, good));
	(void)host_alloc(cl_context_made, other, 64, 0, &code);
	REFUSES(code, CL_INVALID_PROPERTY);
	(void)shared_alloc(cl_context_made, cl_device, both, 64, 0, &code);
	REFUSES(code, CL_INVALID_PROPERTY);
	(void)host_alloc(cl_context_made, NULL, 64, 24, &code);
	REFUSES(code, CL_INVALID_VALUE);
	(void)device_alloc(cl_context_made, cl_device, NULL, 0, 0, &code);
	REFUSES(code, CL_INVALID_BUFFER_SIZE);
	(void)shared_alloc(cl_context_made, cl_device, NULL, SIZE_MAX, 0, &code);
	REFUSES(code, CL_INVALID_BUFFER_SIZE);
	(void)device_alloc(cl_context_made, NULL, NULL, 64, 0, &code);
	REFUSES(code, CL_INVALID_DEVICE);
	(void)host_alloc(NULL, NULL, 64, 0, &code);
	REFUSES(code, CL_INVALID_CONTEXT);
	good = shared_alloc(cl_context_made, NULL, NULL, 64, 0, &code);
	CL(code);
	REFUSES(mem_free(cl_context_made, (char *)good + 1), CL_INVALID_VALUE);
	CL(mem_free(cl_context_made, good));
}

Test(usm, wrong_commands_are_refused)
{
	cl_uint seven = 7, plain[2] = {1, 2};
	const cl_bool yes = CL_TRUE;
	cl_kernel kernel =
		kernel_of("__kernel void k(__global uint *x, uint y) { x[0] = y; }", "k");
	cl_uint *pointer = allocated(CL_MEM_TYPE_SHARED_INTEL, WORD_BYTES);
	REFUSES(mem_copy(cl_queue, CL_TRUE, pointer, pointer + 1, 8, 0, NULL, NULL),
		CL_MEM_COPY_OVERLAP);
	REFUSES(mem_copy(cl_queue, CL_TRUE, NULL, pointer, 8, 0, NULL, NULL), CL_INVALID_VALUE);
	REFUSES(mem_copy(cl_queue, CL_TRUE, plain, pointer + WORDS - 1, 8, 0, NULL, NULL),
		CL_INVALID_VALUE);
	REFUSES(mem_fill(cl_queue, pointer, &seven, 3, 6, 0, NULL, NULL), CL_INVALID_VALUE);
	REFUSES(mem_fill(cl_queue, pointer, &seven, 4, WORD_BYTES + 4, 0, NULL, NULL),
		CL_INVALID_VALUE);
	REFUSES(mem_fill(cl_queue, plain, &seven, 4, 8, 0, NULL, NULL), CL_INVALID_VALUE);
	REFUSES(set_pointer(kernel, 0, plain), CL_INVALID_ARG_VALUE);
	REFUSES(set_pointer(kernel, 1, pointer), CL_INVALID_ARG_VALUE);
	REFUSES(set_pointer(kernel, 2, pointer), CL_INVALID_ARG_INDEX);
	CL(set_pointer(kernel, 0, NULL));
	REFUSES(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL, 1,
				    &yes),
		CL_INVALID_VALUE);
	REFUSES(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, 7, &pointer),
		CL_INVALID_VALUE);
	CL(clReleaseKernel(kernel));
	CL(mem_free(cl_context_made, pointer));
}

Test(usm, the_device_says_what_it_has)
{
	const cl_device_info queries[] = {CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL,
					  CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL,
					  CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL,
					  CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL};
	char extensions[8192] = "";
	cl_ulong bits = 1;
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_EXTENSIONS, sizeof(extensions), extensions, NULL));
	cr_assert(ne(ptr, strstr(extensions, "cl_intel_unified_shared_memory"), NULL));
	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
		CL(clGetDeviceInfo(cl_device, queries[i], sizeof(bits), &bits, NULL));
		cr_assert(eq(u64, bits & CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL, 1));
	}
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL, sizeof(bits),
			   &bits, NULL));
	cr_assert(eq(u64, bits, 0));
}

/* Device memory is no memory of the program, so no buffer lies over it. */
Test(usm, a_buffer_lies_over_memory_that_the_program_reaches)
{
	cl_int code = 0;
	cl_bool uses = CL_FALSE;
	void *pointer = allocated(CL_MEM_TYPE_HOST_INTEL, WORD_BYTES);
	cl_mem buffer =
		clCreateBuffer(cl_context_made, CL_MEM_USE_HOST_PTR, WORD_BYTES, pointer, &code);
	CL(code);
	CL(clGetMemObjectInfo(buffer, CL_MEM_USES_SVM_POINTER, sizeof(uses), &uses, NULL));
	cr_assert(eq(u32, uses, CL_TRUE));
	CL(clReleaseMemObject(buffer));
	CL(mem_free(cl_context_made, pointer));
}
