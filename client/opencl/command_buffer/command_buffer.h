/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of cl_khr_command_buffer, which programs find by name only. */
#ifndef SYCL_OPENCL_COMMAND_BUFFER_H
#define SYCL_OPENCL_COMMAND_BUFFER_H

#include "base/object.h"

/* NULL: no such name. */
void *command_buffer_function(const char *name);

#endif
