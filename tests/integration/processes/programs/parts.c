/*
 * Two workers: one launches in parts when something ends in the middle, the other works beside it.
 * Both continue after a failure, because the test decides when they end.
 */
#include "processes/programs/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A fake device divides such a range into at most 32 parts. The buffer is larger, so that a missing
 * part is detected. */
enum { ITEMS = 65536, BUFFER_BYTES = 32 << 20, WORDS = 64, LINE_BYTES = 64 };

static const uint32_t known_ns = 2000000, long_ns = 4000000000u, short_ns = 100000;

static sycl_result launch_splittable(struct worker *worker, sycl_kernel kernel, sycl_buffer buffer,
				     uint32_t ns)
{
	sycl_handler h;
	worker_must(sycl_handler_begin(worker->queue, &h), "sycl_handler_begin");
	worker_must(sycl_handler_set_splittable(h), "sycl_handler_set_splittable");
	worker_must(sycl_handler_set_accessor(h, 0, buffer, SYCL_ACCESS_READ_WRITE), "accessor");
	worker_must(sycl_handler_set_value(h, 1, sizeof(ns), &ns), "value");
	worker_must(sycl_handler_parallel_for(h, kernel, sycl_range1(ITEMS)), "parallel_for");
	return sycl_handler_submit(h, NULL);
}

int worker_parts(struct worker *worker)
{
	uint32_t *words = calloc(1, BUFFER_BYTES);
	sycl_buffer buffer = NULL;
	if (!words)
		return 1;
	worker_connect_fake(worker, SYCL_QUEUE_IN_ORDER);
	sycl_kernel kernel = worker_kernel(worker, "take_increment_u32", "take_increment_u32");
	worker_must(
		sycl_buffer_create(worker->platform, words, BUFFER_BYTES, SYCL_HOST_CONST, &buffer),
		"sycl_buffer_create");
	/* The engine expects a long launch because launches like it took long. */
	worker_must(launch_splittable(worker, kernel, buffer, known_ns), "sycl_handler_submit");
	worker_must(sycl_queue_wait(worker->queue), "sycl_queue_wait");
	worker_say("ready");
	if (!worker_next_line())
		return 1;
	sycl_result r = 0;
	for (uint64_t i = 0; i < worker->count && r == 0; i++)
		r = launch_splittable(worker, kernel, buffer, long_ns);
	worker_say_result(r ? r : sycl_queue_wait(worker->queue));
	(void)sycl_buffer_release(buffer);
	(void)sycl_kernel_release(kernel);
	(void)sycl_queue_release(worker->queue);
	(void)sycl_platform_release(worker->platform);
	free(words);
	worker_say("ok");
	return 0;
}

struct beside {
	struct worker *worker;
	sycl_kernel kernel;
	sycl_buffer buffer;
	uint32_t rounds;
};

/* Adds one to each word, and checks all of them. */
static sycl_result increment_and_check(struct beside *beside)
{
	sycl_handler h;
	sycl_host_accessor accessor = NULL;
	void *words = NULL;
	worker_must(sycl_handler_begin(beside->worker->queue, &h), "sycl_handler_begin");
	worker_must(sycl_handler_set_accessor(h, 0, beside->buffer, SYCL_ACCESS_READ_WRITE),
		    "accessor");
	worker_must(sycl_handler_set_value(h, 1, sizeof(short_ns), &short_ns), "value");
	worker_must(sycl_handler_parallel_for(h, beside->kernel, sycl_range1(WORDS)),
		    "parallel_for");
	sycl_result r = sycl_handler_submit(h, NULL);
	if (r == 0)
		r = sycl_queue_wait(beside->worker->queue);
	if (r == 0)
		r = sycl_host_accessor_create(beside->buffer, SYCL_ACCESS_READ, &accessor);
	if (r)
		return r;
	worker_must(sycl_host_accessor_get_pointer(accessor, &words),
		    "sycl_host_accessor_get_pointer");
	beside->rounds++;
	for (int i = 0; i < WORDS; i++)
		worker_check(((const uint32_t *)words)[i] == beside->rounds, "a wrong result");
	return sycl_host_accessor_release(accessor);
}

static sycl_result run_kernel_beside(struct beside *beside, const char *name)
{
	sycl_handler h;
	sycl_kernel kernel = worker_kernel(beside->worker, name, name);
	worker_must(sycl_handler_begin(beside->worker->queue, &h), "sycl_handler_begin");
	worker_must(sycl_handler_single_task(h, kernel), "single_task");
	sycl_result r = sycl_handler_submit(h, NULL);
	(void)sycl_kernel_release(kernel);
	return r ? r : sycl_queue_wait(beside->worker->queue);
}

int worker_beside(struct worker *worker)
{
	static uint32_t zero[WORDS];
	struct beside beside = {.worker = worker};
	char line[LINE_BYTES];
	worker_connect_fake(worker, SYCL_QUEUE_IN_ORDER);
	beside.kernel = worker_kernel(worker, "take_increment_u32", "take_increment_u32");
	worker_must(sycl_buffer_create(worker->platform, zero, sizeof(zero), SYCL_HOST_CONST,
				       &beside.buffer),
		    "sycl_buffer_create");
	worker_must(increment_and_check(&beside), "work");
	worker_say("ready");
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		worker_say_result(strcmp(line, "work") == 0 ? increment_and_check(&beside)
							    : run_kernel_beside(&beside, line));
	}
	(void)sycl_buffer_release(beside.buffer);
	(void)sycl_kernel_release(beside.kernel);
	(void)sycl_queue_release(worker->queue);
	(void)sycl_platform_release(worker->platform);
	worker_say("ok");
	return 0;
}
