/* Commands that were set aside are handled again (device thread). */
#ifndef SYCL_ENGINE_WORKER_SPILL_RETRY_H
#define SYCL_ENGINE_WORKER_SPILL_RETRY_H

#include <stdbool.h>

struct scheduler_device;

/* Retries commands that were set aside, if something has come back or the wait is over. False:
 * there were none. */
bool worker_spill_step(struct scheduler_device *device);

#endif
