/*
 * Causes of faults, in the shape that the backends use: a status, the vendor's code, one sentence.
 */
#ifndef SYCL_ENGINE_FAULT_H
#define SYCL_ENGINE_FAULT_H

#include "backend.h"

/*
 * Fill with a status and a sentence; no vendor's code. The sentence is cut where it does not fit.
 * Cold: the code that leads here is kept apart from the code that every command runs, which a
 * driver's call removes from the nearest caches.
 */
__attribute__((cold, format(printf, 3, 4))) void
fault_write(struct backend_fault *fault, int32_t status, const char *format, ...);

/* The same as an expression with value 1, "refused": so that compilers can use it too. */
#define fault_set(fault, status, ...) (fault_write(fault, status, __VA_ARGS__), 1)

#endif
