/*
 * USM by OpenCL's shared virtual memory.
 *
 * A CPU device whose kernels are threads of this process, and one with fine-grained system SVM,
 * reaches any memory here. Its USM of every kind is plain pages, and memory that the engine has
 * mapped is as good. Others have what clSVMAlloc gives: device USM where buffers are shared
 * coarsely, host and shared USM where finely. OpenCL 1.x has none.
 */
#ifndef SYCL_BACKENDS_OPENCL_USM_H
#define SYCL_BACKENDS_OPENCL_USM_H

#include "opencl/driver/objects.h"

/* The features (of enum backend_feature) and aspects of a device; the rest of its facts is filled
 * already. */
void opencl_usm_facts(const struct opencl_library *cl, cl_device_id device, bool runs_here,
		      struct backend_device_facts *facts);

/* backend.h */
int opencl_usm_alloc(struct backend_device *device, enum backend_usm_kind kind, uint64_t size_bytes,
		     uint64_t alignment_bytes, void **pointer_out, struct backend_fault *fault_out);
void opencl_usm_free(struct backend_device *device, enum backend_usm_kind kind, void *pointer);

/*
 * Some drivers need a list of the memory that a kernel may reach through pointers in other memory.
 * Before the launch; it costs nothing when it is the same as the last time.
 */
int opencl_usm_announce(struct backend_kernel *kernel, uint32_t variant,
			struct backend_fault *fault_out);

/* USM_COPY, USM_FILL, USM_PREFETCH and USM_ADVISE; size not 0. `staging_out`: to be freed with the
 * pending command, or NULL. */
int opencl_usm_command(struct backend_lane *lane, const struct backend_command *command,
		       cl_uint wait_count, const cl_event *waits, cl_event *event_out,
		       void **staging_out, struct backend_fault *fault_out);

/* For a device that closes: everything has been freed. */
void opencl_usm_close(struct backend_device *device);

#endif
