/*
 * Memories of a device, also images and host ranges, and the entries of backend.h for them.
 * backend.h documents effects, threads and results. Each entry that has a device enters the device
 * first.
 */
#ifndef SYCL_BACKENDS_CUDA_MEMORY_H
#define SYCL_BACKENDS_CUDA_MEMORY_H

#include "cuda/driver/context.h"

struct cuda_finish;

/* How a memory was taken from the driver. */
enum cuda_memory_origin {
	CUDA_ORIGIN_POOL = 0,
	CUDA_ORIGIN_PLAIN = 1, /* cuMemAlloc */
	CUDA_ORIGIN_VMM = 2,
	CUDA_ORIGIN_IPC = 3,   /* cuIpcOpenMemHandle */
	CUDA_ORIGIN_ARRAY = 4, /* an image (memory/array.c) */
	CUDA_ORIGIN_GRAPH =
		5, /* memory of a graph, in a struct cuda_graph_temporary (graph/memory.c) */
};

/* memory/memory.c */
struct backend_memory {
	struct backend_device *device;
	CUdeviceptr address;
	uint64_t size_bytes;     /* the requested size */
	uint64_t reserved_bytes; /* the size taken from the device */
	enum backend_export_kind export_kind;
	bool imported;
	CUmemGenericAllocationHandle allocation; /* VMM */
	enum cuda_memory_origin origin;
	/*
	 * For exported memory: happens when the old bytes are erased; NULL: there is no such event.
	 */
	CUevent zeroed;
	_Atomic bool settled; /* no wait for `zeroed` is needed any more */
	_Atomic uint64_t
		peers; /* VMM: a bit (index) for each other device that may read the memory */
	struct cuda_reap *reap; /* frees the memory (memory/reaper.h); NULL: in the pool */
	/* For an image, which has no address (memory/array.h); NULL: the memory is a buffer. */
	struct cuda_array *array;
};

/* The number of bytes from `offset` to the end; 0: the offset is at or beyond the end, or there is
 * no memory. */
static inline uint64_t cuda_memory_rest(const struct backend_memory *memory, uint64_t offset)
{
	return memory && offset <= memory->size_bytes ? memory->size_bytes - offset : 0;
}

/* A host range that the device reaches (memory/host.c). */
struct backend_host {
	struct backend_device *device;
	void *host;
	uint64_t size_bytes;
	CUdeviceptr address;
};

/*
 * memory/memory.c: makes the lane wait until the memory's old bytes are erased. Call it for each
 * GLOBAL argument of a launch. The commands of cuda_transfer_enqueue call it themselves. The call
 * is slow only for exported memory that was just made.
 */
/* True if nothing is left to wait for. */
bool cuda_memory_is_settled(const struct backend_memory *memory);
int cuda_memory_settle(struct backend_lane *lane, struct backend_memory *memory,
		       struct backend_fault *fault_out);

int cuda_memory_open(struct backend_device *device,
		     struct backend_fault *fault_out); /* called at device_open */
void cuda_memory_close(struct backend_device *device);

/* memory/memory.c */
int cuda_memory_create(struct backend_device *device, uint64_t size_bytes, void *host,
		       enum backend_export_kind export_kind, struct backend_memory **memory_out,
		       struct backend_fault *fault_out);
void cuda_memory_free(struct backend_memory *memory);
/* memory/pool.c */
void cuda_memory_trim(struct backend_device *device, uint64_t *capacity_out);

/* memory/array.c */
int cuda_image_create(struct backend_device *device, const struct backend_image *image,
		      struct backend_memory **memory_out, struct backend_fault *fault_out);

/* memory/share.c */
int cuda_memory_export(struct backend_memory *memory, struct backend_shared_memory *shared_out,
		       struct backend_fault *fault_out);
int cuda_memory_import(struct backend_device *device, const struct backend_shared_memory *shared,
		       uint64_t size_bytes, struct backend_memory **memory_out,
		       struct backend_fault *fault_out);

/* memory/host.c */
int cuda_host_register(struct backend_device *device, void *host, uint64_t size_bytes,
		       struct backend_host **host_out, struct backend_fault *fault_out);
void cuda_host_unregister(struct backend_host *host);

/* memory/usm.c */
int cuda_usm_alloc(struct backend_device *device, enum backend_usm_kind kind, uint64_t size_bytes,
		   uint64_t alignment_bytes, void **pointer_out, struct backend_fault *fault_out);
void cuda_usm_free(struct backend_device *device, enum backend_usm_kind kind, void *pointer);

#endif
