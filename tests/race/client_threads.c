/*
 * One connection under many threads. There are shared and separate queues, events for which other
 * threads wait, and buffers that are made and released. There are also host accessors, unused
 * events, and an event loop beside. Every result is checked.
 */
#include "check.h"
#include "library/service.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ITEMS = 256, LOOP_MS = 20000 };

static sycl_platform platform;
static sycl_queue shared_queue, shared_in_order;
static sycl_kernel fill, increment;
static sycl_buffer shared_buffer;
static _Atomic long increments;
static _Atomic int running;
static int rounds = 150;

/* The same group in one call. It has the same shape, whichever thread sent it first. */
static void launch_increment(sycl_queue queue, sycl_buffer buffer, sycl_event *event_out)
{
	const struct sycl_launch_argument argument = {.kind = SYCL_LAUNCH_ACCESSOR,
						      .mode = SYCL_ACCESS_READ_WRITE,
						      .buffer = buffer,
						      .size_bytes = SYCL_REST_BYTES};
	struct sycl_launch launch = SYCL_LAUNCH_INIT;
	launch.kernel = increment;
	launch.global = sycl_range1(ITEMS);
	launch.arguments = &argument;
	launch.argument_count = 1;
	MUST(sycl_queue_launch(queue, &launch, event_out));
}

static void race_threads_submit_increment(sycl_queue queue, sycl_buffer buffer,
					  sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(ITEMS)));
	MUST(sycl_handler_submit(handler, event_out));
}

/* A buffer of this thread only: filled, incremented, read on the host, written back. */
static void own_buffer(sycl_queue queue, uint32_t value)
{
	uint32_t host[ITEMS] = {0};
	sycl_buffer buffer = NULL;
	sycl_event events[2];
	MUST(sycl_buffer_create(platform, host, sizeof(host), SYCL_HOST_BORROWED, &buffer));
	submit_fill(queue, fill, buffer, value, ITEMS, &events[0]);
	race_threads_submit_increment(shared_queue, buffer, &events[1]);
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ_WRITE, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	CHECK(((uint32_t *)pointer)[ITEMS - 1] == value + 1);
	((uint32_t *)pointer)[0] = 7;
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_event_wait_all(2, events, LONG_NS));
	MUST(sycl_event_release(events[0]));
	MUST(sycl_event_release(events[1]));
	race_threads_submit_increment(queue, buffer, NULL);
	MUST(sycl_buffer_release(buffer));
	CHECK(host[0] == 8 && host[1] == value + 2);
}

static void *run_thread_rounds(void *context)
{
	uint32_t number = (uint32_t)(uintptr_t)context;
	sycl_queue own = fake_queue(platform, number % 2 ? SYCL_QUEUE_IN_ORDER : 0);
	for (uint32_t i = 0; i < (uint32_t)rounds; i++) {
		own_buffer(number % 3 ? own : shared_in_order, number * 1000000 + i);
		sycl_event event = NULL;
		void (*submit)(sycl_queue, sycl_buffer, sycl_event *) =
			i % 3 ? race_threads_submit_increment : launch_increment;
		submit(i % 2 ? shared_queue : shared_in_order, shared_buffer,
		       i % 4 ? &event : NULL);
		atomic_fetch_add(&increments, 1);
		if (event && i % 3)
			MUST(sycl_event_wait(event));
		if (event)
			MUST(sycl_event_release(event));
		if (i % 16 == 0)
			MUST(sycl_queue_wait(shared_queue));
	}
	MUST(sycl_queue_wait(own));
	MUST(sycl_queue_release(own));
	atomic_fetch_sub(&running, 1);
	return NULL;
}

/* A thread with its own event loop, beside threads that wait. */
static void *loop(void *context)
{
	(void)context;
	int fd = -1;
	MUST(sycl_platform_get_fd(platform, &fd));
	while (atomic_load(&running) > 0) {
		sycl_event event = NULL;
		race_threads_submit_increment(shared_queue, shared_buffer, &event);
		atomic_fetch_add(&increments, 1);
		for (;;) {
			MUST(sycl_platform_prepare_read(platform));
			if (sycl_event_wait_for(event, 0) == SYCL_SUCCESS)
				break;
			struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
			CHECK(poll(&poll_fd, 1, LOOP_MS) == 1);
			MUST(sycl_platform_dispatch(platform));
		}
		MUST(sycl_platform_cancel_read(platform));
		MUST(sycl_event_release(event));
	}
	return NULL;
}

int main(void)
{
	static struct client_service service;
	pthread_t threads[THREADS + 1];
	if (getenv("SYCLD_LONG"))
		rounds *= 20;
	client_service_start(&service, NULL);
	MUST(sycl_platform_open(service.endpoint, &platform));
	shared_queue = fake_queue(platform, 0);
	shared_in_order = fake_queue(platform, SYCL_QUEUE_IN_ORDER);
	fill = fake_kernel(shared_queue, "fill_u32");
	increment = fake_kernel(shared_queue, "increment_u32");
	uint32_t zero = 0;
	MUST(sycl_buffer_create(platform, NULL, ITEMS * sizeof(uint32_t), SYCL_HOST_NONE,
				&shared_buffer));
	MUST(sycl_queue_fill(shared_queue, shared_buffer, 0, ITEMS * sizeof(uint32_t), &zero,
			     sizeof(zero), NULL));
	atomic_store(&running, THREADS);
	for (size_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, run_thread_rounds, (void *)(i + 1)) == 0);
	CHECK(pthread_create(&threads[THREADS], NULL, loop, NULL) == 0);
	for (int i = 0; i <= THREADS; i++)
		(void)pthread_join(threads[i], NULL);

	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(shared_buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	for (int i = 0; i < ITEMS; i++)
		CHECK(((const uint32_t *)pointer)[i] == (uint32_t)increments);
	MUST(sycl_host_accessor_release(accessor));
	/* Shapes with a thread's own buffers occur once; those with the shared buffer are
	 * repeated. */
	struct sycl_usage usage = SYCL_USAGE_INIT;
	MUST(sycl_platform_get_usage(platform, &usage));
	CHECK(usage.groups_resubmitted > (uint64_t)increments / 2);
	MUST(sycl_buffer_release(shared_buffer));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_queue_release(shared_queue));
	MUST(sycl_queue_release(shared_in_order));
	MUST(sycl_platform_release(platform));
	client_service_stop(&service);
	printf("%ld increments, all there\n", increments);
	return 0;
}
