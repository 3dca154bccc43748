/* Buffers and host accessors: waiting, writing back, what returns at once. */
#include "library/test.h"

#include <dirent.h>
#include <pthread.h>
#include <string.h>

TestSuite(client_buffers, .timeout = 60, .init = with_service, .fini = without_service);

static uint32_t host[N];

static sycl_buffer borrowed(void)
{
	sycl_buffer buffer = NULL;
	for (int i = 0; i < N; i++)
		host[i] = 1;
	MUST(sycl_buffer_create(platform, host, BYTES, SYCL_HOST_BORROWED, &buffer));
	return buffer;
}

static void *open_gate_zero(void *context)
{
	(void)context;
	fake_gate_open(0);
	return NULL;
}

Test(client_buffers, D9_D11_borrowed_memory_is_written_back_at_release)
{
	sycl_kernel fill = fake_kernel(queue, "fill_u32"), hold = fake_kernel(queue, "hold");
	sycl_buffer buffer = borrowed();
	submit_hold(queue, hold, 0, buffer, SYCL_ACCESS_READ_WRITE, NULL);
	submit_fill(queue, fill, buffer, 5, N, NULL);
	cr_assert(eq(int, sycl_buffer_release_for(buffer, SHORT_NS), SYCL_ERROR_TIMEOUT));
	uint64_t size = 0;
	MUST(sycl_buffer_get_size(buffer, &size)); /* still the caller's */
	cr_assert(eq(u64, size, BYTES));
	cr_assert(all_are(host, 1), "not written before it is complete");
	pthread_t thread;
	cr_assert(eq(int, pthread_create(&thread, NULL, open_gate_zero, NULL), 0));
	MUST(sycl_buffer_release(buffer));
	cr_assert(all_are(host, 5));
	(void)pthread_join(thread, NULL);
	cr_assert(eq(int, sycl_buffer_get_size(buffer, &size), SYCL_ERROR_INVALID_HANDLE));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(hold));
}

Test(client_buffers, D11_read_only_use_is_waited_for_and_copies_nothing_back)
{
	sycl_kernel hold = fake_kernel(queue, "hold");
	sycl_buffer buffer = borrowed();
	submit_hold(queue, hold, 0, buffer, SYCL_ACCESS_READ, NULL);
	for (int i = 0; i < N; i++)
		host[i] = 2; /* a write-back would undo this */
	cr_assert(eq(int, sycl_buffer_release_for(buffer, SHORT_NS), SYCL_ERROR_TIMEOUT));
	fake_gate_open(0);
	MUST(sycl_buffer_release_for(buffer, LONG_NS));
	cr_assert(all_are(host, 2));
	struct fake_counters counters;
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_assert(eq(u64, counters.reads, 0));
	MUST(sycl_kernel_release(hold));
}

Test(client_buffers, D9_D10_D14_what_is_not_written_back_returns_at_once)
{
	sycl_kernel hold = fake_kernel(queue, "hold"), fill = fake_kernel(queue, "fill_u32");
	uint32_t elsewhere[N];
	sycl_buffer none = NULL, constant = NULL, cancelled = NULL, nowhere = NULL,
		    unused = borrowed();
	MUST(sycl_buffer_create(platform, NULL, BYTES, SYCL_HOST_NONE, &none));
	MUST(sycl_buffer_create(platform, host, BYTES, SYCL_HOST_CONST, &constant));
	MUST(sycl_buffer_create(platform, host, BYTES, SYCL_HOST_BORROWED, &cancelled));
	MUST(sycl_buffer_create(platform, host, BYTES, SYCL_HOST_BORROWED, &nowhere));
	MUST(sycl_buffer_set_write_back(cancelled, 0));
	MUST(sycl_buffer_set_final_data(nowhere, elsewhere));
	MUST(sycl_buffer_set_final_data(nowhere, NULL));
	cr_assert(eq(int, sycl_buffer_set_write_back(none, 2), SYCL_ERROR_INVALID));
	sycl_buffer gated[] = {none, constant, cancelled, nowhere};
	for (int i = 0; i < 4; i++) {
		submit_hold(queue, hold, 0, gated[i], SYCL_ACCESS_READ_WRITE, NULL);
		submit_fill(queue, fill, gated[i], 9, N, NULL);
	}
	/* The gate is closed: a call that waited here would never return. */
	for (int i = 0; i < 4; i++)
		MUST(sycl_buffer_release(gated[i]));
	MUST(sycl_buffer_release(unused));
	fake_gate_open(0);
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	cr_assert(all_are(host, 1));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(hold));
}

Test(client_buffers, D14_final_data_goes_where_it_is_told)
{
	static uint32_t elsewhere[N], again[N];
	sycl_kernel fill = fake_kernel(queue, "fill_u32");
	sycl_buffer buffer = borrowed(), untouched = NULL;
	MUST(sycl_buffer_set_final_data(buffer, elsewhere));
	submit_fill(queue, fill, buffer, 6, N, NULL);
	MUST(sycl_buffer_release(buffer));
	cr_assert(all_are(elsewhere, 6));
	cr_assert(all_are(host, 1));
	MUST(sycl_buffer_create(platform, host, BYTES, SYCL_HOST_CONST, &untouched));
	MUST(sycl_buffer_set_final_data(untouched, again));
	MUST(sycl_buffer_release(untouched));
	cr_assert(all_are(again, 1), "in any case, though no device wrote it");
	MUST(sycl_kernel_release(fill));
}

Test(client_buffers, N1_the_last_reference_writes_back)
{
	sycl_kernel fill = fake_kernel(queue, "fill_u32");
	sycl_buffer buffer = borrowed();
	uint32_t count = 0;
	MUST(sycl_buffer_retain(buffer));
	submit_fill(queue, fill, buffer, 3, N, NULL);
	MUST(sycl_buffer_release(buffer));
	cr_assert(all_are(host, 1));
	MUST(sycl_buffer_get_reference_count(buffer, &count));
	cr_assert(eq(u32, count, 1));
	MUST(sycl_buffer_release(buffer));
	cr_assert(all_are(host, 3));
	MUST(sycl_kernel_release(fill));
}

Test(client_buffers, D1_D2_D3_D5_host_accessors_take_their_turn)
{
	sycl_kernel hold = fake_kernel(queue, "hold"), fill = fake_kernel(queue, "fill_u32");
	sycl_buffer buffer = borrowed(), other = NULL;
	MUST(sycl_buffer_create(platform, NULL, BYTES, SYCL_HOST_NONE, &other));
	sycl_host_accessor accessor = NULL, reader = NULL;
	submit_hold(queue, hold, 0, buffer, SYCL_ACCESS_READ_WRITE, NULL);
	/* A writer blocks both kinds; an unrelated buffer is not waited for. */
	cr_assert(eq(int,
		     sycl_host_accessor_create_for(buffer, SYCL_ACCESS_READ, SHORT_NS, &accessor),
		     SYCL_ERROR_TIMEOUT));
	cr_assert(eq(int,
		     sycl_host_accessor_create_for(buffer, SYCL_ACCESS_WRITE, SHORT_NS, &accessor),
		     SYCL_ERROR_TIMEOUT));
	MUST(sycl_host_accessor_create_for(other, SYCL_ACCESS_WRITE_NO_INIT, 0, &accessor));
	MUST(sycl_host_accessor_release(accessor));
	fake_gate_open(0);
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	/* A gated reader blocks only the writing one. */
	submit_hold(queue, hold, 1, buffer, SYCL_ACCESS_READ, NULL);
	MUST(sycl_host_accessor_create_for(buffer, SYCL_ACCESS_READ, LONG_NS, &accessor));
	MUST(sycl_host_accessor_create_for(buffer, SYCL_ACCESS_READ, LONG_NS, &reader));
	void *pointer = NULL;
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	cr_assert(ne(ptr, pointer, host));
	cr_assert(all_are(pointer, 1));
	sycl_host_accessor writer = NULL;
	cr_assert(
		eq(int,
		   sycl_host_accessor_create_for(buffer, SYCL_ACCESS_READ_WRITE, SHORT_NS, &writer),
		   SYCL_ERROR_TIMEOUT));
	cr_assert(eq(int,
		     sycl_host_accessor_create_for(buffer, SYCL_ACCESS_WRITE_NO_INIT, 0, &writer),
		     SYCL_ERROR_TIMEOUT));
	cr_assert(eq(ptr, writer, NULL));
	/* Groups may be submitted while it is held, and do not run. */
	sycl_event event = NULL;
	submit_fill(queue, fill, buffer, 8, N / 2,
		    &event); /* the data of an access that timed out are in the other half */
	fake_gate_open(1);
	cr_assert(eq(int, sycl_event_wait_for(event, SHORT_NS), SYCL_ERROR_TIMEOUT));
	MUST(sycl_host_accessor_release(accessor));
	cr_assert(eq(int, sycl_event_wait_for(event, SHORT_NS), SYCL_ERROR_TIMEOUT));
	MUST(sycl_host_accessor_release(reader));
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(buffer));
	for (int i = 0; i < N; i++)
		cr_assert(eq(u32, host[i], i < N / 2 ? 8 : 1));
	MUST(sycl_buffer_release(other));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(hold));
}

Test(client_buffers, D7_what_the_host_writes_is_seen_and_goes_back)
{
	sycl_kernel increment = fake_kernel(queue, "increment_u32");
	sycl_buffer buffer = borrowed();
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_WRITE, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	for (int i = 0; i < N; i++)
		((uint32_t *)pointer)[i] = 20;
	cr_assert(eq(int, sycl_buffer_release(buffer), SYCL_ERROR_INVALID),
		  "it is held, and would wait for itself");
	MUST(sycl_host_accessor_release(accessor));
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(N)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_buffer_release(buffer));
	cr_assert(all_are(host, 21));
	/* Only the host has written it. No device takes part, and the data are written back as
	 * well. */
	buffer = borrowed();
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ_WRITE, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	((uint32_t *)pointer)[N - 1] = 77;
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, host[N - 1], 77));
	MUST(sycl_kernel_release(increment));
}

Test(client_buffers, C16_C17_empty_buffers_work)
{
	sycl_kernel fill = fake_kernel(queue, "fill_u32");
	sycl_buffer empty = NULL;
	sycl_event event = NULL;
	void *pointer = NULL;
	MUST(sycl_buffer_create(platform, NULL, 0, SYCL_HOST_BORROWED, &empty));
	submit_fill(queue, fill, empty, 1, 0, &event);
	MUST(sycl_event_wait_for(event, LONG_NS));
	sycl_host_accessor accessor = NULL;
	MUST(sycl_host_accessor_create(empty, SYCL_ACCESS_READ_WRITE, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	cr_assert(ne(ptr, pointer, NULL));
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_queue_fill(queue, empty, 0, 0, "x", 1, NULL));
	MUST(sycl_queue_update_host(queue, empty, NULL));
	MUST(sycl_queue_wait(queue));
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(empty));
	MUST(sycl_kernel_release(fill));
}

Test(client_buffers, C7_a_part_without_contents_leaves_the_rest)
{
	sycl_kernel fill = fake_kernel(queue, "fill_u32");
	sycl_buffer buffer = borrowed();
	sycl_handler handler = NULL;
	uint32_t value = 9;
	MUST(sycl_handler_begin(queue, &handler));
	cr_assert(eq(
		int,
		sycl_handler_set_ranged_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE, 4, BYTES),
		SYCL_ERROR_INVALID));
	MUST(sycl_handler_set_ranged_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE_NO_INIT, 400,
					      40));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(10)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_buffer_release(buffer));
	for (int i = 0; i < N; i++)
		cr_assert(eq(u32, host[i], i >= 100 && i < 110 ? 9 : 1));
}

Test(client_buffers, shared_memory_grows_and_is_given_back)
{
	enum { COUNT = 24 };
	struct sycl_usage usage = SYCL_USAGE_INIT;
	sycl_buffer buffers[COUNT];
	for (uint64_t i = 0; i < COUNT; i++)
		MUST(sycl_buffer_create(platform, NULL, (i % 5 + 1) << 20, SYCL_HOST_NONE,
					&buffers[i]));
	MUST(sycl_platform_get_usage(platform, &usage));
	cr_assert(ge(u64, usage.arena_bytes, usage.buffer_bytes));
	for (int i = 0; i < COUNT; i++)
		MUST(sycl_buffer_release(buffers[i]));
	/* The memory is given back once the service reports that it is free. */
	do {
		sycl_buffer small = NULL;
		MUST(sycl_buffer_create(platform, NULL, 1, SYCL_HOST_NONE, &small));
		MUST(sycl_buffer_release(small));
		MUST(sycl_platform_get_usage(platform, &usage));
	} while (usage.arena_bytes > (64u << 20));
	cr_assert(le(u64, usage.buffer_bytes, 1));
}

/* A large buffer leaves memory for the next one. If that is larger, the kept memory does not count
 * against it. This test has no fixture. */
Test(client_buffers_limits, N1_shared_memory_that_rests_makes_room_for_more, .timeout = 60)
{
	struct session_limits limits;
	struct client_service small;
	struct sycl_usage usage = SYCL_USAGE_INIT;
	sycl_platform narrow = NULL;
	sycl_buffer buffer = NULL;
	session_limits_init(&limits);
	limits.arena_bytes = 256u << 20;
	client_service_start(&small, &limits);
	MUST(sycl_platform_open(small.endpoint, &narrow));
	for (uint64_t size = 100u << 20; size <= 250u << 20; size += 50u << 20) {
		MUST(sycl_buffer_create(narrow, NULL, size, SYCL_HOST_NONE, &buffer));
		MUST(sycl_buffer_release(buffer));
		do {
			MUST(sycl_platform_get_usage(narrow, &usage));
		} while (usage.buffer_bytes > 0);
	}
	MUST(sycl_platform_release(narrow));
	client_service_stop(&small);
}

static uint32_t count_descriptors(void)
{
	uint32_t count = 0;
	DIR *folder = opendir("/proc/self/fd");
	while (folder && readdir(folder))
		count++;
	if (folder)
		(void)closedir(folder);
	return count;
}

Test(client_buffers_limits, N1_an_engine_that_has_ended_leaves_no_descriptors, .timeout = 60)
{
	uint32_t first = 0;
	for (int i = 0; i < 3; i++) {
		struct client_service one;
		client_service_start(&one, NULL);
		client_service_stop(&one);
		if (i == 0)
			first = count_descriptors();
	}
	cr_assert(eq(u32, count_descriptors(), first));
}

Test(client_buffers, wrong_buffers_are_refused)
{
	sycl_buffer buffer = NULL;
	struct sycl_usage usage = SYCL_USAGE_INIT;
	cr_assert(eq(int, sycl_buffer_create(platform, host, 4, SYCL_HOST_NONE, &buffer),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_buffer_create(platform, NULL, 4, SYCL_HOST_CONST, &buffer),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_buffer_create(platform, host, 4, (sycl_host_memory)7, &buffer),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_buffer_create(platform, NULL, UINT64_MAX, SYCL_HOST_NONE, &buffer),
		     SYCL_ERROR_QUOTA));
	cr_assert(eq(int, sycl_buffer_create(platform, NULL, 1ull << 62, SYCL_HOST_NONE, &buffer),
		     SYCL_ERROR_QUOTA));
	cr_assert(eq(ptr, buffer, NULL));
	MUST(sycl_platform_get_usage(platform, &usage));
	cr_assert(eq(u64, usage.buffer_bytes, 0));
}
