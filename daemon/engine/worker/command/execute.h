/* The device thread's part of a task: submission and completion. */
#ifndef SYCL_ENGINE_WORKER_EXECUTE_H
#define SYCL_ENGINE_WORKER_EXECUTE_H

struct backend_completion;
struct scheduler_device;
struct task;

/* Submits the task's command, sets it aside until its memory is there, or returns it with its
 * failure. */
void worker_execute(struct scheduler_device *device, struct task *task);
void worker_execute_completion(struct scheduler_device *device,
			       const struct backend_completion *completion);

#endif
