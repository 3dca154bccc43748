/* The loop of a device's thread. */
#ifndef SYCL_ENGINE_WORKER_WORKER_H
#define SYCL_ENGINE_WORKER_WORKER_H

void *worker_main(void *device);

#endif
