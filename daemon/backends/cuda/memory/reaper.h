/*
 * Frees memory that the driver frees only when nothing runs. cuMemFree, cuIpcCloseMemHandle and
 * cuMemFreeHost wait for every kernel that is running on the device. Meanwhile every launch of the
 * process waits for them. So these calls are deferred until a quiet moment (quiet() of the table).
 * A mapping is freed at once, because that call waits for nothing.
 */
#ifndef SYCL_BACKENDS_CUDA_REAPER_H
#define SYCL_BACKENDS_CUDA_REAPER_H

#include "cuda/memory/memory.h"

enum cuda_reap_kind {
	CUDA_REAP_PLAIN = 1, /* cuMemFree: cuMemAlloc, cuMemAllocManaged */
	CUDA_REAP_VMM = 2,   /* unmaps, releases, returns the addresses */
	CUDA_REAP_IPC = 3,   /* cuIpcCloseMemHandle */
	CUDA_REAP_HOST = 4,  /* cuMemFreeHost */
	CUDA_REAP_ARRAY = 5, /* an image, with its textures and surface */
};

/* An object to free. The record is made together with the object, so that freeing needs no memory
 * and cannot fail. */
struct cuda_reap {
	struct cuda_reap *next;
	enum cuda_reap_kind kind;
	CUdeviceptr address;
	void *host;
	struct cuda_array *array;
	uint64_t size_bytes;
	CUmemGenericAllocationHandle allocation;
	CUevent zeroed;      /* the free waits for the event, and destroys it; NULL: none */
	uint64_t room_bytes; /* given to cuda_room_give after the free */
};

struct cuda_reaper {
	struct backend_device *device;
	pthread_mutex_t lock;
	struct cuda_reap *first;
	_Atomic uint32_t waiting; /* number of objects that wait for a quiet moment */
};

void cuda_reaper_open(struct cuda_reaper *reaper, struct backend_device *device);
/* Frees all objects before it returns. Nothing may be in flight. */
void cuda_reaper_close(struct cuda_reaper *reaper);

/* NULL: no memory. Ended by cuda_reap_send, or by free() if the object was not made. */
struct cuda_reap *cuda_reap_make(enum cuda_reap_kind kind);
/* Frees the object, at once or in the next quiet moment. Any thread; never waits. */
void cuda_reap_send(struct cuda_reaper *reaper, struct cuda_reap *reap);
/* Frees the objects that can be freed now; with `quiet` (nothing is in flight) all of them. Any
 * thread. */
void cuda_reaper_run(struct cuda_reaper *reaper, bool quiet);

#endif
