/*
 * Buffers over much memory of the program, which is copied in parts. Pages that cannot be accessed
 * at first show when a part is copied.
 */
#include "library/own_pages.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(client_own_pages, .timeout = 120, .init = with_service, .fini = without_service);

Test(client_own_pages, D9_D11_contents_go_in_and_out_in_parts)
{
	struct fake_counters counters;
	own_pages_make();
	sycl_buffer buffer = own_pages_borrow(platform);
	own_pages_submit_increment(queue, buffer);
	own_pages_submit_increment(queue, buffer);
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, own_pages_first_wrong(own_host, 2), OWN_WORDS));
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_assert(eq(u64, counters.writes, OWN_PARTS));
	cr_assert(eq(u64, counters.reads, OWN_PARTS));
	cr_assert(eq(u64, counters.bytes_written, OWN_SIZE));
	cr_assert(eq(u64, counters.bytes_read, OWN_SIZE));
	own_pages_drop();
}

static bool first_part_was_there;

static void see_first_part(uint32_t part)
{
	(void)part;
	first_part_was_there = fake_wait_ended(FAKE_ANY_DEVICE, 1, LONG_NS);
}

Test(client_own_pages, the_device_has_one_part_before_the_last_one_is_read)
{
	struct fake_counters counters;
	own_pages_make();
	own_pages_guard(OWN_PARTS - 1, see_first_part);
	sycl_buffer buffer = own_pages_borrow(platform);
	cr_assert(eq(u32, own_touched, 0), "nobody wants it yet");
	own_pages_submit_increment(queue, buffer);
	cr_assert(eq(u32, own_touched, 1));
	cr_assert(first_part_was_there);
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, own_pages_first_wrong(own_host, 1), OWN_WORDS));
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_assert(eq(u64, counters.launches, 1));
	own_pages_drop();
}

static uint64_t reads_then;

static void count_reads(uint32_t part)
{
	struct fake_counters counters;
	fake_counters(FAKE_ANY_DEVICE, &counters);
	reads_then = counters.reads;
	(void)part;
}

/* A lane for each direction: moves run one after the other, and beside kernels. */
static void with_copy_lanes(void)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(
			i, (struct fake_device_options){.features = BACKEND_FEATURE_COPY_LANES});
	with_service();
}

TestSuite(client_own_pages_lanes, .timeout = 120, .init = with_copy_lanes, .fini = without_service);

Test(client_own_pages_lanes, D9_one_part_is_written_back_while_the_device_gives_others)
{
	bool seen = false;
	/* A process that gets no processor for that long reads nothing. That does not happen every
	 * time. */
	for (int i = 0; i < 20 && !seen; i++) {
		own_pages_make();
		sycl_buffer buffer = own_pages_borrow(platform);
		own_pages_submit_increment(queue, buffer);
		MUST(sycl_queue_wait_for(queue, LONG_NS));
		struct fake_counters before;
		fake_counters(FAKE_ANY_DEVICE, &before);
		fake_delay(0, 50000000);
		own_pages_guard(0, count_reads);
		MUST(sycl_buffer_release(buffer));
		fake_delay(0, 0);
		seen = reads_then - before.reads < OWN_PARTS;
		cr_assert(gt(u64, reads_then, before.reads));
		cr_assert(eq(u32, own_pages_first_wrong(own_host, 1), OWN_WORDS));
		own_pages_drop();
	}
	cr_assert(seen);
}

Test(client_own_pages_lanes, D9_parts_come_and_go_beside_a_kernel_of_another_group)
{
	sycl_kernel hold = fake_kernel(queue, "hold");
	sycl_queue other = fake_queue(platform, 0);
	own_pages_make();
	submit_hold(other, hold, 0, NULL, SYCL_ACCESS_READ, NULL);
	sycl_buffer buffer = own_pages_borrow(platform);
	own_pages_submit_increment(queue, buffer);
	MUST(sycl_buffer_release(buffer)); /* the gate is closed all the while */
	cr_assert(eq(u32, own_pages_first_wrong(own_host, 1), OWN_WORDS));
	cr_assert(eq(int, sycl_queue_wait_for(other, SHORT_NS), SYCL_ERROR_TIMEOUT));
	fake_gate_open(0);
	MUST(sycl_queue_wait_for(other, LONG_NS));
	MUST(sycl_queue_release(other));
	MUST(sycl_kernel_release(hold));
	own_pages_drop();
}

Test(client_own_pages, D1_a_host_accessor_sees_what_nobody_else_has_wanted)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	own_pages_make();
	sycl_buffer buffer = own_pages_borrow(platform);
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ_WRITE, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	cr_assert(eq(u32, own_pages_first_wrong(pointer, 0), OWN_WORDS));
	((uint32_t *)pointer)[OWN_WORDS - 1] = 7;
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, own_pages_first_wrong(own_host, 0), OWN_WORDS - 1));
	cr_assert(eq(u32, own_host[OWN_WORDS - 1], 7));
	own_pages_drop();
}

/* The memory belongs to the program again, so a later group must not read it. */
Test(client_own_pages, D14_D16_contents_outlive_the_memory_that_they_came_from)
{
	sycl_kernel copy = fake_kernel(queue, "copy_u32");
	sycl_handler handler = NULL;
	sycl_buffer result = NULL;
	uint32_t *words = calloc(OWN_WORDS, sizeof(*words));
	cr_assert(ne(ptr, words, NULL));
	own_pages_make();
	MUST(sycl_buffer_create(platform, words, OWN_SIZE, SYCL_HOST_BORROWED, &result));
	sycl_buffer buffer = own_pages_borrow(platform);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, result, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_accessor(handler, 1, buffer, SYCL_ACCESS_READ));
	MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(OWN_WORDS)));
	MUST(sycl_buffer_detach(buffer));
	own_pages_drop();
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_buffer_release(result));
	cr_assert(eq(u32, own_pages_first_wrong(words, 0), OWN_WORDS));
	free(words);
	MUST(sycl_kernel_release(copy));
}

Test(client_own_pages, D14_final_data_comes_from_an_unused_buffer)
{
	uint32_t *words = calloc(OWN_WORDS, sizeof(*words));
	cr_assert(ne(ptr, words, NULL));
	own_pages_make();
	sycl_buffer buffer = own_pages_borrow(platform);
	MUST(sycl_buffer_set_final_data(buffer, words));
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, own_pages_first_wrong(words, 0), OWN_WORDS));
	free(words);
	own_pages_drop();
}

Test(client_own_pages, D9_a_deadline_leaves_the_memory_as_it_is)
{
	sycl_kernel hold = fake_kernel(queue, "hold");
	own_pages_make();
	sycl_buffer buffer = own_pages_borrow(platform);
	own_pages_submit_increment(queue, buffer);
	submit_hold(queue, hold, 0, buffer, SYCL_ACCESS_READ_WRITE, NULL);
	cr_assert(eq(int, sycl_buffer_release_for(buffer, SHORT_NS), SYCL_ERROR_TIMEOUT));
	cr_assert(eq(u32, own_pages_first_wrong(own_host, 0), OWN_WORDS));
	fake_gate_open(0);
	MUST(sycl_buffer_release_for(buffer, LONG_NS));
	cr_assert(eq(u32, own_pages_first_wrong(own_host, 1), OWN_WORDS));
	MUST(sycl_kernel_release(hold));
	own_pages_drop();
}

/* The contents of the last part were lost. The first part has the device's results, as far as they
 * were computed. */
Test(client_own_pages, D17_M9_a_part_that_was_lost_keeps_the_others_from_being_written)
{
	sycl_kernel fail = fake_kernel(queue, "fail");
	sycl_handler handler = NULL;
	own_pages_make();
	sycl_buffer buffer = own_pages_borrow(platform), end = NULL;
	MUST(sycl_buffer_create_sub(buffer, 2 * OWN_PART, OWN_SIZE - 2 * OWN_PART, &end));
	own_pages_submit_increment(queue, buffer);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_require(handler, end, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_single_task(handler, fail));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_buffer_release(end));
	cr_assert(ne(int, sycl_buffer_release(buffer), SYCL_SUCCESS));
	cr_assert(eq(u32, own_pages_first_wrong(own_host, 0), OWN_WORDS));
	(void)sycl_queue_wait_for(queue, LONG_NS);
	MUST(sycl_kernel_release(fail));
	own_pages_drop();
}

static sycl_result submit_it(sycl_host_task task, void *user_data)
{
	(void)task;
	return sycl_handler_submit(user_data, NULL);
}

static void run_host_task(sycl_queue on, sycl_buffer requires, sycl_host_task_function *function,
			  void *user_data)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	if (requires)
		MUST(sycl_handler_require(handler, requires, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_host_task(handler, function, user_data, NULL));
	MUST(sycl_handler_submit(handler, NULL));
}

/* The group is begun before the release. A host task submits it while the release waits. */
Test(client_own_pages, D9_a_group_that_comes_while_the_release_waits_comes_after_it)
{
	sycl_kernel kernel = fake_kernel(queue, "increment_u32");
	sycl_handler late = NULL;
	own_pages_make();
	sycl_buffer buffer = own_pages_borrow(platform);
	own_pages_submit_increment(queue, buffer);
	MUST(sycl_handler_begin(queue, &late));
	MUST(sycl_handler_set_accessor(late, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(late, kernel, sycl_range1(OWN_WORDS)));
	run_host_task(queue, buffer, submit_it, late);
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, own_pages_first_wrong(own_host, 1), OWN_WORDS));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	MUST(sycl_kernel_release(kernel));
	own_pages_drop();
}

/* Without a fixture: a service with its own limits. */
Test(client_own_pages_limits, D9_without_room_for_parts_the_contents_come_first, .timeout = 120)
{
	struct session_limits limits;
	struct client_service small;
	sycl_platform narrow = NULL;
	session_limits_init(&limits);
	limits.groups_in_flight = 2;
	client_service_start(&small, &limits);
	MUST(sycl_platform_open(small.endpoint, &narrow));
	sycl_queue its = fake_queue(narrow, 0);
	own_pages_make();
	sycl_buffer buffer = own_pages_borrow(narrow);
	own_pages_submit_increment(its, buffer);
	MUST(sycl_queue_wait_for(its, LONG_NS));
	cr_assert(eq(u32, own_pages_first_wrong(own_host, 0), OWN_WORDS));
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, own_pages_first_wrong(own_host, 1), OWN_WORDS));
	MUST(sycl_queue_release(its));
	MUST(sycl_platform_release(narrow));
	client_service_stop(&small);
	own_pages_drop();
}

static uint32_t word_seen;
static int engine_away[2], task_begun[2]; /* pipes */

/* Runs on the engine's thread: waits until the host task has begun, or for a moment. */
static void be_away(int number)
{
	struct pollfd begun = {.fd = task_begun[0], .events = POLLIN};
	(void)number;
	if (write(engine_away[1], "", 1) == 1)
		(void)poll(&begun, 1, SHORT_NS / 1000000);
}

static void send_engine_away(pthread_t engine)
{
	char byte;
	cr_assert(eq(int, pipe(engine_away), 0));
	cr_assert(eq(int, pipe(task_begun), 0));
	(void)signal(SIGUSR2, be_away);
	cr_assert(eq(int, pthread_kill(engine, SIGUSR2), 0));
	cr_assert(eq(int, (int)read(engine_away[0], &byte, 1), 1));
}

static sycl_result read_first(sycl_host_task task, void *user_data)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	(void)task;
	cr_assert(eq(int, (int)write(task_begun[1], "", 1), 1));
	MUST(sycl_host_accessor_create(user_data, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	word_seen = *(uint32_t *)pointer;
	return sycl_host_accessor_release(accessor);
}

/* All earlier requests are answered, and no host task has run. */
static void let_the_service_answer(sycl_platform of)
{
	struct sycl_usage usage = SYCL_USAGE_INIT;
	for (int i = 0; i < 3; i++)
		MUST(sycl_platform_get_usage(of, &usage));
}

/* The session has room for two more objects, which is less than the parts. Meanwhile a host task
 * can run at any time. */
Test(client_own_pages_limits, D1_K1_a_host_task_may_use_a_buffer_whose_parts_find_no_room,
     .timeout = 60)
{
	enum { OBJECTS = 64 };
	struct session_limits limits;
	struct client_service small;
	sycl_platform narrow = NULL;
	sycl_buffer fillers[OBJECTS];
	uint32_t count = 0;
	session_limits_init(&limits);
	limits.objects = OBJECTS;
	client_service_start(&small, &limits);
	MUST(sycl_platform_open(small.endpoint, &narrow));
	sycl_queue its = fake_queue(narrow, 0);
	sycl_kernel kernel = fake_kernel(its, "increment_u32");
	own_pages_make();
	sycl_buffer buffer = own_pages_borrow(narrow);
	run_host_task(its, NULL, read_first, buffer);
	while (sycl_buffer_create(narrow, NULL, 4, SYCL_HOST_NONE, &fillers[count]) == SYCL_SUCCESS)
		count++;
	cr_assert(gt(u32, count, 2));
	for (int i = 0; i < 2; i++)
		MUST(sycl_buffer_release(fillers[--count]));
	let_the_service_answer(narrow);
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(its, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(OWN_WORDS)));
	send_engine_away(small.thread);
	MUST(sycl_handler_submit(handler, NULL));
	let_the_service_answer(narrow);
	MUST(sycl_queue_wait_for(its, LONG_NS));
	cr_assert(eq(u32, word_seen, 1));
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, own_pages_first_wrong(own_host, 1), OWN_WORDS));
	while (count > 0)
		MUST(sycl_buffer_release(fillers[--count]));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_queue_release(its));
	MUST(sycl_platform_release(narrow));
	client_service_stop(&small);
	own_pages_drop();
}

static int report = -1;

static void notify_and_stay(uint32_t part)
{
	(void)part;
	if (write(report, "", 1) != 1)
		_exit(1);
	for (;;)
		(void)pause();
}

/* This runs in a separate process: the engine has the first parts, and the last one never comes. */
static void be_killed(void)
{
	sycl_platform its_platform = NULL;
	MUST(sycl_platform_open(service.endpoint, &its_platform));
	sycl_queue its = fake_queue(its_platform, 0);
	own_pages_make();
	own_pages_guard(OWN_PARTS - 1, notify_and_stay);
	own_pages_submit_increment(its, own_pages_borrow(its_platform));
	_exit(1);
}

Test(client_own_pages, a_client_that_dies_between_two_parts_holds_up_no_other)
{
	int ends[2];
	char byte = 0;
	cr_assert(eq(int, pipe(ends), 0));
	pid_t child = fork();
	if (child == 0) {
		report = ends[1];
		be_killed();
	}
	(void)close(ends[1]);
	cr_assert(eq(int, (int)read(ends[0], &byte, 1), 1));
	cr_assert(eq(int, kill(child, SIGKILL), 0));
	cr_assert(eq(int, waitpid(child, NULL, 0), child));
	(void)close(ends[0]);
	own_pages_make();
	sycl_buffer buffer = own_pages_borrow(platform);
	own_pages_submit_increment(queue, buffer);
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, own_pages_first_wrong(own_host, 1), OWN_WORDS));
	own_pages_drop();
	/* without_service checks that the devices have no memory left of either. */
}
