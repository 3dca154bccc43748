/* Order and streams, measured by what kernels read of each other. On a GPU there is no gate to hold
 * them, and no record of streams. */
#include "order/fixture.h"

#include "gpu/driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

TestSuite(gpu_order, .timeout = 120);

enum {
	MEETING = 16, /* kernels that wait for each other: twice as many as the driver by default
			 has queues to a device */
	QUEUES = 1000,
	FEW_LANES = 4,
	CROWD_LOOKS = 1000,
	FEW_QUEUES = 100, /* more than there are lanes */
	ROUNDS = 8,       /* in which a thousand queues are made */
	ROUND_QUEUES = 125,
	RANDOM_QUEUES = 4
};

/* The state that all groups of a random sequence share. */
struct words {
	sycl_kernel chain;
	sycl_buffer buffers[ORDER_BUFFERS];
	uint32_t *logs[ORDER_LOGS];
	struct order_model model;
};

static void words_begin(struct words *words, const struct order *order, sycl_queue queue)
{
	*words = (struct words){.chain = order_kernel(queue, "chain")};
	for (uint32_t i = 0; i < ORDER_BUFFERS; i++)
		words->buffers[i] = order_buffer(order, queue);
	for (uint32_t i = 0; i < ORDER_LOGS; i++)
		words->logs[i] = order_memory(queue, ORDER_ITEMS * sizeof(uint32_t));
}

/* All queues that used the logs have been waited for. */
static void words_end(struct words *words, sycl_queue queue)
{
	for (uint32_t i = 0; i < ORDER_BUFFERS; i++) {
		order_expect(words->buffers[i], words->model.buffers[i]);
		MUST(sycl_buffer_release(words->buffers[i]));
	}
	for (uint32_t i = 0; i < ORDER_LOGS; i++) {
		order_expect_log(queue, words->logs[i], words->model.logs[i]);
		MUST(sycl_free(queue, words->logs[i]));
	}
	MUST(sycl_kernel_release(words->chain));
}

/* The logs order nothing, so only the queue does: groups on different buffers must not change
 * places. */
Test(gpu_order, F1_an_in_order_queue_keeps_the_order_of_thousands_of_groups)
{
	struct order order;
	struct words words;
	unsigned seed = 1;
	order_begin(&order, "", 1);
	sycl_queue queue = order_queue(&order, 0, true);
	words_begin(&words, &order, queue);
	for (uint32_t i = 0; i < 10000; i++) {
		const struct order_step step = order_random_step(&seed);
		order_submit(queue, words.chain, words.buffers, words.logs, &step, NULL, NULL);
		order_model_step(&words.model, &step);
	}
	words_end(&words, queue);
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

static void submit_meeting(sycl_queue queue, sycl_kernel meet, uint32_t *words, uint32_t place,
			   uint32_t wanted, uint32_t looks)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_usm(handler, 0, words));
	MUST(sycl_handler_set_usm(handler, 1, words + 2));
	MUST(sycl_handler_set_value(handler, 2, sizeof(place), &place));
	MUST(sycl_handler_set_value(handler, 3, sizeof(wanted), &wanted));
	MUST(sycl_handler_set_value(handler, 4, sizeof(looks), &looks));
	MUST(sycl_handler_single_task(handler, meet));
	MUST(sycl_handler_submit(handler, NULL));
}

/* `got`: how many had come, whether one waited in vain, and the count that each of them read. */
static void let_them_meet(bool in_order, uint32_t wanted, uint32_t looks, uint32_t got[2 + MEETING])
{
	struct order order;
	/* Connections: CUDA_DEVICE_MAX_CONNECTIONS of the engine's process. */
	order_begin(&order, "cuda:lanes=16 cuda:connections=32", 1);
	sycl_queue queue = order_queue(&order, 0, in_order);
	sycl_kernel meet = order_kernel(queue, "meet");
	uint32_t *words = order_memory(queue, (2 + MEETING) * sizeof(*words));
	for (uint32_t i = 0; i < MEETING; i++)
		submit_meeting(queue, meet, words, i, wanted, looks);
	order_fetch(queue, got, words, (2 + MEETING) * sizeof(*words));
	MUST(sycl_free(queue, words));
	MUST(sycl_kernel_release(meet));
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

/* More than will come: each waits in vain, and the next one must not begin before it has ended. */
Test(gpu_order, F1_kernels_of_an_in_order_queue_never_meet)
{
	uint32_t got[2 + MEETING] = {0};
	let_them_meet(true, MEETING + 1, 1u << 16, got);
	cr_assert_eq(got[0], (uint32_t)MEETING);
	cr_assert_eq(got[1], 1u);
	for (uint32_t i = 0; i < MEETING; i++)
		cr_assert_eq(got[2 + i], i + 1, "kernel %u has seen %u", i, got[2 + i]);
}

Test(gpu_order, F2_kernels_of_an_out_of_order_queue_await_each_other)
{
	uint32_t got[2 + MEETING] = {0};
	let_them_meet(false, MEETING, ORDER_LOOKS, got);
	cr_assert_eq(got[1], 0u, "they have not run at one time: one waited in vain");
	for (uint32_t i = 0; i < MEETING; i++)
		cr_assert_eq(got[2 + i], (uint32_t)MEETING, "kernel %u has seen %u", i, got[2 + i]);
}

static void gpu_order_submit_crowd(sycl_queue queue, sycl_kernel crowd, const uint32_t *words)
{
	const uint32_t looks = CROWD_LOOKS;
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_usm(handler, 0, words));
	MUST(sycl_handler_set_value(handler, 1, sizeof(looks), &looks));
	MUST(sycl_handler_single_task(handler, crowd));
	MUST(sycl_handler_submit(handler, NULL));
}

/* Queues of both kinds; all get work before the first is waited for. Kernels count how many run at
 * one time. */
Test(gpu_order, F3_a_thousand_queues_run_on_the_streams_of_the_pool)
{
	static sycl_queue queues[QUEUES];
	struct order order;
	uint32_t got[3] = {0};
	order_begin(&order, "cuda:lanes=4", 1);
	sycl_queue first = order_queue(&order, 0, true);
	sycl_kernel crowd = order_kernel(first, "crowd");
	uint32_t *words = order_memory(first, sizeof(got));
	for (uint32_t i = 0; i < QUEUES; i++) {
		queues[i] = order_queue(&order, 0, i % 2);
		gpu_order_submit_crowd(queues[i], crowd, words);
	}
	for (uint32_t i = 0; i < QUEUES; i++)
		MUST(sycl_queue_wait(queues[i]));
	order_fetch(first, got, words, sizeof(got));
	cr_assert_eq(got[0], 0u);
	cr_assert_eq(got[2], (uint32_t)QUEUES, "%u queues have worked", got[2]);
	cr_assert_leq(got[1], (uint32_t)FEW_LANES, "%u kernels ran at one time", got[1]);
	for (uint32_t i = 0; i < QUEUES; i++)
		MUST(sycl_queue_release(queues[i]));
	MUST(sycl_free(first, words));
	MUST(sycl_kernel_release(crowd));
	MUST(sycl_queue_release(first));
	order_end(&order);
}

/*
 * A kernel runs until another one has started. Its client has many more queues than there are
 * streams. The other queues run their work meanwhile, also those that share its stream (F8).
 */
Test(gpu_order, F8_a_kernel_that_goes_on_holds_up_no_other_queue)
{
	enum { COUNT = 40, TIMES = 25 };
	sycl_queue queues[COUNT];
	struct order order;
	uint32_t got[4] = {0};
	order_begin(&order, "cuda:lanes=8 cuda:connections=32", 1);
	for (uint32_t i = 0; i < COUNT; i++)
		queues[i] = order_queue(&order, 0, true);
	sycl_kernel meet = order_kernel(queues[0], "meet"),
		    crowd = order_kernel(queues[0], "crowd");
	uint32_t *words = order_memory(queues[0], sizeof(got)),
		 *counts = order_memory(queues[0], 3 * sizeof(uint32_t));
	gpu_order_submit_crowd(queues[1], crowd, counts); /* on the device by now */
	MUST(sycl_queue_wait(queues[1]));
	submit_meeting(queues[0], meet, words, 0, 2, 1u << 30);
	for (uint32_t round = 0; round < TIMES; round++) {
		for (uint32_t i = 1; i < COUNT; i++) {
			gpu_order_submit_crowd(queues[i], crowd, counts);
			/* First one by one, because the length of a stream's earlier work is not
			 * known at once. */
			if (round == 0)
				MUST(sycl_queue_wait_for(queues[i], 20000000000ull));
		}
		for (uint32_t i = 1; i < COUNT; i++)
			MUST(sycl_queue_wait_for(queues[i], 20000000000ull));
	}
	submit_meeting(queues[1], meet, words, 1, 2, 1u << 30);
	MUST(sycl_queue_wait(queues[0]));
	MUST(sycl_queue_wait(queues[1]));
	order_fetch(queues[0], got, words, sizeof(got));
	cr_assert_eq(got[0], 2u);
	cr_assert_eq(got[1], 0u, "the first had given up: the others waited for it");
	order_fetch(queues[0], got, counts, 3 * sizeof(uint32_t));
	cr_assert_eq(got[2], TIMES * (COUNT - 1) + 1u);
	MUST(sycl_free(queues[0], words));
	MUST(sycl_free(queues[0], counts));
	for (uint32_t i = 0; i < COUNT; i++)
		MUST(sycl_queue_release(queues[i]));
	MUST(sycl_kernel_release(meet));
	MUST(sycl_kernel_release(crowd));
	order_end(&order);
}

struct load {
	sycl_queue queue;
	sycl_kernel kernel;
	_Atomic bool is_done;
};

/* This code is not loaded yet. Loading it stops all launches of a process until the running ones
 * have ended. */
static void *load_another(void *argument)
{
	struct load *load = argument;
	load->kernel = order_kernel(load->queue, "chain");
	atomic_store(&load->is_done, true);
	return NULL;
}

/* A kernel runs, and another client's code must be loaded. The load waits for a moment without
 * kernels, and nothing else does. */
Test(gpu_order, F8_F11_what_is_loaded_beside_a_kernel_holds_up_nobody)
{
	struct order order;
	struct load load = {.is_done = false};
	pthread_t thread;
	order_begin(&order, "cuda:connections=32", 1);
	sycl_queue first = order_queue(&order, 0, true), second = order_queue(&order, 0, true);
	load.queue = order_queue(&order, 0, true);
	sycl_kernel meet = order_kernel(first, "meet"), crowd = order_kernel(first, "crowd");
	uint32_t *words = order_memory(first, 4 * sizeof(uint32_t)),
		 *counts = order_memory(first, 3 * sizeof(uint32_t));
	uint32_t got[4] = {0};
	gpu_order_submit_crowd(second, crowd, counts);
	MUST(sycl_queue_wait(second));
	submit_meeting(first, meet, words, 0, 2, 1u << 30);
	cr_assert_eq(pthread_create(&thread, NULL, load_another, &load), 0);
	for (uint32_t i = 0; i < 1000; i++) {
		gpu_order_submit_crowd(second, crowd, counts);
		MUST(sycl_queue_wait_for(second, 20000000000ull));
	}
	submit_meeting(second, meet, words, 1, 2, 1u << 30);
	MUST(sycl_queue_wait(first));
	cr_assert_eq(pthread_join(thread, NULL), 0);
	cr_assert(atomic_load(&load.is_done));
	order_fetch(first, got, words, sizeof(got));
	cr_assert_eq(got[0], 2u);
	cr_assert_eq(got[1], 0u, "the kernel had given up: the others waited for it");
	MUST(sycl_free(first, words));
	MUST(sycl_free(first, counts));
	MUST(sycl_kernel_release(load.kernel));
	MUST(sycl_kernel_release(meet));
	MUST(sycl_kernel_release(crowd));
	MUST(sycl_queue_release(load.queue));
	MUST(sycl_queue_release(first));
	MUST(sycl_queue_release(second));
	order_end(&order);
}

static int gpu_order_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* Free bytes of device 0, by the context of this process. */
static int64_t free_bytes(const struct gpu_driver *driver)
{
	size_t free_now = 0, total = 0;
	cr_assert_eq(driver->memory_information(&free_now, &total), 0);
	return (int64_t)free_now;
}

/* Makes that many more queues, each of which works. Returns how much less memory the device then
 * has. */
static int64_t make_queues(const struct order *order, const struct gpu_driver *driver,
			   sycl_queue *queues, uint32_t count, const struct order_step *step,
			   struct words *words)
{
	int64_t before = free_bytes(driver);
	for (uint32_t i = 0; i < count; i++) {
		queues[i] = order_queue(order, 0, i % 2);
		order_submit(queues[i], words->chain, words->buffers, words->logs, step, NULL,
			     NULL);
		order_model_step(&words->model, step);
	}
	for (uint32_t i = 0; i < count; i++)
		MUST(sycl_queue_wait(queues[i]));
	return before - free_bytes(driver);
}

/*
 * None of the other tests here runs meanwhile. The device may have other users, who allocate and
 * free: most rounds count, not each.
 */
Test(gpu_order, F3_a_thousand_queues_take_no_more_memory_than_a_few)
{
	static sycl_queue few[FEW_QUEUES], queues[ROUNDS][ROUND_QUEUES];
	const struct order_step step = {.to = 0, .from = 1, .log = 0, .value = 1};
	struct gpu_driver driver;
	struct gpu_context *own = NULL;
	struct order order;
	struct words words;
	int64_t taken[ROUNDS];
	order_alone();
	order_begin(&order, "", 1);
	sycl_queue first = order_queue(&order, 0, true);
	words_begin(&words, &order, first);
	cr_assert(gpu_driver_open(&driver, order_library(), true));
	cr_assert_eq(driver.context_retain(&own, 0), 0);
	cr_assert_eq(driver.context_use(own), 0);
	(void)make_queues(&order, &driver, few, FEW_QUEUES, &step, &words);
	for (uint32_t i = 0; i < ROUNDS; i++)
		taken[i] = make_queues(&order, &driver, queues[i], ROUND_QUEUES, &step, &words);
	qsort(taken, ROUNDS, sizeof(*taken), gpu_order_compare);
	cr_assert_leq(taken[ROUNDS / 2], 0, "%d queues more take %lld bytes", ROUND_QUEUES,
		      (long long)taken[ROUNDS / 2]);
	for (uint32_t i = 0; i < FEW_QUEUES; i++)
		MUST(sycl_queue_release(few[i]));
	for (uint32_t i = 0; i < ROUNDS * ROUND_QUEUES; i++)
		MUST(sycl_queue_release(queues[i / ROUND_QUEUES][i % ROUND_QUEUES]));
	words_end(&words, first);
	MUST(sycl_queue_release(first));
	cr_assert_eq(driver.context_use(NULL), 0);
	cr_assert_eq(driver.context_release(0), 0);
	order_end(&order);
}

/*
 * The same groups with any streams: kernels, copies and fills over a few buffers, on queues in
 * order and out of order. Events from queue to queue order the groups that use one log.
 */
static void random_groups(const char *options)
{
	const uint64_t bytes = ORDER_ITEMS * sizeof(uint32_t);
	sycl_queue queues[RANDOM_QUEUES];
	sycl_event last[ORDER_LOGS] = {NULL};
	struct order order;
	struct words words;
	unsigned seed = 5;
	order_begin(&order, options, 1);
	for (uint32_t i = 0; i < RANDOM_QUEUES; i++)
		queues[i] = order_queue(&order, 0, i % 2);
	words_begin(&words, &order, queues[0]);
	for (uint32_t i = 0; i < 5000; i++) {
		const struct order_step step = order_random_step(&seed);
		sycl_queue queue = queues[(uint32_t)rand_r(&seed) % RANDOM_QUEUES];
		unsigned kind = (unsigned)rand_r(&seed) % 8;
		sycl_event event = NULL;
		if (kind == 0) {
			MUST(sycl_queue_copy(queue, words.buffers[step.from], 0,
					     words.buffers[step.to], 0, bytes, NULL));
			words.model.buffers[step.to] = words.model.buffers[step.from];
			continue;
		}
		if (kind == 1) {
			MUST(sycl_queue_fill(queue, words.buffers[step.to], 0, bytes, &step.value,
					     4, NULL));
			words.model.buffers[step.to] = step.value;
			continue;
		}
		order_submit(queue, words.chain, words.buffers, words.logs, &step, last[step.log],
			     &event);
		order_model_step(&words.model, &step);
		if (last[step.log])
			MUST(sycl_event_release(last[step.log]));
		last[step.log] = event;
	}
	for (uint32_t i = 0; i < ORDER_LOGS; i++)
		if (last[i])
			MUST(sycl_event_release(last[i]));
	for (uint32_t i = 0; i < RANDOM_QUEUES; i++)
		MUST(sycl_queue_wait(queues[i]));
	words_end(&words, queues[0]);
	for (uint32_t i = 0; i < RANDOM_QUEUES; i++)
		MUST(sycl_queue_release(queues[i]));
	order_end(&order);
}

Test(gpu_order, F5_random_groups_on_one_stream)
{
	random_groups("cuda:lanes=1");
}

Test(gpu_order, F5_random_groups_on_three_streams)
{
	random_groups("cuda:lanes=3");
}

Test(gpu_order, F5_random_groups_on_thirty_two_streams)
{
	random_groups("cuda:lanes=32");
}
