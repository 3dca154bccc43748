/* A command of the application in a command buffer, between two kernels of the library (K13 -
 * K19). */
#include "library/opencl.h"

#include <CL/cl_ext.h>
#include <stdatomic.h>
#include <string.h>

TestSuite(opencl_graphs, .init = with_opencl, .fini = without_opencl, .timeout = 120);

struct work {
	atomic_uint calls, ends;
	uint32_t has_graph;
	sycl_result result;
	uint64_t queue, graph;
};

static void opencl_graphs_count_end(void *user_data)
{
	struct work *work = user_data;
	atomic_fetch_add(&work->ends, 1);
}

/* Copies the first accessor's buffer to the second one's. The call has the form of the extension's
 * versions up to 0.9.4. */
static sycl_result opencl_graphs_run_native_copy(sycl_interop_handle interop, void *user_data)
{
	struct work *work = user_data;
	clCommandCopyBufferKHR_fn copy;
	uint64_t from = 0, to = 0, from_offset = 0, to_offset = 0;
	atomic_fetch_add(&work->calls, 1);
	if (sycl_interop_has_graph(interop, &work->has_graph) ||
	    sycl_interop_get_native_queue(interop, &work->queue) ||
	    sycl_interop_get_native_graph(interop, &work->graph) ||
	    sycl_interop_get_native_memory(interop, 0, &from, &from_offset) ||
	    sycl_interop_get_native_memory(interop, 1, &to, &to_offset) || work->result)
		return work->result ? work->result : SYCL_ERROR_RUNTIME;
	void *found = clGetExtensionFunctionAddressForPlatform(cl_platform_of_test,
							       "clCommandCopyBufferKHR");
	if (!found)
		return SYCL_ERROR_RUNTIME;
	memcpy(&copy, &found, sizeof(found));
	return copy((cl_command_buffer_khr)(uintptr_t)work->graph, NULL, (cl_mem)(uintptr_t)from,
		    (cl_mem)(uintptr_t)to, from_offset, to_offset, BYTES, 0, NULL, NULL, NULL);
}

static void opencl_graphs_add_increment(sycl_graph graph, sycl_queue queue, sycl_kernel kernel,
					sycl_buffer buffer)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(N)));
	MUST(sycl_graph_add(graph, handler, 0, NULL, NULL));
}

static void add_native(sycl_graph graph, sycl_queue queue, struct work *work, sycl_buffer from,
		       sycl_buffer to)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, from, SYCL_ACCESS_READ));
	MUST(sycl_handler_set_accessor(handler, 1, to, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_native_command(handler, opencl_graphs_run_native_copy, work,
					 opencl_graphs_count_end));
	MUST(sycl_graph_add(graph, handler, 0, NULL, NULL));
}

static bool has_graphs(void)
{
	uint32_t has = 0;
	MUST(sycl_device_has(device, SYCL_ASPECT_EXT_ONEAPI_LIMITED_GRAPH, &has));
	return has != 0;
}

/* Checks both answers, because all other tests here are skipped if the aspect is missing. */
Test(opencl_graphs, K19_the_aspect_is_told_if_and_only_if_the_driver_has_command_buffers)
{
	cl_ulong can = 0, queue = 0;
	uint32_t has = 0;
	MUST(sycl_opencl_device_has_extension(device, "cl_khr_command_buffer", &has));
	if (has) {
		CL(clGetDeviceInfo(cl_device_of_test, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR,
				   sizeof(can), &can, NULL));
		CL(clGetDeviceInfo(cl_device_of_test,
				   CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR,
				   sizeof(queue), &queue, NULL));
	}
	const bool is_usable = has && (can & CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR) &&
			       !(queue & ~(cl_ulong)CL_QUEUE_PROFILING_ENABLE);
	cr_assert(eq(int, has_graphs(), is_usable));
}

struct scene {
	sycl_context context;
	sycl_queue queue;
	sycl_kernel increment;
	sycl_buffer from, to;
	sycl_graph graph;
};

static void opencl_graphs_begin_scene(struct scene *scene)
{
	MUST(sycl_context_create(1, &device, &scene->context));
	scene->queue = queue_in(scene->context);
	scene->increment = opencl_increment_kernel(scene->queue);
	scene->from = opencl_zeros(scene->queue);
	scene->to = opencl_zeros(scene->queue);
	MUST(sycl_graph_create(scene->context, device, NULL, &scene->graph));
}

static void opencl_graphs_end_scene(struct scene *scene)
{
	MUST(sycl_queue_wait(scene->queue));
	MUST(sycl_buffer_release(scene->from));
	MUST(sycl_buffer_release(scene->to));
	MUST(sycl_kernel_release(scene->increment));
	MUST(sycl_queue_release(scene->queue));
	MUST(sycl_context_release(scene->context));
}

Test(opencl_graphs, K13_K15_K16_K18_a_command_of_the_application_keeps_the_graphs_order)
{
	struct scene scene;
	struct work work = {.result = 0};
	sycl_executable_graph executable = NULL;
	if (!has_graphs())
		cr_skip_test("no command buffers");
	opencl_graphs_begin_scene(&scene);
	opencl_graphs_add_increment(scene.graph, scene.queue, scene.increment, scene.from);
	add_native(scene.graph, scene.queue, &work, scene.from, scene.to);
	opencl_graphs_add_increment(scene.graph, scene.queue, scene.increment, scene.to);
	cr_assert(eq(u32, atomic_load(&work.calls), 0));
	MUST(sycl_graph_finalize(scene.graph, NULL, &executable));
	cr_assert(eq(u32, atomic_load(&work.calls), 1));
	cr_assert(eq(u32, work.has_graph, 1));
	cr_assert(ne(u64, work.graph, 0));
	MUST(sycl_graph_release(scene.graph));
	for (uint32_t round = 1; round <= 10; round++) {
		MUST(sycl_queue_graph(scene.queue, executable, 0, NULL, NULL));
		opencl_expect_words(scene.from, round);
		opencl_expect_words(scene.to, round + 1);
	}
	cr_assert(eq(u32, atomic_load(&work.calls), 1));
	MUST(sycl_executable_graph_release(executable));
	opencl_graphs_end_scene(&scene);
}

Test(opencl_graphs, K15_L17_a_function_that_fails_leaves_nothing)
{
	struct scene scene;
	struct work work = {.result = -7};
	sycl_executable_graph executable = NULL;
	if (!has_graphs())
		cr_skip_test("no command buffers");
	opencl_graphs_begin_scene(&scene);
	add_native(scene.graph, scene.queue, &work, scene.from, scene.to);
	cr_assert(ne(int, sycl_graph_finalize(scene.graph, NULL, &executable), 0));
	cr_assert(eq(u32, atomic_load(&work.calls), 1));
	work.result = 0;
	MUST(sycl_graph_finalize(scene.graph, NULL, &executable));
	cr_assert(eq(u32, atomic_load(&work.calls), 2));
	MUST(sycl_queue_graph(scene.queue, executable, 0, NULL, NULL));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(scene.graph));
	opencl_graphs_end_scene(&scene);
	round_trip();
	cr_assert(eq(u32, atomic_load(&work.ends), 1));
}

/* The driver cannot make this update in place. It would call the function once more, so it is
 * refused, and other launches continue. */
Test(opencl_graphs, K15_L13_what_was_called_once_is_not_made_anew)
{
	struct scene scene;
	struct work work = {.result = 0};
	struct sycl_graph_finalize_properties properties = SYCL_GRAPH_FINALIZE_PROPERTIES_INIT;
	sycl_executable_graph executable = NULL;
	sycl_range half = sycl_range1(N / 2);
	sycl_graph_node first = 1;
	sycl_event event = NULL;
	if (!has_graphs())
		cr_skip_test("no command buffers");
	opencl_graphs_begin_scene(&scene);
	opencl_graphs_add_increment(scene.graph, scene.queue, scene.increment, scene.from);
	add_native(scene.graph, scene.queue, &work, scene.from, scene.to);
	properties.flags = SYCL_GRAPH_UPDATABLE;
	MUST(sycl_graph_finalize(scene.graph, &properties, &executable));
	MUST(sycl_queue_graph(scene.queue, executable, 0, NULL, NULL));
	MUST(sycl_graph_node_update_range(scene.graph, first, &half, NULL));
	MUST(sycl_executable_graph_update(executable, scene.graph, 1, &first));
	MUST(sycl_queue_graph(scene.queue, executable, 0, NULL, &event));
	FAILS(sycl_event_wait(event), SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	MUST(sycl_event_release(event));
	cr_assert(eq(u32, atomic_load(&work.calls), 1));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(scene.graph));
	opencl_graphs_end_scene(&scene);
}

/* A temporary of the graph is ordinary memory there. */
Test(opencl_graphs, K12_K16_a_command_of_the_application_gets_a_temporary)
{
	struct scene scene;
	struct work work = {.result = 0};
	sycl_executable_graph executable = NULL;
	sycl_buffer temporary = NULL;
	sycl_handler handler = NULL;
	const uint32_t word = 40;
	if (!has_graphs())
		cr_skip_test("no command buffers");
	opencl_graphs_begin_scene(&scene);
	MUST(sycl_buffer_create_temporary(platform, BYTES, &temporary));
	MUST(sycl_handler_begin(scene.queue, &handler));
	MUST(sycl_handler_fill(handler, temporary, 0, BYTES, &word, sizeof(word)));
	MUST(sycl_graph_add(scene.graph, handler, 0, NULL, NULL));
	opencl_graphs_add_increment(scene.graph, scene.queue, scene.increment, temporary);
	add_native(scene.graph, scene.queue, &work, temporary, scene.to);
	MUST(sycl_graph_finalize(scene.graph, NULL, &executable));
	MUST(sycl_graph_release(scene.graph));
	MUST(sycl_buffer_release(temporary));
	for (int round = 0; round < 5; round++) {
		MUST(sycl_queue_graph(scene.queue, executable, 0, NULL, NULL));
		opencl_expect_words(scene.to, 41);
	}
	cr_assert(eq(u32, atomic_load(&work.calls), 1));
	MUST(sycl_executable_graph_release(executable));
	opencl_graphs_end_scene(&scene);
}
