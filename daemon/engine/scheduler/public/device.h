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

/*
 * An entry for each platform and device of all backends, which the first call queries. Valid while
 * the scheduler lives.
 */
struct scheduler_platform_info {
	const struct backend_platform_facts *facts;
	const struct backend_ops *ops;
};
struct scheduler_device_info {
	const struct backend_device_facts *facts;
	const struct backend_ops *ops;
	uint32_t platform;      /* index into the scheduler's platforms */
	uint32_t backend_index; /* index of backend enumerate */
	bool is_hidden;         /* not allowed by the operator: no session may list or open it */
	bool is_sub_device;
	uint32_t root; /* of a sub-device: index of the whole device */
};
int scheduler_discover(struct scheduler *scheduler,
		       const struct scheduler_platform_info **platforms_out,
		       uint32_t *platform_count_out,
		       const struct scheduler_device_info **devices_out,
		       uint32_t *device_count_out);
bool scheduler_discovered(const struct scheduler *scheduler);

/*
 * Starts the device's thread at first use. -ENODEV: no such device. The device is opened in the
 * background; one that cannot be opened fails its tasks with the driver's words.
 */
int scheduler_device(struct scheduler *scheduler, uint32_t device,
		     struct scheduler_device **device_out);
/* A home lane for an in-order queue, from 1 on: the compute lanes in turn. */
uint32_t scheduler_home_lane(struct scheduler_device *device);

/* A cache window of a queue has changed its size (backend.h, l2_wanted). 0: no window. */
void scheduler_l2_change(struct scheduler_device *device, uint64_t before_bytes,
			 uint64_t now_bytes);
/* Compute units that the device has reserved for the latency class, as last reported. */
uint32_t scheduler_latency_units(const struct scheduler_device *device);
/*
 * Opens a discovered device once more, in the application's context. It is a device of its own with
 * its own thread; data moves between the two as between devices. It lasts until it was released and
 * no buffer has memory there. sched_native_opened reports whether it could be opened. -ENODEV.
 * -ENOSPC: too many are open.
 */
int scheduler_device_open_native(struct scheduler *scheduler, uint32_t device,
				 uint64_t native_context, struct scheduler_device **device_out);
void scheduler_device_release(struct scheduler_device *device);
/* 0: the device is in no native context. */
uint64_t scheduler_device_native_context(const struct scheduler_device *device);
/*
 * Sub-devices: a device is divided, or a part that the application has made is taken. Each is a
 * device of its own, numbered behind the discovered ones, until scheduler_device_release. Accounts
 * and the division among users count it as the whole device. `devices_out` has room for `capacity`.
 * *count_out: how many the division makes; none is made if there is no room. 0, or a negative errno
 * with a fault.
 */
int scheduler_sub_devices_create(struct scheduler *scheduler, uint32_t device,
				 const struct backend_division *division, uint32_t capacity,
				 struct scheduler_device **devices_out, uint32_t *count_out,
				 struct backend_fault *fault_out);
int scheduler_sub_device_take(struct scheduler *scheduler, enum backend_kind backend,
			      uint64_t native, struct scheduler_device **device_out,
			      struct backend_fault *fault_out);
/* A device's number, and the facts of that number, valid while the device lives. */
uint32_t scheduler_device_number(const struct scheduler_device *device);
const struct scheduler_device_info *scheduler_device_info(const struct scheduler *scheduler,
							  uint32_t number);

/* Spills of device memory to the host since the device was opened; away_bytes: in the host now. */
struct scheduler_spill {
	uint64_t spills, spilled_bytes, returns, returned_bytes, away_bytes;
};
/* All 0 for a device that is not open. */
void scheduler_device_spill(const struct scheduler *scheduler, uint32_t device,
			    struct scheduler_spill *spill_out);

/* Spills of a device since the engine has opened it. */
struct scheduler_spilled {
	uint32_t backend, index; /* the backend's kind, and the index in its list */
	uint64_t spills, spilled_bytes, returns, returned_bytes;
	uint64_t session; /* of the memory that was spilled last; 0: none */
};

#endif
