/*
 * The entries of backend.h that cuda_backend.c puts into its table, each by the table's name with
 * cuda_ before, and a few functions that the files of this folder call of each other beside those
 * of cuda_internal.h. What an entry does, who calls it and what it returns is said in backend.h.
 * Every entry that has a device calls cuda_enter first.
 */
#ifndef SYCL_BACKENDS_CUDA_ENTRIES_H
#define SYCL_BACKENDS_CUDA_ENTRIES_H

#include "cuda/device/internal.h"
#include "cuda/lane/pace.h"

/* cuda_backend.c */
void cuda_prepare(const struct backend_settings *settings);
int cuda_open(const struct backend_settings *settings, struct backend **backend_out,
	      struct backend_fault *fault_out);
void cuda_close(struct backend *backend);
int cuda_enumerate(struct backend *backend, struct backend_topology *topology_out,
		   struct backend_fault *fault_out);

/* cuda_preload.c */
int cuda_preload(const struct backend_settings *settings, uint64_t devices,
		 struct backend_fault *fault_out);

/*
 * cuda_device.c: retain a device's primary context; its flags are set first, if it is not active
 * yet. *what_out: what could not be done, untouched on success. Any thread.
 */
CUresult cuda_context_retain(const struct cuda_library *cu, CUdevice device, CUcontext *context_out,
			     const char **what_out);
int cuda_device_open(struct backend *backend, uint32_t device, backend_wake *wake, void *token,
		     struct backend_device **device_out, struct backend_fault *fault_out);
int cuda_device_open_native(struct backend *backend, uint32_t device, uint64_t native_context,
			    backend_wake *wake, void *token, struct backend_device **device_out,
			    struct backend_fault *fault_out);
void cuda_device_close(struct backend_device *device);

/* cuda_lane.c, cuda_submit.c, cuda_send.c, cuda_progress.c */
int cuda_lane_create(struct backend_device *device, enum backend_lane_kind kind,
		     struct backend_lane **lane_out, struct backend_fault *fault_out);
void cuda_lane_free(struct backend_lane *lane);
int cuda_submit(struct backend_lane *lane, const struct backend_command *command,
		const struct backend_wait *waits, uint32_t wait_count, uint64_t sequence,
		const struct backend_direct_completion *completion,
		struct backend_fault *fault_out);
int cuda_submit_burst(struct backend_lane *lane, const struct backend_command *command,
		      uint32_t count, uint32_t value_stride_bytes, const struct backend_wait *waits,
		      uint32_t wait_count, uint64_t sequence, struct backend_fault *fault_out);
void cuda_flush(struct backend_device *device);
void cuda_sendings(struct backend_device *device, struct backend_sendings *sendings_out);
uint32_t cuda_progress(struct backend_device *device, struct backend_completion *completions,
		       uint32_t capacity);
/* cuda_begin.c; calls nothing of the driver, and no cuda_enter */
bool cuda_begun(struct backend_lane *lane, uint64_t sequence, uint64_t *begun_ns_out);

/* cuda_memory.c */
int cuda_memory_create(struct backend_device *device, uint64_t size_bytes, void *host,
		       enum backend_export_kind export_kind, struct backend_memory **memory_out,
		       struct backend_fault *fault_out);
void cuda_memory_free(struct backend_memory *memory);

/* cuda_array.c */
int cuda_image_create(struct backend_device *device, const struct backend_image *image,
		      struct backend_memory **memory_out, struct backend_fault *fault_out);

/* cuda_share.c */
int cuda_memory_export(struct backend_memory *memory, struct backend_shared_memory *shared_out,
		       struct backend_fault *fault_out);
int cuda_memory_import(struct backend_device *device, const struct backend_shared_memory *shared,
		       uint64_t size_bytes, struct backend_memory **memory_out,
		       struct backend_fault *fault_out);

/* cuda_host.c */
int cuda_host_register(struct backend_device *device, void *host, uint64_t size_bytes,
		       struct backend_host **host_out, struct backend_fault *fault_out);
void cuda_host_unregister(struct backend_host *host);

/* cuda_usm.c */
int cuda_usm_alloc(struct backend_device *device, enum backend_usm_kind kind, uint64_t size_bytes,
		   uint64_t alignment_bytes, void **pointer_out, struct backend_fault *fault_out);
void cuda_usm_free(struct backend_device *device, enum backend_usm_kind kind, void *pointer);
int cuda_program_variable(struct backend_program *program, const char *name, void **pointer_out,
			  uint64_t *size_bytes_out, struct backend_fault *fault_out);

/* cuda_event_share.c */
int cuda_event_create(struct backend_device *device, struct backend_event **event_out,
		      uint8_t handle_out[64], struct backend_fault *fault_out);
int cuda_event_open(struct backend_device *device, const uint8_t handle[64],
		    struct backend_event **event_out, struct backend_fault *fault_out);
void cuda_event_free(struct backend_event *event);
int cuda_event_record(struct backend_lane *lane, struct backend_event *event,
		      struct backend_fault *fault_out);
/* EVENT_RECORD and EVENT_WAIT: put it on the lane's stream, after all that is on it. */
int cuda_event_enqueue(struct backend_lane *lane, const struct backend_command *command,
		       struct backend_fault *fault_out);

/* cuda_native.c */
int cuda_native_get(struct backend_device *device, enum backend_native_kind kind, void *object,
		    uint64_t *native_out, struct backend_fault *fault_out);
int cuda_native_devices(struct backend *backend, enum backend_native_kind kind, uint64_t native,
			uint64_t *devices_out, struct backend_fault *fault_out);
int cuda_native_make(struct backend_device *device, enum backend_native_kind kind, uint64_t native,
		     void **object_out, uint64_t *size_out, struct backend_fault *fault_out);
/* A context as a number of the bridge's. */
CUcontext cuda_native_context(uint64_t native);
/* The device of any context, whatever is current on this thread, which stays so. -EINVAL: it is no
 * context. Any thread. */
int cuda_native_device_of(const struct cuda_library *cu, CUcontext context, CUdevice *device_out,
			  struct backend_fault *fault_out);
/* cuda_lane.c: a lane on a stream of the application's, in the device's context. */
int cuda_lane_adopt(struct backend_device *device, CUstream stream, struct backend_lane **lane_out,
		    struct backend_fault *fault_out);
/* cuda_graph.c, cuda_graph_update.c */
int cuda_graph_create(struct backend_device *device, struct backend_graph **graph_out,
		      struct backend_fault *fault_out);
int cuda_graph_add(struct backend_graph *graph, const struct backend_command *command,
		   const uint32_t *after, uint32_t after_count, uint32_t *node_out,
		   struct backend_fault *fault_out);
int cuda_graph_temporary(struct backend_graph *graph, uint64_t size_bytes,
			 struct backend_memory **memory_out, struct backend_fault *fault_out);
int cuda_graph_finish(struct backend_graph *graph, bool updatable, struct backend_fault *fault_out);
int cuda_graph_update(struct backend_graph *graph, uint32_t node,
		      const struct backend_command *command, struct backend_fault *fault_out);
void cuda_graph_free(struct backend_graph *graph);

/* cuda_link.c */
int cuda_compile_object(struct backend *backend, uint32_t device, enum backend_source_kind kind,
			const char *source, size_t source_bytes, const char *options,
			void **object_out, size_t *object_bytes_out, char **log_out,
			struct backend_fault *fault_out);
int cuda_link(struct backend *backend, uint32_t device, uint32_t count, const void *const *objects,
	      const size_t *object_bytes, const char *options, void **binary_out,
	      size_t *binary_bytes_out, char **log_out, struct backend_fault *fault_out);

/* cuda_program.c */
int cuda_program_load(struct backend_device *device, const void *binary, size_t binary_bytes,
		      struct backend_program **program_out, struct backend_fault *fault_out);
int cuda_program_kernels(struct backend_program *program, char **names_out,
			 struct backend_fault *fault_out);
void cuda_program_free(struct backend_program *program);

/* cuda_kernel.c */
int cuda_kernel_create(struct backend_program *program, const char *name,
		       struct backend_kernel **kernel_out, struct backend_fault *fault_out);
void cuda_kernel_facts(struct backend_kernel *kernel, struct backend_kernel_facts *facts_out);
/* Drops one reference; the last one ends the kernel. Device thread, as cuda_program_free. */
void cuda_kernel_free(struct backend_kernel *kernel);
/*
 * One reference more, ended by cuda_kernel_free: a command in flight holds its kernel, so a module
 * is never unloaded under it. Device thread.
 */
void cuda_kernel_hold(struct backend_kernel *kernel);
/*
 * What has the kernel's code. A template names a function until it is set anew, and the driver
 * looks at what it named before when that happens: so a template keeps the code of what ran in it
 * last, and lets go when it is the last to have it. Device thread; NULL is allowed to release.
 */
struct backend_program *cuda_kernel_code(const struct backend_kernel *kernel);
void cuda_code_keep(struct backend_program *program);
void cuda_code_release(struct backend_program *program);
bool cuda_code_is_abandoned(
	const struct backend_program *program); /* nobody but those that keep it has it */
/* How long a launch took lately, in ns; 0: none has ended yet. Read and written by the lanes alone.
 * Device thread. */
struct cuda_pace *cuda_kernel_pace(struct backend_kernel *kernel);

/* cuda_chain.c: templates let go of what nobody else has any more. Device thread; waits for
 * nothing. */
void cuda_chains_tidy(struct backend_device *device);

/* cuda_occupancy.c */
int cuda_kernel_occupancy(struct backend_kernel *kernel, const uint64_t local[3],
			  uint64_t local_mem_bytes, struct backend_occupancy *occupancy_out,
			  struct backend_fault *fault_out);

/* cuda_build.c: of what cuda_build returns; backend_ops.binary_format. */
#define CUDA_BINARY_FORMAT 2u

/*
 * cuda_fault.c: a fault in words alone, without a CUresult. Returns `error`, a negative errno, so
 * that `return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID, "...")` does.
 */
int cuda_fault_words(struct backend_fault *fault_out, int error, int32_t status, const char *format,
		     ...) __attribute__((cold, format(printf, 4, 5)));
/* The fault that ended the device, good while it is open; NULL: it works. Any thread. */
const struct backend_fault *cuda_lost(const struct backend_device *device);
/* The device is lost with this fault, whatever its result was: nothing in flight can be trusted to
 * end. Any thread. */
__attribute__((cold)) void cuda_lose(struct backend_device *device, struct backend_fault *fault);

/* cuda_memory.c, cuda_program.c */
bool cuda_quiet_wanted(struct backend_device *device);
void cuda_quiet(struct backend_device *device);
/* cuda_partition.c */
void cuda_latency_wanted(struct backend_device *device, bool is_wanted);
/* cuda_l2.c */
void cuda_l2_wanted(struct backend_device *device, uint64_t size_bytes);
uint32_t cuda_latency_units(struct backend_device *device);
bool cuda_program_is_loaded(struct backend_device *device, const void *binary, size_t binary_bytes);

#endif
