/* Errors that are found after submission, and the handlers that receive them (M1 - M5). */
#include "library/portable.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

TestSuite(async_errors, .timeout = 120, .init = portable_begin, .fini = portable_end);

struct received {
	uint32_t calls, errors;
	uint64_t groups[8];
	sycl_result codes[8];
};

static void listen(uint32_t count, const struct sycl_async_error *errors, void *user_data)
{
	struct received *received = user_data;
	received->calls++;
	for (uint32_t i = 0; i < count && received->errors < 8; i++) {
		cr_assert(ne(chr, errors[i].text[0], 0));
		received->groups[received->errors] = errors[i].group;
		received->codes[received->errors++] = errors[i].result;
	}
	MUST(sycl_platform_retain(platform)); /* the library may be called from here */
	MUST(sycl_platform_release(platform));
}

static sycl_queue queue_with(sycl_context context, sycl_async_handler *handler, void *user_data)
{
	sycl_device device = portable_device(platform, 0);
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.async_handler = handler;
	options.async_user_data = user_data;
	sycl_queue made = NULL;
	MUST(sycl_queue_create(context, device, &options, &made));
	MUST(sycl_device_release(device));
	return made;
}

static sycl_context context_with(sycl_async_handler *handler, void *user_data)
{
	sycl_device device = portable_device(platform, 0);
	struct sycl_context_options options = SYCL_CONTEXT_OPTIONS_INIT;
	options.async_handler = handler;
	options.async_user_data = user_data;
	sycl_context made = NULL;
	MUST(sycl_context_create_with(1, &device, &options, &made));
	MUST(sycl_device_release(device));
	return made;
}

static sycl_result async_fail_task(sycl_host_task task, void *user_data)
{
	(void)task;
	(void)user_data;
	return SYCL_ERROR_KERNEL;
}

static sycl_event run_failing(sycl_queue on)
{
	sycl_event event = NULL;
	run_task(on, async_fail_task, NULL, NULL, SYCL_ACCESS_READ, NULL, &event);
	return event;
}

/* Submits three groups that fail, the first, third and fifth of the queue, and waits for their
 * ends. */
static void three_failures(sycl_queue on)
{
	sycl_event all = NULL;
	_Atomic uint32_t count = 0;
	for (int i = 0; i < 3; i++) {
		run_task(on, async_fail_task, NULL, NULL, SYCL_ACCESS_READ, NULL, NULL);
		run_task(on, count_task, &count, NULL, SYCL_ACCESS_READ, NULL, NULL);
	}
	MUST(sycl_queue_barrier(on, &all));
	MUST(sycl_event_wait_for(all, LONG_NS));
	MUST(sycl_event_release(all));
	cr_assert(eq(u32, count, 3));
}

static void expect_three(const struct received *received)
{
	cr_assert(eq(u32, received->calls, 1));
	cr_assert(eq(u32, received->errors, 3));
	for (uint32_t i = 0; i < 3; i++) {
		cr_assert(eq(u64, received->groups[i], 2 * i + 1));
		cr_assert(eq(int, received->codes[i], SYCL_ERROR_KERNEL));
	}
}

Test(async_errors, M2_M3_wait_and_throw_tells_all_in_one_call_and_once)
{
	struct received received = {0};
	sycl_queue on = queue_with(NULL, listen, &received);
	three_failures(on);
	MUST(sycl_queue_wait(on)); /* only waits */
	cr_assert(eq(u32, received.calls, 0));
	MUST(sycl_queue_wait_and_throw(on));
	expect_three(&received);
	MUST(sycl_queue_wait_and_throw(on));
	MUST(sycl_queue_throw_asynchronous(on, NULL, NULL));
	cr_assert(eq(u32, received.calls, 1));
	MUST(sycl_queue_release(on));
	cr_assert(eq(u32, received.calls, 1));
}

Test(async_errors, M2_M3_throw_asynchronous_takes_any_handler)
{
	struct received own = {0}, given = {0};
	sycl_queue on = queue_with(NULL, listen, &own);
	three_failures(on);
	MUST(sycl_queue_throw_asynchronous(on, NULL, NULL));
	expect_three(&own);
	sycl_event event = run_failing(on);
	REFUSED(sycl_event_wait(event), SYCL_ERROR_KERNEL);
	MUST(sycl_queue_throw_asynchronous(on, listen, &given));
	cr_assert(eq(u32, given.errors, 1), "a wait for the event leaves it for the handler");
	cr_assert(eq(u32, own.calls, 1));
	MUST(sycl_event_release(event));
	MUST(sycl_queue_release(on));
}

Test(async_errors, M2_B32_an_event_throws_also_when_its_queue_is_gone)
{
	struct received received = {0};
	sycl_queue on = queue_with(NULL, listen, &received);
	sycl_event event = run_failing(on);
	MUST(sycl_event_wait_and_throw(event));
	cr_assert(eq(u32, received.errors, 1));
	MUST(sycl_event_wait_and_throw(event));
	cr_assert(eq(u32, received.calls, 1));
	REFUSED(sycl_event_wait(event), SYCL_ERROR_KERNEL);
	MUST(sycl_event_release(event));
	event = run_failing(on);
	MUST(sycl_queue_release(on)); /* it has not failed yet: no call has waited */
	cr_assert(eq(u32, received.calls, 1));
	MUST(sycl_event_wait_and_throw(event));
	cr_assert(eq(u32, received.errors, 2));
	cr_assert(eq(u64, received.groups[1], 2));
	MUST(sycl_event_release(event));
}

Test(async_errors, M2_destruction_tells_what_nobody_asked_for)
{
	struct received received = {0};
	sycl_queue on = queue_with(NULL, listen, &received);
	three_failures(on);
	MUST(sycl_queue_retain(on));
	MUST(sycl_queue_release(on));
	cr_assert(eq(u32, received.calls, 0), "there is one more reference");
	MUST(sycl_queue_release(on));
	expect_three(&received);
}

Test(async_errors, M2_what_fails_after_its_queue_is_gone_is_told_by_a_later_wait)
{
	struct received received = {0};
	sycl_queue on = queue_with(NULL, listen, &received);
	run_task(on, async_fail_task, NULL, NULL, SYCL_ACCESS_READ, NULL, NULL);
	MUST(sycl_queue_release(on));
	/* The engine releases the queue when its group has ended. Any later wait then delivers the
	 * errors. */
	while (received.calls == 0) {
		sycl_event turn = NULL;
		_Atomic uint32_t count = 0;
		run_task(queue, count_task, &count, NULL, SYCL_ACCESS_READ, NULL, &turn);
		MUST(sycl_event_wait_for(turn, LONG_NS));
		MUST(sycl_event_release(turn));
	}
	cr_assert(eq(u32, received.errors, 1));
}

Test(async_errors, M2_what_is_left_is_told_when_the_connection_closes)
{
	struct received received = {0};
	sycl_platform brief = portable_open(0);
	sycl_device device = portable_device(brief, 0);
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.async_handler = listen;
	options.async_user_data = &received;
	sycl_queue on = NULL;
	MUST(sycl_queue_create(NULL, device, &options, &on));
	MUST(sycl_device_release(device));
	/* None of its groups has failed when the queue is released. It fails with the group that it
	 * depends on, when a call waits. */
	sycl_queue first = portable_queue(brief, 0, 0);
	sycl_event cause = run_failing(first), event = NULL;
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_depends_on(handler, cause));
	MUST(sycl_handler_submit(handler, &event));
	MUST(sycl_queue_release(on));
	REFUSED(sycl_event_wait_for(event, LONG_NS), SYCL_ERROR_DEPENDENCY_FAILED);
	MUST(sycl_event_release(cause));
	MUST(sycl_queue_release(first));
	MUST(sycl_platform_release(brief));
	cr_assert(eq(u32, received.calls, 0));
	MUST(sycl_event_release(event)); /* the last handle */
	cr_assert(eq(u32, received.errors, 1));
	cr_assert(eq(int, received.codes[0], SYCL_ERROR_DEPENDENCY_FAILED));
}

Test(async_errors, M4_the_queues_handler_then_the_contexts)
{
	struct received of_queue = {0}, of_context = {0};
	sycl_context context = context_with(listen, &of_context);
	sycl_queue with = queue_with(context, listen, &of_queue),
		   without = queue_with(context, NULL, NULL);
	three_failures(with);
	MUST(sycl_queue_wait_and_throw(with));
	expect_three(&of_queue);
	cr_assert(eq(u32, of_context.calls, 0));
	three_failures(without);
	MUST(sycl_queue_wait_and_throw(without));
	expect_three(&of_context);
	cr_assert(eq(u32, of_queue.calls, 1));
	MUST(sycl_queue_release(with));
	MUST(sycl_queue_release(without));
	MUST(sycl_context_release(context));
}

/* Without any handler: the next wait returns it, nothing is printed, nothing aborts. */
Test(async_errors, M1_M4_M5_without_a_handler_the_next_wait_says_so_and_stderr_stays_empty)
{
	int kept = dup(STDERR_FILENO), caught = memfd_create("stderr", MFD_CLOEXEC);
	cr_assert(ge(int, dup2(caught, STDERR_FILENO), 0));
	sycl_queue on = queue_with(NULL, NULL, NULL);
	run_task(on, async_fail_task, NULL, NULL, SYCL_ACCESS_READ, NULL, NULL);
	sycl_event all = NULL;
	MUST(sycl_queue_barrier(on, &all));
	sycl_result waited = sycl_event_wait_for(all, LONG_NS);
	/* Unrelated calls report nothing of it. */
	sycl_buffer buffer = words_buffer(platform, 1);
	sycl_result unrelated = sycl_queue_wait(queue);
	sycl_result first = sycl_queue_wait_and_throw(on), second = sycl_queue_wait_and_throw(on);
	run_task(on, async_fail_task, NULL, NULL, SYCL_ACCESS_READ, NULL, NULL);
	sycl_result third = sycl_queue_wait(on);
	run_task(on, async_fail_task, NULL, NULL, SYCL_ACCESS_READ, NULL, NULL);
	MUST(sycl_queue_barrier(on, NULL));
	MUST(sycl_queue_release(on));
	(void)dup2(kept, STDERR_FILENO);
	(void)close(kept);
	cr_assert(eq(int, waited, SYCL_SUCCESS));
	cr_assert(eq(int, unrelated, SYCL_SUCCESS));
	cr_assert(eq(int, first, SYCL_ERROR_KERNEL));
	cr_assert(eq(int, second, SYCL_SUCCESS));
	cr_assert(eq(int, third, SYCL_ERROR_KERNEL));
	cr_assert(eq(long, (long)lseek(caught, 0, SEEK_END), 0), "something was printed");
	(void)close(caught);
	MUST(sycl_event_release(all));
	MUST(sycl_buffer_release(buffer));
}

Test(async_errors, M4_options_are_checked)
{
	sycl_device device = portable_device(platform, 0);
	struct sycl_context_options options = SYCL_CONTEXT_OPTIONS_INIT;
	sycl_context context = NULL;
	options.reserved = 1;
	REFUSED(sycl_context_create_with(1, &device, &options, &context), SYCL_ERROR_INVALID);
	options.reserved = 0;
	options.struct_bytes--;
	REFUSED(sycl_context_create_with(1, &device, &options, &context), SYCL_ERROR_INVALID);
	cr_assert(eq(ptr, context, NULL));
	MUST(sycl_context_create_with(1, &device, NULL, &context));
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(device));
	struct sycl_open_options open = SYCL_OPEN_OPTIONS_INIT;
	sycl_platform opened = NULL;
	open.helper_threads = 65;
	REFUSED(sycl_platform_open_with(portable_engine_endpoint(), &open, &opened),
		SYCL_ERROR_INVALID);
	cr_assert(eq(ptr, opened, NULL));
}

/* M9 down a chain, with the first cause. */
Test(async_errors, M9_a_chain_fails_with_the_first_cause_and_nothing_hangs)
{
	struct received received = {0};
	sycl_queue on = queue_with(NULL, listen, &received);
	sycl_kernel increment = portable_kernel(on, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_event first = NULL, second = NULL, third = NULL;
	run_task(on, async_fail_task, NULL, buffer, SYCL_ACCESS_READ_WRITE, NULL, &first);
	run_increment(on, increment, buffer, &second);
	run_increment(on, increment, buffer, &third);
	REFUSED(sycl_event_wait_for(third, LONG_NS), SYCL_ERROR_DEPENDENCY_FAILED);
	cr_assert(ne(ptr, strstr(sycl_get_last_error_text(), "KERNEL"), NULL), "%s",
		  sycl_get_last_error_text());
	REFUSED(sycl_event_wait_for(second, LONG_NS), SYCL_ERROR_DEPENDENCY_FAILED);
	REFUSED(sycl_event_wait_for(first, LONG_NS), SYCL_ERROR_KERNEL);
	MUST(sycl_queue_wait_and_throw(on));
	cr_assert(eq(u32, received.calls, 1));
	cr_assert(eq(u32, received.errors, 3));
	MUST(sycl_event_release(first));
	MUST(sycl_event_release(second));
	MUST(sycl_event_release(third));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_queue_release(on));
}
