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
/* Of a stretch that has failed: has one of these launches, a bit each and not 0? */
bool worker_stretch_has_failed(const struct task_command *command, uint32_t launches);
/* Of a stretch in flight of which a launch was refused (command.is_refused): will one of these
 * launches fail? */
bool worker_stretch_will_fail(const struct task_command *command, uint32_t launches);
/* A launch of it has come back. True: that was the last. */
bool worker_burst_completed(struct task *task, const struct backend_completion *completion);
/* Has it failed, for tasks that need what it writes? NULL: no. Also on the front. */
struct sched_cause *worker_burst_cause(const struct task_burst *burst);

#endif
