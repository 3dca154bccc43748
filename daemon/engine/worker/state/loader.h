/* The state of a device's loader: object/loader.h. */
#ifndef SYCL_ENGINE_WORKER_STATE_LOADER_H
#define SYCL_ENGINE_WORKER_STATE_LOADER_H

#include "base/mailbox.h"

#include "backend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Belongs to the loader, except for the port. */
struct worker_loader {
	struct sched_port port;
	pthread_t thread;
	bool started, failed;  /* front */
	_Atomic uint32_t lost; /* if set, `fault` is set as well, for the device's thread */
	struct backend_fault fault;
};

#endif
