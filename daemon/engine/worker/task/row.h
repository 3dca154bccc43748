/* A stretch that is kept goes to the backend as a row of launches, which is prepared once (device
 * thread). */
#ifndef SYCL_ENGINE_WORKER_ROW_H
#define SYCL_ENGINE_WORKER_ROW_H

#include "scheduler/state/task.h"

#include <stdbool.h>

struct scheduler_device;

/* Submits all launches of the stretch as one command, which waits for nothing. False: nothing has
 * happened, and they are to be submitted one by one. */
bool worker_row_submit(struct scheduler_device *device, struct task_command *command);
/* The command is not submitted again. */
void worker_row_end(struct scheduler_device *device, const struct task_command *command);

#endif
