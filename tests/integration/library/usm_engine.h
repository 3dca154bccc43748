/*
 * Additions of the USM tests to portable_engine.h. The same files run on fake devices, on the
 * embedded engine, and against a service in another process, where an address is not the same as
 * here.
 */
#ifndef SYCL_TESTS_USM_ENGINE_H
#define SYCL_TESTS_USM_ENGINE_H

#include "library/portable_engine.h"

#include <stdint.h>

/*
 * Kernels besides those of portable_kernel. sum_list_u32(to, head) of nodes {uint64_t next;
 * uint32_t value}: to[0] += each value. run_job(struct job): data[i] += value. count_up(to): one
 * atomic increment of to[0] for each item. NULL: the engine cannot have such a kernel.
 */
sycl_kernel usm_engine_kernel(sycl_queue on, const char *name);

/*
 * Returns a program with the variables `table` of 64 bytes and `factor` of 4. The caller releases
 * it. NULL: its devices have none. `apply_out` is its kernel apply(to): to[i] = table[i]++ * factor
 * for 16 items. NULL: the engine cannot have it. `factor` is 3 at first.
 */
sycl_kernel_bundle usm_engine_variables(sycl_queue on, sycl_kernel *apply_out);

struct job {
	uint64_t data; /* a pointer */
	uint32_t value, count;
};

/* Returns true if the engine is a separate process. */
bool usm_engine_is_remote(void);
/* Returns the bytes of USM in all backends if the engine can report them, otherwise -1. */
int64_t usm_engine_bytes(void);

#endif
