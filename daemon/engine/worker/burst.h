/* The device thread's half of a burst. */
#ifndef SYCL_ENGINE_SCHED_WORKER_BURST_H
#define SYCL_ENGINE_SCHED_WORKER_BURST_H

#include <stdbool.h>
#include <stdint.h>

struct backend_completion;
struct backend_fault;
struct backend_wait;
struct scheduler_device;
struct task;

/*
 * Device thread: submit all. 0: some are in flight, and come back in any case; `fault_out` may say
 * all the same that the device is lost. Negative: nothing is in flight; a fault of the device, or
 * else those of the launches are in the burst.
 */
int sched_burst_submit(struct scheduler_device *device, struct task *task,
		       const struct backend_wait *waits, uint32_t wait_count,
		       struct backend_fault *fault_out);
/* Device thread: a launch of it has come back. True: that was the last. */
bool sched_burst_completed(struct task *task, const struct backend_completion *completion);

#endif
