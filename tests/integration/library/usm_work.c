/* USM in command groups: kernels, copies, fills, hints, and their order. */
#include "library/usm.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

TestSuite(usm_work, .timeout = 120, .init = usm_test_begin, .fini = usm_test_end);

static const sycl_usm_kind kinds[] = {SYCL_USM_DEVICE, SYCL_USM_HOST, SYCL_USM_SHARED};
enum { KINDS = 3 };

/* Only the event orders the two sides. */
Test(usm_work, G14_host_and_device_pass_messages_by_events)
{
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	for (uint32_t k = 1; k < KINDS; k++) {
		uint32_t *words = usm_words(kinds[k]);
		for (uint32_t turn = 1; turn <= 50; turn++) {
			sycl_event event = NULL;
			for (uint32_t i = 0; i < WORDS; i++)
				words[i] += i;
			usm_run(&(struct usm_run){.on = queue, .kernel = increment, .to = words},
				&event);
			MUST(sycl_event_wait(event));
			MUST(sycl_event_release(event));
			for (uint32_t i = 0; i < WORDS; i++)
				cr_assert(eq(u32, words[i], turn * (i + 1)));
		}
		usm_give(words);
	}
	MUST(sycl_kernel_release(increment));
}

/* From every kind to every kind, and the program's own memory. */
Test(usm_work, copies_between_all_kinds_of_memory)
{
	enum { PLACES = 4, BYTES = 100001 };
	static uint8_t plain[BYTES], check[BYTES];
	void *places[PLACES] = {plain};
	for (uint32_t k = 0; k < KINDS; k++)
		places[k + 1] = usm_bytes(kinds[k], BYTES);
	sycl_queue ordered = portable_beside(queue, SYCL_QUEUE_IN_ORDER);
	for (uint32_t from = 0; from < PLACES; from++) {
		for (uint32_t to = 0; to < PLACES; to++) {
			if (from == to)
				continue;
			for (uint32_t i = 0; i < BYTES; i++)
				check[i] = (uint8_t)(i * 7 + from * 16 + to);
			MUST(sycl_queue_memcpy(ordered, places[from], check, BYTES, 0, NULL, NULL));
			MUST(sycl_queue_memcpy(ordered, places[to], places[from], BYTES, 0, NULL,
					       NULL));
			MUST(sycl_queue_memcpy(ordered, (char *)places[to] + 5, places[from],
					       BYTES - 5, 0, NULL, NULL));
			MUST(sycl_queue_wait(ordered));
			memset(check, 0, BYTES);
			MUST(sycl_queue_memcpy(ordered, check, places[to], BYTES, 0, NULL, NULL));
			MUST(sycl_queue_wait(ordered));
			for (uint32_t i = 0; i < BYTES; i++)
				cr_assert(eq(u8, check[i],
					     (uint8_t)((i < 5 ? i : i - 5) * 7 + from * 16 + to)),
					  "from %u to %u, byte %u", from, to, i);
		}
	}
	for (uint32_t k = 0; k < KINDS; k++)
		usm_give(places[k + 1]);
	MUST(sycl_queue_release(ordered));
}

Test(usm_work, fills_with_patterns_of_any_size)
{
	enum { BYTES = 70000 };
	static uint8_t got[BYTES];
	uint8_t pattern[128];
	for (uint32_t k = 0; k < KINDS; k++) {
		uint8_t *memory = (uint8_t *)usm_bytes(kinds[k], BYTES);
		for (uint32_t size = 1; size <= sizeof(pattern); size = size * 2 + 1) {
			uint32_t whole = (BYTES - 3) / size * size;
			sycl_event filled = NULL, read = NULL;
			for (uint32_t i = 0; i < size; i++)
				pattern[i] = (uint8_t)(size + i);
			MUST(sycl_queue_usm_fill(queue, memory + 3, whole, pattern, size, 0, NULL,
						 &filled));
			MUST(sycl_queue_memcpy(queue, got, memory + 3, whole, 1, &filled, &read));
			MUST(sycl_event_wait(read));
			for (uint32_t i = 0; i < whole; i++)
				cr_assert(eq(u8, got[i], (uint8_t)(size + i % size)),
					  "size %u, byte %u", size, i);
			MUST(sycl_event_release(filled));
			MUST(sycl_event_release(read));
		}
		MUST(sycl_queue_memset(queue, memory, 0x1ab, BYTES, 0, NULL, NULL));
		MUST(sycl_queue_wait(queue));
		MUST(sycl_queue_memcpy(queue, got, memory, BYTES, 0, NULL, NULL));
		MUST(sycl_queue_wait(queue));
		for (uint32_t i = 0; i < BYTES; i++)
			cr_assert(eq(u8, got[i], 0xab));
		REFUSED(sycl_queue_usm_fill(queue, memory, 10, pattern, 3, 0, NULL, NULL),
			SYCL_ERROR_INVALID);
		REFUSED(sycl_queue_usm_fill(queue, memory, 0, pattern, 0, 0, NULL, NULL),
			SYCL_ERROR_INVALID);
		REFUSED(sycl_queue_usm_fill(queue, memory, 258, pattern, 129, 0, NULL, NULL),
			SYCL_ERROR_INVALID);
		REFUSED(sycl_queue_usm_fill(queue, memory, 10, NULL, 1, 0, NULL, NULL),
			SYCL_ERROR_INVALID);
		usm_give(memory);
	}
	/* A command with nothing to do is complete at once, whatever it names. */
	MUST(sycl_queue_memcpy(queue, NULL, NULL, 0, 0, NULL, NULL));
	MUST(sycl_queue_memset(queue, NULL, 0, 0, 0, NULL, NULL));
	MUST(sycl_queue_wait(queue));
}

/* One group waits. Another one that accesses the same bytes does not wait with it, unless it names
 * the event. */
Test(usm_work, B26_only_events_order_what_shares_a_pointer)
{
	static struct gate gate = GATE_INIT;
	/* One group waits at the gate, the other one copies. */
	sycl_platform helped = portable_open(2);
	sycl_queue on = portable_queue(helped, 0, 0);
	sycl_kernel fill = portable_kernel(on, "fill_u32"),
		    increment = portable_kernel(on, "increment_u32");
	sycl_event behind = NULL, late = NULL, early = NULL, last = NULL;
	void *pointer = NULL;
	uint32_t first = 1, second = 2;
	MUST(sycl_malloc_device(on, WORDS_BYTES, 0, &pointer));
	run_task(on, gate_task, &gate, NULL, SYCL_ACCESS_READ, NULL, &behind);
	gate_await(&gate, 1);
	usm_run(
		&(struct usm_run){
			.on = on, .kernel = fill, .to = pointer, .value = &first, .after = behind},
		&late);
	usm_run(&(struct usm_run){.on = on, .kernel = fill, .to = pointer, .value = &second},
		&early);
	usm_run(&(struct usm_run){.on = on, .kernel = increment, .to = pointer, .after = late},
		&last);
	MUST(sycl_event_wait_for(early, LONG_NS));
	cr_assert(usm_are(on, pointer, 2));
	REFUSED(sycl_event_wait_for(late, SHORT_NS), SYCL_ERROR_TIMEOUT);
	REFUSED(sycl_event_wait_for(last, 0), SYCL_ERROR_TIMEOUT);
	gate_open(&gate);
	MUST(sycl_event_wait_for(last, LONG_NS));
	cr_assert(usm_are(on, pointer, 2));
	MUST(sycl_free(on, pointer));
	MUST(sycl_event_release(behind));
	MUST(sycl_event_release(late));
	MUST(sycl_event_release(early));
	MUST(sycl_event_release(last));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(helped));
}

struct node {
	uint64_t next;
	uint32_t value, unused;
};

Test(usm_work, E24_a_kernel_walks_a_list_in_shared_usm)
{
	enum { NODES = 300 };
	sycl_kernel sum = usm_engine_kernel(queue, "sum_list_u32");
	struct node *nodes[NODES];
	uint32_t wanted = 0;
	/* Each is a separate allocation, of the two kinds in turn. */
	for (uint32_t i = 0; i < NODES; i++) {
		nodes[i] = (struct node *)(void *)usm_bytes(i % 3 ? SYCL_USM_SHARED : SYCL_USM_HOST,
							    sizeof(struct node));
		*nodes[i] = (struct node){i > 0 ? (uintptr_t)nodes[i - 1] : 0, i * i, 0};
		wanted += i * i;
	}
	uint32_t *total = usm_words(SYCL_USM_SHARED);
	usm_run(&(struct usm_run){.on = queue,
				  .kernel = sum,
				  .to = total,
				  .from = nodes[NODES - 1],
				  .items = 1},
		NULL);
	MUST(sycl_queue_wait(queue));
	cr_assert(eq(u32, total[0], wanted));
	for (uint32_t i = 0; i < NODES; i++)
		usm_give(nodes[i]);
	usm_give(total);
	MUST(sycl_kernel_release(sum));
}

Test(usm_work, E24_a_structure_with_a_pointer_is_a_value)
{
	sycl_kernel run = usm_engine_kernel(queue, "run_job");
	if (!run)
		return;
	for (uint32_t k = 0; k < KINDS; k++) {
		uint32_t *words = usm_words(kinds[k]);
		const struct job job = {(uintptr_t)words, 11, WORDS};
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_set_value(handler, 0, sizeof(job), &job));
		MUST(sycl_handler_parallel_for(handler, run, sycl_range1(WORDS)));
		MUST(sycl_handler_submit(handler, NULL));
		MUST(sycl_queue_wait(queue));
		cr_assert(usm_are(queue, words, 11));
		usm_give(words);
	}
	MUST(sycl_kernel_release(run));
}

Test(usm_work, G1_G2_G3_advice_and_prefetch_are_for_shared_usm)
{
	for (uint32_t k = 0; k < KINDS; k++) {
		uint32_t *words = usm_words(kinds[k]);
		sycl_result wanted =
			kinds[k] == SYCL_USM_SHARED ? SYCL_SUCCESS : SYCL_ERROR_INVALID;
		usm_set(queue, words, 3);
		for (int advice = 1; advice <= 10; advice++) {
			sycl_event event = NULL;
			sycl_result result =
				sycl_queue_mem_advise(queue, words, WORDS_BYTES,
						      (sycl_mem_advice)advice, 0, NULL, &event);
			cr_assert(eq(int, result, wanted), "advice %d", advice);
			if (result)
				continue;
			MUST(sycl_event_wait(event));
			MUST(sycl_event_release(event));
		}
		static const int others[] = {0, 11, 100, -1, INT32_MAX, INT32_MIN};
		for (uint32_t i = 0; i < sizeof(others) / sizeof(*others); i++)
			REFUSED(sycl_queue_mem_advise(queue, words, 4, (sycl_mem_advice)others[i],
						      0, NULL, NULL),
				SYCL_ERROR_INVALID);
		cr_assert(eq(int, sycl_queue_prefetch(queue, words, WORDS_BYTES, 0, NULL, NULL),
			     wanted));
		REFUSED(sycl_queue_prefetch(queue, words, WORDS_BYTES + 1, 0, NULL, NULL),
			SYCL_ERROR_INVALID);
		MUST(sycl_queue_wait(queue));
		cr_assert(usm_are(queue, words, 3), "hints change nothing");
		usm_give(words);
	}
}

/* If a hint can have no effect, the device reports that. */
Test(usm_work, G1_a_device_tells_whether_shared_usm_moves)
{
	uint32_t moves = 2, backend = 0;

	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_USM_SHARED_MIGRATES, sizeof(moves),
				  &moves, NULL));
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend), &backend,
				  NULL));
	if (usm_engine_is_remote() || backend == SYCL_BACKEND_KIND_OPENCL)
		cr_assert(eq(uint, moves, 0));
	else
		cr_assert(eq(uint, moves, 1));
}

struct counting {
	_Atomic uint32_t *counter;
	_Atomic uint32_t stop;
	uint32_t added;
};

static void *count_here(void *context_)
{
	struct counting *counting = context_;
	while (!atomic_load(&counting->stop)) {
		atomic_fetch_add(counting->counter, 1);
		counting->added++;
	}
	return NULL;
}

/* If the device has the aspect, it and the host increment the same word at one time, and no
 * increment is lost. */
Test(usm_work, G15_atomics_of_host_and_device_where_the_aspect_says_so)
{
	static const struct {
		sycl_usm_kind kind;
		sycl_aspect aspect, kind_aspect;
	} cases[] = {{SYCL_USM_HOST, SYCL_ASPECT_USM_ATOMIC_HOST_ALLOCATIONS,
		      SYCL_ASPECT_USM_HOST_ALLOCATIONS},
		     {SYCL_USM_SHARED, SYCL_ASPECT_USM_ATOMIC_SHARED_ALLOCATIONS,
		      SYCL_ASPECT_USM_SHARED_ALLOCATIONS}};
	sycl_kernel count = usm_engine_kernel(queue, "count_up");
	for (uint32_t k = 0; k < 2; k++) {
		bool has = usm_has(cases[k].aspect);
		/* A device without this kind of USM has no atomics in it. */
		if (has)
			cr_assert(eq(int, usm_has(cases[k].kind_aspect), 1));
		if (!count)
			continue;
		uint32_t *words = usm_words(cases[k].kind);
		struct counting counting = {.counter = (_Atomic uint32_t *)words};
		pthread_t thread;
		if (has)
			cr_assert(eq(int, pthread_create(&thread, NULL, count_here, &counting), 0));
		for (uint32_t i = 0; i < 20; i++)
			usm_run(
				&(struct usm_run){
					.on = queue, .kernel = count, .to = words, .items = 5000},
				NULL);
		MUST(sycl_queue_wait(queue));
		atomic_store(&counting.stop, 1);
		if (has)
			(void)pthread_join(thread, NULL);
		cr_assert(eq(u32, words[0], 100000 + counting.added));
		usm_give(words);
	}
	if (count)
		MUST(sycl_kernel_release(count));
}

/* The program's memory is read and written in turn, whatever is in flight. */
/* A copy of the program's memory consists of several steps, which events do not show. */
static bool waits_for_nothing_but(sycl_event event, sycl_event other)
{
	sycl_event list[2] = {NULL, NULL};
	uint32_t count = 0;
	MUST(sycl_event_get_wait_list(event, 2, list, &count));
	bool is_so = count == 1 && list[0] == other;
	for (uint32_t i = 0; i < count && i < 2; i++)
		MUST(sycl_event_release(list[i]));
	return is_so;
}

Test(usm_work, B19_H12_copies_of_the_programs_own_memory_keep_the_order_of_events)
{
	static uint32_t first[WORDS], second[WORDS], third[WORDS];
	sycl_event a = NULL, b = NULL, c = NULL, d = NULL;
	uint32_t *one = usm_words(SYCL_USM_DEVICE), *two = usm_words(SYCL_USM_DEVICE);
	usm_set(queue, one, 21);
	/* The first copy writes it and the second one reads it when it runs, not when it was
	 * submitted. */
	MUST(sycl_queue_memcpy(queue, first, one, WORDS_BYTES, 0, NULL, &a));
	MUST(sycl_queue_memcpy(queue, two, first, WORDS_BYTES, 1, &a, &b));
	MUST(sycl_queue_memcpy(queue, second, two, WORDS_BYTES, 1, &b, &c));
	MUST(sycl_queue_memcpy(queue, third, second, WORDS_BYTES, 1, &c, &d));
	/* Nothing is written to the program's memory while no thread waits. So none of them is
	 * complete. */
	cr_assert(waits_for_nothing_but(b, a));
	cr_assert(waits_for_nothing_but(c, b));
	cr_assert(waits_for_nothing_but(d, c));
	MUST(sycl_event_wait(d));
	for (uint32_t i = 0; i < WORDS; i++)
		cr_assert(first[i] == 21 && second[i] == 21 && third[i] == 21);
	/* With nothing in flight it is read at once: it may be used again when the call returns. */
	for (uint32_t i = 0; i < WORDS; i++)
		first[i] = 33;
	MUST(sycl_queue_memcpy(queue, one, first, WORDS_BYTES, 0, NULL, NULL));
	memset(first, 0, sizeof(first));
	MUST(sycl_queue_wait(queue));
	cr_assert(usm_are(queue, one, 33));
	MUST(sycl_event_release(a));
	MUST(sycl_event_release(b));
	MUST(sycl_event_release(c));
	MUST(sycl_event_release(d));
	usm_give(one);
	usm_give(two);
}

Test(usm_work, B28_an_in_order_queue_needs_no_events)
{
	static uint32_t words[WORDS];
	sycl_queue ordered = portable_beside(queue, SYCL_QUEUE_IN_ORDER);
	sycl_kernel increment = portable_kernel(ordered, "increment_u32");
	uint32_t *device_words = usm_words(SYCL_USM_DEVICE), *shared = usm_words(SYCL_USM_SHARED);
	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = i;
	for (uint32_t round = 0; round < 20; round++) {
		MUST(sycl_queue_memcpy(ordered, device_words, words, WORDS_BYTES, 0, NULL, NULL));
		usm_run(&(struct usm_run){.on = ordered, .kernel = increment, .to = device_words},
			NULL);
		MUST(sycl_queue_memcpy(ordered, shared, device_words, WORDS_BYTES, 0, NULL, NULL));
		usm_run(&(struct usm_run){.on = ordered, .kernel = increment, .to = shared}, NULL);
		MUST(sycl_queue_memcpy(ordered, words, shared, WORDS_BYTES, 0, NULL, NULL));
	}
	MUST(sycl_queue_wait(ordered));
	for (uint32_t i = 0; i < WORDS; i++)
		cr_assert(eq(u32, words[i], i + 40));
	usm_give(device_words);
	usm_give(shared);
	MUST(sycl_kernel_release(increment));
	MUST(sycl_queue_release(ordered));
}

static sycl_result usm_work_fail_task(sycl_host_task task, void *user_data)
{
	(void)task;
	(void)user_data;
	return SYCL_ERROR_RUNTIME;
}

Test(usm_work, M9_what_depends_on_a_failed_group_copies_nothing)
{
	sycl_event failing = NULL, in = NULL, out = NULL;
	uint32_t *words = usm_words(SYCL_USM_DEVICE);
	static uint32_t memory[WORDS];
	for (uint32_t i = 0; i < WORDS; i++)
		memory[i] = 5;
	run_task(queue, usm_work_fail_task, NULL, NULL, SYCL_ACCESS_READ, NULL, &failing);
	MUST(sycl_queue_memcpy(queue, words, memory, WORDS_BYTES, 1, &failing, &in));
	MUST(sycl_queue_memcpy(queue, memory, words, WORDS_BYTES, 1, &failing, &out));
	REFUSED(sycl_event_wait(failing), SYCL_ERROR_RUNTIME);
	REFUSED(sycl_event_wait(in), SYCL_ERROR_DEPENDENCY_FAILED);
	REFUSED(sycl_event_wait(out), SYCL_ERROR_DEPENDENCY_FAILED);
	for (uint32_t i = 0; i < WORDS; i++)
		cr_assert(eq(u32, memory[i], 5));
	cr_assert(usm_are(queue, words, 0));
	MUST(sycl_event_release(failing));
	MUST(sycl_event_release(in));
	MUST(sycl_event_release(out));
	usm_give(words);
}
