/* Native commands (K6 - K14) of a program that links the library and calls the driver itself. */
#include "native/fixture.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = ORDER_ITEMS * (int)sizeof(uint32_t), MANY = 10000, WAIT_S = 60, FAILURE = -7 };

TestSuite(gpu_native, .timeout = 120);

/* The work of a test's function, and the values that it got. */
struct work {
	atomic_uint calls, ends;
	sem_t called;
	sycl_result result;
	bool copies;          /* accessor 0 to accessor 1 */
	const uint32_t *from; /* host USM, which no accessor names: BYTES of it are copied to `to`;
				 NULL: none */
	uint32_t *to;         /* device USM */
	CUfunction kernel;    /* launched on accessor 0 behind the gate; NULL: none */
	const struct native_gate *gate;
	uint32_t value;
	CUstream side; /* the kernel runs there, and then joins the queue; NULL: on the queue itself
			*/
	CUevent fork, join;
	uint64_t device, context, queue, graph;
	CUcontext current;
	sycl_result graph_result;
	uint32_t has_graph;
	uint64_t memories[2], offsets[2];
};

static void native_commands_count_end(void *user_data)
{
	struct work *work = user_data;
	atomic_fetch_add(&work->ends, 1);
}

static void launch_late_write(struct work *work, CUstream stream)
{
	uint32_t looks = ORDER_LOOKS, value = work->value;
	CUdeviceptr word = (uintptr_t)work->gate->word, out = work->memories[0] + work->offsets[0];
	void *parameters[] = {&word, &out, &value, &looks};

	if (work->side) {
		NATIVE_MUST(NATIVE(cuEventRecord)(work->fork, stream));
		NATIVE_MUST(NATIVE(cuStreamWaitEvent)(work->side, work->fork, 0));
	}
	NATIVE_MUST(NATIVE(cuLaunchKernel)(work->kernel, 1, 1, 1, ORDER_ITEMS, 1, 1, 0,
					   work->side ? work->side : stream, parameters, NULL));
	if (work->side) {
		NATIVE_MUST(NATIVE(cuEventRecord)(work->join, work->side));
		NATIVE_MUST(NATIVE(cuStreamWaitEvent)(stream, work->join, 0));
	}
}

static sycl_result native_commands_run_work(sycl_interop_handle interop, void *user_data)
{
	struct work *work = user_data;
	sycl_backend backend = 0;

	MUST(sycl_interop_get_backend(interop, &backend));
	cr_assert_eq((int)backend, SYCL_BACKEND_KIND_CUDA);
	MUST(sycl_interop_get_native_device(interop, &work->device));
	MUST(sycl_interop_get_native_context(interop, &work->context));
	MUST(sycl_interop_get_native_queue(interop, &work->queue));
	MUST(sycl_interop_has_graph(interop, &work->has_graph));
	work->graph_result = sycl_interop_get_native_graph(interop, &work->graph);
	for (uint32_t i = 0; i < 2; i++)
		if (sycl_interop_get_native_memory(interop, i, &work->memories[i],
						   &work->offsets[i]) != SYCL_SUCCESS)
			work->memories[i] = 0;
	NATIVE_MUST(NATIVE(cuCtxGetCurrent)(&work->current));
	CUstream stream = (CUstream)work->queue; /* NOLINT(performance-no-int-to-ptr) */
	if (work->copies)
		NATIVE_MUST(NATIVE(cuMemcpyDtoDAsync)(work->memories[1] + work->offsets[1],
						      work->memories[0] + work->offsets[0], BYTES,
						      stream));
	if (work->from)
		NATIVE_MUST(
			NATIVE(cuMemcpyHtoDAsync)((uintptr_t)work->to, work->from, BYTES, stream));
	if (work->kernel)
		launch_late_write(work, stream);
	atomic_fetch_add(&work->calls, 1);
	cr_assert_eq(sem_post(&work->called), 0);
	return work->result;
}

static void begin_work(struct work *work)
{
	memset(work, 0, sizeof(*work));
	cr_assert_eq(sem_init(&work->called, 0, 0), 0);
}

static void wait_called(struct work *work)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	cr_assert_eq(sem_timedwait(&work->called, &until), 0, "the function was not called");
}

/* With up to two buffers, to read and to write; `after` may be NULL. The caller releases the
 * event. */
static sycl_event submit_work(sycl_queue queue, struct work *work, sycl_buffer from, sycl_buffer to,
			      sycl_event after)
{
	sycl_handler handler = NULL;
	sycl_event event = NULL;

	MUST(sycl_handler_begin(queue, &handler));
	if (from)
		MUST(sycl_handler_set_accessor(handler, 0, from,
					       to ? SYCL_ACCESS_READ : SYCL_ACCESS_READ_WRITE));
	if (to)
		MUST(sycl_handler_set_accessor(handler, 1, to, SYCL_ACCESS_READ_WRITE));
	if (after)
		MUST(sycl_handler_depends_on(handler, after));
	MUST(sycl_handler_native_command(handler, native_commands_run_work, work,
					 native_commands_count_end));
	MUST(sycl_handler_submit(handler, &event));
	return event;
}

static void native_commands_wait_and_release(sycl_event event)
{
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
}

Test(gpu_native, K6_each_function_is_called_once)
{
	struct order order;
	struct work work;
	sycl_queue queues[2];

	order_begin(&order, "", 1);
	begin_work(&work);
	for (uint32_t i = 0; i < 2; i++)
		queues[i] = order_queue(&order, 0, i == 0);
	sycl_buffer from = order_buffer(&order, queues[0]), to = order_buffer(&order, queues[0]);
	work.copies = true;
	for (uint32_t i = 0; i < MANY; i++)
		MUST(sycl_event_release(submit_work(queues[i % 2], &work, from, to, NULL)));
	for (uint32_t i = 0; i < 2; i++)
		MUST(sycl_queue_wait(queues[i]));
	cr_assert_eq(atomic_load(&work.calls), MANY);
	cr_assert_eq(atomic_load(&work.ends), MANY);
	/* A frozen group is a separate group each time that it is submitted. Its user data end with
	 * the last one. */
	sycl_handler handler = NULL;
	sycl_command_group group = NULL;
	MUST(sycl_handler_begin(queues[0], &handler));
	MUST(sycl_handler_set_accessor(handler, 0, from, SYCL_ACCESS_READ));
	MUST(sycl_handler_set_accessor(handler, 1, to, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_native_command(handler, native_commands_run_work, &work,
					 native_commands_count_end));
	MUST(sycl_handler_freeze(handler, &group));
	for (uint32_t i = 0; i < 10; i++)
		MUST(sycl_queue_submit_group(queues[i % 2], group, NULL));
	for (uint32_t i = 0; i < 2; i++)
		MUST(sycl_queue_wait(queues[i]));
	cr_assert_eq(atomic_load(&work.calls), MANY + 10);
	cr_assert_eq(atomic_load(&work.ends), MANY);
	MUST(sycl_command_group_release(group));
	cr_assert_eq(atomic_load(&work.ends), MANY + 1);
	/* A command that is never submitted is never called, and releases its user data. */
	MUST(sycl_handler_begin(queues[0], &handler));
	MUST(sycl_handler_native_command(handler, native_commands_run_work, &work,
					 native_commands_count_end));
	MUST(sycl_handler_discard(handler));
	cr_assert_eq(atomic_load(&work.calls), MANY + 10);
	cr_assert_eq(atomic_load(&work.ends), MANY + 2);
	MUST(sycl_buffer_release(from));
	MUST(sycl_buffer_release(to));
	for (uint32_t i = 0; i < 2; i++)
		MUST(sycl_queue_release(queues[i]));
	order_end(&order);
}

/*
 * A kernel of another queue is held. The function is called meanwhile. It sends a copy of the
 * kernel's result, which comes after the kernel. An accessor determines that order.
 */
Test(gpu_native, K7_K8_called_before_and_its_work_after_what_it_depends_on)
{
	struct order order;
	struct native_gate gate;
	struct work work;

	order_begin(&order, "", 1);
	begin_work(&work);
	sycl_queue first = order_queue(&order, 0, true), second = order_queue(&order, 0, true);
	native_gate_begin(&gate, first);
	sycl_buffer from = order_buffer(&order, first), to = order_buffer(&order, first);
	work.copies = true;
	for (uint32_t round = 0; round < 2; round++) {
		native_gate_set(&gate, false);
		sycl_event filled = native_gated_fill(&gate, first, from, 10 + round);
		sycl_event copied = submit_work(second, &work, from, to, NULL);
		wait_called(&work);
		native_expect_open(copied);
		native_gate_set(&gate, true);
		native_commands_wait_and_release(copied);
		native_commands_wait_and_release(filled);
		order_expect(to, 10 + round);
	}
	native_gate_end(&gate);
	MUST(sycl_buffer_release(from));
	MUST(sycl_buffer_release(to));
	MUST(sycl_queue_release(first));
	MUST(sycl_queue_release(second));
	order_end(&order);
}

/* Work of a queue without predecessors, submitted now, ends. */
static void let_others_run(const struct order *order, const struct native_gate *gate,
			   sycl_queue idle)
{
	sycl_buffer marks = order_buffer(order, idle);

	native_increment(gate, idle, marks, NULL);
	MUST(sycl_queue_wait(idle));
	MUST(sycl_buffer_release(marks));
}

/* Host USM, all 0: every device of the context can access it. */
static uint32_t *host_words(sycl_queue queue)
{
	void *words = NULL;

	MUST(sycl_malloc_host(queue, BYTES, 0, &words));
	memset(words, 0, BYTES);
	return words;
}

/*
 * A native command on `here` copies USM that a held kernel on `there` writes. No accessor names it,
 * so only the kernel's event orders the two. `idle` is a queue of the device of `here`: its work
 * meanwhile takes long enough for a copy that does not wait. Such a copy would have words that are
 * still 0.
 */
static void expect_after_event(const struct order *order, sycl_queue there, sycl_queue here,
			       sycl_queue idle, uint32_t value)
{
	struct native_gate gate, idle_gate;
	struct work work;
	uint32_t *from = host_words(there), *to = order_memory(here, BYTES);

	begin_work(&work);
	work.from = from;
	work.to = to;
	native_gate_begin(&gate, there);
	native_gate_begin(&idle_gate, idle);
	native_gate_set(&gate, false);
	sycl_event filled = native_gated_fill_usm(&gate, there, from, value);
	sycl_event copied = submit_work(here, &work, NULL, NULL, filled);
	let_others_run(order, &idle_gate, idle);
	native_expect_open(copied);
	native_gate_set(&gate, true);
	native_commands_wait_and_release(copied);
	native_commands_wait_and_release(filled);
	order_expect_log(here, to, value);
	cr_assert_eq(atomic_load(&work.calls), 1);
	native_gate_end(&idle_gate);
	native_gate_end(&gate);
	MUST(sycl_free(there, from));
	MUST(sycl_free(here, to));
}

/* Queues in order and out of order, from one to the other, and within one that is out of order. */
Test(gpu_native, K8_an_event_alone_orders_on_the_same_queue_and_on_others)
{
	struct order order;

	order_begin(&order, "", 1);
	sycl_queue first = order_queue(&order, 0, true), second = order_queue(&order, 0, true),
		   loose = order_queue(&order, 0, false), idle = order_queue(&order, 0, true);
	expect_after_event(&order, first, second, idle, 51);
	expect_after_event(&order, first, loose, idle, 52);
	expect_after_event(&order, loose, first, idle, 53);
	expect_after_event(&order, loose, loose, idle, 54);
	MUST(sycl_queue_release(first));
	MUST(sycl_queue_release(second));
	MUST(sycl_queue_release(loose));
	MUST(sycl_queue_release(idle));
	order_end(&order);
}

/*
 * Only events order this memory. The native command depends on two queues, and waits for whichever
 * is held.
 */
Test(gpu_native, K8_every_one_of_several_dependencies_counts)
{
	struct order order;
	struct native_gate gate;
	struct work work;
	sycl_queue queues[4];
	uint32_t *sources[2];

	order_begin(&order, "", 1);
	begin_work(&work);
	for (uint32_t i = 0; i < 4; i++)
		queues[i] = order_queue(&order, 0, true);
	native_gate_begin(&gate, queues[0]);
	for (uint32_t i = 0; i < 2; i++)
		sources[i] = host_words(queues[0]);
	work.to = order_memory(queues[0], BYTES);
	for (uint32_t slow = 0; slow < 2; slow++) {
		sycl_handler handler = NULL;
		sycl_event events[2], copied = NULL;
		/* The fast one ends before the slow one begins. */
		native_gate_set(&gate, true);
		events[1 - slow] =
			native_gated_fill_usm(&gate, queues[1 - slow], sources[1 - slow], 3);
		MUST(sycl_event_wait(events[1 - slow]));
		native_gate_set(&gate, false);
		events[slow] = native_gated_fill_usm(&gate, queues[slow], sources[slow], 20 + slow);
		work.from = sources[slow];
		MUST(sycl_handler_begin(queues[2], &handler));
		for (uint32_t i = 0; i < 2; i++)
			MUST(sycl_handler_depends_on(handler, events[i]));
		MUST(sycl_handler_native_command(handler, native_commands_run_work, &work,
						 native_commands_count_end));
		MUST(sycl_handler_submit(handler, &copied));
		let_others_run(&order, &gate, queues[3]);
		native_expect_open(copied);
		native_gate_set(&gate, true);
		native_commands_wait_and_release(copied);
		for (uint32_t i = 0; i < 2; i++)
			native_commands_wait_and_release(events[i]);
		order_expect_log(queues[2], work.to, 20 + slow);
	}
	native_gate_end(&gate);
	for (uint32_t i = 0; i < 2; i++)
		MUST(sycl_free(queues[0], sources[i]));
	MUST(sycl_free(queues[0], work.to));
	for (uint32_t i = 0; i < 4; i++)
		MUST(sycl_queue_release(queues[i]));
	order_end(&order);
}

/* A kernel of another device: first only its event, then an accessor that moves its result. */
Test(gpu_native, K8_a_dependency_on_another_device)
{
	struct order order;
	struct native_gate gate;
	struct work work;

	order_begin(&order, "", 2);
	begin_work(&work);
	sycl_queue there = order_queue(&order, 1, true), here = order_queue(&order, 0, true),
		   idle = order_queue(&order, 0, true);
	expect_after_event(&order, there, here, idle, 30);
	native_gate_begin(&gate, there);
	sycl_buffer from = order_buffer(&order, there), to = order_buffer(&order, here);
	work.copies = true;
	native_gate_set(&gate, false);
	sycl_event filled = native_gated_fill(&gate, there, from, 31);
	sycl_event copied = submit_work(here, &work, from, to, NULL);
	native_expect_open(copied);
	native_gate_set(&gate, true);
	native_commands_wait_and_release(copied);
	native_commands_wait_and_release(filled);
	order_expect(to, 31);
	cr_assert_eq(work.device, 0);
	cr_assert_eq(atomic_load(&work.calls), 1);
	native_gate_end(&gate);
	MUST(sycl_buffer_release(from));
	MUST(sycl_buffer_release(to));
	MUST(sycl_queue_release(here));
	MUST(sycl_queue_release(there));
	MUST(sycl_queue_release(idle));
	order_end(&order);
}

/* The application's own code, in the context of a native command. */
static CUmodule load_own_module(sycl_queue queue, struct work *work)
{
	CUcontext popped = NULL;
	CUmodule module = NULL;

	native_commands_wait_and_release(submit_work(queue, work, NULL, NULL, NULL));
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(
		(CUcontext)work->context)); /* NOLINT(performance-no-int-to-ptr) */
	NATIVE_MUST(NATIVE(cuModuleLoadData)(&module, native_ptx));
	NATIVE_MUST(NATIVE(cuModuleGetFunction)(&work->kernel, module, "native_fill"));
	NATIVE_MUST(NATIVE(cuStreamCreate)(&work->side, CU_STREAM_NON_BLOCKING));
	NATIVE_MUST(NATIVE(cuEventCreate)(&work->fork, CU_EVENT_DISABLE_TIMING));
	NATIVE_MUST(NATIVE(cuEventCreate)(&work->join, CU_EVENT_DISABLE_TIMING));
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
	return module;
}

static void native_commands_unload(struct work *work, CUmodule module)
{
	CUcontext popped = NULL;

	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(
		(CUcontext)work->context)); /* NOLINT(performance-no-int-to-ptr) */
	NATIVE_MUST(NATIVE(cuStreamDestroy)(work->side));
	NATIVE_MUST(NATIVE(cuEventDestroy)(work->fork));
	NATIVE_MUST(NATIVE(cuEventDestroy)(work->join));
	NATIVE_MUST(NATIVE(cuModuleUnload)(module));
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
}

/*
 * A kernel of the application spins until the gate opens. It is on the queue's stream, then on one
 * of the application that joins it. The function returned long before. The event has not happened,
 * and later groups have not run.
 */
Test(gpu_native, K9_complete_when_its_work_is)
{
	struct order order;
	struct native_gate gate;
	struct work work;

	order_begin(&order, "", 1);
	begin_work(&work);
	sycl_queue first = order_queue(&order, 0, false), second = order_queue(&order, 0, true);
	native_gate_begin(&gate, first);
	sycl_buffer buffer = order_buffer(&order, first), marks = order_buffer(&order, first);
	CUmodule module = load_own_module(first, &work);
	CUstream side = work.side;
	work.gate = &gate;
	wait_called(&work);
	for (uint32_t round = 0; round < 2; round++) {
		sycl_event after = NULL;
		work.value = 40 + round;
		work.side = round ? side : NULL;
		native_gate_set(&gate, false);
		sycl_event spun = submit_work(first, &work, buffer, NULL, NULL);
		native_increment(&gate, second, buffer, &after);
		/*
		 * This one waits only for its queue, so it shows that the device is not just slow.
		 */
		sycl_queue beside = order_queue(&order, 0, true);
		native_increment(&gate, beside, marks, NULL);
		wait_called(&work);
		MUST(sycl_queue_wait(beside));
		native_expect_open(spun);
		native_expect_open(after);
		native_gate_set(&gate, true);
		native_commands_wait_and_release(spun);
		native_commands_wait_and_release(after);
		order_expect(buffer, 41 + round);
		order_expect(marks, round + 1);
		MUST(sycl_queue_release(beside));
	}
	work.side = side;
	native_commands_unload(&work, module);
	native_gate_end(&gate);
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(marks));
	MUST(sycl_queue_release(first));
	MUST(sycl_queue_release(second));
	order_end(&order);
}

/* Accessors of a whole buffer, of a part, and of a sub-buffer: the addresses are those of a
 * kernel's argument. */
Test(gpu_native, K12_I16_memory_and_context_of_the_function)
{
	struct order order;
	struct work work;
	CUcontext primary = NULL;
	uint32_t words[4 * ORDER_ITEMS];

	order_begin(&order, "", 1);
	begin_work(&work);
	sycl_queue queue = order_queue(&order, 0, true);
	for (uint32_t i = 0; i < 4 * ORDER_ITEMS; i++)
		words[i] = i;
	sycl_buffer whole = NULL, part = NULL;
	sycl_handler handler = NULL;
	MUST(sycl_buffer_create(order.connection, words, sizeof(words), SYCL_HOST_BORROWED,
				&whole));
	MUST(sycl_buffer_create_sub(whole, 2 * BYTES, 2 * BYTES, &part));
	work.copies = true;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_ranged_accessor(handler, 0, whole, SYCL_ACCESS_READ, BYTES, BYTES));
	MUST(sycl_handler_set_ranged_accessor(handler, 1, part, SYCL_ACCESS_WRITE, BYTES, BYTES));
	MUST(sycl_handler_native_command(handler, native_commands_run_work, &work,
					 native_commands_count_end));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_wait(queue));
	cr_assert_eq(work.memories[0], work.memories[1]);
	cr_assert_eq(work.offsets[0], BYTES);
	cr_assert_eq(work.offsets[1], 3 * BYTES);
	NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRetain)(&primary, (CUdevice)work.device));
	cr_assert_eq(work.context, (uintptr_t)primary);
	cr_assert_eq(work.current, primary);
	NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRelease)((CUdevice)work.device));
	MUST(sycl_buffer_release(part));
	MUST(sycl_buffer_release(whole));
	for (uint32_t i = 0; i < 4 * ORDER_ITEMS; i++)
		cr_assert_eq(words[i], i < 3 * ORDER_ITEMS ? i : i - 2 * ORDER_ITEMS,
			     "word %u is %u", i, words[i]);
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

/* The queue is one stream for a queue in order, as long as that exists. There is no graph in either
 * kind of queue. */
Test(gpu_native, K13_K14_no_graph_in_a_plain_submission)
{
	struct order order;
	struct work work;

	order_begin(&order, "", 1);
	for (uint32_t in_order = 0; in_order < 2; in_order++) {
		begin_work(&work);
		work.has_graph = 7;
		sycl_queue queue = order_queue(&order, 0, in_order);
		native_commands_wait_and_release(submit_work(queue, &work, NULL, NULL, NULL));
		cr_assert_eq(work.has_graph, 0);
		cr_assert_eq(work.graph_result, SYCL_ERROR_INVALID);
		uint64_t stream = work.queue;
		for (uint32_t i = 0; i < 10 && in_order; i++) {
			native_commands_wait_and_release(
				submit_work(queue, &work, NULL, NULL, NULL));
			cr_assert_eq(work.queue, stream);
		}
		MUST(sycl_queue_release(queue));
	}
	order_end(&order);
}

/*
 * A function fails, and so does a group that depends on it. A function that depends on that is
 * never called. In each case the user data end.
 */
Test(gpu_native, K3_M9_a_function_that_fails)
{
	struct order order;
	struct native_gate gate;
	struct work failing, dependent;

	order_begin(&order, "", 1);
	begin_work(&failing);
	begin_work(&dependent);
	sycl_queue queue = order_queue(&order, 0, false);
	native_gate_begin(&gate, queue);
	sycl_buffer from = order_buffer(&order, queue), to = order_buffer(&order, queue);
	failing.copies = true;
	failing.result = FAILURE;
	sycl_event filled = native_gated_fill(&gate, queue, from, 5);
	native_commands_wait_and_release(filled);
	sycl_event failed = submit_work(queue, &failing, from, to, NULL);
	sycl_event not_called = submit_work(queue, &dependent, NULL, NULL, failed);
	cr_assert_eq(sycl_event_wait(failed), FAILURE);
	cr_assert_eq(sycl_event_wait(not_called), SYCL_ERROR_DEPENDENCY_FAILED);
	cr_assert_eq(atomic_load(&failing.calls), 1);
	cr_assert_eq(atomic_load(&dependent.calls), 0);
	cr_assert_eq(atomic_load(&failing.ends), 1);
	cr_assert_eq(atomic_load(&dependent.ends), 1);
	MUST(sycl_event_release(failed));
	MUST(sycl_event_release(not_called));
	/* The queue continues. */
	failing.result = SYCL_SUCCESS;
	sycl_buffer other = order_buffer(&order, queue);
	MUST(sycl_event_release(submit_work(queue, &failing, from, other, NULL)));
	order_expect(other, 5);
	native_gate_end(&gate);
	MUST(sycl_buffer_release(from));
	MUST(sycl_buffer_release(to));
	MUST(sycl_buffer_release(other));
	(void)sycl_queue_wait(queue);
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

/* A wrong call returns its error, and does not change the handler and the user data. */
Test(gpu_native, K6_M1_what_is_refused_at_once)
{
	struct order order;
	struct work work;
	const uint32_t value = 1;
	uint64_t number = 0;
	uint32_t has = 0;

	order_begin(&order, "", 1);
	begin_work(&work);
	sycl_queue queue = order_queue(&order, 0, true);
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	cr_assert_eq(sycl_handler_native_command(handler, NULL, &work, native_commands_count_end),
		     SYCL_ERROR_INVALID);
	MUST(sycl_handler_native_command(handler, native_commands_run_work, &work,
					 native_commands_count_end));
	cr_assert_eq(sycl_handler_native_command(handler, native_commands_run_work, &work,
						 native_commands_count_end),
		     SYCL_ERROR_INVALID);
	MUST(sycl_handler_set_value(handler, 0, sizeof(value), &value));
	cr_assert_eq(sycl_handler_submit(handler, NULL), SYCL_ERROR_KERNEL_ARGUMENT);
	cr_assert_eq(atomic_load(&work.calls), 0);
	cr_assert_eq(atomic_load(&work.ends), 1);
	/* Outside of a function there is nothing to query. */
	int nothing = 0;
	sycl_interop_handle none = (sycl_interop_handle)(void *)&nothing;
	cr_assert_eq(sycl_interop_get_native_queue(NULL, &number), SYCL_ERROR_INVALID_HANDLE);
	cr_assert_eq(sycl_interop_get_native_context(none, &number), SYCL_ERROR_INVALID_HANDLE);
	cr_assert_eq(sycl_interop_get_native_device(none, &number), SYCL_ERROR_INVALID_HANDLE);
	cr_assert_eq(sycl_interop_get_native_memory(none, 0, &number, &number),
		     SYCL_ERROR_INVALID_HANDLE);
	cr_assert_eq(sycl_interop_get_native_graph(none, &number), SYCL_ERROR_INVALID_HANDLE);
	cr_assert_eq(sycl_interop_has_graph(none, &has), SYCL_ERROR_INVALID_HANDLE);
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

/* The connection ends with commands in flight, and with a gate that is opened only then. */
Test(gpu_native, K6_N4_a_connection_that_ends_with_native_commands_in_flight)
{
	struct work work;

	begin_work(&work);
	for (uint32_t round = 0; round < 3; round++) {
		struct order order;
		unsigned before = atomic_load(&work.ends);
		order_begin(&order, "", 1);
		sycl_queue queue = order_queue(&order, 0, round != 1);
		sycl_buffer from = order_buffer(&order, queue), to = order_buffer(&order, queue);
		work.copies = true;
		for (uint32_t i = 0; i < 200; i++)
			MUST(sycl_event_release(submit_work(queue, &work, from, to, NULL)));
		MUST(sycl_buffer_detach(from));
		MUST(sycl_buffer_detach(to));
		MUST(sycl_queue_release(queue));
		order_end(&order);
		/* Whether it was called or not, each has ended exactly once. */
		cr_assert_eq(atomic_load(&work.ends) - before, 200);
		cr_assert_leq(atomic_load(&work.calls), (round + 1) * 200);
	}
}
