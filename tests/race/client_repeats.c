/*
 * Threads send one launch repeatedly on shared queues, while another thread releases its buffer and
 * kernel. Either a launch is sent, or the handle is refused. The buffer counts the launches that
 * were sent.
 */
#include "check.h"
#include "library/service.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, ITEMS = 16, ROUNDS = 40, LAUNCHES = 20, IN_FLIGHT = 8 };

static sycl_platform platform;
static sycl_queue queues[2];
static _Atomic(sycl_kernel) increment;
static _Atomic(sycl_buffer) buffer;
static _Atomic bool is_over;
static _Atomic long sent;
static _Atomic long refused;

static sycl_result launch_increment(sycl_kernel kernel, sycl_buffer on, uint32_t i)
{
	const struct sycl_launch_argument argument = sycl_launch_buffer(on, SYCL_ACCESS_READ_WRITE);
	struct sycl_launch launch = SYCL_LAUNCH_INIT;
	sycl_event event = NULL;
	launch.kernel = kernel;
	launch.global = sycl_range1(ITEMS);
	launch.arguments = &argument;
	launch.argument_count = 1;
	sycl_result result = sycl_queue_launch(queues[i % 2], &launch, i % 5 ? NULL : &event);
	if (event)
		MUST(sycl_event_release(event));
	return result;
}

static void *launch_again(void *context)
{
	sycl_kernel kernel = NULL;
	sycl_buffer on = NULL;
	for (uint32_t i = (uint32_t)(uintptr_t)context; !atomic_load(&is_over); i++) {
		if (!on || i % IN_FLIGHT == 0) { /* otherwise they may have been released */
			kernel = atomic_load(&increment);
			on = atomic_load(&buffer);
		}
		sycl_result result = launch_increment(kernel, on, i);
		CHECK(result == SYCL_SUCCESS || result == SYCL_ERROR_INVALID_HANDLE);
		if (result)
			atomic_fetch_add(&refused, 1);
		else
			atomic_fetch_add(&sent, 1);
		if (i % IN_FLIGHT == 0) /* the engine is slower than three threads */
			MUST(sycl_queue_wait(queues[i / IN_FLIGHT % 2]));
	}
	return NULL;
}

static sycl_buffer race_repeats_make_buffer(void)
{
	static const uint32_t zero[ITEMS];
	sycl_buffer made = NULL;
	MUST(sycl_buffer_create(platform, (void *)(uintptr_t)zero, sizeof(zero), SYCL_HOST_CONST,
				&made));
	return made;
}

/*
 * Each word counts the launches that were sent while this was the buffer, and no others. A thread
 * may still send to it until the accessor waits, and adds a launch to `sent` only afterwards: so
 * `sent` is read last.
 */
static void look(sycl_buffer old, long uncounted)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(old, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	const uint32_t *words = pointer;
	CHECK(words[0] >= LAUNCHES && (long)words[0] <= atomic_load(&sent) + uncounted);
	for (int i = 1; i < ITEMS; i++)
		CHECK(words[i] == words[0]);
	MUST(sycl_host_accessor_release(accessor));
}

static void run_round(unsigned round)
{
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		CHECK(launch_increment(increment, buffer, i) == SYCL_SUCCESS);
		atomic_fetch_add(&sent, 1);
	}
	if (round % 2) {
		sycl_kernel old =
			atomic_exchange(&increment, fake_kernel(queues[0], "increment_u32"));
		MUST(sycl_kernel_release(old));
		return;
	}
	sycl_buffer old = atomic_exchange(&buffer, race_repeats_make_buffer());
	if (round % 4 == 0)
		look(old, THREADS);
	MUST(sycl_buffer_release(old));
}

int main(void)
{
	static struct client_service service;
	pthread_t threads[THREADS];
	client_service_start(&service, NULL);
	MUST(sycl_platform_open(service.endpoint, &platform));
	queues[0] = fake_queue(platform, SYCL_QUEUE_IN_ORDER);
	queues[1] = fake_queue(platform, 0);
	atomic_store(&increment, fake_kernel(queues[0], "increment_u32"));
	atomic_store(&buffer, race_repeats_make_buffer());
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, launch_again, (void *)i) == 0);
	for (unsigned round = 0; round < ROUNDS; round++)
		run_round(round);
	atomic_store(&is_over, true);
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	look(atomic_load(&buffer), 0);
	struct sycl_usage usage = SYCL_USAGE_INIT;
	MUST(sycl_platform_get_usage(platform, &usage));
	CHECK(usage.groups_submitted == (uint64_t)sent);
	CHECK(usage.groups_resubmitted > usage.groups_submitted / 2);
	MUST(sycl_buffer_release(atomic_load(&buffer)));
	MUST(sycl_kernel_release(atomic_load(&increment)));
	MUST(sycl_queue_release(queues[0]));
	MUST(sycl_queue_release(queues[1]));
	MUST(sycl_platform_release(platform));
	client_service_stop(&service);
	printf("%ld sent, %ld refused\n", sent, refused);
	return 0;
}
