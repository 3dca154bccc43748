/* Programs and kernels. */
#ifndef SYCL_ENGINE_PUBLIC_PROGRAM_H
#define SYCL_ENGINE_PUBLIC_PROGRAM_H

#include "backend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sched_kernel;
struct sched_program;
struct scheduler;
struct scheduler_device;

/* As sched_program_load and sched_kernel_create, from native handles, which are copied. */
int sched_program_make_native(struct scheduler *scheduler, struct scheduler_device *device,
			      enum backend_program_state state, const uint64_t *natives,
			      uint32_t count, void *owner, struct sched_program **program_out);
int sched_kernel_make_native(struct scheduler *scheduler, struct scheduler_device *device,
			     uint64_t native, void *owner, struct sched_kernel **kernel_out);

/*
 * Loads a built binary on a device; the bytes are copied. on_program_loaded follows, also after a
 * release. Released once, at any time.
 */
int sched_program_load(struct scheduler *scheduler, struct scheduler_device *device,
		       const void *binary, size_t binary_bytes, void *owner,
		       struct sched_program **program_out);
void sched_program_release(struct sched_program *program);
/* on_kernel_created follows. Tasks hold their kernel. Released once, at any time. */
int sched_kernel_create(struct scheduler *scheduler, struct sched_program *program,
			const char *name, void *owner, struct sched_kernel **kernel_out);
void sched_kernel_release(struct sched_kernel *kernel);
/*
 * on_occupancy follows; the kernel is held until then. `local` in SYCL's order; all 0: requests the
 * suggested size only. A device without the feature returns FEATURE_NOT_SUPPORTED.
 */
int sched_kernel_occupancy(struct sched_kernel *kernel, const uint64_t local[3],
			   uint64_t local_mem_bytes, void *owner);
/* Returns how many launches of this kernel a burst may have now. The end of a burst is reported
 * once, so long kernels have 1. */
uint32_t sched_kernel_burst(const struct sched_kernel *kernel);
/* The device time for which one launch of the kernel counts in a stretch, which has
 * SCHED_STRETCH_NS at most. UINT64_MAX: the kernel is launched outside of stretches. */
#define SCHED_STRETCH_NS 100000u
uint64_t sched_kernel_stretch_ns(const struct sched_kernel *kernel);

#endif
