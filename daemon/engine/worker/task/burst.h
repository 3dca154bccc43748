/* The device thread's half of a burst. */
#ifndef SYCL_ENGINE_WORKER_BURST_H
#define SYCL_ENGINE_WORKER_BURST_H

#include "scheduler/state/task.h"

#include "backend.h"

#include <stdbool.h>
#include <stdint.h>

struct scheduler_device;

/*
 * Submits all launches. 0: some are in flight, and come back in any case; `fault_out` may report
 * that the device is lost. Negative: nothing is in flight; the fault is of the device, or the
 * faults of the launches are in the burst.
 */
int worker_burst_submit(struct scheduler_device *device, struct task *task,
			const struct backend_wait *waits, uint32_t wait_count,
			struct backend_fault *fault_out);
/* Puts the handles of its kernels into a stretch's launches. All of them exist already. */
void worker_stretch_resolve(struct task_command *command);
/* For a stretch that has failed: true if one of these launches has (one bit for each, not 0). */
bool worker_stretch_has_failed(const struct task_command *command, uint32_t launches);
/* For a stretch in flight with a refused launch (command.is_refused): true if one of these launches
 * will fail. */
bool worker_stretch_will_fail(const struct task_command *command, uint32_t launches);
/* A launch of it has come back. True: that was the last. */
bool worker_burst_completed(struct task *task, const struct backend_completion *completion);
/* Returns the failure, for tasks that need what the burst writes; NULL: it has not failed. Also on
 * the front thread. */
struct sched_cause *worker_burst_cause(const struct task_burst *burst);

#endif
