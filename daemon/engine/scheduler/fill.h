/* From a request to the command that a device's thread sends. */
#ifndef SYCL_ENGINE_SCHED_FILL_H
#define SYCL_ENGINE_SCHED_FILL_H

#include "scheduler/public/task.h"

#include <stddef.h>
#include <stdint.h>

struct scheduler;
struct task_command;

/* Makes room in scheduler.accesses. -ENOMEM. */
int sched_accesses_reserve(struct scheduler *scheduler, uint32_t count);
/* Bytes of a task's storage for its uses, and for its command. */
size_t sched_uses_storage(const struct task_request *request);
size_t sched_command_storage(const struct task_request *request);
/* `at`: storage of that size, 16-byte aligned. Memories come from scheduler.accesses. */
void sched_command_fill(struct task_command *command, const struct task_request *request,
			uint8_t *at);

#endif
