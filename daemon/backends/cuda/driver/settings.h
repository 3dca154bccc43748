/* The options of this backend: `[cuda]` in sycld.conf, "NAME=VALUE" in backend_settings. */
#ifndef SYCL_BACKENDS_CUDA_SETTINGS_H
#define SYCL_BACKENDS_CUDA_SETTINGS_H

#include "cuda/device/internal.h"

#define CUDA_LANES_DEFAULT               16u
#define CUDA_LANES_MAX                   64u
#define CUDA_CONNECTIONS_DEFAULT         32u
#define CUDA_CONNECTIONS_MAX             32u
#define CUDA_CHAIN_MAX                   16u
#define CUDA_LATENCY_MULTIPROCESSORS_MAX 1024u
#define CUDA_HEADROOM_DEFAULT            (256ull << 20)
#define CUDA_STACK_BYTES_MAX             (512ull << 10) /* what a work-item can have at most */

/*
 * `options`: NULL ends the list; NULL: none. The settings are to be freed, their texts are copies.
 * -EINVAL and a sentence that names the option: not known, or a value that it does not take;
 * nothing is to be freed then.
 */
int cuda_settings_read(const char *const *options, struct cuda_settings *settings_out,
		       struct backend_fault *fault_out);
void cuda_settings_free(struct cuda_settings *settings);

#endif
