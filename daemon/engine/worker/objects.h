/* Handles made and freed on the device's thread. */
#ifndef SYCL_ENGINE_WORKER_OBJECTS_H
#define SYCL_ENGINE_WORKER_OBJECTS_H

#include <stdbool.h>

struct sched_message;
struct scheduler_device;

/* False: the message was set aside and does not go back now. */
bool worker_objects_handle(struct scheduler_device *device, struct sched_message *message);

#endif
