/* Native handles, for clients that are this very process. */
#ifndef SYCL_ENGINE_PUBLIC_NATIVE_H
#define SYCL_ENGINE_PUBLIC_NATIVE_H

#include "backend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sched_buffer;
struct sched_event;
struct sched_kernel;
struct sched_program;
struct scheduler;
struct scheduler_device;

/*
 * Native handles (BACKEND_FEATURE_NATIVE). Only for clients in this process, which the caller has
 * checked.
 *
 * The devices (bits: of scheduler_discover) of a native object, and its other known properties. 0,
 * or a negative errno with a fault. Queries the vendor's library now.
 */
int scheduler_native_describe(struct scheduler *scheduler, enum backend_kind backend,
			      enum backend_native_kind kind, uint64_t native, uint64_t context,
			      struct backend_native_facts *facts_out,
			      struct backend_fault *fault_out);

/*
 * Questions to a device's thread; on_native follows each. The caller keeps the object until then; a
 * buffer is held. sched_native_get is for PLATFORM, DEVICE and CONTEXT. -ENOMEM.
 */
int sched_native_opened(struct scheduler_device *device, void *owner);
int sched_native_get(struct scheduler_device *device, enum backend_native_kind kind, void *owner);
int sched_native_get_lane(struct scheduler_device *device, uint32_t home_lane, void *owner);
int sched_native_get_program(struct sched_program *program, void *owner);
int sched_native_get_kernel(struct sched_kernel *kernel, void *owner);
int sched_native_get_event(struct sched_event *event, void *owner);
/*
 * A buffer's memory: on this device, allocated if there is none; or on all devices of the backend
 * that have some now, `limit` at most. Returns the number of questions; *left_out: how many more.
 */
int sched_native_get_memory(struct sched_buffer *buffer, struct scheduler_device *device,
			    void *owner);
int sched_native_get_memories(struct sched_buffer *buffer, enum backend_kind backend,
			      uint32_t limit, void *owner, uint32_t *left_out);
/* Makes the application's queue a lane, for `home_lane`. on_native follows. -ENOSPC: too many. */
int sched_native_lane_make(struct scheduler_device *device, uint64_t native, void *owner,
			   uint32_t *home_lane_out);
/* No task uses the lane any more. */
void sched_native_lane_release(struct scheduler_device *device, uint32_t home_lane);

#endif
