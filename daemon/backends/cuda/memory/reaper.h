/*
 * Frees memory that the driver frees only when nothing runs. cuMemFree, cuIpcCloseMemHandle and
 * cuMemFreeHost wait for every kernel that is running on the device, and every launch of the
 * process waits for them meanwhile. So they are deferred until a quiet moment (quiet() of the
 * table). A mapping waits for nothing and is freed at once.
 */
#ifndef SYCL_BACKENDS_CUDA_REAPER_H
#define SYCL_BACKENDS_CUDA_REAPER_H

#include "cuda/memory/memory.h"

enum cuda_reap_kind {
	CUDA_REAP_PLAIN = 1, /* cuMemFree: cuMemAlloc, cuMemAllocManaged */
	CUDA_REAP_VMM = 2,   /* unmap, release, give the addresses back */
	CUDA_REAP_IPC = 3,   /* cuIpcCloseMemHandle */
	CUDA_REAP_HOST = 4,  /* cuMemFreeHost */
	CUDA_REAP_ARRAY = 5, /* an image, with its textures and surface */
};

/* An object to free. Made together with it, so that freeing needs no memory and cannot fail. */
struct cuda_reap {
	struct cuda_reap *next;
	enum cuda_reap_kind kind;
	CUdeviceptr address;
	void *host;
	struct cuda_array *array;
	uint64_t size_bytes;
	CUmemGenericAllocationHandle allocation;
	CUevent zeroed;      /* the free waits for it, and destroys it; NULL: none */
	uint64_t room_bytes; /* given to cuda_room_give after the free */
};

struct cuda_reaper {
	struct backend_device *device;
	pthread_mutex_t lock;
	struct cuda_reap *first;
	_Atomic uint32_t waiting; /* for a quiet moment */
};

void cuda_reaper_open(struct cuda_reaper *reaper, struct backend_device *device);
/* Everything is freed when this returns. Nothing is in flight. */
void cuda_reaper_close(struct cuda_reaper *reaper);

/* NULL: no memory. Ended by cuda_reap_send, or by free() where nothing came of it. */
struct cuda_reap *cuda_reap_make(enum cuda_reap_kind kind);
/* Free it, at once or in the next quiet moment. Any thread; never waits. */
void cuda_reap_send(struct cuda_reaper *reaper, struct cuda_reap *reap);
/* Free what can be freed now; with `quiet` (nothing is in flight) that is everything. Any thread.
 */
void cuda_reaper_run(struct cuda_reaper *reaper, bool quiet);

#endif
