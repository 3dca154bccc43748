/*
 * Keeps the first fake device busy with kernels that take `count` microseconds each, until its
 * input ends. Enough are in flight that there is always a next one.
 */
#include "processes/programs/worker.h"

#include <poll.h>
#include <unistd.h>

enum { AT_A_TIME = 64, WAIT_EVERY = 32 };

static sycl_event launch_take(struct worker *worker, sycl_kernel kernel)
{
	sycl_handler h;
	sycl_event event = NULL;
	uint32_t ns = (uint32_t)worker->count * 1000u;
	worker_must(sycl_handler_begin(worker->queue, &h), "sycl_handler_begin");
	worker_must(sycl_handler_set_value(h, 0, sizeof(ns), &ns), "value");
	worker_must(sycl_handler_single_task(h, kernel), "single_task");
	worker_must(sycl_handler_submit(h, &event), "sycl_handler_submit");
	return event;
}

static bool has_input_ended(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	return poll(&input, 1, 0) > 0;
}

int worker_take(struct worker *worker)
{
	sycl_event marks[AT_A_TIME / WAIT_EVERY] = {NULL};
	worker_connect_fake(worker, SYCL_QUEUE_IN_ORDER);
	sycl_kernel kernel = worker_kernel(worker, "take", "take");
	for (uint32_t i = 0; !has_input_ended(); i = (i + 1) % (AT_A_TIME / WAIT_EVERY)) {
		if (marks[i]) {
			worker_must(sycl_event_wait(marks[i]), "sycl_event_wait");
			worker_must(sycl_event_release(marks[i]), "sycl_event_release");
		}
		for (int j = 1; j < WAIT_EVERY; j++)
			worker_must(sycl_event_release(launch_take(worker, kernel)),
				    "sycl_event_release");
		marks[i] = launch_take(worker, kernel);
	}
	worker_must(sycl_queue_wait(worker->queue), "sycl_queue_wait");
	for (int i = 0; i < AT_A_TIME / WAIT_EVERY; i++)
		worker_must(sycl_event_release(marks[i]), "sycl_event_release");
	worker_must(sycl_kernel_release(kernel), "sycl_kernel_release");
	worker_disconnect(worker);
	worker_say("ok");
	return 0;
}
