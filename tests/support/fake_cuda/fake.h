/*
 * The inside of the double. One lock guards everything but the bytes of memory. Streams run their
 * operations without the lock. Handles are the addresses of the structures below; fake_handles.c
 * has the table of the valid ones.
 */
#ifndef SYCL_TESTS_FAKE_H
#define SYCL_TESTS_FAKE_H

#include "fake_cuda.h"

/* This library exports the functions of the header. */
#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

#define FAKE_DEVICES_MAX 16
#define FAKE_GRANULE     ((size_t)2 << 20)
#define FAKE_ATTRIBUTES  256
#define FAKE_LIMITS      16

struct fake_device {
	int ordinal;
	int attributes[FAKE_ATTRIBUTES];
	size_t total_bytes, used_bytes;
	CUuuid uuid;
	char name[64], bus_id[16];
	struct CUctx_st *primary;
	unsigned primary_references, primary_flags;
	struct CUmemPoolHandle_st *default_pool, *current_pool;
	int64_t clock_offset_ns;
	double clock_drift; /* 1e-6: a microsecond in a second too fast */
	uint64_t clock_start_ns;
};

struct CUctx_st {
	int device;
	unsigned flags, made_flags; /* now; when it was made */
	bool primary;
	unsigned peers; /* bits of the devices whose memory is mapped */
	struct CUstream_st *null_stream;
	size_t limits[FAKE_LIMITS];
};

struct CUgreenCtx_st {
	struct CUgreenCtx_st *next;
	int device;
	unsigned first, count; /* multiprocessors */
	bool ended;
};

/* One operation of a stream. `run` is called without the lock. `drop` is always called, with the
 * lock, even if the operation never ran. */
struct fake_op {
	struct fake_op *next;
	const char *name; /* for gates: the kernel's, "copy", "memset" */
	bool kernel, calls_host;
	bool may_wait; /* true for other names and for calls of the program: it must not run on the
			  thread that sends it */
	void (*run)(struct fake_op *op, struct CUstream_st *stream);
	void (*drop)(struct fake_op *op);
};

struct CUstream_st {
	int number, device, priority;
	unsigned flags;
	struct CUctx_st *context;
	struct CUgreenCtx_st *green; /* its kernels run there alone; NULL: anywhere */
	struct fake_op *head, **tail;
	uint64_t submitted, completed;
	unsigned kernels;      /* submitted and not complete */
	unsigned host_calls;   /* the same */
	bool running;          /* an operation runs now */
	bool ends_with_kernel; /* what was sent last */
	uint64_t stall_target; /* kernels of other streams wait until that many operations are
				  complete here */
	bool started, destroyed;
	bool attributes_set;
	struct CUgraph_st
		*capture; /* operations become nodes of it; NULL: the stream does not capture */
	struct CUgraphNode_st **tails; /* the nodes that the next one comes after */
	size_t tail_count;
	bool capture_is_broken, capture_owns, capture_is_global;
	unsigned pace; /* how it delays its work: LAZY_*; 0: not chosen yet */
	pthread_t thread;
	pthread_cond_t work;
	struct CUstream_st *next;
};

/* The state of one cuEventRecord. */
struct fake_mark {
	unsigned references;
	bool done;
	uint64_t gpu_ns;
};

struct CUevent_st {
	int device;
	unsigned flags;
	struct fake_mark *mark; /* NULL: never recorded */
	struct fake_shared_event *shared;
	char shared_name[64];
	bool shared_owner;
};

enum fake_kind {
	FAKE_DEVICE = 1,
	FAKE_POOL = 2,
	FAKE_RESERVED = 3, /* addresses only */
	FAKE_MAPPED = 4,   /* VMM */
	FAKE_IPC = 5,
	FAKE_HOST = 6,
	FAKE_REGISTERED = 7,
	FAKE_MANAGED = 8,
	FAKE_GRAPH_MEMORY =
		9, /* of an allocation node: valid while a launch is between it and its free node */
};

struct fake_advice {
	bool read_mostly;
	CUmemLocation preferred, prefetched;
	uint32_t accessed_by; /* bits of devices; bit 31: the host */
};

/* A range of addresses in the driver's table. */
struct fake_range {
	CUdeviceptr base;
	size_t size;
	unsigned char *host; /* the place of its bytes in this process */
	size_t host_bytes;   /* as mapped */
	enum fake_kind kind;
	int device;
	unsigned flags;
	unsigned busy;   /* operations that use it now */
	bool live;       /* an asynchronous allocation is complete */
	bool freed;      /* it was freed; it is removed when no operation uses it */
	uint32_t access; /* VMM: bits of the devices that may use it */
	struct CUmemPoolHandle_st *pool;
	struct fake_physical *physical;
	int file; /* -1: none */
	char shared_name[64];
	struct fake_advice advice;
};

struct CUmemPoolHandle_st {
	int device;
	bool is_default;
	size_t used, reserved, used_high, reserved_high, maximum;
	uint64_t release_threshold;
	int reuse_event, reuse_opportunistic, reuse_internal;
	uint32_t access;
	CUmemAllocationHandleType handle_types;
};

struct fake_parameter {
	size_t offset, size;
};

struct CUfunc_st {
	struct CUmod_st *module;
	struct fake_parameter *parameters;
	unsigned parameter_count;
	size_t parameter_bytes;
	int static_shared, max_threads, dynamic_shared_max, registers, local_bytes, max_registers;
	int required_cluster[3], reqntid[3], nonportable_cluster;
	bool loaded;
	unsigned running;       /* launches that have not ended */
	unsigned named;         /* nodes of graphs and executable graphs that use it */
	struct fake_code *code; /* what the interpreter runs; NULL: only registered kernels */
	char name[];            /* freed with the function, whose memory is kept for a while */
};

struct CUmod_st {
	struct CUctx_st *context;
	struct CUfunc_st **functions;
	unsigned function_count;
	int ptx_version, binary_version;
	struct fake_program *program; /* NULL: not of PTX */
};

/* Opaque memory of an image; its bytes are rows that follow each other. */
struct CUarray_st {
	CUDA_ARRAY3D_DESCRIPTOR descriptor; /* Height and Depth 0 where there is no such dimension;
					       layers are the Depth */
	int device;
	unsigned users; /* textures and surfaces */
	size_t pixel_bytes, row_bytes, rows, slices, size;
	unsigned char *bytes;
};

/* The object behind a CUtexObject or a CUsurfObject. */
struct fake_texture {
	struct CUarray_st *array;
	CUDA_TEXTURE_DESC descriptor; /* of a texture */
};

/* A launch with a copy of everything that it needs. */
struct fake_launch {
	struct CUfunc_st *function;
	unsigned grid[3], block[3], cluster[3], shared_bytes;
	bool cooperative;
	bool early;                        /* it may begin before the one before it is complete */
	const struct CUgreenCtx_st *green; /* where it runs; NULL: anywhere. A node of a graph keeps
					      this on every stream */
	unsigned char *bytes;              /* the parameters, by the function's layout */
};

enum fake_handle {
	FAKE_CONTEXT = 1,
	FAKE_STREAM,
	FAKE_EVENT,
	FAKE_MEMORY_POOL,
	FAKE_MODULE,
	FAKE_FUNCTION,
	FAKE_GRAPH,
	FAKE_GRAPH_NODE,
	FAKE_GRAPH_EXEC,
	FAKE_PHYSICAL,
	FAKE_LIBRARY,
	FAKE_ARRAY,
	FAKE_TEXTURE,
	FAKE_SURFACE,
};

struct fake_state {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* broadcast when anything completes, opens or fails */
	bool configured, initialised;
	CUresult init_result;
	_Atomic int sticky;
	int driver_version;
	int device_count;
	struct fake_device devices[FAKE_DEVICES_MAX];
	struct CUstream_st *streams;
	int stream_numbers;
	unsigned kernels_running; /* submitted and not complete, all devices */
	unsigned holding;         /* calls that delay all launches */
	bool eager;               /* modules are loaded eagerly */
	uint64_t event_tick_ns;
	uint64_t (*stamp)(void); /* NULL: CLOCK_MONOTONIC */
	uint64_t copy_ns_per_mib;
	bool block_implicit, strict_print, launch_blocking;
	uint64_t lazy;     /* state of the random numbers that delay streams; 0: no delays */
	uint64_t moved_ns; /* when something was last sent or completed, for these delays */
	bool instant;      /* an operation is complete when its call returns; kernels are not run */
	uint64_t instant_launches; /* kernels, also those of graphs, since then */
};

extern struct fake_state fake;

/* fake_entry.c. Each function of the driver begins with ENTER. Its name is without _v2. */
struct fake_site {
	char name[48];
	uint64_t calls;
	struct fake_site *next;
};
#define NEED_NOTHING 0u /* works without cuInit and after a fault */
#define NEED_INIT    1u
#define NEED_CONTEXT 2u /* needs a current context */
#define NOTED_SYNC   4u /* waits for the device, or may: recorded while kernels run */
#define WAITS        8u /* returns when all work on the device has ended (measured on a real one) */
#define HOLDS        16u /* as WAITS, and delays all launches of the process meanwhile */
#define UNSAFE       32u /* forbidden, as those that wait, while a thread captures in the global mode */
CUresult fake_enter(struct fake_site *site, const char *name, unsigned needs);
#define ENTER(needs)                                                                               \
	static struct fake_site site_;                                                             \
	CUresult entered_ = fake_enter(&site_, __func__, needs);                                   \
	if (entered_ != CUDA_SUCCESS)                                                              \
	return entered_
void *fake_entry_find(const char *name, int version);
bool fake_entry_exists(const char *name);

static inline void fake_lock(void)
{
	(void)pthread_mutex_lock(&fake.lock);
}

static inline void fake_unlock(void)
{
	(void)pthread_mutex_unlock(&fake.lock);
}

void fake_unlock_cleanup(int *unused);
/* Holds the lock until the end of the block. */
#define LOCKED()                                                                                   \
	fake_lock();                                                                               \
	__attribute__((cleanup(fake_unlock_cleanup), unused)) int locked_ = 0

/* fake_tool.c, without the lock: of the tool that is attached, if any. A launch function begins;
 * the number of this thread's call, once; a kernel that began at `start_ns` is over. */
void fake_tool_call(unsigned function);
uint32_t fake_tool_own_call(void);
uint64_t fake_tool_now_ns(void);
void fake_tool_kernel(uint32_t call, uint64_t start_ns);

/* fake_record.c; the caller holds the lock. */
void fake_record(const struct fake_cuda_record *record);
void fake_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern __thread const char *fake_call_name; /* of this thread */
void fake_number_add(const char *what, int64_t by);
uint64_t fake_number(const char *what);
size_t fake_records_read(struct fake_cuda_record *records, size_t capacity);

/* fake_state.c; the caller holds the lock. Answers "limit NUMBER [DEVICE]" and the like. Returns
 * false for other names. */
bool fake_state_number(const char *what, uint64_t *number_out);

/* fake_jit.c; the caller holds the lock. PTX for the device is compiled, or found in the cache of
 * an earlier driver. */
void fake_jit_init(void); /* at cuInit */
void fake_jit_take(const char *text, int compute);

/* fake_handles.c; the caller holds the lock. */
void fake_handle_add(enum fake_handle kind, void *handle);
bool fake_handle_alive(enum fake_handle kind,
		       const void *handle);                   /* records a misuse if it is not */
void fake_handle_retire(enum fake_handle kind, void *handle); /* kept for a while, then freed */

/* fake_fault.c; the caller holds the lock. */
bool fake_gate_passes(const char *name); /* waits; false: the device was lost meanwhile */
CUresult fake_launch_fault(int device);  /* of the launch that begins now */
void fake_make_sticky(CUresult result);
CUresult fake_call_fault(const char *name);
bool fake_is_missing(const char *name);
int fake_fault_command(const char *verb, const char *rest);

/* fake_command.c */
int fake_command(const char *line);
void fake_configure(
	void); /* called once, before anything else: defaults, then the environment and the file */

/* fake_context.c */
struct CUctx_st *fake_current(void); /* NULL: none */
uint64_t fake_gpu_now(int device);
void fake_devices_default(void);
int fake_device_command(const char *verb, const char *rest);
const char *fake_environment(const char *name);
bool fake_can_reach(const struct CUctx_st *context, const struct fake_range *range);

/* fake_stream.c; the caller holds the lock. */
struct CUstream_st *fake_stream_use(CUstream stream); /* records stream 0; NULL: not a stream */
void fake_stream_add(struct CUstream_st *stream, struct fake_op *op);
/* True with `set instant` if everything before is complete. */
bool fake_stream_is_instant(const struct CUstream_st *stream);
void fake_stream_wait(struct CUstream_st *stream,
		      uint64_t target); /* until that many are complete, or a fault */
void fake_device_wait(int device);      /* for everything that has been sent so far */
void fake_launch_hold(void);            /* until no call holds up launches */
void fake_streams_stall(int device);    /* kernels that begin later wait for those that run now */
void fake_wait_changed(void);
void fake_dawdle(
	struct CUstream_st *stream); /* with `set lazy`: a delay that the rules of streams allow */
struct CUstream_st *fake_stream_make(struct CUctx_st *context, unsigned flags, int priority);

/* fake_memory.c; the caller holds the lock. */
struct fake_range *fake_range_find(CUdeviceptr address,
				   size_t size); /* NULL: not all of it is inside of one range */
CUresult fake_range_add(enum fake_kind kind, int device, size_t size,
			struct fake_range **range_out); /* with storage */
CUresult fake_addresses_take(size_t size, size_t alignment, CUdeviceptr *base_out);
struct fake_range *fake_range_insert(const struct fake_range *range);
void fake_range_drop(struct fake_range *range); /* when no operation uses it */
void fake_range_unbusy(struct fake_range *range);
CUresult
fake_range_share(struct fake_range *range); /* other processes then find it by shared_name */
unsigned char *fake_range_bytes(struct fake_range *range, CUdeviceptr address);
void fake_poison(void *bytes, size_t size);
void fake_free_in_order(struct fake_range *range);
size_t fake_device_free_bytes(int device);
bool fake_overlaps(CUdeviceptr base, size_t size);
struct fake_range *fake_range_at(size_t index);
size_t fake_range_count(void);

/* fake_vmm.c */
void fake_physical_unmap(struct fake_range *range);

/* fake_copy.c. pin: the bytes, marked as used until unpin; the caller holds the lock; NULL: an
 * illegal address. plain: of the host. */
unsigned char *fake_copy_pin(CUdeviceptr address, size_t size, bool plain,
			     struct fake_range **range_out);
void fake_copy_unpin(struct fake_range *range); /* accepts NULL; with the lock */
void fake_copy_pause(size_t size); /* for the time that a copy must take; without the lock */
/* Checks one end of a copy at the time of the call; the caller holds the lock. *host_out: memory
 * that the driver has not allocated. */
CUresult fake_copy_check_end(CUdeviceptr address, size_t size, bool must_be_device,
			     const struct CUctx_st *context, bool *host_out);
CUresult fake_memset_check(CUdeviceptr address, size_t bytes, unsigned element);
void fake_memset_now(CUdeviceptr address, size_t pitch, unsigned value, unsigned element,
		     size_t width, size_t height);

/* fake_copy3d.c, for copy nodes: the checks of the real driver, with the lock; the copy, without
 * it. */
CUresult fake_copy3d_check(const CUDA_MEMCPY3D *copy);
void fake_copy3d_now(const CUDA_MEMCPY3D *copy);

/* fake_capture.c; without the lock. True if work on this stream becomes nodes of a graph. The
 * others make the nodes. */
bool fake_is_capturing(CUstream stream);
CUresult
fake_capture_launch(CUstream stream,
		    const struct fake_launch *launch); /* takes ownership, also on failure */
CUresult fake_capture_copy(CUstream stream, const CUDA_MEMCPY3D *copy);
CUresult fake_capture_memset(CUstream stream, const CUDA_MEMSET_NODE_PARAMS *parameters);
void fake_capture_break(
	struct CUstream_st *stream); /* with the lock: a call that breaks every capture */
/* With the lock: true if this thread may make a call that can wait while a stream captures. */
bool fake_capture_permits(void);

/* fake_array.c; the caller holds the lock. NULL: a misuse, which is recorded. */
struct CUarray_st *fake_array_use(CUarray array);
struct fake_texture *fake_texture_use(enum fake_handle kind, uint64_t object, int device);

/* fake_texture.c: the value of a texture at (x, y, z), as bits of floats or integers. False: the
 * texture has another type than `type`. */
bool fake_texture_fetch(const struct fake_texture *texture, unsigned dimensions, char type,
			long layer, const float coordinate[3], uint32_t value_out[4]);
static inline bool fake_array_is_layered(const struct CUarray_st *array)
{
	return (array->descriptor.Flags & CUDA_ARRAY3D_LAYERED) != 0;
}

/* fake_launch.c */
CUresult fake_launch_check(const struct fake_launch *launch);
CUresult fake_launch_copy(struct CUfunc_st *function, const unsigned grid[3],
			  const unsigned block[3], unsigned shared_bytes, void **parameters,
			  void **extra, struct fake_launch *launch_out);
void fake_launch_free(struct fake_launch *launch);
void fake_launch_run(const struct fake_launch *launch,
		     struct CUstream_st *stream); /* without the lock */
/*
 * With `set instant 1`, and the lock: the launch is complete at once. Kernels of programs are
 * counted and not run. Of the backend's own kernels sycl_copy copies, sycl_fill fills and
 * sycl_signal counts, and none is counted.
 */
void fake_launch_instant(const struct CUfunc_st *function, const void *const *parameters);
void fake_launch_instant_node(const struct fake_launch *launch);
void fake_launch_loads(struct CUfunc_st *function);
struct fake_range *
fake_kernel_reach(uint64_t address,
		  uint64_t bytes); /* for the launch that runs here; with the lock; NULL: illegal */
fake_cuda_kernel *fake_kernel_find(const char *name);
int fake_kernel_register(const char *name, fake_cuda_kernel *function);
void *fake_kernel_memory(const struct fake_cuda_launch *launch, uint64_t address, uint64_t bytes);
void fake_kernel_fault(const struct fake_cuda_launch *launch, int result) __attribute__((noreturn));

/* fake_kernels.c: the kernels of the conformance list, for PTX that has their names and no
 * instructions. */
fake_cuda_kernel *fake_builtin_find(const char *name);

/* fake_ptx.c: the entries of a PTX text. */
CUresult fake_ptx_read(const char *text, int compute, struct CUmod_st *module, char *log,
		       size_t log_bytes);
/*
 * fake_link.c: joins several texts by the names of their functions and variables. The result is
 * malloc'ed. NULL with words in the log: a name is missing or defined twice. NULL without: no
 * memory.
 */
char *fake_link_texts(const char *const *texts, unsigned count, char *log, size_t log_bytes);
struct CUfunc_st *fake_function_make(struct CUmod_st *module, const char *name,
				     size_t length); /* NULL: no memory */
/* fake_interpreter.c: runs the whole grid on the stream's thread, without the lock. An error ends
 * it by fake_kernel_fault. */
void fake_program_free(struct fake_program *program);  /* accepts NULL; with the lock */
bool fake_code_is_empty(const struct fake_code *code); /* accepts NULL */
bool fake_code_waits(const struct fake_code *code);    /* griddepcontrol.wait is in it */
bool fake_program_global(const struct fake_program *program, const char *name,
			 CUdeviceptr *address_out, size_t *size_out);
void fake_code_end(void); /* frees what a launch left on this thread, however it ended */
void fake_code_run(const struct CUfunc_st *function, const struct fake_cuda_launch *launch,
		   unsigned char *parameters);
/* fake_cubin.c */
CUresult fake_fatbin_read(const void *image, int compute, struct CUmod_st *module, char *log,
			  size_t log_bytes);
CUresult fake_cubin_read(const void *image, int compute, struct CUmod_st *module, char *log,
			 size_t log_bytes);

#endif
