/* The driver reads CUDA_* variables when it starts, and some later. Variables that a service's user
 * or manager happens to set must not change the driver's behaviour. So only a few names are kept.
 * */
#ifndef SYCL_BACKENDS_CUDA_ENVIRONMENT_H
#define SYCL_BACKENDS_CUDA_ENVIRONMENT_H

#include <stdint.h>

/*
 * Called before the library is opened. Removes every CUDA_* variable that is not known to be
 * harmless, and sets those that this backend needs. `cache_directory`: the folder for the driver's
 * compiled code; NULL: none. Writes the environment only if it must change. `connections`: queues
 * to a device. One thread.
 */
void cuda_environment_prepare(const char *cache_directory, uint32_t connections);

/* As cuda_environment_prepare, for a process without a user yet. `later`: a path that will lead to
 * the user's cache folder (NULL: none). It is neither looked up nor created now. */
void cuda_environment_prepare_early(const char *later, uint32_t connections);

#endif
