/*
 * USM by OpenCL's shared virtual memory.
 *
 * Two kinds of devices reach any memory of the process: a CPU device whose kernels are threads of
 * this process, and a device with fine-grained system SVM. Their USM of every kind is plain pages,
 * and they use memory that the engine has mapped in the same way. Other devices have the memory of
 * clSVMAlloc: device USM with coarse-grained buffers, host and shared USM with fine-grained ones.
 * OpenCL 1.x has none.
 */
#ifndef SYCL_BACKENDS_OPENCL_USM_H
#define SYCL_BACKENDS_OPENCL_USM_H

#include "opencl/driver/objects.h"

/* Adds a device's features (of enum backend_feature) and aspects for USM. The rest of its facts is
 * filled in already. */
void opencl_usm_facts(const struct opencl_library *cl, cl_device_id device, bool runs_here,
		      struct backend_device_facts *facts);

/* backend.h */
int opencl_usm_alloc(struct backend_device *device, enum backend_usm_kind kind, uint64_t size_bytes,
		     uint64_t alignment_bytes, void **pointer_out, struct backend_fault *fault_out);
void opencl_usm_free(struct backend_device *device, enum backend_usm_kind kind, void *pointer);

/* Some drivers need a list of the memory that a kernel may reach through pointers in other memory.
 * Call before the launch. If the list has not changed since the last call, nothing is done. */
int opencl_usm_announce(struct backend_kernel *kernel, uint32_t variant,
			struct backend_fault *fault_out);

/* Sends USM_COPY, USM_FILL, USM_PREFETCH and USM_ADVISE; size not 0. `staging_out`: memory to free
 * with the pending command, or NULL. */
int opencl_usm_command(struct backend_lane *lane, const struct backend_command *command,
		       cl_uint wait_count, const cl_event *waits, cl_event *event_out,
		       void **staging_out, struct backend_fault *fault_out);

/* Called when the device closes. All USM has been freed before. */
/* The number of bytes from this address to the end of its allocation; 0: it lies in none. */
uint64_t opencl_usm_rest(const struct backend_device *device, const void *pointer);
void opencl_usm_close(struct backend_device *device);

#endif
