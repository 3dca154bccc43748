/*
 * The driver reads CUDA_* variables when it starts and at odd times later. What a service's user or
 * manager happens to have set must not change how it works, so only a few names stay.
 */
#ifndef SYCL_BACKENDS_CUDA_ENVIRONMENT_H
#define SYCL_BACKENDS_CUDA_ENVIRONMENT_H

#include <stdint.h>

/*
 * Before the library is opened: unset every CUDA_* variable that is not known to be harmless, set
 * those that this backend needs. `cache_directory`: where the driver may keep what it compiles;
 * NULL: nowhere. Writes the environment only where it is not right already. `connections`: queues
 * to a device. One thread.
 */
void cuda_environment_prepare(const char *cache_directory, uint32_t connections);

/* The same for a process without a user yet. `later`: a path that will lead to the user's cache
 * folder (NULL: none). Nothing is looked up or created there now. */
void cuda_environment_prepare_early(const char *later, uint32_t connections);

#endif
