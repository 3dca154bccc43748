/* A built-in kernel that runs, for a driver that lists it and cannot make it. */
#ifndef SYCL_TESTS_OPENCL_BUILTINS_H
#define SYCL_TESTS_OPENCL_BUILTINS_H

#include <CL/cl_icd.h>

/* Replaces functions in a table whose other functions are those of `below`. `below` must stay
 * valid. The replaced functions are not counted. */
void opencl_builtins_install(cl_icd_dispatch *table, const cl_icd_dispatch *below);
/* Makes the devices custom ones, too. They are listed as such only, have no compiler and no linker,
 * and have this one built-in kernel. */
void opencl_builtins_install_custom(cl_icd_dispatch *table, const cl_icd_dispatch *below);

#endif
