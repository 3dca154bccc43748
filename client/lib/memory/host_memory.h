/* The memory that a program gives to a buffer: shared blocks, and the mutex around the memory (D12,
 * D13, D19). */
#ifndef SYCL_CLIENT_HOST_MEMORY_H
#define SYCL_CLIENT_HOST_MEMORY_H

#include "memory/buffer.h"

/* Locks the program's mutex; NULL: there is none. SYCL_ERROR_TIMEOUT, or SYCL_ERROR_INVALID if the
 * mutex cannot be locked. */
sycl_result host_mutex_lock(void *mutex, uint64_t deadline_ns);
void host_mutex_unlock(void *mutex);

#endif
