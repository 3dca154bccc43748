/* Commands of the application on an OpenCL queue of the library, between kernels of the library
 * (K3, K6 - K9, K12). */
#include "library/opencl.h"

#include <stdatomic.h>

TestSuite(opencl_native_commands, .init = with_opencl, .fini = without_opencl, .timeout = 120);

enum { MANY = 200 };

struct work {
	atomic_uint calls, ends;
	cl_event gate; /* its commands wait for this event, unless it is NULL */
	sycl_result result;
	uint64_t device, context, queue;
};

static void opencl_native_count_end(void *user_data)
{
	struct work *work = user_data;
	atomic_fetch_add(&work->ends, 1);
}

/* Copies the first accessor's buffer to the second one's. */
static sycl_result opencl_native_run_native_copy(sycl_interop_handle interop, void *user_data)
{
	struct work *work = user_data;
	uint64_t from = 0, to = 0, from_offset = 0, to_offset = 0;
	atomic_fetch_add(&work->calls, 1);
	if (sycl_interop_get_native_device(interop, &work->device) ||
	    sycl_interop_get_native_context(interop, &work->context) ||
	    sycl_interop_get_native_queue(interop, &work->queue) ||
	    sycl_interop_get_native_memory(interop, 0, &from, &from_offset) ||
	    sycl_interop_get_native_memory(interop, 1, &to, &to_offset))
		return SYCL_ERROR_RUNTIME;
	cl_int code = clEnqueueCopyBuffer((cl_command_queue)(uintptr_t)work->queue,
					  (cl_mem)(uintptr_t)from, (cl_mem)(uintptr_t)to,
					  from_offset, to_offset, BYTES, work->gate ? 1 : 0,
					  work->gate ? &work->gate : NULL, NULL);
	return code == CL_SUCCESS ? work->result : SYCL_ERROR_RUNTIME;
}

struct scene {
	sycl_queue queue;
	sycl_kernel increment;
	sycl_buffer from, to;
};

/* Uses a queue out of order, on which only the accessors determine the order, or a queue over the
 * application's own. */
static void begin_on(struct scene *scene, sycl_queue queue)
{
	scene->queue = queue;
	scene->increment = opencl_increment_kernel(queue);
	scene->from = opencl_zeros(queue);
	scene->to = opencl_zeros(queue);
}

static void opencl_native_begin_scene(struct scene *scene)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	sycl_queue queue = NULL;
	MUST(sycl_queue_create(NULL, device, &options, &queue));
	begin_on(scene, queue);
}

static void opencl_native_end_scene(struct scene *scene)
{
	MUST(sycl_buffer_release(scene->from));
	MUST(sycl_buffer_release(scene->to));
	MUST(sycl_kernel_release(scene->increment));
	MUST(sycl_queue_release(scene->queue));
}

static void opencl_native_submit_increment(const struct scene *scene, sycl_buffer buffer,
					   sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(scene->queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, scene->increment, sycl_range1(N)));
	MUST(sycl_handler_submit(handler, event_out));
}

static void submit_copy(const struct scene *scene, struct work *work, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(scene->queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, scene->from, SYCL_ACCESS_READ));
	MUST(sycl_handler_set_accessor(handler, 1, scene->to, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_native_command(handler, opencl_native_run_native_copy, work,
					 opencl_native_count_end));
	MUST(sycl_handler_submit(handler, event_out));
}

static void expect_order(struct scene *scene)
{
	struct work work = {.result = SYCL_SUCCESS};
	for (int i = 0; i < MANY; i++) {
		opencl_native_submit_increment(scene, scene->from, NULL);
		submit_copy(scene, &work, NULL);
		opencl_native_submit_increment(scene, scene->to, NULL);
	}
	MUST(sycl_queue_wait(scene->queue));
	cr_expect(eq(u32, atomic_load(&work.calls), MANY));
	cr_expect(eq(u32, atomic_load(&work.ends), MANY));
	opencl_expect_words(scene->from, MANY);
	opencl_expect_words(scene->to, MANY + 1);
}

Test(opencl_native_commands, K6_K8_K12_what_it_sends_lies_between_the_librarys_commands)
{
	struct scene scene;
	opencl_native_begin_scene(&scene);
	expect_order(&scene);
	opencl_native_end_scene(&scene);
}

/* The handles there are those that the library returns elsewhere. */
Test(opencl_native_commands, K12_J4_on_a_queue_of_the_applications_own)
{
	struct scene scene;
	struct work work = {.result = SYCL_SUCCESS};
	sycl_queue queue = NULL;
	sycl_event event = NULL;
	sycl_context context = native_context();
	MUST(sycl_opencl_make_queue(context, cl_queue_of_test, NULL, &queue));
	begin_on(&scene, queue);
	expect_order(&scene);
	submit_copy(&scene, &work, &event);
	MUST(sycl_event_wait(event));
	cr_expect(eq(ptr, (void *)(uintptr_t)work.queue, cl_queue_of_test));
	cr_expect(eq(ptr, (void *)(uintptr_t)work.context, cl_context_of_test));
	cr_expect(eq(ptr, (void *)(uintptr_t)work.device, cl_device_of_test));
	MUST(sycl_event_release(event));
	opencl_native_end_scene(&scene);
	MUST(sycl_context_release(context));
}

/* Only its accessors keep its commands in order. */
Test(opencl_native_commands, K8_J4_on_a_queue_of_the_applications_own_that_is_out_of_order)
{
	struct scene scene;
	cl_int code = CL_SUCCESS;
	sycl_queue queue = NULL;
	cl_command_queue native =
		clCreateCommandQueue(cl_context_of_test, cl_device_of_test,
				     CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
	CL(code);
	sycl_context context = native_context();
	MUST(sycl_opencl_make_queue(context, native, NULL, &queue));
	begin_on(&scene, queue);
	expect_order(&scene);
	opencl_native_end_scene(&scene);
	MUST(sycl_context_release(context));
	CL(clReleaseCommandQueue(native));
}

/* The function returned long ago. */
Test(opencl_native_commands, K9_it_is_complete_when_what_it_sent_is)
{
	struct scene scene;
	sycl_event native = NULL, last = NULL;
	sycl_queue queue = NULL;
	sycl_context context = native_context();
	MUST(sycl_opencl_make_queue(context, cl_queue_of_test, NULL, &queue));
	begin_on(&scene, queue);
	MUST(sycl_queue_wait(queue));
	struct work work = {.gate = user_event()};
	opencl_native_submit_increment(&scene, scene.from, NULL);
	submit_copy(&scene, &work, &native);
	opencl_native_submit_increment(&scene, scene.to, &last);
	while (atomic_load(&work.calls) == 0)
		(void)sched_yield();
	FAILS(sycl_event_wait_for(native, 20000000), SYCL_ERROR_TIMEOUT);
	FAILS(sycl_event_wait_for(last, 1000000), SYCL_ERROR_TIMEOUT);
	CL(clSetUserEventStatus(work.gate, CL_COMPLETE));
	MUST(sycl_event_wait(last));
	MUST(sycl_event_wait(native));
	opencl_expect_words(scene.to, 2);
	MUST(sycl_event_release(native));
	MUST(sycl_event_release(last));
	CL(clReleaseEvent(work.gate));
	opencl_native_end_scene(&scene);
	MUST(sycl_context_release(context));
}

Test(opencl_native_commands, K3_M9_a_failed_function_fails_its_group_and_what_depends_on_it)
{
	struct scene scene;
	struct work work = {.result = SYCL_ERROR_INVALID};
	sycl_event native = NULL, last = NULL;
	opencl_native_begin_scene(&scene);
	submit_copy(&scene, &work, &native);
	opencl_native_submit_increment(&scene, scene.to, &last);
	FAILS(sycl_event_wait(native), SYCL_ERROR_INVALID);
	FAILS(sycl_event_wait(last), SYCL_ERROR_DEPENDENCY_FAILED);
	MUST(sycl_event_release(native));
	MUST(sycl_event_release(last));
	cr_expect(eq(u32, atomic_load(&work.calls), 1));
	/* Other groups of the queue continue. */
	opencl_native_submit_increment(&scene, scene.from, &last);
	MUST(sycl_event_wait(last));
	MUST(sycl_event_release(last));
	opencl_expect_words(scene.from, 1);
	opencl_native_end_scene(&scene);
}

/* The thread that sends the work of all sessions does not wait for the commands that the function
 * has sent. */
Test(opencl_native_commands, K3_what_a_failed_function_has_sent_holds_up_no_other_queue)
{
	struct scene scene, other;
	sycl_event native = NULL, aside = NULL;
	sycl_queue queue = NULL;
	sycl_context context = native_context();
	MUST(sycl_opencl_make_queue(context, cl_queue_of_test, NULL, &queue));
	begin_on(&scene, queue);
	MUST(sycl_queue_create(context, device, NULL, &queue));
	begin_on(&other, queue);
	MUST(sycl_queue_wait(scene.queue));
	MUST(sycl_queue_wait(other.queue));
	struct work work = {.result = SYCL_ERROR_INVALID, .gate = user_event()};
	submit_copy(&scene, &work, &native);
	while (atomic_load(&work.calls) == 0)
		(void)sched_yield();
	opencl_native_submit_increment(&other, other.from, &aside);
	MUST(sycl_event_wait_for(aside, 30000000000));
	FAILS(sycl_event_wait_for(native, 1000000), SYCL_ERROR_TIMEOUT);
	CL(clSetUserEventStatus(work.gate, CL_COMPLETE));
	FAILS(sycl_event_wait(native), SYCL_ERROR_INVALID);
	MUST(sycl_event_release(native));
	MUST(sycl_event_release(aside));
	CL(clReleaseEvent(work.gate));
	opencl_native_end_scene(&other);
	opencl_native_end_scene(&scene);
	MUST(sycl_context_release(context));
}
