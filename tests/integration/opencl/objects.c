/* Objects of the OpenCL driver: handles, references, queries, engines that load the driver. */
#include "driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

TestSuite(objects, .init = with_driver, .fini = without_driver);

Test(objects, small_values_and_unknown_queries_leave_the_output_alone)
{
	char text[4] = "abc";
	cl_uint number = 7;
	size_t bytes = 99;
	REFUSES(clGetDeviceInfo(cl_device, CL_DEVICE_NAME, 2, text, NULL), CL_INVALID_VALUE);
	cr_assert(eq(str, text, "abc"));
	REFUSES(clGetDeviceInfo(cl_device, 0xffff, sizeof(number), &number, &bytes),
		CL_INVALID_VALUE);
	REFUSES(clGetContextInfo(cl_context_made, 0xffff, sizeof(number), &number, &bytes),
		CL_INVALID_VALUE);
	cr_assert(eq(u32, number, 7));
	cr_assert(eq(sz, bytes, 99));
	CL(clGetContextInfo(cl_context_made, CL_CONTEXT_NUM_DEVICES, 0, NULL, &bytes));
	cr_assert(eq(sz, bytes, sizeof(cl_uint)));
}

Test(objects, references_count_those_of_the_program)
{
	cl_uint count = 0;
	cl_mem buffer = buffer_of(NULL);
	CL(clRetainMemObject(buffer));
	CL(clGetMemObjectInfo(buffer, CL_MEM_REFERENCE_COUNT, sizeof(count), &count, NULL));
	cr_assert(eq(u32, count, 2));
	CL(clGetContextInfo(cl_context_made, CL_CONTEXT_REFERENCE_COUNT, sizeof(count), &count,
			    NULL));
	cr_assert(eq(u32, count, 1));
	CL(clReleaseMemObject(buffer));
	CL(clReleaseMemObject(buffer));
}

static int ends;

static void CL_CALLBACK note_end(cl_mem buffer, void *place)
{
	(void)buffer;
	*(int *)place = ++ends;
}

Test(objects, destructors_are_called_from_the_last_one_to_the_first)
{
	int first = 0, second = 0;
	cl_mem buffer = buffer_of(NULL);
	CL(clSetMemObjectDestructorCallback(buffer, note_end, &first));
	CL(clSetMemObjectDestructorCallback(buffer, note_end, &second));
	CL(clReleaseMemObject(buffer));
	cr_assert(eq(int, second, 1));
	cr_assert(eq(int, first, 2));
}

Test(objects, a_kernel_keeps_no_buffer)
{
	const size_t global = 1;
	int end = 0;
	cl_mem buffer = buffer_of(NULL);
	cl_kernel kernel = kernel_of("__kernel void k(__global uint *x) { *x = 1; }", "k");
	CL(clSetMemObjectDestructorCallback(buffer, note_end, &end));
	CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer));
	CL(clEnqueueNDRangeKernel(cl_queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
	CL(clReleaseMemObject(buffer));
	while (__atomic_load_n(&end, __ATOMIC_ACQUIRE) != 1) /* it ends after the command */
		CL(clFinish(cl_queue));
	REFUSES(clEnqueueNDRangeKernel(cl_queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL),
		CL_INVALID_KERNEL_ARGS);
	CL(clReleaseKernel(kernel));
}

Test(objects, a_context_lives_while_its_queue_does)
{
	cl_context found = NULL;
	cl_int code = 0;
	cl_context context = clCreateContext(NULL, 1, &cl_device, NULL, NULL, &code);
	CL(code);
	cl_command_queue queue =
		clCreateCommandQueueWithProperties(context, cl_device, NULL, &code);
	CL(code);
	CL(clReleaseContext(context));
	CL(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &found, NULL));
	cr_assert(found == context);
	CL(clReleaseCommandQueue(queue));
}

typedef cl_int (*list_function)(cl_uint, cl_platform_id *, cl_uint *);

static list_function driver_list(void)
{
	list_function list = NULL;
	void *library = dlopen(SYCLCL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	cr_assert(library != NULL, "%s", dlerror());
	void *symbol = dlsym(library, "clIcdGetPlatformIDsKHR");
	memcpy(&list, &symbol, sizeof(list));
	return list;
}

/* Addresses of objects of another type. The loader passes them on, since each begins alike. */
Test(objects, handles_of_another_type_are_refused)
{
	REFUSES(clReleaseMemObject((cl_mem)(void *)cl_queue), CL_INVALID_MEM_OBJECT);
	REFUSES(clRetainEvent((cl_event)(void *)cl_context_made), CL_INVALID_EVENT);
	REFUSES(clFinish((cl_command_queue)(void *)cl_device), CL_INVALID_COMMAND_QUEUE);
}

Test(engines, a_process_of_an_engine_has_no_platform)
{
	cl_uint count = 99;
	(void)setenv("SYCLD_ENGINE", "1", 1);
	REFUSES(driver_list()(0, NULL, &count), -1001);
	cr_assert(eq(u32, count, 0));
}

/* The service of this test starts its engine with a loader that finds PoCL and the driver. */
Test(engines, an_engine_whose_loader_finds_the_driver_has_its_devices, .init = with_driver_for_all,
     .fini = without_driver)
{
	cl_uint count = 0;
	CL(clGetDeviceIDs(cl_platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count));
	cr_assert(eq(u32, count, 1));
}
