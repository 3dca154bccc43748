/*
 * Which side destroys which objects (I8, I9), and on how many streams kernels run (F1). A library
 * in front of the driver counts; the engine uses it as the driver (tests/support/cuda_counter).
 */
#include "cuda_counter.h"
#include "native/fixture.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <syclclient/cuda.h>

static cuda_counts_function *counts_of_engine;
static cuda_counts_begin *launches_from_here;

/* The engine gets the counting library, and this program the driver itself. */
static void count_from_here(void)
{
	const char *path = order_library();

	if (!dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL))
		cr_skip_test("no CUDA driver to stand in front of: %s", dlerror());
	(void)native_symbol("cuInit");
	if (path)
		cr_assert_eq(setenv("SYCLD_TEST_CUDA_COUNTED", path, 1), 0);
	void *counter = dlopen(COUNTER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	cr_assert_not_null(counter, "%s", dlerror());
	void *found = dlsym(counter, "cuda_counts");
	cr_assert_not_null(found, "%s", dlerror());
	memcpy(&counts_of_engine, &found, sizeof(counts_of_engine));
	found = dlsym(counter, "cuda_counts_launches_from_here");
	cr_assert_not_null(found, "%s", dlerror());
	memcpy(&launches_from_here, &found, sizeof(launches_from_here));
	cr_assert_eq(setenv("SYCLD_TEST_CUDA_LIBRARY", COUNTER_LIBRARY, 1), 0);
}

struct counts_begun {
	struct order order;
	sycl_queue queue;
	struct native_gate gate;
	sycl_buffer buffer;
};

static void begin_counts(struct counts_begun *begun)
{
	count_from_here();
	order_begin(&begun->order, "", 1);
	begun->queue = order_queue(&begun->order, 0, true);
	native_gate_begin(&begun->gate, begun->queue);
	begun->buffer = order_buffer(&begun->order, begun->queue);
	native_increment(&begun->gate, begun->queue, begun->buffer, NULL);
}

/* The connection and its engine end. Everything that they made was destroyed, and nothing that
 * others made. */
static void end_and_compare(struct counts_begun *begun)
{
	struct cuda_counts counts;

	MUST(sycl_buffer_release(begun->buffer));
	native_gate_end(&begun->gate);
	MUST(sycl_queue_release(begun->queue));
	order_end(&begun->order);
	counts_of_engine(&counts);
	cr_assert_gt(counts.taken[CUDA_STREAMS], 0);
	cr_assert_gt(counts.taken[CUDA_CONTEXTS], 0);
	for (int kind = 0; kind < CUDA_COUNTED; kind++)
		cr_assert_eq(counts.given[kind], counts.taken[kind],
			     "kind %d: %llu taken, %llu given back", kind,
			     (unsigned long long)counts.taken[kind],
			     (unsigned long long)counts.given[kind]);
	cr_assert_eq(counts.foreign, 0, "%llu destroyed that were not the engine's",
		     (unsigned long long)counts.foreign);
}

Test(gpu_native, I8_handles_that_were_given_out_stay_the_runtimes)
{
	struct counts_begun begun;
	struct cuda_counts before, after;
	CUdevice device = -1;
	CUcontext context = NULL;
	CUstream stream = NULL;
	uint32_t count = 0;

	begin_counts(&begun);
	MUST(sycl_cuda_get_native_device(begun.order.devices[0], &device));
	MUST(sycl_cuda_get_native_context(begun.order.context, 1, &context, &count));
	MUST(sycl_cuda_get_native_queue(begun.queue, &stream));
	/* The application uses and destroys it without notifying the library. */
	NATIVE_MUST(NATIVE(cuStreamSynchronize)(stream));
	counts_of_engine(&before);
	for (int i = 0; i < 100; i++)
		MUST(sycl_cuda_get_native_queue(begun.queue, &stream));
	counts_of_engine(&after);
	cr_assert_eq(after.taken[CUDA_STREAMS], before.taken[CUDA_STREAMS], "asking makes none");
	cr_assert_eq(after.given[CUDA_STREAMS], before.given[CUDA_STREAMS]);
	native_increment(&begun.gate, begun.queue, begun.buffer, NULL);
	order_expect(begun.buffer, 2);
	end_and_compare(&begun);
}

Test(gpu_native, I8_I9_what_the_application_brought_stays_the_applications)
{
	struct counts_begun begun;
	CUcontext context = NULL;
	CUstream stream = NULL;
	CUevent event = NULL;
	sycl_context made_context = NULL;
	sycl_queue made_queue = NULL;
	sycl_event made_event = NULL;

	begin_counts(&begun);
	NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRetain)(&context, 0));
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(context));
	NATIVE_MUST(NATIVE(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
	NATIVE_MUST(NATIVE(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING));
	NATIVE_MUST(NATIVE(cuEventRecord)(event, stream));
	MUST(sycl_cuda_make_context(begun.order.connection, context, NULL, &made_context));
	MUST(sycl_cuda_make_queue(made_context, stream, NULL, &made_queue));
	MUST(sycl_cuda_make_event(made_context, event, &made_event));
	MUST(sycl_event_wait(made_event));
	MUST(sycl_queue_wait(made_queue));
	MUST(sycl_event_release(made_event));
	MUST(sycl_queue_release(made_queue));
	MUST(sycl_context_release(made_context));
	order_expect(begun.buffer, 1);
	end_and_compare(&begun);
	/* It still exists, and can be used. */
	NATIVE_MUST(NATIVE(cuEventRecord)(event, stream));
	NATIVE_MUST(NATIVE(cuStreamSynchronize)(stream));
	NATIVE_MUST(NATIVE(cuEventQuery)(event));
	NATIVE_MUST(NATIVE(cuEventDestroy)(event));
	NATIVE_MUST(NATIVE(cuStreamDestroy)(stream));
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&context));
	NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRelease)(0));
}

/* The driver's own calls are counted. Kernels that are held on an out-of-order queue show that the
 * count can be more than one. */
Test(gpu_native, F1_F2_an_in_order_queue_launches_on_one_stream)
{
	enum { LAUNCHES = 200 };
	struct counts_begun begun;
	struct cuda_counts counts;
	sycl_event fills[2];

	begin_counts(&begun);
	MUST(sycl_queue_wait(begun.queue));
	launches_from_here();
	for (int i = 0; i < LAUNCHES; i++)
		native_increment(&begun.gate, begun.queue, begun.buffer, NULL);
	MUST(sycl_queue_wait(begun.queue));
	counts_of_engine(&counts);
	cr_assert_gt(counts.launches, 0);
	cr_assert_eq(counts.launch_streams, 1, "%llu streams",
		     (unsigned long long)counts.launch_streams);
	order_expect(begun.buffer, LAUNCHES + 1);

	sycl_queue queue = order_queue(&begun.order, 0, false);
	sycl_buffer other = order_buffer(&begun.order, queue);
	launches_from_here();
	native_gate_set(&begun.gate, false);
	fills[0] = native_gated_fill(&begun.gate, queue, begun.buffer, 1);
	fills[1] = native_gated_fill(&begun.gate, queue, other, 2);
	/* Both are held, so neither can be behind the other on one stream. */
	do {
		sched_yield();
		counts_of_engine(&counts);
	} while (counts.launches < 2);
	native_gate_set(&begun.gate, true);
	for (int i = 0; i < 2; i++) {
		MUST(sycl_event_wait(fills[i]));
		MUST(sycl_event_release(fills[i]));
	}
	counts_of_engine(&counts);
	cr_assert_gt(counts.launch_streams, 1);
	MUST(sycl_buffer_release(other));
	MUST(sycl_queue_release(queue));
	end_and_compare(&begun);
}
