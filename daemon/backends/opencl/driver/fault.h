/* Turns the vendor's codes into a status, an errno and a sentence. */
#ifndef SYCL_BACKENDS_OPENCL_FAULT_H
#define SYCL_BACKENDS_OPENCL_FAULT_H

#include "backend.h"

/* Fills in the fault for a code of the vendor. `what`: the attempted action ("start the kernel").
 * Returns the errno that fits. */
int opencl_fault_code(struct backend_fault *fault_out, int32_t code, const char *what);

/* Fills in a fault that this backend itself found, with a text of its own. */
void opencl_fault_words(struct backend_fault *fault_out, int32_t status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The host has no memory for `what` ("a lane"). Returns -ENOMEM. */
int opencl_no_memory(struct backend_fault *fault_out, const char *what);

#endif
