/* The device's second thread, for what may take long. */
#ifndef SYCL_ENGINE_WORKER_LOADER_H
#define SYCL_ENGINE_WORKER_LOADER_H

#include <stdbool.h>

struct scheduler_device;

int worker_loader_start(struct scheduler_device *device);
/* Front; nothing is in flight. */
void worker_loader_stop(struct scheduler_device *device);
/* On the loader, or on the device's thread where there is none. `object` begins with the message,
 * which goes back now: true. */
bool worker_loader_handle(struct scheduler_device *device, void *object);
/* The same on the device's thread. False: it waits for a quiet moment. */
bool worker_allocate_usm(struct scheduler_device *device, void *object);

#endif
