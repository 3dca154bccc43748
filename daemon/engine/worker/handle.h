/* Messages to a device's thread, and completions (device thread). */
#ifndef SYCL_ENGINE_WORKER_HANDLE_H
#define SYCL_ENGINE_WORKER_HANDLE_H

#include <stdbool.h>

struct sched_message;
struct scheduler_device;

/* Flushes the backend. */
void worker_flush(struct scheduler_device *device);
/* Handles a message that has come, or that was set aside. */
void worker_handle(struct scheduler_device *device, struct sched_message *message);
/* Commands that are held go on, are held again, or fail with the device (hold.h). */
void worker_retry_held(struct scheduler_device *device);
/* Puts completed tasks into port.back, unpublished. False: there were none. */
bool worker_complete(struct scheduler_device *device);

#endif
