/*
 * The backend, its devices and their contexts, which all folders use. A folder's own state of a
 * device is a struct that is only declared here. Fields belong to the file that they name: others
 * read them. CUDA's names keep CUDA's words; everything else keeps backend.h's.
 *
 * Threads: a device has its own thread, and a loader thread for the entries that backend.h marks.
 * Both enter through cuda_enter, which makes the device's primary context current. The driver
 * itself is thread-safe.
 */
#ifndef SYCL_BACKENDS_CUDA_CONTEXT_H
#define SYCL_BACKENDS_CUDA_CONTEXT_H

#include "backend.h"
#include "cuda/driver/fault.h"
#include "cuda/driver/library.h"
#include "cuda/driver/settings.h"

#include <cuda.h>
#include <pthread.h>
#include <stdatomic.h>

/* Where dynamic shared memory begins in a kernel that has no static one (program/window.c). The
 * same in all of a context. */
struct cuda_window {
	bool is_known;
	uint64_t generic_base, shared_base;
};

/* Parts of a device that were made in its context before it was opened (device/ahead.h). */
struct cuda_ahead {
	CUmodule own;       /* the backend's kernels; NULL: not made */
	CUmodule condition; /* the one of conditional nodes; NULL: not made */
	struct cuda_window window;
	void *words, *slots; /* pinned; NULL: not made */
};

/* device/facts.c */
struct cuda_device_facts {
	CUdevice device;
	CUuuid uuid;
	int compute_major, compute_minor;
	int multiprocessors, max_threads_per_multiprocessor, copy_engines;
	int max_grid[3], max_block[3], max_block_threads; /* CUDA's order: x y z */
	int shared_bytes_default, shared_bytes_optin, reserved_shared_bytes;
	int warp_size;
	int persisting_bytes, window_bytes; /* of the second-level cache: that can be set aside;
					       largest window (R6) */
	int compute_mode;
	bool pools, vmm, posix_descriptors, ipc_events, managed, concurrent_managed, host_register,
		cooperative, cluster, unified_addressing, host_native_atomics, host_pointers, mps;
};

struct backend {
	struct cuda_settings settings;
	struct cuda_library library;       /* libcuda's functions: backend->library.cuInit(0) */
	struct backend_topology topology;  /* device/facts.c */
	struct cuda_device_facts *devices; /* as many as topology.device_count */
	struct backend_device *
		*open_devices; /* by index; NULL: not open. Guarded by `lock` (peers) */
	pthread_mutex_t lock;
	char *cache_directory;
	int driver_version; /* 13000 */
};

/* backend_device.lost */
enum cuda_life { CUDA_ALIVE = 0, CUDA_BEING_LOST = 1, CUDA_LOST = 2 };

struct backend_device {
	struct backend *backend;
	uint32_t index;
	const struct cuda_device_facts *facts;
	CUcontext context;
	struct cuda_ahead ahead; /* what no part of it has taken */
	bool is_native; /* opened in a context that the application has named: beside others of this
			   device */
	bool is_foreign;  /* and that is none of this backend's own: used, never ended (I9) */
	uint64_t opening; /* counts device_open of this process: cuda_enter finds by it which
			     context a thread has */
	backend_wake *wake;
	void *token;
	struct cuda_clock *clock;         /* clock/clock.c */
	struct cuda_memory_state *memory; /* memory/memory.c: pools, staging, registered ranges */
	struct cuda_lanes *lanes;     /* lane/lane.c: stream and event pools, completion words */
	struct cuda_kernels *kernels; /* program/kernel.c: shared window base and the like */
	/* program/ calls it when chain templates alone hold some program: lane/ sets them again.
	 * NULL before the lanes are opened. Device thread. */
	void (*on_abandoned)(struct backend_device *device);
	uint64_t l2_wanted, l2_set; /* lane/l2.c: of windows that persist; for which the cache has
				       been set up */
	/* enum cuda_life; left once, by the first thread that gets a sticky error (driver/fault.c).
	 */
	_Atomic int lost;
	struct backend_fault lost_fault;
};

/* A lane's stream, for the rooms that put work on it (lane/lane.c). */
struct backend_lane {
	struct backend_device *device;
	enum backend_lane_kind kind;
	CUstream stream;
	bool is_foreign; /* the stream is the application's: never destroyed, never another lane's
			    (I9) */
	struct cuda_lane_state *state; /* lane/lane.c's own */
};

/* Make the device's context current on this thread (once per thread; F4). 0 or -EIO with a fault.
 */
int cuda_enter(struct backend_device *device, struct backend_fault *fault_out);
/* The same after functions of the application, which may have left any context current on this
 * thread. */
int cuda_enter_again(struct backend_device *device, struct backend_fault *fault_out);
/* No context is current on this thread any more. */
void cuda_leave(struct backend_device *device);
/* The number of the next opening of a device, for backend_device.opening. Any thread. */
uint64_t cuda_opening_next(void);

/*
 * Retain a device's primary context; its flags are set first, if it is not active
 * yet. *what_out: what could not be done, untouched on success. Any thread.
 */
CUresult cuda_context_retain(const struct cuda_library *cu, CUdevice device, CUcontext *context_out,
			     const char **what_out);

#endif
