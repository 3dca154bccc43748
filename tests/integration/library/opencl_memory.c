/* OpenCL's memory objects and events as buffers, images and events (J6 - J8, B31). */
#include "library/opencl.h"

#include <string.h>

TestSuite(opencl_memory, .init = with_opencl, .fini = without_opencl, .timeout = 120);

static const char add_source[] =
	"__kernel void add(__global uint *to, uint value) { to[get_global_id(0)] += value; }";

static sycl_kernel adder(sycl_queue queue)
{
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_OPENCL_C, add_source, NULL,
					    &bundle));
	MUST(sycl_kernel_create(bundle, "add", &kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	return kernel;
}

static void submit_add(sycl_queue queue, sycl_kernel kernel, sycl_buffer buffer, uint32_t value,
		       sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(N)));
	MUST(sycl_handler_submit(handler, event_out));
}

static void fill_indices(uint32_t words[N])
{
	for (uint32_t i = 0; i < N; i++)
		words[i] = i;
}

static int are_counted_from(const uint32_t *words, uint32_t first)
{
	for (uint32_t i = 0; i < N; i++)
		if (words[i] != first + i)
			return 0;
	return 1;
}

Test(opencl_memory, J1_J2_J5_J6_a_kernel_of_the_context_works_in_the_native_memory)
{
	uint32_t words[N];
	sycl_buffer buffer = NULL;
	uint64_t bytes = 0;
	cl_mem listed = NULL;
	uint32_t count = 0;
	fill_indices(words);
	cl_mem memory = memory_of(words, N);
	sycl_context context = native_context();
	sycl_queue queue = queue_in(context);
	MUST(sycl_opencl_make_buffer(context, memory, NULL, &buffer));
	cr_assert(eq(u32, sycl_opencl_get_reference_count_memory(memory), 2));
	MUST(sycl_buffer_get_size(buffer, &bytes));
	cr_assert(eq(u64, bytes, BYTES));
	sycl_kernel kernel = adder(queue);
	submit_add(queue, kernel, buffer, 7, NULL);
	MUST(sycl_queue_wait(queue));
	MUST(sycl_opencl_get_native_buffer(buffer, 1, &listed, &count));
	cr_assert(eq(u32, count, 1));
	cr_assert(eq(ptr, listed, memory));
	LET_GO(sycl_opencl_get_reference_count_memory, memory,
	       3); /* the driver releases its own reference of a command a little after the end */
	CL(clReleaseMemObject(listed));
	read_memory(memory, words, N);
	cr_assert(are_counted_from(words, 7));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_buffer_release(buffer));
	LET_GO(sycl_opencl_get_reference_count_memory, memory, 1);
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
	CL(clReleaseMemObject(memory));
}

/* The host, and kernels of another context, use copies. When they have ended, the native memory
 * contains their writes. */
Test(opencl_memory, J7_used_elsewhere_and_visible_in_the_native_memory)
{
	uint32_t words[N];
	sycl_buffer buffer = NULL;
	sycl_queue other = NULL;
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	fill_indices(words);
	cl_mem memory = memory_of(words, N);
	sycl_context context = native_context();
	MUST(sycl_opencl_make_buffer(context, memory, NULL, &buffer));
	MUST(sycl_queue_create(NULL, device, NULL, &other)); /* the library's own context */
	sycl_kernel kernel = adder(other);
	submit_add(other, kernel, buffer, 1, NULL);
	MUST(sycl_queue_wait(other));
	read_memory(memory, words, N);
	cr_assert(are_counted_from(words, 1));
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ_WRITE, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	cr_assert(are_counted_from(pointer, 1));
	((uint32_t *)pointer)[0] = 100;
	MUST(sycl_host_accessor_release(accessor));
	sycl_queue queue = queue_in(context);
	sycl_kernel second = adder(queue);
	submit_add(queue, second, buffer, 1, NULL);
	MUST(sycl_queue_wait(queue));
	read_memory(memory, words, N);
	cr_assert(eq(u32, words[0], 101));
	cr_assert(eq(u32, words[1], 3));
	MUST(sycl_kernel_release(second));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(other));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
	LET_GO(sycl_opencl_get_reference_count_memory, memory, 1);
	CL(clReleaseMemObject(memory));
}

Test(opencl_memory, J6_waits_for_the_event_and_checks_the_context)
{
	uint32_t words[N];
	cl_int code = CL_SUCCESS;
	sycl_buffer buffer = NULL;
	sycl_event available = NULL, done = NULL;
	fill_indices(words);
	cl_mem memory = memory_of(words, N);
	cl_event gate = user_event();
	cl_context other = clCreateContext(NULL, 1, &cl_device_of_test, NULL, NULL, &code);
	CL(code);
	cl_mem foreign = clCreateBuffer(other, CL_MEM_READ_WRITE, 64, NULL, &code);
	CL(code);
	sycl_context context = native_context();
	sycl_queue queue = queue_in(context);
	FAILS(sycl_opencl_make_buffer(context, foreign, NULL, &buffer), SYCL_ERROR_INVALID);
	FAILS(sycl_opencl_make_buffer(context, NULL, NULL, &buffer), SYCL_ERROR_INVALID);
	cr_assert(eq(u32, sycl_opencl_get_reference_count_memory(foreign), 1));
	MUST(sycl_opencl_make_event(context, 1, &gate, &available));
	MUST(sycl_opencl_make_buffer(context, memory, available, &buffer));
	sycl_kernel kernel = adder(queue);
	submit_add(queue, kernel, buffer, 5, &done);
	FAILS(sycl_event_wait_for(done, 20000000), SYCL_ERROR_TIMEOUT);
	read_memory(memory, words, N);
	cr_assert(are_counted_from(words, 0), "it was used before it was available");
	CL(clSetUserEventStatus(gate, CL_COMPLETE));
	MUST(sycl_event_wait(done));
	read_memory(memory, words, N);
	cr_assert(are_counted_from(words, 5));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_event_release(done));
	MUST(sycl_event_release(available));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
	LET_GO(sycl_opencl_get_reference_count_event, gate, 1);
	CL(clReleaseEvent(gate));
	CL(clReleaseMemObject(foreign));
	CL(clReleaseContext(other));
	CL(clReleaseMemObject(memory));
}

Test(opencl_memory, J6_M11_what_is_never_available_fails_who_needs_it)
{
	uint32_t words[N];
	sycl_buffer buffer = NULL;
	sycl_event available = NULL, done = NULL;
	fill_indices(words);
	cl_mem memory = memory_of(words, N);
	cl_event gate = user_event();
	sycl_context context = native_context();
	sycl_queue queue = queue_in(context);
	/* The status is set before any thread waits for the event: PoCL does not report it to
	 * waiting threads. */
	CL(clSetUserEventStatus(gate, -5));
	MUST(sycl_opencl_make_event(context, 1, &gate, &available));
	MUST(sycl_opencl_make_buffer(context, memory, available, &buffer));
	sycl_kernel kernel = adder(queue);
	submit_add(queue, kernel, buffer, 5, &done);
	FAILS(sycl_event_wait(available), SYCL_ERROR_EVENT);
	cr_assert(eq(int, sycl_opencl_get_error_code(), -5));
	cr_assert(ne(int, sycl_event_wait(done),
		     0)); /* the code of the cause, or a code that reports an earlier cause */
	read_memory(memory, words, N);
	cr_assert(are_counted_from(words, 0));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_event_release(done));
	MUST(sycl_event_release(available));
	MUST(sycl_buffer_detach(buffer));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
	CL(clReleaseEvent(gate));
	CL(clReleaseMemObject(memory));
}

Test(opencl_memory, J8_one_memory_for_each_context_that_has_used_the_buffer)
{
	uint32_t words[N];
	sycl_buffer buffer = NULL;
	cl_mem listed[4] = {NULL};
	cl_context of[2] = {NULL};
	uint32_t count = 9;
	fill_indices(words);
	sycl_context contexts[2] = {native_context(), NULL};
	MUST(sycl_context_create(1, &device, &contexts[1]));
	MUST(sycl_buffer_create(platform, words, sizeof(words), SYCL_HOST_CONST, &buffer));
	MUST(sycl_opencl_get_native_buffer(buffer, 4, listed, &count));
	cr_assert(eq(u32, count, 0));
	for (uint32_t i = 0; i < 2; i++) {
		sycl_queue queue = queue_in(contexts[i]);
		sycl_kernel kernel = adder(queue);
		submit_add(queue, kernel, buffer, 1, NULL);
		MUST(sycl_queue_wait(queue));
		MUST(sycl_opencl_get_native_buffer(buffer, 0, NULL,
						   &count)); /* counting takes no reference */
		cr_assert(eq(u32, count, i + 1));
		MUST(sycl_kernel_release(kernel));
		MUST(sycl_queue_release(queue));
	}
	/* The list has room for one. The other one is counted and not returned. */
	MUST(sycl_opencl_get_native_buffer(buffer, 1, listed, &count));
	cr_assert(eq(u32, count, 2));
	CL(clReleaseMemObject(listed[0]));
	MUST(sycl_opencl_get_native_buffer(buffer, 4, listed, &count));
	cr_assert(eq(u32, count, 2));
	for (int i = 0; i < 2; i++) {
		CL(clGetMemObjectInfo(listed[i], CL_MEM_CONTEXT, sizeof(cl_context), &of[i], NULL));
		LET_GO(sycl_opencl_get_reference_count_memory, listed[i], 2);
	}
	cr_assert(ne(ptr, of[0], of[1]));
	cr_assert(of[0] == cl_context_of_test || of[1] == cl_context_of_test);
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_context_release(contexts[0]));
	MUST(sycl_context_release(contexts[1]));
	/* J3: the library's objects are released, and these stay valid. */
	for (int i = 0; i < 2; i++) {
		LET_GO(sycl_opencl_get_reference_count_memory, listed[i], 1);
		CL(clReleaseMemObject(listed[i]));
	}
}

static const char shade_source[] =
	"__kernel void shade(__read_only image2d_t from, __write_only image2d_t to, sampler_t with)\n"
	"{ int2 at = (int2)(get_global_id(0), get_global_id(1)); write_imageui(to, at, read_imageui(from, with, at) + 1u); }";

static cl_mem image_of(const uint8_t *pixels, uint32_t width, uint32_t height, cl_mem_flags flags)
{
	const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
	const cl_image_desc description = {
		.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = width, .image_height = height};
	cl_int code = CL_SUCCESS;
	cl_mem image =
		clCreateImage(cl_context_of_test, flags | (pixels ? CL_MEM_COPY_HOST_PTR : 0),
			      &format, &description, (void *)(uintptr_t)pixels, &code);
	CL(code);
	return image;
}

enum { WIDTH = 16, HEIGHT = 8, PIXELS = WIDTH * HEIGHT * 4 };

static void shade(sycl_queue queue, sycl_image from, sycl_image to)
{
	const sycl_sampler sampler =
		sycl_sampler_create(SYCL_ADDRESSING_CLAMP_TO_EDGE, SYCL_COORDINATE_UNNORMALIZED,
				    SYCL_FILTERING_NEAREST);
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	sycl_handler handler = NULL;
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_OPENCL_C, shade_source, NULL,
					    &bundle));
	MUST(sycl_kernel_create(bundle, "shade", &kernel));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_image(handler, 0, from, SYCL_ACCESS_READ));
	MUST(sycl_handler_set_image(handler, 1, to, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_set_sampler(handler, 2, &sampler));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range2(HEIGHT, WIDTH)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_wait(queue));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(bundle));
}

Test(opencl_memory, J1_J6_images_with_their_format_and_size)
{
	static const size_t origin[3], region[3] = {WIDTH, HEIGHT, 1};
	uint8_t pixels[PIXELS], result[PIXELS];
	sycl_image from = NULL, to = NULL;
	sycl_buffer buffer = NULL;
	sycl_image_format format;
	sycl_range range;
	cl_mem listed = NULL;
	uint32_t count = 0;
	for (int i = 0; i < PIXELS; i++)
		pixels[i] = (uint8_t)(i % 200);
	cl_mem natives[2] = {image_of(pixels, WIDTH, HEIGHT, CL_MEM_READ_ONLY),
			     image_of(NULL, WIDTH, HEIGHT, CL_MEM_READ_WRITE)};
	sycl_context context = native_context();
	sycl_queue queue = queue_in(context);
	MUST(sycl_opencl_make_image(context, natives[0], NULL, &from));
	MUST(sycl_opencl_make_image(context, natives[1], NULL, &to));
	FAILS(sycl_opencl_make_buffer(context, natives[0], NULL, &buffer), SYCL_ERROR_INVALID);
	MUST(sycl_image_get_format(from, &format));
	MUST(sycl_image_get_range(from, &range));
	cr_assert(eq(int, format, SYCL_IMAGE_FORMAT_R8G8B8A8_UINT));
	cr_assert(eq(u32, range.dimensions, 2));
	cr_assert(eq(u64, range.size[0], HEIGHT));
	cr_assert(eq(u64, range.size[1], WIDTH));
	shade(queue, from, to);
	CL(clEnqueueReadImage(cl_queue_of_test, natives[1], CL_TRUE, origin, region, 0, 0, result,
			      0, NULL, NULL));
	for (int i = 0; i < PIXELS; i++)
		cr_assert(eq(int, result[i], pixels[i] + 1), "%d", i);
	MUST(sycl_opencl_get_native_image(to, 1, &listed, &count));
	cr_assert(eq(u32, count, 1));
	cr_assert(eq(ptr, listed, natives[1]));
	CL(clReleaseMemObject(listed));
	MUST(sycl_image_release(from));
	MUST(sycl_image_release(to));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
	for (int i = 0; i < 2; i++) {
		LET_GO(sycl_opencl_get_reference_count_memory, natives[i], 1);
		CL(clReleaseMemObject(natives[i]));
	}
}

Test(opencl_memory, J6_images_of_one_and_three_dimensions_wait_for_their_event)
{
	const cl_image_format formats[2] = {{CL_RGBA, CL_FLOAT}, {CL_R, CL_FLOAT}};
	sycl_context context = native_context();
	for (uint32_t dimensions = 1; dimensions <= 3; dimensions += 2) {
		const cl_image_desc description = {.image_type = dimensions == 1
									 ? CL_MEM_OBJECT_IMAGE1D
									 : CL_MEM_OBJECT_IMAGE3D,
						   .image_width = 8,
						   .image_height = dimensions == 1 ? 0 : 4,
						   .image_depth = dimensions == 1 ? 0 : 2};
		float pixels[8 * 4 * 2 * 4];
		cl_int code = CL_SUCCESS;
		sycl_image image = NULL;
		sycl_event available = NULL;
		sycl_host_image host = NULL;
		sycl_range range;
		for (int i = 0; i < 8 * 4 * 2 * 4; i++)
			pixels[i] = (float)i;
		cl_mem native =
			clCreateImage(cl_context_of_test, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
				      &formats[0], &description, pixels, &code);
		CL(code);
		cl_event gate = user_event();
		MUST(sycl_opencl_make_event(context, 1, &gate, &available));
		MUST(sycl_opencl_make_image(context, native, available, &image));
		MUST(sycl_image_get_range(image, &range));
		cr_assert(eq(u32, range.dimensions, dimensions));
		cr_assert(eq(u64, range.size[dimensions - 1], 8));
		cr_assert(eq(u64, range.size[0], dimensions == 1 ? 8 : 2));
		FAILS(sycl_host_image_create_for(image, SYCL_ACCESS_READ, 20000000, &host),
		      SYCL_ERROR_TIMEOUT);
		CL(clSetUserEventStatus(gate, CL_COMPLETE));
		MUST(sycl_host_image_create(image, SYCL_ACCESS_READ, &host));
		float seen[4];
		const uint64_t last[3] = {dimensions == 1 ? 7 : 1, dimensions == 1 ? 0 : 3, 7};
		MUST(sycl_host_image_read_float(host, last, seen));
		cr_assert(eq(flt, seen[3], dimensions == 1 ? 31.0f : 255.0f));
		MUST(sycl_host_image_release(host));
		MUST(sycl_image_release(image));
		MUST(sycl_event_release(available));
		CL(clReleaseEvent(gate));
		CL(clReleaseMemObject(native));
	}
	/* SYCL has no image of one channel. */
	cl_int code = CL_SUCCESS;
	const cl_image_desc description = {
		.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
	cl_mem single = clCreateImage(cl_context_of_test, CL_MEM_READ_WRITE, &formats[1],
				      &description, NULL, &code);
	CL(code);
	sycl_image image = NULL;
	FAILS(sycl_opencl_make_image(context, single, NULL, &image),
	      SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	CL(clReleaseMemObject(single));
	MUST(sycl_context_release(context));
}

Test(opencl_memory, B31_J1_J2_an_event_of_two_is_complete_when_both_are)
{
	cl_event gates[2] = {user_event(), user_event()}, listed[2] = {NULL};
	sycl_event both = NULL;
	sycl_command_status status = SYCL_COMMAND_COMPLETE;
	uint32_t count = 0, has = 0;
	sycl_context context = native_context();
	MUST(sycl_opencl_make_event(context, 2, gates, &both));
	for (int i = 0; i < 2; i++)
		cr_assert(eq(u32, sycl_opencl_get_reference_count_event(gates[i]), 2));
	MUST(sycl_event_has_native_event(both, &has));
	cr_assert(eq(u32, has, 1));
	MUST(sycl_opencl_get_native_event(both, 2, listed, &count));
	cr_assert(eq(u32, count, 2));
	for (int i = 0; i < 2; i++) {
		cr_assert(eq(ptr, listed[i], gates[i]));
		CL(clReleaseEvent(listed[i]));
	}
	CL(clSetUserEventStatus(gates[1], CL_COMPLETE));
	FAILS(sycl_event_wait_for(both, 20000000), SYCL_ERROR_TIMEOUT);
	MUST(sycl_event_get_status(both, &status));
	cr_assert(ne(int, status, SYCL_COMMAND_COMPLETE), "one of two is not both");
	CL(clSetUserEventStatus(gates[0], CL_COMPLETE));
	MUST(sycl_event_wait(both));
	MUST(sycl_event_get_status(both, &status));
	cr_assert(eq(int, status, SYCL_COMMAND_COMPLETE));
	MUST(sycl_event_release(both));
	MUST(sycl_context_release(context));
	for (int i = 0; i < 2; i++) {
		LET_GO(sycl_opencl_get_reference_count_event, gates[i], 1);
		CL(clReleaseEvent(gates[i]));
	}
}

/* A group that waits for the application's event is on no lane. So a hundred of them delay no other
 * group. */
Test(opencl_memory, B31_events_that_do_not_happen_hold_up_nothing_else)
{
	enum { GATES = 100 };
	uint32_t words[N];
	cl_event gates[GATES];
	sycl_event events[GATES];
	sycl_buffer buffer = NULL;
	sycl_queue queue = NULL;
	fill_indices(words);
	sycl_context context = native_context();
	MUST(sycl_queue_create(context, device, NULL, &queue));
	for (int i = 0; i < GATES; i++) {
		gates[i] = user_event();
		MUST(sycl_opencl_make_event(context, 1, &gates[i], &events[i]));
	}
	MUST(sycl_buffer_create(platform, words, sizeof(words), SYCL_HOST_BORROWED, &buffer));
	sycl_kernel kernel = adder(queue);
	for (int i = 0; i < 32; i++)
		submit_add(queue, kernel, buffer, 1, NULL);
	MUST(sycl_queue_wait(queue));
	for (int i = 0; i < GATES; i++) {
		CL(clSetUserEventStatus(gates[i], CL_COMPLETE));
		MUST(sycl_event_wait(events[i]));
		MUST(sycl_event_release(events[i]));
	}
	MUST(sycl_buffer_release(buffer));
	cr_assert(are_counted_from(words, 32));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
	for (int i = 0; i < GATES; i++) {
		LET_GO(sycl_opencl_get_reference_count_event, gates[i], 1);
		CL(clReleaseEvent(gates[i]));
	}
}

/* An event of the application's own work, in a context of the library. */
Test(opencl_memory, B31_J1_a_group_waits_for_what_the_application_has_enqueued)
{
	uint32_t words[N], pattern = 3;
	sycl_buffer buffer = NULL;
	sycl_event written = NULL;
	sycl_handler handler = NULL;
	fill_indices(words);
	cl_mem memory = memory_of(words, N);
	cl_event gate = user_event(), filled = NULL;
	sycl_context context = native_context();
	sycl_queue queue = queue_in(context);
	CL(clEnqueueFillBuffer(cl_queue_of_test, memory, &pattern, sizeof(pattern), 0,
			       sizeof(words), 1, &gate, &filled));
	CL(clFlush(cl_queue_of_test));
	MUST(sycl_opencl_make_event(context, 1, &filled, &written));
	MUST(sycl_opencl_make_buffer(context, memory, NULL, &buffer));
	sycl_kernel kernel = adder(queue);
	uint32_t value = 1;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_depends_on(handler, written));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(N)));
	MUST(sycl_handler_submit(handler, NULL));
	CL(clSetUserEventStatus(gate, CL_COMPLETE));
	MUST(sycl_queue_wait(queue));
	read_memory(memory, words, N);
	for (uint32_t i = 0; i < N; i++)
		cr_assert(eq(u32, words[i], 4));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_event_release(written));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
	CL(clReleaseEvent(filled));
	CL(clReleaseEvent(gate));
	CL(clReleaseMemObject(memory));
}
