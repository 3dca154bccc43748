/* Events: what they wait for, their status, their times, and their cost (B17, B18, B32, H5 - H13,
 * N8). */
#include "library/portable.h"

#include "amount.h"
#include "sanitized.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

TestSuite(events, .timeout = 120, .init = portable_begin, .fini = portable_end);

static sycl_event gated(sycl_queue on, struct gate *gate)
{
	sycl_event event = NULL;
	run_task(on, gate_task, gate, NULL, SYCL_ACCESS_READ, NULL, &event);
	return event;
}

static sycl_event after_all(sycl_queue on, const sycl_event *events, uint32_t count)
{
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(on, &handler));
	for (uint32_t i = 0; i < count; i++)
		MUST(sycl_handler_depends_on(handler, events[i]));
	MUST(sycl_handler_submit(handler, &event));
	return event;
}

Test(events, H12_N3_the_wait_list_has_what_is_not_complete)
{
	sycl_platform helped = portable_open(2);
	sycl_queue on = portable_queue(helped, 0, 0),
		   in_order = portable_beside(on, SYCL_QUEUE_IN_ORDER);
	struct gate gates[2] = {GATE_INIT, GATE_INIT};
	sycl_event waits[3] = {gated(on, &gates[0]), gated(in_order, &gates[1]), NULL}, list[3];
	_Atomic uint32_t counted = 0;
	run_task(on, count_task, &counted, NULL, SYCL_ACCESS_READ, waits[0], &waits[2]);
	sycl_event event = after_all(on, waits, 3);
	uint32_t count = 0;
	MUST(sycl_event_get_wait_list(event, 0, NULL, &count));
	cr_assert(eq(u32, count, 3));
	MUST(sycl_event_get_wait_list(event, 3, list, NULL));
	for (int i = 0; i < 3; i++) {
		cr_assert(eq(ptr, list[i], waits[i]), "the same handles");
		MUST(sycl_event_release(list[i]));
	}
	MUST(sycl_event_get_wait_list(event, 1, list, &count));
	cr_assert(eq(u32, count, 3));
	cr_assert(eq(ptr, list[0], waits[0]));
	MUST(sycl_event_release(list[0]));
	gate_open(&gates[1]);
	MUST(sycl_event_wait_for(waits[1], LONG_NS));
	MUST(sycl_event_get_wait_list(event, 3, list, &count));
	cr_assert(eq(u32, count, 2));
	for (uint32_t i = 0; i < count; i++) {
		cr_assert(ne(ptr, list[i], waits[1]));
		MUST(sycl_event_release(list[i]));
	}
	/* An event that the caller has released is returned again and can be waited for. */
	MUST(sycl_event_release(waits[0]));
	REFUSED(sycl_event_wait_for(waits[0], 0), SYCL_ERROR_INVALID_HANDLE);
	MUST(sycl_event_get_wait_list(event, 3, list, &count));
	cr_assert(eq(u32, count, 2));
	REFUSED(sycl_event_wait_for(list[0], 0), SYCL_ERROR_TIMEOUT);
	gate_open(&gates[0]);
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_wait_for(list[0], 0));
	MUST(sycl_event_wait_for(list[1], 0));
	MUST(sycl_event_release(list[0]));
	MUST(sycl_event_release(list[1]));
	MUST(sycl_event_get_wait_list(event, 3, list, &count));
	cr_assert(eq(u32, count, 0));
	REFUSED(sycl_event_get_wait_list(event, 1, NULL, &count), SYCL_ERROR_INVALID);
	REFUSED(sycl_event_get_wait_list(event, 0, NULL, NULL), SYCL_ERROR_INVALID);
	MUST(sycl_event_release(waits[1]));
	MUST(sycl_event_release(waits[2]));
	MUST(sycl_event_release(event));
	MUST(sycl_queue_release(on));
	MUST(sycl_queue_release(in_order));
	MUST(sycl_platform_release(helped));
}

/* Only the end of a long chain is held. The events behind it are released, without a recursion as
 * long as the chain. */
Test(events, H12_H13_N8_a_chain_is_not_kept_by_its_end)
{
	enum { LINKS = 50000 };
	sycl_platform helped = portable_open(1);
	sycl_queue on = portable_queue(helped, 0, SYCL_QUEUE_IN_ORDER);
	struct gate gate = GATE_INIT;
	sycl_event last = gated(on, &gate);
	for (int i = 0; i < LINKS; i++) {
		sycl_event next = after_all(on, &last, 1);
		MUST(sycl_event_release(last));
		last = next;
	}
	uint32_t count = 0;
	MUST(sycl_event_get_wait_list(last, 0, NULL, &count));
	cr_assert(eq(u32, count, 1));
	gate_open(&gate);
	MUST(sycl_event_wait_for(last, LONG_NS));
	MUST(sycl_event_release(last));
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(helped));
}

static void *open_later(void *context)
{
	struct gate *gate = context;
	gate_await(gate, 1);
	gate_open(gate);
	return NULL;
}

Test(events, H3_H4_H5_H6_H7_times_wait_until_they_are_known)
{
	sycl_platform helped = portable_open(1);
	sycl_queue on = portable_queue(helped, 0, SYCL_QUEUE_ENABLE_PROFILING),
		   without = portable_queue(helped, 0, 0);
	sycl_kernel increment = portable_kernel(on, "increment_u32");
	sycl_buffer buffer = words_buffer(helped, 0);
	struct gate gate = GATE_INIT;
	sycl_event first = NULL, second = NULL, timeless = NULL;
	uint64_t times[2][3], again = 0;
	run_task(on, gate_task, &gate, buffer, SYCL_ACCESS_READ_WRITE, NULL, &first);
	run_increment(on, increment, buffer, &second);
	MUST(sycl_queue_barrier(without, &timeless));
	REFUSED(sycl_event_get_profiling(timeless, SYCL_PROFILING_SUBMIT, &times[0][0]),
		SYCL_ERROR_INVALID);
	MUST(sycl_event_get_profiling(second, SYCL_PROFILING_SUBMIT,
				      &times[1][0])); /* at once, behind the gate */
	pthread_t opener;
	cr_assert(eq(int, pthread_create(&opener, NULL, open_later, &gate), 0));
	MUST(sycl_event_get_profiling(second, SYCL_PROFILING_START,
				      &times[1][1])); /* waits for the gate */
	cr_assert(gate.open);
	MUST(sycl_event_get_profiling(second, SYCL_PROFILING_END, &times[1][2]));
	sycl_command_status status = SYCL_COMMAND_SUBMITTED;
	MUST(sycl_event_get_status(second, &status));
	cr_assert(eq(int, (int)status, SYCL_COMMAND_COMPLETE));
	for (int what = 0; what < 3; what++)
		MUST(sycl_event_get_profiling(first, (sycl_profiling)what, &times[0][what]));
	/* The queue got the second group while the gate was shut, and the first one ended after
	 * that. So this is not the time of the start. */
	MUST(sycl_event_get_profiling(second, SYCL_PROFILING_SUBMIT, &again));
	cr_assert(lt(u64, again, times[0][2]),
		  "the queue had the second before the first had ended");
	cr_assert(eq(u64, again, times[1][0]), "and says the same as before it ran");
	for (int i = 0; i < 2; i++) {
		cr_assert(le(u64, times[i][0], times[i][1]));
		cr_assert(le(u64, times[i][1], times[i][2]));
	}
	cr_assert(le(u64, times[0][0], times[1][0]), "submitted before");
	cr_assert(le(u64, times[0][2], times[1][1]), "the second began after the first had ended");
	(void)pthread_join(opener, NULL);
	MUST(sycl_event_release(first));
	MUST(sycl_event_release(second));
	MUST(sycl_event_release(timeless));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_queue_release(on));
	MUST(sycl_queue_release(without));
	MUST(sycl_platform_release(helped));
}

/* A kernel behind a gate is submitted until the gate opens. From then on its status only advances,
 * up to complete. */
Test(events, H9_the_status_of_a_kernel_only_goes_forward)
{
	sycl_platform helped = portable_open(1);
	sycl_queue on = portable_queue(helped, 0, 0);
	sycl_kernel increment = portable_kernel(on, "increment_u32");
	sycl_buffer buffer = words_buffer(helped, 0);
	sycl_command_status before = SYCL_COMMAND_COMPLETE, now = SYCL_COMMAND_SUBMITTED;
	struct gate gate = GATE_INIT;
	sycl_event event = NULL;
	run_task(on, gate_task, &gate, buffer, SYCL_ACCESS_READ_WRITE, NULL, NULL);
	gate_await(&gate, 1);
	run_increment(on, increment, buffer, &event);
	MUST(sycl_event_get_status(event, &before));
	cr_assert(eq(int, (int)before, SYCL_COMMAND_SUBMITTED));
	gate_open(&gate);
	while (now != SYCL_COMMAND_COMPLETE) { /* the test's time limit ends it otherwise */
		MUST(sycl_event_get_status(event, &now));
		cr_assert(ge(int, (int)now, (int)before));
		before = now;
	}
	cr_assert(words_are(buffer, 1));
	MUST(sycl_event_get_status(event, &now));
	cr_assert(eq(int, (int)now, SYCL_COMMAND_COMPLETE));
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(helped));
}

struct waiting {
	sycl_event event;
	_Atomic uint32_t begun, opened;
	uint32_t opened_before_the_end;
};

static void *wait_for_kernel(void *context)
{
	struct waiting *waiting = context;
	atomic_store(&waiting->begun, 1);
	MUST(sycl_event_wait(waiting->event));
	waiting->opened_before_the_end = atomic_load(&waiting->opened);
	return NULL;
}

/* A thread waits for a kernel behind a gate. Before the gate opens, many groups that do not wait
 * there are submitted and end. */
Test(events, B18_waiting_for_a_kernel_ends_with_the_kernel)
{
	sycl_platform helped = portable_open(1);
	sycl_queue on = portable_queue(helped, 0, 0), free_one = portable_queue(helped, 1, 0);
	sycl_kernel increment = portable_kernel(on, "increment_u32"),
		    beside = portable_kernel(free_one, "increment_u32");
	sycl_buffer buffer = words_buffer(helped, 0), other = words_buffer(helped, 0);
	struct gate gate = GATE_INIT;
	struct waiting waiting = {.begun = 0};
	pthread_t waiter;
	run_task(on, gate_task, &gate, buffer, SYCL_ACCESS_READ_WRITE, NULL, NULL);
	gate_await(&gate, 1);
	run_increment(on, increment, buffer, &waiting.event);
	cr_assert(eq(int, pthread_create(&waiter, NULL, wait_for_kernel, &waiting), 0));
	for (uint32_t i = 0; i < 100 || !atomic_load(&waiting.begun); i++) {
		sycl_event event = NULL;
		run_increment(free_one, beside, other, &event);
		MUST(sycl_event_wait(event));
		MUST(sycl_event_release(event));
	}
	REFUSED(sycl_event_wait_for(waiting.event, SHORT_NS), SYCL_ERROR_TIMEOUT);
	atomic_store(&waiting.opened, 1);
	gate_open(&gate);
	(void)pthread_join(waiter, NULL);
	cr_assert(eq(u32, waiting.opened_before_the_end, 1));
	cr_assert(words_are(buffer, 1));
	MUST(sycl_event_release(waiting.event));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(other));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_kernel_release(beside));
	MUST(sycl_queue_release(on));
	MUST(sycl_queue_release(free_one));
	MUST(sycl_platform_release(helped));
}

/* All queues and devices have one time base: a group that was submitted later has the later
 * time. */
Test(events, H4_H3_times_of_ten_thousand_events_of_two_queues)
{
	enum { EVENTS = 10000 };
	static sycl_event events[EVENTS];
	sycl_queue queues[2] = {
		queue,
		portable_queue(platform, 1, SYCL_QUEUE_ENABLE_PROFILING | SYCL_QUEUE_IN_ORDER)};
	sycl_buffer buffers[2] = {words_buffer(platform, 0), words_buffer(platform, 0)};
	uint64_t before = 0;
	for (int i = 0; i < EVENTS; i++)
		MUST(sycl_queue_fill(queues[i % 2], buffers[i % 2], 0, 4, "x", 1, &events[i]));
	for (int i = 0; i < EVENTS; i++) {
		uint64_t times[3];
		for (int what = 2; what >= 0; what--)
			MUST(sycl_event_get_profiling(events[i], (sycl_profiling)what,
						      &times[what]));
		cr_assert(le(u64, times[0], times[1]));
		cr_assert(le(u64, times[1], times[2]));
		cr_assert(le(u64, before, times[0]), "event %d was submitted before the one before",
			  i);
		before = times[0];
		MUST(sycl_event_release(events[i]));
	}
	MUST(sycl_buffer_release(buffers[0]));
	MUST(sycl_buffer_release(buffers[1]));
	MUST(sycl_queue_release(queues[1]));
}

#if SANITIZED
/* These functions belong to the sanitizer's own interface. Not every compiler has their header. */
size_t __sanitizer_get_current_allocated_bytes(void);

/* Freed memory stays in quarantine, so the test counts allocations. */
static uint64_t used_kib(void)
{
	return __sanitizer_get_current_allocated_bytes() / 1024;
}
#else
static uint64_t used_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0, resident = 0;
	cr_assert(ne(ptr, file, NULL));
	cr_assert(eq(int, fscanf(file, "%lu %lu", &pages, &resident), 2));
	(void)fclose(file);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}
#endif

/* Makes `count` submissions, half of them with an event, and sometimes waits for one. */
static void events_submit_many(sycl_command_group group, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		sycl_event event = NULL;
		MUST(sycl_queue_submit_group(queue, group, i % 2 ? &event : NULL));
		if (i % 1024 == 1023)
			MUST(sycl_event_wait(event));
		if (event)
			MUST(sycl_event_release(event));
	}
	MUST(sycl_queue_wait(queue));
}

/* The engine is in this process, so its memory counts as well. With SYCLD_LONG ten million. */
Test(events, H13_N6_memory_does_not_grow_with_submissions, .timeout = 1800)
{
	uint32_t count = getenv("SYCLD_LONG") ? 10000000 : 100000;
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_handler handler = NULL;
	sycl_command_group group = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_fill(handler, buffer, 0, 4, "x", 1));
	MUST(sycl_handler_freeze(handler, &group));
	events_submit_many(group, 80000); /* what is kept for good is kept now: times of the latest
				      65,536 groups, for example */
	uint64_t before = used_kib();
	events_submit_many(group, count);
	amount_say(count, "submissions");
	uint64_t after = used_kib();
	/* 32 bytes of each of them would be more than this. */
	uint64_t most = before + (count / 32 > 4096 ? 8192 : count / 32);
	cr_assert(le(u64, after, most), "%lu KiB became %lu", (unsigned long)before,
		  (unsigned long)after);
	MUST(sycl_command_group_release(group));
	MUST(sycl_buffer_release(buffer));
}

/* Events hold neither queue nor buffer, and queues hold no events. In whatever order they are
 * released, nothing stays. */
Test(events, N2_N8_D15_any_order_of_release_leaves_nothing)
{
	for (int order = 0; order < 6; order++) {
		sycl_platform brief = portable_open(0);
		sycl_queue on = portable_queue(brief, 0, order % 2 ? SYCL_QUEUE_IN_ORDER : 0);
		sycl_buffer buffer = words_buffer(brief, 0);
		sycl_event first = NULL;
		MUST(sycl_queue_fill(on, buffer, 0, 4, "x", 1, &first));
		sycl_event second = after_all(on, &first, 1);
		uint32_t count = 0;
		MUST(sycl_platform_release(brief));
		MUST(sycl_event_get_reference_count(first, &count));
		cr_assert(eq(u32, count, 1));
		MUST(sycl_queue_get_reference_count(on, &count));
		cr_assert(eq(u32, count, 1));
		for (int step = 0; step < 3; step++) {
			int which = (order / 2 + (order % 2 ? 3 - step : step)) % 3;
			if (which == 0)
				MUST(sycl_queue_release(on));
			else if (which == 1)
				MUST(sycl_buffer_release(buffer));
			else {
				MUST(sycl_event_wait_for(second, LONG_NS));
				MUST(sycl_event_release(first));
				MUST(sycl_event_release(second));
			}
		}
	}
}
