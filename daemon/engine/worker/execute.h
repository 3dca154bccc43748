/* The device thread's part of a task. */
#ifndef SYCL_ENGINE_SCHED_EXECUTE_H
#define SYCL_ENGINE_SCHED_EXECUTE_H

#include "backend.h"

#include <stdint.h>

struct scheduler_device;
struct task;
struct task_command;

void sched_execute(struct scheduler_device *device, struct task *task);
void sched_execute_failed(struct scheduler_device *device, struct task *task,
			  const struct backend_fault *fault);
void sched_execute_forget(struct scheduler_device *device, struct task *task);
void sched_execute_completion(struct scheduler_device *device,
			      const struct backend_completion *completion);

/* Objects into a command that sched_command_fill has made. */
int sched_execute_need_lane(struct scheduler_device *device, uint32_t index,
			    struct backend_fault *fault);
int sched_execute_fill(struct scheduler_device *device, struct task_command *command,
		       struct backend_fault *fault);

#endif
