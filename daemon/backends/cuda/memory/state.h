/* The memory state of a device. Its two streams carry no kernel, and no kernel waits for them. So
 * making and freeing memory never waits for a kernel (F8). */
#ifndef SYCL_BACKENDS_CUDA_MEMORY_STATE_H
#define SYCL_BACKENDS_CUDA_MEMORY_STATE_H

#include "cuda/memory/memory.h"
#include "cuda/driver/ranges.h"
#include "cuda/memory/reaper.h"

#define CUDA_GRANULE_BYTES   ((uint64_t)2 << 20)
#define CUDA_ALIGNMENT_BYTES 256u

struct cuda_memory_state {
	struct backend_device *device;
	CUmemoryPool pool;      /* NULL: the device has no pool, and cuMemAlloc is used */
	CUstream stream;        /* only for allocations and frees of the pool */
	CUstream zero_stream;   /* memsets of memory that will be shared; the highest priority */
	uint64_t total_bytes;   /* memory of the device */
	uint64_t granule_bytes; /* granule of shared memory, at least CUDA_GRANULE_BYTES */
	/*
	 * graphs_have_memory: graphs with memory of their own were made, and the driver keeps
	 * device memory for them. graph_memory_is_due: the last of them was freed, and the driver
	 * keeps more than needed.
	 */
	_Atomic bool graphs_have_memory, graph_memory_is_due;
	uint32_t graphs_with_memory; /* graphs that exist now; for the device thread */
	/* Bytes taken from the device outside of the pool. Managed memory counts as if all of it
	 * were on the device. */
	_Atomic uint64_t outside_bytes;
	struct cuda_reaper reaper;
	struct cuda_ranges hosts; /* of struct backend_host: pinned for this device */
	struct cuda_ranges usm;   /* of struct cuda_usm (memory/usm.c) */
	struct cuda_staging *staging;
	struct cuda_peers *peers; /* NULL until the first copy from another device */
};

/*
 * memory/pool.c: takes bytes of the pool, or of a device that has no pool. On return any stream can
 * use the bytes. Waits for no kernel. -ENOMEM and MEMORY_ALLOCATION: there are not enough bytes, or
 * only with the headroom (F9). Any thread that has entered the device.
 */
int cuda_pool_open(struct cuda_memory_state *state, struct backend_fault *fault_out);
void cuda_pool_close(struct cuda_memory_state *state);
int cuda_pool_take(struct cuda_memory_state *state, uint64_t size_bytes, CUdeviceptr *address_out,
		   struct backend_fault *fault_out);
void cuda_pool_give(struct cuda_memory_state *state,
		    CUdeviceptr address); /* The memory is not in use any more. */

/*
 * memory/pool.c: reserves room for so many bytes outside of the pool, and leaves the headroom.
 * Returns spare memory of the pool to the device, if that helps. On success `outside_bytes` grows
 * by the size, and cuda_room_give reduces it again.
 */
int cuda_room_take(struct cuda_memory_state *state, uint64_t size_bytes,
		   struct backend_fault *fault_out);
void cuda_room_give(struct cuda_memory_state *state, uint64_t size_bytes);

/*
 * memory/pool.c: memory that the driver keeps on the device for graphs. cuda_graphs_have_memory:
 * true if the driver has functions for such memory. cuda_graph_room: -ENOMEM and MEMORY_ALLOCATION
 * if so many bytes and the headroom do not fit. cuda_graph_memory_gone: a graph with such memory
 * was freed; after the last one, the memory is trimmed in a quiet moment.
 */
bool cuda_graphs_have_memory(const struct backend_device *device);
int cuda_graph_room(struct cuda_memory_state *state, uint64_t size_bytes,
		    struct backend_fault *fault_out);
/* Called when the graph is on the device. Checks that the headroom is still free; if not, the
 * caller frees the graph. */
int cuda_graph_room_left(struct cuda_memory_state *state, struct backend_fault *fault_out);
void cuda_graph_memory_gone(struct cuda_memory_state *state);
void cuda_graph_memory_trim(struct cuda_memory_state *state);

/* memory/share.c: allocates whole granules that other processes can open. They are zeroed before
 * their first use (cuda_memory_settle). */
int cuda_share_create(struct backend_device *device, struct backend_memory *memory,
		      struct backend_fault *fault_out);

/* memory/host.c: true if the whole range is pinned, so that the driver moves it without a copy. Any
 * thread. */
bool cuda_host_is_registered(struct backend_device *device, const void *host, uint64_t size_bytes);
/* memory/host.c: the address at which kernels of this device reach a pinned range; 0: the range is
 * not pinned. Any thread. */
CUdeviceptr cuda_host_address(struct backend_device *device, const void *host, uint64_t size_bytes);

/* memory/usm.c: sends USM_COPY, USM_FILL, USM_PREFETCH and USM_ADVISE. `finish_out`: set for a copy
 * that goes through memory/staging.h, otherwise untouched. */
int cuda_usm_enqueue(struct backend_lane *lane, const struct backend_command *command,
		     struct cuda_finish **finish_out, struct backend_fault *fault_out);

/* memory/usm.c: makes device memory with an owner USM, until cuda_usm_free, which calls `release`.
 * -EEXIST: it is USM already; -ENOMEM. On failure `release` is not called. */
int cuda_usm_add(struct backend_device *device, CUdeviceptr address, uint64_t size_bytes,
		 void (*release)(void *owner), void *owner);

/* memory/usm.c: true for registered memory and for USM of the host, which one DMA copies. Any
 * thread. */
bool cuda_usm_is_pinned(struct backend_device *device, const void *host, uint64_t size_bytes);
/* memory/usm.c: the bytes of USM from the pointer to the end of its allocation; 0: it is not USM.
 * Any thread. */
uint64_t cuda_usm_rest(struct backend_device *device, const void *pointer);
/* memory/usm.c: true for USM or registered memory that kernels and copies of this device use
 * without a copy. Any thread. */
bool cuda_usm_is_reached(struct backend_device *device, const void *pointer, uint64_t size_bytes);

/*
 * memory/fill.c: fills the range with repetitions of the pattern, of which the last may be cut off.
 * The pattern is read before the return. 0 < pattern_bytes <= FILL_PATTERN_BYTES_MAX, size_bytes >
 * 0.
 */
CUresult cuda_fill(const struct cuda_library *library, CUstream stream, CUdeviceptr address,
		   uint64_t size_bytes, const void *pattern, size_t pattern_bytes);
/* True if that fill is one operation of the driver. Sizes as above. */
bool cuda_fill_is_simple(CUdeviceptr address, uint64_t size_bytes, const void *pattern,
			 size_t pattern_bytes);

#endif
