/* A GPU's numbers in SYCL's terms: aspects, memory orders and scopes. Pure functions. */
#ifndef SYCL_BACKENDS_CUDA_ASPECTS_H
#define SYCL_BACKENDS_CUDA_ASPECTS_H

#include "cuda/device/device.h"

/* Bit numbers, equal to those of the public enum sycl_aspect; only those that this backend can
 * report. */
enum cuda_aspect {
	CUDA_ASPECT_GPU = 1,
	CUDA_ASPECT_FP16 = 6,
	CUDA_ASPECT_FP64 = 7,
	CUDA_ASPECT_ATOMIC64 = 8,
	CUDA_ASPECT_IMAGE = 9,
	CUDA_ASPECT_ONLINE_COMPILER = 10,
	CUDA_ASPECT_ONLINE_LINKER = 11,
	CUDA_ASPECT_QUEUE_PROFILING = 12,
	CUDA_ASPECT_USM_DEVICE_ALLOCATIONS = 13,
	CUDA_ASPECT_USM_HOST_ALLOCATIONS = 14,
	CUDA_ASPECT_USM_ATOMIC_HOST_ALLOCATIONS = 15,
	CUDA_ASPECT_USM_SHARED_ALLOCATIONS = 16,
	CUDA_ASPECT_USM_ATOMIC_SHARED_ALLOCATIONS = 17,
	CUDA_ASPECT_LIMITED_GRAPH = 19,
	CUDA_ASPECT_GRAPH_CONDITIONS = 20,
};

uint64_t cuda_aspects(const struct cuda_device_facts *facts);

/*
 * enum backend_memory_order and backend_memory_scope. Atomics: an order other than relaxed from
 * compute capability 7.0 on, never sequentially consistent (G7, S3). Scopes from 6.0 on, before
 * that only the one that needs no consistency (G8). Fences: every order, because `membar`, which
 * older GPUs have instead of `fence`, is at least as strong (G9); scopes as for atomics.
 */
uint32_t cuda_atomic_orders(int major, int minor);
uint32_t cuda_atomic_scopes(int major, int minor);
uint32_t cuda_fence_orders(int major, int minor);
uint32_t cuda_fence_scopes(int major, int minor);

/* enum backend_feature: what both the GPU and the driver's functions can do. */
uint32_t cuda_features(const struct cuda_library *library, const struct cuda_device_facts *facts);

#endif
