/* The memory that a program gives to a buffer: blocks that are shared with it, and the mutex around
 * it (D12, D13, D19). */
#ifndef SYCL_CLIENT_HOST_MEMORY_H
#define SYCL_CLIENT_HOST_MEMORY_H

#include "memory/buffer.h"

/* Lock the program's mutex; NULL: there is none. SYCL_ERROR_TIMEOUT, or SYCL_ERROR_INVALID for one
 * that cannot be locked. */
sycl_result host_mutex_lock(void *mutex, uint64_t deadline_ns);
void host_mutex_unlock(void *mutex);

#endif
