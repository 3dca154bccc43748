/*
 * The memory state of a device. Its two streams carry no kernel and no
 * kernel waits for them, so that making and freeing memory never waits for a kernel (F8).
 */
#ifndef SYCL_BACKENDS_CUDA_MEMORY_STATE_H
#define SYCL_BACKENDS_CUDA_MEMORY_STATE_H

#include "cuda/memory/memory.h"
#include "cuda/driver/ranges.h"
#include "cuda/memory/reaper.h"

#define CUDA_GRANULE_BYTES   ((uint64_t)2 << 20)
#define CUDA_ALIGNMENT_BYTES 256u

struct cuda_memory_state {
	struct backend_device *device;
	CUmemoryPool pool;      /* NULL: the device has none, cuMemAlloc serves */
	CUstream stream;        /* allocations and frees of the pool, nothing else */
	CUstream zero_stream;   /* memsets of what is going to be shared; the highest priority */
	uint64_t total_bytes;   /* of the device */
	uint64_t granule_bytes; /* of memory that is shared, at least CUDA_GRANULE_BYTES */
	/* Graphs with memory of their own were made: the driver keeps some of the device for them.
	 * Some went: it keeps too much. */
	_Atomic bool graphs_have_memory, graph_memory_is_due;
	uint32_t graphs_with_memory; /* that are there; the device thread's */
	/* Taken from the device outside of the pool; managed memory counts as if it all were on the
	 * device. */
	_Atomic uint64_t outside_bytes;
	struct cuda_reaper reaper;
	struct cuda_ranges hosts; /* of struct backend_host: pinned for this device */
	struct cuda_ranges usm;   /* of struct cuda_usm (memory/usm.c) */
	struct cuda_staging *staging;
	struct cuda_peers *peers; /* NULL until the first copy from another device */
};

/*
 * memory/pool.c. Bytes of the pool, or of the device where it has no pool, ready for use by any
 * stream on return. Waits for no kernel. -ENOMEM and MEMORY_ALLOCATION: there are not so many, or
 * only with the headroom (F9). Any thread that has entered the device.
 */
int cuda_pool_open(struct cuda_memory_state *state, struct backend_fault *fault_out);
void cuda_pool_close(struct cuda_memory_state *state);
int cuda_pool_take(struct cuda_memory_state *state, uint64_t size_bytes, CUdeviceptr *address_out,
		   struct backend_fault *fault_out);
void cuda_pool_give(struct cuda_memory_state *state,
		    CUdeviceptr address); /* nothing uses it any more */

/*
 * memory/pool.c: is there room for so much outside of the pool, and the headroom beside it? Gives
 * back what the pool keeps without need, if that helps. `outside_bytes` grows by it on success: the
 * caller takes it off again with the memory.
 */
int cuda_room_take(struct cuda_memory_state *state, uint64_t size_bytes,
		   struct backend_fault *fault_out);
void cuda_room_give(struct cuda_memory_state *state, uint64_t size_bytes);

/*
 * memory/pool.c: memory that the driver keeps on the device for graphs. Does it have functions for
 * that? Is there room for so much of it, with the headroom? -ENOMEM and MEMORY_ALLOCATION: no. The
 * last graph with such memory was freed: the rest is trimmed in a quiet moment.
 */
bool cuda_graphs_have_memory(const struct backend_device *device);
int cuda_graph_room(struct cuda_memory_state *state, uint64_t size_bytes,
		    struct backend_fault *fault_out);
/* The graph is on the device: is the headroom still there? If not, the caller lets it go. */
int cuda_graph_room_left(struct cuda_memory_state *state, struct backend_fault *fault_out);
void cuda_graph_memory_gone(struct cuda_memory_state *state);
void cuda_graph_memory_trim(struct cuda_memory_state *state);

/* memory/share.c: memory of granules of its own, for others to open; zeroed in time
 * (cuda_memory_settle). */
int cuda_share_create(struct backend_device *device, struct backend_memory *memory,
		      struct backend_fault *fault_out);

/* memory/host.c: the whole range is pinned, so the driver moves it without a copy. Any thread. */
bool cuda_host_is_registered(struct backend_device *device, const void *host, uint64_t size_bytes);
/* memory/host.c: where kernels of this device reach a range that is pinned; 0: it is not. Any
 * thread. */
CUdeviceptr cuda_host_address(struct backend_device *device, const void *host, uint64_t size_bytes);

/*
 * memory/usm.c: USM_COPY, USM_FILL, USM_PREFETCH and USM_ADVISE. `finish_out`: of a copy that goes
 * through memory/staging.h, otherwise untouched.
 */
int cuda_usm_enqueue(struct backend_lane *lane, const struct backend_command *command,
		     struct cuda_finish **finish_out, struct backend_fault *fault_out);

/*
 * memory/usm.c: device memory that has an owner is USM from now on, until cuda_usm_free, which
 * calls `release`. -EEXIST: it is already; -ENOMEM. `release` is not called then.
 */
int cuda_usm_add(struct backend_device *device, CUdeviceptr address, uint64_t size_bytes,
		 void (*release)(void *owner), void *owner);

/* memory/usm.c: registered memory, or USM of the host: one DMA copies from or to it. Any thread. */
bool cuda_usm_is_pinned(struct backend_device *device, const void *host, uint64_t size_bytes);
/* memory/usm.c: USM or registered memory that kernels and copies of this device use as it is. Any
 * thread. */
bool cuda_usm_is_reached(struct backend_device *device, const void *pointer, uint64_t size_bytes);

/*
 * memory/fill.c: put the pattern on the stream again and again, from `address` on, the last time
 * perhaps not whole. The pattern is read before the return. 0 < pattern_bytes <=
 * FILL_PATTERN_BYTES_MAX, size_bytes > 0.
 */
CUresult cuda_fill(const struct cuda_library *library, CUstream stream, CUdeviceptr address,
		   uint64_t size_bytes, const void *pattern, size_t pattern_bytes);
/* Is that one operation of the driver? Sizes as above. */
bool cuda_fill_is_simple(CUdeviceptr address, uint64_t size_bytes, const void *pattern,
			 size_t pattern_bytes);

#endif
