/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory. */
#ifndef SYCL_OPENCL_SVM_H
#define SYCL_OPENCL_SVM_H

#include "queue/queue.h"

/* What all devices of a context have. */
cl_device_svm_capabilities svm_context_capabilities(cl_context context);
/* Whether the pointer leads into an allocation of the context that the program can read. The rest:
 * bytes from there on. */
bool svm_find(cl_context context, const void *pointer, size_t *rest_out);
/* The same for allocations of all kinds. */
bool usm_find(cl_context context, const void *pointer, struct sycl_usm_info *info);
/* Check what a command that has begun is to copy or fill, and send it. An end of a copy may be the
 * program's memory. */
cl_int svm_submit_copy(struct command *command, bool blocking, void *to, const void *from,
		       size_t bytes);
cl_int svm_submit_fill(struct command *command, void *pointer, const void *pattern,
		       size_t pattern_bytes, size_t bytes);

/* reachable.c: device memory that is shared memory of the library. `base`: as it was allocated. */
bool reachable_is_possible(cl_device_id device);
bool reachable_add(const void *base); /* false: no memory */
void reachable_remove(const void *base);
bool reachable_has(const void *base);

#endif
