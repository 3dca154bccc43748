/*
 * Host tasks under many threads. Any thread that waited for a function reads its writes to plain
 * memory (B33). Helper threads and waits run ready tasks, and several threads submit frozen groups.
 * Connections begin and end with host tasks in flight. There are asynchronous handlers. Data that
 * the library must order are not atomic. Every result is checked.
 */
#include "check.h"
#include "library/service.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4 };

static struct client_service service;
static int rounds = 200;

struct plain {
	uint32_t written, calls, ended;
	sycl_queue queue; /* a nested task goes there; NULL: none */
};

static sycl_result write_plain(sycl_host_task task, void *user_data)
{
	struct plain *plain = user_data;
	(void)task;
	plain->calls++;
	if (plain->queue) {
		struct plain inner = {0};
		sycl_handler handler = NULL;
		sycl_event event = NULL;
		MUST(sycl_handler_begin(plain->queue, &handler));
		MUST(sycl_handler_host_task(handler, write_plain, &inner, NULL));
		MUST(sycl_handler_submit(handler, &event));
		MUST(sycl_event_wait(event));
		MUST(sycl_event_release(event));
		CHECK(inner.written == 42 && inner.calls == 1);
	}
	plain->written = 42;
	return SYCL_SUCCESS;
}

static void end_plain(void *user_data)
{
	((struct plain *)user_data)->ended++;
}

static void one_round(sycl_queue queue, uint32_t i)
{
	struct plain plain = {.queue = i % 4 == 0 ? queue : NULL};
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_host_task(handler, write_plain, &plain, NULL));
	MUST(sycl_handler_submit(handler, &event));
	if (i % 2)
		MUST(sycl_event_wait(event));
	else
		MUST(sycl_event_wait_all(1, &event, LONG_NS));
	CHECK(plain.written == 42 && plain.calls == 1);
	MUST(sycl_event_release(event));
}

/* A host task increments this word of a buffer, which only its accessor orders. */
static sycl_result add_one(sycl_host_task task, void *user_data)
{
	void *pointer = NULL;
	(void)user_data;
	MUST(sycl_host_task_get_pointer(task, 0, &pointer));
	(*(uint32_t *)pointer)++;
	return SYCL_SUCCESS;
}

struct work {
	sycl_queue queue;
	sycl_command_group group;
	uint32_t submitted;
};

static void *run_task_rounds(void *context)
{
	struct work *mine = context;
	for (uint32_t i = 0; i < (uint32_t)rounds; i++) {
		one_round(mine->queue, i);
		MUST(sycl_queue_submit_group(mine->queue, mine->group, NULL));
		mine->submitted++;
	}
	return NULL;
}

static void many_threads(uint32_t helpers)
{
	sycl_platform platform = NULL;
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	options.helper_threads = helpers;
	MUST(sycl_platform_open_with(service.endpoint, &options, &platform));
	sycl_queue queue = fake_queue(platform, 0);
	sycl_buffer buffer = NULL;
	sycl_handler handler = NULL;
	struct work works[THREADS] = {{0}};
	pthread_t threads[THREADS];
	uint32_t zero = 0, total = 0;
	MUST(sycl_buffer_create(platform, &zero, sizeof(zero), SYCL_HOST_CONST, &buffer));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_host_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_host_task(handler, add_one, NULL, NULL));
	sycl_command_group group = NULL;
	MUST(sycl_handler_freeze(handler, &group));
	for (uint32_t i = 0; i < THREADS; i++) {
		works[i] = (struct work){.queue = queue, .group = group};
		CHECK(pthread_create(&threads[i], NULL, run_task_rounds, &works[i]) == 0);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		(void)pthread_join(threads[i], NULL);
		total += works[i].submitted;
	}
	MUST(sycl_queue_wait(queue));
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	CHECK(*(const uint32_t *)pointer == total);
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_command_group_release(group));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(queue));
	MUST(sycl_platform_release(platform));
}

/* Connections end with host tasks before their turn, or during one. */
static void *come_and_go(void *context)
{
	uint32_t helpers = (uint32_t)(uintptr_t)context % 2;
	for (int i = 0; i < rounds / 8; i++) {
		sycl_platform platform = NULL;
		struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
		options.helper_threads = helpers;
		MUST(sycl_platform_open_with(service.endpoint, &options, &platform));
		sycl_queue queue = fake_queue(platform, i % 2 ? SYCL_QUEUE_IN_ORDER : 0);
		struct plain *plains = calloc(8, sizeof(*plains));
		sycl_event last = NULL;
		for (int k = 0; k < 8; k++) {
			sycl_handler handler = NULL;
			MUST(sycl_handler_begin(queue, &handler));
			MUST(sycl_handler_host_task(handler, write_plain, &plains[k], end_plain));
			MUST(sycl_handler_submit(handler, k == 3 ? &last : NULL));
		}
		MUST(sycl_queue_release(queue));
		MUST(sycl_platform_release(platform));
		if (i % 3)
			MUST(sycl_event_wait(last));
		MUST(sycl_event_release(last));
		/* Without helper threads all of it has ended now; with them it runs until the last
		 * task has ended. */
		if (!helpers) {
			for (int k = 0; k < 8; k++)
				CHECK(plains[k].calls <= 1 && plains[k].ended == 1);
			free(plains);
		}
	}
	return NULL;
}

static void connections(void)
{
	pthread_t threads[THREADS];
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, come_and_go, (void *)(i * 2)) == 0);
	for (uint32_t i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
}

/* With helper threads the connection ends itself, on one of its own threads, when its last host
 * task has ended. */
struct count {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t calls, ended;
};

static sycl_result counted_call(sycl_host_task task, void *user_data)
{
	struct count *count = user_data;
	(void)task;
	(void)pthread_mutex_lock(&count->lock);
	count->calls++;
	(void)pthread_mutex_unlock(&count->lock);
	return SYCL_SUCCESS;
}

static void counted_end(void *user_data)
{
	struct count *count = user_data;
	(void)pthread_mutex_lock(&count->lock);
	count->ended++;
	(void)pthread_cond_broadcast(&count->changed);
	(void)pthread_mutex_unlock(&count->lock);
}

static void ends_by_itself(void)
{
	struct count count = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
	uint32_t sent = 0;
	for (int i = 0; i < rounds / 8; i++) {
		sycl_platform platform = NULL;
		struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
		options.helper_threads = 1 + (uint32_t)i % 3;
		MUST(sycl_platform_open_with(service.endpoint, &options, &platform));
		sycl_queue queue = fake_queue(platform, 0);
		for (int k = 0; k < 6; k++, sent++) {
			sycl_handler handler = NULL;
			MUST(sycl_handler_begin(queue, &handler));
			MUST(sycl_handler_host_task(handler, counted_call, &count, counted_end));
			MUST(sycl_handler_submit(handler, NULL));
		}
		MUST(sycl_queue_release(queue));
		MUST(sycl_platform_release(platform));
	}
	(void)pthread_mutex_lock(&count.lock);
	while (count.ended < sent)
		(void)pthread_cond_wait(&count.changed, &count.lock);
	CHECK(count.calls == sent);
	(void)pthread_mutex_unlock(&count.lock);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atoi(argv[1]);
	client_service_start(&service, NULL);
	many_threads(0);
	many_threads(3);
	connections();
	ends_by_itself();
	client_service_stop(&service);
	return 0;
}
