/*
 * The kernels of a SPIR-V module and their parameters. A driver may keep no facts of a module's
 * arguments. A driver that accepts any eight bytes as a pointer must not get a client's bytes.
 * Pure: any thread, never blocks. The module may be any bytes.
 */
#ifndef SYCL_BACKENDS_OPENCL_SPIRV_H
#define SYCL_BACKENDS_OPENCL_SPIRV_H

#include "backend.h"

#define OPENCL_SPIRV_MAGIC 0x07230203u

/*
 * Finds kind, size and address space of each argument of one kernel, at most `capacity`; names are
 * not changed. -ENOENT: no such kernel. -EINVAL: not a module, in another byte order, or an
 * argument of a type that no kernel takes. -E2BIG: more arguments; -ENOMEM.
 */
int opencl_spirv_arguments(const void *module, size_t bytes, const char *kernel,
			   struct backend_argument_facts *arguments, uint32_t capacity,
			   uint32_t *count_out);

#endif
