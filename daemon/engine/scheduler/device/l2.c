/*
 * The sum of a device's second-level cache that the windows of queues request (backend.h,
 * l2_wanted).
 */
#include "base/mailbox.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"

void scheduler_l2_change(struct scheduler_device *device, uint64_t before_bytes, uint64_t now_bytes)
{
	if (!(device->features & BACKEND_FEATURE_QUIET_LOAD) || !device->ops->l2_wanted)
		return;
	/* Only the front thread writes. The sum cannot overflow, as a window is no larger than its
	 * memory. */
	const uint64_t sum =
		atomic_load_explicit(&device->l2_wanted, memory_order_relaxed) - before_bytes;
	atomic_store(&device->l2_wanted, sum + now_bytes);
	(void)sched_sleeper_wake(&device->port.sleeper);
}
