/* Waits for a moment in which nothing runs on a device, for work that must not run beside a
 * command. */
#ifndef SYCL_ENGINE_WORKER_QUIESCE_H
#define SYCL_ENGINE_WORKER_QUIESCE_H

#include <stdbool.h>

struct scheduler_device;

/* The loader calls these two around work that needs a quiet moment. _begin waits until the moment
 * is granted. */
void worker_quiesce_begin(struct scheduler_device *device);
/* The same without waiting: request, then check whether it is granted or not needed. */
void worker_quiesce_request(struct scheduler_device *device);
bool worker_quiesce_is_granted(struct scheduler_device *device);
void worker_quiesce_end(struct scheduler_device *device);
/* Device thread, in every turn. Returns true if nothing may be sent now. */
bool worker_quiesce_step(struct scheduler_device *device);
/* Device thread. True while sends are held back for so short a time that this thread must not sleep
 * meanwhile. */
bool worker_quiesce_is_brief(const struct scheduler_device *device);

#endif
