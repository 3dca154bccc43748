/*
 * The work of one vendor's driver for the engine: opencl and cuda.
 *
 * Threads. `open`, `enumerate`, `build` and `close` are called once each, by one thread at a time.
 * That may be another thread each time, and other backends may be opened and queried meanwhile. The
 * build helper process calls `build`, and before it only open and enumerate. Entries for a device
 * and its objects are called only from that device's own thread, unless an entry's comment names
 * another one. With BACKEND_FEATURE_INLINE the engine's front thread calls submit, flush, progress
 * and quiet_wanted, too. Meanwhile the device's own thread calls no entry: still one at a time,
 * with memory fences in between. Entries marked "loader" may take long. If the device has
 * BACKEND_FEATURE_LOADER, its second thread calls them, at the same time as the others, but only
 * one of them at a time. An entry returns 0 or a negative errno and fills `fault_out` if it has
 * one. It never calls upward (except `wake`), never exits, never aborts, never prints. Outputs stay
 * untouched on failure. Destructors accept NULL.
 *
 * The types of arguments and results are in the headers that this one includes: fault, device,
 * memory, program, native, command and lane. The objects are opaque here; each backend defines its
 * own `struct backend_device` and so on. Ranges are in SYCL's order (the last dimension varies
 * fastest); the backend reverses them (E1, E2).
 */
#ifndef SYCL_BACKENDS_BACKEND_H
#define SYCL_BACKENDS_BACKEND_H

#include "backend_command.h"
#include "backend_device.h"
#include "backend_fault.h"
#include "backend_lane.h"
#include "backend_memory.h"
#include "backend_native.h"
#include "backend_program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BACKEND_OPS_VERSION   7u
#define BACKEND_LOG_BYTES_MAX (48u << 10)

struct backend;
struct backend_device;
struct backend_lane;
struct backend_memory;
struct backend_program;
struct backend_kernel;
struct backend_host; /* a range of host memory that a device can reach */
/* Shared with other processes, or the vendor's own, given by the application. */
struct backend_event;
struct backend_graph; /* commands and their order, sent as one */
struct backend_row;   /* launches in a row that are sent again and again */

/* May be called from any thread, also from inside an entry: "progress() of this device has
 * something". Never blocks. */
typedef void backend_wake(void *token);

/* How a backend is set up. Options are "NAME=VALUE", of this backend alone; an unknown one is
 * -EINVAL with a sentence. */
struct backend_settings {
	const char *cache_directory; /* folder for the vendor's cache; NULL: none */
	const char *const *options;  /* ended by NULL; NULL: none */
	/*
	 * Only of preload: the process will become another user. Then cache_directory is a path
	 * that leads to an empty folder, or nowhere, and to that user's folder later.
	 */
	bool for_another_user;
};

struct backend_ops {
	uint32_t version; /* BACKEND_OPS_VERSION */
	enum backend_kind kind;
	const char *name; /* "opencl", "cuda"; as in the configuration */
	/* Format of the binaries that `build` returns. Raised when it changes, because binaries are
	 * kept on disk. */
	uint32_t binary_format;

	/*
	 * Optional. Sets the variables that the vendor's library will read from the environment,
	 * and nothing else. One thread calls it for every backend before any backend is opened.
	 * Later, other threads may be reading the environment.
	 */
	void (*prepare)(const struct backend_settings *settings);
	/*
	 * Optional. Prepares devices in a process without a user, so that opening them later takes
	 * less time. Bit n: device n of enumerate, which has the same number in every process. One
	 * thread calls this before everything else. It may call again with more devices, or with
	 * the same ones to check that they still work; earlier preparation stays. No data of a user
	 * may be read, made or kept. 0: some devices are prepared, or none was requested.
	 * -EOPNOTSUPP: none of these devices is prepared or can be. Any other error: all
	 * preparation is lost. May take a second for each device.
	 */
	int (*preload)(const struct backend_settings *settings, uint64_t devices,
		       struct backend_fault *fault_out);
	/* Loads the vendor's library. -ENODEV and a fault: there is no library or no driver here.
	 * The platform is then active, but not available. May take a second. */
	int (*open)(const struct backend_settings *settings, struct backend **backend_out,
		    struct backend_fault *fault_out);
	void (*close)(struct backend *backend);
	/* Lists all platforms and devices. The lists are the backend's, valid until close. The
	 * first call may take a second. */
	int (*enumerate)(struct backend *backend, struct backend_topology *topology_out,
			 struct backend_fault *fault_out);

	/*
	 * Builds a source for a device (index of enumerate). The binary and the log are malloc'ed
	 * and the caller's; the log also on failure, NULL if there is none. -EINVAL and
	 * STATUS_BUILD for a source that does not compile. Called in the build helper; may take as
	 * long as the compiler.
	 */
	int (*build)(struct backend *backend, uint32_t device, enum backend_source_kind kind,
		     const char *source, size_t source_bytes, const char *options,
		     void **binary_out, size_t *binary_bytes_out, char **log_out,
		     struct backend_fault *fault_out);
	/*
	 * Optional, with program_add. As `build`, for a portable source and some numbers of
	 * dimensions: bit d - 1 for d; 0: all. The kernels and their facts must not depend on that
	 * number. `dimensions_asked`: those that the source's text asks for, or 0; pure, any
	 * thread.
	 */
	uint32_t (*dimensions_asked)(const char *source, size_t source_bytes);
	int (*build_dimensions)(struct backend *backend, uint32_t device,
				enum backend_source_kind kind, const char *source,
				size_t source_bytes, const char *options, uint32_t dimensions,
				void **binary_out, size_t *binary_bytes_out, char **log_out,
				struct backend_fault *fault_out);

	/*
	 * Optional. Compiles something of the backend's own, so that builds for the device take
	 * less time in forks of this process. The process starts no other thread that a build
	 * needs, and builds nothing itself. -EOPNOTSUPP: a fork of a process with this driver
	 * cannot build. Called in the build helper, after enumerate.
	 */
	int (*warm)(struct backend *backend, uint32_t device, struct backend_fault *fault_out);

	/*
	 * Optional (LINK). `compile` makes one object, as `build` makes a binary. `link` makes a
	 * binary for `program_load` of several objects. Objects have the backend's own head, so
	 * that other bytes are refused (-EINVAL).
	 */
	int (*compile)(struct backend *backend, uint32_t device, enum backend_source_kind kind,
		       const char *source, size_t source_bytes, const char *options,
		       void **object_out, size_t *object_bytes_out, char **log_out,
		       struct backend_fault *fault_out);
	int (*link)(struct backend *backend, uint32_t device, uint32_t count,
		    const void *const *objects, const size_t *object_bytes, const char *options,
		    void **binary_out, size_t *binary_bytes_out, char **log_out,
		    struct backend_fault *fault_out);

	/*
	 * Optional; called where enumerate is. Divides a device of enumerate, or a part of one, in
	 * a way that its facts allow. *count_out: how many parts that makes; more than `capacity`:
	 * then none was made. -EINVAL: the driver refuses.
	 */
	int (*sub_devices_create)(struct backend *backend, uint32_t device,
				  const struct backend_division *division, uint32_t capacity,
				  struct backend_sub_device *sub_devices_out, uint32_t *count_out,
				  struct backend_fault *fault_out);
	/* Optional (NATIVE); as above. The application's own part of a device, retained until
	 * sub_device_free. -EINVAL: it is not a sub-device. */
	int (*sub_device_take)(struct backend *backend, uint64_t native,
			       struct backend_sub_device *sub_device_out,
			       struct backend_fault *fault_out);
	/* The sub-device must not be open any more. */
	void (*sub_device_free)(struct backend *backend, uint32_t sub_device);

	/* Make the device usable. Called on the device's thread, as all below. `wake(token)`: see
	 * backend_wake. */
	int (*device_open)(struct backend *backend, uint32_t device, backend_wake *wake,
			   void *token, struct backend_device **device_out,
			   struct backend_fault *fault_out);
	/* Everything of the device has been freed before. */
	void (*device_close)(struct backend_device *device);

	/* A lane runs its commands in order. A copy lane takes NOP, COPY, WRITE, READ, FILL and
	 * COPY_PEER. */
	int (*lane_create)(struct backend_device *device, enum backend_lane_kind kind,
			   struct backend_lane **lane_out, struct backend_fault *fault_out);
	void (*lane_free)(struct backend_lane *lane); /* idle */

	/*
	 * Makes memory of a device. `host`: page-aligned shared memory that outlives it. A device
	 * with host_unified_memory uses that memory in place; others may ignore it. Otherwise
	 * contents are undefined. size_bytes > 0. -EAGAIN: no room before a quiet moment (below).
	 * `export_kind` other than NONE: memory_export can be called on the memory. Its address
	 * then never changes, and no other memory lies in its granules. -ENOTSUP: the device does
	 * not have that feature.
	 */
	int (*memory_create)(struct backend_device *device, uint64_t size_bytes, void *host,
			     enum backend_export_kind export_kind,
			     struct backend_memory **memory_out, struct backend_fault *fault_out);
	void (*memory_free)(struct backend_memory *memory); /* no command uses it any more */
	/*
	 * Optional; may take milliseconds. Returns memory that is kept for reuse to the device,
	 * where other processes can have it. *capacity_out: roughly how much of the device's memory
	 * all processes together can have.
	 */
	void (*memory_trim)(struct backend_device *device, uint64_t *capacity_out);

	/*
	 * Optional (IMAGE). Makes a memory only for WRITE, READ and COPY (whole, between images of
	 * one description) and for IMAGE arguments. -ENOTSUP: this device does not have that
	 * format, or that many dimensions. -EINVAL: too large. -EAGAIN: as above.
	 */
	int (*image_create)(struct backend_device *device, const struct backend_image *image,
			    struct backend_memory **memory_out, struct backend_fault *fault_out);

	/* Optional (EXPORT_*). A descriptor in *shared_out is the caller's. */
	int (*memory_export)(struct backend_memory *memory,
			     struct backend_shared_memory *shared_out,
			     struct backend_fault *fault_out);
	/*
	 * Optional (EXPORT_*). Imports memory that another process exported. Uses size_bytes <=
	 * shared->size_bytes of it. The descriptor stays the caller's. memory_free ends the import;
	 * the exporter's memory stays.
	 */
	int (*memory_import)(struct backend_device *device,
			     const struct backend_shared_memory *shared, uint64_t size_bytes,
			     struct backend_memory **memory_out, struct backend_fault *fault_out);

	/*
	 * Optional (HOST_REGISTER); loader, and one more thread at the same time. Pins page-aligned
	 * memory that commands will read and write, so that transfers run at full speed. Transfers
	 * from memory that is not registered work, too, but more slowly.
	 */
	int (*host_register)(struct backend_device *device, void *host, uint64_t size_bytes,
			     struct backend_host **host_out, struct backend_fault *fault_out);
	void (*host_unregister)(struct backend_host *host); /* no command uses it any more */

	/*
	 * Optional (USM); loader. The address is the same for the device and, for HOST and SHARED,
	 * for this process. `alignment_bytes`: a power of two up to 4096, 0: the device's.
	 * -ENOTSUP: not that kind. size_bytes > 0. -EAGAIN: as memory_create, without
	 * BACKEND_FEATURE_LOADER only.
	 */
	int (*usm_alloc)(struct backend_device *device, enum backend_usm_kind kind,
			 uint64_t size_bytes, uint64_t alignment_bytes, void **pointer_out,
			 struct backend_fault *fault_out);
	void (*usm_free)(struct backend_device *device, enum backend_usm_kind kind, void *pointer);

	/* Optional (SHARED_EVENT). Another process gives the handle to event_open, or a CUDA
	 * program gives it to its driver. */
	int (*event_create)(struct backend_device *device, struct backend_event **event_out,
			    uint8_t handle_out[64], struct backend_fault *fault_out);
	int (*event_open)(struct backend_device *device, const uint8_t handle[64],
			  struct backend_event **event_out, struct backend_fault *fault_out);
	void (*event_free)(struct backend_event *event);
	/* Optional (SHARED_EVENT). Records the event now, behind all earlier commands of the lane.
	 * This is no command, and no completion reports it. */
	int (*event_record)(struct backend_lane *lane, struct backend_event *event,
			    struct backend_fault *fault_out);

	/*
	 * Optional (NATIVE), in an application's own process only. The vendor's handle of an object
	 * (a lane, a memory, a program, a kernel, an event; NULL for platform, device and context).
	 * Where the vendor counts references (OpenCL) the caller gets one of its own (J4).
	 * Elsewhere (CUDA) the handle is the backend's for as long as the object lives (I8).
	 * -EOPNOTSUPP: this kind has none.
	 */
	int (*native_get)(struct backend_device *device, enum backend_native_kind kind,
			  void *object, uint64_t *native_out, struct backend_fault *fault_out);
	/*
	 * Optional (NATIVE). The devices (bits: indices of enumerate) that belong to a native
	 * platform, device or context; called where enumerate is. -EINVAL: no such thing, or not of
	 * this vendor.
	 */
	int (*native_devices)(struct backend *backend, enum backend_native_kind kind,
			      uint64_t native, uint64_t *devices_out,
			      struct backend_fault *fault_out);
	/*
	 * Optional (NATIVE). As above for a QUEUE, MEMORY, PROGRAM or KERNEL; and whether a DEVICE
	 * is a part of another. `context`: the native one to which it must belong, or 0. Without
	 * this entry no memory can be made. A queue then counts as in-order, without times and of
	 * its context's only device. -EINVAL: no such object, or of another context. -EOPNOTSUPP:
	 * this kind is not supported, or SYCL has no such image.
	 */
	int (*native_describe)(struct backend *backend, enum backend_native_kind kind,
			       uint64_t native, uint64_t context,
			       struct backend_native_facts *facts_out,
			       struct backend_fault *fault_out);
	/*
	 * Optional (NATIVE). As device_open, in the application's context: all of it lives there.
	 * OpenCL retains the context until device_close, CUDA does not and the application must
	 * keep it (I9, J2).
	 */
	int (*device_open_native)(struct backend *backend, uint32_t device, uint64_t native_context,
				  backend_wake *wake, void *token,
				  struct backend_device **device_out,
				  struct backend_fault *fault_out);
	/*
	 * Optional (NATIVE). The application's QUEUE, MEMORY, KERNEL or EVENT as a lane, memory,
	 * kernel or event of this device, freed as any other. Retained until then by OpenCL, left
	 * to the application by CUDA. -EINVAL: not of this device's context, or not of this kind.
	 * -EOPNOTSUPP: this kind cannot be made. size_out: of a memory, in bytes; else 0.
	 */
	int (*native_make)(struct backend_device *device, enum backend_native_kind kind,
			   uint64_t native, void **object_out, uint64_t *size_out,
			   struct backend_fault *fault_out);
	/*
	 * Optional (NATIVE). The application's programs, 1 or more, as one program of this device
	 * in that state. They are compiled and linked as necessary, and each is retained until
	 * program_free (J10 - J12). Loader. -EINVAL: not of this device's context, or a state that
	 * does not fit them. If the vendor refuses: STATUS_INVALID with one program and
	 * STATUS_BUILD with several.
	 */
	int (*native_program)(struct backend_device *device, enum backend_program_state state,
			      const uint64_t *natives, uint32_t count,
			      struct backend_program **program_out,
			      struct backend_fault *fault_out);
	/*
	 * Optional (NATIVE). Of an event of native_make, once: have `happened` called once. It is
	 * not called any more when event_free has returned. Without this entry EVENT_WAIT on a lane
	 * waits for such events, and holds up the lane.
	 */
	int (*event_watch)(struct backend_event *event, backend_happened *happened, void *token,
			   struct backend_fault *fault_out);

	/*
	 * Optional (GRAPH). Commands are added after the nodes that they wait for, each of which
	 * has been added before. Data that they point to is read now. Memories, kernels and host
	 * ranges must live as long as the graph. LAUNCH, COPY, WRITE, READ, FILL, COPY_PEER, USM_*,
	 * NOP; NATIVE with BACKEND_FEATURE_GRAPH_NATIVE. GRAPH: the nodes of a finished graph are
	 * copied in, as they are then; that graph may change or be freed. -EOPNOTSUPP: this command
	 * cannot be a node here; the graph is as before. Nodes count from 0. CONDITION with
	 * BACKEND_FEATURE_GRAPH_CONDITION: nodes of its body wait for nodes of the same body only,
	 * and no others wait for them. Neither NATIVE nor GRAPH is among them. Such a graph is no
	 * node of another one, and has neither memory of its own nor updates. A node keeps the
	 * addresses of its memories. A memory that was freed and made again is another memory, for
	 * graph_update or another graph. The host memory of WRITE and READ is read and written at
	 * each launch. Prefetches and advice may be given before the whole graph. A native
	 * command's function is called by graph_add. It gets a graph of its own where the vendor
	 * has such (CUDA), else the graph itself between barriers (OpenCL). If it fails there,
	 * graph_finish fails.
	 */
	int (*graph_create)(struct backend_device *device, struct backend_graph **graph_out,
			    struct backend_fault *fault_out);
	int (*graph_add)(struct backend_graph *graph, const struct backend_command *command,
			 const uint32_t *after, uint32_t after_count, uint32_t *node_out,
			 struct backend_fault *fault_out);
	/*
	 * Optional (GRAPH). Memory of a graph that is not finished: only nodes of the graph may
	 * name it. It exists while a launch runs, from before the first node that names it to
	 * behind the last one, with undefined contents. Its address is the graph's for good. Graphs
	 * whose launches do not run at one time may share device memory. It ends with the graph:
	 * neither memory_free nor any entry but graph_add and graph_update may get it. -EOPNOTSUPP:
	 * this graph can have none.
	 */
	int (*graph_temporary)(struct backend_graph *graph, uint64_t size_bytes,
			       struct backend_memory **memory_out, struct backend_fault *fault_out);
	/*
	 * Finishes the graph: from now on it can be submitted, and nothing can be added.
	 * `updatable`: graph_update will be called. May take milliseconds; with QUIET_LOAD it may
	 * wait for what runs.
	 */
	int (*graph_finish)(struct backend_graph *graph, bool updatable,
			    struct backend_fault *fault_out);
	/*
	 * Optional (GRAPH_UPDATE). A node of a finished graph that is not in flight gets other
	 * arguments, ranges, memories or bytes; kind and kernel stay. With
	 * BACKEND_FEATURE_GRAPH_SWITCH a launch, a copy or a fill may get a NOP. The node is then
	 * skipped, and only orders, until it gets a command of its own kind again. -EOPNOTSUPP: not
	 * this change; nothing has changed.
	 */
	int (*graph_update)(struct backend_graph *graph, uint32_t node,
			    const struct backend_command *command, struct backend_fault *fault_out);
	void (*graph_free)(struct backend_graph *graph); /* the graph is not in flight */

	/* Loader. Loads a binary that `build` returned. -EINVAL: not a binary for this device. */
	int (*program_load)(struct backend_device *device, const void *binary, size_t binary_bytes,
			    struct backend_program **program_out, struct backend_fault *fault_out);
	/*
	 * Optional, with build_dimensions; loader. Adds a binary of the same source and options for
	 * other numbers of dimensions. From then on kernels of the program can be launched with
	 * them. Those that the program has already are ignored. -EINVAL: another source, or its
	 * kernels are others there; the program is as before.
	 */
	int (*program_add)(struct backend_program *program, const void *binary, size_t binary_bytes,
			   struct backend_fault *fault_out);
	/* Loader. Names of all kernels, each ended by 0, with one more 0 at the end; malloc'ed, the
	 * caller's. */
	int (*program_kernels)(struct backend_program *program, char **names_out,
			       struct backend_fault *fault_out);
	/* Its kernels keep the parts that they need. */
	void (*program_free)(struct backend_program *program);
	/*
	 * Optional (VARIABLE); loader. Finds a variable of the program by its name (R1). From then
	 * on the variable is USM of the kind DEVICE, for commands and arguments. usm_free ends that
	 * and leaves the variable to the program. The program is kept that long. -ENOENT: there is
	 * no variable of that name. -EEXIST: it is USM already.
	 */
	int (*program_variable)(struct backend_program *program, const char *name,
				void **pointer_out, uint64_t *size_bytes_out,
				struct backend_fault *fault_out);
	/* Loader. -ENOENT: no such kernel. The kernel's code is on the device when this returns, so
	 * a first launch loads no code. */
	int (*kernel_create)(struct backend_program *program, const char *name,
			     struct backend_kernel **kernel_out, struct backend_fault *fault_out);
	/* Loader, right after kernel_create. */
	void (*kernel_facts)(struct backend_kernel *kernel, struct backend_kernel_facts *facts_out);
	void (*kernel_free)(struct backend_kernel *kernel);
	/* Optional (OCCUPANCY); loader. `local`: in SYCL's order; all 0: not chosen, and then only
	 * suggested_group_size is filled in. */
	int (*kernel_occupancy)(struct backend_kernel *kernel, const uint64_t local[3],
				uint64_t local_mem_bytes, struct backend_occupancy *occupancy_out,
				struct backend_fault *fault_out);

	/*
	 * Sends one command to a lane. The command gets `sequence` (larger than any before it on
	 * this lane) and starts when the waits have been reached. Does not wait for the device. A
	 * failure means that the command was not sent and no completion follows. 0 with a fault: a
	 * part of it was sent, such as its waits, and it will be reported as failed. `completion`:
	 * NULL, or only with BACKEND_FEATURE_COMPLETION. It is written before progress() reports
	 * the command.
	 */
	int (*submit)(struct backend_lane *lane, const struct backend_command *command,
		      const struct backend_wait *waits, uint32_t wait_count, uint64_t sequence,
		      const struct backend_direct_completion *completion,
		      struct backend_fault *fault_out);
	/*
	 * Optional. Sends `count` plain launches, a power of two, one after the other, as one
	 * command. The command has one sequence and one completion. The launches differ only in
	 * values: each launch's lie value_stride_bytes behind those of the previous one. Not
	 * `timed`. Either all launches are sent or none. -EAGAIN: they cannot be sent in this way.
	 * Any other failure is that of some launches: submit them one by one.
	 */
	int (*submit_burst)(struct backend_lane *lane, const struct backend_command *command,
			    uint32_t count, uint32_t value_stride_bytes,
			    const struct backend_wait *waits, uint32_t wait_count,
			    uint64_t sequence, struct backend_fault *fault_out);
	/*
	 * Optional, all or none. A row of launches that is sent again and again, as one command
	 * with one sequence and one completion, like a burst; a launch does not run if the one
	 * before it failed. The last one may be a READ instead, into registered memory. row_make:
	 * what the row needs; -ENOMEM. row_set: the launch at `index`, or new values of it, which
	 * are copied; each is set before the first row_submit, and a READ once. -EAGAIN: such a
	 * launch or READ cannot be in a row. row_submit: `last` is the last launch's command, whose
	 * is_awaited and owner are the row's. Nothing has happened if it returns -EAGAIN, and the
	 * launches are to be submitted one by one. row_free: also while it is in flight;
	 * NULL is accepted. The memories of a row exist until row_free was called. Its kernels may
	 * be freed before, so a row holds what it needs of them.
	 */
	int (*row_make)(struct backend_device *device, uint32_t count,
			struct backend_row **row_out);
	int (*row_set)(struct backend_row *row, uint32_t index,
		       const struct backend_command *command);
	int (*row_submit)(struct backend_lane *lane, struct backend_row *row,
			  const struct backend_command *last, uint64_t sequence,
			  struct backend_fault *fault_out);
	void (*row_free)(struct backend_row *row);
	/*
	 * Optional. False: the driver's queue of the lane is full. A call of the driver that sends
	 * one more command with these waits might wait for the device. True once all commands in
	 * flight have completed, or earlier. submit takes the command either way. Costs little.
	 */
	bool (*has_room)(struct backend_lane *lane, const struct backend_wait *waits,
			 uint32_t wait_count);
	/* Starts all submitted commands (clFlush). Called once after a batch of submits. */
	void (*flush)(struct backend_device *device);
	/*
	 * Returns the completions since the last call, `capacity` at most. Never blocks. `wake` is
	 * called after the end of a command that no progress() has reported; once is enough for
	 * several. With BACKEND_FEATURE_POLLED it need not be called. Then progress() also finds a
	 * failure of the device, at the latest within a millisecond of calls. It completes
	 * everything in flight with `fault.status` DEVICE_LOST. Commands that may have been running
	 * come first, so the first is the offender or a suspect. They have the vendor's code in
	 * `fault.native_code`; all others have `fault.not_begun`. A chain is sent as one, so
	 * several commands of a lane may have been running.
	 */
	uint32_t (*progress)(struct backend_device *device, struct backend_completion *completions,
			     uint32_t capacity);
	/*
	 * Optional. True if the driver has begun the command with this sequence, the lane's first.
	 * True also if the command has ended, and if the driver cannot report it. *begun_ns_out:
	 * the time of the beginning (CLOCK_MONOTONIC). 0: unknown, or not yet known, so call again;
	 * always 0 for a command that was not `timed`. Never blocks.
	 */
	bool (*begun)(struct backend_lane *lane, uint64_t sequence, uint64_t *begun_ns_out);

	/*
	 * Optional. quiet_wanted: true if there is work that is better done while nothing runs. An
	 * example is freeing memory of kinds that the driver frees only then. Sends may be held
	 * back for it. Costs nothing. quiet: does that work; nothing is in flight; may take
	 * milliseconds. An entry may return -EAGAIN and a fault because freed memory has not been
	 * returned yet. Then quiet_wanted is true until it has been, and the entry is called again.
	 */
	bool (*quiet_wanted)(struct backend_device *device);
	void (*quiet)(struct backend_device *device);
	/*
	 * Optional, called while quiet_wanted is true. The longest time that sends may be held back
	 * for that work; 0: they may not be held back now; UINT64_MAX: the engine decides, as
	 * without this entry.
	 */
	uint64_t (*quiet_hold_ns)(struct backend_device *device);
	/*
	 * Optional (QUIET_LOAD). `reasons`: bits of enum backend_apart; called when they change.
	 * The device may reserve a part of itself for the latency class, or keep best effort off a
	 * part, and undo that, in quiet moments (quiet_wanted). Costs nothing by itself.
	 */
	void (*latency_wanted)(struct backend_device *device, uint32_t reasons);
	/* With latency_wanted: the number of compute units that are reserved now; 0: none. */
	uint32_t (*latency_units)(struct backend_device *device);
	/*
	 * Optional (QUIET_LOAD). The sum of the bytes in queues' windows that should persist;
	 * called when it changes. The device reserves a part of its second-level cache within its
	 * own bounds, and frees all when the sum is 0, in quiet moments. Costs nothing by itself.
	 */
	void (*l2_wanted)(struct backend_device *device, uint64_t size_bytes);
	/* Optional (QUIET_LOAD); loader. True if program_load will find the program on the device
	 * already, and need no quiet moment. */
	bool (*program_is_loaded)(struct backend_device *device, const void *binary,
				  size_t binary_bytes);
	/* Optional. From any thread, between device_open and device_close. Launches that are sent
	 * meanwhile may be counted or not. */
	void (*sendings)(struct backend_device *device, struct backend_sendings *sendings_out);

	/*
	 * Optional, all or none; one state for the process, and one thread at a time, beside all
	 * other entries. A library of the vendor's for tools measures timed launches from now on:
	 * more exactly than their own times, and from within these. May take a second.
	 * `profile_begin`: of an open device. -EOPNOTSUPP and a sentence: there is no such library,
	 * or it is in use. Must not be on.
	 */
	int (*profile_begin)(struct backend_device *device, struct backend_fault *fault_out);
	void (*profile_end)(void);
	/* Fetches times from the library. `all`: also those that it would rather report later. May
	 * take milliseconds. */
	void (*profile_flush)(bool all);
	/* The times behind the token of a completion. False: not known, or not yet. */
	bool (*profile_times)(uint64_t token, uint64_t *start_ns_out, uint64_t *end_ns_out);
};

extern const struct backend_ops backend_opencl_ops;
extern const struct backend_ops backend_cuda_ops; /* if the build has this backend */

/* The backends of this build, in the order of preference, then those that were added; NULL ends the
 * list. Static. */
const struct backend_ops *const *backend_registry(void);
/* Adds a backend that this build does not have. A program adds its own backend before it starts an
 * engine or any thread. A second call for the same backend has no effect. 0, or -ENOSPC. */
int backend_registry_add(const struct backend_ops *ops);

/* The text of its own that a backend compiles with a source of this kind: the prelude of portable
 * sources, the built-in functions of OpenCL C; "" if none. It is part of a build's key. Static. */
const char *backend_own_text(enum backend_kind kind, enum backend_source_kind source);
/* How many bytes of a device's key are part of a build's. What a CUDA device gets of OpenCL's
 * languages depends on its architecture, but not on its driver: so it may be kept elsewhere. */
size_t backend_key_bytes(enum backend_kind kind, enum backend_source_kind source,
			 const char *device_key);

#endif
