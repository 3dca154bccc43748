/*
 * What the files of this folder share. Each part below belongs to the file that it names; the rest
 * of a struct is read by others and written by nobody else. CUDA's names keep CUDA's words;
 * everything else keeps backend.h's.
 *
 * Threads: a device has its own thread, and a loader thread for the entries that backend.h marks;
 * both enter through cuda_enter, which makes the device's primary context current. The driver
 * itself is thread-safe.
 */
#ifndef SYCL_BACKENDS_CUDA_INTERNAL_H
#define SYCL_BACKENDS_CUDA_INTERNAL_H

#include "backend.h"
#include "cuda/lane/ahead.h"
#include "cuda/driver/library.h"

#include <cuda.h>
#include <pthread.h>
#include <stdatomic.h>

#define CUDA_PARAMETER_BYTES_MAX 32764u
#define CUDA_PARAMETERS_MAX      1024u

/* How data comes from one GPU to another; AUTO takes the first that works. */
enum cuda_peer_path {
	CUDA_PEER_AUTO = 0,
	CUDA_PEER_DIRECT = 1,  /* access enabled: the destination reads the source's memory */
	CUDA_PEER_COPY = 2,    /* cuMemcpyPeerAsync, access not enabled */
	CUDA_PEER_MANAGED = 3, /* through managed memory that migrates */
	CUDA_PEER_HOST = 4,    /* through pinned host memory */
};

/* cuda_settings.c: options of sycld.conf's section [cuda]; every one has a default. */
struct cuda_settings {
	char *library;                 /* "library": libcuda.so.1 by another name */
	char *nvrtc;                   /* "nvrtc": libnvrtc by another name */
	enum cuda_peer_path peer_path; /* "peer_path" = auto direct peer managed host */
	uint64_t stack_bytes;          /* "stack_bytes": of a work-item; 0: the driver's */
	uint64_t headroom_bytes; /* "headroom_bytes": of device memory, left for modules (F9) */
	uint32_t lanes;          /* "lanes": compute lanes of a device */
	uint32_t connections;    /* "connections": queues to a device, of the driver's own */
	uint32_t chain_length;   /* "chain_length": longest chain template, 1 2 4 8 16; 0: plain
				    launches only */
	bool overlap; /* "overlap" = yes no: kernels in a row begin while the one before them ends
		       */
	uint32_t latency_multiprocessors; /* the same name: set apart for the latency class; 0: none
					     (cuda_partition.h) */
};

/* cuda_facts.c */
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
	struct backend_topology topology;  /* cuda_facts.c */
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
	uint64_t opening; /* counts device_open of this process: cuda_enter knows by it which
			     context a thread has */
	backend_wake *wake;
	void *token;
	struct cuda_clock *clock;         /* cuda_clock.c */
	struct cuda_memory_state *memory; /* cuda_memory.c: pools, staging, registered ranges */
	struct cuda_lanes *lanes;     /* cuda_lane.c: stream and event pools, completion words */
	struct cuda_kernels *kernels; /* cuda_kernel.c: shared window base and the like */
	uint64_t l2_wanted, l2_set;   /* cuda_l2.c: of windows that persist; for which the cache has
					 been set up */
	/* enum cuda_life; left once by whoever sees a sticky error first (cuda_fault.c). */
	_Atomic int lost;
	struct backend_fault lost_fault;
};

/* How a memory was taken from the driver. */
enum cuda_memory_origin {
	CUDA_ORIGIN_POOL = 0,
	CUDA_ORIGIN_PLAIN = 1, /* cuMemAlloc */
	CUDA_ORIGIN_VMM = 2,
	CUDA_ORIGIN_IPC = 3,   /* cuIpcOpenMemHandle */
	CUDA_ORIGIN_ARRAY = 4, /* an image (cuda_array.c) */
	CUDA_ORIGIN_GRAPH =
		5, /* a graph's own, in a struct cuda_graph_temporary (cuda_graph_memory.c) */
};

/* cuda_memory.c */
struct backend_memory {
	struct backend_device *device;
	CUdeviceptr address;
	uint64_t size_bytes;     /* as asked for */
	uint64_t reserved_bytes; /* as taken from the device */
	enum backend_export_kind export_kind;
	bool imported;
	CUmemGenericAllocationHandle allocation; /* VMM */
	enum cuda_memory_origin origin;
	CUevent zeroed; /* exported memory: happens when its old bytes are gone; NULL: it has none
			 */
	_Atomic bool settled; /* nobody needs to wait for `zeroed` any more */
	_Atomic uint64_t
		peers; /* VMM: a bit for each device (index) that may read it besides its own */
	struct cuda_reap *reap; /* how it is freed (cuda_reaper.h); NULL: in the pool */
	struct cuda_array
		*array; /* of an image, which has no address (cuda_array.h); NULL: it is a buffer */
};

/* cuda_event_share.c, cuda_native.c */
struct backend_event {
	struct backend_device *device;
	CUevent event;
	bool is_foreign; /* the application's: waited for, neither recorded nor destroyed (I9) */
};

/* A host range that the device reaches (cuda_host.c). */
struct backend_host {
	struct backend_device *device;
	void *host;
	uint64_t size_bytes;
	CUdeviceptr address;
};

/* One launch, ready for the driver; `parameters[i]` point into the storage that the caller gave. */
struct cuda_launch {
	CUfunction function;
	unsigned grid[3], block[3]; /* CUDA's order */
	unsigned shared_bytes;
	void **parameters;
	uint32_t parameter_count;
	uint32_t parameter_bytes; /* in the storage */
	bool cooperative;
	bool waits; /* its code waits for the kernels before it (cuda_ptx_wait.h) */
	bool early; /* it says itself where it waits, and may begin while the launch before it runs
		       (R5) */
	struct backend_l2_window window; /* R6; size_bytes 0: none. Such a launch goes by itself */
	unsigned cluster[3];             /* CUDA's order; 0: none */
};

/* A lane's stream, for those who put work on it (cuda_lane.c). */
struct backend_lane {
	struct backend_device *device;
	enum backend_lane_kind kind;
	CUstream stream;
	bool is_foreign; /* the stream is the application's: never destroyed, never another lane's
			    (I9) */
	struct cuda_lane_state *state; /* cuda_lane.c's own */
};

/* cuda_device.c: make the device's context current on this thread (once per thread; F4). 0 or -EIO
 * with a fault. */
int cuda_enter(struct backend_device *device, struct backend_fault *fault_out);
/* The same after functions of the application, which may have left any context current on this
 * thread. */
int cuda_enter_again(struct backend_device *device, struct backend_fault *fault_out);

/*
 * cuda_fault.c: put a CUresult into words. `what` is said before the driver's own words: "cannot
 * allocate 4096 bytes"; of an open device that has failed "the device failed", whichever call finds
 * it. Status: of the result (out of memory: MEMORY_ALLOCATION; argument: INVALID; ...). Sticky
 * results (700, 702, 710, 714 - 719, 226, 911 and the like) mark the device lost: device_lost and
 * process_lost. Returns a negative errno.
 */
int cuda_fault(struct backend_device *device_or_null, const struct cuda_library *library,
	       CUresult result, struct backend_fault *fault_out, const char *what, ...)
	__attribute__((cold, format(printf, 5, 6)));
bool cuda_result_is_sticky(CUresult result);

/*
 * cuda_transfer.c: put WRITE, READ, COPY, FILL, COPY_PEER, USM_* on the lane's stream, after all
 * that is on it. *finish_out: NULL, or something that must be run once, on the device's thread,
 * when the command is complete or the device is lost, before it is told: cuda_finish_run, which
 * ends it. It gives staging back, and after it the caller's host memory is never touched again.
 */
struct cuda_finish;
int cuda_transfer_enqueue(struct backend_lane *lane, const struct backend_command *command,
			  struct cuda_finish **finish_out, struct backend_fault *fault_out);
void cuda_finish_run(struct cuda_finish *finish);

/*
 * cuda_memory.c: the lane does not go on before the memory's old bytes are gone; call it for each
 * GLOBAL argument of a launch (the commands of cuda_transfer_enqueue do it themselves). Costs
 * something only for exported memory, just made.
 */
int cuda_memory_settle(struct backend_lane *lane, struct backend_memory *memory,
		       struct backend_fault *fault_out);

/* cuda_memory.c, cuda_host.c, cuda_share.c, cuda_usm.c: entries of backend.h, by the same names
 * with cuda_ before. */
int cuda_memory_open(struct backend_device *device,
		     struct backend_fault *fault_out); /* at device_open */
void cuda_memory_close(struct backend_device *device);

/*
 * cuda_kernel.c: check a launch and compute what the driver needs (E1, E8, E9, E14); `storage` of
 * `storage_bytes` holds the parameters. -ENOSPC: storage too small (CUDA_PARAMETER_BYTES_MAX always
 * does). Touches no driver state.
 */
int cuda_kernel_prepare(struct backend_kernel *kernel, const struct backend_command *command,
			void *storage, size_t storage_bytes, void **parameters,
			uint32_t parameters_max, struct cuda_launch *launch_out,
			struct backend_fault *fault_out);
/*
 * The arguments of a launch that was prepared, once more at another place, but for its values:
 * those `value_bytes_behind` the command's own. `to` and `to_parameters` have as much room as the
 * first's.
 */
void cuda_kernel_repeat(const struct backend_kernel *kernel, const struct backend_command *command,
			size_t value_bytes_behind, const unsigned char *from,
			void *const *from_parameters, unsigned char *to, void **to_parameters);
int cuda_kernels_open(struct backend_device *device,
		      struct backend_fault *fault_out); /* at device_open */
void cuda_kernels_close(struct backend_device *device);

/*
 * cuda_clock.c: CLOCK_MONOTONIC of two timing events that have both happened, +-0.5 us against each
 * other however long the service runs (H8). Device thread.
 */
int cuda_clock_open(struct backend_device *device,
		    struct backend_fault *fault_out); /* at device_open; up to 3 ms */
void cuda_clock_close(struct backend_device *device);
/*
 * Call before the start event of a timed command is recorded: keeps a base near. Four times a
 * second some 30 us, 50 at most, otherwise a reading of the host's clock.
 */
int cuda_clock_prepare(struct backend_device *device, struct backend_fault *fault_out);
/* -EAGAIN: not both have happened yet. */
int cuda_clock_times(struct backend_device *device, CUevent start, CUevent end,
		     uint64_t *start_ns_out, uint64_t *end_ns_out, struct backend_fault *fault_out);

/* cuda_facts.c: fill backend->topology and backend->devices. Makes no context (A17). Calls cuInit.
 */
int cuda_facts_read(struct backend *backend, struct backend_fault *fault_out);
void cuda_facts_free(struct backend *backend);

/* cuda_lane.c: an event from the pool, without (`timed` false) or with times; given back when it is
 * not needed. */
int cuda_event_take(struct backend_device *device, bool timed, CUevent *event_out,
		    struct backend_fault *fault_out);
void cuda_event_give(struct backend_device *device, bool timed, CUevent event);

/* cuda_build.c */
int cuda_build(struct backend *backend, uint32_t device, enum backend_source_kind kind,
	       const char *source, size_t source_bytes, const char *options, void **binary_out,
	       size_t *binary_bytes_out, char **log_out, struct backend_fault *fault_out);

#endif
