/* Devices: those that were discovered, native contexts, sub-devices. */
#ifndef SYCL_ENGINE_PUBLIC_DEVICE_H
#define SYCL_ENGINE_PUBLIC_DEVICE_H

#include "backend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHED_DEVICES_MAX 63u

struct scheduler;
struct scheduler_device;

/* One entry per platform and device of all backends; asks them on the first call. Good while the
 * scheduler lives. */
struct scheduler_platform_info {
	const struct backend_platform_facts *facts;
	const struct backend_ops *ops;
};
struct scheduler_device_info {
	const struct backend_device_facts *facts;
	const struct backend_ops *ops;
	uint32_t platform;      /* index into the scheduler's platforms */
	uint32_t backend_index; /* index of backend enumerate */
	bool is_sub_device;
	uint32_t root; /* of a sub-device: which device of scheduler_discover it is a part of */
};
int scheduler_discover(struct scheduler *scheduler,
		       const struct scheduler_platform_info **platforms_out,
		       uint32_t *platform_count_out,
		       const struct scheduler_device_info **devices_out,
		       uint32_t *device_count_out);
bool scheduler_discovered(const struct scheduler *scheduler);

/* Starts the device's thread on first use; -ENODEV: no such device. Opening goes on in the
 * background: a device that cannot be opened fails its tasks with its own words. */
int scheduler_device(struct scheduler *scheduler, uint32_t device,
		     struct scheduler_device **device_out);
/* A lane for an in-order queue: 1 or more, the devices' lanes in turn. */
uint32_t scheduler_home_lane(struct scheduler_device *device);

/* Of the windows that queues have there (backend.h, l2_wanted), one that had so many bytes has
 * another number of them now. Front thread. */
void scheduler_l2_change(struct scheduler_device *device, uint64_t before_bytes,
			 uint64_t now_bytes);
/* Compute units that it has set apart for the latency class, as far as is known; 0: none. */
uint32_t scheduler_latency_units(const struct scheduler_device *device);
/*
 * A device of scheduler_discover once more, in the application's context: a device of its own with
 * a thread of its own, whose data comes and goes as between devices. It lasts until it was released
 * and no buffer has memory there any more. -ENODEV; -ENOSPC: too many are open. Whether it could be
 * opened tells sched_native_opened.
 */
int scheduler_device_open_native(struct scheduler *scheduler, uint32_t device,
				 uint64_t native_context, struct scheduler_device **device_out);
void scheduler_device_release(struct scheduler_device *device);
/* 0 of one that is no native context's. */
uint64_t scheduler_device_native_context(const struct scheduler_device *device);
/*
 * Sub-devices: a device is divided, or a part that the application has made itself is taken. Each
 * is a device of its own, as those of native contexts are, with a number behind those of
 * scheduler_discover; its holder lets it go by scheduler_device_release. For accounts and for what
 * other users leave it is the whole device. `devices_out` has room for `capacity`; *count_out: how
 * many that makes, none of them made if there is no room. 0, or a negative errno with a fault.
 */
int scheduler_sub_devices_create(struct scheduler *scheduler, uint32_t device,
				 const struct backend_division *division, uint32_t capacity,
				 struct scheduler_device **devices_out, uint32_t *count_out,
				 struct backend_fault *fault_out);
int scheduler_sub_device_take(struct scheduler *scheduler, enum backend_kind backend,
			      uint64_t native, struct scheduler_device **device_out,
			      struct backend_fault *fault_out);
/* A device's number, and what is known of it by its number: good while it lives. */
uint32_t scheduler_device_number(const struct scheduler_device *device);
const struct scheduler_device_info *scheduler_device_info(const struct scheduler *scheduler,
							  uint32_t number);

/* Of device memory to the host, since the device was opened; and what is there now. */
struct scheduler_spill {
	uint64_t spills, spilled_bytes, returns, returned_bytes, away_bytes;
};
/* All 0 of a device that is not open. */
void scheduler_device_spill(const struct scheduler *scheduler, uint32_t device,
			    struct scheduler_spill *spill_out);

#endif
