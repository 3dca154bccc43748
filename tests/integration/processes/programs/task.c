/* A client that is inside of a host task, with more of them and a kernel behind it. */
#include "processes/programs/worker.h"

static sycl_result stay(sycl_host_task task, void *user_data)
{
	(void)task;
	(void)user_data;
	worker_say("ready");
	(void)worker_next_line();
	return SYCL_SUCCESS;
}

int worker_task(struct worker *worker)
{
	static uint32_t zero[64];
	sycl_buffer buffer = NULL;
	worker_connect(worker);
	worker_must(
		sycl_buffer_create(worker->platform, zero, sizeof(zero), SYCL_HOST_CONST, &buffer),
		"sycl_buffer_create");
	for (int i = 0; i < 3; i++) {
		sycl_handler h;
		worker_must(sycl_handler_begin(worker->queue, &h), "sycl_handler_begin");
		worker_must(sycl_handler_set_host_accessor(h, 0, buffer, SYCL_ACCESS_READ_WRITE),
			    "host accessor");
		worker_must(sycl_handler_host_task(h, stay, NULL, NULL), "sycl_handler_host_task");
		worker_must(sycl_handler_submit(h, NULL), "sycl_handler_submit");
		worker_must(sycl_queue_fill(worker->queue, buffer, 0, 64, "x", 1, NULL),
			    "sycl_queue_fill");
	}
	worker_must(sycl_queue_wait(worker->queue), "sycl_queue_wait");
	worker_must(sycl_buffer_release(buffer), "sycl_buffer_release");
	worker_disconnect(worker);
	worker_say("ok");
	return 0;
}
