/* Host tasks: which thread calls them, when and how often, and what happens to their results (K1 -
 * K5, B30). */
#include "library/portable.h"

#include <poll.h>
#include <sched.h>
#include <string.h>

TestSuite(host_tasks, .timeout = 120, .init = portable_begin, .fini = portable_end);

/* Adds one to each word, and counts the words that differed from the first one. */
struct seen {
	uint32_t first, others;
	uint32_t calls;
};

static sycl_result record_words(sycl_host_task task, void *user_data)
{
	struct seen *seen = user_data;
	void *pointer = NULL;
	MUST(sycl_host_task_get_pointer(task, 0, &pointer));
	uint32_t *words = pointer;
	seen->calls++;
	seen->first = words[0];
	for (int i = 0; i < WORDS; i++) {
		seen->others += words[i] != seen->first;
		words[i]++;
	}
	return SYCL_SUCCESS;
}

Test(host_tasks, K1_K2_K4_it_runs_after_what_it_needs_and_before_what_needs_it)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	struct seen seen[3] = {{0}};
	sycl_event event = NULL;
	run_fill(queue, fill, buffer, 40, NULL);
	run_task(queue, record_words, &seen[0], buffer, SYCL_ACCESS_READ_WRITE, NULL, &event);
	run_increment(queue, increment, buffer, NULL);
	run_task(queue, record_words, &seen[1], buffer, SYCL_ACCESS_READ_WRITE, NULL, NULL);
	MUST(sycl_event_wait_for(event, LONG_NS));
	cr_assert(eq(u32, seen[0].calls, 1));
	cr_assert(eq(u32, seen[0].first, 40));
	cr_assert(words_are(buffer, 43));
	cr_assert(eq(u32, seen[1].first, 42));
	cr_assert(eq(u32, seen[0].others + seen[1].others, 0));
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
}

/* Both queues, where there are two devices on both of them. */
Test(host_tasks, K4_successors_on_other_queues_and_devices_wait)
{
	sycl_platform helped = portable_open(1);
	sycl_queue first = portable_queue(helped, 0, 0), second = portable_queue(helped, 1, 0);
	sycl_kernel increment = portable_kernel(second, "increment_u32");
	sycl_buffer buffer = words_buffer(helped, 5);
	struct gate gate = GATE_INIT;
	sycl_event event = NULL, after = NULL;
	run_task(first, gate_task, &gate, buffer, SYCL_ACCESS_READ, NULL, &event);
	run_increment(second, increment, buffer, &after);
	gate_await(&gate, 1);
	REFUSED(sycl_event_wait_for(after, SHORT_NS), SYCL_ERROR_TIMEOUT);
	REFUSED(sycl_event_wait_for(event, 0), SYCL_ERROR_TIMEOUT);
	gate_open(&gate);
	MUST(sycl_event_wait_for(after, LONG_NS));
	MUST(sycl_event_wait_for(event, 0));
	cr_assert(words_are(buffer, 6));
	MUST(sycl_event_release(event));
	MUST(sycl_event_release(after));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_queue_release(first));
	MUST(sycl_queue_release(second));
	MUST(sycl_platform_release(helped));
}

Test(host_tasks, B2_a_kernel_waits_for_a_gated_requisite)
{
	sycl_platform helped = portable_open(1);
	sycl_queue on = portable_queue(helped, 0, 0);
	sycl_kernel fill = portable_kernel(on, "fill_u32");
	sycl_buffer gated = words_buffer(helped, 0), free_one = words_buffer(helped, 0);
	struct gate gate = GATE_INIT;
	sycl_event stamped = NULL;
	run_task(on, gate_task, &gate, gated, SYCL_ACCESS_READ_WRITE, NULL, NULL);
	sycl_handler handler = NULL;
	uint32_t value = 9;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, free_one, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_require(handler, gated, SYCL_ACCESS_READ));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, &stamped));
	gate_await(&gate, 1);
	sycl_command_status status = SYCL_COMMAND_COMPLETE;
	MUST(sycl_event_get_status(stamped, &status));
	cr_assert(eq(int, (int)status, SYCL_COMMAND_SUBMITTED));
	REFUSED(sycl_event_wait_for(stamped, SHORT_NS), SYCL_ERROR_TIMEOUT);
	gate_open(&gate);
	MUST(sycl_event_wait_for(stamped, LONG_NS));
	cr_assert(words_are(free_one, 9));
	MUST(sycl_event_release(stamped));
	MUST(sycl_buffer_release(gated));
	MUST(sycl_buffer_release(free_one));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(helped));
}

/* A host task that queries its own event once the gate is open. */
struct curious {
	struct gate gate;
	sycl_event event;
	sycl_command_status status;
	uint64_t submit_ns, start_ns;
	sycl_result asked;
};

/* The task would wait for its own time, which does not exist yet. That is refused at once. */
static sycl_result query_own_event(sycl_host_task task, void *user_data)
{
	struct curious *curious = user_data;
	(void)gate_task(task, &curious->gate);
	curious->asked = sycl_event_get_status(curious->event, &curious->status);
	if (!curious->asked)
		curious->asked = sycl_event_get_profiling(curious->event, SYCL_PROFILING_SUBMIT,
							  &curious->submit_ns);
	if (!curious->asked)
		curious->asked = sycl_event_get_profiling(curious->event, SYCL_PROFILING_START,
							  &curious->start_ns);
	return SYCL_SUCCESS;
}

Test(host_tasks, K2_H9_H5_its_event_is_running_while_it_runs_and_complete_when_it_returns)
{
	sycl_platform helped = portable_open(1);
	sycl_queue on = portable_queue(helped, 0, SYCL_QUEUE_ENABLE_PROFILING);
	struct curious curious = {.gate = GATE_INIT, .status = SYCL_COMMAND_COMPLETE};
	sycl_command_status status = SYCL_COMMAND_RUNNING;
	uint64_t again_ns = 0, end_ns = 0;
	run_task(on, query_own_event, &curious, NULL, SYCL_ACCESS_READ, NULL, &curious.event);
	gate_open(&curious.gate);
	MUST(sycl_event_get_profiling(curious.event, SYCL_PROFILING_END, &end_ns)); /* waits */
	cr_assert(eq(int, curious.asked, 0), "its beginning is not known while it runs");
	cr_assert(eq(int, (int)curious.status, SYCL_COMMAND_RUNNING));
	cr_assert(le(u64, curious.submit_ns, curious.start_ns));
	MUST(sycl_event_get_status(curious.event, &status));
	cr_assert(eq(int, (int)status, SYCL_COMMAND_COMPLETE));
	MUST(sycl_event_get_profiling(curious.event, SYCL_PROFILING_START, &again_ns));
	cr_assert(eq(u64, again_ns, curious.start_ns),
		  "the same while it runs and when it has ended");
	cr_assert(le(u64, again_ns, end_ns));
	MUST(sycl_event_release(curious.event));
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(helped));
}

static sycl_result refuse_with_words(sycl_host_task task, void *user_data)
{
	(void)task;
	sycl_queue none = NULL;
	(void)user_data;
	return sycl_queue_wait(none); /* the thread's last failure is the text of this one */
}

static sycl_result refuse(sycl_host_task task, void *user_data)
{
	(void)task;
	return *(const sycl_result *)user_data;
}

Test(host_tasks, K3_M9_a_failure_is_an_asynchronous_error_and_goes_to_what_depends_on_it)
{
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_event failed = NULL, after = NULL;
	run_task(queue, refuse_with_words, NULL, buffer, SYCL_ACCESS_READ_WRITE, NULL, &failed);
	run_increment(queue, increment, buffer, &after);
	REFUSED(sycl_event_wait_for(after, LONG_NS), SYCL_ERROR_DEPENDENCY_FAILED);
	REFUSED(sycl_event_wait_for(failed, LONG_NS), SYCL_ERROR_INVALID_HANDLE);
	cr_assert(ne(ptr, strstr(sycl_get_last_error_text(), "queue"), NULL), "%s",
		  sycl_get_last_error_text());
	MUST(sycl_event_release(failed));
	MUST(sycl_event_release(after));
	/* A positive number is a failure as well. A number that is no code becomes RUNTIME. */
	const sycl_result returned[] = {SYCL_ERROR_ACCESSOR, 7, -1000000},
			  codes[] = {SYCL_ERROR_ACCESSOR, -1, -1};
	for (int i = 0; i < 3; i++) {
		sycl_result code = returned[i];
		run_task(queue, refuse, &code, NULL, SYCL_ACCESS_READ, NULL, &failed);
		REFUSED(sycl_event_wait_for(failed, LONG_NS), codes[i]);
		MUST(sycl_event_release(failed));
	}
	MUST(sycl_queue_wait(queue));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
}

static void keep_count(uint32_t count, const struct sycl_async_error *errors, void *user_data)
{
	cr_assert(eq(int, errors[0].result, SYCL_ERROR_RUNTIME));
	*(uint32_t *)user_data += count;
}

Test(host_tasks, K3_M2_the_list_has_one_error_of_it)
{
	sycl_result code = SYCL_ERROR_RUNTIME;
	uint32_t count = 0;
	sycl_event event = NULL, all = NULL;
	run_task(queue, refuse, &code, NULL, SYCL_ACCESS_READ, NULL, &event);
	MUST(sycl_queue_barrier(queue, &all));
	MUST(sycl_event_wait_for(all, LONG_NS));
	MUST(sycl_queue_throw_asynchronous(queue, keep_count, &count));
	cr_assert(eq(u32, count, 1));
	MUST(sycl_queue_throw_asynchronous(queue, keep_count, &count));
	cr_assert(eq(u32, count, 1));
	MUST(sycl_event_release(event));
	MUST(sycl_event_release(all));
}

/* Each waits for the next one, which waits for the one after it, and so on. */
struct link {
	sycl_queue queue;
	uint32_t depth;
	_Atomic uint32_t *reached;
};

static sycl_result descend(sycl_host_task task, void *user_data)
{
	(void)task;
	const struct link *here = user_data;
	if (here->depth == 0) {
		atomic_fetch_add(here->reached, 1);
		return SYCL_SUCCESS;
	}
	struct link next = {here->queue, here->depth - 1, here->reached};
	sycl_event event = NULL;
	run_task(here->queue, descend, &next, NULL, SYCL_ACCESS_READ, NULL, &event);
	sycl_result result = sycl_event_wait(event);
	MUST(sycl_event_release(event));
	return result;
}

Test(host_tasks, B30_one_thread_is_enough_for_tasks_that_wait_for_each_other)
{
	_Atomic uint32_t reached = 0;
	sycl_event event = NULL;
	struct link top = {queue, 40, &reached};
	run_task(queue, descend, &top, NULL, SYCL_ACCESS_READ, NULL, &event);
	MUST(sycl_event_wait(event));
	cr_assert(eq(u32, reached, 1));
	MUST(sycl_event_release(event));
	/* And with a pool of one thread. */
	sycl_platform helped = portable_open(1);
	top.queue = portable_queue(helped, 0, 0);
	run_task(top.queue, descend, &top, NULL, SYCL_ACCESS_READ, NULL, &event);
	MUST(sycl_event_wait(event));
	cr_assert(eq(u32, reached, 2));
	MUST(sycl_event_release(event));
	MUST(sycl_queue_release(top.queue));
	MUST(sycl_platform_release(helped));
}

Test(host_tasks, B30_every_wait_runs_them)
{
	_Atomic uint32_t count = 0;
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	uint32_t host[WORDS] = {0};
	sycl_buffer buffer = NULL;
	sycl_event event = NULL;
	MUST(sycl_buffer_create(platform, host, sizeof(host), SYCL_HOST_BORROWED, &buffer));
	run_task(queue, count_task, &count, NULL, SYCL_ACCESS_READ, NULL, NULL);
	MUST(sycl_queue_wait(queue));
	cr_assert(eq(u32, count, 1));
	run_task(queue, count_task, &count, NULL, SYCL_ACCESS_READ, NULL, &event);
	MUST(sycl_event_wait_all(1, &event, LONG_NS));
	cr_assert(eq(u32, count, 2));
	MUST(sycl_event_release(event));
	run_task(queue, count_task, &count, NULL, SYCL_ACCESS_READ, NULL, &event);
	REFUSED(sycl_event_wait_for(event, 0), SYCL_ERROR_TIMEOUT);
	cr_assert(eq(u32, count, 2), "a look runs nothing");
	while (sycl_event_wait_for(event, 1) == SYCL_ERROR_TIMEOUT) {
	}
	cr_assert(eq(u32, count, 3), "the shortest wait does");
	MUST(sycl_event_release(event));
	run_task(queue, count_task, &count, buffer, SYCL_ACCESS_READ, NULL, NULL);
	run_increment(queue, increment, buffer, NULL);
	cr_assert(words_are(buffer, 1)); /* a host accessor */
	cr_assert(eq(u32, count, 4));
	run_task(queue, count_task, &count, buffer, SYCL_ACCESS_READ_WRITE, NULL, NULL);
	MUST(sycl_buffer_release(buffer)); /* writes back */
	cr_assert(eq(u32, count, 5));
	cr_assert(eq(u32, host[WORDS - 1], 1));
	MUST(sycl_kernel_release(increment));
}

Test(host_tasks, K5_a_slow_one_delays_nobody_elses)
{
	sycl_platform slow = portable_open(2);
	sycl_queue on = portable_queue(slow, 0, 0);
	sycl_kernel own = portable_kernel(on, "increment_u32"),
		    others = portable_kernel(queue, "increment_u32");
	sycl_buffer one = words_buffer(slow, 0), two = words_buffer(platform, 0);
	struct gate gate = GATE_INIT;
	_Atomic uint32_t count = 0;
	sycl_event chain = NULL;
	run_task(on, gate_task, &gate, NULL, SYCL_ACCESS_READ, NULL, NULL);
	gate_await(&gate, 1);
	/* Other chains of this client, with host tasks in them, and another client's chains. */
	for (int i = 0; i < 10; i++) {
		run_increment(on, own, one, NULL);
		run_task(on, count_task, &count, one, SYCL_ACCESS_READ_WRITE, NULL,
			 i == 9 ? &chain : NULL);
		run_increment(queue, others, two, NULL);
		run_task(queue, count_task, &count, two, SYCL_ACCESS_READ_WRITE, NULL, NULL);
	}
	MUST(sycl_event_wait_for(chain, LONG_NS));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	cr_assert(eq(u32, count, 20));
	cr_assert(words_are(one, 10));
	cr_assert(words_are(two, 10));
	gate_open(&gate);
	MUST(sycl_queue_wait_for(on, LONG_NS));
	MUST(sycl_event_release(chain));
	MUST(sycl_buffer_release(one));
	MUST(sycl_buffer_release(two));
	MUST(sycl_kernel_release(own));
	MUST(sycl_kernel_release(others));
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(slow));
}

static void host_tasks_count_end(void *user_data)
{
	atomic_fetch_add((_Atomic uint32_t *)user_data, 1);
}

struct life {
	_Atomic uint32_t ended, calls; /* `ended` comes first: host_tasks_count_end increments it */
	sycl_result result;
};

static sycl_result live(sycl_host_task task, void *user_data)
{
	(void)task;
	struct life *life = user_data;
	cr_assert(eq(u32, life->ended, 0), "its data is gone already");
	atomic_fetch_add(&life->calls, 1);
	return life->result;
}

static void run_life(sycl_queue on, struct life *life, sycl_event after, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	if (after)
		MUST(sycl_handler_depends_on(handler, after));
	MUST(sycl_handler_host_task(handler, live, life, host_tasks_count_end));
	MUST(sycl_handler_submit(handler, event_out));
}

Test(host_tasks, K1_called_once_or_never_and_its_data_ends_once)
{
	struct life good = {0}, bad = {.result = SYCL_ERROR_RUNTIME}, never = {0}, discarded = {0},
		    unsent = {0}, again = {0};
	sycl_event failed = NULL, late = NULL;
	run_life(queue, &good, NULL, NULL);
	run_life(queue, &bad, NULL, &failed);
	run_life(queue, &never, failed, &late);
	REFUSED(sycl_event_wait_for(late, LONG_NS), SYCL_ERROR_DEPENDENCY_FAILED);
	REFUSED(sycl_event_wait_for(failed, LONG_NS), SYCL_ERROR_RUNTIME);
	MUST(sycl_queue_wait(queue));
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_host_task(handler, live, &discarded, host_tasks_count_end));
	REFUSED(sycl_handler_host_task(handler, live, &good, host_tasks_count_end),
		SYCL_ERROR_INVALID);
	MUST(sycl_handler_discard(handler));
	MUST(sycl_handler_begin(queue, &handler));
	uint32_t value = 0;
	MUST(sycl_handler_set_value(handler, 0, sizeof(value), &value));
	MUST(sycl_handler_host_task(handler, live, &unsent, host_tasks_count_end));
	REFUSED(sycl_handler_submit(handler, NULL), SYCL_ERROR_KERNEL_ARGUMENT);
	MUST(sycl_event_release(failed));
	MUST(sycl_event_release(late));
	/* A wait reports a task that failed before its turn like any other failed task. */
	run_life(queue, &again, NULL, &late);
	MUST(sycl_event_wait(late));
	MUST(sycl_event_release(late));
	cr_assert(eq(u32, good.calls, 1));
	cr_assert(eq(u32, good.ended, 1));
	cr_assert(eq(u32, again.calls, 1));
	cr_assert(eq(u32, bad.calls, 1));
	cr_assert(eq(u32, never.calls + discarded.calls + unsent.calls, 0));
	cr_assert(eq(u32, bad.ended, 1));
	cr_assert(eq(u32, never.ended, 1));
	cr_assert(eq(u32, discarded.ended, 1));
	cr_assert(eq(u32, unsent.ended, 1));
}

Test(host_tasks, N1_D16_those_of_a_connection_without_handles_are_dropped_and_with_helpers_they_run)
{
	struct life dropped = {0}, kept = {0};
	sycl_platform brief = portable_open(0);
	sycl_queue on = portable_queue(brief, 0, 0);
	run_life(on, &dropped, NULL, NULL);
	MUST(sycl_queue_release(on));
	cr_assert(eq(u32, dropped.ended, 0));
	MUST(sycl_platform_release(brief));
	cr_assert(eq(u32, dropped.ended, 1));
	cr_assert(eq(u32, dropped.calls, 0));
	struct gate gate = GATE_INIT;
	brief = portable_open(1);
	on = portable_queue(brief, 0, SYCL_QUEUE_IN_ORDER);
	run_task(on, gate_task, &gate, NULL, SYCL_ACCESS_READ, NULL, NULL);
	run_life(on, &kept, NULL, NULL);
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(brief));
	cr_assert(eq(u32, kept.ended, 0));
	gate_open(&gate);
	while (kept.ended == 0)
		(void)sched_yield();
	cr_assert(eq(u32, kept.calls, 1));
}

static sycl_result wait_for_own_queue(sycl_host_task task, void *user_data)
{
	(void)task;
	return sycl_queue_wait(*(sycl_queue *)user_data);
}

static sycl_result wait_for_own_event(sycl_host_task task, void *user_data)
{
	(void)task;
	return sycl_event_wait(*(sycl_event *)user_data);
}

Test(host_tasks, B30_a_task_that_would_wait_for_itself_is_told_so)
{
	sycl_event event = NULL;
	run_task(queue, wait_for_own_queue, &queue, NULL, SYCL_ACCESS_READ, NULL, &event);
	REFUSED(sycl_event_wait_for(event, LONG_NS), SYCL_ERROR_INVALID);
	MUST(sycl_event_release(event));
	run_task(queue, wait_for_own_event, &event, NULL, SYCL_ACCESS_READ, NULL, &event);
	REFUSED(sycl_event_wait_for(event, LONG_NS), SYCL_ERROR_INVALID);
	MUST(sycl_event_release(event));
}

static sycl_result query_wrong_pointers(sycl_host_task task, void *user_data)
{
	void *pointer = user_data;
	REFUSED(sycl_host_task_get_pointer(task, 1, &pointer), SYCL_ERROR_INVALID);
	REFUSED(sycl_host_task_get_pointer(task, 0, NULL), SYCL_ERROR_INVALID);
	REFUSED(sycl_host_task_get_pointer(NULL, 0, &pointer), SYCL_ERROR_INVALID_HANDLE);
	REFUSED(sycl_host_task_get_pointer((sycl_host_task)user_data, 0, &pointer),
		SYCL_ERROR_INVALID_HANDLE);
	cr_assert(eq(ptr, pointer, user_data));
	MUST(sycl_host_task_get_pointer(task, 0, &pointer));
	MUST(sycl_host_task_get_pointer(task, 7, &pointer));
	return ((const uint32_t *)pointer)[0] == 3 ? SYCL_SUCCESS : SYCL_ERROR_RUNTIME;
}

Test(host_tasks, K1_M12_pointers_are_of_this_thread_and_of_these_accessors)
{
	uint32_t words[WORDS] = {1, 2, 3};
	sycl_buffer buffer = NULL, empty = NULL;
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	void *pointer = NULL;
	MUST(sycl_buffer_create(platform, words, sizeof(words), SYCL_HOST_CONST, &buffer));
	MUST(sycl_buffer_create(platform, NULL, 0, SYCL_HOST_NONE, &empty));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_host_accessor(handler, 0, empty, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_ranged_host_accessor(handler, 7, buffer, SYCL_ACCESS_READ, 8, 4));
	REFUSED(sycl_handler_set_ranged_host_accessor(handler, 8, buffer, SYCL_ACCESS_READ, 8,
						      WORDS_BYTES),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_set_host_accessor(handler, 1024, buffer, SYCL_ACCESS_READ),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_set_host_accessor(handler, 8, buffer, (sycl_access_mode)9),
		SYCL_ERROR_INVALID);
	MUST(sycl_handler_host_task(handler, query_wrong_pointers, words, NULL));
	MUST(sycl_handler_submit(handler, &event));
	REFUSED(sycl_host_task_get_pointer((sycl_host_task)words, 0, &pointer),
		SYCL_ERROR_INVALID_HANDLE);
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_release(event));
	/* The accessors are those of host tasks, and one of the two sides writes. */
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_host_accessor(handler, 0, buffer, SYCL_ACCESS_READ));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(WORDS)));
	REFUSED(sycl_handler_submit(handler, NULL), SYCL_ERROR_KERNEL_ARGUMENT);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_host_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	REFUSED(sycl_handler_require(handler, buffer, SYCL_ACCESS_WRITE), SYCL_ERROR_INVALID);
	MUST(sycl_handler_require(handler, buffer, SYCL_ACCESS_READ));
	MUST(sycl_handler_discard(handler));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(empty));
}

struct plain {
	uint32_t words[64];
};

static sycl_result write_plain(sycl_host_task task, void *user_data)
{
	struct plain *plain = user_data;
	(void)task;
	for (uint32_t i = 0; i < 64; i++)
		plain->words[i] += i;
	return SYCL_SUCCESS;
}

/* This is plain memory. After any wait that reported the end, the function's writes are in it. */
Test(host_tasks, B33_what_happened_before_a_wait_ended_is_seen_after_it)
{
	sycl_platform helped = portable_open(2);
	sycl_queue on = portable_queue(helped, 0, 0);
	static struct plain plain;
	for (uint32_t round = 1; round <= 300; round++) {
		sycl_event event = NULL;
		run_task(on, write_plain, &plain, NULL, SYCL_ACCESS_READ, NULL, &event);
		if (round % 3 == 0)
			MUST(sycl_queue_wait(on));
		else if (round % 3 == 1)
			MUST(sycl_event_wait(event));
		else
			while (sycl_event_wait_for(event, 0) == SYCL_ERROR_TIMEOUT)
				(void)sched_yield();
		for (uint32_t i = 0; i < 64; i++)
			cr_assert(eq(u32, plain.words[i], i * round));
		MUST(sycl_event_release(event));
	}
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(helped));
}

/* The turn of an event loop, as described in platform.h: any pending work makes the descriptor
 * readable. */
Test(host_tasks, K1_B30_a_programs_own_event_loop_runs_them)
{
	_Atomic uint32_t count = 0;
	int fd = -1;
	MUST(sycl_platform_get_fd(platform, &fd));
	for (uint32_t i = 1; i <= 50; i++) {
		sycl_event event = NULL;
		run_task(queue, count_task, &count, NULL, SYCL_ACCESS_READ, NULL, &event);
		if (i % 2) { /* its turn comes before the loop polls; a round trip ensures it */
			struct sycl_usage usage = SYCL_USAGE_INIT;
			MUST(sycl_platform_get_usage(platform, &usage));
		}
		for (;;) {
			MUST(sycl_platform_prepare_read(platform));
			if (sycl_event_wait_for(event, 0) == SYCL_SUCCESS)
				break;
			struct pollfd look = {.fd = fd, .events = POLLIN};
			cr_assert(eq(int, poll(&look, 1, 60000), 1),
				  "nothing made the descriptor readable");
			MUST(sycl_platform_dispatch(platform));
		}
		MUST(sycl_platform_cancel_read(platform));
		cr_assert(eq(u32, count, i));
		MUST(sycl_event_release(event));
	}
}

Test(host_tasks, B16_K5_as_many_as_are_allowed_and_no_more)
{
	enum { MOST = 1024 };
	static struct life lives[MOST];
	for (int i = 0; i < MOST; i++)
		run_life(queue, &lives[i], NULL, NULL);
	struct life over = {0};
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_host_task(handler, live, &over, host_tasks_count_end));
	REFUSED(sycl_handler_submit(handler, NULL), SYCL_ERROR_QUOTA);
	cr_assert(eq(u32, over.ended, 1));
	MUST(sycl_queue_wait(queue));
	for (int i = 0; i < MOST; i++) {
		cr_assert(eq(u32, lives[i].calls, 1));
		cr_assert(eq(u32, lives[i].ended, 1));
	}
	run_life(queue, &over, NULL, NULL);
	over.ended = 0;
	MUST(sycl_queue_wait(queue));
	cr_assert(eq(u32, over.calls, 1));
}
