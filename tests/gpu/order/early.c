/*
 * Launches that begin before the one before them is complete (R5), through the client. The second
 * of a pair sets a word before it waits; the first polls it a limited number of times. Whichever
 * ran beside which, the second reads what the first wrote last.
 */
#include "order/fixture.h"

enum { COMPUTE_MAJOR = 75, PAIRS = 40, WORDS = 4 };

/* words: 0 is set by the second before it waits; 1 is what the first read there; the first writes 2
 * last; 3 is what the second read there. */
static const char pair_source[] =
	"SYCL_KERNEL void first(SYCL_GLOBAL(uint) x, uint looks) {\n"
	"  uint seen = 0;\n"
	"  sycl_next_launch_allow();\n"
	"  while (seen == 0 && looks > 0) { seen = sycl_atomic_load(x); looks--; }\n"
	"  x[1] = seen; x[2] = 7;\n"
	"}\n"
	"SYCL_KERNEL void second(SYCL_GLOBAL(uint) x, uint looks) {\n"
	"  sycl_atomic_store(x, 1u);\n"
	"  sycl_previous_launch_wait();\n"
	"  x[3] = x[2];\n"
	"}\n";

static void submit_pair(sycl_queue queue, sycl_kernel kernel, uint32_t *words, bool is_early)
{
	const uint32_t looks = order_library() ? 10 : 1u << 20;
	sycl_handler handler = NULL;

	MUST(sycl_handler_begin(queue, &handler));
	if (is_early)
		MUST(sycl_handler_set_early_start(handler));
	MUST(sycl_handler_set_usm(handler, 0, words));
	MUST(sycl_handler_set_value(handler, 1, sizeof(looks), &looks));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(1)));
	MUST(sycl_handler_submit(handler, NULL));
}

/* Returns how many of the first kernels read what the second wrote before it waited. */
static uint32_t count_early_pairs(sycl_queue queue, const uint32_t *words, uint32_t pairs)
{
	uint32_t got[PAIRS * WORDS] = {0}, seen = 0;

	order_fetch(queue, got, words, pairs * WORDS * sizeof(uint32_t));
	for (uint32_t i = 0; i < pairs; i++) {
		const uint32_t *pair = &got[i * WORDS];
		cr_assert_eq(pair[0], 1, "pair %u", i);
		cr_assert_eq(pair[2], 7, "pair %u", i);
		cr_assert_eq(pair[3], 7, "pair %u: the second read %u", i, pair[3]);
		seen += pair[1];
	}
	return seen;
}

/* All are submitted. The service decides which of them are sent together. */
Test(gpu_order, R5_launches_that_may_begin_early_keep_their_order)
{
	struct order order;
	order_begin(&order, "", 1);
	sycl_queue queue = order_queue(&order, 0, true);
	sycl_kernel first = NULL, second = NULL;
	MUST(sycl_kernel_from_source(queue, pair_source, "first", &first));
	MUST(sycl_kernel_from_source(queue, pair_source, "second", &second));
	uint32_t *words = order_memory(queue, PAIRS * WORDS * sizeof(*words));
	for (uint32_t i = 0; i < PAIRS; i++) {
		submit_pair(queue, first, words + i * WORDS, false);
		submit_pair(queue, second, words + i * WORDS, true);
	}
	(void)count_early_pairs(queue, words, PAIRS);
	MUST(sycl_free(queue, words));
	MUST(sycl_kernel_release(first));
	MUST(sycl_kernel_release(second));
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

/* In a graph that is launched as one command they are always sent together. */
Test(gpu_order, R5_a_node_of_a_graph_begins_before_the_one_before_it_is_over)
{
	struct order order;
	order_begin(&order, "", 1);
	sycl_queue queue = order_queue(&order, 0, true);
	sycl_kernel first = NULL, second = NULL;
	sycl_graph graph = NULL;
	sycl_executable_graph executable = NULL;
	sycl_event event = NULL;
	MUST(sycl_kernel_from_source(queue, pair_source, "first", &first));
	MUST(sycl_kernel_from_source(queue, pair_source, "second", &second));
	uint32_t *words = order_memory(queue, WORDS * sizeof(*words));
	MUST(sycl_graph_create(order.context, order.devices[0], NULL, &graph));
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	submit_pair(queue, first, words, false);
	submit_pair(queue, second, words, true);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	MUST(sycl_queue_graph(queue, executable, 0, NULL, &event));
	MUST(sycl_event_wait(event));
	const uint32_t seen = count_early_pairs(queue, words, 1);
	if (!order_library() && order_attribute(COMPUTE_MAJOR) >= 9)
		cr_assert_eq(seen, 1, "the second began when the first was over");
	MUST(sycl_event_release(event));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_free(queue, words));
	MUST(sycl_kernel_release(first));
	MUST(sycl_kernel_release(second));
	MUST(sycl_queue_release(queue));
	order_end(&order);
}
