/*
 * Whether a device has sessions of the latency class, and whether best effort runs beside other
 * sessions. Its backend may reserve a part of the device for the first, or keep best effort off a
 * part (backend.h, latency_wanted). A session counts from its first command until it ends or
 * changes its class. After the last one, the reservation lasts a few seconds. Otherwise a program
 * that reconnects again and again would pay for it each time, and other lanes would be moved each
 * time.
 *
 * Also how long threads poll before they sleep (spin_pace.h): longer while there are such sessions.
 */
#include "scheduler/admission/latency.h"

#include "base/mailbox.h"
#include "fair_queue/fair_queue.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/public/scheduler.h"
#include "scheduler/state/scheduler.h"

#include "spin_pace.h"

#define PATIENCE_NS 5000000000ull

static void set_latency_wanted(struct scheduler_device *device, uint32_t wanted)
{
	if (atomic_load_explicit(&device->latency_wanted, memory_order_relaxed) == wanted)
		return;
	atomic_store(&device->latency_wanted, wanted);
	(void)sched_sleeper_wake(&device->port.sleeper);
}

static uint32_t latency_reasons(const struct scheduler_device *device)
{
	const uint32_t *flows = device->class_flows;
	const bool has_latency = flows[FAIR_QUEUE_LATENCY] > 0,
		   has_beside = (device->features & BACKEND_FEATURE_BESIDE) &&
				flows[FAIR_QUEUE_BEST_EFFORT] > 0;
	uint32_t reasons = has_latency ? BACKEND_APART_LATENCY : 0;
	if (has_beside && (has_latency || flows[FAIR_QUEUE_NORMAL] > 0))
		reasons |= BACKEND_APART_BESIDE;
	return reasons;
}

void sched_latency_review(struct scheduler_device *device)
{
	struct scheduler *scheduler = device->scheduler;
	const uint64_t bit = 1ull << device->index;
	const bool here = device->class_flows[FAIR_QUEUE_LATENCY] > 0;
	scheduler->latency_here =
		here ? scheduler->latency_here | bit : scheduler->latency_here & ~bit;
	atomic_store_explicit(&device->latency_here, here, memory_order_relaxed);
	if (!(device->features & BACKEND_FEATURE_QUIET_LOAD) || !device->ops->latency_wanted)
		return;
	const uint32_t now = latency_reasons(device);
	const uint32_t all =
		now | atomic_load_explicit(&device->latency_wanted, memory_order_relaxed);
	set_latency_wanted(device, all);
	if (all == now) {
		scheduler->latency_leaving &= ~bit;
	} else if (!(scheduler->latency_leaving & bit)) {
		scheduler->latency_leaving |= bit;
		device->latency_until_ns = scheduler->clock_ns() + PATIENCE_NS;
	}
}

void sched_latency_poll(struct scheduler *scheduler)
{
	for (uint64_t left = scheduler->latency_leaving; left; left &= left - 1) {
		uint32_t index = (uint32_t)__builtin_ctzll(left);
		struct scheduler_device *device = scheduler->devices[index];
		if (device && scheduler->now_ns < device->latency_until_ns)
			continue;
		scheduler->latency_leaving &= ~(1ull << index);
		if (device)
			set_latency_wanted(device, latency_reasons(device));
	}
}

uint64_t sched_latency_again_ns(const struct scheduler *scheduler)
{
	uint64_t again_ns = UINT64_MAX;
	for (uint64_t left = scheduler->latency_leaving; left; left &= left - 1) {
		const struct scheduler_device *device = scheduler->devices[__builtin_ctzll(left)];
		if (device && device->latency_until_ns < again_ns)
			again_ns = device->latency_until_ns;
	}
	return again_ns;
}

static uint32_t count_own_threads(const struct scheduler *scheduler)
{
	uint32_t threads = 1;
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		threads += scheduler->devices[i] != NULL;
	return threads;
}

void scheduler_set_clients(struct scheduler *scheduler, uint32_t clients)
{
	const uint32_t own = count_own_threads(scheduler);
	scheduler->clients = clients;
	if (own != atomic_load_explicit(&scheduler->own_spinners, memory_order_relaxed))
		atomic_store_explicit(&scheduler->own_spinners, own, memory_order_relaxed);
}

uint64_t scheduler_client_spin_most_ns(const struct scheduler *scheduler)
{
	return spin_pace_most(scheduler->latency_here != 0, scheduler->processors,
			      scheduler->clients + count_own_threads(scheduler));
}

uint64_t scheduler_spin_most_ns(const struct scheduler *scheduler)
{
	return spin_pace_most(scheduler->latency_here != 0, scheduler->processors,
			      atomic_load_explicit(&scheduler->own_spinners, memory_order_relaxed));
}

uint32_t scheduler_latency_units(const struct scheduler_device *device)
{
	return atomic_load_explicit(&device->latency_units, memory_order_relaxed);
}
