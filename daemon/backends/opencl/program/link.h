/*
 * Separate compilation: backend_ops' `compile` and `link`, in the build helper's child.
 *
 * An object is the source itself and its options. The source was compiled once as a check. An
 * object contains no compiled program, because only some drivers let one leave the process. A
 * portable source is compiled for each number of dimensions, but only if one of the linked objects
 * depends on that number.
 */
#ifndef SYCL_BACKENDS_OPENCL_LINK_H
#define SYCL_BACKENDS_OPENCL_LINK_H

#include "backend.h"

int opencl_compile(struct backend *backend, uint32_t device, enum backend_source_kind kind,
		   const char *source, size_t source_bytes, const char *options, void **object_out,
		   size_t *object_bytes_out, char **log_out, struct backend_fault *fault_out);
int opencl_link(struct backend *backend, uint32_t device, uint32_t count,
		const void *const *objects, const size_t *object_bytes, const char *options,
		void **binary_out, size_t *binary_bytes_out, char **log_out,
		struct backend_fault *fault_out);

#endif
