/* F4: one connection uses two GPUs at one time. */
#include "order/fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, GPUS = 2, STEPS = 1000 };

/* exchange (flags, mine, looks): sets its flag and waits for the other one's. flags[2 + mine] is
 * set when the other one was set. */
static const char exchange_ptx[] =
	".version 7.8\n.target sm_75\n.address_size 64\n"
	".visible .entry exchange(.param .u64 flags, .param .u32 mine, .param .u32 looks)\n{\n"
	"\t.reg .b32 %r<6>;\n\t.reg .b64 %p<6>;\n\t.reg .pred %q;\n"
	"\tld.param.u64 %p1, [flags]; cvta.to.global.u64 %p1, %p1; ld.param.u32 %r1, [mine]; ld.param.u32 %r2, [looks];\n"
	"\tmul.wide.u32 %p2, %r1, 4; add.u64 %p2, %p1, %p2; xor.b32 %r3, %r1, 1; mul.wide.u32 %p3, %r3, 4; add.u64 %p3, %p1, %p3;\n"
	"\tmov.u32 %r4, 1; st.volatile.global.u32 [%p2], %r4; membar.sys;\n"
	"look:\n\tld.volatile.global.u32 %r5, [%p3]; setp.ne.u32 %q, %r5, 0; @%q bra leave;\n"
	"\tsub.u32 %r2, %r2, 1; setp.ne.u32 %q, %r2, 0; @%q bra look;\n"
	"leave:\n\tst.volatile.global.u32 [%p2+8], %r5; membar.sys;\n\tret;\n}\n";

static sycl_event submit_exchange(sycl_queue queue, sycl_kernel exchange, uint32_t *flags,
				  uint32_t mine)
{
	const uint32_t looks = ORDER_LOOKS;
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_usm(handler, 0, flags));
	MUST(sycl_handler_set_value(handler, 1, sizeof(mine), &mine));
	MUST(sycl_handler_set_value(handler, 2, sizeof(looks), &looks));
	MUST(sycl_handler_single_task(handler, exchange));
	MUST(sycl_handler_submit(handler, &event));
	return event;
}

/* A kernel of each GPU waits for the other's, through host memory that both can access. */
Test(gpu_order, F4_kernels_of_two_gpus_await_each_other)
{
	struct order order;
	sycl_queue queues[GPUS];
	sycl_kernel kernels[GPUS];
	sycl_event events[GPUS];
	void *pointer = NULL;
	order_begin(&order, "", GPUS);
	for (uint32_t i = 0; i < GPUS; i++) {
		sycl_kernel_bundle bundle = NULL;
		queues[i] = order_queue(&order, i, true);
		MUST(sycl_kernel_bundle_from_source(queues[i], SYCL_SOURCE_PTX, exchange_ptx, NULL,
						    &bundle));
		MUST(sycl_kernel_create(bundle, "exchange", &kernels[i]));
		MUST(sycl_kernel_bundle_release(bundle));
	}
	MUST(sycl_malloc_host(queues[0], 4 * sizeof(uint32_t), 0, &pointer));
	uint32_t *flags = pointer;
	for (uint32_t i = 0; i < 4; i++)
		flags[i] = 0;
	for (uint32_t i = 0; i < GPUS; i++)
		events[i] = submit_exchange(queues[i], kernels[i], flags, i);
	for (uint32_t i = 0; i < GPUS; i++) {
		MUST(sycl_event_wait(events[i]));
		MUST(sycl_event_release(events[i]));
	}
	for (uint32_t i = 0; i < GPUS; i++) {
		cr_assert_eq(flags[2 + i], 1u, "GPU %u has waited in vain", i);
		MUST(sycl_kernel_release(kernels[i]));
		MUST(sycl_queue_release(queues[i]));
	}
	MUST(sycl_usm_free(order.context, pointer));
	order_end(&order);
}

/* The objects that one thread of the program has on each GPU. */
struct lane {
	sycl_queue queue;
	sycl_kernel chain;
	sycl_buffer buffers[ORDER_BUFFERS];
	uint32_t *logs[ORDER_LOGS];
	struct order_model model;
};

struct worker {
	const struct order *order;
	pthread_t thread;
	unsigned seed;
	struct lane lanes[GPUS];
	sycl_buffer common; /* both GPUs work on it, in turns */
	uint32_t common_value;
	sycl_result failed; /* of the thread */
	char text[256];
};

/* As order_submit, for threads other than the test's own: an assertion there would not fail the
 * test. */
static sycl_result submit_step(struct lane *lane, const struct order_step *step, sycl_buffer to,
			       sycl_event *event_out)
{
	struct sycl_launch launch = SYCL_LAUNCH_INIT;
	const struct sycl_launch_argument arguments[] = {
		{.kind = SYCL_LAUNCH_ACCESSOR,
		 .mode = SYCL_ACCESS_READ_WRITE,
		 .buffer = to,
		 .size_bytes = SYCL_REST_BYTES},
		{.kind = SYCL_LAUNCH_ACCESSOR,
		 .mode = SYCL_ACCESS_READ,
		 .buffer = lane->buffers[step->from],
		 .size_bytes = SYCL_REST_BYTES},
		{.kind = SYCL_LAUNCH_USM, .pointer = lane->logs[step->log]},
		{.kind = SYCL_LAUNCH_VALUE,
		 .size_bytes = sizeof(step->value),
		 .pointer = &step->value},
	};
	launch.kernel = lane->chain;
	launch.global = sycl_range1(ORDER_ITEMS);
	launch.arguments = arguments;
	launch.argument_count = sizeof(arguments) / sizeof(*arguments);
	return sycl_queue_launch(lane->queue, &launch, event_out);
}

/* One step in ten is on the buffer that both GPUs use. Some are waited for, so that the GPU is idle
 * at the next one. */
static sycl_result take_step(struct worker *worker)
{
	struct lane *lane = &worker->lanes[(uint32_t)rand_r(&worker->seed) % GPUS];
	const struct order_step step = order_random_step(&worker->seed);
	bool is_common = rand_r(&worker->seed) % 10 == 0,
	     is_awaited = rand_r(&worker->seed) % 3 == 0;
	sycl_event event = NULL;
	sycl_result result =
		submit_step(lane, &step, is_common ? worker->common : lane->buffers[step.to],
			    is_awaited ? &event : NULL);
	if (result != SYCL_SUCCESS)
		return result;
	if (is_common) {
		worker->common_value =
			worker->common_value * 31 + lane->model.buffers[step.from] + step.value;
		lane->model.logs[step.log] = lane->model.logs[step.log] * 31 + worker->common_value;
	} else {
		order_model_step(&lane->model, &step);
	}
	if (!is_awaited)
		return SYCL_SUCCESS;
	result = sycl_event_wait(event);
	(void)sycl_event_release(event);
	return result;
}

static void *run_device_steps(void *argument)
{
	struct worker *worker = argument;
	for (uint32_t i = 0; i < STEPS && worker->failed == SYCL_SUCCESS; i++)
		worker->failed = take_step(worker);
	for (uint32_t i = 0; i < GPUS && worker->failed == SYCL_SUCCESS; i++)
		worker->failed = sycl_queue_wait(worker->lanes[i].queue);
	if (worker->failed != SYCL_SUCCESS)
		(void)snprintf(worker->text, sizeof(worker->text), "%s",
			       sycl_get_last_error_text());
	return NULL;
}

static void worker_begin(struct worker *worker, const struct order *order, unsigned seed)
{
	*worker = (struct worker){.order = order, .seed = seed};
	for (uint32_t i = 0; i < GPUS; i++) {
		struct lane *lane = &worker->lanes[i];
		lane->queue = order_queue(order, i, true);
		lane->chain = order_kernel(lane->queue, "chain");
		for (uint32_t b = 0; b < ORDER_BUFFERS; b++)
			lane->buffers[b] = order_buffer(order, lane->queue);
		for (uint32_t l = 0; l < ORDER_LOGS; l++)
			lane->logs[l] = order_memory(lane->queue, ORDER_ITEMS * sizeof(uint32_t));
	}
	worker->common = order_buffer(order, worker->lanes[0].queue);
}

static void worker_end(struct worker *worker)
{
	cr_assert_eq(worker->failed, SYCL_SUCCESS, "%s: %s", sycl_result_name(worker->failed),
		     worker->text);
	order_expect(worker->common, worker->common_value);
	MUST(sycl_buffer_release(worker->common));
	for (uint32_t i = 0; i < GPUS; i++) {
		struct lane *lane = &worker->lanes[i];
		for (uint32_t b = 0; b < ORDER_BUFFERS; b++) {
			order_expect(lane->buffers[b], lane->model.buffers[b]);
			MUST(sycl_buffer_release(lane->buffers[b]));
		}
		for (uint32_t l = 0; l < ORDER_LOGS; l++) {
			order_expect_log(lane->queue, lane->logs[l], lane->model.logs[l]);
			MUST(sycl_free(lane->queue, lane->logs[l]));
		}
		MUST(sycl_kernel_release(lane->chain));
		MUST(sycl_queue_release(lane->queue));
	}
}

static void work_on_both(uint32_t threads)
{
	static struct worker workers[THREADS];
	struct order order;
	order_begin(&order, "", GPUS);
	for (uint32_t i = 0; i < threads; i++)
		worker_begin(&workers[i], &order, i + 1);
	for (uint32_t i = 0; i < threads; i++)
		cr_assert_eq(
			pthread_create(&workers[i].thread, NULL, run_device_steps, &workers[i]), 0);
	for (uint32_t i = 0; i < threads; i++)
		cr_assert_eq(pthread_join(workers[i].thread, NULL), 0);
	for (uint32_t i = 0; i < threads; i++)
		worker_end(&workers[i]);
	order_end(&order);
}

/* In a wrong context the driver would refuse the call, or the kernel would write elsewhere than in
 * the model. */
Test(gpu_order, F4_one_thread_in_turns_on_two_gpus)
{
	work_on_both(1);
}

Test(gpu_order, F4_many_threads_on_two_gpus)
{
	work_on_both(THREADS);
}
