/* Makes, uses and releases objects as fast as it can, until it is killed. */
#include "processes/programs/worker.h"

#include <stdlib.h>
#include <unistd.h>

/* Whole pages: PoCL compiles a kernel again for each work-group size that it derives from a range,
 * and keeps many. */
enum { SLOTS = 6, WORDS = 4096 };

static const char source[] =
	"SYCL_KERNEL void grow(SYCL_GLOBAL(uint) y) { y[sycl_global_id(0)] += 1; }";

struct churn {
	struct worker *worker;
	sycl_kernel kernel;
	sycl_buffer buffers[SLOTS];
	uint64_t words[SLOTS];
	sycl_event events[SLOTS];
};

static void renew_buffer(struct churn *churn, uint32_t slot)
{
	if (churn->buffers[slot])
		worker_must(sycl_buffer_release(churn->buffers[slot]), "sycl_buffer_release");
	churn->words[slot] = WORDS * (uint64_t)(1 + worker_random(churn->worker, 16));
	worker_must(sycl_buffer_create(churn->worker->platform, NULL, churn->words[slot] * 4,
				       SYCL_HOST_NONE, &churn->buffers[slot]),
		    "sycl_buffer_create");
	uint32_t zero = 0;
	worker_must(sycl_queue_fill(churn->worker->queue, churn->buffers[slot], 0,
				    churn->words[slot] * 4, &zero, sizeof(zero), NULL),
		    "sycl_queue_fill");
}

static void launch_on_slot(struct churn *churn, uint32_t slot)
{
	sycl_handler h;
	worker_must(sycl_handler_begin(churn->worker->queue, &h), "sycl_handler_begin");
	worker_must(sycl_handler_set_accessor(h, 0, churn->buffers[slot], SYCL_ACCESS_READ_WRITE),
		    "accessor");
	worker_must(sycl_handler_parallel_for(h, churn->kernel, sycl_range1(churn->words[slot])),
		    "parallel_for");
	if (churn->events[slot])
		worker_must(sycl_event_release(churn->events[slot]), "sycl_event_release");
	churn->events[slot] = NULL;
	worker_must(sycl_handler_submit(h, &churn->events[slot]), "sycl_handler_submit");
}

static void check_slot(struct churn *churn, uint32_t slot)
{
	sycl_host_accessor accessor;
	worker_must(
		sycl_host_accessor_create(churn->buffers[slot], SYCL_ACCESS_READ_WRITE, &accessor),
		"sycl_host_accessor_create");
	void *pointer;
	worker_must(sycl_host_accessor_get_pointer(accessor, &pointer),
		    "sycl_host_accessor_get_pointer");
	++*(uint32_t *)pointer;
	worker_must(sycl_host_accessor_release(accessor), "sycl_host_accessor_release");
}

static void act(struct churn *churn)
{
	uint32_t slot = worker_random(churn->worker, SLOTS);
	switch (worker_random(churn->worker, 8)) {
	case 0:
		renew_buffer(churn, slot);
		break;
	case 1:
		check_slot(churn, slot);
		break;
	case 2:
		if (churn->events[slot])
			worker_must(sycl_event_wait(churn->events[slot]), "sycl_event_wait");
		break;
	case 3:
		worker_must(sycl_queue_copy(churn->worker->queue, churn->buffers[slot], 0,
					    churn->buffers[(slot + 1) % SLOTS], 0, 4, NULL),
			    "sycl_queue_copy");
		break;
	default:
		launch_on_slot(churn, slot);
	}
}

int worker_churn(struct worker *worker)
{
	struct churn churn = {.worker = worker};
	worker_connect(worker);
	if (worker->fork_child) {
		pid_t child = fork();
		worker_check(child >= 0, "fork");
		if (child == 0)
			for (;;)
				(void)pause();
		worker_say("child %d", (int)child);
	}
	churn.kernel = worker_kernel(worker, source, "grow");
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		renew_buffer(&churn, slot);
	worker_say("ready");
	for (;;)
		act(&churn);
}
