/*
 * A kernel's name, in the source and in the driver. PoCL's header makes macros of the names of
 * built-in functions (mix is _cl_mix there). So PoCL lists a kernel of such a name by the macro's
 * name. A portable source, too, may have been built with changed names (portable_names.h), and one
 * with long names with short ones (long_name.h). All other kernels have the source's name.
 */
#ifndef SYCL_BACKENDS_OPENCL_KERNEL_NAME_H
#define SYCL_BACKENDS_OPENCL_KERNEL_NAME_H

#include "opencl/driver/library.h"

/* Changes the driver's name in place to the source's, which is never longer. */
void opencl_kernel_name_restore(char *name);

/* Calls clCreateKernel by the source's name. */
cl_kernel opencl_kernel_name_create(const struct opencl_library *cl, cl_program program,
				    const char *name, cl_int *code_out);

#endif
