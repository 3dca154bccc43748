/* Facts of a kernel's arguments, from the driver's answers. */
#ifndef SYCL_BACKENDS_OPENCL_ARGUMENT_TYPES_H
#define SYCL_BACKENDS_OPENCL_ARGUMENT_TYPES_H

#include "opencl/driver/library.h"

/* Finds the facts of argument `index`; kind UNKNOWN if the driver kept none. */
void opencl_argument_facts(const struct opencl_library *cl, cl_kernel kernel, cl_uint index,
			   uint32_t address_bits, struct backend_argument_facts *facts_out);

#endif
