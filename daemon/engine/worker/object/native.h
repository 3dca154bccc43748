/* Native handles: the device thread handles requests about them. */
#ifndef SYCL_ENGINE_WORKER_NATIVE_H
#define SYCL_ENGINE_WORKER_NATIVE_H

#include "backend.h"

#include <stdbool.h>

struct scheduler_device;

/* `object`: a struct sched_native. False: the request was set aside. */
bool worker_native_handle(struct scheduler_device *device, void *object);
/* Sets this text in the fault and returns -EOPNOTSUPP. Any thread. */
int worker_native_refuse(struct backend_fault *fault, const char *text);

static inline bool worker_native_is_of_devices(enum backend_native_kind kind)
{
	return kind == BACKEND_NATIVE_PLATFORM || kind == BACKEND_NATIVE_DEVICE ||
	       kind == BACKEND_NATIVE_CONTEXT;
}

#endif
