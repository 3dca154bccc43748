/* The library's objects over those of OpenCL, and the other way round: platforms, devices,
 * contexts, queues, and their ownership (J1 - J5). */
#include "library/opencl.h"
#include "opencl_counter.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

TestSuite(opencl_interop, .init = with_opencl, .fini = without_opencl, .timeout = 120);

sycl_platform platform;
sycl_device device;
cl_platform_id cl_platform_of_test;
cl_device_id cl_device_of_test;
cl_context cl_context_of_test;
cl_command_queue cl_queue_of_test;

sycl_device opencl_device(sycl_platform of)
{
	const char *name = getenv("SYCLD_TEST_OPENCL_PLATFORM");
	sycl_device chosen = NULL;
	MUST(sycl_device_select(
		of, name && strstr(name, "NVIDIA") ? sycl_gpu_selector : sycl_cpu_selector, NULL,
		&chosen));
	return chosen;
}

void with_opencl(void)
{
	cl_int code = CL_SUCCESS;
	(void)setenv("XDG_CACHE_HOME", TEST_CACHE, 1);
	MUST(sycl_platform_open("embedded:", &platform));
	device = opencl_device(platform);
	MUST(sycl_opencl_get_native_device(device, &cl_device_of_test));
	CL(clGetDeviceInfo(cl_device_of_test, CL_DEVICE_PLATFORM, sizeof(cl_platform_id),
			   &cl_platform_of_test, NULL));
	cl_context_of_test = clCreateContext(NULL, 1, &cl_device_of_test, NULL, NULL, &code);
	CL(code);
	cl_queue_of_test = clCreateCommandQueue(cl_context_of_test, cl_device_of_test,
						CL_QUEUE_PROFILING_ENABLE, &code);
	CL(code);
}

void without_opencl(void)
{
	MUST(sycl_device_release(device));
	MUST(sycl_platform_release(platform));
	CL(clReleaseCommandQueue(cl_queue_of_test));
	CL(clReleaseContext(cl_context_of_test));
}

uint64_t now_ns(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void round_trip(void)
{
	struct sycl_usage usage = SYCL_USAGE_INIT;
	MUST(sycl_platform_get_usage(platform, &usage));
}

sycl_context native_context(void)
{
	sycl_context context = NULL;
	MUST(sycl_opencl_make_context(platform, cl_context_of_test, NULL, &context));
	return context;
}

sycl_queue queue_in(sycl_context context)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	sycl_queue queue = NULL;
	options.properties = SYCL_QUEUE_IN_ORDER;
	MUST(sycl_queue_create(context, device, &options, &queue));
	return queue;
}

cl_mem memory_of(const uint32_t *words, uint32_t count)
{
	cl_int code = CL_SUCCESS;
	cl_mem memory = clCreateBuffer(cl_context_of_test, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
				       count * sizeof(*words), (void *)(uintptr_t)words, &code);
	CL(code);
	return memory;
}

void read_memory(cl_mem memory, uint32_t *words, uint32_t count)
{
	CL(clEnqueueReadBuffer(cl_queue_of_test, memory, CL_TRUE, 0, count * sizeof(*words), words,
			       0, NULL, NULL));
}

cl_program program_of(const char *source, const char *options)
{
	cl_int code = CL_SUCCESS;
	cl_program program = clCreateProgramWithSource(cl_context_of_test, 1, &source, NULL, &code);
	CL(code);
	if (options)
		CL(clBuildProgram(program, 1, &cl_device_of_test, options, NULL, NULL));
	return program;
}

cl_event user_event(void)
{
	cl_int code = CL_SUCCESS;
	cl_event event = clCreateUserEvent(cl_context_of_test, &code);
	CL(code);
	return event;
}

Test(opencl_interop, J1_platform_and_device_are_the_same_handles_both_ways)
{
	sycl_platform given = NULL, made = NULL;
	sycl_device again = NULL;
	cl_platform_id native = NULL;
	MUST(sycl_device_get_platform(device, &given));
	MUST(sycl_opencl_get_native_platform(given, &native));
	cr_assert(eq(ptr, native, cl_platform_of_test));
	MUST(sycl_opencl_make_platform(platform, native, &made));
	cr_assert(eq(ptr, made, given));
	MUST(sycl_opencl_make_device(platform, cl_device_of_test, &again));
	cr_assert(eq(ptr, again, device));
	MUST(sycl_device_release(again));
	MUST(sycl_platform_release(made));
	MUST(sycl_platform_release(given));
	FAILS(sycl_opencl_make_device(platform, NULL, &again), SYCL_ERROR_INVALID);
	FAILS(sycl_opencl_make_platform(platform, NULL, &made), SYCL_ERROR_INVALID);
}

Test(opencl_interop, J1_J2_J4_a_context_retains_its_native_one_until_it_is_gone)
{
	cl_context native = NULL;
	sycl_device listed = NULL;
	uint32_t count = 0;
	/* The test's reference, and with some drivers one of its queue. */
	const uint32_t before = sycl_opencl_get_reference_count_context(cl_context_of_test);
	sycl_context context = native_context();
	LET_GO(sycl_opencl_get_reference_count_context, cl_context_of_test,
	       before + 1); /* it releases the queue that it made to read the time */
	MUST(sycl_context_get_devices(context, 1, &listed, &count));
	cr_assert(eq(u32, count, 1));
	cr_assert(eq(ptr, listed, device));
	MUST(sycl_device_release(listed));
	MUST(sycl_opencl_get_native_context(context, &native));
	cr_assert(eq(ptr, native, cl_context_of_test));
	LET_GO(sycl_opencl_get_reference_count_context, cl_context_of_test, before + 2);
	MUST(sycl_context_release(context));
	LET_GO(sycl_opencl_get_reference_count_context, cl_context_of_test, before + 1);
	CL(clReleaseContext(native));
}

Test(opencl_interop, J1_J2_J3_J4_J5_a_queue_is_over_one_native_queue)
{
	cl_command_queue native = NULL;
	sycl_queue queue = NULL;
	uint32_t in_order = 0;
	sycl_context context = native_context();
	MUST(sycl_opencl_make_queue(context, cl_queue_of_test, NULL, &queue));
	cr_assert(eq(u32, sycl_opencl_get_reference_count_queue(cl_queue_of_test), 2));
	MUST(sycl_queue_is_in_order(queue, &in_order));
	cr_assert(eq(u32, in_order, 1));
	MUST(sycl_opencl_get_native_queue(queue, &native));
	cr_assert(eq(ptr, native, cl_queue_of_test));
	cr_assert(eq(u32, sycl_opencl_get_reference_count_queue(cl_queue_of_test), 3));
	/* A native queue that was returned stays valid without the library's queue. */
	MUST(sycl_queue_release(queue));
	LET_GO(sycl_opencl_get_reference_count_queue, cl_queue_of_test, 2);
	CL(clReleaseCommandQueue(native));
	MUST(sycl_context_release(context));
}

static const char twice_source[] =
	"__kernel void twice(__global uint *to) { to[get_global_id(0)] *= 2; }";

static void launch_on_buffer(sycl_queue queue, sycl_kernel kernel, sycl_buffer buffer,
			     sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(N)));
	MUST(sycl_handler_submit(handler, event_out));
}

static sycl_kernel twice_for(sycl_queue queue)
{
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_OPENCL_C, twice_source, NULL,
					    &bundle));
	MUST(sycl_kernel_create(bundle, "twice", &kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	return kernel;
}

/* The native queue has its own order: commands that the application enqueues there delay those of
 * the library. */
Test(opencl_interop, J3_J5_work_goes_to_the_native_queue_though_the_application_has_let_it_go)
{
	uint32_t words[N];
	cl_int code = CL_SUCCESS;
	sycl_queue queue = NULL;
	sycl_buffer buffer = NULL;
	sycl_event done = NULL;
	sycl_command_status status = SYCL_COMMAND_COMPLETE;
	for (uint32_t i = 0; i < N; i++)
		words[i] = i;
	cl_command_queue native =
		clCreateCommandQueue(cl_context_of_test, cl_device_of_test, 0, &code);
	CL(code);
	cl_event gate = user_event();
	CL(clEnqueueMarkerWithWaitList(native, 1, &gate, NULL));
	sycl_context context = native_context();
	MUST(sycl_opencl_make_queue(context, native, NULL, &queue));
	CL(clReleaseCommandQueue(native));
	MUST(sycl_buffer_create(platform, words, sizeof(words), SYCL_HOST_BORROWED, &buffer));
	sycl_kernel kernel = twice_for(queue);
	launch_on_buffer(queue, kernel, buffer, &done);
	FAILS(sycl_event_wait_for(done, 20000000), SYCL_ERROR_TIMEOUT);
	MUST(sycl_event_get_status(done, &status));
	cr_assert(ne(int, status, SYCL_COMMAND_COMPLETE));
	CL(clSetUserEventStatus(gate, CL_COMPLETE));
	MUST(sycl_event_wait(done));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_event_release(done));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
	CL(clReleaseEvent(gate));
	for (uint32_t i = 0; i < N; i++)
		cr_assert(eq(u32, words[i], 2 * i));
}

/* An out-of-order native queue is also out of order for the library. But the commands of one
 * command group run one after the other. */
Test(opencl_interop, J5_an_out_of_order_native_queue)
{
	uint32_t words[N], in_order = 1;
	cl_int code = CL_SUCCESS;
	sycl_queue queue = NULL;
	sycl_buffer buffer = NULL;
	for (uint32_t i = 0; i < N; i++)
		words[i] = 1;
	cl_command_queue native =
		clCreateCommandQueue(cl_context_of_test, cl_device_of_test,
				     CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
	CL(code);
	sycl_context context = native_context();
	MUST(sycl_opencl_make_queue(context, native, NULL, &queue));
	MUST(sycl_queue_is_in_order(queue, &in_order));
	cr_assert(eq(u32, in_order, 0));
	MUST(sycl_buffer_create(platform, words, sizeof(words), SYCL_HOST_BORROWED, &buffer));
	sycl_kernel kernel = twice_for(queue);
	for (int i = 0; i < 20; i++)
		launch_on_buffer(queue, kernel, buffer, NULL);
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
	LET_GO(sycl_opencl_get_reference_count_queue, native, 1);
	CL(clReleaseCommandQueue(native));
	for (uint32_t i = 0; i < N; i++)
		cr_assert(eq(u32, words[i], 1u << 20));
}

Test(opencl_interop, J2_a_queue_of_another_context_is_refused)
{
	cl_int code = CL_SUCCESS;
	sycl_queue queue = NULL;
	cl_context other = clCreateContext(NULL, 1, &cl_device_of_test, NULL, NULL, &code);
	CL(code);
	cl_command_queue native = clCreateCommandQueue(other, cl_device_of_test, 0, &code);
	CL(code);
	sycl_context context = native_context(), plain = NULL;
	MUST(sycl_context_create(1, &device, &plain));
	FAILS(sycl_opencl_make_queue(context, native, NULL, &queue), SYCL_ERROR_INVALID);
	FAILS(sycl_opencl_make_queue(plain, native, NULL, &queue), SYCL_ERROR_INVALID);
	FAILS(sycl_opencl_make_queue(context, NULL, NULL, &queue), SYCL_ERROR_INVALID);
	cr_assert(eq(u32, sycl_opencl_get_reference_count_queue(native), 1));
	MUST(sycl_context_release(context));
	MUST(sycl_context_release(plain));
	CL(clReleaseCommandQueue(native));
	CL(clReleaseContext(other));
}

/* A context of the library returns its cl_context, and accepts a queue that was made in it. */
Test(opencl_interop, J1_J4_a_context_of_the_librarys_takes_queues_of_its_native_one)
{
	cl_int code = CL_SUCCESS;
	cl_context native = NULL;
	sycl_context context = NULL;
	sycl_queue queue = NULL;
	MUST(sycl_context_create(1, &device, &context));
	MUST(sycl_opencl_get_native_context(context, &native));
	cl_command_queue made = clCreateCommandQueue(native, cl_device_of_test, 0, &code);
	CL(code);
	MUST(sycl_opencl_make_queue(context, made, NULL, &queue));
	MUST(sycl_queue_barrier(queue, NULL));
	MUST(sycl_queue_wait(queue));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
	CL(clReleaseCommandQueue(made));
	CL(clReleaseContext(native));
}

Test(opencl_interop, J14_extensions_are_compared_as_a_whole)
{
	char extensions[4096] = "", first[256] = "";
	uint32_t has = 7;
	sycl_platform given = NULL;
	MUST(sycl_device_get_platform(device, &given));
	CL(clGetDeviceInfo(cl_device_of_test, CL_DEVICE_EXTENSIONS, sizeof(extensions), extensions,
			   NULL));
	(void)snprintf(first, sizeof(first), "%.*s", (int)strcspn(extensions, " "), extensions);
	cr_assert(gt(sz, strlen(first), 3), "the device reports no extension");
	MUST(sycl_opencl_device_has_extension(device, first, &has));
	cr_assert(eq(u32, has, 1));
	first[strlen(first) - 1] = '\0';
	MUST(sycl_opencl_device_has_extension(device, first, &has));
	cr_assert(eq(u32, has, 0), "a part of a name is no name: %s", first);
	MUST(sycl_opencl_device_has_extension(device, "", &has));
	cr_assert(eq(u32, has, 0));
	MUST(sycl_opencl_platform_has_extension(given, "cl_khr_icd", &has));
	cr_assert(eq(u32, has, 1));
	MUST(sycl_opencl_platform_has_extension(given, "cl_khr_ic", &has));
	cr_assert(eq(u32, has, 0));
	FAILS(sycl_device_has_extension(device, SYCL_BACKEND_KIND_CUDA, "x", &has),
	      SYCL_ERROR_BACKEND_MISMATCH);
	FAILS(sycl_platform_has_extension(given, SYCL_BACKEND_KIND_CUDA, "x", &has),
	      SYCL_ERROR_BACKEND_MISMATCH);
	MUST(sycl_platform_release(given));
}

static cl_uint device_references(cl_device_id of)
{
	cl_uint count = 0;
	CL(clGetDeviceInfo(of, CL_DEVICE_REFERENCE_COUNT, sizeof(count), &count, NULL));
	return count;
}

/* Divides the device by OpenCL itself; the test releases the parts. 0: it cannot be divided. */
static cl_uint parts_of_device(cl_device_id *parts, cl_uint room)
{
	cl_device_partition_property ones[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
	cl_uint count = 0;
	return clCreateSubDevices(cl_device_of_test, ones, room, parts, &count) == CL_SUCCESS
		       ? count
		       : 0;
}

/* PoCL does not count the references of its own objects to a part. So the count is that of this
 * test's references. */
Test(opencl_interop, J2_a_part_of_a_device_is_retained_until_its_last_holder_goes)
{
	cl_device_id parts[64] = {NULL}, given = NULL;
	cl_uint count = parts_of_device(parts, 64);
	if (count == 0)
		cr_skip_test("the device has one compute unit, or no parts");
	cl_uint before = device_references(parts[0]);
	sycl_device made = NULL, again = NULL, parent = NULL;
	MUST(sycl_opencl_make_device(platform, parts[0], &made));
	cr_assert(eq(u32, device_references(parts[0]), before + 1));
	MUST(sycl_device_get_parent(made, &parent));
	cr_assert(eq(ptr, parent, device));
	MUST(sycl_device_release(parent));
	MUST(sycl_opencl_get_native_device(made, &given));
	cr_assert(eq(ptr, given, parts[0]));
	CL(clReleaseDevice(given));
	MUST(sycl_opencl_make_device(platform, parts[0], &again));
	MUST(sycl_device_release(again));
	LET_GO(device_references, parts[0], before + 1);
	/* Its context keeps it. Once that is released, nothing does. */
	sycl_context context = NULL;
	MUST(sycl_context_create(1, &made, &context));
	MUST(sycl_device_release(made));
	round_trip();
	cr_assert(eq(u32, device_references(parts[0]), before + 1));
	MUST(sycl_context_release(context));
	LET_GO(device_references, parts[0], before);
	for (cl_uint i = 0; i < count; i++)
		CL(clReleaseDevice(parts[i]));
}

/* Doubles each word on both queues, one after the other. */
static void double_twice(sycl_context context, sycl_queue queues[2])
{
	static const char source[] =
		"__kernel void twice(__global uint *to) { to[get_global_id(0)] *= 2; }";
	sycl_kernel_bundle input = NULL, bundle = NULL;
	sycl_kernel kernel = NULL;
	sycl_buffer buffer = NULL;
	uint32_t words[N];
	for (uint32_t i = 0; i < N; i++)
		words[i] = i;
	MUST(sycl_kernel_bundle_create_input(context, 0, NULL, SYCL_SOURCE_OPENCL_C, source, 0,
					     &input));
	MUST(sycl_kernel_bundle_build(input, NULL, &bundle));
	MUST(sycl_kernel_create(bundle, "twice", &kernel));
	MUST(sycl_buffer_create(platform, words, sizeof(words), SYCL_HOST_BORROWED, &buffer));
	for (int i = 0; i < 2; i++) {
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(queues[i], &handler));
		MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
		MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(N)));
		MUST(sycl_handler_submit(handler, NULL));
	}
	MUST(sycl_buffer_release(buffer));
	for (uint32_t i = 0; i < N; i++)
		cr_assert(eq(u32, words[i], 4 * i));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	MUST(sycl_kernel_bundle_release(input));
}

/* The application makes a part and a queue on it. The work runs on the part. */
Test(opencl_interop, J2_kernels_run_on_the_applications_part_of_a_device)
{
	cl_device_id parts[64] = {NULL}, of_queue = NULL;
	cl_uint count = parts_of_device(parts, 64);
	cl_int code = CL_SUCCESS;
	cl_context native = NULL;
	if (count == 0)
		cr_skip_test("the device has one compute unit, or no parts");
	uint32_t units = 0;
	sycl_device made = NULL;
	sycl_context context = NULL;
	sycl_queue queues[2] = {NULL};
	MUST(sycl_opencl_make_device(platform, parts[0], &made));
	MUST(sycl_device_get_info(made, SYCL_DEVICE_INFO_MAX_COMPUTE_UNITS, sizeof(units), &units,
				  NULL));
	cr_assert(eq(u32, units, 1));
	MUST(sycl_context_create(1, &made, &context));
	MUST(sycl_queue_create(context, made, NULL, &queues[0]));
	MUST(sycl_opencl_get_native_context(context, &native));
	cl_command_queue own = clCreateCommandQueue(native, parts[0], 0, &code);
	CL(code);
	cl_command_queue other = clCreateCommandQueue(native, cl_device_of_test, 0, &code);
	CL(code);
	MUST(sycl_opencl_make_queue(context, own, NULL, &queues[1]));
	cl_command_queue reported = NULL;
	MUST(sycl_opencl_get_native_queue(queues[0], &reported));
	CL(clGetCommandQueueInfo(reported, CL_QUEUE_DEVICE, sizeof(of_queue), &of_queue, NULL));
	cr_assert(eq(ptr, of_queue, parts[0]));
	CL(clReleaseCommandQueue(reported));
	sycl_queue wrong = NULL;
	FAILS(sycl_opencl_make_queue(context, other, NULL, &wrong), SYCL_ERROR_INVALID);
	double_twice(context, queues);
	for (int i = 0; i < 2; i++)
		MUST(sycl_queue_release(queues[i]));
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(made));
	CL(clReleaseCommandQueue(own));
	CL(clReleaseCommandQueue(other));
	CL(clReleaseContext(native));
	for (cl_uint i = 0; i < count; i++)
		CL(clReleaseDevice(parts[i]));
}

Test(opencl_interop, J2_a_context_of_a_part_is_taken_as_its_driver_tells_of_it)
{
	cl_device_id parts[64] = {NULL};
	cl_int code = CL_SUCCESS;
	sycl_context context = NULL;
	cl_uint count = parts_of_device(parts, 64);
	if (count == 0)
		cr_skip_test("the device has one compute unit, or no parts");
	cl_context of_part = clCreateContext(NULL, 1, &parts[0], NULL, NULL, &code);
	CL(code);
	/* PoCL's queue reports the whole device. Then the whole device is expected. */
	cl_device_id reported = NULL;
	CL(clGetContextInfo(of_part, CL_CONTEXT_DEVICES, sizeof(reported), &reported, NULL));
	if (reported == parts[0])
		FAILS(sycl_opencl_make_context(platform, of_part, NULL, &context),
		      SYCL_ERROR_INVALID);
	else
		MUST(sycl_opencl_make_context(platform, of_part, NULL, &context));
	if (context)
		MUST(sycl_context_release(context));
	LET_GO(sycl_opencl_get_reference_count_context, of_part, 1);
	CL(clReleaseContext(of_part));
	for (cl_uint i = 0; i < count; i++)
		CL(clReleaseDevice(parts[i]));
}

Test(opencl_interop, J2_a_whole_device_is_not_counted)
{
	/* A root device is not counted: however often it is requested, nothing has to be given
	 * back. */
	cl_uint root = device_references(cl_device_of_test);
	for (int i = 0; i < 10; i++) {
		cl_device_id given = NULL;
		MUST(sycl_opencl_get_native_device(device, &given));
		cr_assert(eq(ptr, given, cl_device_of_test));
	}
	cr_assert(eq(u32, device_references(cl_device_of_test), root));
}

Test(opencl_interop, I6_a_queue_that_checks_takes_nothing_while_its_native_one_is_given_out)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	sycl_queue queue = NULL;
	cl_command_queue native = NULL;
	sycl_context context = native_context();
	options.properties = SYCL_QUEUE_CHECK_NATIVE | SYCL_QUEUE_IN_ORDER;
	MUST(sycl_queue_create(context, device, &options, &queue));
	FAILS(sycl_queue_return_native(queue), SYCL_ERROR_INVALID);
	for (int i = 0; i < 3; i++) {
		MUST(sycl_opencl_get_native_queue(queue, &native));
		FAILS(sycl_queue_barrier(queue, NULL), SYCL_ERROR_INVALID);
		MUST(sycl_queue_wait(queue));
		CL(clReleaseCommandQueue(native));
		MUST(sycl_queue_return_native(queue));
		MUST(sycl_queue_barrier(queue, NULL));
	}
	MUST(sycl_queue_wait(queue));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
}

Test(opencl_interop, M11_another_backends_native_objects_are_a_mismatch)
{
	uint64_t number = 0;
	uint32_t count = 0;
	sycl_queue queue = NULL;
	sycl_event event = NULL;
	sycl_context context = native_context();
	queue = queue_in(context);
	FAILS(sycl_device_get_native(device, SYCL_BACKEND_KIND_CUDA, &number),
	      SYCL_ERROR_BACKEND_MISMATCH);
	FAILS(sycl_context_get_native(context, SYCL_BACKEND_KIND_CUDA, 1, &number, &count),
	      SYCL_ERROR_BACKEND_MISMATCH);
	FAILS(sycl_queue_get_native(queue, SYCL_BACKEND_KIND_CUDA, &number),
	      SYCL_ERROR_BACKEND_MISMATCH);
	FAILS(sycl_queue_make_native(context, SYCL_BACKEND_KIND_CUDA, 1, NULL, &queue),
	      SYCL_ERROR_BACKEND_MISMATCH);
	FAILS(sycl_event_make_native(context, SYCL_BACKEND_KIND_CUDA, 1, &number, &event),
	      SYCL_ERROR_BACKEND_MISMATCH);
	FAILS(sycl_device_get_native(device, (sycl_backend)9, &number), SYCL_ERROR_INVALID);
	cr_assert(eq(u64, number, 0));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
}

Test(opencl_interop, J15_J16_reference_counts_and_codes)
{
	sycl_queue queue = NULL;
	cl_int code = CL_SUCCESS;
	cr_assert(eq(u32, sycl_opencl_get_reference_count_device(cl_device_of_test), 1));
	cr_assert(eq(u32, sycl_opencl_get_reference_count_queue(cl_queue_of_test), 1));
	FAILS(sycl_queue_create(NULL, NULL, NULL, &queue), SYCL_ERROR_INVALID_HANDLE);
	cr_assert(eq(int, sycl_opencl_get_error_code(), CL_SUCCESS));
	/* The error contains OpenCL's own code. */
	sycl_context context = native_context();
	cl_program program =
		program_of("__kernel void x(__global uint *to) { nothing(to); }", NULL);
	sycl_kernel_bundle bundle = NULL;
	FAILS(sycl_opencl_make_kernel_bundle(context, SYCL_BUNDLE_EXECUTABLE, program, &bundle),
	      SYCL_ERROR_INVALID);
	code = sycl_opencl_get_error_code();
	cr_assert(eq(int, code, CL_BUILD_PROGRAM_FAILURE));
	CL(clReleaseProgram(program));
	MUST(sycl_context_release(context));
}

/* A program may end while all of its objects are in use. */
Test(opencl_ends, N2_N7_a_connection_ends_with_native_objects_in_it, .timeout = 60)
{
	sycl_context context = NULL;
	sycl_queue queue = NULL;
	sycl_buffer buffer = NULL;
	sycl_event event = NULL;
	with_opencl();
	uint32_t words[N] = {1};
	cl_mem memory = memory_of(words, N);
	cl_event gate = user_event();
	context = native_context();
	MUST(sycl_opencl_make_queue(context, cl_queue_of_test, NULL, &queue));
	MUST(sycl_opencl_make_event(context, 1, &gate, &event));
	MUST(sycl_opencl_make_buffer(context, memory, event, &buffer));
	sycl_kernel kernel = twice_for(queue);
	launch_on_buffer(queue, kernel, buffer,
			 NULL); /* waits for the event, which does not happen */
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_detach(buffer));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(device));
	MUST(sycl_platform_release(platform)); /* the engine is gone when this returns */
	LET_GO_ALONE(sycl_opencl_get_reference_count_memory, memory, 1);
	LET_GO_ALONE(sycl_opencl_get_reference_count_queue, cl_queue_of_test, 1);
	CL(clSetUserEventStatus(gate, CL_COMPLETE)); /* no function is called for it any more */
	LET_GO_ALONE(sycl_opencl_get_reference_count_event, gate, 1);
	read_memory(memory, words, 1);
	cr_assert(eq(u32, words[0], 1));
	CL(clReleaseEvent(gate));
	CL(clReleaseMemObject(memory));
	CL(clReleaseCommandQueue(cl_queue_of_test));
	LET_GO_ALONE(sycl_opencl_get_reference_count_context, cl_context_of_test, 1);
	CL(clReleaseContext(cl_context_of_test));
}

static void read_layer_counts(struct opencl_counts *counts_out)
{
	void *layer = dlopen(COUNTER_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
	cr_assert(ne(ptr, layer, NULL), "the loader has not loaded the layer");
	opencl_counts_function *ask = (opencl_counts_function *)dlsym(layer, "opencl_counts");
	cr_assert(ask != NULL);
	ask(counts_out);
	(void)dlclose(layer);
}

/* Makes and gives away one object of each kind, and does work with them. */
static void use_all(void)
{
	uint32_t words[N] = {1};
	cl_int code = CL_SUCCESS;
	cl_mem memory = memory_of(words, N), listed = NULL;
	cl_event gate = user_event();
	cl_program program = program_of(twice_source, "");
	cl_kernel native = clCreateKernel(program, "twice", &code);
	CL(code);
	sycl_context context = native_context();
	sycl_queue queue = NULL;
	sycl_event event = NULL;
	sycl_buffer buffer = NULL;
	sycl_kernel kernel = NULL;
	sycl_kernel_bundle bundle = NULL;
	MUST(sycl_opencl_make_queue(context, cl_queue_of_test, NULL, &queue));
	MUST(sycl_opencl_make_event(context, 1, &gate, &event));
	MUST(sycl_opencl_make_buffer(context, memory, event, &buffer));
	MUST(sycl_opencl_make_kernel(context, native, &kernel));
	MUST(sycl_opencl_make_kernel_bundle(context, SYCL_BUNDLE_EXECUTABLE, program, &bundle));
	launch_on_buffer(queue, kernel, buffer, NULL);
	CL(clSetUserEventStatus(gate, CL_COMPLETE));
	MUST(sycl_queue_wait(queue));
	MUST(sycl_opencl_get_native_buffer(buffer, 1, &listed, NULL));
	CL(clReleaseMemObject(listed));
	MUST(sycl_kernel_bundle_release(bundle));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_event_release(event));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
	CL(clReleaseKernel(native));
	CL(clReleaseProgram(program));
	CL(clReleaseEvent(gate));
	CL(clReleaseMemObject(memory));
}

Test(opencl_ends, N1_N7_each_reference_that_is_taken_is_given_back_once, .timeout = 60)
{
	struct opencl_counts counts;
	(void)setenv("OPENCL_LAYERS", COUNTER_LIBRARY, 1);
	with_opencl();
	use_all();
	use_all();
	without_opencl();
	read_layer_counts(&counts);
	for (int i = 0; i < OPENCL_COUNTED; i++)
		cr_expect(eq(u64, counts.given[i], counts.taken[i]), "kind %d", i);
	for (int i = OPENCL_CONTEXTS; i <= OPENCL_EVENTS; i++)
		cr_expect(gt(u64, counts.taken[i], 2), "nothing of kind %d was used", i);
}

Test(opencl_interop, J18_scalar_types_have_sycls_sizes)
{
	cr_assert(eq(sz, sizeof(sycl_opencl_scalar_sizes),
		     1)); /* the header compiles with these sizes alone */
	cr_assert(eq(sz, sizeof(cl_half), 2));
	cr_assert(eq(sz, sizeof(cl_long), 8));
}

sycl_kernel opencl_increment_kernel(sycl_queue queue)
{
	static const char source[] =
		"SYCL_KERNEL void increment(SYCL_GLOBAL(uint) x) { x[sycl_global_id(0)] += 1; }";
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, source, NULL, &bundle));
	MUST(sycl_kernel_create(bundle, "increment", &kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	return kernel;
}

void opencl_expect_words(sycl_buffer buffer, uint32_t value)
{
	sycl_host_accessor accessor = NULL;
	void *words = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &words));
	for (int i = 0; i < N; i++)
		cr_assert(eq(u32, ((const uint32_t *)words)[i], value));
	MUST(sycl_host_accessor_release(accessor));
}

sycl_buffer opencl_zeros(sycl_queue queue)
{
	const uint32_t zero = 0;
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(platform, NULL, BYTES, SYCL_HOST_NONE, &buffer));
	MUST(sycl_queue_fill(queue, buffer, 0, BYTES, &zero, sizeof(zero), NULL));
	return buffer;
}
