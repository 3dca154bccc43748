/* The device's second thread, for what may take long. */
#ifndef SYCL_ENGINE_WORKER_LOADER_H
#define SYCL_ENGINE_WORKER_LOADER_H

#include "base/mailbox.h"

#include "backend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct scheduler_device;

/* Belongs to the loader, except for the port. */
struct worker_loader {
	struct sched_port port;
	pthread_t thread;
	bool started, failed;  /* front */
	_Atomic uint32_t lost; /* then `fault` is set, for the device's thread */
	struct backend_fault fault;
};

int worker_loader_start(struct scheduler_device *device);
/* Front; nothing is in flight. */
void worker_loader_stop(struct scheduler_device *device);
/* On the loader, or on the device's thread where there is none. `object` begins with the message,
 * which goes back now: true. */
bool worker_loader_handle(struct scheduler_device *device, void *object);
/* The same on the device's thread. False: it waits for a quiet moment. */
bool worker_allocate_usm(struct scheduler_device *device, void *object);

#endif
