/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory. */
#ifndef SYCL_OPENCL_SVM_H
#define SYCL_OPENCL_SVM_H

#include "queue/queue.h"

/* What all devices of a context have. */
cl_device_svm_capabilities svm_context_capabilities(cl_context context);
/* Whether the pointer leads into an allocation of the context. The rest: bytes from there on. */
bool svm_find(cl_context context, const void *pointer, size_t *rest_out);

#endif
