/* Native commands through a service (S8, K6 - K12): kernels of the program's own context between
 * the service's. */
#include "native/bridge_fixture.h"

#include <string.h>
#include <unistd.h>

TestSuite(gpu_bridge, .timeout = 240);

static const sycl_share_kind kinds[] = {SYCL_SHARE_VMM, SYCL_SHARE_CUDA_IPC};

/* A slow kernel of the service, one of the program, and one of the service. No thread waits before
 * the gate is open. */
static void bridge_run_chain(struct bridge_test *test, sycl_share_kind kind)
{
	struct bridge_work work = {.test = test};
	sycl_event last = NULL, native = NULL;
	sycl_buffer buffer = bridge_buffer(test, kind);
	native_gate_set(&test->gate, false);
	sycl_event first = native_gated_fill(&test->gate, test->queue, buffer, 41);
	MUST(bridge_submit(test->queue, &work, buffer, 0, &native));
	native_increment(&test->gate, test->queue, buffer, &last);
	native_expect_open(first);
	native_expect_open(native);
	native_gate_set(&test->gate, true);
	bridge_finish(last);
	bridge_finish(native);
	bridge_finish(first);
	order_expect(buffer, 43);
	cr_assert_eq(atomic_load(&work.calls), 1);
	cr_assert_eq(atomic_load(&work.ends), 1);
	/* The memory is open by now, and the next call uses it. */
	uint64_t memory = work.memory;
	MUST(bridge_submit(test->queue, &work, buffer, 0, NULL));
	native_increment(&test->gate, test->queue, buffer, NULL);
	order_expect(buffer, 45);
	cr_assert_eq(work.memory, memory);
	MUST(sycl_buffer_release(buffer));
}

Test(gpu_bridge, K8_K9_K12_S8_own_kernels_between_those_of_the_service)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	for (size_t i = 0; i < 2; i++)
		bridge_run_chain(&test, kinds[i]);
	bridge_end(&test);
}

Test(gpu_bridge, I13_K13_K14_S8_a_function_gets_handles_of_its_own_process)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	struct bridge_work work = {.test = &test};
	uint64_t number = 99;
	sycl_event event = NULL;
	sycl_native_bridge bridge = SYCL_NATIVE_BRIDGE_NONE;
	MUST(sycl_queue_get_native_bridge(test.queue, &bridge));
	cr_assert_eq((int)bridge, SYCL_NATIVE_BRIDGE_IPC);
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	bridge_finish(native_gated_fill(&test.gate, test.queue, buffer, 7));
	MUST(bridge_submit(test.queue, &work, buffer, 16, &event));
	bridge_finish(event);
	cr_assert_eq(work.context, (uintptr_t)test.context,
		     "no context was current: the primary one");
	cr_assert_eq((uintptr_t)work.current, (uintptr_t)test.context);
	cr_assert_eq(work.device, 0u);
	cr_assert_eq(work.offset, 16 * sizeof(uint32_t));
	cr_assert_eq(work.has_graph, 0u);
	cr_assert_eq(work.graph_result, SYCL_ERROR_INVALID);
	MUST(sycl_device_get_native(test.devices[0], SYCL_BACKEND_KIND_CUDA, &number));
	cr_assert_eq(number, 0u);
	/* Calls that are impossible here are still refused (I18). */
	cr_assert_eq(sycl_queue_get_native(test.queue, SYCL_BACKEND_KIND_CUDA, &number),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	cr_assert_eq(sycl_device_get_native(test.devices[0], SYCL_BACKEND_KIND_OPENCL, &number),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	/* The words before the accessor are unchanged. */
	sycl_host_accessor accessor = NULL;
	void *words = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &words));
	cr_assert_eq(((uint32_t *)words)[15], 7u);
	cr_assert_eq(((uint32_t *)words)[16], 8u);
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_buffer_release(buffer));
	bridge_end(&test);
}

Test(gpu_bridge, K6_each_function_is_called_once_for_each_submission)
{
	enum { MANY = 200, AGAIN = 20 };
	struct bridge_test test;
	bridge_begin(&test, 2);
	struct bridge_work work = {.test = &test};
	sycl_handler handler = NULL;
	sycl_command_group group = NULL;
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	bridge_finish(native_gated_fill(&test.gate, test.queue, buffer, 0));
	for (uint32_t i = 0; i < MANY; i++)
		MUST(bridge_submit(test.queue, &work, buffer, 0, NULL));
	MUST(sycl_queue_wait(test.queue));
	cr_assert_eq(atomic_load(&work.calls), MANY);
	cr_assert_eq(atomic_load(&work.ends), MANY);
	order_expect(buffer, MANY);
	MUST(sycl_handler_begin(test.queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_native_command(handler, bridge_function, &work, bridge_ended));
	MUST(sycl_handler_freeze(handler, &group));
	for (uint32_t i = 0; i < AGAIN; i++)
		MUST(sycl_queue_submit_group(test.queue, group, NULL));
	MUST(sycl_queue_wait(test.queue));
	cr_assert_eq(atomic_load(&work.calls), MANY + AGAIN);
	cr_assert_eq(atomic_load(&work.ends), MANY);
	MUST(sycl_command_group_release(group));
	cr_assert_eq(atomic_load(&work.ends), MANY + 1);
	order_expect(buffer, MANY + AGAIN);
	MUST(sycl_buffer_release(buffer));
	bridge_end(&test);
}

Test(gpu_bridge, K9_K5_a_command_lasts_as_long_as_its_work_and_holds_up_nobody_else)
{
	struct bridge_test test;
	bridge_begin(&test, 1);
	struct bridge_work slow = {.test = &test, .fills = true, .value = 5},
			   fast = {.test = &test};
	sycl_event first = NULL, behind = NULL, other = NULL;
	sycl_buffer busy = bridge_buffer(&test, SYCL_SHARE_VMM),
		    free_one = bridge_buffer(&test, SYCL_SHARE_CUDA_IPC);
	bridge_finish(native_gated_fill(&test.gate, test.queue, free_one, 1));
	/* The memory is opened before the kernel runs during which nothing may wait. */
	MUST(bridge_submit(test.queue, &fast, busy, 0, NULL));
	MUST(bridge_submit(test.queue, &fast, free_one, 0, NULL));
	MUST(sycl_queue_wait(test.queue));
	MUST(bridge_submit(test.queue, &slow, busy, 0, &first));
	native_increment(&test.gate, test.queue, busy, &behind);
	bridge_await_calls(&slow, 1);
	/* The function has returned, and its kernel runs. The only helper takes the next function,
	 * whose work ends earlier. */
	MUST(bridge_submit(test.queue, &fast, free_one, 0, &other));
	bridge_finish(other);
	order_expect(free_one, 3);
	native_expect_open(first);
	native_expect_open(behind);
	*test.word = 1;
	bridge_finish(behind);
	bridge_finish(first);
	order_expect(busy, 6);
	MUST(sycl_buffer_release(busy));
	MUST(sycl_buffer_release(free_one));
	bridge_end(&test);
}

Test(gpu_bridge, K3_M9_a_failed_function_fails_its_group_and_what_depends_on_it)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	struct bridge_work work = {.test = &test, .result = SYCL_ERROR_ND_RANGE};
	sycl_event event = NULL, behind = NULL;
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM),
		    other = bridge_buffer(&test, SYCL_SHARE_VMM);
	bridge_finish(native_gated_fill(&test.gate, test.queue, buffer, 1));
	MUST(bridge_submit(test.queue, &work, buffer, 0, &event));
	native_increment(&test.gate, test.queue, buffer, &behind);
	cr_assert_eq(sycl_event_wait(event), SYCL_ERROR_ND_RANGE);
	cr_assert_eq(sycl_event_wait(behind), SYCL_ERROR_DEPENDENCY_FAILED);
	MUST(sycl_event_release(event));
	MUST(sycl_event_release(behind));
	/* The queue and the context still work. */
	work.result = SYCL_SUCCESS;
	bridge_finish(native_gated_fill(&test.gate, test.queue, other, 1));
	MUST(bridge_submit(test.queue, &work, other, 0, NULL));
	order_expect(other, 2);
	(void)sycl_queue_wait(test.queue);
	MUST(sycl_buffer_detach(buffer));
	MUST(sycl_buffer_release(other));
	bridge_end(&test);
}

/* The buffer of one connection is used in another one: the same memory, one order, and both may
 * open it. */
Test(gpu_bridge, B7_F10_S8_a_command_of_another_connection_comes_behind_what_writes_the_buffer)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	struct bridge_work work = {.test = &test};
	struct sycl_shared_memory shared = SYCL_SHARED_MEMORY_INIT;
	struct bridge_test second = {.service = test.service};
	sycl_queue queue = NULL;
	sycl_event native = NULL;
	sycl_buffer imported = NULL, buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	MUST(sycl_platform_open(test.service->endpoint, &second.connection));
	bridge_find_devices(&second);
	MUST(sycl_buffer_export(buffer, &shared));
	MUST(sycl_buffer_import(second.devices[0], &shared, &imported));
	(void)close(shared.descriptor);
	MUST(sycl_queue_create(NULL, second.devices[0], NULL, &queue));
	MUST(bridge_submit(test.queue, &work, buffer, 0, NULL));
	MUST(sycl_queue_wait(test.queue));
	native_gate_set(&test.gate, false);
	sycl_event first = native_gated_fill(&test.gate, test.queue, buffer, 30);
	native_expect_open(first); /* the service has it by now */
	MUST(bridge_submit(queue, &work, imported, 0, &native));
	native_expect_open(native);
	cr_assert_eq(atomic_load(&work.calls), 1);
	native_gate_set(&test.gate, true);
	bridge_finish(native);
	bridge_finish(first);
	order_expect(buffer, 31);
	MUST(sycl_buffer_release(imported));
	MUST(sycl_queue_release(queue));
	for (uint32_t i = 0; i < second.device_count; i++)
		MUST(sycl_device_release(second.devices[i]));
	MUST(sycl_platform_release(second.connection));
	MUST(sycl_buffer_release(buffer));
	bridge_end(&test);
}

/* A native host task: increments accessor 0, and waits for that. */
static sycl_result bridge_increment_here(sycl_host_task task, void *user_data)
{
	struct bridge_work *work = user_data;
	CUcontext popped = NULL;
	MUST(sycl_host_task_get_native_device(task, SYCL_BACKEND_KIND_CUDA, &work->device));
	MUST(sycl_host_task_get_native_context(task, SYCL_BACKEND_KIND_CUDA, &work->context));
	MUST(sycl_host_task_get_native_queue(task, SYCL_BACKEND_KIND_CUDA, &work->queue));
	MUST(sycl_host_task_get_native_memory(task, SYCL_BACKEND_KIND_CUDA, 0, &work->memory));
	work->graph_result =
		sycl_host_task_get_native_queue(task, SYCL_BACKEND_KIND_OPENCL, &work->graph);
	CUdeviceptr out = work->memory;
	void *parameters[] = {&out};
	CUstream stream = (CUstream)work->queue;      /* NOLINT(performance-no-int-to-ptr) */
	CUcontext context = (CUcontext)work->context; /* NOLINT(performance-no-int-to-ptr) */
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(context));
	NATIVE_MUST(NATIVE(cuLaunchKernel)(work->test->increment, 1, 1, 1, ORDER_ITEMS, 1, 1, 0,
					   stream, parameters, NULL));
	NATIVE_MUST(NATIVE(cuStreamSynchronize)(stream));
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
	atomic_fetch_add(&work->calls, 1);
	return SYCL_SUCCESS;
}

Test(gpu_bridge, I13_I14_I15_I16_S8_a_native_host_task_gets_handles_of_its_own_process)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	struct bridge_work work = {.test = &test};
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_CUDA_IPC);
	sycl_handler handler = NULL;
	native_gate_set(&test.gate, false);
	sycl_event first = native_gated_fill(&test.gate, test.queue, buffer, 20);
	MUST(sycl_handler_begin(test.queue, &handler));
	MUST(sycl_handler_set_host_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_host_task_native(handler, bridge_increment_here, &work, bridge_ended));
	MUST(sycl_handler_submit(handler, NULL));
	native_increment(&test.gate, test.queue, buffer, NULL);
	native_expect_open(first);
	native_gate_set(&test.gate, true);
	order_expect(buffer, 22);
	bridge_finish(first);
	cr_assert_eq(atomic_load(&work.calls), 1);
	cr_assert_eq(work.device, 0u);
	cr_assert_eq(work.context, (uintptr_t)test.context);
	cr_assert_eq(work.graph_result, SYCL_ERROR_BACKEND_MISMATCH);
	MUST(sycl_buffer_release(buffer));
	bridge_end(&test);
}

Test(gpu_bridge, I18_S8_what_the_bridge_does_not_carry_is_refused_with_a_sentence)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	struct bridge_work work = {.test = &test};
	sycl_buffer plain = NULL;
	MUST(sycl_buffer_create(test.connection, NULL, BRIDGE_BYTES, SYCL_HOST_NONE, &plain));
	cr_assert_eq(bridge_submit(test.queue, &work, plain, 0, NULL),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	cr_assert_not_null(strstr(sycl_get_last_error_text(), "sycl_buffer_create_exportable"));
	cr_assert_eq(atomic_load(&work.calls), 0);
	cr_assert_eq(atomic_load(&work.ends), 1);
	MUST(sycl_buffer_release(plain));
	bridge_end(&test);
}

Test(gpu_bridge, I3_S8_the_context_is_the_one_that_is_current_at_the_call)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	CUcontext own = NULL, popped = NULL;
	struct bridge_work work = {.test = &test};
	sycl_event event = NULL;
	/* In a second context the module is not loaded, so without memory the function launches
	 * nothing. */
	NATIVE_MUST(NATIVE(cuCtxCreate)(&own, NULL, 0, 0));
	sycl_buffer nothing = NULL;
	MUST(sycl_buffer_create(test.connection, NULL, 0, SYCL_HOST_NONE, &nothing));
	MUST(bridge_submit(test.queue, &work, nothing, 0, &event));
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
	bridge_finish(event);
	cr_assert_eq(work.context, (uintptr_t)own);
	cr_assert_eq((uintptr_t)work.current, (uintptr_t)own);
	cr_assert_eq(work.memory, 0u, "a buffer of no bytes has no memory");
	MUST(sycl_buffer_release(nothing));
	bridge_disconnect(&test);
	/* When the last handle is released, the library does not use it any more. */
	NATIVE_MUST(NATIVE(cuCtxDestroy)(own));
	bridge_expect_no_misuse();
	test.service = private_service_free(test.service);
}

Test(gpu_bridge, I18_S8_a_context_of_another_device_is_refused)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	if (test.device_count < 2) {
		bridge_end(&test);
		cr_skip_test("there is one GPU only");
	}
	CUcontext other = NULL, popped = NULL;
	sycl_queue second = NULL;
	sycl_handler handler = NULL;
	uint64_t number = 99;
	struct bridge_work work = {.test = &test};
	NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRetain)(&other, 1));
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(other));
	MUST(sycl_handler_begin(test.queue, &handler));
	cr_assert_eq(sycl_handler_native_command(handler, bridge_function, &work, bridge_ended),
		     SYCL_ERROR_INVALID);
	cr_assert_not_null(strstr(sycl_get_last_error_text(), "device 1"));
	MUST(sycl_handler_discard(handler));
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
	NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRelease)(1));
	/* A buffer of the first device cannot be opened for a queue of the second. */
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	MUST(sycl_queue_create(NULL, test.devices[1], NULL, &second));
	cr_assert_eq(bridge_submit(second, &work, buffer, 0, NULL),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	cr_assert_not_null(strstr(sycl_get_last_error_text(), "another device"));
	MUST(sycl_device_get_native(test.devices[1], SYCL_BACKEND_KIND_CUDA, &number));
	cr_assert_eq(number, 1u);
	cr_assert_eq(atomic_load(&work.calls), 0);
	MUST(sycl_queue_release(second));
	MUST(sycl_buffer_release(buffer));
	bridge_end(&test);
}

/* During a capture other threads of the program may not make calls that wait. The library's calls
 * are permitted and do not break it (K20). */
Test(gpu_bridge, K20_S8_commands_go_on_while_the_program_captures)
{
	struct bridge_test test;
	bridge_begin(&test, 1);
	struct bridge_work slow = {.test = &test, .fills = true, .value = 5},
			   fast = {.test = &test};
	CUstream stream = NULL;
	CUgraph graph = NULL;
	CUcontext popped = NULL;
	sycl_event event = NULL, other = NULL;
	sycl_buffer busy = bridge_buffer(&test, SYCL_SHARE_VMM),
		    fresh = bridge_buffer(&test, SYCL_SHARE_CUDA_IPC);
	bridge_finish(native_gated_fill(&test.gate, test.queue, fresh, 1));
	MUST(bridge_submit(test.queue, &fast, busy, 0, NULL));
	MUST(sycl_queue_wait(test.queue));
	MUST(bridge_submit(test.queue, &slow, busy, 0, &event));
	bridge_await_calls(&slow, 1);
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(test.context));
	NATIVE_MUST(NATIVE(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
	NATIVE_MUST(NATIVE(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	*test.word = 1;
	MUST(bridge_submit(test.queue, &fast, fresh, 0, &other));
	bridge_finish(event);
	bridge_finish(other);
	NATIVE_MUST(NATIVE(cuStreamEndCapture)(stream, &graph));
	NATIVE_MUST(NATIVE(cuGraphDestroy)(graph));
	NATIVE_MUST(NATIVE(cuStreamDestroy)(stream));
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
	order_expect(busy, 5);
	order_expect(fresh, 2);
	MUST(sycl_buffer_release(busy));
	MUST(sycl_buffer_release(fresh));
	bridge_end(&test);
}
