/* Round trips: each launch is waited for before the next one. And a stream, in order, of which only
 * the last launch is waited for. */
#include "processes/programs/worker.h"

static const char source[] = "SYCL_KERNEL void trip(SYCL_GLOBAL(uint) y) { y[0] += 1; }\n";

static int launch_all(struct worker *worker, bool waits_for_each)
{
	uint32_t done = 0;
	sycl_kernel kernel = worker_kernel(worker, source, "trip");
	sycl_buffer buffer = NULL;
	worker_must(sycl_buffer_create(worker->platform, &done, sizeof(done), SYCL_HOST_BORROWED,
				       &buffer),
		    "sycl_buffer_create");
	for (uint64_t i = 0; i < worker->count; i++) {
		sycl_handler h;
		worker_must(sycl_handler_begin(worker->queue, &h), "sycl_handler_begin");
		worker_must(sycl_handler_set_accessor(h, 0, buffer, SYCL_ACCESS_READ_WRITE),
			    "accessor");
		worker_must(sycl_handler_parallel_for(h, kernel, sycl_range1(1)), "parallel_for");
		worker_must(sycl_handler_submit(h, NULL), "sycl_handler_submit");
		if (waits_for_each || i + 1 == worker->count)
			worker_must(sycl_queue_wait(worker->queue), "sycl_queue_wait");
	}
	worker_must(sycl_kernel_release(kernel), "sycl_kernel_release");
	worker_must(sycl_buffer_release(buffer), "sycl_buffer_release");
	worker_check(done == worker->count, "launches were lost, or came twice");
	worker_disconnect(worker);
	worker_say("ok");
	return 0;
}

int worker_trips(struct worker *worker)
{
	worker_connect(worker);
	return launch_all(worker, true);
}

int worker_stream(struct worker *worker)
{
	worker_connect(worker);
	return launch_all(worker, false);
}
