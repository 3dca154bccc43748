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
	/* second-level cache: the bytes that can be set aside, and the largest window (R6). */
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
	/* By index; NULL: not open. Guarded by `lock`, since peers read it. */
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
	struct cuda_ahead ahead; /* parts made ahead that the device has not taken */
	/* Opened in a context that the application named, beside other openings of this device. */
	bool is_native;
	/* That context is not this backend's own: it is used and never ended (I9). */
	bool is_foreign;
	/* Number of this opening in the process; cuda_enter compares it to know a thread's current
	 * context. */
	uint64_t opening;
	backend_wake *wake;
	void *token;
	struct cuda_clock *clock;         /* clock/clock.c */
	struct cuda_memory_state *memory; /* memory/memory.c: pools, staging, registered ranges */
	struct cuda_lanes *lanes;     /* lane/lane.c: stream and event pools, completion words */
	struct cuda_kernels *kernels; /* program/kernel.c: shared window base and the like */
	/* program/ calls it when chain templates alone hold some program: lane/ sets them again.
	 * NULL before the lanes are opened. Device thread. */
	void (*on_abandoned)(struct backend_device *device);
	/* lane/l2.c: bytes of windows that persist; bytes for which the cache was set up. */
	uint64_t l2_wanted, l2_set;
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
