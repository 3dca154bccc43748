/* Handles made and freed on the device's thread. */
#ifndef SYCL_ENGINE_WORKER_OBJECTS_H
#define SYCL_ENGINE_WORKER_OBJECTS_H

#include <stdbool.h>

struct scheduler_device;

/* `object`: the object that begins with the message. False: the message was set aside, and does not
 * go back now. */
bool worker_prepare_memory(struct scheduler_device *device, void *object);
bool worker_export_memory(struct scheduler_device *device, void *object);
bool worker_free_memory(struct scheduler_device *device, void *object);
bool worker_free_program(struct scheduler_device *device, void *object);
bool worker_free_kernel(struct scheduler_device *device, void *object);
bool worker_make_event(struct scheduler_device *device, void *object);
bool worker_free_event(struct scheduler_device *device, void *object);

#endif
