/* Commands of an application: a function that sends work to the lane itself. */
#ifndef SYCL_ENGINE_WORKER_NATIVE_COMMAND_H
#define SYCL_ENGINE_WORKER_NATIVE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct backend_memory;
struct sched_memory;
struct sched_native_command;
struct task_request;
struct task_command;

size_t worker_native_command_storage(const struct task_request *request);
/* `at`: storage of that size. Returns one place for the memory of each requirement, for the caller
 * to fill in. */
struct sched_memory **worker_native_command_fill(struct task_command *command,
						 const struct task_request *request, uint8_t *at);
/* The memory of a requirement, NULL where it has no bytes. False: there is no such requirement. */
bool worker_native_command_has(const struct sched_native_command *native, uint32_t index,
			       struct sched_memory **memory_out);
/* Device thread, before it is submitted: where that memory lies; NULL where it has no bytes. */
void worker_native_command_set_handle(struct sched_native_command *native, uint32_t index,
				      struct backend_memory *handle);
/*
 * Device thread: its function was called and has failed, but what it had sent may still run. Any
 * command may be given.
 */
bool worker_native_command_failed(const struct task_command *command);
/* The task is done: a function that was not called is called with NULL. Any command may be given.
 */
void worker_native_command_end(struct task_command *command);

#endif
