/*
 * Passes settings of a whole device to its backend (device thread). They are the part that is
 * reserved for the latency class, and the space in the second-level cache for the windows of
 * queues.
 */
#include "worker/device/latency.h"

#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"

#include "spin_pace.h"

/* --------------------------------- the device's thread ---------------------------------- */

bool worker_latency_changed(const struct scheduler_device *device)
{
	return atomic_load_explicit(&device->latency_wanted, memory_order_relaxed) !=
	       device->worker.latency_applied;
}

void worker_latency_apply(struct scheduler_device *device)
{
	if (!worker_latency_changed(device))
		return;
	device->worker.latency_applied = atomic_load(&device->latency_wanted);
	if (device->handle && !device->worker.unusable)
		device->ops->latency_wanted(device->handle, device->worker.latency_applied);
}

uint64_t worker_latency_spin_most_ns(const struct scheduler_device *device)
{
	bool here = atomic_load_explicit(&device->latency_here, memory_order_relaxed);
	return spin_pace_most(
		here, device->scheduler->processors,
		atomic_load_explicit(&device->scheduler->own_spinners, memory_order_relaxed));
}

void worker_latency_note(struct scheduler_device *device)
{
	if (device->ops->latency_units)
		atomic_store_explicit(&device->latency_units,
				      device->ops->latency_units(device->handle),
				      memory_order_relaxed);
}

/* --------------------------------- the device's thread ---------------------------------- */

bool worker_l2_changed(const struct scheduler_device *device)
{
	return atomic_load_explicit(&device->l2_wanted, memory_order_relaxed) !=
	       device->worker.l2_applied;
}

void worker_l2_apply(struct scheduler_device *device)
{
	if (!worker_l2_changed(device))
		return;
	device->worker.l2_applied = atomic_load(&device->l2_wanted);
	if (device->handle && !device->worker.unusable)
		device->ops->l2_wanted(device->handle, device->worker.l2_applied);
}
