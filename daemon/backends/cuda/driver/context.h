/*
 * The backend, its devices and their contexts, which all folders use. A folder's own state of a
 * device is a struct that is only declared here. Fields belong to the file that they name, and
 * other files only read them. CUDA's objects keep CUDA's names; everything else has backend.h's.
 *
 * Threads: a device has its own thread, and a loader thread for the entries that backend.h marks.
 * Both enter through cuda_enter, which makes the device's context current. The driver itself is
 * thread-safe.
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

/* The address of dynamic shared memory in a kernel without static shared memory (program/window.c).
 * It is the same in a whole context. */
struct cuda_window {
	bool is_known;
	uint64_t generic_base, shared_base;
};

/* Parts of a device that were made in its context before the device was opened (device/ahead.h). */
struct cuda_ahead {
	CUmodule own;       /* the backend's kernels; NULL: not made */
	CUmodule condition; /* the module for conditional nodes; NULL: not made */
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
	/* Second-level cache: the bytes that can be set aside, and the largest window (R6). */
	int persisting_bytes, window_bytes;
	int compute_mode;
	bool pools, vmm, posix_descriptors, ipc_events, managed, concurrent_managed, host_register,
		cooperative, cluster, unified_addressing, host_native_atomics, host_pointers, mps;
};

struct backend {
	struct cuda_settings settings;
	struct cuda_library library;       /* libcuda's functions: backend->library.cuInit(0) */
	struct backend_topology topology;  /* device/facts.c */
	struct cuda_device_facts *devices; /* array of topology.device_count */
	/* By index; NULL: not open. Guarded by `lock`, because peers read it. */
	struct backend_device **open_devices;
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
	struct cuda_ahead ahead; /* parts made ahead that the device has not taken yet */
	/* Opened in a context that the application named, beside other openings of this device. */
	bool is_native;
	/* The context belongs to the application, so the backend never ends it (I9). */
	bool is_foreign;
	/* Number of this opening in the process. cuda_enter compares it with the thread's current
	 * context. */
	uint64_t opening;
	backend_wake *wake;
	void *token;
	struct cuda_clock *clock;         /* clock/clock.c */
	struct cuda_memory_state *memory; /* memory/memory.c: pools, staging, registered ranges */
	struct cuda_lanes *lanes;     /* lane/lane.c: stream and event pools, completion words */
	struct cuda_kernels *kernels; /* program/kernel.c: shared window base and the like */
	/* program/ calls this when only chain templates hold some program; lane/ then sets the
	 * templates again. NULL before the lanes are opened. Device thread. */
	void (*on_abandoned)(struct backend_device *device);
	/* lane/l2.c: bytes of persisting windows; bytes for which the cache was set up. */
	uint64_t l2_wanted, l2_set;
	/* enum cuda_life. The first thread that gets a sticky error changes it, once
	 * (driver/fault.c). */
	_Atomic int lost;
	struct backend_fault lost_fault;
};

/* A lane's stream, for the folders that put work on it (lane/lane.c). */
struct backend_lane {
	struct backend_device *device;
	enum backend_lane_kind kind;
	CUstream stream;
	/* The stream belongs to the application. It is never destroyed, and no other lane uses it
	 * (I9). */
	bool is_foreign;
	struct cuda_lane_state *state; /* private to lane/lane.c */
};

/*
 * Makes the device's context current on this thread (once per thread; F4). 0 or -EIO with a fault.
 */
int cuda_enter(struct backend_device *device, struct backend_fault *fault_out);
/* As cuda_enter, after functions of the application, which may have left any context current on
 * this thread. */
int cuda_enter_again(struct backend_device *device, struct backend_fault *fault_out);
/* Leaves no context current on this thread. */
void cuda_leave(struct backend_device *device);
/* Returns the number of the next opening of a device, for backend_device.opening. Any thread. */
uint64_t cuda_opening_next(void);

/* Retains a device's primary context. Sets its flags first if it is not active yet. *what_out: the
 * action that failed, untouched on success. Any thread. */
CUresult cuda_context_retain(const struct cuda_library *cu, CUdevice device, CUcontext *context_out,
			     const char **what_out);

#endif
