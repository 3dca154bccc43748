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
struct sched_program *sched_program_hold(struct sched_program *program); /* released once more */

/*
 * As sched_program_load, of a binary for some numbers of dimensions: bit d - 1 for d; 0: for all. A
 * launch with another number waits while that is expected, and fails otherwise.
 */
int sched_program_load_some(struct scheduler *scheduler, struct scheduler_device *device,
			    uint32_t dimensions, const void *binary, size_t binary_bytes,
			    void *owner, struct sched_program **program_out);
enum sched_variant_state {
	SCHED_VARIANT_READY,
	SCHED_VARIANT_COMING,
	SCHED_VARIANT_ABSENT,
	SCHED_VARIANT_FAILED
};
/* *fault_out: why it failed; else untouched. */
enum sched_variant_state sched_program_variant(const struct sched_program *program,
					       uint32_t dimensions,
					       struct backend_fault *fault_out);
/* From now on launches wait, until it is added or refused. */
void sched_program_expect(struct sched_program *program, uint32_t dimensions);
/* True if a launch waits for it. */
bool sched_program_is_awaited(const struct sched_program *program, uint32_t dimensions);
/* A binary for this number of dimensions, which is copied. Launches go on when the device has it;
 * if it cannot take it, they fail. -ENOMEM: nothing has happened. */
int sched_program_add(struct sched_program *program, uint32_t dimensions, const void *binary,
		      size_t binary_bytes);
/* It does not come: launches that wait for it fail, and so do later ones until it is expected
 * again. They are reported by the next scheduler_progress. */
void sched_program_refuse(struct sched_program *program, uint32_t dimensions,
			  const struct backend_fault *fault);
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
