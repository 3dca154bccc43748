/* The CUevent of a command, requested by a program that uses the driver itself (H10, R2). */
#include "native/fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <syclclient/cuda.h>

enum { ASKERS = 8 };

/* Some are elided while the command is not on its device. That ends by itself, because nothing
 * delays it. */
static CUevent native_of(sycl_event event)
{
	CUevent native = NULL;
	uint32_t has = 0;

	while (!has) {
		MUST(sycl_cuda_has_native_event(event, &has));
		if (!has)
			sched_yield();
	}
	MUST(sycl_cuda_get_native_event(event, &native));
	cr_assert_not_null(native);
	return native;
}

static CUresult in_context(CUevent native, CUresult (*call)(CUevent))
{
	CUcontext context = NULL, popped = NULL;

	NATIVE_MUST(NATIVE(cuInit)(0));
	NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRetain)(&context, 0));
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(context));
	CUresult result = call(native);
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
	NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRelease)(0));
	return result;
}

Test(gpu_native, R2_H10_the_event_of_a_command_happens_when_the_command_is_over)
{
	struct order order;
	struct native_gate gate;

	order_begin(&order, "", 1);
	sycl_queue queue = order_queue(&order, 0, true);
	native_gate_begin(&gate, queue);
	sycl_buffer buffer = order_buffer(&order, queue);
	native_gate_set(&gate, false);
	sycl_event event = native_gated_fill(&gate, queue, buffer, 70);
	CUevent native = native_of(event);
	cr_assert_eq(in_context(native, NATIVE(cuEventQuery)), CUDA_ERROR_NOT_READY);
	cr_assert_eq(native_of(event), native, "another one each time");
	/* The other name of the call. */
	void *same = NULL;
	MUST(sycl_event_get_native(event, &same));
	cr_assert_eq((CUevent)same, native);
	native_gate_set(&gate, true);
	cr_assert_eq(in_context(native, NATIVE(cuEventSynchronize)), CUDA_SUCCESS);
	/* Only the driver is queried: no call of the library has waited for the command. */
	MUST(sycl_event_wait(event));
	cr_assert_eq(in_context(native, NATIVE(cuEventQuery)), CUDA_SUCCESS);
	order_expect(buffer, 70);
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(buffer));
	native_gate_end(&gate);
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

Test(gpu_native, R2_H10_the_event_of_a_command_that_is_over_has_happened)
{
	struct order order;
	struct native_gate gate;
	uint32_t value = 3;
	sycl_event event = NULL;

	order_begin(&order, "", 1);
	sycl_queue queue = order_queue(&order, 0, false);
	native_gate_begin(&gate, queue);
	sycl_buffer buffer = order_buffer(&order, queue), other = order_buffer(&order, queue);
	MUST(sycl_queue_fill(queue, buffer, 0, sizeof(value), &value, sizeof(value), &event));
	MUST(sycl_event_wait(event));
	/* This holds whatever else runs meanwhile. */
	native_gate_set(&gate, false);
	sycl_event gated = native_gated_fill(&gate, queue, other, 1);
	(void)native_of(gated);
	cr_assert_eq(in_context(native_of(event), NATIVE(cuEventQuery)), CUDA_SUCCESS);
	native_gate_set(&gate, true);
	MUST(sycl_event_wait(gated));
	MUST(sycl_event_release(gated));
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(other));
	native_gate_end(&gate);
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

static sycl_result hold_until_allowed(sycl_host_task task, void *user_data)
{
	const atomic_bool *may_go = user_data;

	(void)task;
	while (!atomic_load(may_go))
		sched_yield();
	return SYCL_SUCCESS;
}

/* A group that waits for a function of the program is on no device. An event that was returned now
 * would happen too early. */
Test(gpu_native, R2_H10_a_command_that_is_not_on_its_device_has_none_yet)
{
	struct order order;
	struct native_gate gate;
	sycl_event before = NULL, after = NULL;
	sycl_handler handler = NULL;
	CUevent native = NULL;
	atomic_bool may_go = false;
	uint32_t has = 7;

	order_begin(&order, "", 1);
	sycl_queue queue = order_queue(&order, 0, false);
	native_gate_begin(&gate, queue);
	sycl_buffer buffer = order_buffer(&order, queue);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_host_task(handler, hold_until_allowed, &may_go, NULL));
	MUST(sycl_handler_submit(handler, &before));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_depends_on(handler, before));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, gate.increment, sycl_range1(ORDER_ITEMS)));
	MUST(sycl_handler_submit(handler, &after));
	MUST(sycl_cuda_has_native_event(after, &has));
	MUST(sycl_cuda_get_native_event(after, &native));
	cr_assert_eq(has, 0);
	cr_assert_null(native);
	atomic_store(&may_go, true);
	MUST(sycl_event_wait(after));
	cr_assert_eq(in_context(native_of(after), NATIVE(cuEventQuery)), CUDA_SUCCESS);
	MUST(sycl_event_release(before));
	MUST(sycl_event_release(after));
	MUST(sycl_buffer_release(buffer));
	native_gate_end(&gate);
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

static void *request_native(void *event)
{
	return native_of(event);
}

Test(gpu_native, R2_threads_that_ask_at_once_are_given_the_same_event)
{
	struct order order;
	struct native_gate gate;
	pthread_t threads[ASKERS];
	void *natives[ASKERS];

	order_begin(&order, "", 1);
	sycl_queue queue = order_queue(&order, 0, true);
	native_gate_begin(&gate, queue);
	sycl_buffer buffer = order_buffer(&order, queue);
	native_gate_set(&gate, false);
	sycl_event event = native_gated_fill(&gate, queue, buffer, 5);
	for (int i = 0; i < ASKERS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, request_native, event), 0);
	for (int i = 0; i < ASKERS; i++)
		cr_assert_eq(pthread_join(threads[i], &natives[i]), 0);
	native_gate_set(&gate, true);
	for (int i = 1; i < ASKERS; i++)
		cr_expect_eq(natives[i], natives[0]);
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(buffer));
	native_gate_end(&gate);
	MUST(sycl_queue_release(queue));
	order_end(&order);
}
