/* A built-in kernel that runs, of a driver that lists it and cannot make it. */
#ifndef SYCL_TESTS_OPENCL_BUILTINS_H
#define SYCL_TESTS_OPENCL_BUILTINS_H

#include <CL/cl_icd.h>

/* Into a table whose functions are still those of `below`, which must live on; what it puts there
 * is not counted. */
void opencl_builtins_install(cl_icd_dispatch *table, const cl_icd_dispatch *below);
/* And the devices become custom ones: listed as such alone, without a compiler and a linker, with
 * this one built-in kernel. */
void opencl_builtins_install_custom(cl_icd_dispatch *table, const cl_icd_dispatch *below);

#endif
