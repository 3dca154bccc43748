/* Kernels, their facts, and setting their arguments: backend_ops' entries of the same names, and
 * functions for submit. */
#ifndef SYCL_BACKENDS_OPENCL_KERNEL_H
#define SYCL_BACKENDS_OPENCL_KERNEL_H

#include "opencl/driver/objects.h"

int opencl_kernel_create(struct backend_program *program, const char *name,
			 struct backend_kernel **kernel_out, struct backend_fault *fault_out);
/* Makes a kernel of the application's, which is retained. */
int opencl_kernel_make_native(struct backend_device *device, cl_kernel native,
			      struct backend_kernel **kernel_out, struct backend_fault *fault_out);
/* One of the driver's kernels, for facts that do not depend on the number of dimensions. */
cl_kernel opencl_kernel_any(const struct backend_kernel *kernel);
void opencl_kernel_facts(struct backend_kernel *kernel, struct backend_kernel_facts *facts_out);

/*
 * Returns the kernel for launches of so many dimensions, with all arguments set. Call right before
 * an enqueue, which captures the arguments. One cl_kernel serves all lanes, because one thread uses
 * it. Some arguments need a memory object for this one launch. Release these objects after the
 * enqueue with opencl_kernel_drop_temporaries, also after a failure here.
 */
int opencl_kernel_prepare(struct backend_kernel *kernel, uint32_t dimensions,
			  const struct backend_argument *arguments, uint32_t count,
			  cl_kernel *kernel_out, struct backend_fault *fault_out);
void opencl_kernel_drop_temporaries(struct backend_kernel *kernel);

#endif
