/*
 * Tasks that have failed on a device, until the front thread has processed that (device thread).
 *
 * Before that the front may have sent commands that depend on a failed task. They are checked
 * against this list. Commands that it sends after SCHED_MESSAGE_FORGET cannot name the task.
 */
#ifndef SYCL_ENGINE_WORKER_FAILED_H
#define SYCL_ENGINE_WORKER_FAILED_H

#include <stdbool.h>

struct backend_fault;
struct worker;
struct scheduler_device;
struct task;
struct task_command;
struct task_predecessor;

void worker_failed_add(struct worker *worker, struct task *task);
void worker_failed_remove(struct scheduler_device *device, struct task *task);
bool worker_failed_has(const struct worker *worker, const struct task_predecessor *predecessor);
/* The same, and no launch of it (it may be a burst) still runs. */
bool worker_failed_has_ended(const struct worker *worker,
			     const struct task_predecessor *predecessor);
/* In flight: the command will be reported as failed. It was refused behind its waits, or it is a
 * native command whose function has failed and whose work still runs. */
bool worker_failed_is_certain(const struct task_command *command);
/* True if the predecessor is such a command. It returns when it is complete, and a task that is
 * only ordered behind it waits. */
bool worker_failed_is_failing(const struct worker *worker,
			      const struct task_predecessor *predecessor);
/* The task goes back with this fault. If the device is lost, the caller ends what is on it. */
void worker_failed_return(struct scheduler_device *device, struct task *task,
			  const struct backend_fault *fault);

#endif
